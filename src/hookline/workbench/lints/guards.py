"""Guards that a failure opens: no answer must not look like a yes."""

from collections.abc import Iterator

from hookline._core.outcomes import Kind, Outcome
from hookline._core.reasons import Failure
from hookline._core.rules import FailurePolicy
from hookline._engine.fold import consequence, could_deny
from hookline.workbench.findings import Finding, Level
from hookline.workbench.lints.asking import Asked, lint


@lint
def guards_that_fail_open(asked: Asked) -> Iterator[Finding]:
    """A hook that may deny, whose failure lets the action through."""
    hook, rule = asked.hook, asked.rule
    if rule is None or hook.background or hook.fallback is not None or not could_deny(hook, rule):
        return
    failed = Outcome(hook=hook, kind=Kind.FAILED, why=Failure.TIMEOUT)
    if consequence(failed, rule, strict=False) is FailurePolicy.IGNORE:
        habits = asked.conventions
        otherwise = (
            "" if habits is not None and not habits.has_fallbacks else ", or give the hook a fallback that denies"
        )
        yield asked.finding(
            Level.NOTE,
            "FailsOpen",
            f"at {rule.name} this hook may deny, and if it fails or is too slow the action goes on",
            effect="no answer counts as yes",
            remedy=f"run the session with --strict{otherwise}",
        )
