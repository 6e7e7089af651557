import json
from typing import Any

import pytest

from hookline._core import events as ev
from hookline._core.hooks import Source
from hookline._core.matchers import EVERYTHING
from hookline._core.problems import Scope, Where
from hookline.dialects.muse.config import Found, read_document
from hookline.dialects.muse.environment import Launch
from hookline.dialects.muse.rules import RULES

SOURCE = Source(layer="project", label="hooks.json", path="/p/.muse/hooks.json")
LAUNCH = Launch(("/bin/sh", "-c"), {"PATH": "/bin"}, windows=False)

OK = {"type": "command", "command": "true"}


def read(document: Any) -> Found:
    text = document if isinstance(document, str) else json.dumps(document)
    return read_document(text.encode(), source=SOURCE, launch=LAUNCH)


def hooks(**events: Any) -> dict[str, Any]:
    return {"hooks": events}


def group(*handlers: Any, **keys: Any) -> list[Any]:
    return [{**keys, "hooks": list(handlers)}]


def on(event: str, **fields: Any) -> dict[str, Any]:
    """A document with one handler on *event*, which runs but for *fields*; None leaves a field out."""
    handler = {name: value for name, value in {**OK, **fields}.items() if value is not None}
    return hooks(**{event: group(handler)})


def stands_at(document: Any, where: Where) -> str:
    text = document if isinstance(document, str) else json.dumps(document)
    return text.split("\n")[where.line - 1][where.column - 1 :]


# What a file's text or a type takes with it: everything. (case, document, message, path, what stands at the
# place that is reported)
REJECTED = [
    ("L12 a string for timeout, beside a good handler",
     '{"hooks": {\n "Stop": [{"hooks": []}],\n "PreToolUse": [{"hooks": [\n  {"type": "command", "timeout": "10"}]}]}}',
     "hook handler field `timeout` must be a non-negative integer, found a string",
     "hooks.PreToolUse[0].hooks[0].timeout", '"10"'),
    ("L13 async is a word", on("Stop", **{"async": "yes"}),
     "hook handler field `async` must be a boolean, found a string", "hooks.Stop[0].hooks[0].async", '"yes"'),
    ("L24 hooks is an array", '{"hooks": []}', "hooks must be an object", "hooks", "[]"),
    ("hooks is null", '{"hooks": null}', "hooks must be an object", "hooks", "null"),
    ("an event's value", '{"hooks": {"Stop": {}}}', "hook event `Stop` must be an array", "hooks.Stop", "{}"),
    ("a group", '{"hooks": {"Stop": ["x"]}}',
     "hook matcher group must be an object, found a string", "hooks.Stop[0]", '"x"'),
    ("L23 a group without hooks", '{"hooks": {"Stop": [{}]}}',
     "hook matcher group must declare `hooks`", "hooks.Stop[0]", "{}"),
    ("a group's hooks", '{"hooks": {"Stop": [{"hooks": 5}]}}',
     "hook matcher group `hooks` must be an array, found a number", "hooks.Stop[0].hooks", "5"),
    ("a handler", '{"hooks": {"Stop": [{"hooks": [null]}]}}',
     "hook handler must be an object, found null", "hooks.Stop[0].hooks[0]", "null"),
    ("B-14 a matcher that is an object",
     '{"hooks": {"Stop": [{"hooks": []}], "PreToolUse": [{"matcher": {"type": "always"}, "hooks": []}]}}',
     "hook matcher must be a string, found an object", "hooks.PreToolUse[0].matcher", '{"type"'),
    ("a timeout that is a boolean", on("Stop", timeout=True),
     "hook handler field `timeout` must be a non-negative integer, found a boolean",
     "hooks.Stop[0].hooks[0].timeout", "true"),
    ("a timeout with a fraction", on("Stop", timeout=30.0),
     "hook handler field `timeout` must be a non-negative integer, found a number",
     "hooks.Stop[0].hooks[0].timeout", "30.0"),
    ("a negative timeout", on("Stop", timeout=-1),
     "hook handler field `timeout` must be a non-negative integer, found a number",
     "hooks.Stop[0].hooks[0].timeout", "-1"),
    ("null for an optional field", '{"hooks": {"Stop": [{"hooks": [{"statusMessage": null}]}]}}',
     "hook handler field `statusMessage` must be a string, found null", "hooks.Stop[0].hooks[0].statusMessage", "null"),
    ("L28 outputCapabilities is a word", on("PostToolUse", outputCapabilities="skills.v1"),
     "hook handler field `outputCapabilities` must be an array, found a string",
     "hooks.PostToolUse[0].hooks[0].outputCapabilities", '"skills.v1"'),
    ("onFailure is another tool's policy", on("Stop", onFailure="block"),
     "hook handler field `onFailure` must be an object, found a string", "hooks.Stop[0].hooks[0].onFailure", '"block"'),
    ("a type within a fallback", on("Stop", onFailure={"command": 5}),
     "hook handler field `command` must be a string, found a number",
     "hooks.Stop[0].hooks[0].onFailure.command", "5"),
    ("a type in a group that is skipped anyway", hooks(Stop=group({"type": 1}, note="x")),
     "hook handler field `type` must be a string, found a number", "hooks.Stop[0].hooks[0].type", "1"),
    ("L11 a member for the settings", '{"managed_hooks_env_vars": [],\n "hooks": []}',
     "hook file cannot declare User-tier field `managed_hooks_env_vars`", "managed_hooks_env_vars",
     '"managed_hooks_env_vars"'),
    ("not an object", "[1]", "malformed hook config: the document must be an object, found an array", "", "[1]"),
    ("not JSON", '{"hooks": {\n  "Stop": [],\n}}',
     "malformed hook config: a comma with nothing after it at line 2 column 13", "", ","),
    ("B-71 a key twice", '{"hooks": {"Stop": [{"hooks": [{"timeout": 5, "timeout": 500}]}]}}',
     "malformed hook config: duplicate key `timeout` at line 1 column 47", "", '"timeout": 500'),
]  # fmt: skip


