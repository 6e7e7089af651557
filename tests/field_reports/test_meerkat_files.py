"""Reports of configurations that said something else than was meant, under Meerkat: nothing starts on half of one."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.field_reports.meerkat_rig import (
    BACKGROUND,
    DENIES,
    GUARD,
    QUIET,
    Json,
    calls,
    configuration,
    entry,
    guard,
    live,
    opened,
    runs,
)
from tests.field_reports.rig import TOUCH, Place

import hookline as hl
from hookline.journal import entries as en
from hookline.workbench.convert import convert


def refused(place: Place, config: str, **how: Any) -> list[str]:
    """The lines with which the program does not start under *config*."""
    file = place.write_rkat(config)
    told = place.exec(TOUCH, **how)
    assert (told.code, place.mark, told.out, told.entries) == (1, False, "", [])
    return [line.replace(str(file), "config.toml") for line in told.lines]


def test_b14_one_bad_entry_keeps_the_session_from_starting(place: Place) -> None:
    """A good guard and three bad ones: nothing starts, and each fault is named with its line and column."""
    config = configuration(
        guard(QUIET),
        entry("a", runs("x"), timeout_ms="soon"),
        entry("b", {"type": "command"}),
        entry("c", runs("x"), **{**GUARD, **BACKGROUND, "capability": "guardrail"}),
    )

    lines = refused(place, config)

    first, second, third = lines
    assert first.startswith("config.toml:10:14: `timeout_ms` must be a whole number from 0 to 18446744073709551615")
    assert second.startswith("config.toml:15:11: `command` is missing and required")
    assert third.startswith("config.toml:20:8: background hooks must be observe-only: c")


def test_b14_the_problems_of_a_project_are_all_there(tmp_path: Path) -> None:
    """In Python the error holds each problem, with its code and its place."""
    config = configuration(
        entry("a", runs("x"), point="pre_tool_executed"),
        entry("b", runs("x"), mode="later"),
        entry("c", runs("x"), capability="rewrite"),
        entry("d", {"type": "ftp"}),
    )

    with pytest.raises(hl.ConfigError) as caught:
        opened(tmp_path, config)

    assert [(problem.code, problem.where.line) for problem in caught.value.problems] == [
        ("UnknownPoint", 4),
        ("UnknownMode", 9),
        ("UnknownCapability", 14),
        ("UnknownRuntimeType", 19),
    ]


@pytest.mark.parametrize(
    ("point", "meant"),
    [("pre_tool_use", ""), ("pre_tool_excution", "pre_tool_execution"), ("PreToolExecution", "pre_tool_execution")],
)
def test_b15_a_misspelt_point_is_a_refusal_with_a_proposal(place: Place, point: str, meant: str) -> None:
    """A hook at a point that there is not would never run: the session does not start, and a near word is proposed."""
    [line] = refused(place, configuration(guard(DENIES, point=point)))

    assert line.startswith(f'config.toml:4:9: `point` must be one of the 14 hook points, found "{point}"')
    assert line.endswith(f'(did you mean "{meant}"?)') if meant else "BeforeTool" not in line


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"capability": "Guardrail"}, "guardrail"),
        ({"mode": "Foreground"}, "foreground"),
        ({"runtime": {"type": "Command", "command": "x"}}, "command"),
    ],
    ids=["capability", "mode", "type"],
)
def test_b16_a_capital_letter_is_pointed_out(place: Place, fields: Json, word: str) -> None:
    """A word of a vocabulary that differs in case is refused, and the line has the spelling that was meant."""
    [line] = refused(place, configuration({**guard(DENIES), **fields}))

    assert f'(did you mean "{word}"?)' in line


def test_b18_seconds_are_not_taken_for_milliseconds(place: Place) -> None:
    """`timeout`, another dialect's key in seconds, is ignored with a note that has the right one; so is `timeoutMs`."""
    place.write_rkat(configuration(guard(QUIET, timeout=5, timeoutMs=5)))

    told = place.exec(TOUCH)

    assert told.lines[2:] == [
        'hookline: .rkat/config.toml: unknown key "timeout" is ignored (did you mean "timeout_ms"?)',
        'hookline: .rkat/config.toml: unknown key "timeoutMs" is ignored (did you mean "timeout_ms"?)',
    ]


