from typing import Any

import pytest

from hookline._core import events as ev
from hookline.dialects.muse.rules import BY_NAME
from hookline.dialects.muse.selector import compile_selector, simple_commands

PRE_TOOL_USE = BY_NAME["PreToolUse"]


def shell_call(command: Any) -> ev.BeforeToolCall:
    return ev.BeforeToolCall(tool_name="bash", aliases=("Bash", "shell"), input={"command": command})


def selects(selector: str, event: ev.BeforeToolCall) -> bool:
    condition = compile_selector(selector, PRE_TOOL_USE)
    assert not isinstance(condition, str)
    return condition(event)


# (selector, command, whether the hook is called)
CASES = [
    ("Bash", "anything at all", True),
    ("Bash(*)", "anything at all", True),
    ("Bash(npm test)", "npm test", True),
    ("Bash(npm test)", "  npm test\n", True),
    ("Bash(npm test)", "npm test --watch", False),
    ("Bash(npm test)", "npm  test", True),
    ("Bash(git *)", "git status", True),
    ("Bash(git *)", "git", True),
    ("Bash(git *)", "gitk", False),
    ("Bash(git *)", "ls", False),
    ("Bash(git *)", "ls git status", False),
    ("Bash(git:*)", "git status", True),
    ("Bash(git:*)", "git", True),
    ("Bash(git:*)", "gitk", False),
    ("Bash(npm run test:*)", "npm run test:unit", True),
    ("Bash(git*)", "gitk", True),
    ("Bash(git push*--force*)", "git push origin main --force-with-lease", True),
    ("Bash(git push*--force*)", "git push origin main", False),
    ("Bash(*.sh)", "run.sh && ls", True),
    ("Bash(a*a)", "a", False),
    ("Bash(GIT *)", "git status", False),
    ("Bash(git ?tatus)", "git status", False),
    ("Bash(rm (x))", "rm (x)", True),
    ("Bash(git *)", "cd x && git status", True),
    ("Bash(git *)", "ls || git status", True),
    ("Bash(git *)", "ls; git status", True),
    ("Bash(git *)", "ls | git apply", True),
    ("Bash(git *)", "ls & git status", True),
    ("Bash(git *)", "ls\ngit status", True),
    ("Bash(ls && *)", "ls && git status", True),
    ("Bash(git *)", "GIT_DIR=x FOO='a b' git status", True),
    ("Bash(git *)", "if true; then git push; fi", True),
    ("Bash(git *)", "! git push", True),
    ("Bash(git *)", "{ git push; }", True),
    ("Bash(git *)", "echo '; git status'", False),
    ("Bash(git *)", 'echo "&& git status"', False),
    ("Bash(git *)", "echo \\; git status", False),
    ("Bash(git *)", "'git' status", True),
    ("Bash(git *)", 'g"i"t status', True),
    ("Bash(git *)", "g\\it status", True),
    ("Bash(git *)", "gi\\\nt status", True),
    ("Bash(git *)", "ls > x 2>&1; git status", True),
    ("Bash(1)", "ls 2>&1", False),
    ("Bash(git *)", "echo $HOME ${x:-y}", False),
    ("Bash(git *)", "echo $(git status)", True),
    ("Bash(rm *)", "echo $(git status)", True),
    ("Bash(rm *)", "echo `x`", True),
    ("Bash(rm *)", 'echo "$(x)"', True),
    ("Bash(rm *)", "(ls)", True),
    ("Bash(rm *)", "echo 'open", True),
    ("Bash(rm *)", 'echo "open', True),
    ("Bash(rm *)", "$TOOL -rf x", True),
    ("Bash(rm *)", "ls $TOOL", False),
    ("Bash(rm *)", "", False),
    ("Bash(rm *)", "2>/dev/null rm -rf x", True),
    ("Bash(rm *)", "> o rm -rf x", True),
    ("Bash(rm *)", "rm>o -rf x", True),
    ("Bash(rm *)", "&>o rm -rf x", True),
    ("Bash(rm *)", "ls 2> /dev/null >> o", False),
    ("Bash(rm *)", "ls > rm x", False),
    ("Bash(rm -rf x)", "rm -rf x 2> o", True),
    ("Bash(rm -rf x 2> o)", "rm -rf x 2> o", True),
    ("Bash(rm *)", "a[0]=1 rm -rf x", True),
    ("Bash(rm *)", "{rm,-rf,x}", True),
    ("Bash(rm *)", "/bin/r?", True),
    ("Bash(rm *)", "~/rm x", True),
    ("Bash(rm *)", "[ -f x ]", False),
    ("Bash(rm *)", "[[ -f x ]]", False),
    ("Bash(rm *)", "time -p rm -rf x", True),
    ("Bash(rm *)", "coproc rm -rf x", True),
    ("Bash(rm *)", "function f { rm -rf x", True),
    ("Bash(rm *)", "eval 'rm -rf x'", True),
    ("Bash(rm *)", "command ls", True),
    ("Bash(rm *)", "cat <<E\n'\nE\nls\ncat <<E\n'\nE", True),
    ("Bash(rm *)", "cat <<< x", False),
    ("Bash(rm *)", "echo $'\\'' ; ls #'", True),
    ("Bash(rm *)", "ls # it's\nrm x # '", True),
    ("Bash(rm *)", "ls # it's rm x", False),
    ("Bash(rm *)", "ls a#'b", True),
    ("Bash(rm *)", "ls *.py ~/x {a,b}", False),
    ("Bash(rm *)", "echo ${x:- #a}; ls", True),
    ("Bash(rm *)", 'echo "${x:-"a #b"}"; ls', True),
    ("Bash(rm *)", "echo a${x:-\t#}; ls", True),
    ("Bash(rm *)", 'echo "${x:-y}" ${#x} ${x##*/}', False),
]


