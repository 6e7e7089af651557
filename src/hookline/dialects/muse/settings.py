"""settings.json: the members that concern hooks (section 3). A wrong one keeps the program from starting.

Only its `hooks` member is lenient: what is wrong in there costs the source, a group or a handler, as in any hook file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hookline._core.credentials import is_provider_credential
from hookline._core.errors import ConfigError
from hookline._core.hooks import SessionSettings, Source
from hookline._core.problems import Problem, Scope, Where
from hookline._core.strictjson import JsonFault
from hookline.dialects._files import Unreadable, read_file
from hookline.dialects._kinds import ARRAY, INTEGER, NON_NEGATIVE_INTEGER, OBJECT, STRING, Kind, found
from hookline.dialects._places import key_of
from hookline.dialects.muse.document import MEND, USER, Document, Finding, did_you_mean, read_json
from hookline.dialects.muse.rules import BY_NAME

FILE_NAME = "settings.json"
SCHEMA_VERSION = 1

# `hooks` has no kind here: a wrong one is for the hook reader to report.
MEMBERS: dict[str, Kind | None] = {
    "schema_version": INTEGER,
    "hooks": None,
    "managed_hooks_path": STRING,
    "managed_hooks_env_vars": ARRAY,
    "max_consecutive_stop_hook_continuations": NON_NEGATIVE_INTEGER,
    "runtime_capabilities": OBJECT,
}

STATE = "state"  # the member of `hooks` that is no event

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a settings file says. `granted` names variables that managed hooks get; `notes` stop nothing."""

    document: Document | None = None
    managed_path: str = ""
    granted: tuple[str, ...] = ()
    session: SessionSettings = SessionSettings()
    notes: tuple[Problem, ...] = ()


def read_settings(path: Path) -> Settings:
    """The settings in *path*; the defaults where there is no such file. Raises ConfigError."""
    data = read_file(path)
    if data is None:
        return Settings()
    if isinstance(data, Unreadable):
        where = Where(file=str(path), label=FILE_NAME)
        remedy = "make it a file that you can read, or remove it"
        problem = Problem(scope=Scope.SETTINGS, code="MalformedSettings", message=data.why, where=where, remedy=remedy)
        raise ConfigError(f"failed to read settings file at {path}: {data.why}", (problem,))
    return parse_settings(data, path)


def parse_settings(data: bytes, path: Path) -> Settings:
    """The settings in *data*, which is the content of *path*. Raises ConfigError."""
    source = Source(layer=USER, label=FILE_NAME, path=str(path))
    try:
        document = read_json(data, source)
    except JsonFault as fault:
        where = Where(file=str(path), label=FILE_NAME, line=fault.line, column=fault.column)
        problem = Problem(
            scope=Scope.SETTINGS, code="MalformedSettings", message=fault.message, where=where, remedy=MEND
        )
        place = f"line {fault.line} column {fault.column}"
        raise ConfigError(f"malformed settings file at {path}: {fault.message} at {place}", (problem,)) from None
    refusal = next(_refusals(document.value), None)
    if refusal is not None:
        begin = f"malformed settings file at {path}: " if refusal.code == "MalformedSettings" else ""
        raise ConfigError(begin + refusal.message, (document.problem(refusal),))
    members: dict[str, Any] = document.value
    limit = members.get("max_consecutive_stop_hook_continuations", SessionSettings().reopen_limit)
    return Settings(
        document=document,
        managed_path=members.get("managed_hooks_path", ""),
        granted=tuple(members.get("managed_hooks_env_vars", ())),
        session=SessionSettings(reopen_limit=limit),
        notes=tuple(document.problem(note) for note in _unknown_members(members)),
    )


def _refusal(message: str, *at: str | int, code: str = "MalformedSettings", remedy: str = "") -> Finding:
    return Finding(scope=Scope.SETTINGS, code=code, message=message, at=at, remedy=remedy)


def _refusals(value: Any) -> Iterator[Finding]:
    if not isinstance(value, dict):
        yield _refusal(f"the settings must be an object, found {found(value)}")
        return
    if "schema_version" not in value:
        yield _refusal("missing field `schema_version`", remedy=f'write "schema_version": {SCHEMA_VERSION}')
        return
    version = value["schema_version"]
    if INTEGER.accepts(version) and version != SCHEMA_VERSION:
        message = f"unsupported settings schema version {version}"
        remedy = f"write {SCHEMA_VERSION}"
        yield _refusal(message, "schema_version", code="UnsupportedSettingsVersion", remedy=remedy)
    for name, member in value.items():
        kind = MEMBERS.get(name)
        if kind is not None and not kind.accepts(member):
            message = f"field `{name}` must be {kind.noun}, found {found(member)}"
            yield _refusal(message, name, remedy=f"write {kind.noun}")
    yield from _refused_grants(value.get("managed_hooks_env_vars", ()))


def _refused_grants(names: list[Any]) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, name in enumerate(names):
        field = f"managed_hooks_env_vars[{index}]"
        if not isinstance(name, str):
            message = f"field `{field}` must be a string, found {found(name)}"
            yield _refusal(message, "managed_hooks_env_vars", index)
            return
        why = ""
        if not _VARIABLE.fullmatch(name):
            why = "name must match [A-Za-z_][A-Za-z0-9_]*"
        elif name.upper() in seen:
            why = "duplicate name"
        elif is_provider_credential(name):
            why = "provider credential names are not allowed"
        if why:
            yield _refusal(f"invalid {field}: {why}", "managed_hooks_env_vars", index, code="InvalidGrant")
        seen.add(name.upper())


def _unknown_members(members: dict[str, Any]) -> Iterator[Finding]:
    for name in members:
        if name not in MEMBERS:
            hint = did_you_mean(name, MEMBERS)
            message = f"unknown top-level member `{name}` is ignored{hint}"
            is_event = name in BY_NAME
            scope = Scope.ABSENT if is_event or did_you_mean(name, ("hooks",)) else Scope.NOTE
            remedy = (
                f"put `{name}` inside `hooks`: nothing in it runs here" if is_event else "remove it, or mend its name"
            )
            yield Finding(scope=scope, code="UnknownSetting", message=message, at=key_of((name,)), remedy=remedy)


def switched_off(document: Document) -> tuple[frozenset[str], tuple[Problem, ...]]:
    """The keys of hooks that `hooks.state` turns off, and a note for each of its entries that says nothing.

    *document* is one whose `hooks` are well-typed.
    """
    state: dict[str, Any] = document.value.get("hooks", {}).get(STATE, {})
    off: set[str] = set()
    notes: list[Problem] = []
    for key, entry in state.items():
        enabled = entry.get("enabled") if isinstance(entry, dict) else None
        if enabled is False:
            off.add(key)
        elif enabled is not True:
            message = f"the entry for `{key}` is ignored: it does not say `enabled` as true or false"
            note = Finding(scope=Scope.NOTE, code="IgnoredState", message=message, at=("hooks", STATE, key))
            notes.append(document.problem(note))
    return frozenset(off), tuple(notes)
