"""Hooks as the text of a hook file, also those of other dialects; what the file cannot say is a loss."""

import json
import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hookline._core.decisions import Deny
from hookline._core.effects import Notify
from hookline._core.events import RunFailed
from hookline._core.hooks import Hook
from hookline._core.matchers import EVERYTHING, Matcher, Names
from hookline._core.points import Event
from hookline._core.rules import FailurePolicy
from hookline._core.strictjson import JsonFault, parse
from hookline._core.targets import CommandTarget, HttpTarget, NamedTarget, Target
from hookline.dialects._base import Loss, Unjudged, Written
from hookline.dialects._files import DEEPEST, LARGEST, read_file
from hookline.dialects._pattern import Pattern, compile_matcher
from hookline.dialects._places import path_text
from hookline.dialects.muse.build import DIALECT, LONGEST_TIMEOUT
from hookline.dialects.muse.group import ToolMatcher
from hookline.dialects.muse.rules import BY_EVENT, Matching, MuseRule
from hookline.dialects.muse.selector import ShellCommand, compile_selector

SHELLS = frozenset({"sh", "/bin/sh", "bash", "/bin/bash", "/usr/bin/bash"})

NOTE = (
    "commands are copied as they stand; here one reads JSON from standard input, refuses by exit 2 with a reason on "
    "standard error, and lets the action through when it fails, unless `onFailure` says otherwise"
)

# What is told of here is less than elsewhere under the same point.
NARROWER: Mapping[type[Event], str] = {
    RunFailed: "StopFailure tells of runs whose model call failed, not of every run that did"
}

# The keys of a handler that no `Hook` has a field for.
UNTOLD: Mapping[str, str] = {
    "commandWindows": "its command for Windows (`commandWindows`) is lost",
    "command_windows": "its command for Windows (`command_windows`) is lost",
    "outputCapabilities": "its `outputCapabilities` are lost",
}

NOUNS: Mapping[type[Target], str] = {HttpTarget: "a request", NamedTarget: "a handler in Python"}

Json = dict[str, Any]


def write(hooks: Sequence[Hook]) -> Written:
    """One hook file. Hooks that had an order by priority stand in that order, which is the one that counts here."""
    file = _File()
    for hook in sorted(hooks, key=lambda hook: hook.priority):
        file.add(hook, among=hooks)
    text = json.dumps({"hooks": file.events}, indent=2, ensure_ascii=False) + "\n"
    return Written(text=text, count=file.count, losses=tuple(file.losses), note=NOTE)


def untold(path: Path) -> tuple[Loss, ...]:
    """The keys in a hook file that come to nothing in the hooks that are read from it."""
    data = read_file(path)
    if not isinstance(data, bytes):
        return ()
    try:
        value = parse(data, max_bytes=LARGEST, max_depth=DEEPEST)
    except JsonFault:
        return ()
    return tuple(_untold(value.get("hooks") if isinstance(value, dict) else None, (), path.name))


def _untold(value: Any, at: tuple[str | int, ...], label: str) -> Iterator[Loss]:
    if isinstance(value, dict):
        yield from (Loss(hook=f"{label}:{path_text(at)}", why=UNTOLD[key]) for key in value if key in UNTOLD)
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, each in steps:
        yield from _untold(each, (*at, step), label)


@dataclass(slots=True)
class _File:
    """What is written so far."""

    events: dict[str, list[Json]] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    count: int = 0

    def add(self, hook: Hook, *, among: Sequence[Hook]) -> None:
        why = _left_out(hook)
        if why:
            self.losses.append(Loss(hook=hook.id, why=why, left_out=True))
            return
        rules = [BY_EVENT[event] for event in hook.events if event in BY_EVENT]
        self.losses += (Loss(hook=hook.id, why=each) for each in _losses(hook, rules, among))
        self.count += 1
        handler = _handler(hook, rules[0])
        for rule in rules:
            self._place(rule, _matcher_text(hook.matcher) or "", handler)

    def _place(self, rule: MuseRule, matcher: str, handler: Json) -> None:
        """Behind the last group of the event where that has the same matcher, so that the order stays."""
        groups = self.events.setdefault(rule.name, [])
        if not groups or groups[-1].get("matcher", "") != matcher:
            groups.append({"matcher": matcher, "hooks": []} if matcher else {"hooks": []})
        groups[-1]["hooks"].append(handler)


