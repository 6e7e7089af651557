"""Hooks as the text of a `config.toml`, also those of other dialects; what an entry cannot say is a loss."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path

from hookline._core.decisions import Deny
from hookline._core.effects import Notify
from hookline._core.events import RunFailed
from hookline._core.hooks import Hook, Source
from hookline._core.matchers import EVERYTHING
from hookline._core.points import Event
from hookline._core.targets import CommandTarget, HttpTarget, NamedTarget, Target
from hookline.dialects._base import Loss, Written
from hookline.dialects._files import read_file
from hookline.dialects.meerkat.entries import Command, read_config
from hookline.dialects.meerkat.faults import PREFIX
from hookline.dialects.meerkat.kinds import Slot
from hookline.dialects.meerkat.layers import CONTEXT
from hookline.dialects.meerkat.rules import BY_EVENT, EVENTS_OF
from hookline.dialects.meerkat.schema import ADAPTERS, ENTRY
from hookline.dialects.meerkat.words import DIALECT, AdapterType, Capability, HookPoint, Mode

NOTE = (
    "commands are copied as they stand; here one reads an envelope from standard input and answers with one JSON "
    "object, and one in the foreground that fails, by exit 2 too, fails the run"
)

# What is told of here is more than elsewhere under the same point.
WIDER: Mapping[type[Event], str] = {
    RunFailed: "run_failed tells of every run that failed, not only of those whose model call did"
}

LONGEST = 2**63 // 1000  # milliseconds; far beyond any, and a number that a file can hold

Value = str | int | Sequence[str] | Mapping[str, str]


def write(hooks: Sequence[Hook]) -> Written:
    """One configuration with an entry for each hook, in their order, under its own id where it has one."""
    tables: list[str] = []
    losses: list[Loss] = []
    taken: set[str] = set()
    for hook in hooks:
        why = _left_out(hook)
        if why:
            losses.append(Loss(hook=hook.id, why=why, left_out=True))
            continue
        losses += (Loss(hook=hook.id, why=each) for each in _losses(hook))
        name = _free_id(hook, taken)
        taken.add(name)
        tables.append(_entry(hook, name))
    return Written(text="\n".join(tables) or "[hooks]\n", count=len(tables), losses=tuple(losses), note=NOTE)


def untold(path: Path) -> tuple[Loss, ...]:
    """The entries of a file that no hook is made of, and what its hooks do not say of them."""
    data = read_file(path)
    if not isinstance(data, bytes):
        return ()
    entries = read_config(data, Source(layer=CONTEXT, label=path.name, path=str(path))).config.entries
    off = [Loss(hook=PREFIX + each.id, why="it is not enabled", left_out=True) for each in entries if not each.enabled]
    bare = [
        Loss(hook=PREFIX + each.id, why="its `inherit_env = false` is lost")
        for each in entries
        if each.enabled and isinstance(each.runtime, Command) and not each.runtime.inherit_env
    ]
    return (*off, *bare)


def _left_out(hook: Hook) -> str:
    """Why an entry cannot be the hook, or would be another one."""
    rule = BY_EVENT.get(hook.event)
    if rule is None:
        return f"there is no point here for {hook.event.point.name}"
    if EVENTS_OF[rule.point][0] is not hook.event:
        return (
            f"{rule.name} tells of more than {hook.event.point.name}: write the entry by hand, and have it look first"
        )
    return _unwritable(hook.target)


def _unwritable(target: Target) -> str:
    slot = Slot(("command",), 0)
    fields = ADAPTERS[AdapterType.COMMAND]
    match target:
        case CommandTarget(argv, env):
            command, *args = argv
            checked = ((fields["command"], command), (fields["args"], args), (fields["env"], dict(env)))
            faults = [fault for each, value in checked for fault in each.kind.check(value, slot)]
            return faults[0].message if faults else ""
        case HttpTarget() | NamedTarget():
            return ""
        case _:
            return "an entry calls a command, a URL or a handler by its name, and this is none of them"


def _losses(hook: Hook) -> Iterator[str]:
    rule = BY_EVENT[hook.event]
    guards = _capability(hook) is Capability.GUARDRAIL
    if hook.matcher != EVERYTHING:
        more = "it is asked about" if guards else "it is told of"
        yield f"an entry has no matcher: {more} all that happens at {rule.name}, and has to look itself"
    if hook.condition is not None:
        yield "an entry has no condition: it is called more often, and has to look itself"
    if hook.fallback is not None:
        yield "there are no fallbacks: its `onFailure` is lost, and a failure fails the run"
    yield from (
        f"{rule.name} also tells of {each.point.name}" for each in EVENTS_OF[rule.point] if each not in hook.events
    )
    yield from (f"it is no longer told of {each.point.name}" for each in hook.also if each not in EVENTS_OF[rule.point])
    if hook.dialect != DIALECT and hook.event in WIDER:
        yield WIDER[hook.event]
    if not hook.background and hook.commits - {Notify} and not guards:
        yield f"it only watches here: nothing that it answers counts at {rule.name}"
    if hook.label and hook.dialect != DIALECT:
        yield f"an entry shows nothing while it runs: {_quoted(hook.label)} is lost"
    if _milliseconds(hook) != round(hook.timeout * 1000, 6):
        yield f"timeouts are whole milliseconds: {hook.timeout:g} s became {_milliseconds(hook)} ms"


def _capability(hook: Hook) -> Capability:
    """A hook in the background may not deny, nor one where nothing can be denied."""
    denies = Deny in hook.commits and all(Deny in BY_EVENT[event].admits for event in _events(hook))
    return Capability.GUARDRAIL if denies and not hook.background else Capability.OBSERVE


def _events(hook: Hook) -> tuple[type[Event], ...]:
    return EVENTS_OF[_point(hook)]


def _point(hook: Hook) -> HookPoint:
    return BY_EVENT[hook.event].point


def _milliseconds(hook: Hook) -> int:
    return min(max(round(hook.timeout * 1000), 0), LONGEST)


def _free_id(hook: Hook, taken: set[str]) -> str:
    """Where the hook stood, or what it was called; with a number where that is taken already."""
    wanted = hook.id.removeprefix(PREFIX).removeprefix(f"{hook.source.label}:")
    return next(each for each in chain([wanted], (f"{wanted}-{number}" for number in count(2))) if each not in taken)


def _entry(hook: Hook, id: str) -> str:
    own: dict[str, Value] = {
        "id": id,
        "point": _point(hook).value,
        "mode": (Mode.BACKGROUND if hook.background else Mode.FOREGROUND).value,
        "capability": _capability(hook).value,
        "priority": hook.priority if hook.dialect == DIALECT else ENTRY["priority"].default,
        "timeout_ms": _milliseconds(hook),
    }
    return f"[[hooks.entries]]\n{_lines(own)}\n[hooks.entries.runtime]\n{_lines(_runtime(hook.target))}"


def _runtime(target: Target) -> dict[str, Value]:
    match target:
        case CommandTarget(argv, env):
            own: dict[str, Value] = {"type": AdapterType.COMMAND.value, "command": argv[0], "args": list(argv[1:])}
            return own | ({"env": dict(env)} if env else {})
        case HttpTarget(url, method, headers):
            own = {"type": AdapterType.HTTP.value, "url": url, "method": method}
            return own | ({"headers": dict(headers)} if headers else {})
        case NamedTarget(name):
            return {"type": AdapterType.IN_PROCESS.value, "handler": name}
        case _:
            raise AssertionError(target)  # it was left out


def _lines(table: Mapping[str, Value]) -> str:
    return "".join(f"{name} = {_toml(value)}\n" for name, value in table.items())


def _toml(value: Value) -> str:
    match value:
        case str():
            return _quoted(value)
        case int():
            return str(value)
        case Mapping():
            return "{ " + ", ".join(f"{_quoted(name)} = {_quoted(each)}" for name, each in value.items()) + " }"
        case _:
            return "[" + ", ".join(_quoted(each) for each in value) + "]"


def _quoted(text: str) -> str:
    """A basic string of TOML, which is JSON's but for one more character that has to be escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
