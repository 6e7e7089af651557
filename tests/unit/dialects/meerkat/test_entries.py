"""Reading `config.toml`: every fault, its place and its words; and what a sound file means."""

import pytest

from hookline._core.hooks import Source
from hookline._core.problems import Problem, Scope
from hookline.dialects.meerkat.entries import Command, Entry, Found, HooksConfig, Http, InProcess, read_config
from hookline.dialects.meerkat.words import Capability, HookPoint, Mode, ToolDenial

SOURCE = Source(layer="active", label=".rkat/config.toml", path="/p/.rkat/config.toml")


def read(text: str | bytes) -> Found:
    return read_config(text if isinstance(text, bytes) else text.encode(), SOURCE)


def entry(line: str) -> str:
    """A file with one entry, in which *line* is the third."""
    return f"[[hooks.entries]]\nid = 'x'\n{line}\n"


def runtime(line: str) -> str:
    """A file with one entry, in whose `runtime` *line* is the third."""
    return f"[[hooks.entries]]\n[hooks.entries.runtime]\n{line}\n"


def command(line: str) -> str:
    return runtime(f"{line}\ntype = 'command'\ncommand = 'c'")


def http(line: str) -> str:
    return runtime(f"{line}\ntype = 'http'\nurl = 'http://h'")


WRONG = "WrongType"
E, R = "hooks.entries[0]", "hooks.entries[0].runtime"

