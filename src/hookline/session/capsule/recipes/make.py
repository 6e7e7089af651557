"""`make TARGET`: the lines below the target's rule, as they stand."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hookline.session.capsule.recipes._reading import DEEPEST, Source, Unresolved

FILES = ("GNUmakefile", "makefile", "Makefile")
OF_FILE, OF_FOLDER = ("-f", "--file", "--makefile"), ("-C", "--directory")
INCLUDES = {"include": True, "-include": False, "sinclude": False}  # whether a missing file is fatal
PATTERNS = frozenset("$*?[")


def make(arguments: Sequence[str], source: Source) -> str:
    """The body of the one target. Raises Unresolved for anything that is not told for certain."""
    file, folder, target = _told(arguments)
    where = source.root if folder is None else source.folder(folder)
    first = source.first(where, FILES) if file is None else where / file
    bodies = list(_bodies(list(_spliced(first, source, 0)), target))
    if len(bodies) != 1:
        raise Unresolved
    return bodies[0]


def _told(arguments: Sequence[str]) -> tuple[str | None, str | None, str]:
    given: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        name, is_long, value = word.partition("=")
        kind = "file" if name in OF_FILE else "folder" if name in OF_FOLDER else "target"
        if kind == "target":
            if word.startswith("-") or "=" in word:
                raise Unresolved
            value = word
        elif bool(is_long) != name.startswith("--"):
            raise Unresolved
        elif not is_long:
            value = next(words, "")
        if kind in given or not value:
            raise Unresolved
        given[kind] = value
    if "target" not in given:
        raise Unresolved
    return given.get("file"), given.get("folder"), given["target"]


def _spliced(path: Path, source: Source, depth: int) -> Iterator[str]:
    """The lines of a file, those of the files that it includes in their places."""
    if depth > DEEPEST:
        raise Unresolved
    for line in source.lines(path):
        words = line.lstrip(" ").split(maxsplit=1)
        if line.startswith("\t") or not words or words[0] not in INCLUDES or len(words) == 1:
            yield line
            continue
        for name in words[1].split("#")[0].split():
            if PATTERNS & set(name):
                raise Unresolved
            included = path.parent / name
            if included.exists() or included.is_symlink():
                yield from _spliced(included, source, depth + 1)
            elif INCLUDES[words[0]]:
                raise Unresolved


def _bodies(lines: list[str], target: str) -> Iterator[str]:
    """The body of every rule for *target*."""
    for number, line in enumerate(lines):
        if target in _targets(line):
            if line.endswith("\\"):
                raise Unresolved
            yield _body(lines[number + 1 :])


def _targets(line: str) -> list[str]:
    """The targets of a rule's line; none of any other line."""
    if not line.strip() or line.startswith(("\t", "#")) or line.lstrip().startswith("#") or ":" not in line:
        return []
    before, _, after = line.partition(":")
    if "=" in before or after.startswith(("=", ":=")):
        return []
    return [] if "%" in before or "$" in before else before.split()


def _body(lines: list[str]) -> str:
    body: list[str] = []
    for line in lines:
        if not line.startswith("\t"):
            break
        body.append(line[1:])
    if body and body[-1].endswith("\\"):  # it goes on with a line that is none of the recipe
        raise Unresolved
    return "\n".join(body)
