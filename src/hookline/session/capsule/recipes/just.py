"""`just RECIPE`: the lines below its header, without their common indentation."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from hookline.session.capsule.recipes._reading import DEEPEST, Source, Unresolved

FILES = ("justfile", ".justfile", "Justfile", "JUSTFILE")
OPTIONS = {"-f": "file", "--justfile": "file", "-d": "folder", "--working-directory": "folder"}
IMPORT = re.compile(r"""import(\?)?\s+(['"])(.*)\2\s*(?:#.*)?""")


def just(arguments: Sequence[str], source: Source) -> str:
    """The body of the one recipe. Raises Unresolved for anything that is not told for certain."""
    given: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        kind = OPTIONS.get(word, "recipe")
        value = word if kind == "recipe" else next(words, "")
        if kind in given or not value or value.startswith("-") or (kind == "recipe" and "::" in value):
            raise Unresolved
        given[kind] = value
    if "recipe" not in given:
        raise Unresolved
    where = source.folder(given["folder"]) if "folder" in given else source.root
    first = source.root / given["file"] if "file" in given else source.first(where, FILES)
    bodies = list(_bodies(list(_spliced(first, source, 0)), given["recipe"]))
    if len(bodies) != 1:
        raise Unresolved
    return bodies[0]


def _spliced(path: Path, source: Source, depth: int) -> Iterator[str]:
    """The lines of a file, those of the files that it imports in their places."""
    if depth > DEEPEST:
        raise Unresolved
    for line in source.lines(path):
        found = IMPORT.fullmatch(line)
        if found is None:
            yield line
            continue
        optional, _, name = found.groups()
        imported = path.parent / name
        if imported.exists() or imported.is_symlink():
            yield from _spliced(imported, source, depth + 1)
        elif not optional:
            raise Unresolved


def _bodies(lines: list[str], recipe: str) -> Iterator[str]:
    for number, line in enumerate(lines):
        if _name(line) == recipe:
            yield _body(lines[number + 1 :])


def _name(line: str) -> str:
    """The name of the recipe that a header begins; empty for any other line."""
    if not line.strip() or line[0] in " \t#[" or line.endswith("\\"):
        return ""
    if not any(line[at + 1 : at + 2] != "=" for at, char in enumerate(line) if char == ":"):
        return ""
    return re.split(r"[\s:]", line, maxsplit=1)[0].removeprefix("@")


def _body(lines: list[str]) -> str:
    body: list[str] = []
    for line in lines:
        if line.strip() and not line.startswith((" ", "\t")):
            break
        body.append(line if line.strip() else "")
    while body and not body[-1]:
        body.pop()
    return textwrap.dedent("\n".join(body))
