"""Reports of answers that were dropped or read by halves, under Meerkat: one object, one meaning, or a failed run."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.field_reports.meerkat_rig import (
    DENIES,
    GUARD,
    MARKED,
    QUIET,
    Json,
    calls,
    configuration,
    denial,
    entry,
    guard,
    live,
)
from tests.field_reports.rig import Place, call, specific
from tests.tool_rig import Willing

import hookline as hl
from hookline._core.messages import ToolSpec
from hookline._core.reasons import Failure
from hookline.journal import entries as en
from hookline.session.ports import CallContext, ToolResult


async def assert_no_answer(folder: Path, text: bytes, why: str) -> None:
    """What a guard prints fails the run for this reason, and the call is not made."""
    (folder / "said").write_bytes(text)
    lived = await live(folder, configuration(guard(f"cat {folder}/said")))

    [outcome] = lived.kept.outcomes("before_tool_call")
    assert (outcome.why, outcome.detail) == (Failure.MALFORMED_ANSWER, f"invalid command hook response: {why}")
    assert lived.result.reason == f"hook meerkat:guard failed: {outcome.detail}"
    assert not lived.mark


UNKNOWN: dict[str, Json] = {
    "patches": {"patches": []},
    "additionalContext": {"additionalContext": "hi"},
    "hookSpecificOutput": specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="no"),
    "continue": {"continue": False, "decision": None},
    "reason": {**denial(), "reason": "no"},
}


@pytest.mark.parametrize("key", UNKNOWN)
async def test_b27_a_member_beside_the_decision_is_refused_by_name(tmp_path: Path, key: str) -> None:
    """What a hook asks for in another dialect's words, or in those of an older release, is not dropped in silence."""
    await assert_no_answer(tmp_path, json.dumps(UNKNOWN[key]).encode(), f"unknown field `{key}`, expected `decision`")


@pytest.mark.parametrize("missing", ["hook_id", "reason_code", "message"])
async def test_b29_a_denial_that_lacks_a_member_fails_the_run(tmp_path: Path, missing: str) -> None:
    """The reason names the member; the call is not made, as it would not have been with it."""
    said = denial()
    del said["decision"][missing]

    await assert_no_answer(tmp_path, json.dumps(said).encode(), f"missing field `{missing}` in a deny")


@pytest.mark.parametrize("word", ["Deny", "block", "ask", "", None, True])
async def test_b29_a_decision_that_is_none_fails_the_run(tmp_path: Path, word: object) -> None:
    """Every word but `allow` and `deny` is a failure, those of other dialects and capital letters included."""
    said = {"decision": {"decision": word}}
    why = f"`decision.decision` has to be `allow` or `deny`, found {word!r}"

    await assert_no_answer(tmp_path, json.dumps(said).encode(), why)


async def test_b30_nothing_is_read_beside_a_failing_exit_status(tmp_path: Path) -> None:
    """A denial on standard output and exit 2: the run fails with the status, and the call is not made either way."""
    lived = await live(tmp_path, configuration(guard(f"{DENIES}; echo stop >&2; exit 2")))

    reason = "hook meerkat:guard failed: command hook exited with exit status: 2: stop"
    assert (lived.ending, lived.result.reason, lived.mark) == ("failed", reason, False)


@pytest.mark.parametrize("inherit_env", [True, False], ids=["inherited", "own"])
async def test_b31_chatter_before_the_answer_is_no_answer(tmp_path: Path, inherit_env: bool) -> None:
    """A profile's banner makes the response invalid, never an allow; with `inherit_env = false` no profile is read."""
    profile = tmp_path / "profile"
    profile.write_text("echo 'Welcome!'\n")
    chatty = {"type": "command", "command": str(shutil.which("bash")), "args": ["-c", QUIET]}
    own = {} if inherit_env else {"inherit_env": False}
    config = configuration(entry("guard", {**chatty, **own}, **GUARD))

    lived = await live(tmp_path, config, env={"BASH_ENV": str(profile)})

    assert lived.mark is not inherit_env
    if inherit_env:
        assert lived.result.reason == "hook meerkat:guard failed: invalid command hook response: expecting value"


async def test_b32_two_documents_are_no_answer(tmp_path: Path) -> None:
    """Nobody can say which of two was meant, not even where they say the same."""
    (tmp_path / "said").write_text("{}\n{}\n")
    lived = await live(tmp_path, configuration(guard(f"cat {tmp_path}/said")))

    assert not lived.mark
    assert str(lived.result.reason).startswith("hook meerkat:guard failed: invalid command hook response: ")


