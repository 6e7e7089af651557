"""The dialect as the engine sees it."""

from dataclasses import dataclass

from hookline._core.hooks import Hook
from hookline._core.lanes import LanePolicy, WhenFull
from hookline._core.rules import Strategy
from hookline.dialects._base import TableDialect
from hookline.dialects.meerkat.answer import decode
from hookline.dialects.meerkat.envelope import encode
from hookline.dialects.meerkat.rules import BY_EVENT
from hookline.dialects.meerkat.schema import HOOKS
from hookline.dialects.meerkat.words import DIALECT as NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class MeerkatDialect(TableDialect):
    """Its background hooks share one pool, as large as their configuration says, which never waits (section 7.3)."""

    def lane_of(self, hook: Hook) -> tuple[str, LanePolicy]:
        workers = self.lane.workers if hook.pool is None else hook.pool
        return "", LanePolicy(workers=workers, queue=0, when_full=WhenFull.DROP)


DIALECT = MeerkatDialect(
    name=NAME,
    strategy=Strategy.CHAIN,
    lane=LanePolicy(workers=HOOKS["background_max_concurrency"].default, queue=0, when_full=WhenFull.DROP),
    rules=BY_EVENT,
    encode=encode,
    decode=decode,
    output_bytes=HOOKS["payload_max_bytes"].default,
    observers_after_deny=False,
)
