"""What every adapter promises, whatever it calls."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass

from hookline._core.payload import CallFailed, Limits, Payload, Reply
from hookline._core.ports import Adapter
from hookline._core.reasons import Failure
from hookline._core.targets import Target
from hookline.testing.samples import SAMPLES

SHORT = 0.05  # seconds: the limit of a target that will not answer
ENOUGH = 10.0  # seconds: the limit of one that will


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterCase:
    """An adapter, and a target of its kind for each thing that a hook may do.

    `answers` comes to `answer`. `hangs` never ends by itself; `deaf` does not even when it is asked to. `breaks` fails
    for the reason `broken`. `patience` is how long after its limit a deaf target may take to be got rid of, in seconds.
    """

    adapter: Adapter
    answers: Target
    answer: Reply
    hangs: Target
    deaf: Target
    breaks: Target
    broken: Failure
    patience: float = 5.0
    payload: Payload = Payload(next(iter(SAMPLES.values())), b"{}", "/")

    async def call(self, target: Target, within: float = ENOUGH) -> Reply:
        return await self.adapter.call(target, self.payload, Limits(within))


async def breaches_of_adapter(case: AdapterCase) -> list[str]:
    """What the adapter breaks of its promises, one line each; none is what there should be. Closes the adapter.

    What a target answers comes back uninterpreted. One that breaks is a failure with a closed reason and a text. One
    that hangs, and even one that is deaf, has timed out, in bounded time. Calls at once do not get in one another's
    way. Cancelling a call ends it as cancelled. A closed adapter calls nobody.
    """
    try:
        found = [*await _of_replies(case), *await _of_limits(case), *await _of_company(case)]
    finally:
        await case.adapter.aclose()
    reply = await case.call(case.answers)
    if not isinstance(reply, CallFailed):
        found.append(f"a closed adapter still calls: {reply!r}")
    return found


async def _of_replies(case: AdapterCase) -> list[str]:
    found: list[str] = []
    answer = await case.call(case.answers)
    if answer != case.answer:
        found.append(f"the answer came back as {answer!r}, not as {case.answer!r}")
    broken = await case.call(case.breaks)
    if not isinstance(broken, CallFailed) or broken.why is not case.broken or not broken.detail:
        found.append(f"breaking came back as {broken!r}, not as a failure by {case.broken.value} with a text")
    return found


async def _of_limits(case: AdapterCase) -> list[str]:
    found: list[str] = []
    for name, target in (("hangs", case.hangs), ("is deaf", case.deaf)):
        begun = time.monotonic()
        reply = await case.call(target, SHORT)
        if not isinstance(reply, CallFailed) or reply.why is not Failure.TIMEOUT:
            found.append(f"one that {name} came back as {reply!r}, not as timed out")
        if time.monotonic() - begun > SHORT + case.patience:
            found.append(f"one that {name} held its caller for {time.monotonic() - begun:.1f} s")
    reply = await case.call(case.answers, 0)
    if not isinstance(reply, CallFailed) or reply.why is not Failure.TIMEOUT:
        found.append(f"with no time at all came {reply!r}, not a timeout")
    return found


async def _of_company(case: AdapterCase) -> list[str]:
    found: list[str] = []
    hanging = asyncio.ensure_future(case.call(case.hangs, SHORT))
    replies = await asyncio.gather(*(case.call(case.answers) for _ in range(4)))
    found.extend(_differing(replies, case.answer))
    await hanging
    cancelled = asyncio.ensure_future(case.call(case.hangs))
    await asyncio.sleep(SHORT)
    cancelled.cancel()
    await asyncio.wait([cancelled])
    if not cancelled.cancelled():
        found.append("a cancelled call did not end as cancelled")
    return found


def _differing(replies: list[Reply], answer: Reply) -> Iterator[str]:
    for reply in replies:
        if reply != answer:
            yield f"among others the answer came back as {reply!r}"
