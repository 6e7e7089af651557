"""How a run is left from any depth: with its result."""

from hookline._core.decisions import Deny
from hookline._core.effects import EndRun
from hookline._core.errors import ModelError
from hookline._core.faults import Fault, FaultKind
from hookline._core.reasons import Failure
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


def failed(fault: Fault, text: str = "") -> RunOver:
    """The end of a run that failed."""
    return RunOver(RunResult(ending=Ending.FAILED, text=text, reason=fault.message, fault=fault))


def failed_by_model(error: ModelError, text: str) -> RunOver:
    """The end of a run of which a model call failed."""
    fault = Fault(kind=FaultKind.MODEL, message=str(error), category=error.category, details=error.details)
    return failed(fault, text)


def failed_by(resolution: Resolution) -> RunOver:
    """The end of a run of which a hook failed whose failures fail it."""
    outcome = resolution.failed_run
    assert outcome is not None  # noqa: S101  # for the type checker: whoever calls has looked
    fault = Fault(
        kind=FaultKind.HOOK_TIMEOUT if outcome.why is Failure.TIMEOUT else FaultKind.HOOK_FAILED,
        message=resolution.reason,
        hook=outcome.hook.id,
        point=resolution.event.point.name,
        details=outcome.detail or (outcome.why.value if outcome.why else ""),
        limit=outcome.hook.timeout,
    )
    return failed(fault)


def refused(resolution: Resolution, text: str = "", *, fails: bool = False) -> RunOver:
    """The end of a run that a hook refused: cancelled, or failed where the hook's dialect or *fails* says so."""
    decision = resolution.decision
    if not (fails or resolution.deny_fails):
        return RunOver(RunResult(ending=Ending.CANCELLED, text=text, reason=resolution.reason))
    fault = Fault(
        kind=FaultKind.HOOK_DENIED,
        message=resolution.reason,
        hook=resolution.decided_by or "",
        point=resolution.event.point.name,
        code=decision.code if isinstance(decision, Deny) else "",
        details=resolution.reason,
    )
    return failed(fault, text)
