"""Shortening a capsule's conversation: when it is due, and what of a hook's replacement may stand."""

import json
import struct
from collections.abc import Sequence
from typing import Protocol

from hookline._core.capsule import Capsule, Transport
from hookline._core.effects import ReplaceContext
from hookline._core.events import AfterCompaction, BeforeCompaction
from hookline._core.faults import Fault, FaultKind
from hookline._core.messages import Message, is_paired
from hookline._core.points import Origin
from hookline._core.records import Compacted, CompactionDeclined, Diagnosed
from hookline._core.resolution import Resolution
from hookline.session.call import Host as GateHost
from hookline.session.capsule.layout import Layout
from hookline.session.capsule.measure import Count, tokens_of_messages
from hookline.session.over import failed

BOOTSTRAP = "bootstrap"


class Owner(GateHost, Protocol):
    """The capsule's session as its compaction sees it."""

    capsule: Capsule
    layout: Layout
    count: Count


def single(number: float) -> float:
    """*number* as single precision has it."""
    value: float = struct.unpack("f", struct.pack("f", number))[0]
    return value


async def shortened(owner: Owner, origin: Origin, occupancy: int) -> None:
    """Shorten the conversation if *occupancy* says that it is time. Raises RunOver where a hook of it failed."""
    window = owner.capsule.context.max_tokens
    if window is None or owner.capsule.inference.transport is Transport.PROCESS:
        return
    ratio = single(occupancy / window)
    if ratio < single(owner.capsule.inference.compaction_threshold):
        return
    messages = owner.conversation.messages
    event = BeforeCompaction(trigger="threshold", messages=messages, tokens=occupancy, ratio=ratio, origin=origin)
    resolution = (await owner.tell(event)).resolution
    if resolution.failed_run is not None:
        raise failed(fault_of(resolution))
    applied = next((each for each in resolution.applied if isinstance(each.effect, ReplaceContext)), None)
    if resolution.denied or applied is None:
        reason = "denied_by_hook" if resolution.denied else "no_hook_replacement"
        _decline(owner, origin, occupancy, reason, "[compaction] no hook returned replace-context; continuing")
        return
    assert isinstance(applied.effect, ReplaceContext)  # noqa: S101  # for the type checker
    replacement = applied.effect.messages
    if not is_paired(replacement):
        text = "[compaction] compacted result has an unresolved tool_call; continuing without compaction"
        _decline(owner, origin, occupancy, "unresolved_tool_call", text)
        return
    await _replace(owner, origin, applied.hook, replacement)


def fault_of(resolution: Resolution) -> Fault:
    """Why a task failed whose conversation a hook could not shorten."""
    outcome = resolution.failed_run
    assert outcome is not None  # noqa: S101  # for the type checker: whoever calls has looked
    message = f"compaction hook failed: {outcome.hook.id}: {outcome.detail}"
    return Fault(
        kind=FaultKind.HOOK_FAILED,
        message=message,
        hook=outcome.hook.id,
        point=resolution.event.point.name,
        details=outcome.detail,
    )


def _decline(owner: Owner, origin: Origin, tokens: int, reason: str, text: str) -> None:
    owner.recorder.record(CompactionDeclined(origin=origin, tokens=tokens, reason=reason))
    owner.recorder.record(Diagnosed(origin=origin, log=BOOTSTRAP, text=text))


async def _replace(owner: Owner, origin: Origin, hook: str, replacement: Sequence[Message]) -> None:
    before = tokens_of_messages(owner.conversation.messages, owner.count)
    owner.conversation.replace(replacement, why="threshold", origin=origin)
    after = tokens_of_messages(owner.conversation.messages, owner.count)
    owner.recorder.record(Compacted(origin=origin, hook=hook, before=before, after=after))
    text = f"[compaction] hook compaction at turn {origin.step}; new session_tokens: {after}"
    owner.recorder.record(Diagnosed(origin=origin, log=BOOTSTRAP, text=text))
    if owner.capsule.inference.dumps_summaries:
        summary = "\n".join(each.text for each in replacement)
        _dump(owner, {"turn": origin.step, "tokens_before": before, "tokens_after": after, "summary": summary})
    await owner.fire(AfterCompaction(trigger="threshold", origin=origin))


def _dump(owner: Owner, told: dict[str, object]) -> None:
    """Keep the summary for whoever wants to see how well it was made. Best effort."""
    try:
        with (owner.layout.session / "out" / "compaction-summaries.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")
    except OSError as error:
        text = f"[compaction] the summary was not dumped: {error.strerror}"
        owner.recorder.record(Diagnosed(origin=Origin(), log=BOOTSTRAP, text=text))
