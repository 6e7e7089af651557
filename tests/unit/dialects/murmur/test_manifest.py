"""Reading a capsule's manifest: every mistake with its place and its words; and what a sound file means."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hookline._core.capsule import (
    Acceptance,
    AfterTask,
    Artifact,
    ArtifactKind,
    CallLimits,
    Capsule,
    Context,
    Destination,
    Grant,
    Inference,
    Lifecycle,
    Transport,
)
from hookline._core.problems import Scope, Where
from hookline._yaml.composing import _LINE_END
from hookline.dialects._files import LARGEST
from hookline.dialects.murmur.kinds import MAX_CONFIG
from hookline.dialects.murmur.manifest import Found, parse_capsule, read_capsule
from hookline.dialects.murmur.schema import rows

FILE = Path("folder/demo.yaml")
HEAD = "name: demo\nversion: 1.0.0\n"
HOOK = f"{HEAD}artifacts:\n- name: a\n  version: 1.0.0\n  runtime: hook\n  capabilities: "

BAD: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("bad_manifests.yaml").read_text(encoding="utf-8"))


def read(text: str | bytes) -> Found:
    return parse_capsule(text.encode() if isinstance(text, str) else text, FILE)


def sound(more: str) -> Capsule:
    """The capsule of a manifest that has *more* after its name and version, and nothing wrong."""
    capsule, problems = read(HEAD + more)
    assert not [each for each in problems if each.scope is not Scope.NOTE]
    assert capsule is not None
    return capsule


def hook(entry: str) -> Artifact:
    """The hook of a manifest whose entry for it has *entry* too."""
    return sound(f"artifacts: [{{name: a, version: 1.0.0, runtime: hook, {entry}}}]").artifacts[0]


def text_of(row: dict[str, Any]) -> str:
    if "grant" in row:
        return f"{HOOK}{{{row['grant']}}}"
    return str(row["text"]) if "text" in row else HEAD + row["more"]


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{n}-{row['note']}") for n, row in enumerate(BAD)])
def test_a_mistake_is_one_problem_with_its_place(row: dict[str, Any]) -> None:
    """Nothing starts, the place is where to look, the message says what is wrong, and nothing is said twice."""
    capsule, problems = read(text_of(row))
    (problem,) = [each for each in problems if each.scope is not Scope.NOTE]

    assert capsule is None
    assert row["at"] == f"{problem.where.line}:{problem.where.column}"
    assert row["code"] == problem.code
    assert row["says"] in problem.message
    assert problem.scope is Scope.SETTINGS
    assert ("folder/demo.yaml", "demo.yaml") == (problem.where.file, problem.where.label)


def test_all_mistakes_are_told_at_once_in_order() -> None:
    """Of every table, with the path of each value."""
    text = """
name: Demo
artifacts:
  - {name: a, version: 1.0.0, runtime: hook, capabilities: {network: {allow: [h, "h/", "ftp://h"]}}}
  - {name: a, on_overflow: drop}
inference: {max_turns: 0}
trace: {captures: meta}
"""
    assert [
        (2, "", "E-MAN-003"),
        (2, "name", "E-MAN-003"),
        (4, "artifacts[0].capabilities.network.allow[1]", "E-CAP-001"),
        (4, "artifacts[0].capabilities.network.allow[2]", "E-CAP-001"),
        (5, "artifacts[1]", "E-MAN-003"),
        (5, "artifacts[1].name", "E-MAN-003"),
        (5, "artifacts[1].on_overflow", "E-MAN-003"),
        (6, "inference.max_turns", "E-MAN-003"),
        (7, "trace", "E-MAN-003"),
    ] == [(each.where.line, each.where.path, each.code) for each in read(text).problems]


def test_the_least_manifest_has_every_default() -> None:
    """A name and a version: nothing is granted, one task is taken."""
    assert Capsule(
        name="demo",
        version="1.0.0",
        path=FILE,
        inference=Inference(has_driver=False),
        context=Context(record_store="demo"),
    ) == sound("")


WHOLE = """
description: What it does.
artifacts:
  - {name: git-tool, version: 0.1.0}
  - name: guard
    version: 2.0.0
    runtime: hook
    config: {protect: ["tests/", é], z: 1.0, a: null, n: {b: true}}
    on_overflow: block
    capabilities:
      network: {allow: ["HTTPS://Collector.Example.", "localhost:4318", "[0:0::1]"]}
      filesystem: {scope: "./a/../hook-state/"}
      state: {}
      task_io: {read: true}
      conversation: {read: false}
  - {name: memory, version: 2.0.0, runtime: hook, capabilities: {state: {store: shared}}}
  - {name: notes, version: 1.0.0, runtime: skill}
