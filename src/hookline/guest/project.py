"""A project to begin a hook with, made of the templates for its language."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from hookline._core.errors import UsageError

HERE = Path(__file__).parent
TEMPLATES = HERE / "templates"
COMMON = "common"
INTERFACE = HERE / "wit" / "murmur.wit"

NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?")

BINDING, POLICY = "on-tool-call", "deny"  # of the hook that each template is

# What of this package each language's project takes along: a hook in C is built with our library.
TAKEN_ALONG: dict[str, tuple[str, ...]] = {"python": (), "js": (), "c": ("lib",)}


def make_project(name: str, language: str, folder: Path) -> Path:
    """Make *folder*, which must not be there yet or be empty, and in it a hook called *name*.

    Raises UsageError for a name that no artifact can have, and for a folder that has something in it.
    """
    if NAME.fullmatch(name) is None:
        raise UsageError(f"a hook's name has up to 100 letters a-z, digits and hyphens within, found {name!r}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(f"{folder} has something in it: name a folder that is to be made, by --into")
        for source, target in _files(language):
            path = folder / target
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_filled(source.read_text(encoding="utf-8"), name), encoding="utf-8")
        for part in TAKEN_ALONG[language]:
            shutil.copytree(HERE / part, folder / part)
    except OSError as error:
        raise UsageError(f"the project {folder}: {error.strerror}: {error.filename}") from error
    return folder


def _files(language: str) -> Iterator[tuple[Path, str]]:
    """Each template and where it goes."""
    yield INTERFACE, "wit/murmur.wit"
    for part in (COMMON, language):
        root = TEMPLATES / part
        for path in sorted(root.rglob("*")):
            if path.is_file():
                yield path, str(path.relative_to(root)).replace("gitignore", ".gitignore")


def _filled(text: str, name: str) -> str:
    return text.replace("@NAME@", name).replace("@BINDING@", BINDING).replace("@POLICY@", POLICY)