def test_b13_another_hosts_failure_policy_is_no_key_here(place: Place) -> None:
    """`failure_policy` does nothing, and says so: whoever wrote it learns what decides in its place."""
    place.write_rkat(configuration(guard("exit 3", failure_policy="fail_open")))

    told = place.exec(TOUCH)

    assert (told.code, place.mark) == (1, False)
    assert "`failure_policy` is ignored: there is no per-hook failure policy" in told.lines[2]


def test_b19_entries_held_back_for_trust_are_counted_twice(place: Place) -> None:
    """In a folder that nobody trusts the project's entries do not run; first lines and last say how many and why."""
    place.write_rkat(configuration(guard(DENIES), entry("b", runs("touch RAN"), point="run_started")))

    told = place.exec(TOUCH, trusted=False)

    assert place.mark
    assert not (place.project / "RAN").exists()
    first, last = told.lines[1:]
    assert first == "hookline: .rkat/config.toml: 2 handlers held back: folder not trusted"
    assert last.startswith("hookline: 2 handlers of .rkat/config.toml never ran: folder not trusted; ")


def test_b23_resume_and_fork_load_the_same_hooks(place: Place) -> None:
    """However a session begins, the project's and the user's entries are the same ones, asked in the same order."""
    place.write_rkat(configuration(entry("project", runs(QUIET), point="run_started")))
    place.write_users_rkat(configuration(entry("user", runs(QUIET), point="run_started")))

    first = place.exec()
    resumed = place.exec(options=("--resume", first.session))
    forked = place.exec(options=("--fork", first.session))

    for told in (first, resumed, forked):
        assert told.of(en.SessionOpened)[-1].hooks == 2
        outcomes = told.dispatched("before_run")[-1].outcomes
        assert [outcome.hook.id for outcome in outcomes] == ["meerkat:project", "meerkat:user"]
    assert (resumed.session, forked.session != first.session) == (first.session, True)


POINTS = {
    "run_started": True,
    "pre_llm_request": True,
    "post_llm_response": True,
    "pre_tool_execution": True,
    "post_tool_execution": True,
    "turn_boundary": True,
    "run_completed": True,
    "run_failed": True,
    "runtime_input_accepted": False,
    "runtime_input_rejected": False,
    "runtime_input_deduplicated": False,
    "peer_ingress_committed": False,
    "peer_egress_committed": False,
    "interaction_completed": False,
}


@pytest.mark.parametrize("point", POINTS)
def test_f07_there_are_fourteen_points_and_six_only_observe(tmp_path: Path, point: str) -> None:
    """An observer may stand at each of them, a guardrail at the eight of the loop; the refusal names the entry."""
    opened(tmp_path, configuration(entry("h", runs(QUIET), point=point)))
    guards = configuration(entry("h", runs(QUIET), point=point, **GUARD))

    if POINTS[point]:
        opened(tmp_path, guards)
        return
    with pytest.raises(hl.ConfigError, match="post-commit hook points are observe-only: h"):
        opened(tmp_path, guards)


def test_b25_a_session_fires_all_fourteen(tmp_path: Path) -> None:
    """A session takes an engine with a hook at each point: it would refuse one at a point that it never fires."""
    assert len(POINTS) == 14
    project = opened(tmp_path, configuration(*(entry(point, runs(QUIET), point=point) for point in POINTS)))

    session = hl.Session(project.engine, model=hl.EchoModel(), workspace=tmp_path)

    assert len(project.engine.hooks()) == 14
    assert session.workspace == tmp_path


@pytest.mark.parametrize("names", [("there",), ()], ids=["another", "none"])
def test_b25_a_handler_that_nobody_registered_is_found_at_load(tmp_path: Path, names: tuple[str, ...]) -> None:
    """A name without a handler is a guard that would never answer: it keeps the session from opening."""
    known = hl.Handlers()
    for name in names:
        known.register(name, print)

    with pytest.raises(hl.ConfigError, match="in-process handler 'check' not registered") as caught:
        opened(tmp_path, configuration(entry("guard", calls("check"), **GUARD)), handlers=known)

    assert [problem.code for problem in caught.value.problems] == ["UnknownHandler"]


async def test_b25_a_handler_that_is_missing_when_it_is_called_fails_the_run(tmp_path: Path) -> None:
    """Where nobody says which handlers there are it is found at the call, which is not made."""
    lived = await live(tmp_path, configuration(entry("guard", calls("check"), **GUARD)))

    assert lived.result.reason == "hook meerkat:guard failed: in-process handler 'check' not registered"
    assert not lived.mark


