"""A store of inputs, whatever is asked of it and in whatever order, does what a dictionary would."""

import asyncio
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from hookline._core.inputs import Handling, Input, InputKind, RuntimeState
from hookline.session.admission.sqlite import SqliteStore
from hookline.session.admission.store import Phase, Published, Row

pytestmark = pytest.mark.slow

RUNTIMES = st.sampled_from(["one", "two"])
STORES = st.sampled_from([0, 1])
KEYS = st.sampled_from([None, "a", "b", "c"])
ENDS = st.sampled_from([Phase.CONSUMED, Phase.ABANDONED])
COMPLETIONS = st.sampled_from([None, b"{}", b"\0"])


@dataclass
class Kept:
    """What the model knows of an input."""

    row: Row
    runtime: str
    owner: int | None = None  # which of all stores that there ever were
    ended: int | None = None
    completion: bytes | None = None
    is_published: bool = False


class Stores(RuleBasedStateMachine):
    """Two stores that have one file open, either of which may be closed and opened again at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.states: dict[str, RuntimeState] = {}
        self.inputs: dict[str, Kept] = {}
        self.logs: dict[str, list[bytes]] = {"one": [], "two": []}
        self.ends = 0
        self.owners = [0, 1]
        self.stores = [self.opened(), self.opened()]

    def opened(self) -> SqliteStore:
        store = SqliteStore(Path(self.folder.name) / "inputs.db")
        self.does(store.open())
        return store

    def does(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    def teardown(self) -> None:
        for store in self.stores:
            self.does(store.aclose())
        self.runner.close()
        self.folder.cleanup()

    def of(self, runtime: str, phase: Phase) -> list[Kept]:
        return [each for each in self.inputs.values() if each.runtime == runtime and each.row.phase is phase]

    def owner_of(self, runtime: str, key: str | None) -> str | None:
        found = (
            each.row.input.id
            for each in self.inputs.values()
            if key is not None and (each.runtime, each.row.input.key) == (runtime, key)
        )
        return next(found, None)

    @rule(at=STORES, runtime=RUNTIMES, state=st.sampled_from(RuntimeState))
    def set_state(self, at: int, runtime: str, state: RuntimeState) -> None:
        self.does(self.stores[at].set_state(runtime, state))
        self.states[runtime] = state

    @rule(at=STORES, runtime=RUNTIMES, key=KEYS, handling=st.sampled_from(Handling))
    def admit(self, at: int, runtime: str, key: str | None, handling: Handling) -> None:
        given = Input(id=str(len(self.inputs)), kind=InputKind.PROMPT, key=key)
        state, owner = self.states.get(runtime), self.owner_of(runtime, key)
        want = state if state is not None and not state.is_open else owner
        assert want == self.does(self.stores[at].admit(runtime, given, handling))
        if want is None:
            self.inputs[given.id] = Kept(Row(input=given, handling=handling, phase=Phase.QUEUED), runtime)

    @rule(at=STORES, runtime=RUNTIMES)
    def claim(self, at: int, runtime: str) -> None:
        queued = sorted(self.of(runtime, Phase.QUEUED), key=lambda each: each.row.handling is Handling.QUEUE)
        row = self.does(self.stores[at].claim(runtime))
        if not queued:
            assert row is None
            return
        first = queued[0]
        first.row = replace(first.row, phase=Phase.STAGED, attempt=first.row.attempt + 1)
        first.owner = self.owners[at]
        assert first.row == row

    @rule(at=STORES, data=st.data())
    def claim_named(self, at: int, data: st.DataObject) -> None:
        if self.inputs:
            one = self.inputs[data.draw(st.sampled_from(sorted(self.inputs)))]
            row = self.does(self.stores[at].claim(one.runtime, one.row.input.id))
            assert (row is not None) == (one.row.phase is Phase.QUEUED)
            if row is not None:
                one.row = replace(one.row, phase=Phase.STAGED, attempt=one.row.attempt + 1)
                one.owner = self.owners[at]

    @rule(at=STORES, data=st.data())
    def unclaim(self, at: int, data: st.DataObject) -> None:
        if self.inputs:
            one = self.inputs[data.draw(st.sampled_from(sorted(self.inputs)))]
            mine = one.row.phase is Phase.STAGED and one.owner == self.owners[at]
            assert mine == self.does(self.stores[at].unclaim(one.runtime, one.row.input.id))
            if mine:
                one.row = replace(one.row, phase=Phase.QUEUED, attempt=one.row.attempt - 1)

    @rule(at=STORES, data=st.data(), phase=ENDS, completion=COMPLETIONS)
    def finish(self, at: int, data: st.DataObject, phase: Phase, completion: bytes | None) -> None:
        if self.inputs:
            one = self.inputs[data.draw(st.sampled_from(sorted(self.inputs)))]
            mine = one.row.phase is Phase.STAGED and one.owner == self.owners[at]
            assert mine == self.does(self.stores[at].finish(one.runtime, one.row.input.id, phase, completion))
            if mine:
                self.ends += 1
                one.row, one.ended, one.completion = replace(one.row, phase=phase), self.ends, completion

    @rule(at=STORES, data=st.data())
    def publish(self, at: int, data: st.DataObject) -> None:
        if self.inputs:
            one = self.inputs[data.draw(st.sampled_from(sorted(self.inputs)))]
            want = None
            if one.completion is not None and not one.is_published:
                self.logs[one.runtime].append(one.completion)
                want = Published(len(self.logs[one.runtime]), one.completion)
                one.is_published = True
            assert want == self.does(self.stores[at].publish(one.runtime, one.row.input.id))

    @rule(at=STORES, runtime=RUNTIMES)
    def recover(self, at: int, runtime: str) -> None:
        left = [each for each in self.of(runtime, Phase.STAGED) if each.owner not in self.owners]
        assert len(left) == self.does(self.stores[at].recover(runtime))
        for each in left:
            each.row = replace(each.row, phase=Phase.QUEUED)

    @rule(at=STORES)
    def reopen(self, at: int) -> None:
        self.does(self.stores[at].aclose())
        self.stores[at], self.owners[at] = self.opened(), max(self.owners) + 1

    @invariant()
    def both_show_what_is_kept(self) -> None:
        for store in self.stores:
            for runtime, log in self.logs.items():
                assert self.states.get(runtime) == self.does(store.state(runtime))
                assert log == [line.payload for line in self.does(store.events(runtime))]
                waiting = [
                    each
                    for each in self.inputs.values()
                    if each.runtime == runtime and each.completion is not None and not each.is_published
                ]
                waiting.sort(key=lambda each: each.ended or 0)
                assert tuple(each.row.input.id for each in waiting) == self.does(store.unpublished(runtime))
            for input_id, each in self.inputs.items():
                assert each.row == self.does(store.find(each.runtime, input_id))


TestStores = Stores.TestCase
TestStores.settings = settings(
    max_examples=15, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
