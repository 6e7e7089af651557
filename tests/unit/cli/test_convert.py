"""`hookline convert`: its exit codes, where it writes, and what it says."""

import json
import tomllib
from typing import Any

import pytest
from tests.unit.cli.rig import Place

from hookline._cli.commands import convert as command


def hooks(**events: list[dict[str, Any]]) -> str:
    return json.dumps({"hooks": {name: [{"hooks": handlers}] for name, handlers in events.items()}})


GUARD = {"type": "command", "command": "guard"}
LOGS = {"type": "command", "command": "log", "async": True}
FLAWLESS = hooks(PreToolUse=[GUARD], UserPromptSubmit=[LOGS])


def test_everything_is_converted(place: Place) -> None:
    """0, the file on standard output and nothing else there, one note on standard error."""
    place.write("hooks.json", FLAWLESS)
    done = place.run("convert", "hooks.json", "--to", "meerkat")

    assert 0 == done.code
    entries = tomllib.loads(done.out)["hooks"]["entries"]
    assert [("foreground", "guardrail"), ("background", "observe")] == [
        (entry["mode"], entry["capability"]) for entry in entries
    ]
    (note,) = done.said
    assert note.startswith("hookline: note: commands are copied as they stand;")


LOST = [
    ({"matcher": "Bash", "hooks": [GUARD]}, "an entry has no matcher: it is asked about all that happens"),
    ({"hooks": [{**GUARD, "if": "Bash(git *)"}]}, "an entry has no condition"),
    ({"hooks": [{**GUARD, "onFailure": GUARD}]}, "there are no fallbacks"),
    ({"hooks": [{**GUARD, "statusMessage": "a\x1b[2Jb"}]}, 'shows nothing while it runs: "a\\\\u001b[2Jb" is lost'),
    ({"hooks": [{**GUARD, "commandWindows": "guard.exe"}]}, "its command for Windows (`commandWindows`) is lost"),
]


@pytest.mark.parametrize(("group", "why"), LOST)
def test_what_is_lost_is_told(place: Place, group: dict[str, Any], why: str) -> None:
    """1, and one line for each loss that names the hook; the hook is there."""
    place.write("hooks.json", json.dumps({"hooks": {"PreToolUse": [group]}}))
    done = place.run("convert", "hooks.json", "--to", "meerkat")

    assert 1 == done.code
    lines = [line for line in done.said if "note:" not in line]
    assert 1 == len(lines)
    assert lines[0].startswith("hookline: hooks.json:PreToolUse[0].hooks[0]: ")
    assert why.replace("\\\\", "\\") in lines[0]
    assert 1 == len(tomllib.loads(done.out)["hooks"]["entries"])


ENTRY = '[[hooks.entries]]\nid = "a"\n{}\n[hooks.entries.runtime]\n{}\n'
RUNS = 'type = "command"\ncommand = "x"'
BEFORE = 'point = "pre_tool_execution"'
OUT = [
    (
        ENTRY.format(BEFORE, 'type = "http"\nurl = "https://example.com/"'),
        "only commands run here, and this is a request",
    ),
    (ENTRY.format(BEFORE, 'type = "in_process"\nhandler = "x"'), "this is a handler in Python"),
    (ENTRY.format(BEFORE, RUNS + '\nenv = { TOKEN = "secret" }'), "no variables of its own here (TOKEN)"),
    (ENTRY.format(BEFORE + "\nenabled = false", RUNS), "it is not enabled"),
    (ENTRY.format('point = "turn_boundary"', RUNS), "there is no event here for step_end"),
    (
        ENTRY.format('point = "post_tool_execution"\ncapability = "guardrail"', RUNS),
        "nothing can be denied at PostToolUse",
    ),
]


@pytest.mark.parametrize(("config", "why"), OUT)
def test_what_would_not_be_the_same_hook_is_left_out(place: Place, config: str, why: str) -> None:
    """1, the reason, and where nothing remains no file either. No value of a variable is repeated."""
    place.write("config.toml", config)
    done = place.run("convert", "config.toml", "--to", "muse", "--output", "hooks.json")

    assert (1, "") == (done.code, done.out)
    assert done.said[0].startswith("hookline: meerkat:a: left out: ")
    assert why in done.said[0]
    assert "hookline: config.toml: no hook of it can be written for muse" == done.said[-1]
    assert not (place.project / "hooks.json").exists()
    assert "secret" not in done.err