def test_b71_a_field_in_two_spellings_is_refused(place: Place) -> None:
    """`handler` and `name` are one field: nobody can say which of two was meant."""
    both = {"type": "in_process", "handler": "a", "name": "b"}

    [line] = refused(place, configuration(entry("guard", both, **GUARD)))

    assert line.endswith("`handler` and `name` are one field: keep one of the two")


def test_b71_a_key_that_stands_twice_rejects_the_file(place: Place) -> None:
    """In the file and in the overrides, with the key and its place."""
    [line] = refused(place, configuration(guard(DENIES)) + "timeout_ms = 1\ntimeout_ms = 2\n")
    assert line.startswith('config.toml:8:1: malformed TOML: "timeout_ms" is already defined at line 7')

    overrides = place.root / "overrides.json"
    overrides.write_text('{"disable": ["guard"], "disable": []}')
    [line] = refused(place, configuration(guard(DENIES)), options=("--hooks-override", str(overrides)))
    assert "duplicate key `disable`" in line


def test_b85_a_project_cannot_vouch_for_itself(place: Place) -> None:
    """Whatever a project's file claims, it counts for nothing until somebody else has trusted the folder."""
    claims = 'trusted = true\ntrust = "run-flag"\n[projects]\n"*" = "trusted"\n'
    place.write_rkat(claims + configuration(guard("touch RAN"), inherit_env=True, trusted=True))

    told = place.exec(TOUCH, trusted=False)

    assert place.mark
    assert not (place.project / "RAN").exists()
    assert "hookline: .rkat/config.toml: 1 handler held back: folder not trusted" in told.lines


def test_b89_a_hook_of_one_id_in_two_files_runs_once_and_says_so(place: Place) -> None:
    """The project's comes first, the user's of the same id is dropped with a note; other ids run from either file."""
    place.write_rkat(configuration(entry("log", runs(f"echo project >> log; {QUIET}"), point="run_started")))
    users = [entry(name, runs(f"echo user {name} >> log; {QUIET}"), point="run_started") for name in ("log", "other")]
    place.write_users_rkat(configuration(*users))

    told = place.exec()

    assert (place.project / "log").read_text() == "project\nuser other\n"
    assert [outcome.hook.id for outcome in told.outcomes("before_run")] == ["meerkat:log", "meerkat:other"]
    [line] = [line for line in told.lines if "dropped" in line]
    assert 'hook "log" is dropped: the one of that id at ' in line


async def test_b89_an_id_that_an_override_adds_again_is_refused(tmp_path: Path) -> None:
    """To replace an entry it has to be disabled first: two of one id are never both there, and never silently one."""
    config = configuration(guard(DENIES))
    added = {"id": "guard", "point": "pre_tool_execution", "runtime": runs(QUIET)}

    with pytest.raises(hl.ConfigError, match="duplicate hook id: guard"):
        opened(tmp_path, config, overrides={"entries": [added]})
    lived = await live(tmp_path, config, overrides=json.dumps({"disable": ["guard"], "entries": [added]}))

    assert lived.mark


@pytest.mark.parametrize(
    "text", ["[hooks", "[hooks]\nentries = 3\n", "hooks = []\n", "\xff", "[[hooks.entries]]\nid = ' '\n"]
)
def test_f22_a_file_has_one_meaning(tmp_path: Path, text: str) -> None:
    """What is no TOML, no UTF-8, or of the wrong type keeps everything from starting; the problem has a line."""
    file = tmp_path / "hooks.toml"
    file.write_bytes(text.encode("latin-1"))

    with pytest.raises(hl.ConfigError) as caught:
        hl.load(file)

    assert caught.value.problems[0].where.line >= 1


def test_b17_the_file_of_another_tool_becomes_entries(place: Place) -> None:
    """A guard of Gemini CLI, converted, is an entry that fails the run when it exits with 2, and so guards on."""
    handler = {"type": "command", "command": "exit 2", "timeout": 5000}
    source = place.project / "settings.json"
    source.write_text(json.dumps({"hooks": {"BeforeTool": [{"hooks": [handler]}]}}))
    done = convert(source, to="meerkat")

    assert (1, ()) == (done.count, done.losses)
    place.write_rkat(done.text)
    told = place.exec(TOUCH)
    assert (1, False) == (told.code, place.mark)
