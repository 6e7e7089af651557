"""One handler: the first reason for which it would be skipped (sections 4.2, 5.1, 6.4, 9)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hookline._core.problems import Scope
from hookline._core.strictjson import Path
from hookline.dialects._places import key_of
from hookline.dialects.muse.document import UNSUPPORTED_HANDLER, Finding, did_you_mean
from hookline.dialects.muse.rules import MuseRule
from hookline.dialects.muse.selector import compile_selector
from hookline.dialects.muse.shape import FIELDS

Handler = dict[str, Any]

DEEPEST_FALLBACK = 3

WINDOWS_ONLY_RULE = "D63"
WINDOWS_ONLY = (
    "this handler declares only a Windows command form (`commandWindows`), which is selected on Windows only, "
    "so it has no command to run on this platform"
)


@dataclass(frozen=True, slots=True)
class Foreign:
    """A key of another tool's hook files: the rule and the words for skipping its handler, what to write instead, and
    for which values."""

    rule: str
    text: str
    remedy: str
    skips: Callable[[Any], bool] = lambda _: True


def _is_set(value: Any) -> bool:
    return value is True


FOREIGN: dict[str, Foreign] = {
    "shell": Foreign(
        "D98", "a per-handler `shell` selector is unsupported", "start it in `command`, as in bash -c '...'"
    ),
    "args": Foreign(
        "D99", "Claude `command` plus `args` argv execution is not implemented yet", "write all of it into `command`"
    ),
    "condition": Foreign(
        "D66",
        "a conditional handler is unsupported; TBH cannot prove the condition",
        "let the command read the event on standard input and decide",
    ),
    "once": Foreign("D96", "`once: true` one-shot handlers are unsupported", "remove `once`", _is_set),
    "asyncRewake": Foreign("D97", "`asyncRewake: true` handlers are unsupported", "write `async`", _is_set),
    "rewakeMessage": Foreign("D97", "model reawakening is unsupported", "remove it"),
    "rewakeSummary": Foreign("D97", "model reawakening is unsupported", "remove it"),
    "rewake": Foreign("D97", "model reawakening is unsupported", "remove it"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where a handler stands and what holds there. `depth` counts the `onFailure` above it."""

    rule: MuseRule
    at: Path
    windows: bool
    fields: frozenset[str] = frozenset(FIELDS)
    depth: int = 0

    def skip(self, message: str, *, at: Path = (), rule: str = "", remedy: str = "") -> Finding:
        """The handler is skipped; a bad fallback takes the handler that it belongs to along: half a guard is none."""
        return Finding(
            scope=Scope.HOOK,
            code=UNSUPPORTED_HANDLER,
            message=f"in `onFailure`: {message}" if self.depth else message,
            at=at or self.at,
            rule=rule,
            remedy=remedy,
        )


def why_skipped(handler: Handler, spot: Spot) -> Finding | None:
    """The first reason for which a well-typed *handler* does not run."""
    return next((finding for check in _CHECKS if (finding := check(handler, spot)) is not None), None)


def _foreign_or_unknown_key(handler: Handler, spot: Spot) -> Finding | None:
    for name, value in handler.items():
        foreign = FOREIGN.get(name)
        if foreign is not None:
            if foreign.skips(value):
                at = key_of((*spot.at, name))
                return spot.skip(foreign.text, at=at, rule=foreign.rule, remedy=foreign.remedy)
        elif name not in spot.fields:
            message = f"unknown handler field `{name}` may narrow execution, so this handler is skipped"
            near = did_you_mean(name, spot.fields)
            remedy = f"remove it, or mend its name{near}"
            return spot.skip(message, at=key_of((*spot.at, name)), rule="D66", remedy=remedy)
    return None


def _two_spellings(handler: Handler, spot: Spot) -> Finding | None:
    if "commandWindows" not in handler or "command_windows" not in handler:
        return None
    message = "`commandWindows` and `command_windows` are one field; keep one of the two"
    return spot.skip(message, at=key_of((*spot.at, "command_windows")))


