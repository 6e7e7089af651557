"""A folder as a package: what is refused, what its digest covers, and that only what was hashed is copied."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.package_rig import write_package

from hookline._core import package_files
from hookline._core.package_files import (
    Limits,
    PackageFault,
    copy_package,
    digest_of,
    read_package,
    signature,
    take_away,
)

FEW = Limits(entries=6, depth=2, file_bytes=100, all_bytes=150)


def test_a_digest_is_over_paths_modes_and_bytes(tmp_path: Path) -> None:
    """Its lines are path, NUL, 1 or 0, NUL, the digest of the bytes, sorted by path."""
    root = write_package(tmp_path / "p", {"b/run.sh!": "x", "a.txt": "y"})
    lines = "".join(
        f"{path}\0{mode}\0{hashlib.sha256(data).hexdigest()}\n"
        for path, mode, data in (("a.txt", 0, b"y"), ("b/run.sh", 1, b"x"))
    )

    assert hashlib.sha256(lines.encode()).hexdigest() == read_package(root, Limits()).digest


CHANGES: dict[str, Callable[[Path], object]] = {
    "a byte": lambda root: (root / "a.txt").write_text("z"),
    "a mode": lambda root: (root / "a.txt").chmod(0o755),
    "a name": lambda root: (root / "a.txt").rename(root / "c.txt"),
    "a file more": lambda root: (root / "b" / "more").write_text(""),
    "a file less": lambda root: (root / "a.txt").unlink(),
    "a folder instead": lambda root: (root / "a.txt").rename(root / "b" / "a.txt"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_changes_the_digest(tmp_path: Path, change: Callable[[Path], object]) -> None:
    """Bytes, modes, names, places and numbers of files all count."""
    root = write_package(tmp_path / "p", {"b/run.sh!": "x", "a.txt": "y"})
    before = read_package(root, Limits()).digest
    change(root)

    assert before != read_package(root, Limits()).digest


def test_a_repository_around_a_package_is_no_part_of_it(tmp_path: Path) -> None:
    """`.git` at the top is not read; one further down is, as anything else."""
    root = write_package(tmp_path / "p", {"a.txt": "y", ".git/HEAD": "ref", "sub/.git/HEAD": "ref"})

    assert ["a.txt", "sub/.git/HEAD"] == [file.path for file in read_package(root, Limits()).files]


def _fifo(root: Path) -> None:
    os.mkfifo(root / "pipe")


UNFIT: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "a link": (lambda root: (root / "link").symlink_to("a.txt"), "link", "a link, and a package has none"),
    "a link to a folder": (lambda root: (root / "link").symlink_to("b"), "link", "a link, and a package has none"),
    "a link that leads out": (lambda root: (root / "link").symlink_to("/etc"), "link", "a link"),
    "a pipe": (_fifo, "pipe", "neither a file nor a folder"),
    "one name twice": (lambda root: (root / "A.txt").write_text(""), "a.txt|A.txt", "are one name where"),
    "accents": (lambda root: [(root / each).write_text("") for each in ("é", "e\u0301")], "é|e\u0301", "one name"),
    "a backslash": (lambda root: (root / "a\\b").write_text(""), "'a\\\\\\\\b'", "character that paths cannot carry"),
    "a line break": (lambda root: (root / "a\nb").write_text(""), "'a\\\\nb'", "character that paths cannot carry"),
    "bytes": (lambda root: Path(os.fsdecode(os.fsencode(root / "x") + b"\xff")).write_text(""), ".*", "not UTF-8"),
    "deep": (lambda root: write_package(root, {"b/c/d/e": ""}), "b/c/d/", "more than 2 folders deep"),
    "many": (lambda root: write_package(root, dict.fromkeys("123456", "")), ".*", "more than 6 files and folders"),
    "large": (lambda root: (root / "big").write_text("x" * 101), "big", "larger than 100 bytes"),
    "large together": (
        lambda root: write_package(root, {"big": "x" * 90, "big2": "x" * 90}),
        "big2?",
        "all files are more than 150 bytes",
    ),
}


@pytest.mark.parametrize(("spoil", "where", "why"), UNFIT.values(), ids=UNFIT)
def test_what_is_no_package_is_refused_with_its_place(
    tmp_path: Path, spoil: Callable[[Path], object], where: str, why: str
) -> None:
    """Links, odd files, odd names, names that are one elsewhere, and too much of anything: nothing is taken."""
    root = write_package(tmp_path / "p", {"b/run.sh!": "x", "a.txt": "y"})
    spoil(root)
    with pytest.raises(PackageFault, match=why) as raised:
        copy_package(root, tmp_path / "copy", FEW)

    import re

    assert re.fullmatch(where, raised.value.path)


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    """A file, a link to a folder and nothing at all are three faults of the folder itself."""
    write_package(tmp_path, {"file": ""})
    (tmp_path / "link").symlink_to(tmp_path)
    told = []
    for name in ("file", "link", "nothing"):
        with pytest.raises(PackageFault) as raised:
            read_package(tmp_path / name, Limits())
        told.append((raised.value.path, raised.value.why))

    assert [
        (".", "it is not a folder"),
        (".", "a link stands where the folder should be"),
        (".", "the folder cannot be read: No such file or directory"),
    ] == told


def _at(monkeypatch: pytest.MonkeyPatch, number: int, change: Callable[[], object]) -> None:
    """Have *change* happen just before the file of this number is read."""
    real, count = package_files._all_of, [0]  # where a reader can be overtaken

    def overtaken(*args: object) -> bytes:
        count[0] += 1
        if count[0] == number:
            change()
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(package_files, "_all_of", overtaken)


BEHIND: dict[str, Callable[[Path], object]] = {
    "a file that was read": lambda root: (root / "a.txt").write_text("longer"),
    "a file that comes next": lambda root: (root / "z.txt").write_text("longer"),
    "a file swapped for a link": lambda root: ((root / "z.txt").unlink(), (root / "z.txt").symlink_to("/etc/passwd")),
    "a file replaced": lambda root: (root / "new").rename(root / "a.txt"),
    "a file more": lambda root: (root / "b" / "more").write_text(""),
    "a file less": lambda root: (root / "z.txt").unlink(),
    "a folder swapped for a link": lambda root: ((root / "b").rename(root / "old"), (root / "b").symlink_to("old")),
    "a mode": lambda root: (root / "a.txt").chmod(0o755),
}


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("change", BEHIND.values(), ids=BEHIND)
def test_a_copy_is_of_one_state_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object], number: int
) -> None:
    """Whenever somebody changes what is being copied: the copy is the folder as it is afterwards, or there is none."""
    root = write_package(tmp_path / "p", {"a.txt": "a", "b/inner.txt": "b", "z.txt": "z", "new": "n"})
    _at(monkeypatch, number, lambda: change(root))
    try:
        copied = copy_package(root, tmp_path / "copy", Limits())
    except PackageFault:
        return

    assert read_package(root, Limits()).digest == copied.digest


@pytest.mark.parametrize("change", BEHIND.values(), ids=BEHIND)
def test_a_package_that_changes_after_it_was_read_and_before_that_is_over_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    """What was read is looked over once more, so no change goes by unseen."""
    root = write_package(tmp_path / "p", {"a.txt": "a", "b/inner.txt": "b", "z.txt": "z", "new": "n"})
    real = package_files._unchanged  # the moment after the last byte

    def overtaken(*args: object) -> None:
        change(root)
        real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(package_files, "_unchanged", overtaken)
    with pytest.raises(PackageFault, match="changed while the package was read") as raised:
        copy_package(root, tmp_path / "copy", Limits())

    assert raised.value.changed


def test_a_folder_is_not_copied_into_itself(tmp_path: Path) -> None:
    """A home that holds the store is no package: nothing is made in it."""
    (tmp_path / "store").mkdir()
    with pytest.raises(PackageFault, match="the folder that it is copied to lies within it"):
        copy_package(tmp_path, tmp_path / "store" / "copy", Limits())

    assert [] == list((tmp_path / "store").iterdir())


def test_bytes_that_are_asked_for_later_are_those_that_were_hashed(tmp_path: Path) -> None:
    """A file that changed after the package was read is not read as a part of it."""
    root = write_package(tmp_path / "p", {"kept": "old", "b/other": "old"})
    found = read_package(root, Limits(), keep=lambda path: path == "kept")
    write_package(root, {"kept": "new"})
    assert b"old" == found.read("kept")
    assert b"old" == found.read("b/other")

    write_package(root, {"b/other": "new"})
    with pytest.raises(PackageFault, match="changed while the package was read"):
        found.read("b/other")
    with pytest.raises(KeyError):
        found.read("missing")


def test_a_copy_is_the_same_package_and_closed_for_writing(tmp_path: Path) -> None:
    """Its digest is that of the original; files and folders in it have no bit that lets anybody write."""
    root = write_package(tmp_path / "p", {"a/run.sh!": "x", "a.txt": "y"})
    copied = copy_package(root, tmp_path / "copy", Limits())

    assert read_package(root, Limits()).digest == copied.digest == read_package(tmp_path / "copy", Limits()).digest
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "copy").rglob("*")}
    assert {"a": 0o555, "run.sh": 0o555, "a.txt": 0o444} == modes
    take_away(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_signature_tells_of_every_touch(tmp_path: Path, change: Callable[[Path], object]) -> None:
    """Whatever changes the digest changes what is seen without reading a byte."""
    root = write_package(tmp_path / "p", {"b/run.sh!": "x", "a.txt": "y"})
    before = signature(root)
    change(root)

    assert before != signature(root)


NAMES = st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=8).filter(lambda name: name not in "..")


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(NAMES, st.binary(max_size=40), max_size=5))
def test_any_folder_is_a_package_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    """Whatever its files are called and hold, reading it gives their digests or a fault, and the same each time."""
    root = tmp_path_factory.mktemp("any")
    for name, data in files.items():
        try:
            (root / name).write_bytes(data)
        except (OSError, ValueError):  # a name that this file system does not take
            continue
    try:
        found = read_package(root, Limits())
    except PackageFault:
        return

    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in root.iterdir()}
    assert digests == {file.path: file.sha256 for file in found.files}
    assert digest_of(found.files) == read_package(root, Limits()).digest


def test_a_copy_is_taken_away_whatever_was_done_to_it(tmp_path: Path) -> None:
    """Folders that nobody may list go too, and a link's target stays."""
    kept = write_package(tmp_path / "kept", {"a": ""})
    root = write_package(tmp_path / "copy", {"a/b/c": "", "d/e": ""})
    (root / "link").symlink_to(kept)
    for folder in (root / "a" / "b", root / "a", root / "d", root):
        folder.chmod(0)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                tmp_path.chmod(0o777)
                for each in (tmp_path, *tmp_path.rglob("*"), root, root / "a", root / "a" / "b", root / "d"):
                    os.chown(each, 65534, 65534, follow_symlinks=False)
                os.chdir(tmp_path)
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
                take_away(Path("copy"))
            else:
                take_away(root)
        finally:
            os.write(writing, b"x")
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    assert b"x" == os.read(reading, 1)
    os.close(reading)

    assert not root.exists()
    assert (kept / "a").exists()
