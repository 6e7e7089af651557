"""The wiring: files to an engine, what is refused on the way, and what is added from outside."""

import importlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import hookline as hl
from hookline.events import POINTS, Event, hook_point

BLOCK = "echo 'not here' >&2; exit 2"


def hook_file(folder: Path, **handler: Any) -> Path:
    path = folder / "hooks.json"
    entry = {"type": "command", "command": BLOCK, **handler}
    path.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [entry]}]}}))
    return path


def call() -> hl.BeforeToolCall:
    return hl.BeforeToolCall(tool_name="bash", input={"command": "ls"})


async def test_a_matcher_knows_the_names_of_a_tool_whoever_fires(tmp_path: Path) -> None:
    """A loop of somebody's own, which has never heard of aliases, is guarded by a matcher that uses one."""
    async with hl.load(hook_file(tmp_path)) as engine:
        assert (await engine.dispatch(call())).denied


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellCall(hl.BeforeToolCall):
    """A more particular tool call."""


async def test_a_subclass_of_an_event_is_guarded_too(tmp_path: Path) -> None:
    """An occurrence of a point is one to every dialect, by whatever class it comes."""
    async with hl.load(hook_file(tmp_path)) as engine:
        resolution = await engine.dispatch(ShellCall(tool_name="bash", input={"command": "ls"}))

    assert (resolution.denied, resolution.reason) == (True, "not here")


async def test_part_of_a_file_that_will_not_run_is_warned_of(tmp_path: Path) -> None:
    """What is skipped is not skipped in silence; under strict it is refused, with its place."""
    path = hook_file(tmp_path, timout=5)
    with pytest.warns(hl.HookProblemWarning, match="unknown handler field `timout`"):
        engine = hl.load(path)
    assert engine.hooks() == ()
    with pytest.raises(hl.ConfigError, match=r"hooks.json:1:\d+: unknown handler field `timout`"):
        hl.load(path, strict=True)


@pytest.mark.parametrize("text", ["{", '{"hooks": []}', '{"hooks": {"Stop": [{"hooks": [{"type": 1}]}]}}'])
def test_a_file_that_gives_nothing_is_an_error(text: str, tmp_path: Path) -> None:
    """A file that is rejected whole raises, and says where and what is wrong with it."""
    path = tmp_path / "hooks.json"
    path.write_text(text)

    with pytest.raises(hl.ConfigError, match=r"hooks.json:1:\d+: ") as raised:
        hl.load(path)
    assert raised.value.problems


def test_a_strict_project_starts_only_when_all_its_hooks_load(tmp_path: Path) -> None:
    """A guard that is not there is no better than one that gives no answer."""
    (tmp_path / ".muse").mkdir()
    hook_file(tmp_path / ".muse", timout=5)
    env = {"HOME": str(tmp_path)}

    assert hl.open_project(tmp_path, env=env, trust="run-flag").engine.hooks() == ()
    with pytest.raises(hl.ConfigError, match="strict: "):
        hl.open_project(tmp_path, env=env, trust="run-flag", strict=True)


@pytest.fixture
def deployment() -> Any:
    """A hook point from outside, declared when hookline is long imported."""

    @hook_point("before_deployment", admits=(hl.Deny,), subject="stage")
    @dataclass(frozen=True, slots=True, kw_only=True)
    class BeforeDeployment(Event):
        stage: str

    yield BeforeDeployment
    del POINTS["before_deployment"]


async def test_a_point_from_outside_can_be_hooked_and_fired(deployment: Any) -> None:
    """Handlers in code have every point there is, and a matcher is tested against its subject."""
    async with hl.new_engine() as engine:

        @engine.on(deployment, match=hl.pattern("^prod"))
        async def freeze(event: Any) -> hl.Deny | None:
            return hl.Deny("it is Friday")

        assert (await engine.dispatch(deployment(stage="production"))).reason == "it is Friday"
        assert not (await engine.dispatch(deployment(stage="staging"))).denied


async def test_a_session_says_that_it_does_not_fire_a_point_from_outside(deployment: Any) -> None:
    """B-25: whoever hooks a point that a session never fires learns it when the session is made."""
    async with hl.new_engine() as engine:

        @engine.on(deployment)
        async def watch(event: Any) -> None: ...

        with pytest.raises(hl.UsageError, match="before_deployment"):
            hl.Session(engine, model=hl.EchoModel())


@pytest.mark.parametrize(
    ("misuse", "says"),
    [
        (lambda engine: engine.on(print), "function print> is not a hook point"),
        (lambda engine: engine.on("before_tool_call"), "'before_tool_call' is not a hook point"),
        (lambda engine: engine.on(hl.BeforeToolCall)("guard"), "callable"),
        (lambda engine: engine.on(hl.BeforeToolCall, match="bash")(print), "matcher"),
        (lambda engine: engine.on(hl.BeforeToolCall, timeout=None)(print), "timeout"),
        (lambda _: hl.pattern("("), "no regular expression"),
        (lambda _: hl.load("hooks.ini"), "no dialect reads .ini"),
    ],
)
def test_wrong_use_is_said_when_it_happens(misuse: Any, says: str) -> None:
    """What can never work raises UsageError at once, with what to write; nothing is registered by halves."""
    engine = hl.new_engine()
    with pytest.raises(hl.UsageError, match=says):
        misuse(engine)
    assert engine.hooks() == ()


def test_doors_open_by_themselves() -> None:
    """`hookline.events` and its like are there without an import of their own."""
    for door in hl.DOORS:
        assert getattr(hl, door) is importlib.import_module(f"hookline.{door}")
