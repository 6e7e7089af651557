"""Marketplaces: what can be one, what is kept of it, and that a stranger's bytes or a kill never harm the store."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.killing import at_every_step
from tests.package_rig import write_package

from hookline._core.held_folders import HELD
from hookline._core.package_files import read_package, take_away
from hookline.dialects.muse.plugins import marketplace_sources, marketplaces
from hookline.dialects.muse.plugins import store as plugin_store
from hookline.dialects.muse.plugins.errors import Fault, PluginError
from hookline.dialects.muse.plugins.marketplaces import (
    LIMITS,
    From,
    Marketplace,
    Offered,
    Origin,
    add,
    fetched,
    listing,
    origin_of,
    read_document,
    remove,
    update,
)
from hookline.dialects.muse.plugins.store import Store

MUSE, CLAUDE = ".muse-plugin/marketplace.json", ".claude-plugin/marketplace.json"
GIT = ("git", "-c", "user.email=a@example.com", "-c", "user.name=a", "-c", "commit.gpgsign=false")


def entry(name: str = "guard", source: Any = "./plugins/guard", **more: Any) -> dict[str, Any]:
    return {"name": name, "source": source, **more}


def document(*entries: dict[str, Any], name: str = "tools", **more: object) -> str:
    return json.dumps({"name": name, "plugins": list(entries or (entry(),)), **more}, indent=2)


def market(root: Path, *entries: dict[str, Any], name: str = "tools", at: str = MUSE) -> Path:
    """A folder that is a marketplace, with one plugin in it."""
    return write_package(root, {at: document(*entries, name=name), "plugins/guard/run.sh!": "#!/bin/sh\n"})


def git(root: Path, *words: str) -> None:
    subprocess.run([*GIT, *words], cwd=root, check=True, capture_output=True)


def committed(root: Path) -> Path:
    """A repository of what is in a folder."""
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message=all")
    return root


def bare(root: Path, of: Path) -> Path:
    git(of, "clone", "--quiet", "--bare", ".", str(root))
    return root


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    yield Store(tmp_path / "store")
    take_away(tmp_path / "store")


def table(store: Store) -> Any:
    return json.loads((store.root / "marketplaces.json").read_text())


def snapshots(store: Store) -> set[str]:
    """Those that are there, as `<name>/<digest>`."""
    folder = store.root / "marketplaces"
    return {f"{each.parent.name}/{each.name}" for each in folder.glob("*/*")}


def files(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def kept(store: Store) -> dict[str, bytes]:
    """All that a store holds: what is empty in it is a lock."""
    return {path: data for path, data in files(store.root).items() if data}


def staged(store: Store) -> list[Path]:
    """The folders for work in progress."""
    return [each for each in store.staging.iterdir() if each.is_dir()]


def refused(code: Fault, call: Callable[..., object], *args: Any, **options: Any) -> str:
    """What is said where *call* cannot do what it is asked."""
    with pytest.raises(PluginError) as caught:
        call(*args, **options)
    assert code is caught.value.code, caught.value
    return str(caught.value)


def attempt(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What *call* returns, or its PluginError."""
    try:
        return call(*args, **options)
    except PluginError as error:
        return error


def fetch(store: Store, plugin: str, marketplace: str = "tools") -> dict[str, bytes]:
    """The files of a plugin's package."""
    with fetched(store, plugin, marketplace) as folder:
        return files(folder)


# What can be added


