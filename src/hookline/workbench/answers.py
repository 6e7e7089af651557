"""One answer read by every dialect that has the point: what a hook prints is not the same to all of them."""

from dataclasses import dataclass
from typing import Any

from hookline._core.answer import Answer
from hookline._core.hooks import Hook
from hookline._core.payload import CallFailed, Exited
from hookline._core.points import Event
from hookline._core.targets import CommandTarget
from hookline._engine.admit import objection_to
from hookline.dialects import PACKAGES
from hookline.journal.encode import answer_fields
from hookline.journal.plain import plain
from hookline.workbench.points import points_named
from hookline.workbench.samples import SAMPLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one dialect makes of a reply at one of its points: an answer, or why it is none."""

    dialect: str
    point: str
    answer: Answer | None
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        told = None if self.answer is None else plain(answer_fields(self.answer))
        return {"dialect": self.dialect, "point": self.point, "answer": told, "why": self.why}


def readings(point: str, *, stdout: bytes, stderr: bytes = b"", code: int = 0) -> tuple[Reading, ...]:
    """What every dialect that has *point*, and hooks that are programs, makes of this ending of one."""
    reply = Exited(code=code, stdout=stdout, stderr=stderr)
    return tuple(
        reading for event in points_named(point) for package in PACKAGES if (reading := _read(event, package, reply))
    )


def _read(kind: type[Event], package: Any, reply: Exited) -> Reading | None:
    dialect = package.dialect
    rule = dialect.rule(kind)
    if rule is None or package.conventions is None:  # its hooks are no programs that print
        return None
    target = CommandTarget(argv=("true",), env={})
    hook = Hook(id="hook", event=kind, target=target, dialect=dialect.name, commits=rule.admits)
    answer: Answer | CallFailed = dialect.decode(reply, SAMPLES[kind], hook)
    if isinstance(answer, CallFailed):
        return Reading(dialect=dialect.name, point=rule.name, answer=None, why=f"{answer.why.value}: {answer.detail}")
    if objection := objection_to(answer, hook, rule):
        return Reading(dialect=dialect.name, point=rule.name, answer=None, why=objection)
    return Reading(dialect=dialect.name, point=rule.name, answer=answer)
