"""A program out of a package: what runs is what was looked at, or nothing."""

import asyncio
import fcntl
import os
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.package_rig import write_package
from tests.unit.adapters.rig import EVENT, command_adapter
from tests.unit.processes.rig import descriptors

from hookline._core import held_folders
from hookline._core.package_files import Limits as PackageLimits
from hookline._core.package_files import read_package
from hookline._core.packages import Packaged, PackagedTarget
from hookline._core.payload import CallFailed, Exited, Limits, Payload, Reply
from hookline._core.reasons import Failure
from hookline.adapters.packaged import PackagedAdapter

SCRIPT = "#!/bin/sh\ncat ${{0%/*}}/data; echo $ROOT > {seen}\n"


@pytest.fixture
async def adapter() -> AsyncIterator[PackagedAdapter]:
    before = descriptors()
    adapter = PackagedAdapter(command_adapter())
    yield adapter
    await adapter.aclose()
    assert before == descriptors()


@pytest.fixture
def target(tmp_path: Path) -> PackagedTarget:
    """A script that shows a file beside it, and writes down where its package is."""
    script = SCRIPT.format(seen=tmp_path / "seen")
    root = write_package(tmp_path / "package", {"run.sh!": script, "data": "reviewed", "sub/more": ""})
    return PackagedTarget(
        argv=(str(root / "run.sh"),),
        env={"PATH": "/usr/bin:/bin", "ROOT": str(root)},
        packaged=Packaged(
            package=root,
            digest=read_package(root, PackageLimits()).digest,
            copies=tmp_path / "copies",
            why="it changed",
        ),
    )


async def called(adapter: PackagedAdapter, target: PackagedTarget, *, within: float = 10) -> Reply:
    return await adapter.call(target, Payload(EVENT, b"{}", "/"), Limits(within))


def said(reply: Reply) -> bytes:
    assert isinstance(reply, Exited), reply
    return reply.stdout


async def test_it_runs_from_a_copy_that_goes_with_the_adapter(target: PackagedTarget, tmp_path: Path) -> None:
    """Its argv and its environment name the copy; nothing of that is left when the adapter is closed."""
    adapter = PackagedAdapter(command_adapter())
    assert b"reviewed" == said(await called(adapter, target))
    root = Path((tmp_path / "seen").read_text().strip())
    assert root.is_relative_to(tmp_path / "copies")
    assert 0o700 == (tmp_path / "copies").stat().st_mode & 0o777

    await adapter.aclose()
    assert [] == [each for each in (tmp_path / "copies").iterdir() if each.is_dir()]
    closed = await called(adapter, target)
    assert isinstance(closed, CallFailed)
    assert Failure.COULD_NOT_START is closed.why


TAMPERED: dict[str, Callable[[Path], object]] = {
    "the script": lambda root: (root / "run.sh").write_text("#!/bin/sh\necho evil\n"),
    "what the script reads": lambda root: (root / "data").write_text("evil"),
    "a file of nobody": lambda root: (root / "sub" / "more").write_text("evil"),
    "a link": lambda root: ((root / "data").unlink(), (root / "data").symlink_to("run.sh")),
    "a new file": lambda root: (root / "sub" / "new").write_text("evil"),
    "no package": lambda root: root.rename(root.with_name("gone")),
}


@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED)
async def test_a_package_that_is_not_what_was_looked_at_does_not_run(
    adapter: PackagedAdapter, target: PackagedTarget, tmp_path: Path, tamper: Callable[[Path], object]
) -> None:
    """One byte anywhere, a link, a file more: nothing of it is started, and the reason says so."""
    tamper(target.packaged.package)
    reply = await called(adapter, target)

    assert isinstance(reply, CallFailed)
    assert (Failure.COULD_NOT_START, "it changed") == (reply.why, reply.detail.partition(":")[0])
    assert not (tmp_path / "seen").exists()


