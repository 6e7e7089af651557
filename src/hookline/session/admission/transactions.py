"""What is asked of a store, as transactions that do not know which database runs them.

A transaction yields a statement with its parameters, is sent the rows, and returns what it found. Whoever runs it
commits when it returns and rolls back when it raises.
"""

import hashlib
import time
from collections.abc import Generator, Sequence
from typing import Any, TypeVar

from hookline._core.errors import StateError
from hookline._core.inputs import Handling, Input, InputKind, RuntimeState
from hookline.session.admission import statements as sql
from hookline.session.admission.coding import indexed, input_of, raw, text_of
from hookline.session.admission.store import Phase, Published, RequestPhase, Row

T = TypeVar("T")

Rows = Sequence[Sequence[Any]]
Step = tuple[sql.Statement, tuple[Any, ...]]
Transaction = Generator[Step, Rows, T]


def version(place: str) -> Transaction[int]:
    """The version of the tables in *place*, 0 where there are none. Raises StateError for one newer than ours."""
    if not (yield sql.HAS_VERSION, ()):
        return 0
    ((found,),) = yield sql.READ_VERSION, ()
    if found > sql.VERSION:
        raise StateError(
            f"{place} has schema version {found} and this hookline knows versions up to {sql.VERSION}: "
            "use a newer hookline, or another place"
        )
    return int(found)


def migrate(place: str) -> Transaction[None]:
    """Make the tables, or bring them to the version of today."""
    found = yield from version(place)
    if found == sql.VERSION:  # another process was quicker
        return
    if found == 0:
        yield sql.MAKE_VERSION, ()
    for step in sql.STEPS[found:]:
        for statement in step:
            yield statement, ()
    yield sql.DROP_VERSION, ()
    yield sql.WRITE_VERSION, (sql.VERSION,)


def register() -> Transaction[int]:
    """The number of a new owner."""
    ((owner,),) = yield sql.REGISTER, ()
    return int(owner)


def unregister(owner: int) -> Transaction[None]:
    yield sql.UNREGISTER, (owner,)


def state(runtime: str) -> Transaction[RuntimeState | None]:
    return _state((yield sql.STATE, (indexed(runtime),)))


def set_state(runtime: str, new: RuntimeState) -> Transaction[None]:
    yield sql.CLOSE_GATE, (indexed(runtime),)
    yield sql.KEEP_STATE, (indexed(runtime), new.value)


