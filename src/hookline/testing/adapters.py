"""What every adapter promises, whatever it calls."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hookline._core.payload import CallFailed, Limits, Payload, Reply
from hookline._core.ports import Adapter
from hookline._core.reasons import Failure
from hookline._core.targets import Target
from hookline.workbench.samples import SAMPLES

SHORT = 0.05  # seconds: the limit of a target that will not answer
ENOUGH = 10.0  # seconds: the limit of one that will
PLENTY = Limits(ENOUGH)
CAP = 1000  # bytes of output that are allowed where a target floods


@dataclass(frozen=True, slots=True)
class Raised:
    """What came in the place of a reply."""

    fault: Exception

    def __repr__(self) -> str:
        return f"the exception {self.fault!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterCase:
    """An adapter, and a target of its kind for each thing that a hook may do.

    `answers` comes to `answer`. `hangs` never ends by itself; `deaf` does not even when it is asked to. `breaks` fails
    for the reason `broken`. `floods` writes more than 1000 bytes, where targets of this kind write any. `patience` is
    how long after its limit a deaf target may take to be got rid of, in seconds.
    """

    adapter: Adapter
    answers: Target
    answer: Reply
    hangs: Target
    deaf: Target
    breaks: Target
    broken: Failure
    floods: Target | None = None
    patience: float = 5.0
    payload: Payload = Payload(next(iter(SAMPLES.values())), b"{}", "/")

    async def call(self, target: Target, limits: Limits = PLENTY) -> Reply | Raised:
        """The reply of *target*, or what the adapter raised in its place."""
        try:
            return await self.adapter.call(target, self.payload, limits)
        except Exception as fault:  # noqa: BLE001  # it is what we are here to find
            return Raised(fault)


async def breaches_of_adapter(case: AdapterCase) -> list[str]:
    """What the adapter breaks of its promises, one line each; none is what there should be. Closes the adapter.

    What a target answers comes back uninterpreted. One that breaks is a failure with a closed reason and a text, one
    that floods is cut at its cap. One that hangs, and even one that is deaf, has timed out, in bounded time. Calls at
    once do not get in one another's way. Cancelling a call ends it as cancelled. A closed adapter calls nobody, may be
    closed again, and has left neither a task nor a descriptor behind. An adapter never raises.
    """
    tasks, descriptors = asyncio.all_tasks(), await _descriptors_of(case)
    found = [*await _of_replies(case), *await _of_limits(case), *await _of_company(case)]
    if (now := _descriptors()) > descriptors:
        found.append(f"{now - descriptors} descriptors are open that were not before")
    for _ in range(2):
        try:
            await case.adapter.aclose()
        except Exception as fault:  # noqa: BLE001  # as above
            found.append(f"closing it raised {fault!r}")
    reply = await case.call(case.answers)
    if not isinstance(reply, CallFailed) or reply.why is not Failure.COULD_NOT_START:
        found.append(f"a closed adapter still calls: {reply!r}")
    if left := asyncio.all_tasks() - tasks:
        found.append(f"{len(left)} of its tasks run on after it was closed")
    return found


async def _of_replies(case: AdapterCase) -> list[str]:
    found: list[str] = []
    answer = await case.call(case.answers)
    if answer != case.answer:
        found.append(f"the answer came back as {answer!r}, not as {case.answer!r}")
    broken = await case.call(case.breaks)
    if not isinstance(broken, CallFailed) or broken.why is not case.broken or not broken.detail:
        found.append(f"breaking came back as {broken!r}, not as a failure by {case.broken.value} with a text")
    if case.floods is not None:
        flooded = await case.call(case.floods, Limits(ENOUGH, CAP))
        if not isinstance(flooded, CallFailed) or flooded.why is not Failure.OUTPUT_TOO_LARGE:
            found.append(f"one that floods came back as {flooded!r}, not as too large")
        elif max(len(flooded.stdout), len(flooded.stderr)) > CAP:
            found.append(f"of one that floods more was kept than its cap of {CAP} bytes")
    return found


async def _of_limits(case: AdapterCase) -> list[str]:
    found: list[str] = []
    for name, target in (("hangs", case.hangs), ("is deaf", case.deaf)):
        begun = time.monotonic()
        reply = await case.call(target, Limits(SHORT))
        if not isinstance(reply, CallFailed) or reply.why is not Failure.TIMEOUT:
            found.append(f"one that {name} came back as {reply!r}, not as timed out")
        if time.monotonic() - begun > SHORT + case.patience:
            found.append(f"one that {name} held its caller for {time.monotonic() - begun:.1f} s")
    reply = await case.call(case.answers, Limits(0))
    if not isinstance(reply, CallFailed) or reply.why is not Failure.TIMEOUT:
        found.append(f"with no time at all came {reply!r}, not a timeout")
    return found


async def _of_company(case: AdapterCase) -> list[str]:
    found: list[str] = []
    hanging = asyncio.ensure_future(case.call(case.hangs, Limits(SHORT)))
    breaking = asyncio.ensure_future(case.call(case.breaks))
    replies = await asyncio.gather(*(case.call(case.answers) for _ in range(4)))
    found.extend(_differing(replies, case.answer))
    await asyncio.wait([hanging, breaking])
    cancelled = asyncio.ensure_future(case.call(case.hangs))
    await asyncio.sleep(SHORT)
    cancelled.cancel()
    await asyncio.wait([cancelled])
    if not cancelled.cancelled():
        found.append("a cancelled call did not end as cancelled")
    return found


def _differing(replies: list[Reply | Raised], answer: Reply) -> Iterator[str]:
    for reply in replies:
        if reply != answer:
            yield f"among others the answer came back as {reply!r}"


async def _descriptors_of(case: AdapterCase) -> int:
    """How many descriptors are open once the adapter has called: what it keeps for good it may."""
    await case.call(case.answers)
    return _descriptors()


def _descriptors() -> int:
    with suppress(OSError):
        return len(list(Path("/dev/fd").iterdir()))
    return 0