# (text, code, line, column, path, part of the message)
ERRORS = [
    ("[hooks]\na = True", "MalformedToml", 2, 5, "", "malformed TOML: invalid value"),
    (b"[hooks]\nx = '\xff'", "MalformedToml", 2, 6, "", "not UTF-8"),
    ("hooks = 1", WRONG, 1, 9, "hooks", "`hooks` must be a table, found a whole number: write `[hooks]`"),
    ("[[hooks]]", WRONG, 1, 1, "hooks", "found an array: write `[hooks]`, and `[[hooks.entries]]` for each entry"),
    ("[hooks.entries]\nid = 'x'", WRONG, 1, 1, "hooks.entries",
     "in TOML, each under a header in two pairs of brackets, found a table"),
    ("[hooks]\nentries = [{}, 1]", WRONG, 2, 16, "hooks.entries[1]", "`entries[1]` must be a table, found a whole"),
    ("[hooks]\ndefault_timeout_ms = -1", "OutOfRange", 2, 22, "hooks.default_timeout_ms",
     "`default_timeout_ms` must be a whole number from 0 to 18446744073709551615, found -1"),
    ("[hooks]\ndefault_timeout_ms = 18446744073709551616", "OutOfRange", 2, 22, "hooks.default_timeout_ms",
     "found 18446744073709551616"),
    ("[hooks]\npayload_max_bytes = 0x" + "f" * 5000, "OutOfRange", 2, 21, "hooks.payload_max_bytes", "far from it"),
    ("[hooks]\npayload_max_bytes = 1.0", WRONG, 2, 21, "hooks.payload_max_bytes", "found a number with a fraction"),
    ("[hooks]\nbackground_max_concurrency = true", WRONG, 2, 30, "hooks.background_max_concurrency", "a boolean"),
    ("[hooks]\ntool_denial = 'fail'", "UnknownToolDenial", 2, 15, "hooks.tool_denial",
     '`tool_denial` must be "tool_error" or "fail_run", found "fail"'),
    (entry("id2.x = 1\npriority = 2147483648"), "OutOfRange", 4, 12, f"{E}.priority", "found 2147483648"),
    (entry("priority = -2147483649"), "OutOfRange", 3, 12, f"{E}.priority", "from -2147483648"),
    (entry("priority = '1'"), WRONG, 3, 12, f"{E}.priority", "found a string"),
    (entry("timeout_ms = -1"), "OutOfRange", 3, 14, f"{E}.timeout_ms", "found -1"),
    (entry("timeout_ms = 07:32:00"), WRONG, 3, 14, f"{E}.timeout_ms", "found a date or time"),
    (entry("enabled = 'yes'"), WRONG, 3, 11, f"{E}.enabled", "`enabled` must be true or false, found a string"),
    ("[[hooks.entries]]\nid = 7", WRONG, 2, 6, f"{E}.id", "`id` must be a string, found a whole number"),
    (entry("mode = 'blocking'"), "UnknownMode", 3, 8, f"{E}.mode",
     '`mode` must be "foreground" or "background", found "blocking"'),
    (entry("mode = 'Foreground'"), "UnknownMode", 3, 8, f"{E}.mode", '(did you mean "foreground"?)'),
    (entry("mode = ['foreground']"), WRONG, 3, 8, f"{E}.mode", "found an array"),
    (entry("capability = 'rewrite'"), "UnknownCapability", 3, 14, f"{E}.capability", '"rewrite" was removed'),
    (entry("capability = 'guard'"), "UnknownCapability", 3, 14, f"{E}.capability", '(did you mean "guardrail"?)'),
    (entry("point = 'pre_tool_exection'"), "UnknownPoint", 3, 9, f"{E}.point",
     'one of the 14 hook points, found "pre_tool_exection" (did you mean "pre_tool_execution"?)'),
    (entry("point = 'PreToolExecution'"), "UnknownPoint", 3, 9, f"{E}.point", '(did you mean "pre_tool_execution"?)'),
    (entry("point = 'pre_tool_execution '"), "UnknownPoint", 3, 9, f"{E}.point", 'n "pre_tool_execution"?)'),
    (entry("point = '\\n\u202e'"), "UnknownPoint", 3, 9, f"{E}.point", r'found "\n\u202e"'),
    (entry("runtime = 'noop'"), WRONG, 3, 11, f"{E}.runtime", "`runtime` must be a table, found a string"),
    (entry("runtime = {}"), "MissingField", 3, 11, R, '`runtime` has no `type`: write "in_process",'),
    (runtime("type = 'comand'"), "UnknownRuntimeType", 3, 8, f"{R}.type", 'found "comand" (did you mean "command"?)'),
    (runtime("type = 1"), WRONG, 3, 8, f"{R}.type", "`type` must be"),
    (runtime("type = 'in_process'\nname = 'a'\nhandler = 'a'"), "DuplicateField", 5, 1, f"{R}.handler",
     "`name` and `handler` are one field: keep one of the two"),
    (runtime("type = 'in_process'\nhandler = 1"), WRONG, 4, 11, f"{R}.handler", "`handler` must be a string"),
    (runtime("type = 'in_process'\nname = 1"), WRONG, 4, 8, f"{R}.name", "`name` must be a string"),
    (runtime("type = 'command'\nargs = ['x']"), "MissingField", 2, 1, R, "`command` is missing"),
    (runtime("type = 'command'\ncommand = ' '"), "InvalidCommand", 4, 11, f"{R}.command", "cannot be empty"),
    (runtime('type = "command"\ncommand = "a\\u0000b"'), "InvalidCommand", 4, 11, f"{R}.command", "NUL"),
    (command("args = 'x y'"), WRONG, 3, 8, f"{R}.args", "`args` must be an array of strings, found a string"),
    (command("args = ['x', 1]"), WRONG, 3, 14, f"{R}.args[1]", "`args[1]` must be a string, found a whole number"),
    (command('args = ["\\u0000"]'), "InvalidCommand", 3, 9, f"{R}.args[0]", "`args[0]` holds a NUL"),
    (command("env = ['A=1']"), WRONG, 3, 7, f"{R}.env", "`env` must be a table of strings, found an array"),
    (command("env.A = 1"), WRONG, 3, 9, f"{R}.env.A", "`env.A` must be a string, found a whole number"),
    (command("env = {'A=B' = 'x'}"), "InvalidVariable", 3, 8, f'{R}.env["A=B"]', '"A=B" cannot be the name'),
    (command("env = {'' = 'x'}"), "InvalidVariable", 3, 8, f'{R}.env[""]', '"" cannot be the name'),
    (command('env.A = "s3cret\\u0000"'), "InvalidVariable", 3, 9, f"{R}.env.A", "`env.A` holds a NUL character"),
    (command("inherit_env = 'no'"), WRONG, 3, 15, f"{R}.inherit_env", "must be true or false"),
    (runtime("type = 'http'"), "MissingField", 2, 1, R, "`url` is missing"),
    (runtime("type = 'http'\nurl = ''"), "InvalidUrl", 4, 7, f"{R}.url", "found no scheme"),
    (runtime("type = 'http'\nurl = 'example.com/x'"), "InvalidUrl", 4, 7, f"{R}.url", "found no scheme"),
    (runtime("type = 'http'\nurl = 'ftp://u:s3cret@h'"), "InvalidUrl", 4, 7, f"{R}.url", 'the scheme "ftp"'),
    (runtime("type = 'http'\nurl = 'http://'"), "InvalidUrl", 4, 7, f"{R}.url", "must name a host"),
    (runtime("type = 'http'\nurl = 'http:///s3cret'"), "InvalidUrl", 4, 7, f"{R}.url", "must name a host"),
    (runtime("type = 'http'\nurl = 'http://[::1'"), "InvalidUrl", 4, 7, f"{R}.url", "must be a URL"),
    (runtime("type = 'http'\nurl = 'http://h:99999'"), "InvalidUrl", 4, 7, f"{R}.url", "must be a URL"),
    (runtime("type = 'http'\nurl = 'http://h:x'"), "InvalidUrl", 4, 7, f"{R}.url", "must be a URL"),
    (runtime("type = 'http'\nurl = 'http://h:0'"), "InvalidUrl", 4, 7, f"{R}.url", "a host and a port"),
    (runtime("type = 'http'\nurl = ' http://h'"), "InvalidUrl", 4, 7, f"{R}.url", "without spaces"),
    (runtime('type = "http"\nurl = "http://h\\r\\nX: y"'), "InvalidUrl", 4, 7, f"{R}.url", "without spaces"),
    (http("method = 'P OST'"), "InvalidMethod", 3, 10, f"{R}.method", 'must be an HTTP method, found "P OST"'),
    (http("method = ''"), "InvalidMethod", 3, 10, f"{R}.method", "must be an HTTP method"),
    (http("method = 'PÖST'"), "InvalidMethod", 3, 10, f"{R}.method", "must be an HTTP method"),
    (http("headers = 'a: b'"), WRONG, 3, 11, f"{R}.headers", "`headers` must be a table of strings"),
    (http("headers = {A = ['x']}"), WRONG, 3, 16, f"{R}.headers.A", "`headers.A` must be a string, found an array"),
    (http("headers = {'x y' = 'z'}"), "InvalidHeader", 3, 12, f'{R}.headers["x y"]', '"x y" cannot be the name'),
    (http("headers = {'' = 'z'}"), "InvalidHeader", 3, 12, f'{R}.headers[""]', '"" cannot be the name'),
    (http("headers.Content-Length = '3'"), "InvalidHeader", 3, 9, f"{R}.headers.Content-Length", "where the body ends"),
    (http('headers.A = "s3cret\\r\\nB: c"'), "InvalidHeader", 3, 13, f"{R}.headers.A", "`headers.A` holds a line end"),
]  # fmt: skip