@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED)
async def test_what_happens_to_the_package_later_does_not_matter(
    adapter: PackagedAdapter, target: PackagedTarget, tamper: Callable[[Path], object]
) -> None:
    """Once there is a copy, what runs is that, whatever becomes of the package."""
    await called(adapter, target)
    tamper(target.packaged.package)

    assert b"reviewed" == said(await called(adapter, target))


@pytest.mark.parametrize("tamper", list(TAMPERED.values())[:5], ids=list(TAMPERED)[:5])
async def test_a_copy_that_was_touched_is_not_used_again(
    adapter: PackagedAdapter, target: PackagedTarget, tmp_path: Path, tamper: Callable[[Path], object]
) -> None:
    """Neither is it kept: there is a new one, made of the package."""
    await called(adapter, target)
    first = Path((tmp_path / "seen").read_text().strip())
    for each in (first, first / "sub", first / "run.sh", first / "data"):
        each.chmod(0o700)
    tamper(first)

    assert b"reviewed" == said(await called(adapter, target))
    assert first != Path((tmp_path / "seen").read_text().strip())
    assert not first.exists()


async def test_a_program_that_writes_beside_itself_changes_nothing_for_the_next(
    adapter: PackagedAdapter, tmp_path: Path
) -> None:
    """Each call begins with what was looked at, and what a call left of its copy does not pile up."""
    script = "#!/bin/sh\nchmod u+w ${0%/*}; cat ${0%/*}/left 2> /dev/null; echo x > ${0%/*}/left; echo said\n"
    root = write_package(tmp_path / "package", {"run.sh!": script})
    digest = read_package(root, PackageLimits()).digest
    copies = tmp_path / "copies"
    target = PackagedTarget(
        argv=(str(root / "run.sh"),),
        env={"PATH": "/usr/bin:/bin"},
        packaged=Packaged(package=root, digest=digest, copies=copies),
    )

    assert [b"said\n"] * 3 == [said(await called(adapter, target)) for _ in range(3)]
    assert 1 == len(list(copies.glob("*/[0-9]*")))


async def test_a_race_never_runs_anything_else(tmp_path: Path) -> None:
    """While somebody swaps files of the package as fast as they can, each call runs the reviewed bytes or none."""
    root = write_package(tmp_path / "package", {"run.sh!": "#!/bin/sh\ncat ${0%/*}/data\n", "data": "reviewed"})
    write_package(tmp_path, {"evil": "unseen", "good": "reviewed"})
    digest = read_package(root, PackageLimits()).digest
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            for name in ("evil", "good"):
                os.link(tmp_path / name, tmp_path / "next")
                (tmp_path / "next").rename(root / "data")

    swapping = threading.Thread(target=swap)
    swapping.start()
    outcomes = []
    try:
        for _ in range(40):
            adapter = PackagedAdapter(command_adapter())
            target = PackagedTarget(
                argv=(str(root / "run.sh"),),
                env={"PATH": "/usr/bin:/bin"},
                packaged=Packaged(package=root, digest=digest, copies=tmp_path / "copies"),
            )
            outcomes.append(await called(adapter, target))
            await adapter.aclose()
    finally:
        over.set()
        swapping.join()

    assert {b"reviewed"} >= {each.stdout for each in outcomes if isinstance(each, Exited)}
    assert all(isinstance(each, Exited | CallFailed) for each in outcomes)


