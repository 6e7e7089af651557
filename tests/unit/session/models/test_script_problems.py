from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hookline._core.errors import ConfigError
from hookline._core.problems import Problem, Scope
from hookline.session.models.script import ScriptModel

# What is wrong, the script, and for each problem: its place, its code, and a part of its message.
ONE_MISTAKE = [
    ("nothing", "", ("1:1", "missing-key", "a script needs `steps`, found nothing")),
    ("a list", "- say: hi", ("1:1", "wrong-type", "the script has to be a mapping")),
    ("no steps", "model: a", ("1:1", "missing-key", "needs `steps`, found `model`")),
    ("empty steps", "steps: []", ("1:8", "wrong-type", "one at least; found an empty list")),
    ("steps as a mapping", "steps: {say: a}", ("1:8", "wrong-type", "found a mapping: write each after a `- `")),
    ("misspelt key", "steps:\n  - sya: hi", ("2:5", "unknown-key", "did you mean `say`?")),
    ("unheard-of key", "steps:\n  - zzz: 1", ("2:5", "unknown-key", "its keys are `say`, `call`")),
    ("empty step", "steps: [{}]", ("1:9", "missing-key", "needs `say`, `call`, `calls` or `fail`")),
    ("only a wait", "steps: [{wait: 1}]", ("1:9", "missing-key", "found `wait`")),
    ("a number for text", "steps: [{say: 5}]", ("1:15", "wrong-type", "found the number 5: write it in quotes")),
    ("nothing for text", "steps:\n  - say:\n", ("2:9", "wrong-type", "found nothing")),
    ("text for a number", "steps: [{say: a, wait: soon}]", ("1:24", "wrong-type", "found the text 'soon'")),
    ("a negative wait", "steps: [{say: a, wait: -1}]", ("1:24", "wrong-type", "from 0 to 3600")),
    ("a wait that is none", "steps: [{say: a, wait: true}]", ("1:24", "wrong-type", "found true")),
    ("a call without a tool", "steps: [{call: {input: {}}}]", ("1:16", "missing-key", "a call needs `tool`")),
    ("a blank tool", "steps: [{call: {tool: ' '}}]", ("1:23", "wrong-type", "text that is not blank")),
    ("a list for an input", "steps: [{call: {tool: a, input: [1]}}]", ("1:33", "wrong-type", "found a list")),
    ("a number for an input", "steps: [{call: {tool: a, input: 1}}]", ("1:33", "wrong-type", "found the number 1")),
    ("infinity", "steps: [{call: {tool: a, input: {n: 1e999}}}]", ("1:37", "wrong-type", "JSON can hold")),
    ("call and calls", "steps: [{call: {tool: a}, calls: [{tool: a}]}]", ("1:34", "conflict", "keep one")),
    ("a failure that speaks", "steps: [{fail: {category: a}, say: b}]", ("1:36", "conflict", "`fail` and `say`")),
    ("a failure as a word", "steps: [{fail: a}]", ("1:16", "wrong-type", "the keys `category` and `details`")),
    ("a failure of no kind", "steps: [{fail: {}}]", ("1:16", "missing-key", "a failure needs `category`")),
    ("agents as a list", "steps: [{say: a}]\nagents: [a]", ("2:9", "wrong-type", "kinds of agents")),
    ("an agent without steps", "steps: [{say: a}]\nagents: {a: {}}", ("2:13", "missing-key", "needs `steps`")),
    ("a duplicate key", "steps: [{say: a}]\nsteps: []", ("2:1", "duplicate-key", "already, in line 1")),
    ("a duplicate in data", "steps: [{call: {tool: a, input: {x: 1, x: 2}}}]", ("1:40", "duplicate-key", "`x`")),
    ("an alias", "steps: [{say: *a}]", ("1:15", "alias", "write the value out")),
    ("an anchor", "steps: [{say: &a b}]", ("1:15", "anchor", "`&a`")),
    ("a tag", "steps: [{say: !!str 5}]", ("1:15", "tag", "put text in quotes")),
    ("a key that is a list", "steps: [{say: a}]\n? [a]\n: b", ("2:3", "key", "a key is a word")),
    ("a second document", "steps: [{say: a}]\n---\na", ("2:1", "second-document", "write one only")),
    ("too deep", f"steps: [{{call: {{tool: a, input: {{x: {'[' * 40}{']' * 40}}}}}}}]", ("1:64", "too-deep", "32")),
    ("a tab", "steps:\n\t- say: a", ("2:1", "syntax", "spaces, not tabs")),
    ("a colon in a text", "steps:\n  - say: a: b", ("2:11", "syntax", "in quotes")),
    ("an open bracket", "steps: [", ("1:9", "syntax", "")),
    ("a control character", "steps:\n  - say: é\x01", ("2:11", "syntax", "U+0001")),
    ("half a character", "steps: [\ud800]", ("1:9", "not-utf8", "save the file as UTF-8")),
]


