"""Laws of loading Muse files: whatever stands in them, and whatever was wrong with only a part of it."""

import copy
import json
import re
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hookline._core.errors import ConfigError
from hookline._core.events import BeforeToolCall
from hookline._core.hooks import Hook, Source
from hookline._core.problems import Scope
from hookline.dialects._base import Loaded
from hookline.dialects._kinds import ARRAY, BOOLEAN, NON_NEGATIVE_INTEGER, OBJECT, STRING
from hookline.dialects._pattern import compile_matcher
from hookline.dialects.muse.config import Found, read_document, read_hooks
from hookline.dialects.muse.environment import Launch
from hookline.dialects.muse.report import startup_lines
from hookline.dialects.muse.rules import RULES
from hookline.dialects.muse.selector import ShellCommand, matches_glob, simple_commands
from hookline.dialects.muse.settings import parse_settings, switched_off
from hookline.dialects.muse.shape import FIELDS
from hookline.dialects.muse.strict import STRICT_FIELDS

LAW = settings(deadline=None)  # how fast the machine is belongs to no law
LAUNCH = Launch(("/bin/sh", "-c"), {}, windows=False)
SETTINGS = Path("/c/settings.json")

# Words that mean something here, so that what is generated gets further than the first check.
WORDS = [
    *(rule.name for rule in RULES),
    *FIELDS,
    *("hooks", "matcher", "state", "name", "timeout_ms", "shell", "args", "rewake", "OnSave", "schema_version"),
    *("managed_hooks_path", "managed_hooks_env_vars", "command", "Bash", "Bash(git *)", "[", "^web_", "*", ""),
]
words = st.sampled_from(WORDS) | st.text(max_size=5)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)

# Documents of the right shape, in which a few values have the wrong type.
BY_KIND = {
    STRING: words,
    BOOLEAN: st.booleans(),
    NON_NEGATIVE_INTEGER: st.integers(min_value=0),
    ARRAY: st.lists(st.just("skills.v1"), max_size=2),
    OBJECT: st.deferred(lambda: handlers),
}
fields = [st.tuples(st.just(name), BY_KIND[kind]) for name, kind in STRICT_FIELDS.items()]
right_handlers = st.lists(st.one_of(*fields, st.tuples(words, scalars)), max_size=2).map(
    lambda members: {"type": "command", "command": "true", **dict(members)}
)
handlers = st.one_of(right_handlers, right_handlers, right_handlers, anything)
groups = st.fixed_dictionaries({"hooks": st.lists(handlers, min_size=1, max_size=3)}, optional={"matcher": words})
names = st.sampled_from([rule.name for rule in RULES])
event_maps = st.dictionaries(st.one_of(names, names, words), st.lists(groups, min_size=1, max_size=3), max_size=3)
documents = st.fixed_dictionaries({"hooks": event_maps}, optional={"x": anything})


def read(document: Any, layer: str = "project") -> Found:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return read_document(data, source=Source(layer=layer, label="hooks.json", path="/p/hooks.json"), launch=LAUNCH)


def assert_sound(found: Found) -> None:
    """What every load has to bring back."""
    ids = [hook.id for hook in found.hooks]
    assert len(ids) == len(set(ids))
    for hook in found.hooks:
        assert hook.timeout >= 1
        assert not (hook.background and hook.commits)
        assert hook.commits <= hook.event.point.admits
    for problem in found.problems:
        assert problem.message
        assert problem.scope is not Scope.SETTINGS
    if any(problem.scope is Scope.FILE for problem in found.problems):
        assert (found.hooks, len(found.problems)) == ((), 1)
    lines = startup_lines(Loaded(hooks=found.hooks, problems=found.problems), "muse")
    assert len(lines) <= 5
    assert all(line.isprintable() for line in lines)


@LAW
@given(st.binary(max_size=200) | anything.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_load(data: bytes) -> None:
    """Any bytes as a hook file are hooks and problems, and nothing is raised."""
    assert_sound(read(data))


@LAW
@given(documents, st.sampled_from(["managed", "user", "project"]))
def test_any_document_loads(document: Any, layer: str) -> None:
    """Any JSON as a hook file of any source is hooks and problems, and nothing is raised."""
    assert_sound(read(document, layer))


@LAW
@given(
    st.binary(max_size=200)
    | st.fixed_dictionaries({"schema_version": st.just(1) | anything, "hooks": event_maps | anything}).map(
        lambda value: json.dumps(value).encode()
    )
)
def test_any_bytes_as_settings_load_or_stop_the_start(data: bytes) -> None:
    """Any bytes as a settings file are settings or one ConfigError with one problem; their hooks load like any."""
    try:
        parsed = parse_settings(data, SETTINGS)
    except ConfigError as error:
        [problem] = error.problems
        assert Scope.SETTINGS is problem.scope
        return
    assert parsed.document is not None
    found = read_hooks(parsed.document, launch=LAUNCH, reserved=frozenset({"state"}))
    assert_sound(found)
    if not any(problem.scope is Scope.FILE for problem in found.problems):
        switched_off(parsed.document)


GOOD = {
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "Bash|Edit",
                "hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": "b"}],
            },
            {"matcher": "^web_", "hooks": [{"type": "command", "command": "c", "timeout": 5}]},
        ],
        "Stop": [{"hooks": [{"type": "command", "command": "d", "async": True}]}],
    }
}

