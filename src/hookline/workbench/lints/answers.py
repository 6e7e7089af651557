"""Answers that stand in the command itself, as in `echo '{...}'`, read as its dialect would."""

from collections.abc import Iterator

from hookline._core.payload import CallFailed, Exited
from hookline.dialects._base import Part
from hookline.workbench.findings import Finding, Level
from hookline.workbench.lints.asking import Asked, lint

PRINT = 2  # words of `echo TEXT`


@lint
def answers_that_would_be_refused(asked: Asked) -> Iterator[Finding]:
    """What a line prints for certain, where its dialect would not take it."""
    line = asked.line
    if line is None or len(line.commands) != 1:
        return
    words = line.commands[0]
    if words[0] != "echo" or len(words) != PRINT or not words[1].lstrip().startswith("{") or "$" in words[1]:
        return
    from hookline.workbench.samples import SAMPLES

    event = SAMPLES[asked.hook.event.point.event]
    reply = Exited(code=0, stdout=words[1].encode() + b"\n")
    answer = asked.package.dialect.decode(reply, event, asked.hook)
    if isinstance(answer, CallFailed):
        yield asked.finding(
            Level.WARNING,
            "AnswerRefused",
            f"what it prints is no answer here: {answer.detail}",
            effect="nothing that it says counts",
            remedy="print an answer of this event's form; `hookline schema` shows it",
            part=Part.COMMAND,
        )
