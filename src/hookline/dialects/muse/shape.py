"""The types of a hook document. A wrong one anywhere rejects the file, so all of it is looked at first (section 6.4).

What stands under an unknown event is nobody's: its shape is not known, and the event is skipped anyway.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hookline._core.strictjson import Path
from hookline.dialects._kinds import ARRAY, BOOLEAN, NON_NEGATIVE_INTEGER, OBJECT, STRING, Kind, found
from hookline.dialects.muse.document import Finding, malformed
from hookline.dialects.muse.rules import BY_NAME

Fields = Mapping[str, Kind]

WRITE = "write {}"
HANDLER = 'write {"type": "command", "command": "..."}'
HANDLERS = 'write an array of handlers: [{"type": "command", "command": "..."}]'
GROUP = 'write {"hooks": [...]}, with "matcher": "..." where one is wanted'
GROUPS = 'write an array of groups: [{"hooks": [...]}]'

# Every typed field of a handler (section 4.2), and the typed ones among the keys of other tools (section 5.1).
FIELDS: Fields = {
    "type": STRING,
    "command": STRING,
    "commandWindows": STRING,
    "command_windows": STRING,
    "timeout": NON_NEGATIVE_INTEGER,
    "statusMessage": STRING,
    "async": BOOLEAN,
    "onFailure": OBJECT,
    "outputCapabilities": ARRAY,
    "if": STRING,
    "silent": BOOLEAN,
    "once": BOOLEAN,
    "asyncRewake": BOOLEAN,
}


def type_faults(
    hooks: Any, at: Path, *, fields: Fields = FIELDS, reserved: frozenset[str] = frozenset()
) -> Iterator[Finding]:
    """Every wrong type under *hooks*, in document order. *reserved* are members that are no events, but objects."""
    if not isinstance(hooks, dict):
        yield malformed("hooks must be an object", at, WRITE.format(OBJECT.noun))
        return
    for name, value in hooks.items():
        here = (*at, name)
        if name in reserved:
            if not isinstance(value, dict):
                yield malformed(
                    f"`hooks.{name}` must be an object, found {found(value)}", here, WRITE.format(OBJECT.noun)
                )
        elif name in BY_NAME:
            if isinstance(value, list):
                for index, group in enumerate(value):
                    yield from _group_faults(group, (*here, index), fields)
            else:
                yield malformed(f"hook event `{name}` must be an array", here, GROUPS)


def _group_faults(group: Any, at: Path, fields: Fields) -> Iterator[Finding]:
    if not isinstance(group, dict):
        yield malformed(f"hook matcher group must be an object, found {found(group)}", at, GROUP)
        return
    if "hooks" not in group:
        yield malformed("hook matcher group must declare `hooks`", at, GROUP)
    for name, value in group.items():
        here = (*at, name)
        if name == "matcher" and not isinstance(value, str):
            yield malformed(f"hook matcher must be a string, found {found(value)}", here, WRITE.format(STRING.noun))
        if name == "hooks":
            if isinstance(value, list):
                for index, handler in enumerate(value):
                    yield from _handler_faults(handler, (*here, index), fields)
            else:
                message = f"hook matcher group `hooks` must be an array, found {found(value)}"
                yield malformed(message, here, HANDLERS)


def _handler_faults(handler: Any, at: Path, fields: Fields) -> Iterator[Finding]:
    if not isinstance(handler, dict):
        yield malformed(f"hook handler must be an object, found {found(handler)}", at, HANDLER)
        return
    for name, value in handler.items():
        kind = fields.get(name)
        if kind is not None and not kind.accepts(value):
            message = f"hook handler field `{name}` must be {kind.noun}, found {found(value)}"
            yield malformed(message, (*at, name), WRITE.format(kind.noun))
        elif name == "onFailure":
            yield from _handler_faults(value, (*at, name), fields)