async def test_one_limit_covers_the_copy_too(
    adapter: PackagedAdapter, target: PackagedTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy that is not there in time is a timeout, told with the hook's own limit; the next call has it."""
    go_on = threading.Event()
    real = adapter._made  # a disk that is slow

    def slowly(wanted: Packaged) -> object:
        go_on.wait(10)
        return real(wanted)

    monkeypatch.setattr(adapter, "_made", slowly)
    late = await called(adapter, target, within=0.1)
    assert isinstance(late, CallFailed)
    assert (Failure.TIMEOUT, "hook timed out after 100ms") == (late.why, late.detail)

    go_on.set()
    assert b"reviewed" == said(await called(adapter, target))


async def test_calls_at_once_share_a_copy(adapter: PackagedAdapter, target: PackagedTarget, tmp_path: Path) -> None:
    """Eight calls at once make one copy; another digest of the same package is another matter."""
    replies = await asyncio.gather(*(called(adapter, target) for _ in range(8)))
    assert [b"reviewed"] * 8 == [said(each) for each in replies]
    assert 1 == len(list((tmp_path / "copies").glob("*/[0-9]*")))

    other = await called(adapter, replace(target, packaged=replace(target.packaged, digest="0" * 64)))
    assert isinstance(other, CallFailed)


async def test_copies_that_fail_leave_nothing(adapter: PackagedAdapter, target: PackagedTarget, tmp_path: Path) -> None:
    """A package that is not what was looked at, called again and again, costs no room."""
    (target.packaged.package / "data").write_text("evil")
    for _ in range(3):
        assert isinstance(await called(adapter, target), CallFailed)

    assert [] == list((tmp_path / "copies").glob("*/[0-9]*"))


async def test_copies_that_cannot_be_made_are_a_failure(adapter: PackagedAdapter, target: PackagedTarget) -> None:
    """Where there is no room for a copy the hook could not start, and the reason names the package."""
    nowhere = replace(target, packaged=replace(target.packaged, copies=target.packaged.package / "run.sh"))
    reply = await called(adapter, nowhere)

    assert isinstance(reply, CallFailed)
    assert reply.detail.startswith(f"the copy of {target.packaged.package}, from which it runs: ")


async def test_a_copy_that_is_written_to_while_it_is_made_is_not_used(
    adapter: PackagedAdapter, target: PackagedTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bytes are looked at once more when it is whole, and from then on a touch shows."""
    real = adapter._digest_of_copy

    def overtaken(wanted: Packaged, root: Path) -> str:
        digest = real(wanted, root)
        write_package(tmp_path, {"evil": "#!/bin/sh\necho unseen\n"})
        (tmp_path / "evil").chmod(0o555)
        (tmp_path / "evil").rename(root / "run.sh")
        return digest

    monkeypatch.setattr(adapter, "_digest_of_copy", overtaken)
    reply = await called(adapter, target)

    assert isinstance(reply, CallFailed)
    assert "it changed" == reply.detail


async def test_a_folder_without_files_is_no_part_of_a_copy(
    adapter: PackagedAdapter, target: PackagedTarget, tmp_path: Path
) -> None:
    """No digest knows it, so it must not be there for a script to ask after."""
    (target.packaged.package / "off").mkdir()
    await called(adapter, target)
    root = Path((tmp_path / "seen").read_text().strip())

    assert {"data", "run.sh", "sub"} == {path.name for path in root.iterdir()}


async def test_what_others_keep_beside_the_copies_is_theirs(
    adapter: PackagedAdapter, target: PackagedTarget, tmp_path: Path
) -> None:
    """Where the folder of copies is somebody's own, nothing of theirs is taken away."""
    write_package(tmp_path / "copies", {"precious/file": "kept"})
    await called(adapter, target)

    assert "kept" == (tmp_path / "copies" / "precious" / "file").read_text()


async def test_nobody_waits_long_for_a_folder_that_others_keep_locked(
    target: PackagedTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hook could not start, or is late; and the adapter closes all the same."""
    monkeypatch.setattr(held_folders, "PATIENCE", 0.2)
    (tmp_path / "copies").mkdir()
    with (tmp_path / "copies" / held_folders.MAKING).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        adapter = PackagedAdapter(command_adapter())
        late, failed = await called(adapter, target, within=0.05), await called(adapter, target)
        await adapter.aclose()

    assert isinstance(late, CallFailed)
    assert isinstance(failed, CallFailed)
    assert (Failure.TIMEOUT, Failure.COULD_NOT_START) == (late.why, failed.why)
