"""What a sound JSON answer asks of the session (sections 13.2 to 13.5). Reads only what `answer_schema` let pass."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hookline._core.answer import Answer, Word
from hookline._core.decisions import Allow, Ask, Decision, Deny
from hookline._core.effects import AddContext, AddFeedback, Effect, EndRun, Notify, Reopen, RewriteInput
from hookline.dialects.muse.answer_schema import SPECIFIC, Members, is_blank
from hookline.dialects.muse.rules import MuseRule, Stopping
from hookline.dialects.muse.terminal import some_lines

MESSAGE_CHARACTERS = 1000  # of a `systemMessage`; the rest is cut, and the answer stands

SAYING: dict[Word, Callable[[str], Decision | Effect]] = {
    Deny: Deny,
    AddFeedback: AddFeedback,
    EndRun: EndRun,
    Reopen: Reopen,
}


@dataclass(slots=True)
class Draft:
    """An answer in the making."""

    decision: Decision | None = None
    effects: list[Effect] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def ask(self, word: Word, text: str) -> None:
        """Ask for *word*, a decision or an effect that holds nothing but a text."""
        said = SAYING[word](text)
        if isinstance(said, Effect):
            self.effects.append(said)
        else:
            self.decision = said

    def answer(self) -> Answer:
        return Answer(decision=self.decision, effects=tuple(self.effects), notes=tuple(self.notes))


def meaning_of(said: Members, rule: MuseRule) -> Answer:
    """The answer that these members are. `continue` comes first: in a run that stops there is nothing to block."""
    draft = Draft()
    specific = said.get(SPECIFIC, {})
    if said.get("continue") is False and rule.stopping is Stopping.EFFECTIVE:
        _stop(said, rule, draft)
    else:
        _note_inert_stop(said, rule, draft)
        _decide(said, rule, draft)
    _permit(specific, draft)
    if not is_blank(specific.get("additionalContext")):
        draft.effects.append(AddContext(specific["additionalContext"]))
    _notify(said, draft)
    return draft.answer()


def verdict_in(said: Members) -> Any:
    """The permission decision that these members make, as the hook spelled it: allow, deny, ask or None."""
    specific = said.get(SPECIFIC, {})
    verdict = specific.get("decision", said.get("decision"))
    return verdict["behavior"] if isinstance(verdict, dict) else specific.get("permissionDecision")


def _stop(said: Members, rule: MuseRule, draft: Draft) -> None:
    reason = said.get("stopReason", "")
    draft.ask(rule.stop_as, rule.stop_text if is_blank(reason) else reason)
    if rule.stop_feedback:
        draft.ask(AddFeedback, rule.stop_feedback)
    if "decision" in said:
        draft.notes.append("`decision` not read: `continue: false` comes first")


def _note_inert_stop(said: Members, rule: MuseRule, draft: Draft) -> None:
    if said.get("continue") is False:
        draft.notes.append(f"`continue: false` has no effect at {rule.name}")
    elif "stopReason" in said:
        draft.notes.append("`stopReason` not read: there is no `continue: false`")


def _decide(said: Members, rule: MuseRule, draft: Draft) -> None:
    """A block, or a verdict on a pending approval."""
    if said.get("decision") == "block" and rule.block is not None:
        draft.ask(rule.block, said["reason"])
        return
    verdict = said.get(SPECIFIC, {}).get("decision", said.get("decision"))
    if not isinstance(verdict, dict):
        return
    message = verdict.get("message", "")
    if verdict["behavior"] == "deny":
        draft.decision = Deny(rule.block_text if is_blank(message) else message)
        return
    draft.decision = Allow()
    if message:
        draft.notes.append("`message` of an allowing `decision` is not read")


def _permit(specific: Members, draft: Draft) -> None:
    """A permission decision about a tool call, and a new input for it. A refused call needs no input."""
    reason = specific.get("permissionDecisionReason", "")
    match specific.get("permissionDecision"):
        case "deny":
            draft.decision = Deny(reason)
        case "ask" if draft.decision is None:
            draft.decision = Ask(reason)
        case "allow" if reason:
            draft.notes.append("`permissionDecisionReason` of an `allow` is not read")
    changed = specific.get("updatedInput")
    if changed is None:
        return
    if isinstance(draft.decision, Deny):
        draft.notes.append("`updatedInput` not used: the call is denied")
    else:
        draft.effects.append(RewriteInput(changed))


def _notify(said: Members, draft: Draft) -> None:
    message = some_lines(said.get("systemMessage", ""))
    if is_blank(message):
        return
    draft.effects.append(Notify(message[:MESSAGE_CHARACTERS]))
    if len(message) > MESSAGE_CHARACTERS:
        draft.notes.append(f"`systemMessage` cut to {MESSAGE_CHARACTERS} characters of {len(message)}")
