"""Seeding: what of a hook's messages may stand before a task, by the budget that there is for it."""

import struct
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from hookline._core.messages import Message

MOST_OVER = 3  # times the budget: what is more over than that is no seed that needs trimming, but a mistake


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """What came of a proposal: `messages` are to stand there and take `tokens`; `proposed` is what all of it took."""

    outcome: str
    reason: str = ""
    messages: tuple[Message, ...] = ()
    tokens: int = 0
    proposed: int = 0
    budget: int = 0


# Shortens what there is no room for, of which it is told the tokens; None where there is no summary to be had.
Summarise = Callable[[Sequence[Message], int], Awaitable[Sequence[Message] | None]]


def budget_of(window: int | None, share: float) -> int:
    """How many tokens may be seeded. The share is one of single precision, the product one of double."""
    if window is None:
        return 0
    return int(window * struct.unpack("f", struct.pack("f", share))[0])


async def decided(
    messages: Sequence[Message],
    sizes: Sequence[int],
    *,
    budget: int,
    margin: float,
    measure: Callable[[Sequence[Message]], int],
    summarise: Summarise,
) -> Seed:
    """What of *messages*, which take *sizes* tokens, oldest first, is seeded."""
    proposed = sum(sizes)
    over = proposed - budget

    def came_to(outcome: str, kept: Sequence[Message], tokens: int) -> Seed:
        return Seed(outcome=outcome, messages=tuple(kept), tokens=tokens, proposed=proposed, budget=budget)

    if reason := _rejected(sizes, over, budget):
        return Seed(outcome="rejected", reason=reason, proposed=proposed, budget=budget)
    if over <= 0:
        return came_to("seeded", messages, proposed)
    front, tokens = _without_front(sizes, budget)
    if over > budget * margin:
        summary = await summarise(messages[:front], sum(sizes[:front]))
        if summary:
            taken = measure(summary)
            if taken > budget:
                reason = "message_over_budget"
                return Seed(outcome="rejected", reason=reason, proposed=proposed, budget=budget)
            more, rest = _without_front(sizes[front:], budget - taken)
            return came_to("compacted", [*summary, *messages[front + more :]], taken + rest)
    return came_to("trimmed", messages[front:], tokens)


def _rejected(sizes: Sequence[int], over: int, budget: int) -> str:
    if budget <= 0:
        return "no_budget"
    if any(size > budget for size in sizes):
        return "message_over_budget"
    if over > MOST_OVER * budget:
        return "overflow_over_limit"
    return ""


def _without_front(sizes: Sequence[int], room: int) -> tuple[int, int]:
    """How many of the oldest have to go for the rest to fit, and what the rest takes."""
    first, taken = len(sizes), 0
    while first and taken + sizes[first - 1] <= room:
        first -= 1
        taken += sizes[first]
    return first, taken