def only(found: Found, scope: Scope) -> Problem:
    [problem] = [each for each in found.problems if each.scope is scope]
    return problem


@pytest.mark.parametrize("case", ERRORS, ids=[f"{case[1]} {index}" for index, case in enumerate(ERRORS)])
def test_a_fault_stops_the_start(case: tuple[str | bytes, str, int, int, str, str]) -> None:
    """One fault is one problem for which nothing starts, with its code, its place and what to write."""
    text, code, line, column, path, message = case

    problem = only(read(text), Scope.SETTINGS)

    assert (code, line, column, path) == (
        problem.code, problem.where.line, problem.where.column, problem.where.path
    )  # fmt: skip
    assert message in problem.message
    assert "s3cret" not in problem.message
    assert problem.message.isprintable()
    assert (SOURCE.path, SOURCE.label) == (problem.where.file, problem.where.label)


NOTES = [
    ("[hooks]\ndefault_timeout = 1", "UnknownKey", 2, 1, '(did you mean "default_timeout_ms"?)'),
    ("[hooks]\npriority = 1", "UnknownKey", 2, 1, "belongs to an entry: write it under `[[hooks.entries]]`"),
    ("[hooks]\nzzz = 1", "UnknownKey", 2, 1, 'unknown key "zzz" is ignored'),
    ("[[hook.entries]]\nid = 'x'", "UnknownKey", 1, 3, "`hook` is not `[hooks]`, so nothing in it runs"),
    ("[[entries]]\nid = 'x'", "UnknownKey", 1, 3, "write `[hooks]` and `[[hooks.entries]]`"),
    (entry("timeoutMs = 1"), "UnknownKey", 3, 1, '(did you mean "timeout_ms"?)'),
    (entry("  Priority = 1"), "UnknownKey", 3, 3, '(did you mean "priority"?)'),
    (entry("failure_policy = 'deny'"), "FailurePolicyIgnored", 3, 1, "there is no per-hook failure policy"),
    (entry("command = 'x'"), "UnknownKey", 3, 1, "belongs to the entry's `runtime`"),
    (entry("default_timeout_ms = 1"), "UnknownKey", 3, 1, "belongs to `[hooks]`"),
    (runtime("type = 'in_process'\nconfig = {}"), "UnknownKey", 4, 1, 'unknown key "config" is ignored'),
    (command("url = 'x'"), "UnknownKey", 3, 1, 'belongs to `type = "http"`'),
    (command("timeout_ms = 1"), "UnknownKey", 3, 1, "belongs to the entry itself"),
    (command("arguments = []"), "UnknownKey", 3, 1, "is ignored"),
]


