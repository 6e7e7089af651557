"""What the command line makes of Meerkat's files: every problem with its place, overrides, and its events."""

import json
from typing import Any

import pytest
from tests.unit.cli.rig import Ended, Place, script

CONFIG = ".rkat/config.toml"


def sh(command: str) -> str:
    """A hook's runtime that is a shell."""
    return f'type = "command"\ncommand = "sh"\nargs = ["-c", {json.dumps(command)}]'


SILENT = sh("echo {}")


def entry(name: str, point: str = "run_started", runtime: str = SILENT, more: str = "") -> str:
    return f'[[hooks.entries]]\nid = "{name}"\npoint = "{point}"\n{more}[hooks.entries.runtime]\n{runtime}\n\n'


def refused(place: Place, *arguments: str) -> list[str]:
    """What was wrong with a configuration, a line each; nothing has begun."""
    ended = place.run("exec", "--trust-workspace", *arguments, "hello")
    assert (1, "") == (ended.code, ended.out), ended.err
    assert not place.sessions.exists()
    assert not place.inputs.exists()
    return ended.err.splitlines()


@pytest.mark.parametrize(
    ("text", "at", "said"),
    [
        (entry("a", point="pre_tool"), "3:9", '`point` must be one of the 14 hook points, found "pre_tool"'),
        (
            entry("a", point="pre_tool_execution", more='mode = "background"\ncapability = "guardrail"\n'),
            "4:8",
            "background",
        ),
        (
            entry("a", runtime='type = "in_process"\nhandler = "nobody"'),
            "1:1",
            "in-process handler 'nobody' not registered: there are none",
        ),
        (entry("a", runtime='type = "http"\nurl = "ftp://x"'), "6:7", "`url`"),
        (entry("a") + entry("a"), "10:6", "duplicate hook id: a"),
        (entry("a") + "[hooks\n", "9:7", "malformed TOML: expected ']' at the end of a table declaration"),
        ("[hooks]\ndefault_timeout_ms = -1\n", "2:22", "`default_timeout_ms` must be a whole number from 0"),
    ],
)
def test_a_problem_is_told_with_its_place(text: str, at: str, said: str, place: Place) -> None:
    """One line: the file, line and column of the value at fault, and what is wrong with it. Nothing starts."""
    file = place.write(CONFIG, text)

    (line,) = refused(place)

    assert line.startswith(f"{file}:{at}: "), line
    assert said in line


def test_every_problem_is_told_once_in_the_order_of_the_file(place: Place) -> None:
    """Whatever finds them: each has its line with place and message, and none waits for the next try."""
    file = place.write(
        CONFIG,
        entry("a", point="pre_tool")
        + entry("b", point="pre_tool_execution", more='mode = "background"\ncapability = "guardrail"\n')
        + entry("c", point="pre_tool")
        + entry("d", runtime='type = "http"\nurl = "ftp://x"'),
    )

    found = refused(place)

    assert [f"{file}:{at}: " for at in ("3:9", "12:8", "21:9", "32:7")] == [
        line[: line.index(" ") + 1] for line in found
    ]
    assert len(set(found)) == len(found)


def test_problems_of_two_files_stand_together_by_file(place: Place) -> None:
    """The project's first, then the user's: each under its own path."""
    project = place.write(CONFIG, entry("a", point="nope") + entry("b", point="nope"))
    user = place.home / CONFIG
    user.parent.mkdir()
    user.write_text(entry("c", point="nope"))

    found = refused(place)

    assert [f"{project}:3:9", f"{project}:11:9", f"{user}:3:9"] == [line.split(": ")[0] for line in found]


def test_a_note_beside_a_problem_stops_nothing_and_is_no_problem(place: Place) -> None:
    """What is only worth knowing does not stand among what has to be mended."""
    place.write(CONFIG, entry("a", point="nope", more="colour = 1\n"))

    (line,) = refused(place)

    assert "`point`" in line


def test_what_a_file_holds_cannot_forge_a_line(place: Place) -> None:
    """A value is quoted as it is written: it neither begins a line nor moves the cursor."""
    place.write(CONFIG, entry("a", point="x\\nhookline: all is well\\u001b[2J"))

    (line,) = refused(place)

    assert "\x1b" not in line


def test_a_folder_that_is_not_trusted_is_not_read_for_problems(place: Place) -> None:
    """Its hooks are held back, sound or not, and the session starts."""
    place.write(CONFIG, entry("a", point="nope"))

    ended = place.run("exec", "hello")

    assert (0, "echo: hello\n") == (ended.code, ended.out)
    assert any("folder not trusted" in line for line in ended.said)


def test_muse_s_text_stands_as_it_is(place: Place) -> None:
    """The text of a settings file that is malformed is Muse's, byte for byte; its place stands below under our name."""
    settings = place.home / ".config/muse/settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{\n  "managed_hooks_path" 3\n}')

    first, second = refused(place)

    assert f"malformed settings file at {settings}: expecting ':' delimiter at line 2 column 24" == first
    assert f"  at {settings}:2:24" == second


@pytest.fixture
def marking(place: Place) -> Place:
    """A project with two hooks that leave marks, and a model that says one word."""
    place.write(CONFIG, "".join(entry(name, runtime=sh(f"touch {name}; echo {{}}")) for name in "ab"))
    return place


