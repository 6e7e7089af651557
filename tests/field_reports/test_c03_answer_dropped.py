"""Reports of answers that were dropped or read by halves: a dropped answer is an outcome, never nothing."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.field_reports.rig import TOUCH, Place, answering, bash, command, document, engine_for, rewriting, specific

import hookline as hl
from hookline.journal import entries as en
from hookline.session.ports import ApprovalRequest, Verdict

CAP = 16_384


def test_b27_context_at_the_top_level_is_refused_by_name(place: Place) -> None:
    """`additionalContext` outside `hookSpecificOutput` voids the answer; the reason says where it belongs."""
    place.write_project(document(UserPromptSubmit=[command(answering({"additionalContext": "hi"}))]))

    told = place.exec()

    [outcome] = told.outcomes("before_run")
    assert (outcome.kind, outcome.why) == ("failed", "malformed_answer")
    assert "`additionalContext` belongs inside `hookSpecificOutput`" in outcome.detail
    assert outcome.detail in told.lines[-1]
    assert told.of(en.ContextAdded) == []
    assert told.code == 0


def test_b29_a_denial_without_the_events_name_is_void_and_says_so(place: Place) -> None:
    """Without `hookEventName` nothing of the answer counts; the reason names the key and the value it needs."""
    answer = {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}
    place.write_project(document(PreToolUse=[command(answering(answer))]))

    told = place.exec(TOUCH)

    assert place.mark
    [outcome] = told.outcomes("before_tool_call")
    assert outcome.why == "malformed_answer"
    assert outcome.detail == "`hookSpecificOutput` is missing the required `hookEventName` (expected `PreToolUse`)"
    assert outcome.detail in told.lines[-1]


def test_b30_exit_two_comes_before_any_json(place: Place) -> None:
    """On exit 2 the reason is standard error's; the JSON beside it is not read, and the trace says that it was not."""
    answer = answering(specific("PreToolUse", additionalContext="never read"))
    place.write_project(document(PreToolUse=[command(f"{answer}; echo stop >&2; exit 2")]))

    told = place.exec(TOUCH)

    assert not place.mark
    [outcome] = told.outcomes("before_tool_call")
    assert outcome.decision == en.Decision(decision="deny", reason="stop")
    assert outcome.notes == ("stdout JSON not read on exit 2",)
    assert told.of(en.ContextAdded) == []
    assert "stdout JSON not read on exit 2" in place.trace()


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_b31_no_profile_speaks_before_the_hook(place: Place, shell: str) -> None:
    """A hook's shell is neither a login nor an interactive one, and never hears of `ENV` or `BASH_ENV`."""
    banner = place.root / "profile"
    banner.write_text("echo 'Welcome!'\n")
    for name in (".profile", ".bashrc", ".bash_profile"):
        (place.root / "home").mkdir(exist_ok=True)
        shutil.copy(banner, place.root / "home" / name)
    place.write_project(document(PreToolUse=[command("echo '{}'")]))

    env = {"SHELL": str(shutil.which(shell)), "ENV": str(banner), "BASH_ENV": str(banner)}
    told = place.exec(bash("true"), env=env)

    [outcome] = told.outcomes("before_tool_call")
    assert (outcome.kind, outcome.stdout, outcome.notes) == ("answered", "{}\n", ())


def test_b31_output_that_starts_as_text_is_text(place: Place) -> None:
    """Chatter before the JSON makes it all text: ignored at a tool call, with a note and the text on record."""
    place.write_project(document(PreToolUse=[command("echo Welcome; echo '{\"nonsense\": 1}'")]))

    told = place.exec(bash("true"))

    [outcome] = told.outcomes("before_tool_call")
    assert (outcome.kind, outcome.notes) == ("answered", ("text on standard output is ignored at PreToolUse",))
    assert outcome.stdout == 'Welcome\n{"nonsense": 1}\n'
    trace = place.trace()
    assert "text on standard output is ignored at PreToolUse" in trace
    assert "stdout  Welcome" in trace


def test_b32_two_documents_are_no_answer(place: Place) -> None:
    """Nobody can say which of two documents was meant: their number and the second one's offset are the reason."""
    place.write_project(document(Stop=[command("echo '{\"continue\":true}'; echo '{\"continue\":true}'")]))

    told = place.exec()

    [outcome] = told.outcomes("before_run_end")
    assert (outcome.kind, outcome.why) == ("failed", "malformed_answer")
    assert outcome.detail.endswith("2 JSON documents on stdout (second starts at byte 18)")
    assert outcome.detail in told.lines[-1]


