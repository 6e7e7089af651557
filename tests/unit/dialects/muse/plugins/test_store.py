"""The store on disk: any bytes in its files, a full disk, a kill at every step, and several programs at once."""

import codecs
import json
import os
import resource
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.killing import at_every_step
from tests.package_rig import hook, native, user_env

from hookline._core.errors import ConfigError
from hookline._core.package_files import take_away
from hookline._engines import open_project
from hookline.dialects.muse.plugins.decisions import with_member
from hookline.dialects.muse.plugins.errors import Fault, PluginError
from hookline.workbench.check import check
from hookline.workbench.plugins import plugins

NOBODY = 65534

STORE = "home/.local/share/muse/plugins"
TABLE = f"{STORE}/installed.json"
SETTINGS = "home/.config/muse/settings.json"


def do(root: Path, verb: str, *given: Any, **options: Any) -> Any:
    return plugins(verb, *given, env=user_env(root / "home"), cwd=root, **options).value


def statuses(root: Path) -> dict[str, str]:
    """The review of every hook of every plugin."""
    return {
        each["candidate"]["stable_id"]: each["status"]
        for record in do(root, "list")
        for each in do(root, "inspect", record["record"]["id"])["runtime_capabilities"]
    }


def files_below(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A user with a plugin that is installed and approved, and a second package to install."""
    native(tmp_path / "guard", "guard", [hook(), hook("stop", "Stop")])
    native(tmp_path / "other", "other")
    do(tmp_path, "install", "guard")
    do(tmp_path, "approve", "guard:prompt")
    return tmp_path


BOTH = {"plugin:guard:hook:prompt": "trusted_enabled", "plugin:guard:hook:stop": "review_needed"}

WRONG: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "an array": (lambda told: [told], "it has to be an object, found an array"),
    "no version": (lambda told: told.pop("version") and told, "it has no version that can be read"),
    "a newer version": (lambda told: {**told, "version": 2}, "it has version 2, and this program reads version 1"),
    "a list of plugins": (lambda told: {**told, "plugins": []}, "`plugins`: it has to be an object, found an array"),
    "a record that is a text": (lambda told: {**told, "plugins": {"guard": "x"}}, "`plugins.guard`: it has to be"),
    "an empty record": (lambda told: {**told, "plugins": {"guard": {}}}, "`plugins.guard`: `id` is missing"),
    "an id that is a path": (
        lambda told: {**told, "plugins": {"../x": {**told["plugins"]["guard"], "id": "../x"}}},
        "it is not the id that the plugin is kept under",
    ),
    "a digest that is a path": (
        lambda told: told["plugins"]["guard"].update(package_sha256="../../x") or told,
        "`plugins.guard.package_sha256`: it is not a digest of 64 hexadecimal digits",
    ),
    "enabled by a word": (
        lambda told: told["plugins"]["guard"].update(enabled="yes") or told,
        "`plugins.guard.enabled`: it has to be a boolean, found a string",
    ),
    "a family of its own": (
        lambda told: told["plugins"]["guard"].update(manifest_family="mine") or told,
        "`plugins.guard.manifest_family`: there is no such family",
    ),
    "something unfinished": (lambda told: {**told, "unfinished": [{"id": "../.."}]}, "`unfinished[0].delete_data`"),
}


@pytest.mark.parametrize(("spoil", "why"), WRONG.values(), ids=WRONG)
def test_a_table_that_is_wrong_is_told_with_its_place_and_left_alone(
    root: Path, spoil: Callable[[dict[str, Any]], Any], why: str
) -> None:
    """Every verb says file, place and what is wrong, and changes nothing; a session warns and runs no plugin."""
    table = root / TABLE
    table.write_text(json.dumps(spoil(json.loads(table.read_text()))))
    before = files_below(root / "home")
    for verb, *rest in (
        ("list",),
        ("install", "other"),
        ("approve", "guard"),
        ("remove", "guard"),
        ("update", "guard"),
    ):
        with pytest.raises(PluginError) as raised:
            do(root, verb, *rest)
        assert Fault.STORE_FORMAT_INVALID is raised.value.code
        assert str(raised.value).startswith(f"{table}:1:")
        assert why in str(raised.value)
    after = files_below(root / "home")
    assert before | {f"{STORE[5:]}/staging/.making": b""} == after

    project = open_project(root, env=user_env(root / "home"))
    assert () == project.engine.hooks()
    assert ["plugin-store-format-invalid"] == [each.code for _, found in project.loaded for each in found.problems]


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=100).map(str.encode))
def test_any_bytes_as_the_table(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """Whatever stands there, a verb gives its diagnostic and the file stays as it is."""
    root = tmp_path_factory.mktemp("any")
    table = root / TABLE
    table.parent.mkdir(parents=True)
    table.write_bytes(data)
    native(root / "guard")
    with pytest.raises(PluginError) as raised:
        do(root, "install", "guard")

    assert Fault.STORE_FORMAT_INVALID is raised.value.code
    assert data == table.read_bytes()


@pytest.mark.parametrize("path", ["gone", "other/hooks/prompt.sh", "g\udcff", "a\0b", ""])
def test_a_path_that_is_no_folder(root: Path, path: str) -> None:
    """What cannot be installed from there is said, whatever the path is made of."""
    (root / "g\udcff").mkdir()
    with pytest.raises(PluginError):
        do(root, "install", path)


@pytest.fixture
def open_root() -> Iterator[Path]:
    """As `root`, where anybody can come to."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    native(folder / "guard", "guard", [hook(), hook("stop", "Stop")])
    do(folder, "install", "guard")
    do(folder, "approve", "guard:prompt")
    yield folder
    take_away(folder)


def _of_nobody(root: Path, act: Callable[[], object]) -> str:
    """What *act* raised, done by somebody without rights to whom all of it belongs; empty where nothing was raised."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                _as_nobody(root)
            act()
        except BaseException as error:  # noqa: BLE001  # a child must not go on with the test
            os.write(writing, repr(error).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as told:
        return told.read()


CLOSED = [
    "home/.local/share/muse/plugins/cache/local/guard",
    "home/.local/share/muse/plugins/cache",
    "guard/hooks",
    ".",
]


@pytest.mark.parametrize("name", CLOSED)
def test_folders_that_are_closed_to_us_are_told(open_root: Path, name: str) -> None:
    """Whatever cannot be looked into: each verb, a check and a session say so, and nothing raises anything else."""
    (open_root / "work").mkdir()
    env = user_env(open_root / "home")

    def act() -> None:
        (open_root / name).chmod(0)
        with suppress(PluginError):
            do(open_root, "list")
        for verb in ("inspect", "install", "update", "approve", "remove"):
            with suppress(PluginError):
                do(open_root, verb, "guard")
        with suppress(ConfigError):  # the settings may be closed to us too
            open_project(open_root / "work", env=env)
        check([open_root / "guard"], env=env)

    check([open_root / "guard"], env=env)  # what it imports is loaded by somebody who may
    codecs.lookup("utf-8-sig")
    try:
        assert "" == _of_nobody(open_root, act)
    finally:
        with suppress(FileNotFoundError):
            (open_root / name).chmod(0o755)


def _as_nobody(root: Path) -> None:
    """Give all of it to somebody without rights, and be them."""
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            os.chown(os.path.join(folder, name), NOBODY, NOBODY)  # noqa: PTH118
    os.chown(root, NOBODY, NOBODY)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def test_bytes_that_were_tampered_with_are_put_right_by_an_update(open_root: Path) -> None:
    """The same package is installed anew in the place of what is broken, also by somebody who is not root."""
    cache = Path(do(open_root, "inspect", "guard")["record"]["cache_path"])
    script = cache / "hooks" / "prompt.sh"
    for each in (script.parent, script):
        each.chmod(0o700)
    script.write_text("#!/bin/sh\n")
    assert not do(open_root, "inspect", "guard")["valid"]
    assert "" == _of_nobody(open_root, lambda: do(open_root, "update", "guard"))

    assert BOTH == statuses(open_root)


def test_what_is_not_ours_in_the_table_stays(root: Path) -> None:
    """Members that another program wrote are there after a change, of the table and of a record."""
    table = root / TABLE
    told = json.loads(table.read_text())
    told["theirs"], told["plugins"]["guard"]["theirs"] = [1], {"a": None}
    told["plugins"]["guard"] |= {"aliases": 7, "hooks": "many", "capabilities": {}}
    table.write_text(json.dumps(told))
    do(root, "install", "other")
    do(root, "disable", "guard")

    told = json.loads(table.read_text())
    assert ([1], {"a": None}) == (told["theirs"], told["plugins"]["guard"]["theirs"])


ACCOUNTS = [
    b"",
    b"{",
    b"[]",
    b'{"version": 7}',
    b"\xff",
    b'{"version": 1, "hooks": []}',
    b'{"version": 1, "hooks": {"prompt": 7}, "packages": {"x": 7}}',
    b'{"version": 1, "hooks": {"prompt": {"hash": "x", "package_sha256": {}, "definition": {}}}}',
    b'{"version": 1, "packages": {"x": {"y": 7}}}',
]


@pytest.mark.parametrize("data", ACCOUNTS)
def test_what_was_reviewed_is_only_for_showing(root: Path, data: bytes) -> None:
    """A damaged account of it costs the list of changes, and nothing else."""
    (root / STORE / "reviewed" / "guard.json").write_bytes(data)
    assert BOTH == statuses(root)

    (root / "guard" / "more").write_text("")
    do(root, "update", "guard")
    assert "modified" == statuses(root)["plugin:guard:hook:prompt"]
    do(root, "approve", "guard")
    assert {"trusted_enabled"} == set(statuses(root).values())


SPOILED_SETTINGS = ['{"schema_version": 2}', "{", '{"schema_version": 1, "runtime_capabilities": []}']


@pytest.mark.parametrize("text", SPOILED_SETTINGS)
def test_settings_that_cannot_be_used_are_left_alone(root: Path, text: str) -> None:
    """A decision is not written over them; what is removed is gone, and its decisions are void all the same."""
    good = (root / SETTINGS).read_text()
    (root / SETTINGS).write_text(text)
    with pytest.raises(PluginError) as raised:
        do(root, "approve", "guard")
    assert Fault.TRUST_WRITE_FAILED is raised.value.code
    with pytest.raises(PluginError) as raised:
        do(root, "remove", "guard")
    assert Fault.REMOVE_FAILED is raised.value.code
    assert text == (root / SETTINGS).read_text()

    (root / SETTINGS).write_text(good)
    assert [] == do(root, "list")
    do(root, "install", "guard")
    assert {"review_needed"} == set(statuses(root).values())


def test_settings_keep_their_form(root: Path) -> None:
    """A decision changes its own member alone: not the order, the spaces, nor the link that leads to the file."""
    text = '{ "managed_hooks_path" : "x",\n\t"schema_version":1.0e0 ,\n  "mine": [1,\n2] }\n'
    elsewhere = root / "dotfiles.json"
    elsewhere.write_text(text.replace("1.0e0", "1"))
    (root / SETTINGS).unlink()
    (root / SETTINGS).symlink_to(elsewhere)
    do(root, "reject", "guard:stop")
    written = elsewhere.read_text()

    assert (root / SETTINGS).is_symlink()
    assert written.startswith('{ "managed_hooks_path" : "x",\n\t"schema_version":1 ,\n  "mine": [1,\n2]')
    assert "trusted_disabled" == statuses(root)["plugin:guard:hook:stop"]


MEMBERS = st.dictionaries(
    st.text(max_size=5),
    st.recursive(st.none() | st.integers() | st.text(max_size=5), st.lists, max_leaves=4),
    max_size=4,
)


@settings(max_examples=150, deadline=None)
@given(MEMBERS, st.sampled_from([None, 0, 1, 2, "\t"]), st.booleans(), MEMBERS)
def test_a_member_is_written_into_any_object(
    members: dict[str, Any], indent: int | str | None, there: bool, value: dict[str, Any]
) -> None:
    """Afterwards it is what it was meant to be, and everything else is what it was, to the letter."""
    whole = {"schema_version": 1, **members, **({"ours": {"old": [1]}} if there else {})}
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    changed = with_member(text, "ours", value)

    assert {**whole, "ours": value} == json.loads(changed)
    assert list(json.loads(changed)) == list({**whole, "ours": value})


def _fresh(root: Path, copy: Path) -> Path:
    """*copy* as *root* was."""
    take_away(copy)
    shutil.copytree(root, copy, symlinks=True)
    return copy


LIFE: dict[str, tuple[Callable[[Path], object], dict[str, str], bool]] = {
    "install": (
        lambda root: do(root, "install", "other"),
        {**BOTH, "plugin:other:hook:prompt": "review_needed"},
        False,
    ),
    "update": (
        lambda root: do(root, "update", "guard"),
        {"plugin:guard:hook:prompt": "modified", "plugin:guard:hook:stop": "review_needed"},
        True,
    ),
    "update without a change": (lambda root: do(root, "update", "guard"), BOTH, False),
    "approve": (lambda root: do(root, "approve", "guard"), dict.fromkeys(BOTH, "trusted_enabled"), False),
    "remove": (lambda root: do(root, "remove", "guard", delete_data=True), {}, False),
    "disable": (lambda root: do(root, "disable", "guard"), BOTH, False),
}


@pytest.mark.slow
@pytest.mark.parametrize(("operation", "after", "changes"), LIFE.values(), ids=LIFE)
def test_a_kill_at_any_step_leaves_the_old_state_or_the_new_one(
    root: Path, operation: Callable[[Path], object], after: dict[str, str], changes: bool
) -> None:
    """Whatever was being done to the disk: everything can be read, and the next change goes through."""
    live = root / "live"
    (root / STORE / "data" / "guard").mkdir(parents=True)
    kept = root / "kept"
    kept.mkdir()
    for each in ("home", "guard", "other"):
        shutil.move(root / each, kept / each)
    if changes:
        (kept / "guard" / "more").write_text("")
    _move_to(kept, live)

    def begin() -> None:
        _fresh(kept, live)

    def check() -> None:
        assert statuses(live) in (BOTH, after)
        operation_after = do(live, "install", "other")
        assert "other" == operation_after["record"]["id"]
        assert [] == [path.name for path in (live / STORE / "staging").iterdir() if path.is_dir()]
        assert [] == [path.name for path in (live / STORE).glob(".*.json.*")]

    assert at_every_step(lambda: operation(live), check, begin=begin) > 4  # it does more


def _move_to(kept: Path, live: Path) -> None:
    """Have the records name the place where the copy is going to be."""
    for name in (TABLE, SETTINGS):
        path = kept / name
        path.write_text(path.read_text().replace(str(kept.parent / "guard"), str(live / "guard")))
    _fresh(kept, live)
    table = json.loads((live / TABLE).read_text())
    for record in table["plugins"].values():
        record["cache_path"] = record["cache_path"].replace(str(kept.parent), str(live))
    (live / TABLE).write_text(json.dumps(table))
    do(live, "approve", "guard:prompt")
    shutil.copy(live / TABLE, kept / TABLE)
    shutil.copy(live / SETTINGS, kept / SETTINGS)


def test_several_programs_at_once_leave_a_whole_store(root: Path) -> None:
    """Six programs install, approve, update and remove: each change is there, and none is lost or torn."""
    names = [f"plugin-{number}" for number in range(6)]
    for name in names:
        native(root / name, name)
    children = []
    for name in names:
        child = os.fork()
        if child == 0:
            try:
                for _ in range(3):
                    do(root, "install", name)
                    do(root, "approve", name)
                    do(root, "update", name)
                    do(root, "remove", name)
                do(root, "install", name)
                do(root, "approve", name)
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    assert [0] * 6 == [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]

    assert {**BOTH, **{f"plugin:{name}:hook:prompt": "trusted_enabled" for name in names}} == statuses(root)


def test_a_full_disk_changes_nothing(root: Path) -> None:
    """Where no file can grow beyond what there is room for, a verb says so and the old state stands."""
    (root / "other" / "large").write_bytes(b"x" * 200_000)
    before = files_below(root / "home")
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            do(root, "install", "other")
        except PluginError as error:
            os._exit(7 if error.code is Fault.STORE_WRITE_FAILED and "File too large" in str(error) else 8)
        os._exit(9)
    assert 7 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])  # as it ended above

    assert before == files_below(root / "home")


@pytest.mark.parametrize("name", ["installed.json", "settings.json", "guard.json"])
def test_a_disk_that_fills_up_at_a_table_changes_nothing_of_it(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The draft of a table that cannot be written is taken away, and the table stands as it was."""
    import errno

    from hookline._core import regular_files

    before = files_below(root / "home")
    real = os.fsync

    def full(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink().name.startswith(f".{name}"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(regular_files.os, "fsync", full)
    if name == "guard.json":  # it only says what to show
        do(root, "approve", "guard")
        assert {"trusted_enabled"} == set(statuses(root).values())
        return
    with pytest.raises(PluginError, match="No space left on device"):
        do(root, "approve" if name != "installed.json" else "disable", "guard")

    after = files_below(root / "home")
    changed = {path for path in before if before[path] != after.get(path)} | (after.keys() - before.keys())
    assert changed <= {".local/share/muse/plugins/reviewed/guard.json"}


@pytest.mark.parametrize("home", ["", "relative", "/no\udcff"])
def test_a_home_that_cannot_hold_plugins_is_told(tmp_path: Path, home: str) -> None:
    """Nowhere, somewhere relative, and a path that no record could name: each says what to set."""
    native(tmp_path / "guard")
    with pytest.raises(PluginError, match="XDG_DATA_HOME") as raised:
        plugins("install", "guard", env={**user_env(tmp_path), "HOME": home}, cwd=tmp_path)

    assert Fault.STORE_READ_FAILED is raised.value.code


def test_data_that_is_a_link_goes_as_a_link(root: Path) -> None:
    """`remove --delete-data` takes away what a plugin put in its place, and nothing behind it."""
    victim = root / "victim"
    (victim / "inner").mkdir(parents=True)
    (victim / "inner" / "file").write_text("kept")
    (victim / "inner").chmod(0o755)
    data = root / STORE / "data" / "guard"
    data.parent.mkdir()
    data.symlink_to(victim)
    do(root, "remove", "guard", delete_data=True)

    assert not os.path.lexists(data)
    assert (0o755, "kept") == ((victim / "inner").stat().st_mode & 0o777, (victim / "inner" / "file").read_text())


def test_a_decision_does_not_touch_what_is_installed(root: Path) -> None:
    """Where nothing changes, the table is not written: a decision stands or falls with the settings alone."""
    before = (root / TABLE).stat().st_ino
    do(root, "approve", "guard")

    assert before == (root / TABLE).stat().st_ino


def test_a_removal_without_settings_is_whole(root: Path) -> None:
    """There are no decisions where there is no file for them, and nothing is left to do."""
    (root / SETTINGS).unlink()
    do(root, "remove", "guard")

    assert "unfinished" not in json.loads((root / TABLE).read_text())
    do(root, "install", "guard")


def test_what_a_removal_has_left_is_in_no_other_plugins_way(root: Path) -> None:
    """While settings cannot be written others come and go, but not the plugin itself: its decisions are still there."""
    good = (root / SETTINGS).read_text()
    (root / SETTINGS).write_text("{")
    with pytest.raises(PluginError):
        do(root, "remove", "guard")
    do(root, "install", "other")
    with pytest.raises(PluginError, match="settings"):
        do(root, "install", "guard")

    (root / SETTINGS).write_text(good)
    do(root, "install", "guard")
    assert {"review_needed"} == set(statuses(root).values())


def test_an_update_with_settings_that_cannot_be_read_changes_nothing(root: Path) -> None:
    """What would be said of the reviews cannot be said, so nothing is done."""
    before = (root / TABLE).read_bytes()
    (root / SETTINGS).write_text("{")
    (root / "guard" / "more").write_text("x")
    with pytest.raises(PluginError) as raised:
        do(root, "update", "guard")

    assert Fault.REVIEW_FAILED is raised.value.code
    assert before == (root / TABLE).read_bytes()


def test_a_package_says_nothing_to_a_terminal(root: Path) -> None:
    """What stands in a manifest is shown with its escapes, and every finding is told with its code."""
    native(root / "loud", "x\x1b]0;gone\x07y", version="")
    with pytest.raises(PluginError) as raised:
        do(root, "install", "loud")

    assert "".join(raised.value.lines).isprintable()
    assert ["invalid-plugin-id", "invalid-version"] == [
        line.split()[0].removeprefix("diagnostic=") for line in raised.value.lines if line.startswith("diagnostic=")
    ]