@pytest.mark.parametrize(("selector", "command", "called"), CASES, ids=[f"{a} / {b!r}" for a, b, _ in CASES])
def test_which_commands_a_selector_takes(selector: str, command: str, called: bool) -> None:
    """L29: a hook is called if any command of the line, or the whole line, matches, or if that cannot be told."""
    assert called == selects(selector, shell_call(command))


def test_only_shell_calls_are_selected() -> None:
    """A call of any other tool is not meant by a selector, however it looks."""
    event = ev.BeforeToolCall(tool_name="read_file", aliases=("Read",), input={"command": "git status"})

    assert not selects("Bash", event)
    assert not selects("Bash(git *)", event)


@pytest.mark.parametrize("input", [{}, {"command": 5}, "git", None, ["git"]], ids=repr)
def test_a_call_without_a_command_cannot_be_ruled_out(input: Any) -> None:
    """Where there is no command to look at, the hook is called."""
    assert selects("Bash(git *)", ev.BeforeToolCall(tool_name="bash", input=input))


REFUSED = [
    ("", "selector_empty"),
    ("bash", "selector_unsupported_tool"),
    ("Read", "selector_unsupported_tool"),
    ("$X", "selector_unsupported_tool"),
    ("Bash|Read", "selector_unsupported_tool"),
    ("mcp__x__y", "selector_unsupported_tool"),
    (" Bash ", "selector_unsupported_tool"),
    ("Bash(", "selector_malformed"),
    ("Bash)", "selector_malformed"),
    ("Bash()", "selector_malformed"),
    ("Bash()x", "selector_malformed"),
]


@pytest.mark.parametrize(("selector", "code"), REFUSED, ids=[repr(case[0]) for case in REFUSED])
def test_what_is_no_selector_has_a_code(selector: str, code: str) -> None:
    """A selector that means nothing is refused with a closed code."""
    assert code == compile_selector(selector, PRE_TOOL_USE)


@pytest.mark.parametrize("rule", BY_NAME.values(), ids=lambda rule: rule.name)
def test_selectors_belong_to_three_events(rule: Any) -> None:
    """L30: everywhere but on the three events about a shell call that can still be told apart, `if` is refused."""
    accepted = rule.name in {"PreToolUse", "PermissionRequest", "PostToolUse"}

    assert accepted == (compile_selector("Bash", rule) != "selector_unsupported_event")


def test_a_line_is_taken_apart_in_linear_time() -> None:
    """A long line of quotes and escapes is no way to keep a session waiting."""
    assert simple_commands('"a\\"' * 49_999) is None
    assert len(simple_commands("'a'\\b\"c\"" * 50_000) or ()) == 3
