"""The logs that are kept beside the trace."""

from tests.unit.dialects.murmur.rig import ORIGIN, Place, failed, staged

import hookline as hl
from hookline._core.events import AfterModelCall, BeforeDispatch
from hookline._core.reasons import Failure
from hookline._core.records import Diagnosed, SessionClosed
from hookline.dialects.murmur.logs import Logs

TURN = AfterModelCall(provider="p", origin=ORIGIN)


def test_diagnostics_go_to_their_log() -> None:
    """What the runtime says of itself stands in the log that it names."""
    said = Diagnosed(origin=ORIGIN, log="bootstrap", text="line 4 is not a message")

    assert [("bootstrap", "line 4 is not a message")] == Logs().lines(said)


async def test_an_error_is_logged_as_it_was_said() -> None:
    """The bare text of the hook, line breaks and all; a clean session leaves no log."""
    place = Place(staged(), staged("quiet"), says={"watch": failed(Failure.ERROR, "a\nb")})
    await place.dispatch(TURN)
    place.record(SessionClosed(origin=ORIGIN, reason="other"))

    assert [("hook-watch", "a\nb")] == place.log


async def test_the_hooks_of_others_have_no_log() -> None:
    """What fails in another dialect is told by that one."""
    place = Place(staged("guard", binding="on-tool-call", policy="deny"))

    @place.engine.on(hl.events.BeforeDispatch)
    def broken(event: BeforeDispatch) -> hl.Deny | None:
        raise ValueError("no")

    resolution = await place.dispatch(BeforeDispatch(tool_name="editor", input={}, origin=ORIGIN))
    place.record(SessionClosed(origin=ORIGIN, reason="other", abandoned=("someone else",)))

    assert resolution.denied
    assert ([], []) == (place.log, place.faults())
    assert ["session_end"] == [line["event_type"] for line in place.trace]


async def test_one_drain_is_told_of_once() -> None:
    """The count of what was dropped begins anew with each session."""
    place = Place(staged(is_async=True))
    for _ in range(1026):
        await place.dispatch(TURN)
    await place.drained()
    place.record(SessionClosed(origin=ORIGIN, reason="other"))
    place.record(SessionClosed(origin=ORIGIN, reason="other"))

    assert 1 == len(place.log)
    assert place.log[0][1].startswith("hook 'watch' discarded 1 lifecycle event(s): ")
