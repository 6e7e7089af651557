"""Hook files that were written for another tool, or another dialect: what says so, and what to do."""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hookline._core.problems import Where
from hookline.dialects._base import Loaded
from hookline.dialects._files import read_file
from hookline.workbench.findings import Finding, Level

CODE = "WrittenForAnother"


def _yaml(text: str) -> Any:
    import yaml

    return yaml.load(text, Loader=yaml.CSafeLoader)


READERS: Mapping[str, Callable[[str], Any]] = {
    ".json": json.loads,
    ".toml": tomllib.loads,
    ".yaml": _yaml,
    ".yml": _yaml,
}


def written_for_another(path: Path, dialect: str, loaded: Loaded) -> Iterator[Finding]:
    """That the file at *path*, which *dialect* read, was written for somebody else, if anything in it says so."""
    document = _document(path)
    if not isinstance(document, dict):
        return
    from hookline.workbench.foreign import looks_like

    like = looks_like(document, read_as=dialect)
    if like is None:
        return
    remedy = f"hookline convert {path} --from {like.name} --to {dialect}"
    yield Finding(
        level=Level.WARNING,
        code=CODE,
        message=f"this looks like a file of {like}",
        where=_place(path, like.marks[0].path if like.marks else "", loaded),
        effect="what only that one knows does not run here",
        remedy=f"`{remedy}` brings it over"
        if not like.ours
        else f"name it as one of {like.title}, or bring it over: {remedy}",
    )


def _document(path: Path) -> Any:
    """What is in the file, read as its ending says or else as anything that it may be."""
    data = read_file(path)
    if not isinstance(data, bytes):
        return None
    text = data.decode("utf-8-sig", "replace")
    own = READERS.get(path.suffix)
    for reader in (own, *(each for each in (json.loads, tomllib.loads) if each is not own)):
        try:
            return None if reader is None else reader(text)
        except Exception:  # noqa: BLE001, S112  # whatever is wrong with it, the loader has said so
            continue
    return None


def _place(path: Path, at: str, loaded: Loaded) -> Where:
    """Where *at* stands, if a problem of the loader's stands there, or in it."""
    for problem in loaded.problems:
        if at and problem.where.path.startswith(at):
            return problem.where
    return Where(file=str(path), label=path.name, path=at)
