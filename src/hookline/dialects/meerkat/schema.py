"""Every key of a Meerkat hook configuration: one row each, which the reader and the documentation share (section 6).

`[hooks]` holds `HOOKS`; each of its entries, also those of overrides, holds `ENTRY`; an entry's `runtime` holds `TYPE`
and, beside it, the fields of its adapter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any

from hookline.dialects.meerkat.kinds import (
    ARGUMENTS,
    BOOLEAN,
    COMMAND,
    ENVIRONMENT,
    HEADERS,
    I32,
    METHOD,
    STRING,
    STRINGS,
    TABLE,
    TABLES,
    U64,
    URL,
    USIZE,
    Kind,
    choice,
    optional,
)
from hookline.dialects.meerkat.words import AdapterType, Capability, HookPoint, Mode, ToolDenial


class Required(Enum):
    """What stands for the default of a field that has none."""

    REQUIRED = "required"


REQUIRED = Required.REQUIRED


@dataclass(frozen=True, slots=True)
class Field:
    """A key: what it accepts, what holds where it is not written, and what there is to know. `alias`: also read as."""

    name: str
    kind: Kind
    default: Any
    note: str
    alias: str = ""


Fields = Mapping[str, Field]


def _fields(*rows: Field) -> Fields:
    return MappingProxyType({row.name: row for row in rows})


_REWRITE = ': "rewrite" was removed; hooks observe or deny, and change nothing'
_POINT = choice(HookPoint, "UnknownPoint", noun="one of the 14 hook points")
_MODE = choice(Mode, "UnknownMode")
_CAPABILITY = choice(Capability, "UnknownCapability", removed={"rewrite": _REWRITE})
_TYPE = choice(AdapterType, "UnknownRuntimeType", noun='"in_process", "command" or "http"')
_TOOL_DENIAL = choice(ToolDenial, "UnknownToolDenial")

HOOKS = _fields(
    Field("default_timeout_ms", U64, 5000, "for each call of a hook whose entry names none"),
    Field("payload_max_bytes", USIZE, 131_072, "bounds each of: payload, standard output and error, HTTP response"),
    Field("background_max_concurrency", USIZE, 32, "of one engine; 0 is treated as 1"),
    Field("tool_denial", _TOOL_DENIAL, ToolDenial.TOOL_ERROR, "hookline's own: what a denied tool call does"),
    Field("entries", TABLES, (), "their order is the order of registration"),
)
LIMITS = tuple(name for name in HOOKS if name != "entries")

ENTRY = _fields(
    Field("id", STRING, "hook", "compared exactly; two entries without one collide"),
    Field("enabled", BOOLEAN, True, "a disabled entry is checked like any, and occupies its id"),  # noqa: FBT003
    Field("point", _POINT, HookPoint.TURN_BOUNDARY, "where it is called"),
    Field("mode", _MODE, Mode.FOREGROUND, "whether the loop waits for it"),
    Field("capability", _CAPABILITY, Capability.OBSERVE, "whether it may deny"),
    Field("priority", I32, 100, "lower runs first; of no meaning in the background"),
    Field("timeout_ms", optional(U64), None, "default: `default_timeout_ms`; 0 is allowed and always expires"),
    Field("runtime", TABLE, {}, "default: the in-process handler `noop`, which nobody registers"),
)

TYPE = Field("type", _TYPE, REQUIRED, "which adapter")

ADAPTERS: Mapping[AdapterType, Fields] = MappingProxyType(
    {
        AdapterType.IN_PROCESS: _fields(
            Field("handler", STRING, "noop", "the name it was registered under", alias="name"),
        ),
        AdapterType.COMMAND: _fields(
            Field("command", COMMAND, REQUIRED, "a program, started without a shell"),
            Field("args", ARGUMENTS, (), "each as it is written"),
            Field("env", ENVIRONMENT, (), "laid over what is inherited"),
            Field("inherit_env", BOOLEAN, True, "hookline's own: whether it inherits the environment"),  # noqa: FBT003
        ),
        AdapterType.HTTP: _fields(
            Field("url", URL, REQUIRED, "http or https"),
            Field("method", METHOD, "POST", "sent as it is written"),
            Field("headers", HEADERS, (), "values are literal; nothing is expanded"),
        ),
    }
)

OVERRIDES = _fields(
    Field("entries", TABLES, (), "appended to the entries that remain"),
    Field("disable", STRINGS, (), "ids of base entries that are taken out"),
)
