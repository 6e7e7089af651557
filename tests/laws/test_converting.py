"""Laws of hooks that are written anew: what is in the new file is what was in the old one, and the rest is told."""

import json
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.laws.drawn import LAW

from hookline._core.hooks import Hook, Source
from hookline._core.problems import Scope
from hookline._core.rules import FailurePolicy
from hookline._core.targets import CommandTarget
from hookline.dialects import DIALECTS, meerkat, muse
from hookline.dialects._base import Loaded, Package, Written
from hookline.dialects.meerkat.build import hooks_of
from hookline.dialects.meerkat.entries import Command, Entry, HooksConfig, Http, InProcess
from hookline.dialects.meerkat.words import POST_COMMIT, Capability, HookPoint, Mode
from hookline.dialects.muse.config import read_document
from hookline.dialects.muse.environment import Launch
from hookline.dialects.muse.rules import RULES
from hookline.workbench.convert import standing_alone
from hookline.workbench.foreign import looks_like
from hookline.workbench.foreign_hooks import read_foreign
from hookline.workbench.foreign_tools import TOOLS

LAUNCH = Launch(("/bin/sh", "-c"), {})
SOURCE = Source(layer="project", label="hooks.json", path="/p/hooks.json")

nasty = st.sampled_from(
    ["", " ", "x", "'", '"', "\\", "\n", "\t", "\x7f", "é", "😀", "$A", "a b", "-c", "\u2028", "{}"]
)
texts = st.lists(nasty | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), max_size=4).map(
    "".join
)
matchers = st.sampled_from(["", "*", "Bash", "bash|read_file", "^web_", "mcp__.*", "|", "a-b"])
seconds = st.integers(0, 700) | st.just(2**40)

handlers = st.fixed_dictionaries(
    {"type": st.just("command"), "command": texts},
    optional={
        "timeout": seconds,
        "async": st.booleans(),
        "statusMessage": texts,
        "onFailure": st.fixed_dictionaries({"type": st.just("command"), "command": texts}),
        "if": st.sampled_from(["Bash", "Bash(git *)"]),
    },
)
groups = st.fixed_dictionaries({"hooks": st.lists(handlers, max_size=3)}, optional={"matcher": matchers})
documents = st.dictionaries(
    st.sampled_from([rule.name for rule in RULES]), st.lists(groups, max_size=2), max_size=4
).map(lambda hooks: {"hooks": hooks})

words = texts.filter(str.strip)
variables = st.dictionaries(st.sampled_from(["A", "B"]), texts, max_size=1).map(lambda each: tuple(each.items()))
runtimes = st.one_of(
    st.builds(Command, command=words, args=st.lists(texts, max_size=3).map(tuple), env=variables),
    st.builds(Command, command=st.just("sh"), args=texts.map(lambda line: ("-c", line))),
    st.just(Http("https://example.com/hook")),
    st.just(InProcess("named")),
)


@st.composite
def configurations(draw: Any) -> tuple[Hook, ...]:
    """What Meerkat makes of entries that may stand together."""
    entries = []
    for number in range(draw(st.integers(0, 5))):
        point = draw(st.sampled_from(HookPoint))
        mode = draw(st.sampled_from(Mode))
        bound = mode is Mode.BACKGROUND or point in POST_COMMIT
        entries.append(
            Entry(
                id=f"{draw(words)}{number}",
                point=point,
                mode=mode,
                capability=Capability.OBSERVE if bound else draw(st.sampled_from(Capability)),
                priority=draw(st.sampled_from([100, 100, 1, 2**31 - 1])),
                timeout_ms=draw(st.none() | st.integers(0, 90_000) | st.just(2**50)),
                runtime=draw(runtimes),
            )
        )
    return hooks_of(HooksConfig(entries=tuple(entries)), entries, {})


def muse_hooks(document: Any) -> tuple[Hook, ...]:
    return tuple(
        standing_alone(hook, muse.PACKAGE)
        for hook in read_document(json.dumps(document).encode(), source=SOURCE, launch=LAUNCH).hooks
    )


def written(package: Package, hooks: Sequence[Hook]) -> Written:
    assert package.write is not None
    return package.write(hooks)


def loaded(package: Package, done: Written) -> Loaded:
    """What the dialect's own loader makes of the text."""
    assert package.load_file is not None
    (suffix,) = DIALECTS[package.dialect.name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"hooks{suffix}")
        path.write_text(done.text, encoding="utf-8")
        return package.load_file(path, {})


def kept(hooks: Sequence[Hook], done: Written) -> list[Hook]:
    gone = {loss.hook for loss in done.losses if loss.left_out}
    return [hook for hook in hooks if hook.id not in gone]


def about(hook: Hook, done: Written) -> list[str]:
    return [loss.why for loss in done.losses if loss.hook == hook.id]


def timeout_of(hook: Hook, again: Hook, done: Written) -> float:
    """Its own, or the one that it is told to have now."""
    return again.timeout if any(why.startswith("timeouts are") for why in about(hook, done)) else hook.timeout


