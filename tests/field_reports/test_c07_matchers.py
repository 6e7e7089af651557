"""Reports of matchers that matched something else than meant: what cannot match is said at load, never at a call."""

import time
from pathlib import Path

from tests.field_reports.rig import TOUCH, Place, command, document, engine_for, group

import hookline as hl
from hookline.journal import entries as en

HOOK = command("exit 0")


def tool(name: str, *aliases: str) -> hl.BeforeToolCall:
    return hl.BeforeToolCall(tool_name=name, input={}, aliases=aliases)


async def matches(tmp_path: Path, matcher: str, *events: hl.BeforeToolCall) -> list[bool]:
    """Which of the events a hook behind *matcher* would be called for."""
    async with engine_for(tmp_path, document(PreToolUse=[group(HOOK, matcher=matcher)])) as engine:
        return [bool(engine.preview(event)) for event in events]


async def test_b60_a_servers_name_alone_is_an_exact_name(tmp_path: Path) -> None:
    """`mcp__notes` is a list of one exact name, which no tool of that server has; the prefix needs an expression."""
    events = tool("mcp__notes__add"), tool("mcp__notes"), tool("mcp__notes2__add")

    assert await matches(tmp_path, "mcp__notes", *events) == [False, True, False]
    assert await matches(tmp_path, "^mcp__notes__", *events) == [True, False, False]


async def test_b62_names_are_matched_whole(tmp_path: Path) -> None:
    """`Task` is neither `TaskCreate` nor whatever else the tool was renamed to."""
    assert await matches(tmp_path, "Task", tool("Agent"), tool("TaskCreate"), tool("Task")) == [False, False, True]


def test_b62_the_shell_answers_to_all_its_names(place: Place) -> None:
    """The table of aliases: each name matches the one tool, whose own name the payload has; the record has them all."""
    matchers = ["Bash", "shell", "bash", "Write|Bash", "^(Bash|Write)$", "*"]
    others = ["Write", "BASH", "^Bas$", "bash_input"]
    place.write_project(
        document(PreToolUse=[group(command("cat >> payloads"), matcher=each) for each in (*others, *matchers)])
    )

    told = place.exec(TOUCH)

    assert [outcome.hook.id for outcome in told.outcomes("before_tool_call")] == [
        f"hooks.json:PreToolUse[{number}].hooks[0]" for number in range(4, 10)
    ]
    assert (place.project / "payloads").read_text().count('"tool_name": "bash"') == len(matchers)
    assert told.dispatched("before_tool_call")[0].event["aliases"] == ["Bash", "shell"]


def test_b64_an_expression_that_does_not_compile_is_found_at_the_start(place: Place) -> None:
    """Each of five broken matchers costs its own group and a line; no call of the session raises for them."""
    broken = ["bash(", "[", "*x", "(?P<a", "(a|a)*" * 1667]
    place.write_project(document(PreToolUse=[*(group(HOOK, matcher=each) for each in broken), HOOK]))

    told = place.exec(TOUCH)

    assert place.mark
    assert told.code == 0
    assert [outcome.hook.id for outcome in told.outcomes("before_tool_call")] == ["hooks.json:PreToolUse[5].hooks[0]"]
    assert told.lines[2] == "hookline: Hooks: 1 runnable · 5 warnings"
    begin = "hookline:   hooks.json: InvalidMatcher: hook matcher `"
    assert [line.startswith(begin) for line in told.lines[3:6]] == [True, True, True]
    assert told.lines[6] == "hookline:   2 more hidden"


async def test_f22_no_expression_takes_forever(tmp_path: Path) -> None:
    """A matcher that makes a backtracking engine work for seconds on 27 characters is decided at once."""
    begun = time.monotonic()
    found = await matches(tmp_path, "^(a+)+$", tool("a" * 27 + "!"), tool("a" * 100_000 + "!"), tool("a" * 27))

    assert found == [False, False, True]
    assert time.monotonic() - begun < 1


def test_b65_a_matcher_where_there_is_nothing_to_match(place: Place) -> None:
    """On Stop and UserPromptSubmit any matcher but `*` costs its group; on PostToolBatch it is accepted and ignored."""
    place.write_project(
        document(
            Stop=[group(HOOK, matcher="foo"), group(HOOK, matcher="*")],
            UserPromptSubmit=[group(HOOK, matcher="foo")],
            PostToolBatch=[group(HOOK, matcher="foo")],
        )
    )

    told = place.exec(TOUCH)

    assert told.lines[2:5] == [
        "hookline: Hooks: 2 runnable · 2 warnings",
        "hookline:   hooks.json: InvalidMatcher: `stop` is unmatchable; drop this group's matcher",
        "hookline:   hooks.json: InvalidMatcher: `user_prompt_submit` is unmatchable; drop this group's matcher",
    ]
    assert [outcome.hook.id for body in told.of(en.Dispatched) for outcome in body.outcomes] == [
        "hooks.json:PostToolBatch[0].hooks[0]",
        "hooks.json:Stop[1].hooks[0]",
    ]
