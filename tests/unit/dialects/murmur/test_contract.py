"""A hook's contract: what goes together, which rule is broken first, in its own words."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hookline.dialects.murmur.contract import LEGALITY, Broken, Contract, matrix, read_contract
from hookline.dialects.murmur.words import Binding, CommitPolicy, ExecutionMode

TABLE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("legality.yaml").read_text(encoding="utf-8"))
POLICIES: list[str] = TABLE["columns"]
BLOCKING = {
    (binding, policy): cell
    for binding, row in TABLE["blocking"].items()
    for policy, cell in zip(POLICIES, row, strict=True)
}
NO_BINDING = "absent"


def wanted_rule(binding: str, mode: str, policy: str) -> int | None:
    """What the table says; with `async` every policy that commits fails rule 5 first."""
    is_committing = policy != "none"
    asynchronous = 5 if is_committing else TABLE["async"][binding]
    cell = BLOCKING[binding, policy] if mode == "blocking" else asynchronous
    return None if cell == "ok" else int(cell)


def manifest(binding: str, mode: str, policy: str) -> bytes:
    written = "" if binding == NO_BINDING else f"binding: {binding}\n"
    return (
        f"name: h\nversion: 1.0.0\nruntime: hook\n{written}execution_mode: {mode}\ncommit_policy: {policy}\n".encode()
    )


CELLS = list(product(TABLE["blocking"], ("blocking", "async"), POLICIES))


@pytest.mark.parametrize(("binding", "mode", "policy"), CELLS)
def test_each_cell_of_the_table(binding: str, mode: str, policy: str) -> None:
    """Legal, or the rule that the table names, in its words, in the line of the field."""
    found = read_contract(manifest(binding, mode, policy))
    rule = wanted_rule(binding, mode, policy)
    if rule is None:
        assert (
            Contract(
                name="h",
                version="1.0.0",
                binding=None if binding == NO_BINDING else Binding(binding),
                execution_mode=ExecutionMode(mode),
                commit_policy=CommitPolicy(policy),
            )
            == found
        )
        return
    assert isinstance(found, Broken)
    honored = TABLE["honors"][binding]
    note = TABLE["remark"] if binding == "on-inference" else ""
    text = TABLE["texts"][rule].format(binding=binding, policy=policy, honored=honored) + (note if rule == 8 else "")
    line = (5 if binding != NO_BINDING else 4) + (rule != 6)
    assert (rule, text, line) == (found.rule, found.text, found.place.line)


def test_the_matrix_is_the_table() -> None:
    """What documentation derives from the rows is what the document of the format says."""
    found = {
        (binding.value if binding else NO_BINDING, mode.value, policy.value): rule
        for binding, mode, policy, rule in matrix()
    }

    assert {cell: wanted_rule(*cell) for cell in CELLS} == found
    assert {*Binding, None} == set(LEGALITY)


ALL_BINDINGS = (
    "on-stage, on-session-start, on-task-start, on-inference, on-tool-call, on-shell, on-compaction, on-task-end, "
    "on-session-end"
)
ALL_POLICIES = "none, replace-context, write-manifests, reopen-task, seed-context, deny"

# A manifest, the rule that it breaks, the beginning of the text, line and column.
BROKEN = [
    ("a: [", 1, "YAML parse error: ", 1, 5),
    ("a: 1\na: 2", 1, "YAML parse error: `a` stands here already, in line 1: keep one", 2, 1),
    ("- a", 1, "YAML parse error: the manifest has to be a mapping", 1, 1),
    ("binding: on-nonsense", 2, f"unknown binding 'on-nonsense'; expected: {ALL_BINDINGS}", 1, 10),
    ("execution_mode: lazy", 3, "unknown execution_mode 'lazy'; expected: blocking, async", 1, 17),
    ("commit_policy: allow", 4, f"unknown commit_policy 'allow'; expected: {ALL_POLICIES}", 1, 16),
    ("commit_policy: x\nexecution_mode: y\nbinding: z", 2, "unknown binding 'z'", 3, 10),
    ("commit_policy: x\nexecution_mode: y", 3, "unknown execution_mode 'y'", 2, 17),
    ("execution_mode: async\ncommit_policy: deny", 5, "async-with-commit not supported", 2, 16),
]


@pytest.mark.parametrize(("text", "rule", "said", "line", "column"), BROKEN)
def test_a_broken_contract_is_told_by_its_first_rule(text: str, rule: int, said: str, line: int, column: int) -> None:
    """In the order of checking, whatever the order in the file."""
    found = read_contract(text.encode())

    assert isinstance(found, Broken)
    assert (rule, line, column) == (found.rule, found.place.line, found.place.column)
    assert found.text.startswith(said)


def test_only_name_and_runtime() -> None:
    """C1: called at every event, waited for, commits nothing."""
    assert Contract(name="h") == read_contract(b"name: h\nruntime: hook\n")


@pytest.mark.parametrize("value", ["1", "true", "null", "", "[on-shell]", "{a: b}", "1.5"])
def test_what_is_not_text_counts_as_not_written(value: str) -> None:
    """And other keys are nobody's business here, a hook's own grants least of all."""
    text = f"binding: {value}\nexecution_mode: {value}\ncommit_policy: {value}\ncapabilities: {{network: x}}\nzzz: 1"

    assert Contract() == read_contract(text.encode())


@settings(deadline=None)
@given(
    st.binary(max_size=100)
    | st.dictionaries(st.sampled_from(["binding", "commit_policy", "name"]), st.text(max_size=9)).map(
        lambda each: yaml.dump(each).encode()
    )
)
@example(b"[" * 10_000)
def test_any_bytes_are_a_contract_or_a_broken_one(data: bytes) -> None:
    """With a rule from 1 to 8 and words."""
    found = read_contract(data)

    assert isinstance(found, Contract) or (found.rule in range(1, 9) and found.text)
