"""The dialect as the engine sees it."""

from hookline._core.lanes import LanePolicy, WhenFull
from hookline._core.rules import Strategy
from hookline.dialects._base import TableDialect
from hookline.dialects.muse.answer import decode
from hookline.dialects.muse.build import DIALECT as NAME
from hookline.dialects.muse.output import OUTPUT_BYTES
from hookline.dialects.muse.payload import encode
from hookline.dialects.muse.rules import BY_EVENT

# The document bounds async hooks by nothing but their timeouts. Thirty-two at once is more than a session starts, and
# a queue that never ends would hold a machine up for hooks that nobody waits for.
LANE = LanePolicy(workers=32, queue=1024, when_full=WhenFull.DROP)

DIALECT = TableDialect(
    name=NAME,
    strategy=Strategy.PARALLEL,
    lane=LANE,
    rules=BY_EVENT,
    encode=encode,
    decode=decode,
    output_bytes=OUTPUT_BYTES,
)
