"""Reports about text: bytes in, bytes out, UTF-8 always, and what JSON cannot say is refused or spelled out."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.field_reports.rig import Place, answering, call, command, document, engine_for, specific

import hookline as hl
from hookline._core.reasons import Failure
from hookline.journal import Damage, read
from hookline.journal import entries as en

GEAR = "⚙️.txt"
ASCII_ONLY = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


@pytest.mark.parametrize("env", [{}, ASCII_ONLY], ids=["any locale", "plain C"])
def test_b67_a_path_with_a_gear_reaches_the_guard(place: Place, env: dict[str, str]) -> None:
    """The payload is UTF-8 whatever the locale says, and so is the reason that comes back."""
    guard = f"cat > payload; grep -q '{GEAR}' payload && echo 'no {GEAR}' >&2 && exit 2"
    place.write_project(document(PreToolUse=[command(guard)]))

    told = place.exec(call("write_file", path=GEAR, content="x"), env=env, options=("--json",))

    assert not (place.project / GEAR).exists()
    assert GEAR.encode() in (place.project / "payload").read_bytes()
    assert told.of(en.CallEnded)[0].text == f"tool blocked by hook: no {GEAR}"
    assert [result["text"] for result in told.payloads("tool_result")] == [f"tool blocked by hook: no {GEAR}"]


def test_b67_what_no_terminal_can_show_is_no_crash(place: Place) -> None:
    """Where standard output and error take ASCII only, text beyond that is shown in another form, and nothing fails."""
    place.write_project(document(Stop=[command(answering({"systemMessage": GEAR}))]))

    told = place.exec({"say": GEAR}, env=ASCII_ONLY)

    assert told.code == 0
    assert "this is a bug" not in told.err


async def test_b68_half_a_character_is_delivered_as_its_escape(tmp_path: Path) -> None:
    """A lone surrogate and bytes that are no UTF-8 keep no guard from running: each arrives in one documented form."""
    event = hl.BeforeToolCall(
        tool_name="bash",
        input={"p": "a\ud800b", "bytes": b"\xff.txt", "name": os.fsdecode(b"\xff.txt"), "nan": float("nan")},
    )
    hooks = document(PreToolUse=[command(f"cat >> {tmp_path}/payloads")])
    journals = hl.JournalFolder(tmp_path / "sessions")
    recorder = journals.recorder("one")
    async with engine_for(tmp_path, hooks) as engine:
        for _ in range(2):
            assert (await engine.recording(recorder).dispatch(event)).outcomes[0].ok
    recorder.close()

    first, second = (tmp_path / "payloads").read_bytes().splitlines()
    assert rb'"tool_input": {"p": "a\ud800b", "bytes": "\\xff.txt", "name": "\udcff.txt", "nan": null}' in first
    assert first == second
    assert [each for each in read(tmp_path / "sessions" / "one.jsonl") if isinstance(each, Damage)] == []


def test_b69_a_cap_within_a_character_leaves_valid_text(place: Place) -> None:
    """Output cut in the middle of an emoji: record, stream and standard error are UTF-8 all the same."""
    (place.project / "long").write_bytes(b"a" * 16_383 + "😀".encode())
    place.write_project(document(PreToolUse=[command("cat long; cat long >&2")]))

    told = place.exec(call("bash", command="true"), options=("--json",))

    [outcome] = told.outcomes("before_tool_call")
    assert outcome.why == "output_too_large"
    [run] = told.payloads("hook_run_terminal")
    assert run["status"] == "failed"
    assert run["stdout"] == "a" * 16_383 + "�"


def test_b71_both_spellings_of_a_field_skip_the_hook(place: Place) -> None:
    """`commandWindows` and `command_windows` are one field: nobody can say which of two was meant."""
    both = command("exit 0", commandWindows="a", command_windows="b")
    place.write_project(document(Stop=[both, command("exit 0")]))

    told = place.exec()

    assert "hookline: Hooks: 1 runnable · 1 warning" in told.lines
    assert "UnsupportedHandler: `commandWindows` and `command_windows` are one field" in told.err


def test_b71_a_key_that_stands_twice_rejects_the_file(place: Place) -> None:
    """Two timeouts in one handler: the whole file contributes nothing, and the line says which key and where."""
    place.write_project(
        b'{"hooks": {"Stop": [{"hooks": [\n{"type": "command", "command": "exit 0", "timeout": 5, "timeout": 500}]}]}}'
    )

    told = place.exec()

    assert told.lines[2:] == [
        "hookline: Hooks: 0 runnable · 1 warning",
        "hookline:   hooks.json: MalformedConfig: malformed hook config: duplicate key `timeout` at line 2 column 56",
    ]


@pytest.mark.parametrize("value", [None, 5, ["x"], {}], ids=["null", "number", "array", "object"])
async def test_b72_context_is_a_string(tmp_path: Path, value: Any) -> None:
    """Anything else voids the answer, null too: one rule for all of them."""
    line = answering(specific("UserPromptSubmit", additionalContext=value))
    async with engine_for(tmp_path, document(UserPromptSubmit=[command(line)])) as engine:
        resolution = await engine.dispatch(hl.BeforeRun(prompt="go"))

    [outcome] = resolution.outcomes
    assert outcome.why is Failure.MALFORMED_ANSWER
    assert outcome.detail.endswith("additionalContext` must be a string")
    assert resolution.applied == ()


STRICT = {
    "nan": ('{"systemMessage": NaN}', "is not JSON"),
    "infinity": ('{"systemMessage": -Infinity}', "is not JSON"),
    "twice": ('{"systemMessage": "a", "systemMessage": "b"}', "duplicate key `systemMessage`"),
    "deep": ('{"systemMessage": ' + "[" * 5000 + "]" * 5000 + "}", "nested more than 100 levels deep"),
    "surrogate": (r'{"systemMessage": "\ud800"}', "lone surrogate"),
    "huge": ('{"systemMessage": 1e999}', "too large"),
}


@pytest.mark.parametrize("name", STRICT)
async def test_f22_an_answer_has_one_meaning(tmp_path: Path, name: str) -> None:
    """What Python's reader takes or trips over, ours refuses: NaN, keys that stand twice, depth without end."""
    text, why = STRICT[name]
    (tmp_path / "answer").write_text(text)
    async with engine_for(tmp_path, document(Stop=[command(f"cat {tmp_path}/answer")])) as engine:
        [outcome] = (await engine.dispatch(hl.BeforeRunEnd())).outcomes

    assert outcome.why is Failure.MALFORMED_ANSWER
    assert why in outcome.detail


@pytest.mark.parametrize("text", ['{"hooks": NaN}', '{"hooks": {}, "hooks": {}}', "[" * 100_000, "\ufeff{}"])
def test_f22_a_file_has_one_meaning(tmp_path: Path, text: str) -> None:
    """The same reader reads hook files: a fault is a problem with a place, a byte order mark is none."""
    file = tmp_path / "hooks.json"
    file.write_text(text, encoding="utf-8")

    if text.startswith("\ufeff"):
        assert hl.load(file).hooks() == ()
        return
    with pytest.raises(hl.ConfigError) as caught:
        hl.load(file)
    assert [problem.where.line for problem in caught.value.problems] == [1]


def test_f22_json_lines_are_plain_json(place: Place) -> None:
    """Every line of the stream is JSON that any strict reader takes."""
    told = place.exec(call("bash", command="true"), options=("--json",))

    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is not JSON")

    assert [json.loads(line, parse_constant=refuse) for line in told.out.splitlines()]
