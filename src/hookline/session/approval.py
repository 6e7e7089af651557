"""Approval: which calls wait for a person, who may answer in the person's place, and what happens meanwhile."""

import asyncio
from collections.abc import Callable
from enum import Enum

from hookline.session.ports import ApprovalRequest, Approver, Risk, Verdict

NOTIFY_AFTER = 6.0  # seconds that a prompt waits before `notification` fires, as the Muse document has it


class ApprovalMode(Enum):
    """When a call waits for a person without a hook asking for it."""

    UNTRUSTED = "untrusted"  # every call that does more than look at the workspace
    ON_REQUEST = "on-request"  # only calls that reach outside the workspace
    NEVER = "never"  # none, not even where a hook asks: that is noted and the call goes on


_WAITS: dict[ApprovalMode, frozenset[Risk]] = {
    ApprovalMode.UNTRUSTED: frozenset({Risk.CHANGES, Risk.REACHES_OUT}),
    ApprovalMode.ON_REQUEST: frozenset({Risk.REACHES_OUT}),
    ApprovalMode.NEVER: frozenset(),
}


def waits(mode: ApprovalMode, risk: Risk) -> bool:
    """Whether a call of this risk waits for approval under this mode."""
    return risk in _WAITS[mode]


async def ask_person(
    request: ApprovalRequest, approver: Approver, notify: Callable[[], None], notify_after: float
) -> Verdict:
    """The person's verdict. Calls *notify* once if it takes longer than *notify_after* seconds."""
    asking = asyncio.ensure_future(approver(request))
    try:
        await asyncio.wait([asking], timeout=notify_after)
        if not asking.done():
            notify()
        return await asking
    finally:
        if not asking.done():
            asking.cancel()
            await asyncio.wait([asking])