@pytest.mark.parametrize("case", REJECTED, ids=[case[0] for case in REJECTED])
def test_a_malformed_file_contributes_nothing(case: tuple[str, Any, str, str, str]) -> None:
    """Wrong text or a wrong type rejects the file: one problem, exactly worded and placed, and no hooks."""
    _, document, message, path, begins = case

    found = read(document)

    assert found.hooks == ()
    [problem] = found.problems
    assert (Scope.FILE, "MalformedConfig", "", message) == (
        problem.scope, problem.code, problem.rule, problem.message
    )  # fmt: skip
    assert path == problem.where.path
    assert begins == stands_at(document, problem.where)[: len(begins)]
    assert (problem.where.file, problem.where.label) == ("/p/.muse/hooks.json", "hooks.json")


D66, D97 = "D66", "D97"
SHELL = "conditional hook selector is unsupported or malformed: "
CAPABILITIES = 'outputCapabilities must be exactly ["skills.v1"]'
FOREGROUND = "skills.v1 is supported only for foreground UserPromptSubmit or PostToolUse command hooks"
WINDOWS_ONLY = (
    "this handler declares only a Windows command form (`commandWindows`), which is selected on Windows only, "
    "so it has no command to run on this platform"
)
EMPTY = "command hook command must not be empty"

