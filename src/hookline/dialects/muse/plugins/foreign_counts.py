"""How many capabilities of each kind a package of another family has, for the report of it (section 20.3)."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from hookline._core.package_files import PackageFiles
from hookline._core.strictjson import JsonFault, parse
from hookline.dialects._files import DEEPEST
from hookline.dialects.muse.plugins.manifest import MANIFEST_BYTES
from hookline.dialects.muse.plugins.native import counts_of
from hookline.dialects.muse.plugins.paths import Unsafe, path_in_package

SERVER_FILE = ".mcp.json"  # where MCP servers are that no manifest names
SKILLS, COMMANDS = "skills", "commands"  # members that may name some, and the folders of those that none names
SKILL_FILE = "/SKILL.md"


def counts_in(value: dict[str, Any], package: PackageFiles, *, hooks: int) -> dict[str, int]:
    """How many of each kind the manifest names, else how many are where they usually are."""
    paths = tuple(each.path for each in package.files)
    servers = set(_named(value.get("mcpServers", SERVER_FILE), cache(lambda path: _servers_in(path, package))))
    skills, commands = _skills(value, paths), _commands(value, paths)
    return counts_of({"skills": skills, "commands": commands, "hooks": hooks, "mcp": len(servers)})


def _skills(value: dict[str, Any], paths: Iterable[str]) -> int:
    """A skill is the folder of its file. A manifest may name that, or a folder of skills."""
    skills = [path.removesuffix(SKILL_FILE) for path in paths if path.endswith(SKILL_FILE)]
    if SKILLS not in value:
        return sum(_folder(skill) == SKILLS for skill in skills)
    named = set(_named(value[SKILLS], lambda path: (path,)))
    return sum(skill in named or _folder(skill) in named for skill in skills)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _commands(value: dict[str, Any], paths: Iterable[str]) -> int:
    """A command is a file of Markdown. A manifest may name it or a folder around it, or write them all in an object."""
    said = value.get(COMMANDS, COMMANDS)
    if isinstance(said, dict):
        return len(said)
    named = set(_named(said, lambda path: (path,)))
    return sum(path.endswith(".md") and not named.isdisjoint(_with_folders(path)) for path in paths)


def _with_folders(path: str) -> Iterator[str]:
    """A path and every folder around it."""
    while path:
        yield path
        path = _folder(path)


def _named(said: Any, at: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """What a member names: keys of an object, and whatever is at a path. What names nothing counts for nothing."""
    if isinstance(said, str):
        try:
            yield from at(path_in_package(said))
        except Unsafe:
            return
    elif isinstance(said, dict):
        yield from said
    elif isinstance(said, list):
        for each in said:
            yield from _named(each, at)


def _servers_in(path: str, package: PackageFiles) -> Iterable[str]:
    """The MCP servers of a file, none where that is not readable."""
    try:
        value = parse(package.read(path), max_bytes=MANIFEST_BYTES, max_depth=DEEPEST)
    except (JsonFault, KeyError):
        return ()
    servers = value.get("mcpServers") if isinstance(value, dict) else None
    return servers if isinstance(servers, dict) else ()
