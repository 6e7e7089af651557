"""The tools that an agent has without further ado."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hookline.session.ports import Tool
from hookline.session.tools._base import BuiltinTool
from hookline.session.tools._shells import Shells
from hookline.session.tools.files import EditFile, ReadFile, WriteFile
from hookline.session.tools.peers import PeerMessage, PeerRequest, PeerRespond
from hookline.session.tools.search import Search
from hookline.session.tools.shell import Bash, BashInput
from hookline.session.tools.skills import SKILL_FOLDERS, ReadSkill
from hookline.session.tools.subagent import SubagentSpawn
from hookline.session.tools.web import WebFetch, WebSearch

NO_ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType({})


def builtin_tools(
    aliases: Mapping[str, tuple[str, ...]] = NO_ALIASES,
    *,
    search_url: str | None = None,
    skill_folders: Sequence[str | Path] = SKILL_FOLDERS,
) -> tuple[Tool, ...]:
    """Every built-in tool, for one session: what one of them starts ends when they are closed.

    *aliases* says by tool name what else a matcher may call it. *search_url* is the address of a search service, with
    `{query}` in it. *skill_folders* are taken from the workspace where they are not absolute.
    """
    shells = Shells()

    def known_as(tool: type[BuiltinTool[Any]]) -> tuple[str, ...]:
        return aliases.get(tool.name, ())

    return (
        Bash(known_as(Bash), shells=shells),
        BashInput(known_as(BashInput), shells=shells),
        *(tool(known_as(tool)) for tool in (ReadFile, WriteFile, EditFile, Search, WebFetch, SubagentSpawn)),
        WebSearch(known_as(WebSearch), endpoint=search_url),
        ReadSkill(known_as(ReadSkill), folders=skill_folders),
    )


def peer_tools(aliases: Mapping[str, tuple[str, ...]] = NO_ALIASES) -> tuple[Tool, ...]:
    """The tools of an agent that has peers."""
    kinds: tuple[type[BuiltinTool[Any]], ...] = (PeerMessage, PeerRequest, PeerRespond)
    return tuple(kind(aliases.get(kind.name, ())) for kind in kinds)
