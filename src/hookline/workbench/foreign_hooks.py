"""The hooks in a document of another tool, as far as they are something here; what is not is a loss."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hookline._core.decisions import Deny
from hookline._core.hooks import Hook, Source
from hookline._core.matchers import EVERYTHING, Matcher, Names, names
from hookline._core.points import POINTS
from hookline._core.rules import FailurePolicy
from hookline._core.targets import CommandTarget
from hookline.dialects._base import Loss, Unjudged
from hookline.dialects._pattern import compile_matcher
from hookline.dialects._places import path_text
from hookline.workbench.foreign import variables_in
from hookline.workbench.foreign_tools import Meaning, Shape, Tool

SHELL = ("/bin/sh", "-c")

HERE = frozenset({"", "."})  # a folder that is the one where hooks start anyway

# What no key of another tool means anything else by.
KNOWN = frozenset(
    {"type", "matcher", "async", "statusMessage", "if", "onFailure", "failClosed", "env", "args", "hooks"}
)
FOLDERS = ("cwd", "working_directory")
OF_WINDOWS = frozenset({"powershell", "commandWindows"})

_COMMA_OR_BAR = re.compile(r"[,|]")
_NAMES = re.compile(r"[A-Za-z0-9_, |-]+")  # elsewhere a hyphen, a comma and a space make no regular expression

At = tuple[str | int, ...]
Json = Mapping[str, Any]


class _LeftOut(Exception):
    """Why a handler is no hook here."""


@dataclass(slots=True)
class Reading:
    """The hooks found, in the order of the document, and what was lost on the way."""

    hooks: list[Hook] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)


def read_foreign(document: Any, tool: Tool, source: Source) -> Reading:
    """What stands under the events of *document*. A shape that the tool does not have is a loss like any other."""
    reading = Reading()
    events = document.get("hooks") if isinstance(document, dict) else None
    if not isinstance(events, dict):
        reading.losses.append(_left_out(source, ("hooks",), "there is no object `hooks` that has the events"))
        return reading
    for name, value in events.items():
        if name in tool.reserved:
            continue
        meaning = tool.events.get(name)
        if meaning is None or meaning.point is None:
            why = f"{tool.title} has no event of that name" if meaning is None else "there is no such hook point here"
            reading.losses.append(_left_out(source, ("hooks", name), why))
            continue
        for at, handler, matcher in _handlers(value, tool, ("hooks", name)):
            _read(_Spot(tool, meaning, source, at), handler, matcher, reading)
    return reading


def _left_out(source: Source, at: At, why: str) -> Loss:
    return Loss(hook=f"{source.label}:{path_text(at[1:] or at)}", why=why, left_out=True)


def _handlers(value: Any, tool: Tool, at: At) -> Iterator[tuple[At, Any, Any]]:
    """Each handler under an event, with its place and its matcher."""
    for index, each in enumerate(value if isinstance(value, list) else [value]):
        here = (*at, index)
        if tool.shape is Shape.ENTRIES or not isinstance(each, dict) or not isinstance(each.get("hooks"), list):
            yield here, each, each.get("matcher") if isinstance(each, dict) else None
            continue
        for number, handler in enumerate(each["hooks"]):
            yield (*here, "hooks", number), handler, each.get("matcher")


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a handler stands, and what its event means."""

    tool: Tool
    meaning: Meaning
    source: Source
    at: At

    @property
    def id(self) -> str:
        return f"{self.source.label}:{path_text(self.at[1:])}"


def _read(spot: _Spot, handler: Any, matcher: Any, reading: Reading) -> None:
    try:
        hook = _hook(spot, handler, matcher)
    except _LeftOut as why:
        reading.losses.append(_left_out(spot.source, spot.at, str(why)))
        return
    reading.hooks.append(hook)
    reading.losses += (Loss(hook=hook.id, why=why) for why in _losses(spot, handler, hook))


def _hook(spot: _Spot, handler: Any, matcher: Any) -> Hook:
    if not isinstance(handler, dict):
        raise _LeftOut("it is no object")
    if spot.meaning.only:
        raise _LeftOut(spot.meaning.only)
    argv = _argv(handler, spot.tool)
    point = POINTS[spot.meaning.point or ""]
    background = handler.get("async") is True or handler.get("asyncRewake") is True
    denies = spot.meaning.denies and not background
    if denies and (read := variables_in(" ".join(argv))):
        raise _LeftOut(f"its command reads ${read[0].name}, which nothing sets here: write the value in its place")
    condition = handler.get("if")
    label = handler.get("statusMessage")
    return Hook(
        id=spot.id,
        event=point.event,
        also=tuple(POINTS[name].event for name in spot.meaning.also),
        target=CommandTarget(argv=argv, env=_env(handler), written=" ".join(argv)),
        dialect=spot.tool.name,
        source=spot.source,
        matcher=_matcher(matcher, spot),
        condition=Unjudged(condition) if isinstance(condition, str) and condition else None,
        commits=frozenset() if background else point.admits - (frozenset() if denies else {Deny}),
        timeout=_timeout(handler, spot.tool) or spot.tool.timeout * spot.tool.look.unit.value,
        background=background,
        on_failure=FailurePolicy.DENY if _fails_closed(handler) and not background else None,
        label=label if isinstance(label, str) else "",
    )


