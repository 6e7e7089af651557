"""Reports of hooks that never ran and nobody was told: each needs a reason that we can print."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from tests.field_reports.rig import PROGRAM, Place, command, document, group

import hookline as hl
from hookline._core.hooks import Hook
from hookline._core.points import POINTS, Event, hook_point
from hookline._core.problems import Scope
from hookline._core.rules import Rule
from hookline._core.targets import FunctionTarget
from hookline.adapters import builtin
from hookline.dialects import IN_CODE
from hookline.journal import entries as en

STOPS = command("touch STOPPED")


def stopped(place: Place) -> bool:
    """Whether the Stop hook ran."""
    return (place.project / "STOPPED").exists()


def test_b14_a_wrong_type_takes_the_file_and_says_where(place: Place) -> None:
    """One wrong type rejects the whole file: a line at the start says so, the problem knows path, line and column."""
    file = place.write_project(
        b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch STOPPED"}]}],\n'
        b' "PreToolUse": [{"matcher": {"type": "always"}, "hooks": []}]}}'
    )
    text = "hook matcher must be a string, found an object"

    told = place.exec()

    assert not stopped(place)
    assert told.lines[2:] == [
        "hookline: Hooks: 0 runnable · 1 warning",
        f"hookline:   hooks.json: MalformedConfig: {text}",
    ]
    project = hl.open_project(place.project, env=place.env, trust="run-flag")
    [problem] = [problem for _, loaded in project.loaded for problem in loaded.problems]
    assert (problem.scope, problem.code, problem.message) == (Scope.FILE, "MalformedConfig", text)
    assert (str(problem.where), problem.where.path) == (f"{file}:2:29", "hooks.PreToolUse[0].matcher")


def test_b15_an_unknown_event_costs_only_itself(place: Place) -> None:
    """An event that the dialect does not have is skipped with a line; the hook beside it runs."""
    place.write_project(document(OnSave=[command("touch SAVED")], Stop=[STOPS]))

    told = place.exec()

    assert stopped(place)
    assert told.lines[2:4] == [
        "hookline: Hooks: 1 runnable · 1 warning",
        "hookline:   hooks.json: UnsupportedEvent: unsupported hook event `OnSave`",
    ]


def test_b16_a_capital_letter_is_pointed_out(place: Place) -> None:
    """A type that differs in case is skipped, and the line has the spelling that was meant."""
    place.write_project(document(Stop=[{**command("false"), "type": "Command"}, STOPS]))

    told = place.exec()

    assert stopped(place)
    [line] = [line for line in told.lines if "UnsupportedHandler" in line]
    assert "type `Command` is unsupported" in line
    assert '(did you mean "command"?)' in line


def test_b19_hooks_held_back_for_trust_are_counted_twice(place: Place) -> None:
    """In a folder that nobody trusts the hooks do not run; the first lines and the last say how many and why."""
    place.write_project(document(Stop=[STOPS], SessionStart=[command("touch STARTED")]))

    told = place.exec(trusted=False)

    assert not stopped(place)
    assert told.code == 0
    assert told.lines[1:] == [
        "hookline: hooks.json: 2 handlers held back: folder not trusted",
        (
            "hookline: 2 handlers of hooks.json never ran: folder not trusted; "
            "--trust-workspace trusts it for one run, `hookline trust` for good"
        ),
    ]


def test_b19_the_originals_name_prints_what_the_original_does(place: Place) -> None:
    """Started as `muse` it prints no line of its own about trust, since the original prints none."""
    place.write_project(document(Stop=[STOPS]))
    link = place.root / "muse"
    link.symlink_to(PROGRAM)

    told = place.exec(trusted=False, program=link)

    assert not stopped(place)
    assert told.lines == [f"muse: workspace root: {place.project} (cwd default)"]


@pytest.mark.parametrize("by", ["variable", "settings"])
def test_a_managed_file_that_is_not_there_is_said(place: Place, by: str) -> None:
    """A guard that somebody named and nobody finds: a line at the start; strict does not start without it."""
    missing = str(place.root / "nowhere.json")
    if by == "settings":
        place.write_settings({}, managed_hooks_path=missing)
    env = {"TBH_MANAGED_HOOKS_PATH": missing} if by == "variable" else {}

    told = place.exec(env=env)
    refused = place.exec(env=env, options=("--strict",))

    line = f"there is no managed hook file at {missing}"
    assert (told.code, told.lines[-1]) == (0, f"hookline: nowhere.json: {line}")
    assert refused.code == 1
    assert line in refused.err


def test_b23_resume_and_fork_load_the_same_hooks(place: Place) -> None:
    """However a session begins, managed, user and project hooks are the same ones, asked in the same order."""
    place.write_managed(document(SessionStart=[command("exit 0")]))
    place.write_settings(document(SessionStart=[command("exit 0")]), managed_hooks_path="managed.json")
    place.write_project(document(SessionStart=[command("exit 0")]))

    first = place.exec()
    resumed = place.exec(options=("--resume", first.session))
    forked = place.exec(options=("--fork", first.session))

    ids = [f"{file}:SessionStart[0].hooks[0]" for file in ("managed.json", "settings.json", "hooks.json")]
    sources: list[str] = []
    for told in (first, resumed, forked):
        opened, dispatched = told.of(en.SessionOpened)[-1], told.dispatched("session_start")[-1]
        assert [outcome.hook.id for outcome in dispatched.outcomes] == ids
        assert opened.hooks == 3
        sources.append(dispatched.event["source"])
    assert sources == ["startup", "resume", "fork"]
    assert (resumed.session, forked.session != first.session) == (first.session, True)


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeDeploy(Event):
    """A point that somebody declared and no session fires."""


@pytest.fixture
def declared() -> Iterator[type[Event]]:
    hook_point("before_deploy", admits=(hl.Deny,))(BeforeDeploy)
    yield BeforeDeploy
    del POINTS["before_deploy"]


def test_b25_a_hook_that_no_dialect_can_place_is_an_error(declared: type[Event]) -> None:
    """An engine refuses a hook for a point that its dialect does not have, however it gets there."""
    hook = Hook(id="guard", event=declared, target=FunctionTarget(print), dialect="muse")

    with pytest.raises(hl.UsageError, match="before_deploy, which muse does not have"):
        hl.new_engine(hooks=[hook])
    with pytest.raises(hl.UsageError, match="is not a hook point"):
        hl.new_engine().on(Event)(print)


def test_b25_a_hook_for_a_point_that_never_fires_is_an_error(declared: type[Event]) -> None:
    """A dialect may have a point that a session does not fire: a session then refuses the engine with that hook."""
    rules = {**IN_CODE.rules, declared: Rule(name="before_deploy", event=declared, has_subject=False)}
    dialect = replace(IN_CODE, rules=rules)
    engine = hl.HookEngine(dialects=[dialect], in_code=dialect, adapters=builtin())
    engine.on(declared)(print)

    with pytest.raises(hl.UsageError, match="a session never fires before_deploy"):
        hl.Session(engine, model=hl.EchoModel())


def test_b14_a_file_without_faults_says_nothing(place: Place) -> None:
    """A file without faults prints no line about hooks, so that a line always means something."""
    place.write_project(document(Stop=[group(STOPS, matcher="*")]))

    told = place.exec()

    assert stopped(place)
    assert [line for line in told.lines if "Hooks:" in line or "hooks.json" in line] == []
