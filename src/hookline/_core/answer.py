"""A hook's reply, understood: at most one decision, any effects, and notes on what was left unread."""

from collections.abc import Iterable
from dataclasses import dataclass

from hookline._core.decisions import DECISIONS, Allow, Ask, Decision, Deny
from hookline._core.effects import Effect

Word = type[Decision] | type[Effect]  # one thing that a point admits and a hook commits


def listed(words: Iterable[Word]) -> str:
    """*words* in a message."""
    return ", ".join(sorted(word.__name__ for word in words))


@dataclass(frozen=True, slots=True)
class Answer:
    """What one hook said.

    `notes` name parts of its reply that were read by nobody, for the trace. `doubt` says why this may not be all that
    it meant, such as text in front of an answer: the dialect's rule is to go on, and under strict it is no answer.
    """

    decision: Decision | None = None
    effects: tuple[Effect, ...] = ()
    notes: tuple[str, ...] = ()
    doubt: str = ""

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
    match value:
        case None:
            return NOTHING
        case Answer():
            answer = value
        case Allow() | Ask() | Deny():
            answer = Answer(decision=value)
        case Effect():
            answer = Answer(effects=(value,))
        case _:
            return None
    return answer if _is_sound(answer) else None


def _is_sound(answer: Answer) -> bool:
    """Whether an answer holds what its types say: those who make one in code are not checked by anybody else."""
    decision: object = answer.decision
    effects: object = answer.effects
    if not (decision is None or (isinstance(decision, DECISIONS) and isinstance(decision.reason, str))):
        return False
    notes: object = answer.notes
    if not (isinstance(effects, tuple) and isinstance(notes, tuple) and isinstance(answer.doubt, str)):
        return False
    if not all(isinstance(note, str) for note in notes):
        return False
    return all(isinstance(effect, Effect) and effect.is_sound() for effect in effects)
