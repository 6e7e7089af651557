"""A hook's reply understood: the exit status first, standard output second (sections 12 and 13)."""

from dataclasses import replace

from hookline._core.answer import Answer
from hookline._core.effects import AddContext
from hookline._core.hooks import Hook
from hookline._core.payload import CallFailed, Exited, Reply, Responded, Returned, Yielded
from hookline._core.points import Event
from hookline._core.reasons import Failure
from hookline.dialects.muse.answer_schema import fault_in
from hookline.dialects.muse.meaning import Draft, meaning_of
from hookline.dialects.muse.output import OUTPUT_BYTES, Malformed, parse, starts_as_json, text_of
from hookline.dialects.muse.rules import BY_EVENT, MuseRule
from hookline.dialects.muse.skills import IGNORED, fault_in_selection, is_inert, told_of_selection
from hookline.dialects.muse.terminal import last_line

BLOCKS = 2  # the exit status that blocks
NEVER_STARTED = {126: "found, and not executable", 127: "not found"}  # a shell's exit statuses for a command that is


def decode(reply: Reply, event: Event, hook: Hook) -> Answer | CallFailed:
    """What *hook* said about *event*, or why that is no answer. Never raises, whatever the bytes."""
    rule = BY_EVENT[event.point.event]
    match reply:
        case Exited():
            answer = _read(reply, rule, hook)
            return _unheard(answer) if hook.background and isinstance(answer, Answer) else answer
        case CallFailed(why=Failure.OUTPUT_TOO_LARGE):
            return _too_large(reply)
        case CallFailed():
            return reply
        case Returned() | Responded() | Yielded():
            what = f"status {reply.status}" if isinstance(reply, Responded) else f"a {type(reply.value).__name__}"
            detail = f"the hook returned {what}; it has to end with an exit status"
            return CallFailed(why=Failure.MALFORMED_ANSWER, detail=detail)


def _read(reply: Exited, rule: MuseRule, hook: Hook) -> Answer | CallFailed:
    if reply.code == 0:
        return _read_output(reply, rule, hook)
    if reply.code == BLOCKS:
        return _read_block(reply, rule, hook)
    said = last_line(text_of(reply.stderr))
    if reply.code in NEVER_STARTED:
        detail = said or f"exited with {reply.code}: command {NEVER_STARTED[reply.code]}"
        return _failed(reply, Failure.COULD_NOT_START, detail)
    if reply.code < 0:
        return _failed(reply, Failure.SIGNAL, f"ended by signal {-reply.code}")
    detail = f"exited with {reply.code}" + (f": {said}" if said else "")
    if rule.block is not None and not hook.background and (reply.stderr.strip() or reply.stdout.strip()):
        detail += "; only exit 2 with a reason on standard error blocks"
    return _failed(reply, Failure.EXIT_CODE, detail)


def _read_block(reply: Exited, rule: MuseRule, hook: Hook) -> Answer | CallFailed:
    """Exit 2: blocks where something can be blocked, if standard error says why. Standard output is not read."""
    reason = text_of(reply.stderr).strip()
    if rule.block is None:
        return _failed(reply, Failure.EXIT_CODE, f"exited with 2, and nothing can be blocked at {rule.name}")
    if hook.background:
        return _failed(reply, Failure.EXIT_CODE, "exited with 2, and an async hook blocks nothing")
    if not reason:
        detail = "exited with 2 but wrote no reason to standard error, so nothing was blocked"
        return _failed(reply, Failure.EXIT_CODE, detail)
    draft = Draft()
    draft.ask(rule.block, reason)
    if starts_as_json(text_of(reply.stdout)):
        draft.notes.append("stdout JSON not read on exit 2")
    return draft.answer()


def _read_output(reply: Exited, rule: MuseRule, hook: Hook) -> Answer | CallFailed:
    text = text_of(reply.stdout)
    if not starts_as_json(text):
        return _plain(text.strip(), rule)
    said = parse(reply.stdout)
    if isinstance(said, Malformed):
        return _failed(reply, Failure.MALFORMED_ANSWER, said.text)
    if (fault := fault_in(said, rule) or fault_in_selection(said, hook)) is not None:
        return _failed(reply, Failure.MALFORMED_ANSWER, fault)
    answer = meaning_of(said, rule)
    if selected := told_of_selection(said, hook):
        return replace(answer, effects=(*answer.effects, AddContext(selected)))
    return replace(answer, notes=(*answer.notes, IGNORED)) if is_inert(said, hook) else answer


def _plain(text: str, rule: MuseRule) -> Answer:
    if not text:
        return Answer()
    if rule.plain_context:
        return Answer(effects=(AddContext(text),))
    ignored = f"text on standard output is ignored at {rule.name}"
    return Answer(notes=(ignored,), doubt=ignored)


def _unheard(answer: Answer) -> Answer:
    """The answer of an async hook: well-formed or not, it changes nothing."""
    if not answer.words():
        return answer
    return Answer(notes=(*answer.notes, "the answer of an async hook changes nothing"))


def _too_large(reply: CallFailed) -> CallFailed:
    """The same failure in the dialect's words, which name the stream."""
    stream = reply.stream or ("stdout" if len(reply.stdout) >= OUTPUT_BYTES else "stderr")
    detail = (
        f"output_too_large: hook {stream} exceeded its {OUTPUT_BYTES}-byte ceiling; "
        "the process tree was terminated and no stream was parsed"
    )
    return CallFailed(
        why=reply.why,
        detail=detail,
        code=reply.code,
        stdout=reply.stdout,
        stderr=reply.stderr,
        left_behind=reply.left_behind,
    )


def _failed(reply: Exited, why: Failure, detail: str) -> CallFailed:
    return CallFailed(
        why=why,
        detail=detail,
        code=reply.code,
        stdout=reply.stdout,
        stderr=reply.stderr,
        left_behind=reply.left_behind,
    )
