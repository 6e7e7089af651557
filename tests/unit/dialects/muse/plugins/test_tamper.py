"""What was not reviewed does not run: every way to put other bytes in the place of those that somebody approved."""

import asyncio
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.package_rig import hook, manifest, native, user_env, write_package

from hookline._core.events import BeforeRun
from hookline._core.package_files import take_away
from hookline._core.points import Origin
from hookline._core.resolution import Resolution
from hookline._engines import open_project
from hookline.dialects.muse.plugins import verbs
from hookline.dialects.muse.plugins.errors import Fault, PluginError
from hookline.effects import AddContext
from hookline.workbench.plugins import plugins

SCRIPT = "#!/bin/sh\ncat > /dev/null\ncat $MUSE_PLUGIN_ROOT/lib/words\n"


class User:
    """Somebody with a home, a package that they work on, and sessions."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.env = user_env(root / "home")
        self.work = root / "work"
        self.work.mkdir()
        self.package = write_package(
            root / "guard",
            {
                ".muse-plugin/plugin.json": json.dumps(manifest(hooks=[hook()]), indent=2),
                "hooks/prompt.sh!": SCRIPT,
                "lib/words": "reviewed",
            },
        )

    def do(self, verb: str, *given: Any, **options: Any) -> Any:
        return plugins(verb, *given, env=self.env, cwd=self.root, **options).value

    def approved(self) -> Path:
        """Install and approve; where the bytes are kept."""
        self.do("install", "guard")
        self.do("approve", "guard")
        (cache,) = self.root.glob("home/.local/share/muse/plugins/cache/local/guard/*/package")
        return cache

    def status(self) -> str:
        (shown,) = self.do("inspect", "guard")["runtime_capabilities"]
        return str(shown["status"])

    def session(self, meanwhile: Callable[[], object] = lambda: None) -> list[str]:
        """What the hooks of a session say. *meanwhile* comes between its start and the first of them."""
        return asyncio.run(self._session(meanwhile))

    async def _session(self, meanwhile: Callable[[], object]) -> list[str]:
        project = open_project(self.work, env=self.env)
        async with project.engine as engine:
            meanwhile()
            event = BeforeRun(prompt="hi", origin=Origin(session_id="s", run_id="r", cwd=str(self.work)))
            resolution: Resolution = await engine.dispatch(event)
            return [each.text for each in resolution.effects(AddContext)]


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@contextmanager
def writable(root: Path) -> Iterator[Path]:
    """A package whose files can be changed, as by whoever owns them."""
    for folder, _, names in os.walk(root):
        for path in (folder, *(os.path.join(folder, name) for name in names)):  # noqa: PTH118
            os.chmod(path, 0o700)  # noqa: PTH101
    yield root


def _byte(name: str) -> Callable[[Path], object]:
    def change(root: Path) -> None:
        data = (root / name).read_bytes()
        (root / name).write_bytes(data[:-1] + bytes([data[-1] ^ 1]))

    return change


def _link(root: Path) -> None:
    (root / "lib" / "words").rename(root.parent / "elsewhere")
    (root / "lib" / "words").symlink_to(root.parent / "elsewhere")


def _folder_link(root: Path) -> None:
    (root / "lib").rename(root.parent / "elsewhere")
    (root / "lib").symlink_to(root.parent / "elsewhere")


def _hard_link(root: Path) -> None:
    """The same bytes, under a name that somebody else can write to."""
    write_package(root.parent, {"elsewhere": "unseen"})
    (root / "lib" / "words").unlink()
    os.link(root.parent / "elsewhere", root / "lib" / "words")


def _times(root: Path) -> None:
    """One byte changed, and the times set back to what they were."""
    path = root / "lib" / "words"
    status = path.stat()
    _byte("lib/words")(root)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


TAMPERED: dict[str, Callable[[Path], object]] = {
    "a byte of the manifest": _byte(".muse-plugin/plugin.json"),
    "a byte of the script": _byte("hooks/prompt.sh"),
    "a byte of what the script reads": _byte("lib/words"),
    "a byte, with the times set back": _times,
    "a file swapped for a link": _link,
    "a folder swapped for a link": _folder_link,
    "a file swapped for a hard link": _hard_link,
    "a file more": lambda root: write_package(root, {"lib/more": ""}),
    "a file less": lambda root: (root / "lib" / "words").unlink(),
    "a file that can be executed now": lambda root: (root / "lib" / "words").chmod(0o755),
}


def test_what_was_approved_runs(user: User) -> None:
    """Installed it does not run, approved it does."""
    user.do("install", "guard")
    assert [] == user.session()

    user.do("approve", "guard")
    assert ["reviewed"] == user.session()


@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED)
def test_a_cache_that_was_tampered_with_is_blocked(user: User, tamper: Callable[[Path], object]) -> None:
    """Whatever changed after the approval: a session tells of it and runs nothing, and neither does a trial."""
    with writable(user.approved()) as cache:
        tamper(cache)

    assert [] == user.session()
    muse = next(found for package, found in open_project(user.work, env=user.env).loaded if package.plugins)
    told = [problem.message for problem in muse.problems]
    assert ["plugin cache is invalid; capabilities are blocked"] == [each.partition(":")[0] for each in told]
    (shown,) = user.do("inspect", "guard")["runtime_capabilities"]
    assert ("plugin:guard:hook:prompt", "invalid") == (shown["candidate"]["stable_id"], shown["status"])
    for verb in ("approve", "enable"):
        with pytest.raises(PluginError, match="plugin cache is invalid; capabilities are blocked"):
            user.do(verb, "guard")


@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED)
def test_a_cache_that_changes_under_a_session_is_blocked_too(user: User, tamper: Callable[[Path], object]) -> None:
    """Between a session's start and a hook's first run nothing that was not reviewed gets in."""
    with writable(user.approved()) as cache:
        assert [] == user.session(meanwhile=lambda: tamper(cache))


@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED)
def test_a_change_of_the_source_returns_hooks_to_review(user: User, tamper: Callable[[Path], object]) -> None:
    """An update takes a change only where it is a package, and then nobody's approval counts for it."""
    user.approved()
    tamper(user.package)
    try:
        user.do("update", "guard")
    except PluginError:
        assert "trusted_enabled" == user.status()
        assert ["reviewed"] == user.session()
        return

    assert "modified" == user.status()
    assert [] == user.session()


