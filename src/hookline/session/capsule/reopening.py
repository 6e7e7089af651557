"""The text of a task that is worked on once more."""

from collections.abc import Sequence

HEAD = """

---

# Reopen feedback

The previous attempt was not accepted. Address the following feedback, then continue.
"""

SECTION = """
## Reopen {number} — from hook `{hook}`

{reason}
"""


def with_feedback(task: str, feedback: Sequence[tuple[str, str]]) -> str:
    """*task*, and below it what each hook that had it reopened said. Made from the original each time: never nested."""
    if not feedback:
        return task
    sections = [
        SECTION.format(number=number, hook=hook, reason=reason.strip())
        for number, (hook, reason) in enumerate(feedback, 1)
    ]
    return (task.rstrip() + HEAD + "".join(sections)).rstrip("\n")


def exhausted(reopened: int, hook: str) -> str:
    """Why a task failed that a hook would have had reopened once more."""
    return f"task reopen budget exhausted after {reopened} reopen(s): hook '{hook}' still requested another reopen"
