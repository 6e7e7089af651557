"""A hook's reply, understood: at most one decision, any effects, and notes on what was left unread."""

from dataclasses import dataclass

from hookline._core.decisions import DECISIONS, Decision
from hookline._core.effects import Effect

Word = type[Decision] | type[Effect]  # one thing that a point admits and a hook commits


@dataclass(frozen=True, slots=True)
class Answer:
    """What one hook said. *notes* name parts of its reply that were read by nobody, for the trace."""

    decision: Decision | None = None
    effects: tuple[Effect, ...] = ()
    notes: tuple[str, ...] = ()

    def words(self) -> frozenset[Word]:
        """Every kind of decision and effect in this answer."""
        said: set[Word] = {type(effect) for effect in self.effects}
        if self.decision is not None:
            said.add(type(self.decision))
        return frozenset(said)


NOTHING = Answer()

Answerable = Answer | Decision | Effect | None  # what a handler may return


def answer_from(value: object) -> Answer | None:
    """The answer that a handler's return value stands for, or None when it stands for none."""
    if value is None:
        return NOTHING
    if isinstance(value, Answer):
        return value
    if isinstance(value, DECISIONS):
        return Answer(decision=value)
    if isinstance(value, Effect):
        return Answer(effects=(value,))
    return None
