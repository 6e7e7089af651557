"""Hook files that were written for another tool, or another dialect: what says so, and what to do."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookline._core.problems import Where
from hookline.dialects._base import Loaded, Package
from hookline.dialects._files import read_file
from hookline.workbench.findings import Finding, Level

if TYPE_CHECKING:  # the table of tools is long, and most files are what they seem
    from hookline.workbench.foreign import Likeness

CODE = "WrittenForAnother"


def _json(text: str) -> Any:
    return json.loads(text)


def _toml(text: str) -> Any:
    import tomllib

    return tomllib.loads(text)


def _yaml(text: str) -> Any:
    import yaml

    return yaml.load(text, Loader=yaml.CSafeLoader)


Reader = Callable[[str], Any]

READERS: Mapping[str, Reader] = {".json": _json, ".toml": _toml, ".yaml": _yaml, ".yml": _yaml}


def written_for_another(path: Path, package: Package, loaded: Loaded) -> Iterator[Finding]:
    """That the file at *path*, which *package* read, was written for somebody else, if anything in it says so."""
    document = _document(path)
    if not isinstance(document, dict):
        return
    from hookline.workbench.foreign import looks_like

    like = looks_like(document, read_as=package.dialect.name)
    if like is None:
        return
    yield Finding(
        level=Level.WARNING,
        code=CODE,
        message=f"this looks like a file of {like}",
        where=_place(path, like.marks[0].path if like.marks else "", loaded),
        effect="what only that one knows does not run here",
        remedy=_remedy(path, like, package),
    )


def _remedy(path: Path, like: "Likeness", package: Package) -> str:
    """To have it read by its own dialect, or to bring it over where that can be."""
    own = f"--dialect {like.name} reads it as what it is" if like.ours else ""
    can = package.look is not None and not package.look.apart
    over = f"`hookline convert {path} --from {like.name} --to {package.dialect.name}` brings it over" if can else ""
    return "; ".join(filter(None, (own, over))) or "write it anew"


def _document(path: Path) -> Any:
    """What is in the file, read as its ending says or else as anything that it may be."""
    data = read_file(path)
    if not isinstance(data, bytes):
        return None
    text = data.decode("utf-8-sig", "replace")
    own = READERS.get(path.suffix, _json)
    for reader in dict.fromkeys((own, _json, _toml)):
        try:
            return reader(text)
        except Exception:  # noqa: BLE001, S112  # whatever is wrong with it, the loader has said so
            continue
    return None


def _place(path: Path, at: str, loaded: Loaded) -> Where:
    """Where *at* stands, if a problem of the loader's stands there, or in it."""
    for problem in loaded.problems:
        if at and problem.where.path.startswith(at):
            return problem.where
    return Where(file=str(path), label=path.name, path=at)
