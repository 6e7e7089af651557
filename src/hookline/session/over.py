"""How a run is left from any depth: with its result."""

from hookline._core.effects import EndRun
from hookline._core.records import Ending
from hookline._core.resolution import Resolution
from hookline.session.ports import RunResult


class RunOver(Exception):  # not an error: it carries the result out of the loop
    """The run ends here, with *result*."""

    def __init__(self, result: RunResult) -> None:
        super().__init__(result.reason)
        self.result = result


def stop_if(end: EndRun | None, text: str = "") -> None:
    """End the run here if a hook wants it to end. *text* is what the model had said until then."""
    if end is not None:
        raise RunOver(RunResult(ending=Ending.CANCELLED, text=text, reason=end.reason))


def failed_by(resolution: Resolution) -> RunOver:
    """The end of a run of which a hook failed whose failures fail it."""
    return RunOver(RunResult(ending=Ending.FAILED, reason=resolution.reason))