@pytest.mark.parametrize(("size", "fits"), [(1000, True), (1001, False)])
@pytest.mark.parametrize("code", [0, 3])
async def test_b34_the_cap_is_bytes_and_inclusive(tmp_path: Path, size: int, fits: bool, code: int) -> None:
    """As many bytes of an answer as `payload_max_bytes` says are read; over the cap the exit status is no matter."""
    (tmp_path / "said").write_text("{}".ljust(size))
    lived = await live(tmp_path, configuration(guard(f"cat {tmp_path}/said; exit {code}"), payload_max_bytes=1000))

    [outcome] = lived.kept.outcomes("before_tool_call")
    assert lived.mark is (fits and code == 0)
    assert fits or outcome.detail == "command stdout exceeds max size: 1001 > 1000"


@pytest.mark.parametrize("letters", ["a" * 1001, "é" * 501], ids=["bytes", "characters"])
async def test_b34_the_other_stream_has_the_same_cap(tmp_path: Path, letters: str) -> None:
    """Standard error over the cap is a failure beside a sound answer, too; bytes are counted, not characters."""
    (tmp_path / "said").write_text(letters)
    line = f"{QUIET}; cat {tmp_path}/said >&2"
    lived = await live(tmp_path, configuration(guard(line), payload_max_bytes=1000))

    size = len(letters.encode())
    assert lived.result.reason == f"hook meerkat:guard failed: command stderr exceeds max size: {size} > 1000"
    assert not lived.mark


@pytest.mark.parametrize("text", [b"", b" \n\t", b"\xef\xbb\xbf"], ids=["none", "blanks", "a mark"])
async def test_b09_empty_output_is_no_yes(tmp_path: Path, text: bytes) -> None:
    """A hook that has nothing to say says so with `{}`; silence with exit 0 fails the run."""
    (tmp_path / "said").write_bytes(text)
    lived = await live(tmp_path, configuration(guard(f"cat {tmp_path}/said")))

    assert (lived.ending, lived.mark) == ("failed", False)
    assert "invalid command hook response: " in str(lived.result.reason)


async def test_b42_a_byte_order_mark_before_an_answer_is_none_of_it(tmp_path: Path) -> None:
    """A response behind a mark counts, and what a hook is given begins with `{`."""
    (tmp_path / "said").write_bytes(b"\xef\xbb\xbf" + json.dumps(denial("marked")).encode())
    lived = await live(tmp_path, configuration(guard(f"head -c 1 > {tmp_path}/first; cat {tmp_path}/said")))

    assert lived.told == ["tool blocked by hook: marked"]
    assert (tmp_path / "first").read_bytes() == b"{"


GEAR = "⚙️.txt"
ASCII_ONLY = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


@pytest.mark.parametrize("env", [{}, ASCII_ONLY], ids=["any locale", "plain C"])
def test_b67_a_path_with_a_gear_reaches_the_guard(place: Place, env: dict[str, str]) -> None:
    """The envelope is UTF-8 whatever the locale says, and so is the message that comes back."""
    (place.project / "said").write_text(json.dumps(denial(f"no {GEAR}"), ensure_ascii=False), encoding="utf-8")
    place.write_rkat(configuration(guard("cat > payload; cat said")))

    told = place.exec(call("write_file", path=GEAR, content="x"), env=env)

    assert not (place.project / GEAR).exists()
    assert GEAR.encode() in (place.project / "payload").read_bytes()
    assert told.of(en.CallEnded)[0].text == f"tool blocked by hook: no {GEAR}"


async def test_b68_half_a_character_is_delivered_as_its_escape(tmp_path: Path) -> None:
    """A lone surrogate and a name that is no UTF-8 keep no guard from running, and arrive the same each time."""
    config = configuration(guard(f"cat >> {tmp_path}/payloads; echo >> {tmp_path}/payloads; {QUIET}"))
    given = {"p": "a\ud800b", "name": os.fsdecode(b"\xff.txt"), "nan": float("nan"), "big": 10**30}
    event = hl.BeforeToolCall(tool_name="bash", input=given)
    async with hl.load(written(tmp_path, config)) as engine:
        for _ in range(2):
            assert (await engine.dispatch(event)).outcomes[0].ok

    first, second = (tmp_path / "payloads").read_bytes().splitlines()
    assert first == second
    assert rb'"args":{"p":"a\ud800b","name":"\udcff.txt","nan":null,"big":1000000000000000000000000000000}' in first


def written(folder: Path, config: str) -> Path:
    file = folder / "hooks.toml"
    file.write_text(config)
    return file


