"""A hook's own manifest: when it is called, whether it is waited for, what it commits, and which of these go together.

All of it is known before the component is looked at, so a broken component never hides a wrong contract.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from hookline._yaml.findings import Place
from hookline._yaml.nodes import clipped
from hookline.dialects.murmur.own import NotYaml, OwnManifest, read_own
from hookline.dialects.murmur.words import Binding, CommitPolicy, ExecutionMode

W = TypeVar("W", bound=Enum)


@dataclass(frozen=True, slots=True)
class Legality:
    """What a binding may go with: policies besides `none`, and whether the hook may be asynchronous."""

    policies: frozenset[CommitPolicy] = frozenset()
    may_be_async: bool = True
    remark: str = ""

    @property
    def honored(self) -> CommitPolicy:
        """The one policy that an explicit binding commits by, or `none`."""
        return next(iter(self.policies), CommitPolicy.NONE)


def _honors(policy: CommitPolicy) -> Legality:
    return Legality(frozenset({policy}))


_NO_SPELLING = " (on-inference commits an 'artifact' output, which has no commit_policy spelling)"

LEGALITY: Mapping[Binding | None, Legality] = MappingProxyType(
    {
        Binding.ON_STAGE: Legality(frozenset({CommitPolicy.WRITE_MANIFESTS}), may_be_async=False),
        Binding.ON_SESSION_START: Legality(),
        Binding.ON_TASK_START: _honors(CommitPolicy.SEED_CONTEXT),
        Binding.ON_INFERENCE: Legality(remark=_NO_SPELLING),
        Binding.ON_TOOL_CALL: _honors(CommitPolicy.DENY),
        Binding.ON_SHELL: _honors(CommitPolicy.DENY),
        Binding.ON_COMPACTION: _honors(CommitPolicy.REPLACE_CONTEXT),
        Binding.ON_TASK_END: _honors(CommitPolicy.REOPEN_TASK),
        Binding.ON_SESSION_END: Legality(),
        None: Legality(frozenset(CommitPolicy) - {CommitPolicy.NONE, CommitPolicy.DENY}),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What a hook's own manifest says. Name and version are empty where it says none."""

    name: str = ""
    version: str = ""
    binding: Binding | None = None
    execution_mode: ExecutionMode = ExecutionMode.BLOCKING
    commit_policy: CommitPolicy = CommitPolicy.NONE
    description: str = ""


@dataclass(frozen=True, slots=True)
class Broken:
    """A contract that does not hold: the number of the rule, its text, the place in the hook's manifest, its field."""

    rule: int
    text: str
    place: Place
    field: str = ""


class BrokenRule(NamedTuple):
    """The rule that a combination breaks, and the field to look at."""

    rule: int
    text: str
    field: str


def broken_rule(binding: Binding | None, mode: ExecutionMode, policy: CommitPolicy) -> BrokenRule | None:
    """The first rule that the three together break."""
    legal, is_async, on = LEGALITY[binding], mode is ExecutionMode.ASYNC, binding and binding.value
    if is_async and policy is not CommitPolicy.NONE:
        text = "async-with-commit not supported: execution_mode 'async' requires commit_policy 'none'"
        return BrokenRule(5, f"{text} (got '{policy.value}')", "commit_policy")
    if is_async and not legal.may_be_async:
        text = f"{on} hooks must be blocking; execution_mode 'async' is not valid for binding '{on}'"
        return BrokenRule(6, text, "execution_mode")
    if policy is CommitPolicy.NONE or policy in legal.policies:
        return None
    if binding is None:
        return BrokenRule(7, _needs_binding(policy), "commit_policy")
    text = f"commit_policy '{policy.value}' is not valid for binding '{on}'; binding '{on}' honors commit_policy"
    return BrokenRule(8, f"{text} '{legal.honored.value}'{legal.remark}", "commit_policy")


def _needs_binding(policy: CommitPolicy) -> str:
    gates = [
        f"'{each.value}'" for each in (Binding.ON_SHELL, Binding.ON_TOOL_CALL) if policy in LEGALITY[each].policies
    ]
    return (
        f"commit_policy '{policy.value}' requires an explicit binding: {' or '.join(gates)}; a hook with no binding: "
        "is dispatched at every event, including decision points it was not written to decide"
    )


def matrix() -> Iterator[tuple[Binding | None, ExecutionMode, CommitPolicy, int | None]]:
    """Every combination, and the number of the rule that it breaks, if any."""
    for binding in (*Binding, None):
        for mode in ExecutionMode:
            for policy in CommitPolicy:
                broken = broken_rule(binding, mode, policy)
                yield binding, mode, policy, broken and broken.rule


def read_contract(data: bytes) -> Contract | Broken:
    """The contract in a hook's `murmur.yaml`."""
    own = read_own(data)
    return Broken(1, own.text, own.place) if isinstance(own, NotYaml) else contract_of(own)


def contract_of(own: OwnManifest) -> Contract | Broken:
    """The contract of a hook. What is not text counts as not written; other keys are others' to read."""
    binding = _word(own, "binding", Binding, rule=2)
    if isinstance(binding, Broken):
        return binding
    mode = _word(own, "execution_mode", ExecutionMode, rule=3)
    if isinstance(mode, Broken):
        return mode
    policy = _word(own, "commit_policy", CommitPolicy, rule=4)
    if isinstance(policy, Broken):
        return policy
    mode, policy = mode or ExecutionMode.BLOCKING, policy or CommitPolicy.NONE
    if broken := broken_rule(binding, mode, policy):
        return Broken(broken.rule, broken.text, own.place(broken.field), broken.field)
    return Contract(
        name=own.text("name") or "",
        version=own.text("version") or "",
        binding=binding,
        execution_mode=mode,
        commit_policy=policy,
        description=own.text("description") or "",
    )


def _word(own: OwnManifest, name: str, words: type[W], *, rule: int) -> W | Broken | None:
    written = own.text(name)
    known = {str(each.value): each for each in words}
    if written is None or written in known:
        return None if written is None else known[written]
    return Broken(rule, f"unknown {name} '{clipped(written)}'; expected: {', '.join(known)}", own.place(name), name)
