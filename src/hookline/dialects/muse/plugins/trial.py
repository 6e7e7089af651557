"""`hook test`: one hook of an installed plugin, tried with the input of a fixture (section 20.7)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookline._core import strictjson
from hookline._core.decisions import Deny
from hookline._core.effects import AddContext, AddFeedback, EndRun, Reopen, RewriteInput
from hookline._core.events.tool import ToolEvent
from hookline._core.hooks import Hook
from hookline._core.matchers import EVERYTHING
from hookline._core.outcomes import Outcome
from hookline._core.points import Event
from hookline._core.records import Dispatched, HookEnded, Record
from hookline._core.regular_files import read_regular
from hookline._core.resolution import Resolution
from hookline._core.strictjson import JsonFault
from hookline.dialects._files import DEEPEST, project_root
from hookline.dialects._kinds import OBJECT, STRING, found
from hookline.dialects._plugins import Told, Trial
from hookline.dialects.muse.environment import Launch, hook_environment, resolve_shell
from hookline.dialects.muse.payload import PAYLOAD_BYTES
from hookline.dialects.muse.plugins.errors import Fault, PluginError
from hookline.dialects.muse.plugins.hooks import home_of, hook_of, origin_of
from hookline.dialects.muse.plugins.selecting import one_hook
from hookline.dialects.muse.plugins.store import store_of
from hookline.dialects.muse.reading import read_payload
from hookline.dialects.muse.rules import BY_EVENT, BY_NAME, NAME, TOOL_ALIASES, MuseRule
from hookline.dialects.muse.runs import is_recorded, terminal_body
from hookline.dialects.muse.skills import terms_under
from hookline.dialects.muse.tags import Status, effects_of, holds_up, permission_in, status_of
from hookline.dialects.muse.trust import is_trusted

FIXTURE_BYTES = 4 * 1024 * 1024
FIXTURE_KEYS = ("event", "stdin", "matcher_input", "cwd")
SKIPPED = "skipped"  # the status of a hook that the fixture does not select


def trial(env: Mapping[str, str], selector: str, path: Path) -> Trial:
    """The hook that *selector* names, ready to be tried with the fixture at *path*. Raises PluginError."""
    store = store_of(env)
    candidate = one_hook(store, selector)
    rule = BY_NAME[candidate.hook.event]
    fixture = _fixture(path, rule)
    shell, _ = resolve_shell(env)
    cwd = Path(fixture.get("cwd") or ".").absolute()
    skills = terms_under(env, project_root(cwd) if is_trusted(env, cwd) else None)
    home = home_of(candidate.plugin, store, Launch(shell, hook_environment(env), skills=skills))
    hook = hook_of(candidate.hook, home, origin_of(candidate))
    stdin = fixture["stdin"]
    body = stdin.encode("utf-8", "backslashreplace") if isinstance(stdin, str) else _line(stdin)
    if len(body) > PAYLOAD_BYTES + 1:
        message = f"fixture stdin is {len(body)} bytes, and at most {PAYLOAD_BYTES} are delivered to a hook"
        raise PluginError(Fault.HOOK_TEST_FAILED, message)
    event = _event(rule, stdin if isinstance(stdin, dict) else {}, fixture.get("matcher_input"))
    asked = replace(hook, matcher=EVERYTHING, condition=None)
    is_meant = _is_selected(hook, event, fixture)
    return Trial(hook=asked, body=body, cwd=str(cwd), event=event if is_meant else None)


def _line(stdin: Any) -> bytes:
    return strictjson.encode(stdin, spaced=True) + b"\n"


def _fixture(path: Path, rule: MuseRule) -> dict[str, Any]:
    try:
        data, _ = read_regular(path, FIXTURE_BYTES)
        fixture = strictjson.parse(data, max_bytes=FIXTURE_BYTES, max_depth=DEEPEST)
    except OSError as error:
        raise PluginError(Fault.HOOK_TEST_FAILED, f"cannot read the fixture {path}: {error.strerror}") from error
    except JsonFault as fault:
        place = f"{path}:{fault.line}:{fault.column}"
        raise PluginError(Fault.HOOK_TEST_FAILED, f"{place}: the fixture is no JSON: {fault.message}") from None
    if why := _objection(fixture, rule):
        raise PluginError(Fault.HOOK_TEST_FAILED, f"{path}: {why}")
    checked: dict[str, Any] = fixture
    return checked


def _objection(fixture: Any, rule: MuseRule) -> str:
    """What is wrong with a fixture, or nothing."""
    if not OBJECT.accepts(fixture):
        return f"the fixture must be an object, found {found(fixture)}"
    unknown = [name for name in fixture if name not in FIXTURE_KEYS]
    if unknown:
        return f"the fixture has no member `{unknown[0]}`: it has {', '.join(FIXTURE_KEYS)}"
    if fixture.get("event") not in (rule.name, rule.snake):
        return f"fixture event must be `{rule.name}` or `{rule.snake}`"
    if "stdin" not in fixture:
        return "fixture must contain `stdin`"
    if not isinstance(fixture["stdin"], dict | str):
        return f"fixture `stdin` must be an object, found {found(fixture['stdin'])}"
    for name in ("matcher_input", "cwd"):
        if name in fixture and not STRING.accepts(fixture[name]):
            return f"fixture `{name}` must be a string, found {found(fixture[name])}"
    if "\0" in fixture.get("cwd", ""):
        return "fixture `cwd` must be a path, found a NUL character in it"
    return ""


def _event(rule: MuseRule, stdin: Mapping[str, Any], tool: str | None) -> Event:
    """The event that the fixture tells of, as far as it tells: what it leaves out is filled in."""
    filled = {row.name: json.loads(row.kind.sample) for row in (*rule.payload, *rule.place) if row.required}
    tellings = ({**stdin, NAME: rule.name}, {**filled, **stdin, NAME: rule.name}, {**filled, NAME: rule.name})
    event = next(event for members in tellings if isinstance(event := read_payload(members), Event))
    if not isinstance(event, ToolEvent):
        return event
    name = event.tool_name if tool is None else tool
    return replace(event, tool_name=name, aliases=TOOL_ALIASES.get(name, ()))


def _is_selected(hook: Hook, event: Event, fixture: Mapping[str, Any]) -> bool:
    """Whether the hook would be asked. A fixture that names nothing to match against is meant for it."""
    subject = fixture.get("matcher_input")
    stdin = fixture["stdin"]
    if subject is None and not (isinstance(stdin, dict) and isinstance(stdin.get("tool_name"), str)):
        return True
    subjects = event.subjects() if subject is None or isinstance(event, ToolEvent) else (subject,)
    return hook.matcher.matches(subjects) and (hook.condition is None or hook.condition(event))


def tried(made: Trial, records: Sequence[Record]) -> Told:
    """What came of it, as `hook test` tells."""
    hook = made.hook
    resolution = next((each.resolution for each in records if isinstance(each, Dispatched)), None)
    ended = [each.outcome for each in records if isinstance(each, HookEnded)]
    outcomes = [] if resolution is None else [*resolution.outcomes, *(each for each in ended if each.hook.background)]
    terminals = [_terminal(each, resolution, ran) for each in outcomes if (ran := status_of(each)) is not None]
    status = terminals[0]["status"] if terminals else SKIPPED
    recorded = [each for each in outcomes if is_recorded(each.hook)]
    asides = [text for each in terminals for text in (each["error"], each["stderr"].rstrip("\n")) if text]
    _, plugin, name = hook.id.split(":", 2)
    return Told(
        lines=(f"hook-test\t{plugin}:{name}\tstatus={status}",),
        asides=tuple(asides),
        value={
            "decision": _decision(resolution),
            "terminals": terminals,
            "records": 2 * len(recorded) if terminals else 0,
        },
    )


def _terminal(outcome: Outcome, resolution: Resolution | None, status: Status) -> dict[str, Any]:
    effects = () if resolution is None else effects_of(outcome, resolution)
    key = outcome.hook.key
    body = terminal_body({}, status, outcome, effects, elide=False)
    return {
        "run_id": f"{key}:1",
        "hook_key": key,
        "event": BY_EVENT[outcome.hook.event].snake,
        "status_message": outcome.hook.label or None,
        "system_message": body.get("system_message"),
        "status": body["status"],
        "duration_ms": body["duration_ms"],
        "exit_code": body["exit_code"],
        "effects": body.get("effects", []),
        "stdout": body["stdout"],
        "stderr": body["stderr"],
        "error": body["error"],
    }


def _decision(resolution: Resolution | None) -> dict[str, Any]:
    """What the session would do, in the document's eight members."""
    told: dict[str, Any] = {
        "should_block": False,
        "block_reason": None,
        "additional_contexts": [],
        "updated_input": None,
        "permission_decision": None,
        "feedback_message": None,
        "should_stop": False,
        "stop_reason": None,
    }
    if resolution is None:
        return told
    feedback, reopened = resolution.first(AddFeedback), resolution.first(Reopen)
    rewritten, ended = resolution.first(RewriteInput), resolution.first(EndRun)
    told["additional_contexts"] = [each.text for each in resolution.effects(AddContext)]
    told["updated_input"] = None if rewritten is None else dict(rewritten.input)
    told["feedback_message"] = None if feedback is None else feedback.text
    for outcome in resolution.outcomes:
        told["permission_decision"] = permission_in(outcome) or told["permission_decision"]
        held = holds_up(outcome)
        if held == "blocked":
            said = (resolution.decision, reopened, feedback)
            told["should_block"] = True
            told["block_reason"] = next(filter(None, map(_text, said)), None)
        elif held == "stopped":
            told["should_stop"] = True
            told["stop_reason"] = _text(resolution.decision if ended is None else ended)
    return told


def _text(said: object) -> str | None:
    match said:
        case Deny(reason) | EndRun(reason):
            return reason
        case Reopen(text) | AddFeedback(text):
            return text
        case _:
            return None
