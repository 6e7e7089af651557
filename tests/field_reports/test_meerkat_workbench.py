"""Reports that nobody should have had to make, under Meerkat: what the workbench says of them beforehand."""

import json

from tests.field_reports.meerkat_rig import GUARD, QUIET, asks, configuration, entry, guard, runs
from tests.field_reports.rig import Place

LS = ("pre_tool_execution", "--tool", "bash", "--input", '{"command": "ls"}')
DENIAL = {"decision": "deny", "hook_id": "guard", "reason_code": "policy_violation", "message": "no"}
DENIES = f"echo '{json.dumps({'decision': DENIAL})}'"


def test_b18_milliseconds_that_are_meant_as_seconds_are_doubted(place: Place) -> None:
    """`timeout_ms = 5` is over before most programs have started."""
    place.write_rkat(configuration(guard(QUIET, timeout_ms=5)))

    assert "write 5000 if 5 seconds were meant" == place.findings()["TimeoutUnit"]["remedy"]


def test_b21_whatever_keeps_an_entry_from_running_is_named(place: Place) -> None:
    """A folder that is not trusted; a switch; an entry of the same id that comes first."""
    place.write_users_rkat(configuration(guard(QUIET), entry("mine", runs(QUIET))))
    place.write_rkat(configuration(guard(QUIET), entry("off", runs(QUIET), enabled=False)))

    def why(*options: str) -> dict[tuple[str, str], str]:
        (told,) = json.loads(place.run("explain", *LS, "--json", *options).stdout)
        return {(each["hook"], each["layer"]): each["why"] for each in told["dialects"][0]["hooks"]}

    held = why()
    assert "folder not trusted" == held["meerkat:guard", "context"]
    assert "" == held["meerkat:mine", "active"]
    trusted = why("--trust-workspace")
    assert ("", "") == (trusted["meerkat:guard", "active"], trusted["meerkat:mine", "user"])
    assert "switched off by `enabled = false`" == trusted["meerkat:off", "active"]
    assert "another file's entry of this id comes first" == trusted["meerkat:guard", "user"]


def test_b28_an_answer_of_another_dialect_is_refused_with_its_reason(place: Place) -> None:
    """Which key there may be."""
    done = place.run("test", "--answer", "-", "--point", "pre_tool_execution", stdin='{"continue": true}')

    assert "meerkat  pre_tool_execution  no answer" in done.stdout
    assert "unknown field `continue`, expected `decision`" in done.stdout


def test_b75_a_variable_in_an_argument_is_said_to_be_passed_on(place: Place) -> None:
    """No shell expands it; in the line of one that is asked for, it is another tool's."""
    plain = {"type": "command", "command": "cat", "args": ["$CLAUDE_PROJECT_DIR/x"]}
    place.write_rkat(configuration(entry("a", plain)))
    assert "the command gets the name itself" == place.findings()["VariableNotSet"]["effect"]

    place.write_rkat(configuration(entry("a", runs("cat $CLAUDE_PROJECT_DIR/x"))))
    assert "Claude Code" in place.findings()["VariableNotSet"]["message"]


def test_b81_what_to_read_instead_is_said(place: Place) -> None:
    """The event comes on standard input."""
    place.write_rkat(configuration(entry("a", runs("echo $TOOL_NAME >> log"))))

    assert "standard input" in place.findings()["VariableNotSet"]["remedy"]


def test_b84_an_entry_that_was_changed_since_it_was_locked_is_held_back(place: Place) -> None:
    """And runs again once it is what it was."""
    config = configuration(guard(QUIET))
    place.write_rkat(config)
    place.run("trust", "--yes")
    place.run("trust", "--lock")

    def held() -> set[str]:
        return {each["held_back"] for each in json.loads(place.run("list", "--json").stdout)}

    assert {""} == held()
    place.write_rkat(config.replace("guardrail", "observe"))
    assert {"its definition changed since it was locked"} == held()
    place.write_rkat(config)
    assert {""} == held()


def test_b93_an_entry_is_tried_without_a_session(place: Place) -> None:
    """What crossed and what came of it: a denial, and an endpoint that is down, which fails the run."""
    place.write_rkat(configuration(guard(DENIES)))
    denied = place.run("fire", *LS, "--trust-workspace")
    assert (1, True) == (denied.returncode, "=>  deny by meerkat:guard: no" in denied.stdout)

    place.write_rkat(configuration(entry("far", asks("http://127.0.0.1:1/x"), **GUARD)))
    down = place.run("fire", *LS, "--trust-workspace")
    assert (1, True) == (down.returncode, "=>  run failed by meerkat:far" in down.stdout)