def _argv(handler: Json, tool: Tool) -> tuple[str, ...]:
    kind = handler.get("type", "command")
    if kind != "command":
        raise _LeftOut(f"only commands run here, and this is of the type `{kind}`")
    if handler.get("shell") not in (None, "bash", "sh"):
        raise _LeftOut(f"its shell is `{handler['shell']}`")
    command = next((handler[key] for key in tool.command_keys if isinstance(handler.get(key), str)), "")
    if not command.strip():
        windows = " but one for Windows" if OF_WINDOWS & handler.keys() else f": write `{tool.command_keys[0]}`"
        raise _LeftOut(f"it has no command{windows}")
    folder = next((handler[key] for key in FOLDERS if handler.get(key) not in (None, *HERE)), None)
    if folder is not None:
        raise _LeftOut(f"it runs in the folder {folder!r}: write `cd` into its command")
    args = handler.get("args")
    if args is None:
        return (*SHELL, command)
    if not isinstance(args, list) or not all(isinstance(each, str) for each in args):
        raise _LeftOut("its `args` are no list of strings")
    return (command, *args)


def _env(handler: Json) -> dict[str, str]:
    env = handler.get("env", {})
    if not isinstance(env, dict) or not all(isinstance(value, str) for value in env.values()):
        raise _LeftOut("its `env` is no object of strings")
    return env


def _timeout(handler: Json, tool: Tool) -> float | None:
    """In seconds; None where none is written, or what is written is no length of time."""
    written = next((handler[key] for key in tool.timeout_keys if key in handler), None)
    if not isinstance(written, int | float) or isinstance(written, bool):
        return None
    return written * tool.look.unit.value if 0 < written < math.inf else None


def _fails_closed(handler: Json) -> bool:
    """In the words of those tools that have such: the word is not the fallback that `onFailure` is elsewhere."""
    return handler.get("onFailure") == "block" or handler.get("failClosed") is True


def _matcher(written: Any, spot: _Spot) -> Matcher:
    """What is matched, by our names of the tools. A guard whose matcher would miss its tool is none."""
    if written is not None and not isinstance(written, str):
        raise _LeftOut("its matcher is no string")
    if not written or written == "*":
        return names(*spot.meaning.tools) if spot.meaning.tools else EVERYTHING
    if spot.meaning.tools:
        raise _LeftOut(f"its matcher `{written}` is tested against text that is no tool's name")
    if POINTS[spot.meaning.point or ""].subject != "tool_name":
        return _compiled(written)
    known = spot.tool.tool_names
    wanted = [name.strip() for name in _COMMA_OR_BAR.split(written)]
    unknown = [name for name in wanted if name not in known]
    if not unknown:
        return names(*(ours for name in wanted for ours in known[name]))
    if not spot.tool.our_names:
        raise _LeftOut(f"its matcher `{written}` names what is no tool here (`{unknown[0]}`): write our names of tools")
    return names(*filter(None, wanted)) if _NAMES.fullmatch(written) else _compiled(written)


def _compiled(written: str) -> Matcher:
    matcher = compile_matcher(written)
    if isinstance(matcher, str):
        raise _LeftOut(f"its matcher `{written}` is not a valid regular expression: {matcher}")
    return matcher


def _unknown_tools(hook: Hook, tool: Tool) -> list[str]:
    """The names in a matcher of tools that may not be here. Those of servers are as they are anywhere."""
    wanted = hook.matcher.names if isinstance(hook.matcher, Names) and hook.event.point.subject == "tool_name" else ()
    known = {ours for each in tool.tool_names.values() for ours in each}
    return sorted(name for name in wanted if name not in known and not name.startswith("mcp") and tool.our_names)


def _losses(spot: _Spot, handler: Json, hook: Hook) -> Iterator[str]:
    tool = spot.tool
    known = KNOWN | tool.shown | {*tool.timeout_keys, *tool.command_keys, *FOLDERS}
    for key in handler:
        if key in OF_WINDOWS:
            yield f"its command for Windows (`{key}`) is lost"
        elif key not in known:
            yield f"`{key}` is lost"
    if any(key in handler for key in tool.timeout_keys) and _timeout(handler, tool) is None:
        yield f"its timeout is no length of time: it became {hook.timeout:g} s, as if there were none"
    if unknown := _unknown_tools(hook, tool):
        yield f"its matcher names `{unknown[0]}`, which is no tool here"
    if POINTS[spot.meaning.point or ""].subject != "tool_name" and hook.matcher != EVERYTHING and not tool.our_names:
        yield f"its matcher is in the words of {tool.title}, which may be others here"
    if handler.get("onFailure") not in (None, "block", "continue"):
        yield "its `onFailure` is neither `block` nor `continue`, and is lost"
    for variable in variables_in(hook.target.written if isinstance(hook.target, CommandTarget) else ""):
        yield f"its command reads ${variable.name}, which nothing sets here"
