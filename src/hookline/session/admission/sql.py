"""What both stores have in common: every promise of `Store`, on top of something that runs transactions."""

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Self, TypeVar

from hookline._core.errors import UsageError
from hookline._core.inputs import Handling, Input, RuntimeState
from hookline.session.admission import transactions as tx
from hookline.session.admission.coding import body_of
from hookline.session.admission.store import FINAL, Phase, Published, RequestPhase, Row

T = TypeVar("T")

Make = Callable[[], tx.Transaction[T]]  # makes the same transaction anew, for another try


class SqlStore(ABC):
    """Implements `Store`. A transaction that was begun runs to its end, also when nobody waits for it any more."""

    def __init__(self) -> None:
        self._claims: dict[tuple[str, str], int] = {}  # what is at work here, and as which owner it was claimed
        self._returning: set[asyncio.Future[Any]] = set()  # claims that nobody waits for, on their way back

    @abstractmethod
    def _reading(self, make: Make[T]) -> asyncio.Future[T]:
        """Begin a transaction that changes nothing."""

    @abstractmethod
    def _writing(self, make: Make[T]) -> asyncio.Future[T]:
        """Begin a transaction."""

    @abstractmethod
    def _claiming(self, runtime: str, input_id: str | None) -> asyncio.Future[tuple[int, Row | None]]:
        """Begin to claim, and say as which owner."""

    @abstractmethod
    async def open(self) -> None: ...

    @abstractmethod
    async def aclose(self) -> None: ...

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def state(self, runtime: str) -> RuntimeState | None:
        return await asyncio.shield(self._reading(partial(tx.state, runtime)))

    async def set_state(self, runtime: str, state: RuntimeState) -> None:
        await asyncio.shield(self._writing(partial(tx.set_state, runtime, state)))

    async def admit(self, runtime: str, input: Input, handling: Handling) -> RuntimeState | str | None:
        return await asyncio.shield(self._writing(partial(tx.admit, runtime, input, handling, body_of(input))))

    async def owner_of(self, runtime: str, key: str) -> str | None:
        return await asyncio.shield(self._reading(partial(tx.owner_of, runtime, key)))

    async def find(self, runtime: str, input_id: str) -> Row | None:
        return await asyncio.shield(self._reading(partial(tx.find, runtime, input_id)))

    async def claim(self, runtime: str, input_id: str | None = None) -> Row | None:
        begun = self._claiming(runtime, input_id)
        begun.add_done_callback(partial(self._note_claim, runtime))
        try:
            _, row = await asyncio.shield(begun)
        except asyncio.CancelledError:
            self._returning.add(begun)
            begun.add_done_callback(partial(self._put_back, runtime))
            raise
        return row

    async def unclaim(self, runtime: str, input_id: str) -> bool:
        owner = self._claims.pop((runtime, input_id), None)
        if owner is None:
            return False
        return await asyncio.shield(self._unclaiming(runtime, input_id, owner))

    async def give_up(self, runtime: str, input_id: str) -> bool:
        owner = self._claims.pop((runtime, input_id), None)
        if owner is None:
            return False
        begun = self._writing(partial(tx.give_up, runtime, input_id, owner))
        begun.add_done_callback(partial(self._keep_claim, (runtime, input_id), owner))
        return await asyncio.shield(begun)

    async def finish(self, runtime: str, input_id: str, phase: Phase, completion: bytes | None) -> bool:
        if phase not in FINAL:
            raise UsageError(f"work on input {input_id} cannot end as {phase.value}: that is no end")
        owner = self._claims.get((runtime, input_id))
        if owner is None:
            return False
        begun = self._writing(partial(tx.finish, runtime, input_id, owner, phase, completion))
        begun.add_done_callback(partial(self._forget_claim, (runtime, input_id), owner))
        return await asyncio.shield(begun)

    async def publish(self, runtime: str, input_id: str) -> Published | None:
        return await asyncio.shield(self._writing(partial(tx.publish, runtime, input_id)))

    async def completion(self, runtime: str, input_id: str) -> bytes | None:
        return await asyncio.shield(self._reading(partial(tx.completion, runtime, input_id)))

    async def at_work(self, runtime: str) -> int:
        return await asyncio.shield(self._reading(partial(tx.at_work, runtime)))

    async def unpublished(self, runtime: str) -> tuple[str, ...]:
        return await asyncio.shield(self._reading(partial(tx.unpublished, runtime)))

    async def events(self, runtime: str, *, after: int = 0, limit: int = 1000) -> tuple[Published, ...]:
        return await asyncio.shield(self._reading(partial(tx.events, runtime, after, limit)))

    async def note_request(self, runtime: str, request_id: str, peer_id: str) -> bool:
        return await asyncio.shield(self._writing(partial(tx.note_request, runtime, request_id, peer_id)))

    async def drop_request(self, runtime: str, request_id: str) -> None:
        await asyncio.shield(self._writing(partial(tx.drop_request, runtime, request_id)))

    async def request(self, runtime: str, request_id: str) -> tuple[RequestPhase, str] | None:
        return await asyncio.shield(self._reading(partial(tx.request, runtime, request_id)))

    async def reply(self, runtime: str, request_id: str) -> bool:
        return await asyncio.shield(self._writing(partial(tx.reply, runtime, request_id)))

    def _unclaiming(self, runtime: str, input_id: str, owner: int) -> asyncio.Future[bool]:
        begun = self._writing(partial(tx.unclaim, runtime, input_id, owner))
        begun.add_done_callback(partial(self._keep_claim, (runtime, input_id), owner))
        return begun

    def _note_claim(self, runtime: str, claimed: asyncio.Future[tuple[int, Row | None]]) -> None:
        if _ended_well(claimed):
            owner, row = claimed.result()
            if row is not None:
                self._claims[runtime, row.input.id] = owner

    def _forget_claim(self, which: tuple[str, str], owner: int, finished: asyncio.Future[bool]) -> None:
        """What could not be finished is still claimed, so that it can be tried again."""
        if _ended_well(finished) and self._claims.get(which) == owner:
            del self._claims[which]

    def _keep_claim(self, which: tuple[str, str], owner: int, returned: asyncio.Future[bool]) -> None:
        """What could not be put back is still claimed, so that it can be tried again."""
        if not _ended_well(returned):
            self._claims.setdefault(which, owner)

    def _put_back(self, runtime: str, claimed: asyncio.Future[tuple[int, Row | None]]) -> None:
        """Undo a claim that nobody waits for any more.

        Where that fails, the input stays with this owner, and is taken over when it is gone.
        """
        self._returning.discard(claimed)
        row = claimed.result()[1] if _ended_well(claimed) else None
        owner = None if row is None else self._claims.pop((runtime, row.input.id), None)
        if row is not None and owner is not None:
            with contextlib.suppress(UsageError):  # closed meanwhile
                returning = self._unclaiming(runtime, row.input.id, owner)
                self._returning.add(returning)
                returning.add_done_callback(self._returned)

    def _returned(self, returning: asyncio.Future[bool]) -> None:
        self._returning.discard(returning)
        _ended_well(returning)  # which is to have looked at it: nobody else does


def _ended_well(future: asyncio.Future[T]) -> bool:
    return not future.cancelled() and future.exception() is None