# Handlers that are skipped, each for itself.
bad_handlers = st.one_of(
    st.dictionaries(st.text(min_size=1, max_size=5).filter(lambda key: key not in FIELDS), scalars, min_size=1),
    st.sampled_from(
        [{}, {"type": "command"}, {"type": "Command", "command": "x"}, {"type": "command", "command": " "},
         {"type": "command", "command": "x", "if": "Read"}, {"type": "command", "command": "x", "once": True},
         {"type": "command", "command": "x", "onFailure": {}}]
    ),
)  # fmt: skip


def commands(hooks: tuple[Hook, ...]) -> list[str]:
    return [hook.target.written for hook in hooks]  # type: ignore[attr-defined]


@LAW
@given(bad_handlers, st.sampled_from(["PreToolUse", "Stop"]), st.booleans())
def test_a_bad_handler_changes_no_other(bad: dict[str, Any], event: str, first: bool) -> None:
    """A handler that is skipped leaves every other one as it was, wherever it is put in, and is one problem."""
    document = copy.deepcopy(GOOD)
    neighbours = document["hooks"][event][0]["hooks"]
    neighbours.insert(0 if first else len(neighbours), bad)

    found = read(document)

    assert commands(found.hooks) == ["a", "b", "c", "d"]
    assert {hook.key for hook in read(GOOD).hooks} == {hook.key for hook in found.hooks}
    assert [problem.scope for problem in found.problems] == [Scope.HOOK]


@LAW
@given(st.text(max_size=8).filter(lambda name: name not in {rule.name for rule in RULES}), anything)
def test_an_unknown_event_changes_nothing_else(name: str, value: Any) -> None:
    """Whatever stands under a name that is no event, the events beside it load as they would without it."""
    document = {"hooks": {name: value, **GOOD["hooks"]}}

    found = read(document)

    assert commands(found.hooks) == ["a", "b", "c", "d"]
    assert [problem.scope for problem in found.problems] == [Scope.POINT]


@LAW
@given(
    st.sampled_from([("type", 1), ("timeout", "1"), ("timeout", True), ("async", 0), ("onFailure", []), ("if", None)])
)
def test_a_wrong_type_takes_everything(fault: tuple[str, Any]) -> None:
    """One wrong type in any handler leaves nothing of the file, however many handlers are right."""
    name, value = fault
    for event, group, index in (("PreToolUse", 0, 0), ("PreToolUse", 0, 1), ("PreToolUse", 1, 0), ("Stop", 0, 0)):
        document: Any = copy.deepcopy(GOOD)
        document["hooks"][event][group]["hooks"][index][name] = value

        found = read(document)

        assert found.hooks == ()
        [problem] = found.problems
        assert f"hooks.{event}[{group}].hooks[{index}].{name}" == problem.where.path


@LAW
@given(documents)
def test_loading_is_repeatable(document: Any) -> None:
    """The same bytes are the same hooks, ids, keys and problems every time."""
    once, again = read(document), read(document)

    assert [(hook.id, hook.key) for hook in once.hooks] == [(hook.id, hook.key) for hook in again.hooks]
    assert once.problems == again.problems


surrogates = st.characters(categories=["Cs"])


@LAW
@given(st.text(max_size=30), st.lists(st.text(st.characters() | surrogates, max_size=30), max_size=4).map(tuple))
def test_a_matcher_never_raises(text: str, subjects: tuple[str, ...]) -> None:
    """Any text is a matcher or words, and a matcher says yes or no to any subjects, half characters included."""
    matcher = compile_matcher(text)

    if isinstance(matcher, str):
        assert matcher
    else:
        assert matcher.matches(subjects) in (True, False)


@LAW
@given(st.text("abc|_0", min_size=1, max_size=12), st.text("abc_0", max_size=4))
def test_a_list_matches_its_words_and_nothing_else(text: str, subject: str) -> None:
    """The list form is equality with one of its words."""
    matcher = compile_matcher(text)

    assert not isinstance(matcher, str)
    assert (subject != "" and subject in text.split("|")) == matcher.matches((subject,))


@LAW
@given(st.text("git \t\n;&|'\"\\$`(){}<>=#", max_size=30))
def test_any_line_is_taken_apart_or_given_up(line: str) -> None:
    """Any command line is taken apart into parts of it, or given up; written as a selector, it selects itself."""
    found = simple_commands(line)

    assert found is None or all(written in line for written in found[::3])
    assert ShellCommand(line.strip() or "*")(BeforeToolCall(tool_name="bash", input={"command": line}))


@LAW
@given(st.text("ab*", max_size=10), st.text("ab", max_size=12))
def test_a_glob_is_what_its_stars_say(glob: str, text: str) -> None:
    """A glob without a special ending agrees with the regular expression that it abbreviates."""
    expression = ".*".join(map(re.escape, glob.split("*")))
    assert (re.fullmatch(expression, text) is not None) == matches_glob(glob, text)