def test_what_is_known_of_a_folder(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table names the marketplace, where it is from and its snapshot, a closed copy of the whole folder."""
    monkeypatch.setattr(marketplaces, "now", lambda: "2026-01-01T00:00:00Z")
    root = market(tmp_path / "m", entry(version="1.2.0", description="Guards."))
    added = add(store, "m", cwd=tmp_path)
    digest = read_package(root, LIMITS).digest
    snapshot = store.root / "marketplaces" / "tools" / digest / "package"

    assert {
        "version": 1,
        "marketplaces": {
            "tools": {
                "name": "tools",
                "source": {"kind": "folder", "location": str(root)},
                "added_at": "2026-01-01T00:00:00Z",
                "updated_at": "2026-01-01T00:00:00Z",
                "snapshot": str(snapshot),
                "sha256": digest,
            }
        },
    } == table(store)
    assert files(root) == files(snapshot)
    assert [0o555, 0o444, 0o700] == [
        each.stat().st_mode & 0o777 for each in (snapshot, snapshot / MUSE, snapshot.parent)
    ]
    offered = Offered(name="guard", version="1.2.0", description="Guards.", source="./plugins/guard")
    assert added == Marketplace(
        name="tools",
        kind=From.FOLDER,
        location=str(root),
        ref="",
        digest=digest,
        snapshot=snapshot,
        plugins=(offered,),
    )
    assert (added,) == listing(store)
    assert [] == staged(store)


def test_all_of_it_is_json(store: Store, tmp_path: Path) -> None:
    """As JSON a marketplace has its plugins with their sources as they are written, and null for what is not said."""
    market(tmp_path / "m", entry(version="1.2.0"), entry("far", {"source": "npm", "package": "x"}))
    added = add(store, "m", cwd=tmp_path)

    assert {
        "name": "tools",
        "kind": "folder",
        "location": str(tmp_path / "m"),
        "ref": None,
        "sha256": added.digest,
        "snapshot": str(added.snapshot),
        "plugins": [
            {
                "name": "guard",
                "version": "1.2.0",
                "description": None,
                "source": "./plugins/guard",
                "why_not": None,
            },
            {
                "name": "far",
                "version": None,
                "description": None,
                "source": {"source": "npm", "package": "x"},
                "why_not": "unsupported source: `npm` is none of a path, `git` and `url`",
            },
        ],
    } == json.loads(json.dumps(added.as_json()))


def test_the_native_document_counts_first(store: Store, tmp_path: Path) -> None:
    """Of two documents that of `.muse-plugin` counts; the other one does where it is alone."""
    market(tmp_path / "both", name="native")
    market(tmp_path / "both", name="compatible", at=CLAUDE)
    market(tmp_path / "one", name="compatible", at=CLAUDE)

    assert ["native", "compatible"] == [add(store, each, cwd=tmp_path).name for each in ("both", "one")]


@pytest.mark.parametrize("at", ["list.json", MUSE, CLAUDE])
def test_a_file_is_a_marketplace_of_what_is_around_it(store: Store, tmp_path: Path, at: str) -> None:
    """Only the document is kept of a file; its plugins are in its folder, or in that around a `.muse-plugin`."""
    root = market(tmp_path / "m", at=at)
    added = add(store, str(root / at), cwd=tmp_path)

    assert (From.FILE, str(root / at)) == (added.kind, added.location)
    assert {"marketplace.json": (root / at).read_bytes()} == files(added.snapshot)
    assert (added,) == listing(store)
    with fetched(store, "guard", "tools") as folder:
        assert root / "plugins" / "guard" == folder


def test_a_repository_is_read_as_it_is_committed(store: Store, tmp_path: Path) -> None:
    """A path behind `git+`, a bare repository and a URL name the same: what is committed, without the repository."""
    root = committed(market(tmp_path / "a b%#"))
    (root / "later").write_text("not committed")
    mirror = bare(tmp_path / "bare.git", root)
    added = [
        add(store, source, name=f"m{index}", cwd=tmp_path)
        for index, source in enumerate((f"git+{root}", "bare.git", mirror.as_uri()))
    ]

    assert [From.GIT] * 3 == [each.kind for each in added]
    assert [root.as_uri(), mirror.as_uri(), mirror.as_uri()] == [each.location for each in added]
    assert {frozenset({MUSE, "plugins/guard/run.sh"})} == {frozenset(files(each.snapshot)) for each in added}
    assert tuple(added) == listing(store)
    assert {"plugins/guard/run.sh"} == {f"plugins/guard/{name}" for name in fetch(store, "guard", "m1")}


def test_a_ref_is_a_branch_or_a_tag(store: Store, tmp_path: Path) -> None:
    """What stands behind `#` says which commit is read, now and at each update."""
    root = committed(market(tmp_path / "m"))
    git(root, "tag", "v1")
    (root / "new").write_text("")
    committed(root)
    old, new = (add(store, f"git+m#{ref}", name=ref, cwd=tmp_path) for ref in ("v1", "main"))

    assert [("v1", False), ("main", True)] == [(each.ref, (each.snapshot / "new").exists()) for each in (old, new)]
    assert "v1" == table(store)["marketplaces"]["v1"]["source"]["ref"]
    assert (old,) == update(store, "v1")


NAMED = {
    "https://host/x.git": Origin(From.GIT, "https://host/x.git"),
    "http://host/x#v1.0": Origin(From.GIT, "http://host/x", "v1.0"),
    "ssh://git@host:22/x#a/b": Origin(From.GIT, "ssh://git@host:22/x", "a/b"),
    "git://host/x": Origin(From.GIT, "git://host/x"),
    "file:///x/y.git": Origin(From.GIT, "file:///x/y.git"),
    "git+https://host/x#main": Origin(From.GIT, "https://host/x", "main"),
    "git@host:org/x.git#main": Origin(From.GIT, "git@host:org/x.git", "main"),
}


@pytest.mark.parametrize("source", NAMED)
def test_what_names_a_repository(tmp_path: Path, source: str) -> None:
    """A URL and the form of scp are taken as they are written, with what stands behind `#` as the ref."""
    assert NAMED[source] == origin_of(source, tmp_path)


UNFIT = {
    "nowhere": "there is nothing at {cwd}/nowhere; write a folder, a file, or a repository",
    "ftp://host/x": "there is nothing at {cwd}/ftp:/host/x; write",
    "ext::sh -c date": "there is nothing at {cwd}/ext::sh -c date; write",
    "-oProxyCommand=date@host:x": "there is nothing at",
    "https://#main": "there is nothing at",
    "https://host/x#-v": "`-v` is no ref; write the name of a branch or a tag",
    "https://host/x#": "`` is no ref; write",
    "https://host/x#a b": "`a b` is no ref",
    "git+m#--upload-pack=date": "`--upload-pack=date` is no ref",
    "m#main": "{cwd}/m is read as it lies there, and has no refs; git+{cwd}/m#main is what is committed",
    "a\0b": "there is nothing at {cwd}/a\\x00b",
    "https://host/\n": "there is nothing at {cwd}/https:/host/\\n",
    "x" * 300: "cannot read " + "x" * 300 + ": File name too long",
    "\udcff": "there is nothing at {cwd}/\\udcff",
    "odd\n": "the path '{cwd}/odd\\n' has a character that cannot be written down; rename it",
}


@pytest.mark.parametrize("source", UNFIT, ids=ascii)
def test_what_names_nothing(store: Store, tmp_path: Path, source: str) -> None:
    """What is no folder, no file and no repository is told of on one line, and nothing is made of it."""
    market(tmp_path / "m")
    market(tmp_path / "odd\n")
    said = refused(Fault.SOURCE_UNAVAILABLE, add, store, source, cwd=tmp_path)

    assert UNFIT[source] in said.replace(str(tmp_path), "{cwd}")
    assert said.isprintable()
    assert not store.root.exists()


def test_a_folder_without_a_document_is_not_copied(store: Store, tmp_path: Path) -> None:
    """A folder without either document is no marketplace, whatever else is in it."""
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "link").symlink_to("/")

    assert f"{tmp_path}/m: there is neither {MUSE} nor {CLAUDE} in it; write one" == refused(
        Fault.INVALID_MARKETPLACE, add, store, "m", cwd=tmp_path
    )


@pytest.mark.parametrize("source", ["m", "git+m"])
def test_nothing_is_read_behind_a_link(store: Store, tmp_path: Path, source: str) -> None:
    """A folder or a commit with a link in it is refused, also where the link stands for the document."""
    root = market(tmp_path / "m")
    (root / CLAUDE).parent.mkdir()
    (root / CLAUDE).symlink_to(tmp_path / "m" / MUSE)
    committed(root)
    said = refused(Fault.SOURCE_UNAVAILABLE, add, store, source, cwd=tmp_path)

    assert f"{CLAUDE}: a link, and a package has none; put the file itself there" in said
    assert not (store.root / "marketplaces.json").exists()


def test_a_repository_without_a_document(store: Store, tmp_path: Path) -> None:
    """A commit without either document is no marketplace."""
    root = committed(write_package(tmp_path / "m", {"README": ""}))

    assert f"{root.as_uri()}: there is neither {MUSE} nor {CLAUDE} in it; write one" == refused(
        Fault.INVALID_MARKETPLACE, add, store, "git+m", cwd=tmp_path
    )


# The life of one


def test_a_name_of_ones_own(store: Store, tmp_path: Path) -> None:
    """A marketplace goes by the name that it is given; it has to be an identifier."""
    market(tmp_path / "m")
    added = add(store, "m", name="mine", cwd=tmp_path)

    assert "mine" == added.name
    assert (added,) == listing(store)
    assert "marketplace name `My` is invalid; write lower-case letters" in refused(
        Fault.INVALID_MARKETPLACE, add, store, "m", name="My", cwd=tmp_path
    )


def test_a_name_is_one_sources_alone(store: Store, tmp_path: Path) -> None:
    """Another source under a name that is taken is refused and changes nothing; it may have another name."""
    market(tmp_path / "m")
    market(tmp_path / "other", entry("x"))
    known = add(store, "m", cwd=tmp_path)
    before = kept(store)

    assert (
        f"marketplace `tools` is that of {tmp_path}/m, and not of {tmp_path}/other;"
        " give this one another name, or remove that one first"
    ) == refused(Fault.INVALID_MARKETPLACE, add, store, "other", cwd=tmp_path)
    assert before == kept(store)
    assert (add(store, "other", name="others", cwd=tmp_path), known) == listing(store)


@pytest.mark.parametrize("again", ["add", "update", "update all"])
def test_a_source_is_read_anew(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: str) -> None:
    """To add it again is to update it: the new snapshot stands for the old one, and members that are not ours stay."""
    root = market(tmp_path / "m")
    monkeypatch.setattr(marketplaces, "now", lambda: "first")
    before = add(store, "m", cwd=tmp_path)
    told = table(store)
    told["marketplaces"]["tools"] |= {"pinned": [1]}
    told["marketplaces"]["tools"]["source"] |= {"by": "hand"}
    (store.root / "marketplaces.json").write_text(json.dumps(told | {"more": {}}))
    monkeypatch.setattr(marketplaces, "now", lambda: "second")
    market(root, entry("x"), entry())
    calls: dict[str, Callable[[], Any]] = {
        "add": lambda: (add(store, "m", cwd=tmp_path),),
        "update": lambda: update(store, "tools"),
        "update all": lambda: update(store, None),
    }
    (after,) = calls[again]()
    record = table(store)["marketplaces"]["tools"]

    assert ["x", "guard"] == [each.name for each in after.plugins]
    assert (after,) == listing(store)
    assert ("first", "second", [1], "hand") == (
        record["added_at"],
        record["updated_at"],
        record["pinned"],
        record["source"]["by"],
    )
    assert {} == table(store)["more"]
    assert before.digest != after.digest
    assert {f"tools/{after.digest}"} == snapshots(store)


def test_a_snapshot_that_is_there_stays(store: Store, tmp_path: Path) -> None:
    """Where nothing changed the snapshot is the one that there was: whoever copies from it is not disturbed."""
    market(tmp_path / "m")
    before = add(store, "m", cwd=tmp_path).snapshot.stat().st_ino
    (after,) = update(store, "tools")

    assert before == after.snapshot.stat().st_ino


def test_all_are_updated_or_none(store: Store, tmp_path: Path) -> None:
    """One that cannot be read any more leaves all as they were; the others can still be updated by their names."""
    for name in ("a", "b"):
        market(tmp_path / name, name=name)
        add(store, name, cwd=tmp_path)
    market(tmp_path / "a", entry("x"), name="a")
    shutil.rmtree(tmp_path / "b")
    before = kept(store)

    assert f"there is no folder {tmp_path}/b any more" == refused(Fault.SOURCE_UNAVAILABLE, update, store, None)
    assert before == kept(store)
    assert [["x"]] == [[each.name for each in place.plugins] for place in update(store, "a")]


def test_nothing_to_update(store: Store) -> None:
    """Where no marketplace is known all of them are none, and nothing is made."""
    assert () == update(store, None) == listing(store)
    assert not store.root.exists()


def test_a_marketplace_is_removed(store: Store, tmp_path: Path) -> None:
    """It goes from the table, and its snapshot with it; the others stay."""
    for name in ("a", "b"):
        market(tmp_path / name, name=name)
    gone, stays = (add(store, name, cwd=tmp_path) for name in ("a", "b"))
    remove(store, "a")

    assert (stays,) == listing(store)
    assert {f"b/{stays.digest}"} == snapshots(store)
    assert not gone.snapshot.parent.parent.exists()


@pytest.mark.parametrize("call", [update, remove, lambda store, name: fetch(store, "guard", name)])
def test_a_name_that_nobody_knows(store: Store, tmp_path: Path, call: Callable[[Store, str], object]) -> None:
    """A name that is not in the table is told of, and nothing is made of it."""
    assert "marketplace `nope` is not known" == refused(Fault.UNKNOWN_MARKETPLACE, call, store, "nope")
    assert not store.root.exists()


def test_a_damaged_snapshot_is_told_of_and_mended(store: Store, tmp_path: Path) -> None:
    """A snapshot that is gone or not as it was is told of with what mends it, and that does."""
    market(tmp_path / "m")
    added = add(store, "m", cwd=tmp_path)
    mends = "marketplace `tools` is not as it was read; `hookline plugins marketplace update tools` reads it anew: "
    (added.snapshot / MUSE).chmod(0o600)
    (added.snapshot / MUSE).write_text("{}")
    damaged = refused(Fault.INVALID_MARKETPLACE, listing, store)
    assert f"{mends}{added.snapshot}/{MUSE}:1:1: a marketplace must declare string field `name`" in damaged
    assert (added,) == update(store, "tools") == listing(store)
    assert added.digest == read_package(added.snapshot, LIMITS).digest

    take_away(added.snapshot)
    gone = refused(Fault.INVALID_MARKETPLACE, fetch, store, "guard")
    assert f"{mends}there is no {MUSE} and no {CLAUDE} in {added.snapshot}" == gone
    assert (added,) == update(store, "tools") == listing(store)


def test_a_store_that_was_moved_is_mended(store: Store, tmp_path: Path) -> None:
    """A table that names files elsewhere is not followed there; an update has it name its own."""
    market(tmp_path / "m")
    added = add(store, "m", cwd=tmp_path)
    moved = Store(store.root.rename(tmp_path / "moved"))
    snapshot = moved.root / "marketplaces" / "tools" / added.digest / "package"

    assert f"the table names {added.snapshot} for its files, which belong in {snapshot}" in refused(
        Fault.INVALID_MARKETPLACE, listing, moved
    )
    assert (replace(added, snapshot=snapshot),) == update(moved, "tools") == listing(moved)
    take_away(moved.root)


def test_what_is_replaced_while_it_is_looked_at(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever lists marketplaces while one is updated sees the old or the new one, and no fault."""
    root = market(tmp_path / "m")
    add(store, "m", cwd=tmp_path)
    market(root, entry("x"))
    look = marketplaces._kept
    updated: list[Marketplace] = []

    def overtaken(*given: Any) -> Marketplace:
        if not updated:
            updated.extend(update(store, None))
        return look(*given)

    monkeypatch.setattr(marketplaces, "_kept", overtaken)

    assert listing(store) == tuple(updated)


def meanwhile(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Have something happen once, when a source was read and is about to be committed."""
    commit = marketplaces._commit

    def late(*given: Any, **options: Any) -> None:
        monkeypatch.setattr(marketplaces, "_commit", commit)
        happens()
        commit(*given, **options)

    monkeypatch.setattr(marketplaces, "_commit", late)


def test_what_is_removed_meanwhile_is_not_updated(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A marketplace that somebody removes while it is read anew stays removed."""
    market(tmp_path / "m")
    add(store, "m", cwd=tmp_path)
    meanwhile(monkeypatch, lambda: remove(store, "tools"))

    assert "marketplace `tools` is not known" == refused(Fault.UNKNOWN_MARKETPLACE, update, store, None)
    assert () == listing(store)


def test_what_is_replaced_meanwhile_is_put_back(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot that was there when its source was read, and then was not, is put in its place all the same."""
    root = market(tmp_path / "m")
    before = add(store, "m", cwd=tmp_path)

    def newer() -> None:
        market(root, entry("x"))
        update(store, None)

    meanwhile(monkeypatch, newer)

    assert (before,) == update(store, None) == listing(store)
    assert before.digest == read_package(before.snapshot, LIMITS).digest


def test_a_snapshot_is_on_the_disk_before_the_table_names_it(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each folder on the way to a snapshot is synchronised before the table is written."""
    market(tmp_path / "m")
    done: list[Path] = []
    monkeypatch.setattr(plugin_store, "sync_folder", done.append)
    monkeypatch.setattr(marketplaces, "write_table", lambda path, _: done.append(path))
    home = add(store, "m", cwd=tmp_path).snapshot.parent

    assert store.root / "marketplaces.json" == done[-1]
    assert {home, home.parent, home.parent.parent, store.root} == set(done[:-1])


# What is fetched


def test_a_plugin_is_fetched_from_the_snapshot(store: Store, tmp_path: Path) -> None:
    """What is installed is what was read last, whatever became of the folder since."""
    root = market(tmp_path / "m", entry(), entry("all", "./"))
    added = add(store, "m", cwd=tmp_path)
    shutil.rmtree(root)

    assert {"run.sh": b"#!/bin/sh\n"} == fetch(store, "guard")
    assert files(added.snapshot) == fetch(store, "all")


def test_a_plugin_is_fetched_from_its_repository(store: Store, tmp_path: Path) -> None:
    """A repository of its own is cloned at the ref and the folder that are named, and gone after it was used."""
    root = committed(write_package(tmp_path / "r", {"in/ner/run.sh!": "1", "top": ""}))
    git(root, "tag", "v1")
    (root / "in" / "ner" / "run.sh").write_text("2")
    committed(root)
    url = root.as_uri()
    market(
        tmp_path / "m",
        entry("whole", {"source": "url", "url": url}),
        entry("part", {"source": "git", "url": url, "ref": "v1", "path": "./in/ner"}),
        entry("lost", {"source": "git", "url": url, "path": "nowhere"}),
        entry("gone", {"source": "git", "url": url, "ref": "v2"}),
    )
    add(store, "m", cwd=tmp_path)

    assert {"in/ner/run.sh": b"2", "top": b""} == fetch(store, "whole")
    assert {"run.sh": b"1"} == fetch(store, "part")
    assert f"there is no folder nowhere in {url}" == refused(Fault.SOURCE_UNAVAILABLE, fetch, store, "lost")
    assert f"cannot clone {url}#v2: fatal: Remote branch v2 not found in upstream origin" == refused(
        Fault.SOURCE_UNAVAILABLE, fetch, store, "gone"
    )
    assert [] == staged(store)


def test_no_link_leads_to_a_plugin(store: Store, tmp_path: Path) -> None:
    """Beside a file and in a clone a folder behind a link is not the plugin's, wherever the link leads."""
    root = market(tmp_path / "m", entry("linked", "./here/guard"), at="list.json")
    (root / "here").symlink_to("plugins")
    url = committed(root).as_uri()
    write_package(
        tmp_path, {"far.json": document(entry("linked", {"source": "git", "url": url, "path": "here/guard"}))}
    )
    add(store, "m/list.json", cwd=tmp_path)
    add(store, "far.json", name="far", cwd=tmp_path)

    for name, told in (("tools", root), ("far", url)):
        assert f"here/guard in {told} is behind a link; put the folder itself there" == refused(
            Fault.SOURCE_UNAVAILABLE, fetch, store, "linked", name
        ).removeprefix("./")


def test_a_plugin_that_is_not_there(store: Store, tmp_path: Path) -> None:
    """Who asks for a plugin that is not offered, has no folder or cannot be installed is told which, and why."""
    market(tmp_path / "m", entry(), entry("hollow", "./none"), entry("far", {"source": "github", "repo": "a/b"}))
    add(store, "m", cwd=tmp_path)
    said = {name: refused(Fault.SOURCE_UNAVAILABLE, fetch, store, name) for name in ("gaurd", "hollow", "far")}

    assert {
        "gaurd": 'plugin `gaurd` is not in marketplace `tools` (did you mean "guard"?)',
        "hollow": f"there is no folder ./none in {tmp_path}/m",
        "far": "plugin `far` of marketplace `tools` cannot be installed:"
        " unsupported source: `github` is none of a path, `git` and `url`",
    } == said


# git


def stand_in(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have *script* be what `git` starts."""
    write_package(folder, {"git!": f"#!/bin/sh\n{script}\n"})
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_how_git_is_started(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets the words of one shallow clone, and nothing of the environment but where programs and its user are."""
    said = tmp_path / "said"
    stand_in(tmp_path / "bin", f'printf "%s\\n" "$@" > {said}; env >> {said}; exit 3', monkeypatch)
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    refused(Fault.SOURCE_UNAVAILABLE, add, store, "https://host/x#v1", cwd=tmp_path)
    told = said.read_text().splitlines()
    words = [
        *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "clone", "--quiet", "--depth", "1"),
        *("--no-recurse-submodules", "--branch", "v1", "--", "https://host/x"),
    ]

    assert words == told[: len(words)]
    assert Path(told[len(words)]).is_relative_to(store.staging)
    assert {
        f"HOME={os.environ['HOME']}",
        f"PATH={os.environ['PATH']}",
        "GIT_TERMINAL_PROMPT=0",
        "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh",
        "GIT_LFS_SKIP_SMUDGE=1",
        "GIT_CONFIG_NOSYSTEM=1",
        "GIT_SSH_COMMAND=ssh -oBatchMode=yes",
    } == {each for each in told[len(words) + 1 :] if not each.startswith(("PWD=", "SHLVL=", "_=", "OLDPWD="))}


SAYS = {
    "exit 4": "git ended with status 4",
    "echo remote: hello >&2; echo fatal: no >&2; echo more >&2; exit 1": "fatal: no",
    "echo Warning: added >&2; exit 1": "Warning: added",
    "printf 'a\\tb\\033[31m\\377\\n' >&2; exit 1": "a\\tb\\x1b[31m\N{REPLACEMENT CHARACTER}",
    "kill -TERM $$": "git ended with status -15",
}


@pytest.mark.parametrize("script", SAYS)
def test_what_git_says(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Of what git says the line that says most is told, and nothing that a terminal would act on."""
    stand_in(tmp_path / "bin", script, monkeypatch)

    assert f"cannot clone git@host:x: {SAYS[script]}" == refused(
        Fault.SOURCE_UNAVAILABLE, add, store, "git@host:x", cwd=tmp_path
    )


def test_a_clone_takes_only_so_long(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its time git is ended, with everything that it started."""
    os.mkfifo(tmp_path / "alive")
    stand_in(tmp_path / "bin", f"exec 9> {tmp_path}/alive; sleep 1000 & wait", monkeypatch)
    monkeypatch.setattr(marketplace_sources, "CLONE_TIMEOUT", 0.2)
    alive = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)

    assert "cannot clone https://host/x: it takes longer than 0.2 seconds" == refused(
        Fault.SOURCE_UNAVAILABLE, add, store, "https://host/x", cwd=tmp_path
    )
    os.set_blocking(alive, True)
    assert b"" == os.read(alive, 1)  # which is when nobody has it open any more
    os.close(alive)
    assert [] == staged(store)


def test_a_git_that_outlives_its_program_keeps_its_folder(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a program is killed while git runs, nobody takes away what git writes to before that has ended, too."""
    os.mkfifo(tmp_path / "alive")
    stand_in(tmp_path / "bin", f"exec 9> {tmp_path}/alive; echo $$ >&9; exec sleep 1000", monkeypatch)
    child = os.fork()
    if child == 0:
        try:
            add(store, "https://host/x", cwd=tmp_path)
        finally:
            os._exit(1)
    with (tmp_path / "alive").open() as alive:
        pid = int(alive.readline())
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    (theirs,) = staged(store)
    with store.stage():
        assert theirs.is_dir()
    os.killpg(pid, signal.SIGKILL)
    with (theirs / HELD).open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # once git is gone
    with store.stage() as ours:
        assert [ours.path] == staged(store)


def test_git_that_is_not_there(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no git, repositories cannot be read."""
    monkeypatch.setenv("PATH", str(tmp_path))

    assert "cannot run git, which https://host/x takes: No such file or directory" == refused(
        Fault.SOURCE_UNAVAILABLE, add, store, "https://host/x", cwd=tmp_path
    )


# The document

BAD = {
    "[]": ["1:1: a marketplace must be an object, found an array; write {}"],
    "": ["1:1: nothing in it; mend"],
    "{": ["1:2: expecting property name enclosed in double quotes; mend"],
    '{"name": "a", "name": "b"}': ["1:15: duplicate key `name`; mend"],
    "{}": [
        "1:1: a marketplace must declare string field `name`; write lower-case",
        '1:1: a marketplace must declare array field `plugins`; write "plugins": []',
    ],
    '{"name": "A",\n "plugins": {}}': [
        "1:10: marketplace name `A` is invalid; write lower-case",
        '2:13: a marketplace must declare array field `plugins`, found an object; write "plugins": []',
    ],
    '{"name": 1, "plugins": [], "owner": "me",\n"description": null}': [
        "1:10: a marketplace must declare string field `name`, found a number; write",
        "1:37: `owner` must be an object, found a string; write {}",
        '2:16: `description` must be a string, found null; write "..."',
    ],
    '{"name": "a", "plugins": [\n1]}': ["2:1: a plugin must be an object, found a number; write {...}"],
    '{"name": "a", "plugins": [\n{}]}': [
        "2:1: a plugin must declare string field `name`; write lower-case",
        "2:1: a plugin must declare its `source`; write a path below",
    ],
    '{"name": "a", "plugins": [{"name": "x", "source": "./a", "version": 1},\n{"name": "x", "source": ["./b"]}]}': [
        '1:69: `version` must be a string, found a number; write "..."',
        "2:10: there is a plugin `x` already; write a name of its own",
        "2:25: a plugin must declare its `source`, found an array; write a path below",
    ],
    '{"name": "a", "plugins": [{"name": "x/y", "source": {"url": "https://host/x"}}]}': [
        "1:36: plugin name `x/y` is invalid; write lower-case",
        "1:53: a plugin must declare its `source`, found an object; write a path below",
    ],
    '{"name": "a", "plugins": [{"name": "x", "source": {"source": "git"}}]}': [
        "1:51: a repository must declare string field `url`; write its URL"
    ],
    '{"name": "a", "plugins": [{"name": "x", "source": {"source": "git", "url": 1}}]}': [
        "1:76: a repository must declare string field `url`, found a number; write its URL"
    ],
    '{"name": "a", "plugins": [{"name": "x", "source":\n{"source": "git", "url": "u", "path": "",\n"ref": "-v"}}]}': [
        "2:39: `` is no path within the marketplace; write",
        "3:8: `-v` is no ref; write the name of a branch or a tag",
    ],
    '{"name": "a", "plugins": [{"name": "x", "source":\n{"source": "git", "url": "u", "path": 1,\n"ref": {}}}]}': [
        '2:39: `path` must be a string, found a number; write "..."',
        '3:8: `ref` must be a string, found an object; write "..."',
    ],
}
OUTSIDE = ["../x", "./plugins/../../x", "a\\..\\b", "/etc", "\\etc", "", ".//", "a\nb", "a\0b"]
BAD |= {
    f'{{"name": "a", "plugins": [{{"name": "x", "source": {json.dumps(path)}}}]}}': [
        f"1:51: `{path}` is no path within the marketplace; write a path below the marketplace's folder".replace(
            "\n", "\\n"
        ).replace("\0", "\\x00")
    ]
    for path in OUTSIDE
}


@pytest.mark.parametrize("text", BAD, ids=ascii)
def test_what_is_wrong_in_a_document(store: Store, tmp_path: Path, text: str) -> None:
    """Everything that is wrong is said at once, a line each: where, what was found, and what to write."""
    write_package(tmp_path / "m", {MUSE: text})
    said = refused(Fault.INVALID_MARKETPLACE, add, store, "m", cwd=tmp_path).split("\n")

    assert [f"{tmp_path}/m/{MUSE}:{each}" for each in BAD[text]] == [
        line[: len(f"{tmp_path}/m/{MUSE}:{each}")] for line, each in zip(said, BAD[text], strict=True)
    ]
    assert {} == kept(store)


def test_where_a_document_of_a_repository_and_a_file_is(store: Store, tmp_path: Path) -> None:
    """A place in a repository is below its URL, and a place in a file in the file itself."""
    root = committed(write_package(tmp_path / "m", {CLAUDE: "\n ]"}))

    for source, place in (("git+m", f"{root.as_uri()}/{CLAUDE}"), (f"m/{CLAUDE}", f"{root}/{CLAUDE}")):
        assert refused(Fault.INVALID_MARKETPLACE, add, store, source, cwd=tmp_path).startswith(f"{place}:2:2: ")


@pytest.mark.parametrize("at", [MUSE, "list.json"])
def test_a_document_is_only_so_large(store: Store, tmp_path: Path, at: str) -> None:
    """One byte more than a MiB is too large, however well it reads."""
    write_package(tmp_path / "m", {at: document().ljust(1_048_577)})
    source = "m" if at == MUSE else f"m/{at}"

    assert f"{tmp_path}/m/{at}:1:1: larger than 1048576 bytes; mend" in refused(
        Fault.INVALID_MARKETPLACE, add, store, source, cwd=tmp_path
    )


WHY_NOT = {
    "unsupported source: `github` is none of a path, `git` and `url`": {"source": "github", "repo": "a/b"},
    "unsupported source: nothing is known of its `sha`": {"source": "git", "url": "https://host/x", "sha": "abc"},
    "unsupported source: `ext::date` is no URL that is cloned from": {"source": "url", "url": "ext::date"},
    "unsupported source: `/x.git` is no URL that is cloned from": {"source": "git", "url": "/x.git"},
    'unsupported source: for a repository write {"source": "git", "url": "git@host:x"}': "git@host:x",
}


def test_one_source_of_a_kind_that_is_not_known_spoils_nothing_else(store: Store, tmp_path: Path) -> None:
    """A plugin whose source is of another kind is listed with the reason; all others can be installed."""
    market(tmp_path / "m", *(entry(f"p{index}", source) for index, source in enumerate(WHY_NOT.values())), entry())
    added = add(store, "m", cwd=tmp_path)

    assert [*WHY_NOT, ""] == [each.why_not for each in added.plugins]
    assert [*WHY_NOT.values(), "./plugins/guard"] == [each.source for each in added.plugins]


def test_members_that_nobody_knows_are_tolerated() -> None:
    """What other tools write into a document beside what is known here does no harm, wherever a plugin has it."""
    known = entry(strict=False, author={"name": "a"}, hooks=[])
    more: dict[str, Any] = {"$schema": "x", "owner": {"name": "a"}, "metadata": [], "description": ""}
    read = read_document(b"\xef\xbb\xbf" + document(known, **more).encode(), "m")

    assert ("tools", ["guard"]) == (read.name, [each.name for each in read.plugins])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["git", "./a", "https://h/x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a JSON value, with each of its keys."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


@st.composite
def nearly(draw: st.DrawFn, text: str) -> bytes:
    """*text*, a JSON document, with something else in one place of it."""
    value = [json.loads(text)]
    container, key = draw(st.sampled_from(list(places(value))))
    container[key] = draw(JSON)
    return json.dumps(value[0]).encode()


SOUND = document(
    entry(version="1", description=""), entry("b", {"source": "git", "url": "https://h/x", "ref": "v", "path": "a"})
)


@given(data=st.binary(max_size=40) | nearly(SOUND))
@settings(max_examples=300, deadline=None)
def test_any_document_is_read_or_refused(data: bytes) -> None:
    """Whatever bytes a document is made of, it is a marketplace that can be shown, or told of with its place."""
    read = attempt(read_document, data, "/m.json")

    if isinstance(read, PluginError):
        assert Fault.INVALID_MARKETPLACE is read.code
        assert all(line.startswith("/m.json:") and line.isprintable() for line in str(read).split("\n"))
    else:
        assert all(json.dumps(each.as_json()) for each in read.plugins)


@given(data=st.binary(max_size=40) | nearly(SOUND))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_document_that_is_refused_changes_nothing(store: Store, tmp_path: Path, data: bytes) -> None:
    """Whatever bytes are added as a marketplace, they are one of the store afterwards, or nothing of it changed."""
    (tmp_path / "list.json").write_bytes(data)
    before = kept(store)
    added = attempt(add, store, "list.json", name="any", cwd=tmp_path)

    if isinstance(added, PluginError):
        assert before == kept(store)
    else:
        assert (added,) == listing(store)


# The table


def test_a_newer_table_is_left_alone(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of a newer version is the newer program's: nothing is fetched because of it, and nothing changed."""
    stand_in(tmp_path / "bin", f"touch {tmp_path}/started; exit 1", monkeypatch)
    market(tmp_path / "m")
    add(store, "m", cwd=tmp_path)
    (store.root / "marketplaces.json").write_text('{"version": 2, "marketplaces": {"tools": {}}}')
    before = kept(store)

    calls: list[Callable[[], object]] = [
        lambda: add(store, "https://host/x", cwd=tmp_path),
        lambda: update(store, None),
        lambda: remove(store, "tools"),
        lambda: listing(store),
    ]
    for call in calls:
        said = refused(Fault.STORE_FORMAT_INVALID, call)
        assert f"{store.root}/marketplaces.json:1:13: `version`: it has version 2, and this program reads" in said
    assert before == kept(store)
    assert not (tmp_path / "started").exists()


HEX = "0" * 64
RECORD = {
    "name": "a",
    "source": {"kind": "git", "location": "https://h/x", "ref": "v1"},
    "added_at": "then",
    "updated_at": "now",
    "snapshot": "/s",
    "sha256": HEX,
}
ODD: list[tuple[dict[str, Any], str]] = [
    ({"name": "b"}, "marketplaces.a.name`: it is not the name that the marketplace is kept under"),
    ({"name": 1}, "marketplaces.a.name`: it has to be a string, found a number"),
    ({"added_at": None}, "marketplaces.a.added_at`: it has to be a string, found null"),
    ({"sha256": "../x"}, "marketplaces.a.sha256`: it is not a digest of 64 hexadecimal digits"),
    ({"source": []}, "marketplaces.a.source`: it has to be an object, found an array"),
    ({"source": {"kind": "git"}}, "marketplaces.a.source.location`: it has to be a string, found null"),
    ({"source": {"kind": "npm", "location": "x"}}, "marketplaces.a.source.kind`: it is none of folder, file, git"),
    ({"source": {"kind": [], "location": "x"}}, "marketplaces.a.source.kind`: it is none of folder, file, git"),
    ({"source": {"kind": "git", "location": "-x"}}, "marketplaces.a.source.location`: it is not where a git can be"),
    ({"source": {"kind": "file", "location": "x"}}, "marketplaces.a.source.location`: it is not where a file can be"),
    ({"source": {"kind": "file", "location": "/\0"}}, "marketplaces.a.source.location`: it is not where a file can"),
    ({"source": {"kind": "git", "location": "git@h:x", "ref": "-v"}}, "marketplaces.a.source.ref`: it is no ref of"),
    ({"source": {"kind": "folder", "location": "/x", "ref": "v"}}, "marketplaces.a.source.ref`: it is no ref of"),
]


@pytest.mark.parametrize(("change", "said"), ODD, ids=[f"{change}" for change, _ in ODD])
def test_a_damaged_record_is_told_of(store: Store, change: dict[str, Any], said: str) -> None:
    """A record that this program could not have written is told of with its place, and left as it is."""
    store.root.mkdir()
    text = json.dumps({"version": 1, "marketplaces": {"a": RECORD | change}}, indent=2)
    (store.root / "marketplaces.json").write_text(text)

    assert f"`{said}" in refused(Fault.STORE_FORMAT_INVALID, remove, store, "a")
    assert text == (store.root / "marketplaces.json").read_text()


@given(data=st.binary(max_size=40) | nearly(json.dumps({"version": 1, "marketplaces": {"a": RECORD}})))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_table_is_read_or_left(store: Store, tmp_path: Path, data: bytes) -> None:
    """Whatever bytes the table is made of, each call does what it is for, or says why not and changes no file."""
    if not (tmp_path / "m").exists():
        market(tmp_path / "m")
    store.root.mkdir(exist_ok=True)
    path = store.root / "marketplaces.json"
    path.write_bytes(data)
    codes = {Fault.STORE_FORMAT_INVALID, Fault.UNKNOWN_MARKETPLACE, Fault.INVALID_MARKETPLACE}
    calls: list[Callable[[], object]] = [
        lambda: listing(store),
        lambda: fetch(store, "guard", "a"),
        lambda: remove(store, "a"),
        lambda: add(store, "m", cwd=tmp_path),
    ]

    for call in calls:
        before = kept(store)
        done = attempt(call)
        if isinstance(done, PluginError):
            assert done.code in codes
            assert before == kept(store)


@pytest.mark.parametrize("what", ["staging", "marketplaces", ".installed.lock"])
def test_a_store_that_cannot_be_written(store: Store, tmp_path: Path, what: str) -> None:
    """Where something else stands in the place of what the store needs, that is told of and nothing is known."""
    market(tmp_path / "m")
    store.root.mkdir()
    (store.root / what).mkdir() if what.startswith(".") else (store.root / what).write_text("")

    assert f"cannot write {store.root}" in refused(Fault.STORE_WRITE_FAILED, add, store, "m", cwd=tmp_path)
    assert () == listing(store)


# Killed, and not alone


def old(store: Store, tmp_path: Path) -> tuple[Marketplace, ...]:
    """A store with one marketplace, of which there is something newer; another one to be added."""
    market(tmp_path / "m")
    market(tmp_path / "n", name="new")
    market(tmp_path / "later", name="later")
    add(store, "m", cwd=tmp_path)
    market(tmp_path / "m", entry("x"))
    return listing(store)


CHANGES: dict[str, Callable[[Store, Path], object]] = {
    "add": lambda store, cwd: add(store, "n", cwd=cwd),
    "update": lambda store, _: update(store, None),
    "remove": lambda store, _: remove(store, "tools"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_kill_leaves_the_old_or_the_new(
    store: Store, tmp_path: Path, change: Callable[[Store, Path], object]
) -> None:
    """Wherever a change is killed, what is known is as before or as after it, every byte; the next change works."""
    before = old(store, tmp_path)
    shutil.copytree(store.root, tmp_path / "before")
    change(store, tmp_path)
    after = listing(store)
    seen = set()

    def begin() -> None:
        take_away(store.root)
        shutil.copytree(tmp_path / "before", store.root)

    def check() -> None:
        found = listing(store)
        assert found in (before, after)
        assert all(each.digest == read_package(each.snapshot, LIMITS).digest for each in found)
        seen.add(found)
        later = add(store, "later", cwd=tmp_path)
        assert {later, *found} == set(listing(store))
        assert {f"{each.name}/{each.digest}" for each in (later, *found)} == snapshots(store)

    assert at_every_step(lambda: change(store, tmp_path), check, begin=begin) > len(seen)
    assert {before, after} == seen
    take_away(tmp_path / "before")


def test_several_add_at_once(store: Store, tmp_path: Path) -> None:
    """Processes that add at the same moment all do: none loses what another one wrote."""
    names = ["a", "b", "c", "d"]
    for name in names:
        market(tmp_path / name, name=name)
    reading, writing = os.pipe()
    children = []
    for name in names:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.close(writing)
                os.read(reading, 1)  # until all are there
                add(store, name, cwd=tmp_path)
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    os.close(writing)
    os.close(reading)

    assert [0] * 4 == [os.waitpid(child, 0)[1] for child in children]
    assert names == [each.name for each in listing(store)]
    assert {f"{each.name}/{each.digest}" for each in listing(store)} == snapshots(store)