@pytest.mark.parametrize("text", ["a" * 1999 + "😀" * 10, "é" * 3000], ids=["at the edge", "over and over"])
async def test_b69_a_long_message_is_cut_between_characters(tmp_path: Path, text: str) -> None:
    """Of standard error a failure repeats 2000 characters, whole ones."""
    (tmp_path / "said").write_text(text)
    lived = await live(tmp_path, configuration(guard(f"cat {tmp_path}/said >&2; exit 3")))

    detail = f"command hook exited with exit status: 3: {text[:2000]}"
    assert lived.result.reason == f"hook meerkat:guard failed: {detail}"


async def test_b69_bytes_that_are_no_text_are_told_as_such(tmp_path: Path) -> None:
    """Standard error that is no UTF-8 is part of a failure that is."""
    lived = await live(tmp_path, configuration(guard("printf 'bad \\377\\360\\237' >&2; exit 3")))

    assert str(lived.result.reason).endswith("exit status: 3: bad \ufffd\ufffd")


@pytest.mark.parametrize("name", ["hook_id", "reason_code", "message"])
@pytest.mark.parametrize("value", [None, 5, ["x"], {}], ids=["null", "number", "array", "object"])
async def test_b72_the_members_of_a_denial_are_strings(tmp_path: Path, name: str, value: Any) -> None:
    """Anything else voids the denial, null too: one rule for all; and void is no allow."""
    said = json.dumps(denial(**{name: value})).encode()

    await assert_no_answer(tmp_path, said, f"`{name}` in a deny has to be a string, found {value!r}")


STRICT: dict[str, tuple[str, str]] = {
    "nan": ('{"decision": NaN}', "is not JSON"),
    "twice": ('{"decision": null, "decision": null}', "duplicate key `decision`"),
    "twice below": ('{"decision": {"decision": "allow", "decision": "deny"}}', "duplicate key `decision`"),
    "twice in a payload": (json.dumps(denial(payload={"a": 1, "b": 2})).replace('"b"', '"a"'), "duplicate key `a`"),
    "deep": ('{"decision": ' + "[" * 5000 + "]" * 5000 + "}", "nested more than 128 levels deep"),
    "half": ('{"decision":', "expecting value"),
    "surrogate": (r'{"decision": "\ud800"}', "lone surrogate"),
    "huge": ('{"decision": 1e999}', "too large"),
    "array": ('[{"decision": null}]', "it is no JSON object"),
    "null": ("null", "it is no JSON object"),
    "word": ('{"decision": "allow"}', '`decision` is no object; write {"decision": {"decision": "allow"}}'),
}


@pytest.mark.parametrize("name", STRICT)
async def test_f22_an_answer_has_one_meaning(tmp_path: Path, name: str) -> None:
    """NaN, keys that stand twice at any depth, depth without end, halves: each fails the run, and says why."""
    text, why = STRICT[name]
    (tmp_path / "said").write_text(text)
    lived = await live(tmp_path, configuration(guard(f"cat {tmp_path}/said")))

    assert (lived.ending, lived.mark) == ("failed", False)
    assert why in str(lived.result.reason)


class Number(Willing):
    """A tool whose result has a number that JSON has no form for. Implements Tool."""

    spec = ToolSpec(name="number", description="Gives a number.", parameters={"type": "object"})

    async def call(self, input: Any, context: CallContext) -> ToolResult:
        return ToolResult(text="nan", response={"ratio": float("nan"), "count": 2**80})


async def test_f22_a_number_that_json_has_not_is_null_in_an_envelope(tmp_path: Path) -> None:
    """A result with such a number is told of all the same, as null, and integers keep every digit."""
    seen: list[Json] = []
    known = hl.Handlers()
    known.register("look", seen.append)
    line = f"cat > {tmp_path}/payload; {QUIET}"
    after = {**guard(line), "id": "after", "point": "post_tool_execution"}
    config = configuration(after, entry("look", calls("look"), point="post_tool_execution"))

    lived = await live(tmp_path, config, call("number"), tools=[Number()], handlers=known)

    assert lived.ending == "completed"
    [block] = json.loads((tmp_path / "payload").read_bytes())["tool_result"]["content_blocks"]
    assert block == {"type": "structured", "data": {"count": 2**80, "ratio": None}}
    assert len(seen) == 1


async def test_b59_an_envelope_that_a_handler_changes_is_nobodys_input(tmp_path: Path) -> None:
    """A handler that writes into what it was given changes no call: it runs as the model asked for it."""
    known = hl.Handlers()

    def meddles(envelope: Json) -> None:
        envelope["tool_call"]["args"]["command"] = "touch OTHER"

    known.register("meddles", meddles)
    lived = await live(tmp_path, configuration(entry("guard", calls("meddles"), **GUARD)), MARKED, handlers=known)

    assert not (tmp_path / "OTHER").exists()
    assert (lived.ending, lived.mark) == ("completed", True)
