"""The dialect as the engine sees it."""

from dataclasses import dataclass

from hookline._core.hooks import Hook
from hookline._core.lanes import LanePolicy, WhenFull
from hookline._core.rules import Strategy
from hookline.dialects._base import TableDialect
from hookline.dialects.murmur.answer import decode
from hookline.dialects.murmur.build import DIALECT as NAME
from hookline.dialects.murmur.facts import facts_of
from hookline.dialects.murmur.payload import encode
from hookline.dialects.murmur.rules import BY_EVENT

QUEUE = 1024  # events that wait for one async hook, as the source document fixes it


@dataclass(frozen=True, slots=True, kw_only=True)
class MurmurDialect(TableDialect):
    """Each async hook has a lane of its own, which calls it for one event after the other (section 7.3)."""

    def lane_of(self, hook: Hook) -> tuple[str, LanePolicy]:
        waits = facts_of(hook).artifact.waits
        when_full = WhenFull.WAIT if waits else WhenFull.DROP
        return hook.id, LanePolicy(workers=1, queue=QUEUE, when_full=when_full)


DIALECT = MurmurDialect(
    name=NAME,
    strategy=Strategy.CHAIN,
    lane=LanePolicy(workers=1, queue=QUEUE),
    rules=BY_EVENT,
    encode=encode,
    decode=decode,
    output_bytes=16 * 1024 * 1024,  # of what a component writes to its streams and returns, not of its memory
)