def _left_out(hook: Hook) -> str:
    """Why the file cannot hold the hook, or would have it guard less than it did."""
    target = hook.target
    if not isinstance(target, CommandTarget):
        return f"only commands run here, and this is {NOUNS.get(type(target), 'none')}: write one that calls it"
    if target.env:
        names = ", ".join(sorted(target.env))
        return f"a hook has no variables of its own here ({names}): set them in a script, and call that"
    text = _command_text(target)
    if not text.strip() or "\0" in text or not _is_text(text):
        return "its command is empty, or holds a character that no file can"
    rule = BY_EVENT.get(hook.event)
    if rule is None:
        return f"there is no event here for {hook.event.point.name}"
    if Deny in hook.commits and Deny not in rule.admits:
        return f"nothing can be denied at {rule.name}, so it would guard nothing"
    text_of_matcher = _matcher_text(hook.matcher)
    if text_of_matcher is None:
        return "its matcher cannot be written down"
    if rule.matching is Matching.NOTHING and text_of_matcher:
        return f"{rule.name} has nothing to match against: take out its matcher `{text_of_matcher}`"
    return ""


def _losses(hook: Hook, rules: Sequence[MuseRule], among: Sequence[Hook]) -> Iterator[str]:
    rule = rules[0]
    seconds = _seconds(hook.timeout)
    if seconds != hook.timeout:
        yield f"timeouts are whole seconds, from 1 to {LONGEST_TIMEOUT}: {hook.timeout:g} s became {seconds} s"
    if hook.dialect != DIALECT and hook.event in NARROWER:
        yield NARROWER[hook.event]
    yield from (f"there is no event here for {each.point.name}" for each in hook.also if each not in BY_EVENT)
    if hook.condition is not None and not _selector_text(hook, rule):
        written = f" `{hook.condition.text}`" if isinstance(hook.condition, Unjudged) else ""
        yield f"its condition{written} cannot be said here, so it is called more often"
    if not hook.background and not hook.commits - {Notify} and rule.admits - {Notify}:
        yield "it only watched; nothing here keeps a hook that is waited for from deciding"
    if _closes(hook) and _closing(hook, rule) is None:
        yield "when it fails the session goes on"
    if hook.deny_fails:
        yield "a call that it denies no longer ends the run"
    if any(other.event is hook.event and other.priority != hook.priority for other in among):
        yield f"all hooks of an event start at once: priority {hook.priority} is only its place in the file"


def _handler(hook: Hook, rule: MuseRule) -> Json:
    handler: Json = {"type": "command", "command": _command_text(hook.target), "timeout": _seconds(hook.timeout)}
    if selector := _selector_text(hook, rule):
        handler["if"] = selector
    if hook.background:
        handler["async"] = True
    if hook.label and hook.label != hook.key:  # what names a hook is no message
        handler["statusMessage"] = hook.label
    if hook.fallback is not None:
        handler["onFailure"] = _handler(hook.fallback, rule)
        handler["onFailure"].pop("async", None)  # it is the whole chain's, said once
    elif (closing := _closing(hook, rule)) is not None:
        handler["onFailure"] = closing
    return handler


def _closes(hook: Hook) -> bool:
    """Whether the hook may not fail unseen: the action is not to happen then."""
    return not hook.background and hook.on_failure in (FailurePolicy.DENY, FailurePolicy.FAIL_RUN)


def _closing(hook: Hook, rule: MuseRule) -> Json | None:
    """The fallback that refuses the action; None where there is none to refuse, or no wish to."""
    if not _closes(hook) or rule.block is not Deny or Deny not in hook.commits:
        return None
    said = shlex.quote(f"{hook.id} gave no answer")
    return {"type": "command", "command": f"echo {said} >&2; exit 2", "timeout": 5}


def _seconds(timeout: float) -> int:
    return min(max(math.ceil(timeout), 1), LONGEST_TIMEOUT)


def _command_text(target: Target) -> str:
    """What a shell is given to run it: the line itself where it was one. Empty for what is no command."""
    match target:
        case CommandTarget(argv=(shell, "-c", line)) if shell in SHELLS:
            return line
        case CommandTarget(argv=argv):
            return shlex.join(argv)
        case _:
            return ""


def _selector_text(hook: Hook, rule: MuseRule) -> str:
    match hook.condition:
        case ShellCommand(glob):
            text = "Bash" if glob == "*" else f"Bash({glob})"
        case Unjudged(text):
            pass
        case _:
            return ""
    return "" if isinstance(compile_selector(text, rule), str) else text


def _matcher_text(matcher: Matcher) -> str | None:
    """The text of a group's `matcher`, empty for everything; None where no text says the same."""
    match matcher:
        case ToolMatcher(inner):
            return _matcher_text(inner)
        case Names(names):
            plain = "|".join(sorted(names)) or "|"
            if compile_matcher(plain) == matcher:
                return plain
            return "^(?:" + "|".join(re.escape(name) for name in sorted(names)) + ")$"
        case Pattern(text):
            return text
        case _:
            return "" if matcher == EVERYTHING else None


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