# One reason for which one handler is skipped. (case, document, rule, message, path within the handler)
SKIPPED = [
    ("L15 an unknown key", on("Stop", foo=1), D66,
     "unknown handler field `foo` may narrow execution, so this handler is skipped", ".foo"),
    ("a field in another case", on("Stop", timeOut=1), D66,
     "unknown handler field `timeOut` may narrow execution, so this handler is skipped", ".timeOut"),
    ("L31 a key of the strict form", on("Stop", timeout_ms=1000), D66,
     "unknown handler field `timeout_ms` may narrow execution, so this handler is skipped", ".timeout_ms"),
    ("L21 no type", on("Stop", type=None), "", "hook handler must declare a `type`", ""),
    ("B-16 a capital letter", on("Stop", type="Command"), "D101",
     'hook handler type `Command` is unsupported (did you mean "command"?)', ".type"),
    ("another type", on("Stop", type="prompt"), "D101", "hook handler type `prompt` is unsupported", ".type"),
    ("an empty command", on("Stop", command=""), "", EMPTY, ".command"),
    ("a blank command", on("Stop", command=" \n\t"), "", EMPTY, ".command"),
    ("no command", on("Stop", command=None), "", EMPTY, ""),
    ("a command that no process can be given", on("Stop", command="a\0b"), "",
     "command hook command must not contain a NUL character", ".command"),
    ("L27 a Windows command only", on("Stop", command=None, commandWindows="dir"), "D63",
     WINDOWS_ONLY, ""),
    ("B-71 one field in two spellings", on("Stop", commandWindows="a", command_windows="a"), "",
     "`commandWindows` and `command_windows` are one field; keep one of the two", ".command_windows"),
    ("L25 once", on("Stop", once=True), "D96", "`once: true` one-shot handlers are unsupported", ".once"),
    ("shell", hooks(Stop=group({**OK, "shell": "bash"})), "D98",
     "a per-handler `shell` selector is unsupported", ".shell"),
    ("args", on("Stop", args=[]), "D99", "Claude `command` plus `args` argv execution is not implemented yet", ".args"),
    ("condition", on("Stop", condition=""), D66,
     "a conditional handler is unsupported; TBH cannot prove the condition", ".condition"),
    ("asyncRewake", on("Stop", asyncRewake=True), D97, "`asyncRewake: true` handlers are unsupported", ".asyncRewake"),
    ("rewakeMessage", on("Stop", rewakeMessage="x"), D97, "model reawakening is unsupported", ".rewakeMessage"),
    ("rewakeSummary", on("Stop", rewakeSummary="x"), D97, "model reawakening is unsupported", ".rewakeSummary"),
    ("rewake", on("Stop", rewake=False), D97, "model reawakening is unsupported", ".rewake"),
    ("L30 if, where there is no tool", on("Stop", **{"if": "Bash"}), D66,
     SHELL + "selector_unsupported_event", ".if"),
    ("if for another tool", on("PreToolUse", **{"if": "Read"}), D66, SHELL + "selector_unsupported_tool", ".if"),
    ("an empty if", on("PreToolUse", **{"if": ""}), D66, SHELL + "selector_empty", ".if"),
    ("other capabilities", on("PostToolUse", outputCapabilities=["skills.v2"]), "", CAPABILITIES,
     ".outputCapabilities"),
    ("no capabilities", on("PostToolUse", outputCapabilities=[]), "", CAPABILITIES, ".outputCapabilities"),
    ("capabilities elsewhere", on("Stop", outputCapabilities=["skills.v1"]), "", FOREGROUND, ".outputCapabilities"),
    ("capabilities in the background", on("PostToolUse", outputCapabilities=["skills.v1"], **{"async": True}), "",
     FOREGROUND, ".outputCapabilities"),
    ("F05 async in a fallback", on("Stop", onFailure={**OK, "async": True}), D66,
     "in `onFailure`: `async` may not be set here", ".onFailure.async"),
    ("F05 if in a fallback", on("PreToolUse", onFailure={**OK, "if": "Bash"}), D66,
     "in `onFailure`: `if` may not be set here", ".onFailure.if"),
    ("an empty command in a fallback", on("Stop", onFailure={**OK, "command": ""}), "",
     f"in `onFailure`: {EMPTY}", ".onFailure.command"),
    ("F06 a fourth fallback", on("Stop", onFailure={**OK, "onFailure": {**OK, "onFailure": {**OK, "onFailure": OK}}}),
     D66, "onFailure chains may be at most three levels deep", ".onFailure.onFailure.onFailure.onFailure"),
    ("the first of several: a key before the type", on("Stop", type="x", foo=1), D66,
     "unknown handler field `foo` may narrow execution, so this handler is skipped", ".foo"),
    ("the first of several: the type before the command", on("Stop", type="x", command=""), "D101",
     "hook handler type `x` is unsupported", ".type"),
]  # fmt: skip


@pytest.mark.parametrize("case", SKIPPED, ids=[case[0] for case in SKIPPED])
def test_a_bad_handler_is_skipped_alone(case: tuple[str, dict[str, Any], str, str, str]) -> None:
    """One handler's fault skips that handler, with its first reason only; its neighbours run."""
    _, document, rule, message, path = case
    [(event, [only])] = document["hooks"].items()
    only["hooks"] = [OK, *only["hooks"], OK]

    found = read(document)

    assert [f"hooks.json:{event}[0].hooks[0]", f"hooks.json:{event}[0].hooks[2]"] == [hook.id for hook in found.hooks]
    [problem] = found.problems
    assert (Scope.HOOK, "UnsupportedHandler", rule, message) == (
        problem.scope, problem.code, problem.rule, problem.message
    )  # fmt: skip
    assert f"hooks.{event}[0].hooks[1]{path}" == problem.where.path
    assert problem.where.column > 0