RECORD: dict[str, Callable[[dict[str, Any]], object]] = {
    "another command": lambda record: record["capabilities"][0].update(command=["/bin/echo", "unseen"], source_at=-1),
    "another file of it": lambda record: record["capabilities"][0].update(source="lib/words"),
    "another event": lambda record: record["capabilities"][0].update(event="Stop"),
    "another limit": lambda record: record["capabilities"][0].update(timeout_ms=1),
    "in the background": lambda record: record["capabilities"][0].update(background=True),
    "another hook": lambda record: record["capabilities"][0].update(id="other"),
    "another package": lambda record: record.update(package_sha256="0" * 64),
    "another place": lambda record: record.update(cache_path="/tmp"),  # a place that is not its own
    "a line for the shell beside it": lambda record: record["capabilities"][0].update(line="echo unseen"),
    "a line for the shell instead": lambda record: record["capabilities"][0].update(line="echo unseen", command=[]),
    "a matcher that is none": lambda record: record["capabilities"][0].update(matcher="["),
    "words that are none": lambda record: record["capabilities"][0].update(output_capabilities=None),
    "an event that is none": lambda record: record["capabilities"][0].update(event="OnSave"),
    "a place that is none": lambda record: record["capabilities"][0].update(at={"x": [{}]}),
    "a word without a file": lambda record: record["capabilities"][0].update(source=""),
    "a word out of range": lambda record: record["capabilities"][0].update(source_at=7),
    "nulls": lambda record: record["capabilities"].append(None),
    "a condition of the package": lambda record: record.update(when={"X": {}}),
    "no hooks": lambda record: record.update(capabilities=[]),
    "nonsense": lambda record: record.update(capabilities=[{"x": 1}, 7]),
    "more nonsense": lambda record: record.update(capabilities=7, when=7),
}


@pytest.mark.parametrize("tamper", RECORD.values(), ids=RECORD)
def test_a_record_that_says_something_else_runs_nothing_else(
    user: User, tamper: Callable[[dict[str, Any]], object]
) -> None:
    """The store's table is not trusted: what runs is what was approved, or it is nothing."""
    user.approved()
    table = user.root / "home/.local/share/muse/plugins/installed.json"
    told = json.loads(table.read_text())
    tamper(told["plugins"]["guard"])
    table.write_text(json.dumps(told))

    assert user.session() in ([], ["reviewed"])