def admit(runtime: str, input: Input, handling: Handling, body: bytes) -> Transaction[RuntimeState | str | None]:
    where, key = indexed(runtime), None if input.key is None else indexed(input.key)
    rows = yield sql.GATE, (where,)
    if not rows:
        yield sql.MAKE_RUNTIME, (where,)
        rows = yield sql.GATE, (where,)
    found = _state(rows)
    if found is not None and not found.is_open:
        return found
    row = (where, raw(input.id), input.kind.value, key, handling.value, body, time.time_ns() // 1000)
    if not (yield sql.ADMIT, row):
        owners = [] if key is None else (yield sql.OWNER_OF_KEY, (where, key))
        return text_of(owners[0][0]) if owners else input.id
    if input.kind is InputKind.PEER_REQUEST and input.request_id is not None:
        request = (where, indexed(input.request_id), raw(input.source.id), RequestPhase.RECEIVED.value)
        yield sql.NOTE_REQUEST, request
    return None


def owner_of(runtime: str, key: str) -> Transaction[str | None]:
    rows = yield sql.OWNER_OF_KEY, (indexed(runtime), indexed(key))
    return text_of(rows[0][0]) if rows else None


def find(runtime: str, input_id: str) -> Transaction[Row | None]:
    return _row((yield sql.FIND, (indexed(runtime), raw(input_id))))


def claim(runtime: str, input_id: str | None, owner: int) -> Transaction[Row | None]:
    if input_id is None:
        return _row((yield sql.CLAIM_NEXT, (indexed(runtime), owner)))
    return _row((yield sql.CLAIM_ONE, (indexed(runtime), owner, raw(input_id))))


def unclaim(runtime: str, input_id: str, owner: int) -> Transaction[bool]:
    return bool((yield sql.UNCLAIM, (indexed(runtime), raw(input_id), owner)))


def give_up(runtime: str, input_id: str, owner: int) -> Transaction[bool]:
    return bool((yield sql.QUEUE_AGAIN, (indexed(runtime), raw(input_id), owner)))


def finish(runtime: str, input_id: str, owner: int, phase: Phase, completion: bytes | None) -> Transaction[bool]:
    where, which = indexed(runtime), raw(input_id)
    if not (yield sql.FINISH, (where, which, owner, phase.value)):
        return False
    if completion is not None:
        yield sql.KEEP_COMPLETION, (where, which, hashlib.sha256(completion).digest(), completion)
    return True


def publish(runtime: str, input_id: str) -> Transaction[Published | None]:
    where, which = indexed(runtime), raw(input_id)
    rows = yield sql.COMPLETION, (where, which)
    if not rows:
        return None
    ((digest, payload),) = rows
    if hashlib.sha256(payload).digest() != digest:
        raise StateError(f"the completion of input {input_id} is not what was kept: its digest differs")
    if appended := (yield sql.PUBLISHED_AS, (where, which)):
        yield sql.MARK_PUBLISHED, (where, which, appended[0][0])
        return None
    ((seq,),) = yield sql.NEXT_SEQ, (where,)
    yield sql.APPEND, (where, seq, which, digest, payload)
    yield sql.MARK_PUBLISHED, (where, which, seq)
    return Published(seq, payload)


def completion(runtime: str, input_id: str) -> Transaction[bytes | None]:
    rows = yield sql.KEPT_COMPLETION, (indexed(runtime), raw(input_id))
    return bytes(rows[0][0]) if rows else None


def at_work(runtime: str) -> Transaction[int]:
    ((count,),) = yield sql.COUNT_AT_WORK, (indexed(runtime),)
    return int(count)


def unpublished(runtime: str) -> Transaction[tuple[str, ...]]:
    rows = yield sql.UNPUBLISHED, (indexed(runtime),)
    return tuple(text_of(which) for (which,) in rows)


def owners_at_work(runtime: str) -> Transaction[tuple[int, ...]]:
    rows = yield sql.OWNERS_AT_WORK, (indexed(runtime),)
    return tuple(owner for (owner,) in rows)


def queue_again(runtime: str, owner: int, *, but: frozenset[str] = frozenset()) -> Transaction[int]:
    """Take from an owner that is gone what it was at work on. How many that were."""
    where, count = indexed(runtime), 0
    for (which,) in (yield sql.AT_WORK_OF, (where, owner)):
        if text_of(which) not in but:
            count += len((yield sql.QUEUE_AGAIN, (where, which, owner)))
    yield sql.UNREGISTER, (owner,)
    return count


def events(runtime: str, after: int, limit: int) -> Transaction[tuple[Published, ...]]:
    rows = yield sql.EVENTS, (indexed(runtime), after, limit)
    return tuple(Published(seq, payload) for seq, payload in rows)


def note_request(runtime: str, request_id: str, peer_id: str) -> Transaction[bool]:
    request = (indexed(runtime), indexed(request_id), raw(peer_id), RequestPhase.SENT.value)
    return bool((yield sql.NOTE_REQUEST, request))


def drop_request(runtime: str, request_id: str) -> Transaction[None]:
    yield sql.DROP_REQUEST, (indexed(runtime), indexed(request_id))


def request(runtime: str, request_id: str) -> Transaction[tuple[RequestPhase, str] | None]:
    rows = yield sql.REQUEST, (indexed(runtime), indexed(request_id))
    return (RequestPhase(rows[0][0]), text_of(rows[0][1])) if rows else None


def reply(runtime: str, request_id: str) -> Transaction[bool]:
    return bool((yield sql.REPLY, (indexed(runtime), indexed(request_id))))


def _state(rows: Rows) -> RuntimeState | None:
    return RuntimeState(rows[0][0]) if rows and rows[0][0] is not None else None


def _row(rows: Rows) -> Row | None:
    if not rows:
        return None
    ((body, handling, phase, attempt),) = rows
    return Row(input=input_of(body), handling=Handling(handling), phase=Phase(phase), attempt=attempt)