# What is wrong with more than a handler and less than a file.
# (case, document, ids that run, scope, class, rule, message, path)
PARTLY = [
    ("L14 B-15 an unknown event", hooks(OnSave=[1], PreToolUse=group(OK)), ["PreToolUse[0].hooks[0]"],
     Scope.POINT, "UnsupportedEvent", "", "unsupported hook event `OnSave`", "hooks.OnSave"),
    ("an event in snake case", hooks(pre_tool_use=group(OK)), [], Scope.POINT, "UnsupportedEvent", "",
     "unsupported hook event `pre_tool_use`", "hooks.pre_tool_use"),
    ("a state that is not the settings'", hooks(state={}), [], Scope.POINT, "UnsupportedEvent", "",
     "unsupported hook event `state`", "hooks.state"),
    ("a name that is no word", {"hooks": {"on save": []}}, [], Scope.POINT, "UnsupportedEvent", "",
     "unsupported hook event `on save`", 'hooks["on save"]'),
    ("L16 B-65 a matcher on Stop", hooks(Stop=[*group(OK, matcher="x"), *group(OK)]), ["Stop[1].hooks[0]"],
     Scope.GROUP, "InvalidMatcher", "", "`stop` is unmatchable; drop this group's matcher", "hooks.Stop[0].matcher"),
    ("B-65 a matcher on UserPromptSubmit", hooks(UserPromptSubmit=group(OK, matcher="[")), [],
     Scope.GROUP, "InvalidMatcher", "", "`user_prompt_submit` is unmatchable; drop this group's matcher",
     "hooks.UserPromptSubmit[0].matcher"),
    ("M06 a matcher that does not compile", hooks(PreToolUse=[*group(OK, matcher="["), *group(OK)]),
     ["PreToolUse[1].hooks[0]"], Scope.GROUP, "InvalidMatcher", "",
     "hook matcher `[` is not a valid regular expression: missing ]: [", "hooks.PreToolUse[0].matcher"),
    ("B-64 a matcher of 10,000 characters", hooks(PreToolUse=group(OK, matcher="(a|a)*" * 1667)), [],
     Scope.GROUP, "InvalidMatcher", "",
     f"hook matcher `{'(a|a)*' * 33}(a…` is not a valid regular expression: longer than 4096 characters",
     "hooks.PreToolUse[0].matcher"),
    ("one on PostToolBatch too", hooks(PostToolBatch=group(OK, matcher="(")), [], Scope.GROUP, "InvalidMatcher", "",
     "hook matcher `(` is not a valid regular expression: missing ): (", "hooks.PostToolBatch[0].matcher"),
    ("L22 an unknown group key", hooks(Stop=[*group(OK, description="x"), *group(OK)]), ["Stop[1].hooks[0]"],
     Scope.GROUP, "UnsupportedHandler", "D66",
     "unknown matcher-group field `description` may narrow execution, so this group is skipped",
     "hooks.Stop[0].description"),
]  # fmt: skip


@pytest.mark.parametrize("case", PARTLY, ids=[case[0] for case in PARTLY])
def test_the_rest_of_the_file_stays(case: tuple[str, Any, list[str], Scope, str, str, str, str]) -> None:
    """An event or a group that is wrong is skipped with everything in it, and nothing else is."""
    _, document, ids, *expected = case

    found = read(document)

    assert [f"hooks.json:{each}" for each in ids] == [hook.id for hook in found.hooks]
    [problem] = found.problems
    assert expected == [problem.scope, problem.code, problem.rule, problem.message, problem.where.path]


# Documents in which everything is right, and how many hooks each has.
FINE = [
    ("no hooks member", {}, 0),
    ("L10 other top-level members", {"$schema": "x", "schema_version": 9, "hooks": {"Stop": group(OK)}}, 1),
    ("B-85 a file that vouches for itself", {"trusted": True, "managed_hooks_path": "x", "env": {}, "hooks": {}}, 0),
    ("no events", hooks(), 0),
    ("no groups", hooks(Stop=[]), 0),
    ("no handlers", hooks(Stop=group()), 0),
    ("L17 the matcher * on Stop", hooks(Stop=group(OK, matcher="*")), 1),
    ("an empty matcher on Stop", hooks(Stop=group(OK, matcher="")), 1),
    ("M05 a tool that there is not", hooks(PreToolUse=group(OK, matcher="Glob")), 1),
    ("once that is false", on("Stop", once=False, asyncRewake=False), 1),
    ("a declaration that nobody asks about", on("PostToolUse", outputCapabilities=["skills.v1"]), 1),
    ("three fallbacks", on("Stop", onFailure={**OK, "onFailure": {**OK, "onFailure": OK}}), 1),
    ("both platforms", on("Stop", commandWindows="dir"), 1),
    ("all events", hooks(**{rule.name: group(OK) for rule in RULES}), 17),
]