def test_hooks_with_priorities_stand_in_their_order(place: Place) -> None:
    """Where all start at once the order of the file is what is left of it, and that is told."""
    entries = [ENTRY.format(f"{BEFORE}\npriority = {number}", RUNS) for number in (9, 3)]
    place.write("config.toml", entries[0] + entries[1].replace('"a"', '"b"').replace('"x"', '"first"'))
    done = place.run("convert", "config.toml", "--to", "muse")

    (group,) = json.loads(done.out)["hooks"]["PreToolUse"]
    assert ["first", "x"] == [handler["command"] for handler in group["hooks"]]
    assert "priority 3 is only its place in the file" in done.err


WRONG = [
    (["hooks.json", "--to", "murmur"], "--to murmur: its hooks are WebAssembly components"),
    (["hooks.json", "--to", "code"], "there is no such dialect to write; write one of muse, meerkat"),
    (["hooks.json", "--to", "muse"], "this is a file for muse already"),
    (["hooks.json", "--to", "meerkat", "--from", "vim"], "--from vim: that is nothing to convert from; there are muse"),
    (["hooks.json", "--to", "meerkat", "--force"], "--force is for the file that --output names"),
    (["hooks.json", "--to", "meerkat", "--output", "hooks.json"], "hooks.json: there is such a file already"),
    (["capsule.yaml", "--to", "muse"], "this is for murmur, and its hooks are WebAssembly components"),
    (["inline.toml", "--to", "meerkat"], "whose files end in .json; if it was written for another tool"),
    (["either.json", "--to", "muse"], "nothing in it tells which tool it was written for; name one by --from"),
    (["hooks.json"], "Missing option '--to'"),
]


@pytest.mark.parametrize(("arguments", "why"), WRONG)
def test_wrong_usage(place: Place, arguments: list[str], why: str) -> None:
    """2, one clear line, and nothing is written."""
    place.write("hooks.json", FLAWLESS)
    place.write("capsule.yaml", "artifacts:\n- {name: a, version: 1.0.0, runtime: hook}\n")
    place.write("inline.toml", '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "x"\n')
    place.write("either.json", '{"version": 1, "hooks": {"preToolUse": [{"command": "x"}]}}')
    done = place.run("convert", *arguments)

    assert (2, "") == (done.code, done.out)
    assert why in done.err
    assert FLAWLESS == (place.project / "hooks.json").read_text()


BAD = [
    ("no.json", None, "there is no such file"),
    ("a.json", b'{"hooks": ', "a.json:1:11: malformed JSON"),
    ("a.json", b"\xff", "malformed JSON"),
    ("a.json", b'{"hooks": {"BeforeTool": []}}', "there are no hooks in it"),
    ("a.json", b'{"hooks": {"PreToolUse": 5, "Stop": []}}', "hook event `PreToolUse` must be an array"),
    ("a.toml", b"[", "a.toml: malformed: "),
    ("a.toml", b'[[hooks.entries]]\npoint = "PreToolUse"', "`point` must be one of the 14 hook points"),
    ("a.yaml", b"a: &b [*b]\n", "a.yaml: malformed: line 1"),
]


@pytest.mark.parametrize(("name", "data", "why"), BAD)
def test_a_bad_file_is_one_line(place: Place, name: str, data: bytes | None, why: str) -> None:
    """1, which file and why."""
    if data is not None:
        place.write(name, data)
    done = place.run("convert", name, "--to", "muse" if name.endswith("toml") else "meerkat")

    assert (1, "") == (done.code, done.out)
    assert 1 == len(done.said)
    assert why in done.said[0]


def test_a_file_is_overwritten_by_force_alone(place: Place) -> None:
    """Under the name that was given, in a folder that is made; nothing else is left there."""
    place.write("hooks.json", FLAWLESS)
    place.write(".rkat/config.toml", "old = true\n")
    place.run("convert", "hooks.json", "--to", "meerkat", "--output", ".rkat/config.toml", "--force")
    place.run("convert", "hooks.json", "--to", "meerkat", "--output", "new/config.toml")

    for folder in (".rkat", "new"):
        (path,) = (place.project / folder).iterdir()
        assert path.read_text().startswith("[[hooks.entries]]")


def test_the_help_fits_a_terminal() -> None:
    """Its examples, too, which can be copied."""
    with command.COMMAND.make_context("convert", [], resilient_parsing=True, terminal_width=80) as context:
        text = command.COMMAND.get_help(context)

    assert [] == [line for line in text.splitlines() if len(line) > 80]
    assert "hookline convert .muse/hooks.json --to meerkat" in text