def test_a_race_during_an_install_ends_with_what_was_reviewed(user: User) -> None:
    """While somebody swaps a file of the source: what is installed is one state of it, whose hash is approved."""
    write_package(user.root, {"evil": "unseen", "good": "reviewed"})
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            for name in ("evil", "good"):
                os.link(user.root / name, user.root / "next")
                (user.root / "next").rename(user.package / "lib" / "words")

    swapping = threading.Thread(target=swap)
    swapping.start()
    refused = 0
    try:
        for _ in range(60):
            try:
                user.do("install", "guard")
            except PluginError as error:
                assert "changed while the package was read" in str(error)  # noqa: PT017  # why it may be refused
                refused += 1
    finally:
        over.set()
        swapping.join()
    assert refused

    user.do("install", "guard")
    (cache,) = {Path(user.do("inspect", "guard")["record"]["cache_path"])}
    approved = (cache / "lib" / "words").read_text()
    user.do("approve", "guard")
    assert [approved] == user.session()


def test_a_race_during_starts_never_runs_anything_else(user: User) -> None:
    """While somebody swaps a file of the cache: each session runs the reviewed bytes or nothing."""
    write_package(user.root, {"evil": "unseen", "good": "reviewed"})
    over = threading.Event()
    with writable(user.approved()) as cache:

        def swap() -> None:
            while not over.is_set():
                for name in ("evil", "good"):
                    os.link(user.root / name, user.root / "next")
                    (user.root / "next").rename(cache / "lib" / "words")

        swapping = threading.Thread(target=swap)
        swapping.start()
        try:
            said = [user.session() for _ in range(30)]
        finally:
            over.set()
            swapping.join()

    assert {("reviewed",)} >= {tuple(each) for each in said if each}


def test_an_approval_is_for_what_was_looked_at(user: User) -> None:
    """With the hash that was shown, what changed meanwhile is not approved."""
    user.do("install", "guard")
    (shown,) = user.do("inspect", "guard")["runtime_capabilities"]
    _byte("lib/words")(user.package)
    user.do("update", "guard")
    with pytest.raises(PluginError, match="look at it again"):
        user.do("approve", "guard", expect=shown["candidate"]["definition_hash"])
    assert "review_needed" == user.status()

    (shown,) = user.do("inspect", "guard")["runtime_capabilities"]
    user.do("approve", "guard", expect=shown["candidate"]["definition_hash"])
    assert "trusted_enabled" == user.status()


def test_what_changes_while_it_is_being_approved_is_not_approved(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read once more when nobody else can change it: an update in between has nothing written."""
    user.do("install", "guard")
    real = verbs.changing

    def overtaken(asking: Any) -> Any:
        monkeypatch.setattr(verbs, "changing", real)
        _byte("lib/words")(user.package)
        user.do("update", "guard")
        return real(asking)

    monkeypatch.setattr(verbs, "changing", overtaken)
    with pytest.raises(PluginError, match="changed while it was being decided about") as raised:
        user.do("approve", "guard")

    assert Fault.NOT_FOUND is raised.value.code
    assert "review_needed" == user.status()


def test_an_older_approval_does_not_come_back_with_a_reinstall(user: User) -> None:
    """A plugin that was removed is a stranger, also with the same bytes."""
    user.approved()
    user.do("remove", "guard")
    user.do("install", "guard")

    assert "review_needed" == user.status()
    assert [] == user.session()


def test_a_session_goes_on_with_what_it_began_with(user: User) -> None:
    """An update under a session changes what the next one runs, and nothing of this one."""

    def update() -> None:
        (user.package / "lib" / "words").write_text("newer")
        user.do("update", "guard")
        user.do("approve", "guard")

    user.approved()
    assert ["reviewed"] == user.session(meanwhile=update)
    assert ["newer"] == user.session()


def test_what_a_package_was_is_still_there_after_an_update_and_gone_after_two(user: User) -> None:
    """The bytes before the last change stay for sessions that began with them; older ones do not pile up."""
    user.approved()
    kept = user.root / "home/.local/share/muse/plugins/cache/local/guard"
    for number in range(3):
        (user.package / "lib" / "words").write_text(f"version {number}")
        user.do("update", "guard")
    assert 2 == len(list(kept.iterdir()))

    user.do("remove", "guard")
    assert not kept.exists()


def test_a_package_that_is_reachable_by_a_link_is_installed_from_where_it_is(user: User) -> None:
    """The way to a package may be a link; below it there is none."""
    (user.root / "link").symlink_to(native(user.root / "real", "other"))
    told = user.do("install", "link")

    assert str(user.root.resolve() / "real") == told["record"]["source"]["path"]
    take_away(user.root / "real")