@pytest.mark.parametrize(("note", "document", "count"), FINE, ids=[case[0] for case in FINE])
def test_a_right_file_has_no_problems(note: str, document: Any, count: int) -> None:
    """What the format allows is read without a word."""
    found = read(document)

    assert (count, ()) == (len(found.hooks), found.problems)


def test_silent_is_a_note() -> None:
    """L26: `silent` changes nothing and warns of nothing; whoever looks closely is told that it is ignored."""
    found = read(on("Stop", silent=True))

    assert len(found.hooks) == 1
    [note] = found.problems
    assert (note.scope, note.rule) == (Scope.NOTE, "D65")


def test_problems_stand_in_document_order() -> None:
    """L18: problems of different kinds are reported in the order of the file, and what is right runs."""
    document = hooks(
        PreToolUse=[*group(OK), *group({**OK, "foo": True})], OnSave=group(OK), Stop=group(OK, matcher="x")
    )

    found = read(document)

    assert [each.code for each in found.problems] == ["UnsupportedHandler", "UnsupportedEvent", "InvalidMatcher"]
    assert [hook.id for hook in found.hooks] == ["hooks.json:PreToolUse[0].hooks[0]"]


def test_a_matcher_on_a_batch_is_ignored() -> None:
    """M09: whatever the matcher of PostToolBatch, its group always runs."""
    [hook] = read(hooks(PostToolBatch=group(OK, matcher="nothing"))).hooks

    assert hook.matcher == EVERYTHING
    assert hook.selects(ev.AfterToolBatch())


MATCHES = [
    ("M01", "Bash", "bash", ("Bash", "shell"), True),
    ("M02", "Bash|Edit|Write", "read_file", ("Read",), False),
    ("M03", "Read | Bash", "read_file", ("Read",), False),
    ("M04", "^web_", "web_search", ("WebSearch",), True),
    ("M05", "Glob", "search", ("Grep",), False),
    ("M08", "bash", "bash_input", (), False),
    ("B-60", "mcp__notes", "mcp__notes__add", (), False),
    ("B-60 as a prefix", "^mcp__notes", "mcp__notes__add", (), True),
]


@pytest.mark.parametrize(("case", "matcher", "tool", "aliases", "runs"), MATCHES, ids=[case[0] for case in MATCHES])
def test_matchers(case: str, matcher: str, tool: str, aliases: tuple[str, ...], runs: bool) -> None:
    """A tool is matched by its own name and by its aliases."""
    [hook] = read(hooks(PreToolUse=group(OK, matcher=matcher))).hooks

    assert runs == hook.selects(ev.BeforeToolCall(tool_name=tool, aliases=aliases, input={}))


def test_a_file_over_the_limit_is_malformed() -> None:
    """A hook file has a size limit, and one that is over it contributes nothing."""
    found = read(json.dumps(hooks(Stop=group(OK))) + " " * 1_048_576)

    assert found.hooks == ()
    [problem] = found.problems
    assert problem.message == "malformed hook config: larger than 1048576 bytes at line 1 column 1"


@pytest.mark.parametrize(
    ("document", "hint", "path"),
    [
        ({"hook": {"Stop": group(OK)}}, "; `hook` may be meant", "hook"),
        ({"x": 1, "Stop": group(OK)}, "; put `Stop` inside it", "Stop"),
        ({"x": 1}, "", ""),
    ],
)
def test_a_hook_file_without_hooks_is_said(document: Any, hint: str, path: str) -> None:
    """A file of guards whose one word is misspelt guards nothing: what is missing is named, and what may be meant."""
    [problem] = read(document).problems

    assert problem.message == f"this hook file has no member `hooks`, so nothing in it runs{hint}"
    assert (problem.scope, problem.where.path) == (Scope.ABSENT, path)