def override(place: Place, given: Any) -> Ended:
    place.write("override.json", given if isinstance(given, str) else json.dumps(given))
    return place.run("exec", "--trust-workspace", "--hooks-override", "override.json", "hello")


def marks(place: Place) -> set[str]:
    return {path.name for path in place.project.iterdir()} & {"a", "b", "c"}


def test_an_override_adds_a_hook(marking: Place) -> None:
    """It runs after those of the files."""
    runtime = {"type": "command", "command": "sh", "args": ["-c", "test -e a && test -e b && touch c; echo {}"]}

    ended = override(marking, {"entries": [{"id": "c", "point": "run_started", "runtime": runtime}]})

    assert 0 == ended.code, ended.err
    assert {"a", "b", "c"} == marks(marking)


def test_an_override_disables_a_hook(marking: Place) -> None:
    """By its id, for this session."""
    ended = override(marking, {"disable": ["a"]})

    assert 0 == ended.code, ended.err
    assert {"b"} == marks(marking)


def test_an_override_holds_where_there_is_no_file(place: Place) -> None:
    """Who names the file vouches for it: a folder without hooks needs no trust for those of an override."""
    runtime = {"type": "command", "command": "sh", "args": ["-c", "touch c; echo {}"]}
    place.write("override.json", json.dumps({"entries": [{"id": "c", "point": "run_started", "runtime": runtime}]}))

    ended = place.run("exec", "--hooks-override", "override.json", "hello")

    assert (0, {"c"}) == (ended.code, marks(place))


@pytest.mark.parametrize(
    ("given", "at", "said"),
    [
        ('{"entries": [{"id": "c",', "1:25", "malformed JSON"),
        ('{\n "entries": [\n  {"id": "c", "point": "nope"}]}', "3:24", "`point` must be one of the 14 hook points"),
        ('{"entries": [{"id": "c", "point": 3, "mode": "later"}]}', "1:35", "`point` must be "),
        ('{"entries": [{"id": "a", "point": "run_started"}]}', "1:21", "duplicate hook id: a"),
        ("[]", "1:1", "overrides must be an object with `entries` and `disable`, found an array"),
    ],
)
def test_an_override_that_is_wrong_starts_nothing(given: str, at: str, said: str, marking: Place) -> None:
    """Line and column of the value at fault, and exit code 1; an id of the files is not repeated."""
    ended = override(marking, given)

    assert (1, "") == (ended.code, ended.out)
    assert set() == marks(marking)
    first = ended.err.splitlines()[0]
    assert f":{at}: " in first, first
    assert said in first


def test_an_override_tells_every_problem(marking: Place) -> None:
    """As a file does."""
    ended = override(marking, '{"entries": [{"id": "c", "point": 3, "mode": "later"}]}')

    assert ["1:35", "1:46"] == [line.split(": ")[0].partition(":")[2] for line in ended.err.splitlines()]


def test_an_override_that_cannot_be_read_is_named(marking: Place) -> None:
    """With the system's reason."""
    ended = marking.run("exec", "--hooks-override", "none.json", "hello")

    assert (1, "") == (ended.code, ended.out)
    assert "cannot read the overrides in none.json: No such file or directory" in ended.err


def test_meerkat_s_events_are_written_one_a_line(place: Place) -> None:
    """With --json --events meerkat standard output has its agent events about hooks, and nothing else."""
    denial = {"decision": "deny", "hook_id": "guard", "reason_code": "policy_violation", "message": "not here"}
    place.write("deny.json", json.dumps({"decision": denial}))
    place.write(
        CONFIG,
        entry("seen")
        + entry(
            "guard",
            point="pre_tool_execution",
            runtime=sh("cat deny.json"),
            more='capability = "guardrail"\n',
        ),
    )
    place.write("steps.yaml", script({"call": {"tool": "bash", "input": {"command": "true"}}}, {"say": "done"}))
    playing = ("--provider", "script", "--model", "steps.yaml", "--approval-mode", "never")

    ended = place.run("exec", "--trust-workspace", *playing, "--json", "--events", "meerkat", "go")

    assert 0 == ended.code, ended.err
    told = [json.loads(line) for line in ended.out.splitlines()]
    expected = [("hook_started", "seen"), ("hook_completed", "seen")]
    expected += [(kind, "guard") for kind in ("hook_started", "hook_completed", "hook_denied")]
    assert expected == [(each["type"], each["hook_id"]) for each in told]
    assert ("policy_violation", "not here") == (told[-1]["reason_code"], told[-1]["message"])


def test_events_alone_leave_the_text_as_it_is(place: Place) -> None:
    """Without --json the answers are printed, whoever's events would be."""
    assert "echo: hello\n" == place.run("exec", "--events", "meerkat", "hello").out


@pytest.mark.parametrize("arguments", [("--events", "another"), ("--events", "")])
def test_other_events_are_wrong_usage(arguments: tuple[str, ...], place: Place) -> None:
    """Those that there are get named."""
    ended = place.run("exec", *arguments, "hello")

    assert 2 == ended.code
    assert "'muse', 'meerkat', 'murmur'" in ended.err
