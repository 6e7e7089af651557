"""The life of a capsule: which tasks it is given, how long it waits for more, and when it is over."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from hookline._core.capsule import Acceptance, AfterTask
from hookline._core.inputs import Input, InputKind
from hookline.session.capsule.layout import Layout
from hookline.session.capsule.session import CapsuleSession
from hookline.session.identity import new_session_id
from hookline.session.ports import RunResult

IDLE = 30.0  # seconds that a capsule waits for a task, unless its environment says otherwise
IDLE_VARIABLE = "MURMUR_A2A_TIMEOUT_SECS"
TASK_FILES = ("task.md", "input.txt")
MOST_TASK_BYTES = 16 * 1024 * 1024  # more than any model takes

EXIT = "/exit"  # a task of this text ends the capsule in order


class Told(Protocol):
    """Hears what tasks come to."""

    def __call__(self, result: RunResult) -> None: ...


async def live(
    session: CapsuleSession,
    *,
    given: Sequence[str],
    lines: AsyncIterator[Input] | None,
    waits: bool,
    idle: float,
) -> list[RunResult]:
    """Work on the task that lies in the folder, on those *given*, on *lines*, and, if it *waits*, on what else comes.

    The results are those of the tasks that were taken here, in their order. It ends when there is nothing more to come,
    after *idle* seconds without a task, after the one task of a capsule that takes one, and at a task `/exit`.
    Raises InputRefused for a task that the capsule does not take.
    """
    results: list[RunResult] = []
    handed = [task(text) for text in given]
    session.from_files.update(each.id for each in handed)
    for each in (*_lying(session), *handed):
        if each.text.strip() == EXIT:
            return results
        results.append(await session.submit(each))
    if lines is not None:
        async for each in lines:
            if each.text.strip() == EXIT:
                return results
            results.append(await session.submit(each))
    life = session.capsule.lifecycle
    if not waits or life.acceptance is Acceptance.NONE or (results and life.acceptance is Acceptance.SINGLE):
        return results
    await session.wait_for_tasks(idle, forever=life.after_task is AfterTask.SLEEP)
    return results


def task(text: str) -> Input:
    """A task with this text."""
    return Input(id=new_session_id(), kind=InputKind.PROMPT, text=text)


def _lying(session: CapsuleSession) -> Sequence[Input]:
    """The task that lies in the working directory, if any."""
    text = text_in(session.layout)
    if text is None:
        return ()
    found = task(text)
    session.from_files.add(found.id)
    return (found,)


def text_in(layout: Layout) -> str | None:
    """The text of the task in the working directory. None where there is none that can be read."""
    for name in TASK_FILES:
        path = layout.accessible / name
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                return file.read(MOST_TASK_BYTES).decode("utf-8-sig", "replace")
    return None