@pytest.mark.parametrize("case", NOTES, ids=[f"{case[1]} {index}" for index, case in enumerate(NOTES)])
def test_an_unknown_key_is_ignored_and_said(case: tuple[str, str, int, int, str]) -> None:
    """A key that Meerkat ignores stops nothing, and its author is told, with the key that may be meant."""
    text, code, line, column, message = case

    [problem] = read(text).problems

    assert (Scope.NOTE, code, line, column) == (
        problem.scope, problem.code, problem.where.line, problem.where.column
    )  # fmt: skip
    assert message in problem.message


@pytest.mark.parametrize("text", ["", "\ufeff", "# nothing\n", "[models]\ndefault = 'x'\n[tools]\n", "[hooks]"])
def test_a_file_without_hooks_is_an_empty_configuration(text: str) -> None:
    """The rest of the file is the host's: nothing is said of it."""
    assert Found(HooksConfig(), ()) == read(text)


def test_the_example_of_the_document() -> None:
    """Every key that the document's example writes is kept, and the others have their defaults."""
    text = """
[hooks]
default_timeout_ms = 4000
payload_max_bytes = 131072
background_max_concurrency = 0
tool_denial = "fail_run"

[[hooks.entries]]
id = "safety"
point = "pre_tool_execution"
capability = "guardrail"
priority = -10
timeout_ms = 0
[hooks.entries.runtime]
type = "command"
command = "python3"
args = ["guard.py"]
env = { B = "2", A = "" }
inherit_env = false

[[hooks.entries]]
id = "tell"
point = "interaction_completed"
mode = "background"
enabled = false
runtime = { url = "HTTPS://u:p@[::1]:8443/x?y=z", type = "http", method = "patch", headers = { X-A = "b\\tc é" } }

[[hooks.entries]]
runtime = { type = "in_process", name = "h", config = { x = 1 } }

[[hooks.entries]]
"""
    safety = Entry(
        id="safety",
        point=HookPoint.PRE_TOOL_EXECUTION,
        capability=Capability.GUARDRAIL,
        priority=-10,
        timeout_ms=0,
        runtime=Command("python3", args=("guard.py",), env=(("B", "2"), ("A", "")), inherit_env=False),
    )
    tell = Entry(
        id="tell",
        point=HookPoint.INTERACTION_COMPLETED,
        mode=Mode.BACKGROUND,
        enabled=False,
        runtime=Http("HTTPS://u:p@[::1]:8443/x?y=z", method="patch", headers=(("X-A", "b\tc é"),)),
    )

    config, problems = read(text)

    assert (safety, tell, Entry(runtime=InProcess("h")), Entry()) == config.entries
    assert (4000, 131_072, 1, ToolDenial.FAIL_RUN) == (
        config.default_timeout_ms, config.payload_max_bytes, config.concurrency, config.tool_denial
    )  # fmt: skip
    assert ["UnknownKey"] == [each.code for each in problems]  # `config` of the in-process handler
    assert [8, 21, 28, 31] == [each.where.line for each in config.entries]
    assert (10, 9, "hooks.entries[0].point") == (
        (where := config.entries[0].spot.where_of("point")).line, where.column, where.path
    )  # fmt: skip
    assert (31, 1, "hooks.entries[3].id") == (
        (where := config.entries[3].spot.where_of("id")).line, where.column, where.path
    )  # fmt: skip
    assert [True, True, False, False] == [each.is_named for each in config.entries]
    assert all(each.source is SOURCE for each in config.entries)


def test_all_problems_of_a_file_are_found() -> None:
    """One fault hides no other, in whichever entry, and they come in the order of the text."""
    text = """\
[hooks]
default_timeout_ms = "5"
[[hooks.entries]]
mode = "blocking"
priority = "high"
unknown = 1
runtime = { type = "command", args = [1, "x", 2], env = { A = 1 } }
[[hooks.entries]]
runtime = { type = "http", url = "h", method = "", headers = { "" = "" } }
"""
    assert [
        (2, 22), (4, 8), (5, 12), (6, 1), (7, 11), (7, 39), (7, 47), (7, 63), (9, 34), (9, 48), (9, 64)
    ] == [(each.where.line, each.where.column) for each in read(text).problems]  # fmt: skip


def test_a_value_at_fault_adds_no_further_problem() -> None:
    """Beside what is wrong with its fields, an entry at fault can still be looked at: as if they were not written."""
    text = entry("mode = 'x'\npoint = 'x'\ncapability = 'x'\nruntime = 1") + "[[hooks.entries]]\nid = 1\n"
    assert (Entry(id="x"),) == read(text).config.entries
