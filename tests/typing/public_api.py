"""Checked by mypy --strict, never run: what a user writes is accepted, and what cannot work is an error.

Each misuse is marked with the error that it must give; mypy reports a mark that is no longer needed.
"""

from pathlib import Path
from typing import assert_type

import hookline as hl
from hookline import effects, errors, events

engine = hl.load(".muse/hooks.json")
assert_type(engine, hl.HookEngine)
assert_type(hl.new_engine(strict=True), hl.HookEngine)


# A handler is typed by the event that it is registered for.


@engine.on(hl.BeforeToolCall, match=hl.names("bash"))
async def no_force_push(event: hl.BeforeToolCall) -> hl.Deny | None:
    return hl.Deny("force push is off") if "--force" in str(event.input) else None


@engine.on(hl.BeforeToolCall, timeout=1.5, priority=-1, on_failure=hl.FailurePolicy.IGNORE)
def synchronous(event: hl.BeforeToolCall) -> hl.RewriteInput:
    return hl.RewriteInput({**event.input, "dry_run": True})


@engine.on(hl.SessionEnd)
def observer(event: hl.SessionEnd) -> None:
    print(event.reason)  # noqa: T201  # an observer does something of its own


@engine.on(hl.BeforeRunEnd)
async def several(event: hl.BeforeRunEnd) -> hl.Reopen | hl.EndRun | None:
    return None if event.reopened else hl.Reopen("run the tests once more")


@engine.on(hl.AfterToolCall)
async def answers(event: hl.AfterToolCall) -> hl.Answer:
    return hl.Answer(effects=(hl.AddContext(f"{event.tool_name} took {event.duration} s"),))


@engine.on(hl.BeforeRun)
def for_any_event(event: events.Event) -> hl.AddContext:
    return hl.AddContext(event.point.name)


# Registering gives the handler back as it was.


async def still_callable(event: hl.BeforeToolCall) -> None:
    assert_type(await no_force_push(event), hl.Deny | None)
    assert_type(synchronous(event), hl.RewriteInput)


# A dispatch comes back as one resolution.


async def dispatch() -> None:
    event = hl.BeforeToolCall(tool_name="bash", input={"command": "git push --force"})
    resolution = await engine.dispatch(event)
    assert_type(resolution, hl.Resolution)
    assert_type(resolution.denied, bool)
    assert_type(resolution.decision, hl.Allow | hl.Ask | hl.Deny | None)
    assert_type(resolution.effects(hl.AddContext), tuple[hl.AddContext, ...])
    assert_type(resolution.first(hl.EndRun), hl.EndRun | None)
    if resolution.decision is not None:
        assert_type(resolution.decision.reason, str)


# A whole session.


async def session() -> None:
    async with hl.Session(
        engine,
        model=hl.EchoModel(),
        tools=hl.tools(),
        journals=hl.JournalFolder(),
        workspace=Path(),
        approval=hl.ApprovalMode.NEVER,
    ) as opened:
        assert_type(opened, hl.Session)
        result = await opened.run("fix the build")
        assert_type(result.text, str)
    async with engine as the_same:
        assert_type(the_same, hl.HookEngine)


def fails() -> None:
    try:
        hl.load("hooks.json")
    except hl.ConfigError as error:
        assert_type(error.problems, tuple[errors.Problem, ...])
    except hl.HooklineError:
        pass


assert_type(effects.Deny("no"), hl.Deny)


# What cannot work is an error.


@engine.on(hl.BeforeToolCall)  # type: ignore[type-var]
def wrong_answer(event: hl.BeforeToolCall) -> str:
    return "deny"


@engine.on(hl.BeforeToolCall)  # type: ignore[type-var]
async def wrong_answer_later(event: hl.BeforeToolCall) -> bool:
    return False


@engine.on(hl.Deny)  # type: ignore[type-var]
def not_an_event(event: object) -> None: ...


@engine.on("before_tool_call")  # type: ignore[arg-type]
def a_name_is_no_event(event: object) -> None: ...


@engine.on(hl.BeforeToolCall, match="bash")  # type: ignore[arg-type]
def text_is_no_matcher(event: hl.BeforeToolCall) -> None: ...


@engine.on(hl.BeforeToolCall, on_failure="deny")  # type: ignore[arg-type]
def text_is_no_policy(event: hl.BeforeToolCall) -> None: ...


@engine.on(hl.BeforeToolCall, hl.names("bash"))  # type: ignore[call-arg]
def terms_are_named(event: hl.BeforeToolCall) -> None: ...


@engine.on(hl.BeforeToolCall)  # type: ignore[arg-type]
def event_of_another_point(event: hl.SessionEnd) -> None: ...


def read_only(event: hl.BeforeToolCall, decision: hl.Deny) -> None:
    event.tool_name = "true"  # type: ignore[misc]
    decision.reason = ""  # type: ignore[misc]


def incomplete() -> None:
    hl.Deny()  # type: ignore[call-arg]
    hl.BeforeToolCall("bash", input={})  # type: ignore[call-arg,arg-type]
    hl.BeforeToolCall(tool_name="bash")  # type: ignore[call-arg]
    hl.names(1)  # type: ignore[arg-type]
    hl.new_engine(())  # type: ignore[call-arg]
    hl.Session(engine)  # type: ignore[call-arg]


async def dispatching_the_wrong_thing() -> None:
    await engine.dispatch("before_tool_call")  # type: ignore[arg-type]
    (await engine.dispatch(hl.StepEnd())).effects(hl.Deny)  # type: ignore[type-var]


hl.nothing  # type: ignore[attr-defined]  # noqa: B018  # only its name matters