def test_b32_no_hook_is_told_that_an_agent_runs_it(place: Place) -> None:
    """Marks by which tools know that an agent called them do not reach hooks: tools print more when they see one."""
    place.write_project(document(Stop=[command("env > env.txt")]))

    place.exec(env={"CLAUDECODE": "1", "AI_AGENT": "muse", "AGENT": "1", "MUSE_SESSION_ID": "x"})

    names = {line.partition("=")[0] for line in (place.project / "env.txt").read_text().splitlines()}
    assert names == {"HOME", "PATH", "SHELL", "PWD"}


def printing(place: Place, name: str, text: bytes) -> str:
    (place.project / name).write_bytes(text)
    return f"cat {name}"


SIZES = [("fits", CAP, "a"), ("over", CAP + 1, "a"), ("wide-fits", CAP // 2, "é"), ("wide-over", CAP // 2 + 1, "é")]


@pytest.mark.parametrize(("stream", "redirect"), [("stdout", ""), ("stderr", " >&2")])
def test_b34_the_cap_is_bytes_and_inclusive(place: Place, stream: str, redirect: str) -> None:
    """16,384 bytes of either stream are read; one more and the hook has failed, with the cap and the size on record."""
    lines = [printing(place, name, (letter * count).encode()) + redirect for name, count, letter in SIZES]
    place.write_project(document(SessionStart=[command(line) for line in lines]))

    told = place.exec()

    fits, over, wide_fits, wide_over = told.outcomes("session_start")
    assert [outcome.kind for outcome in (fits, wide_fits)] == ["answered", "answered"]
    assert [outcome.why for outcome in (over, wide_over)] == ["output_too_large", "output_too_large"]
    assert over.detail == (
        f"output_too_large: hook {stream} exceeded its {CAP}-byte ceiling; "
        "the process tree was terminated and no stream was parsed"
    )
    assert getattr(over, f"{stream}_size") >= CAP
    kept = [added.text for added in told.of(en.ContextAdded)]
    assert kept == (["a" * CAP, "é" * (CAP // 2)] if stream == "stdout" else [])


REWRITE = rewriting(command="touch REWRITTEN")
ASK = answering(specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="look at this"))


def test_b35_a_rewrite_survives_the_approval(place: Place) -> None:
    """One hook rewrites, another asks: whoever approves is shown the new input, and the new input runs."""
    approve = answering(specific("PermissionRequest", decision={"behavior": "allow"}))
    place.write_project(
        document(PreToolUse=[command(REWRITE), command(ASK)], PermissionRequest=[command(f"cat >asked; {approve}")])
    )

    told = place.exec(TOUCH, options=("--approval-mode", "on-request"))

    assert not place.mark
    assert (place.project / "REWRITTEN").exists()
    assert '"command": "touch REWRITTEN"' in (place.project / "asked").read_text()
    first, second = told.outcomes("before_tool_call")
    assert [effect["effect"] for effect in first.effects] == ["rewrite_input"]
    assert second.decision == en.Decision(decision="ask", reason="look at this")
    trace = place.trace()
    assert "rewrite_input" in trace
    assert "ask" in trace


async def test_b35_the_person_sees_what_will_run(tmp_path: Path) -> None:
    """The prompt holds the rewritten input and the reason of the hook that asked."""
    prompts: list[ApprovalRequest] = []

    async def approve(request: ApprovalRequest) -> Verdict:
        prompts.append(request)
        return Verdict(allowed=True)

    model = hl.ScriptModel.parse("steps: [{call: {tool: bash, input: {command: touch MARK}}}]")
    async with engine_for(tmp_path, document(PreToolUse=[command(REWRITE), command(ASK)])) as engine:
        session = hl.Session(
            engine,
            model=model,
            tools=hl.tools(),
            workspace=tmp_path,
            approval=hl.ApprovalMode.ON_REQUEST,
            approver=approve,
        )
        async with session:
            await session.run("go")

    expected: dict[str, Any] = {"command": "touch REWRITTEN"}
    assert [(prompt.input, prompt.reason) for prompt in prompts] == [(expected, "look at this")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["REWRITTEN", "hooks.json"]