capabilities:
  shell: {allow: [bash, git, bash]}
  network: {allow: [example.com]}
  filesystem: {scope: ., read_only: [tests, ./docs/a]}
  limits: {deadline_seconds: 0.5, memory_bytes: 1024, table_elements: 10, instances: 3}
inference:
  transport: http
  model: large
  driver: {artifact: driver}
  max_turns: 7
  max_tokens: 100
  compaction: {threshold: 1, model: small, system_prompt: "Two\\nlines", dump_summaries: true}
context: {max_tokens: 1000, seed_budget: 0, seed_overflow_margin: 1.0, record: off, record_store: kept}
lifecycle: {task_acceptance: queue, after_task: sleep, queue_depth: 9, conversation: threaded, max_task_reopens: 0}
observability:
  otel_endpoint: http://localhost:4318/otlp
  eval: {dataset_id: d, scorers: [{type: tool_sequence, name: order, expected: [bash]}, {type: exit_ok, name: ok}]}
trace: {capture: full}
"""


def test_every_key_has_its_meaning() -> None:
    """A manifest with every key that has an effect; what is written in several ways has one spelling here."""
    capsule = sound(WHOLE)
    where = {each.name: each.where for each in capsule.artifacts}
    guard = Grant(
        network=(
            Destination(host="collector.example", port=443, scheme="https"),
            Destination(host="localhost", port=4318),
            Destination(host="::1"),
        ),
        scope="hook-state",
        state="demo",
        reads_task=True,
    )
    hook, tool = ArtifactKind.HOOK, ArtifactKind.TOOL
    config = '{"protect":["tests/","é"],"z":1.0,"a":null,"n":{"b":true}}'

    assert (
        Artifact(name="git-tool", version="0.1.0", kind=tool, where=where["git-tool"]),
        Artifact(
            name="guard", version="2.0.0", kind=hook, grant=guard, config=config, waits=True, where=where["guard"]
        ),
        Artifact(name="memory", version="2.0.0", kind=hook, grant=Grant(state="shared"), where=where["memory"]),
        Artifact(name="notes", version="1.0.0", kind=ArtifactKind.SKILL, where=where["notes"]),
    ) == capsule.artifacts
    assert Where(file=str(FILE), label="demo.yaml", line=7, column=5, path="artifacts[1]") == where["guard"]
    assert (
        Capsule(
            name="demo",
            version="1.0.0",
            path=FILE,
            description="What it does.",
            artifacts=capsule.artifacts,
            shell_allow=("bash", "git"),
            network=(Destination(host="example.com"),),
            scope=".",
            read_only=("tests", "docs/a"),
            limits=CallLimits(deadline=0.5, memory_bytes=1024, table_elements=10, instances=3),
            inference=Inference(
                transport=Transport.HTTP,
                has_driver=True,
                model="large",
                driver="driver",
                max_turns=7,
                max_tokens=100,
                compaction_threshold=1.0,
                compaction_model="small",
                compaction_prompt="Two\nlines",
                dumps_summaries=True,
            ),
            context=Context(
                max_tokens=1000, seed_budget=0.0, seed_overflow_margin=1.0, record=False, record_store="kept"
            ),
            lifecycle=Lifecycle(
                acceptance=Acceptance.QUEUE, after_task=AfterTask.SLEEP, queue_depth=9, threaded=True, max_reopens=0
            ),
            otel_endpoint="http://localhost:4318/otlp",
            evaluation={
                "dataset_id": "d",
                "scorers": [
                    {"type": "tool_sequence", "name": "order", "expected": ["bash"]},
                    {"type": "exit_ok", "name": "ok"},
                ],
            },
            capture=True,
        )
        == capsule
    )


def test_the_whole_manifest_writes_every_key_that_has_an_effect() -> None:
    """So that no key can come to be read as nothing unseen; a scorer's bound and the prompt's file stand elsewhere."""
    written = {each.where.path for each in read(WHOLE).problems}
    names = {path.rpartition(".")[2] for path, row in rows() if row.inert is None}

    assert {""} == written  # only the missing name and version, as it was left out here
    assert {"max", "system_prompt_file", "name", "version"} >= {name for name in names if f"{name}:" not in WHOLE}


def test_a_hook_process_capsule_has_no_driver() -> None:
    """A hook cannot ask a model that is reached as a process."""
    capsule = sound("inference: {transport: process, driver: {artifact: d}}")

    assert (Transport.PROCESS, False) == (capsule.inference.transport, capsule.inference.has_driver)


def test_a_hook_has_nothing_of_the_capsules_grants() -> None:
    """C10: what is not in its own entry is not granted."""
    more = "capabilities: {network: {allow: [h]}, filesystem: {scope: .}, conversation: {read: true}}"
    capsule = sound(f"artifacts: [{{name: a, version: 1.0.0, runtime: hook}}]\n{more}")

    assert Grant() == capsule.artifacts[0].grant
    assert ("network", "filesystem") == capsule.capabilities


@pytest.mark.parametrize(
    ("more", "code", "at"),
    [
        *(
            (
                f"artifacts: [{{name: a, version: 1.0.0, runtime: hook, capabilities: {{{key}: {{x: 1}}}}}}]",
                "W-SEC-006",
                69,
            )
            for key in ("shell", "spawn", "env", "limits", "resources", "containment")
        ),
        ("artifacts: [{name: a, version: 1.0.0, capabilities: {network: {allow: [h]}}}]", "W-SEC-006", 53),
        ("capabilities: {conversation: {read: true}}", "W-SEC-016", 16),
        ("lifecycle: {shell_grace_secs: 10}", "LaterRevision", 13),
    ],
)
def test_what_has_no_effect_is_told(more: str, code: str, at: int) -> None:
    """The capsule starts all the same, and nothing is granted by it."""
    capsule, (note,) = read(HEAD + more)

    assert (Scope.NOTE, code, 3, at) == (note.scope, note.code, note.where.line, note.where.column)
    assert "has no effect here" in note.message
    assert capsule is not None
    assert all(Grant() == each.grant for each in capsule.artifacts)


def test_overflow_is_legal_on_every_hook() -> None:
    """Also on one that turns out to be waited for, where it changes nothing; to drop is the default."""
    assert [True, False, False] == [hook(each).waits for each in ("on_overflow: block", "on_overflow: drop", "")]


def test_a_config_is_bounded_as_json() -> None:
    """Not by what it takes in the file: quotes and spaces count as JSON has them."""
    most = "é" * ((MAX_CONFIG - 8) // 2)

    assert MAX_CONFIG == len(hook(f"config: {{a:     {most}}}").config.encode())
    _, (problem,) = read(f"{HEAD}artifacts: [{{name: a, version: 1.0.0, config: {{a: {most}x}}}}]")
    assert ("E-CAP-010", 47) == (problem.code, problem.where.column)
    assert f"{MAX_CONFIG + 1} bytes of JSON" in problem.message


def test_an_empty_config_is_one() -> None:
    """Its hook is told that there is nothing in it."""
    assert "{}" == hook("config: {}").config


def test_the_prompt_may_be_a_file_beside_the_manifest(tmp_path: Path) -> None:
    """Its text is taken as it is, without a byte order mark."""
    manifest = tmp_path / "capsule.yaml"
    manifest.write_text(f"{HEAD}inference: {{compaction: {{system_prompt_file: prompt.md}}}}")
    (tmp_path / "prompt.md").write_bytes(b"\xef\xbb\xbfShort.\n")
    capsule, problems = read_capsule(manifest)

    assert () == problems
    assert capsule is not None
    assert "Short.\n" == capsule.inference.compaction_prompt

    (tmp_path / "prompt.md").write_bytes(b"\xff")
    assert "it is not UTF-8" in read_capsule(manifest).problems[0].message


def test_a_byte_order_mark_is_no_mistake() -> None:
    """Editors put it there, and columns are counted without it."""
    assert read(b"\xef\xbb\xbf" + HEAD.encode()).capsule == read(HEAD).capsule
    assert 1 == read(b"\xef\xbb\xbfnane: x").problems[0].where.column


def test_bytes_that_are_no_text_are_placed() -> None:
    """The line and the column of the first byte that is not UTF-8."""
    _, (problem,) = read(b"name: a\nversion: \xff")

    assert ("not-utf8", 2, 10) == (problem.code, problem.where.line, problem.where.column)


def test_depth_is_bounded() -> None:
    """In data too."""
    deep = "[" * 40 + "]" * 40
    _, (problem,) = read(f"{HEAD}artifacts: [{{name: a, version: 1.0.0, config: {{x: {deep}}}}}]")

    assert ("too-deep", 3) == (problem.code, problem.where.line)


def test_a_file_that_cannot_be_read_is_a_problem_of_the_whole_file(tmp_path: Path) -> None:
    """It has no line; the message says why."""
    (tmp_path / "large.yaml").write_bytes(b"#" * (LARGEST + 1))
    found = [read_capsule(path) for path in (tmp_path, tmp_path / "no.yaml", tmp_path / "large.yaml", Path("a\0"))]

    assert [None] * 4 == [capsule for capsule, _ in found]
    assert ["unreadable", "unreadable", "too-large", "unreadable"] == [each.problems[0].code for each in found]
    assert str(tmp_path) == str(found[0].problems[0].where)


def test_the_number_of_problems_is_bounded() -> None:
    """A hundred are enough to begin with; notes do not count."""
    notes = "".join(f"- {{name: a{n}, version: 1.0.0, capabilities: {{}}}}\n" for n in range(150))
    capsule, problems = read(f"{HEAD}artifacts:\n{notes}")

    assert capsule is not None
    assert 150 == len(problems)
    assert 100 == len(read(f"{HEAD}artifacts:\n" + "- {}\n" * 200).problems)


def lines(text: str) -> int:
    return len(_LINE_END.split(text))


NAMES = sorted({path.rpartition(".")[2] for path, _ in rows()})
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 5),
    st.floats(),
    st.sampled_from(["hook", "on", "queue", "https://h", "../x", "1.0.0", "a", "~", "\x85", ""]),
    st.text(max_size=5),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=15,
)
MARKS = [
    ": ",
    "\n",
    "\n  ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    ", ",
    "'",
    '"',
    "&x ",
    "*x",
    "!!int ",
    "? ",
    "| ",
    "#",
    "\t",
    "\r",
]
MANIFESTISH = st.lists(st.sampled_from(NAMES + MARKS), max_size=40).map("".join)


@settings(deadline=None)
@given(
    st.one_of(st.binary(max_size=200), MANIFESTISH.map(str.encode), VALUES.map(lambda each: yaml.dump(each).encode()))
)
@example(b"")
@example(b"[" * 100_000)
@example(b"name: \xe2\x80\xa8\xe2\x80\xa8[")
@example(b"{? ")
@example(b"name: &a [*a, *a]\n" * 300)
@example(b"inference: {max_turns: " + b"9" * 5000 + b"}")
@example(b'name: "\\ud800"')
@example(b'artifacts: [{name: a, version: "1", config: {x: "\\ud83d\\ude00"}}]')
def test_anything_is_a_capsule_or_problems(data: bytes) -> None:
    """No bytes and no value crash the reader, and each problem has a place within the file."""
    capsule, problems = read(data)
    wrong = [each for each in problems if each.scope is not Scope.NOTE]

    assert (capsule is None) == bool(wrong)
    assert all(each.message and each.code for each in problems)
    text = data.decode(errors="replace")
    assert all(1 <= each.where.line <= lines(text) and each.where.column >= 1 for each in problems)


@settings(deadline=None)
@given(VALUES)
def test_any_value_of_any_key_is_read_or_refused(value: Any) -> None:
    """In the place of each key at the top."""
    for name in ("artifacts", "capabilities", "inference", "context", "lifecycle", "observability", "trace"):
        capsule, problems = read(HEAD + yaml.dump({name: value}))
        assert (capsule is None) == any(each.scope is not Scope.NOTE for each in problems)
