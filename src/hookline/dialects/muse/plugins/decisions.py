"""Decisions about hooks, in the user's settings: read, and written without touching anything else there (20.6)."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hookline._core.errors import ConfigError, StateError
from hookline._core.regular_files import replace_text
from hookline._core.strictjson import Place, positions
from hookline.dialects.muse.directories import config_directory
from hookline.dialects.muse.plugins.errors import Fault, PluginError
from hookline.dialects.muse.plugins.review import MEMBER, Decision, Decisions, decisions_in
from hookline.dialects.muse.records import alone
from hookline.dialects.muse.settings import FILE_NAME, SCHEMA_VERSION, Settings, parse_settings, read_settings

Members = dict[str, Any]


def settings_path(env: Mapping[str, str]) -> Path | None:
    """The user's settings, the file itself where a link stands in its place."""
    config = config_directory(env)
    return None if config is None else Path(os.path.realpath(config / FILE_NAME))


def read_decisions(env: Mapping[str, str]) -> Decisions:
    """Every decision there is. Raises ConfigError for settings that cannot be used."""
    path = settings_path(env)
    return {} if path is None else decisions_of(read_settings(path))


def decisions_of(settings: Settings) -> Decisions:
    """The decisions that these settings hold."""
    return {} if settings.document is None else decisions_in(settings.document.value.get(MEMBER))


def decide(env: Mapping[str, str], made: Mapping[str, Decision]) -> None:
    """Write decisions, by stable id, over those that there are. Raises PluginError."""

    def changed(members: Members) -> Members:
        return members | {
            id_: _with(members.get(id_), each.enabled, each.trusted_definition_hash) for id_, each in made.items()
        }

    _change(env, changed)


def _with(before: Any, enabled: bool, digest: str) -> Members:  # noqa: FBT001  # the two members as they are
    kept = before if isinstance(before, dict) else {}
    return {**kept, "enabled": enabled, "trusted_definition_hash": digest}


def forget(env: Mapping[str, str], forgotten: Callable[[str], bool]) -> None:
    """Remove the decisions whose stable ids are *forgotten*; without settings there are none. Raises PluginError."""
    path = settings_path(env)
    if path is None or not os.path.lexists(path):
        return
    _change(env, lambda members: {id_: each for id_, each in members.items() if not forgotten(id_)})


def _change(env: Mapping[str, str], change: Callable[[Members], Members]) -> None:
    path = settings_path(env)
    if path is None:
        message = "there is no folder for settings: set HOME or XDG_CONFIG_HOME to an absolute path"
        raise PluginError(Fault.TRUST_WRITE_FAILED, message)
    try:
        with alone(path):
            settings = read_settings(path)
            document = settings.document
            whole: Members = {"schema_version": SCHEMA_VERSION} if document is None else document.value
            before = whole.get(MEMBER, {})
            after = change(before)
            if after == before:
                return
            text = _new_text(after) if document is None else with_member(document.text, MEMBER, after)
            _check(text, path, {**whole, MEMBER: after})
            replace_text(path, text)
    except (ConfigError, StateError) as error:
        raise PluginError(Fault.TRUST_WRITE_FAILED, str(error)) from error


def _check(text: str, path: Path, wanted: Members) -> None:
    """Nobody's settings are to suffer from an oversight of ours. Raises StateError."""
    document = parse_settings(text.encode(), path).document
    if document is None or document.value != wanted:
        raise StateError(f"cannot change {path} without changing more of it")


def _new_text(members: Members) -> str:
    return json.dumps({"schema_version": SCHEMA_VERSION, MEMBER: members}, indent=2, ensure_ascii=False) + "\n"


def with_member(text: str, name: str, value: object) -> str:
    """*text*, a JSON object with members, in which the member *name* is *value*; all else stands as it was written."""
    places = positions(text)
    indent = _indent(text, places)
    inner = f"\n{indent}" if indent else " "
    told = json.dumps(value, indent=indent or None, ensure_ascii=False).replace("\n", inner)
    if (name,) in places:
        begin = _offset(text, places[(name,)])
        _, end = json.JSONDecoder().raw_decode(text, begin)
        return text[:begin] + told + text[end:]
    close = text.rindex("}")
    before = text[:close].rstrip()
    comma = "" if before.endswith("{") else ","
    return f"{before}{comma}{inner}{json.dumps(name)}: {told}{text[len(before) : close]}{text[close:]}"


def _indent(text: str, places: Mapping[Any, Place]) -> str:
    """What the members of the object are set in by; empty where they stand on the line of its bracket."""
    for place in (place for path, place in places.items() if len(path) == 2):  # noqa: PLR2004  # a member and its key
        line, column = place
        before = text.split("\n")[line - 1][: column - 1]
        return before if before and not before.strip() else ""
    return ""


def _offset(text: str, place: Place) -> int:
    line, column = place
    return sum(len(each) + 1 for each in text.split("\n")[: line - 1]) + column - 1