def _not_in_a_fallback(handler: Handler, spot: Spot) -> Finding | None:
    for name in ("async", "if"):
        if spot.depth and name in handler:
            at = key_of((*spot.at, name))
            return spot.skip(f"`{name}` may not be set here", at=at, rule="D66", remedy=f"remove `{name}`")
    return None


TYPE = 'write "type": "command"'


def _type(handler: Handler, spot: Spot) -> Finding | None:
    if "type" not in handler:
        return spot.skip("hook handler must declare a `type`", remedy=TYPE)
    kind = handler["type"]
    if kind == "command":
        return None
    message = f"hook handler type `{kind}` is unsupported{did_you_mean(kind, ['command'])}"
    return spot.skip(message, at=(*spot.at, "type"), rule="D101", remedy=TYPE)


def _output_capabilities(handler: Handler, spot: Spot) -> Finding | None:
    """`skills.v1` may be declared in its place; whether it is asked for is the session's (section 19)."""
    if "outputCapabilities" not in handler:
        return None
    at = (*spot.at, "outputCapabilities")
    if handler["outputCapabilities"] != ["skills.v1"]:
        remedy = 'write ["skills.v1"], or remove it'
        return spot.skip('outputCapabilities must be exactly ["skills.v1"]', at=at, remedy=remedy)
    if not spot.rule.skills or handler.get("async", False):
        message = "skills.v1 is supported only for foreground UserPromptSubmit or PostToolUse command hooks"
        return spot.skip(message, at=at, remedy="remove it")
    return None


def _selector(handler: Handler, spot: Spot) -> Finding | None:
    if "if" not in handler:
        return None
    condition = compile_selector(handler["if"], spot.rule)
    if not isinstance(condition, str):
        return None
    message = f"conditional hook selector is unsupported or malformed: {condition}"
    remedy = "write Bash, Bash(*) or Bash(<glob>), at an event about one call; else let the command decide"
    return spot.skip(message, at=(*spot.at, "if"), rule="D66", remedy=remedy)


def _fallback(handler: Handler, spot: Spot) -> Finding | None:
    if "onFailure" not in handler:
        return None
    at = (*spot.at, "onFailure")
    if spot.depth == DEEPEST_FALLBACK:
        message = "onFailure chains may be at most three levels deep"
        return replace(spot.skip("", at=key_of(at), rule="D66", remedy="remove the innermost"), message=message)
    return why_skipped(handler["onFailure"], replace(spot, at=at, depth=spot.depth + 1))


def _command(handler: Handler, spot: Spot) -> Finding | None:
    command = command_of(handler, windows=spot.windows)
    if command is None and ("commandWindows" in handler or "command_windows" in handler):
        return spot.skip(WINDOWS_ONLY, rule=WINDOWS_ONLY_RULE, remedy="add `command`")
    if command is None or not command.strip():
        at = (*spot.at, "command") if "command" in handler else spot.at
        return spot.skip("command hook command must not be empty", at=at, remedy="write what to run")
    if "\0" in command:
        at = (*spot.at, "command")
        return spot.skip("command hook command must not contain a NUL character", at=at, remedy="remove it")
    return None


_CHECKS = (
    _foreign_or_unknown_key,
    _two_spellings,
    _not_in_a_fallback,
    _type,
    _output_capabilities,
    _selector,
    _fallback,
    _command,
)


def notes(handler: Handler, at: Path) -> list[Finding]:
    """What is worth knowing about a handler that runs."""
    if "silent" not in handler:
        return []
    message = "`silent` is display-only compatibility metadata and is ignored"
    at = key_of((*at, "silent"))
    return [Finding(scope=Scope.NOTE, code="IgnoredField", message=message, at=at, rule="D65")]


def command_of(handler: Handler, *, windows: bool) -> str | None:
    """The command line for this platform."""
    own: str | None = handler.get("command")
    if not windows:
        return own
    for_windows: str | None = handler.get("commandWindows", handler.get("command_windows"))
    return own if for_windows is None else for_windows