@LAW
@given(documents)
def test_what_meerkat_is_given_of_muse_is_there(document: Any) -> None:
    """Each hook is told to be missing, or is in the file with its point, command, timeout and mode: nothing is lost."""
    hooks = muse_hooks(document)
    done = written(meerkat.PACKAGE, hooks)
    again = loaded(meerkat.PACKAGE, done)

    assert () == again.problems
    there = kept(hooks, done)
    assert len(there) == done.count == len(again.hooks)
    for old, new in zip(there, again.hooks, strict=True):
        assert (old.event, old.target.argv, old.background) == (new.event, new.target.argv, new.background)
        assert timeout_of(old, new, done) == new.timeout


@LAW
@given(configurations())
def test_what_muse_is_given_of_meerkat_is_there(hooks: tuple[Hook, ...]) -> None:
    """The same the other way, at every event that the point has there; a guard that fails still refuses."""
    hooks = tuple(standing_alone(hook, meerkat.PACKAGE) for hook in hooks)
    done = written(muse.PACKAGE, hooks)
    again = loaded(muse.PACKAGE, done)

    assert () == again.problems
    there = sorted(kept(hooks, done), key=lambda hook: hook.priority)
    assert len(there) == done.count
    for event in muse.PACKAGE.dialect.rules:
        old_ones = [hook for hook in there if event in hook.events]
        new_ones = [hook for hook in again.hooks if hook.event is event]
        for old, new in zip(old_ones, new_ones, strict=True):
            assert isinstance(old.target, CommandTarget)
            assert old.target.argv in {new.target.argv, ("sh", *new.target.argv[1:])} or (
                list(old.target.argv) == as_run(new)
            )
            assert (old.background, timeout_of(old, new, done)) == (new.background, new.timeout)
            guards = not old.background and refuses_when_it_fails(old)
            assert guards == (new.fallback is not None)


def refuses_when_it_fails(hook: Hook) -> bool:
    return bool(hook.commits) and hook.on_failure is FailurePolicy.FAIL_RUN


def as_run(hook: Hook) -> list[str]:
    """The words that a shell makes of the line."""
    return shlex.split(hook.target.written)  # type: ignore[attr-defined]


@LAW
@given(documents)
def test_there_and_back(document: Any) -> None:
    """What no loss is told of on either way is as it was."""
    hooks = muse_hooks(document)
    there = written(meerkat.PACKAGE, hooks)
    between = tuple(standing_alone(hook, meerkat.PACKAGE) for hook in loaded(meerkat.PACKAGE, there).hooks)
    back = written(muse.PACKAGE, between)
    at_home = loaded(muse.PACKAGE, back).hooks

    for old, middle in zip(kept(hooks, there), between, strict=True):
        if about(old, there) or about(middle, back):
            continue
        twins = [new for new in at_home if (new.event, new.target) == (old.event, old.target)]
        assert any((old.timeout, old.background) == (new.timeout, new.background) for new in twins)


@LAW
@given(documents)
def test_muse_says_its_own(document: Any) -> None:
    """What is written of a dialect's own hooks and read again is the same, matcher, condition and fallback included."""
    hooks = tuple(read_document(json.dumps(document).encode(), source=SOURCE, launch=LAUNCH).hooks)
    done = written(muse.PACKAGE, hooks)

    assert () == done.losses
    assert sorted(map(meaning, hooks)) == sorted(map(meaning, loaded(muse.PACKAGE, done).hooks))


def meaning(hook: Hook) -> str:
    fallback = meaning(hook.fallback) if hook.fallback else ""
    said = (hook.event.__name__, hook.target, hook.matcher, hook.condition, hook.timeout, hook.background, hook.label)
    return f"{said}{fallback}"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
KEYS = [
    "type",
    "command",
    "bash",
    "timeout",
    "timeoutSec",
    "timeout_ms",
    "matcher",
    "async",
    "args",
    "env",
    "cwd",
    "if",
]
KEYS += ["onFailure", "failClosed", "statusMessage", "shell", "hooks", "prompt"]
likely = st.one_of(
    values, st.sampled_from(["command", "Bash", "*", "block", "run_shell_command|replace", "(", 5, True])
)
entries = st.dictionaries(st.sampled_from(KEYS), likely, max_size=6) | values
EVENTS = sorted({event for tool in TOOLS for event in tool.events})
under = st.lists(entries | st.fixed_dictionaries({"hooks": st.lists(entries, max_size=2)}), max_size=3) | values
foreign = st.dictionaries(st.sampled_from(EVENTS) | texts, under, max_size=4).map(lambda hooks: {"hooks": hooks})


@LAW
@given(foreign | values, st.sampled_from(TOOLS), st.sampled_from([muse.PACKAGE, meerkat.PACKAGE]))
def test_any_document_of_another_tool(document: Any, tool: Any, package: Package) -> None:
    """Whatever stands in it, the file that comes of it is loaded without a problem, and holds what it is said to."""
    reading = read_foreign(document, tool, SOURCE)
    done = written(package, reading.hooks)
    again = loaded(package, done)

    assert [] == [problem for problem in again.problems if problem.scope is not Scope.NOTE]
    assert done.count <= len(again.hooks)
    assert len(kept(reading.hooks, done)) == done.count


@LAW
@given(foreign | values)
def test_any_document_looks_like_something_or_nothing(document: Any) -> None:
    """The answer has its marks, and is the same when asked twice."""
    likeness = looks_like(document)

    assert likeness == looks_like(document)
    assert likeness is None or likeness.marks