def problems_of(text: str | bytes) -> tuple[Problem, ...]:
    with pytest.raises(ConfigError) as raised:
        ScriptModel.parse(text, file="folder/demo.yaml")
    return raised.value.problems


@pytest.mark.parametrize(("text", "wanted"), [row[1:] for row in ONE_MISTAKE], ids=[row[0] for row in ONE_MISTAKE])
def test_a_mistake_is_one_problem_with_its_place(text: str, wanted: tuple[str, str, str]) -> None:
    """The place is where to look, the message says what was found or what to write, and nothing is said twice."""
    place, code, said = wanted
    (problem,) = problems_of(text)

    assert f"{problem.where.line}:{problem.where.column}" == place
    assert problem.code == code
    assert said in problem.message
    assert problem.scope is Scope.FILE
    assert (problem.where.file, problem.where.label) == ("folder/demo.yaml", "demo.yaml")


def test_all_mistakes_are_told_at_once_in_order() -> None:
    """Those of the YAML and those of what it says; the path leads to each value."""
    text = """
stpes: []
steps:
  - say: 1
  - call: {tool: 2, input: {a: 1, a: *b}}
  - {}
agents: {x: {steps: [{wait: -1}]}}
"""
    found = problems_of(text)

    assert [(each.where.line, each.code, each.where.path) for each in found] == [
        (2, "unknown-key", ""),
        (4, "wrong-type", "steps[0].say"),
        (5, "wrong-type", "steps[1].call.tool"),
        (5, "duplicate-key", ""),
        (5, "alias", ""),
        (6, "missing-key", "steps[2]"),
        (7, "missing-key", "agents.x.steps[0]"),
        (7, "wrong-type", "agents.x.steps[0].wait"),
    ]


def test_the_error_shows_each_problem_with_its_place() -> None:
    """Who only prints the error sees all there is to mend."""
    with pytest.raises(ConfigError) as raised:
        ScriptModel.parse("steps: [{sya: a}, {}]", file="demo.yaml")

    assert str(raised.value) == (
        "demo.yaml:1:10: a step has no key `sya`; did you mean `say`?\n"
        "demo.yaml:1:19: a step needs `say`, `call`, `calls` or `fail`, found nothing: write `say: ...`"
    )


def test_bytes_that_are_no_text_are_placed() -> None:
    """The line and the column of the first byte that is not UTF-8."""
    (problem,) = problems_of(b"steps:\n  - say: \xff")

    assert (problem.where.line, problem.where.column) == (2, 10)


def test_a_file_that_cannot_be_read_is_a_problem_of_the_whole_file(tmp_path: Path) -> None:
    """It has no line; the message says why."""
    with pytest.raises(ConfigError, match=r"cannot be read: .*Is a directory") as raised:
        ScriptModel.load(tmp_path)

    assert str(raised.value.problems[0].where) == str(tmp_path)


def test_size_is_bounded() -> None:
    """One byte over is too much."""
    script = b"steps: [{say: a}]\n#"
    ScriptModel.parse(script + b"x" * (256 * 1024 - len(script)))
    (problem,) = problems_of(script + b"x" * (256 * 1024 - len(script) + 1))

    assert problem.code == "too-large"


def test_the_number_of_problems_is_bounded() -> None:
    """A hundred are enough to begin with."""
    assert len(problems_of("steps:\n" + "- {}\n" * 1000)) == 100


def parsed(text: str | bytes) -> ScriptModel | ConfigError:
    try:
        return ScriptModel.parse(text)
    except ConfigError as error:
        return error


WORDS = ["steps", "say", "call", "calls", "fail", "wait", "tool", "input", "agents", "default", "category", "a", "1"]
MARKS = [": ", "\n", "\n  ", "- ", "{", "}", "[", "]", ", ", "'", '"', "&x ", "*x", "!!int ", "? ", "| ", "#", "\t"]
SCRIPTISH = st.lists(st.sampled_from(WORDS + MARKS), max_size=40).map("".join)


@given(st.one_of(st.binary(max_size=200), SCRIPTISH.map(str.encode), st.text(max_size=100)))
@example(b"steps: [{say: a}]")
@example(b"\xef\xbb\xbf")
@example("[" * 100_000)
@example("{a: " * 20_000)
@example("- " * 50_000)
@example("a: " + "9" * 5000)
@example("steps: [{wait: " + "9" * 5000 + "}]")
@example("- &a [*a, *a]\n" * 1000)
def test_anything_is_a_model_or_a_config_error(text: str | bytes) -> None:
    """No bytes and no text crash the reader, and whatever it refuses it can place."""
    outcome = parsed(text)
    if isinstance(outcome, ConfigError):
        assert outcome.problems
        assert all(problem.message and problem.where.line >= 0 for problem in outcome.problems)
