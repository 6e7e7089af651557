"""The session of a capsule: it lives once, takes task after task, and reads only what its manifest grants."""

import asyncio
from dataclasses import replace
from typing import Any, ClassVar

from hookline._core.capsule import Acceptance, Capsule
from hookline._core.events import BeforeDispatch, BeforeStage
from hookline._core.identity import new_uuid7
from hookline._core.inputs import Accepted, Admission, Input, RejectionReason
from hookline._core.ports import Engine
from hookline._core.records import CallForbidden, RunStarted
from hookline.session.beginning import Beginning
from hookline.session.capsule.layout import Layout
from hookline.session.capsule.measure import Count
from hookline.session.capsule.protection import forbidden
from hookline.session.capsule.record import ConversationRecord, RecordedConversation
from hookline.session.capsule.surroundings import Around
from hookline.session.capsule.taking import TaskTaker
from hookline.session.capsule.task import Task
from hookline.session.compaction import Trigger
from hookline.session.gate import Gate
from hookline.session.ports import MAX_TOKENS
from hookline.session.session import Session

UNDECLARED = "tool '{name}' is not declared in manifest allowlist"

FROM_FILE, FROM_OUTSIDE = "task_md", "a2a"  # where a task came from, as its hooks are told


class CapsuleSession(Session):
    """A session whose runs are tasks. Its hooks have been asked about its staging before it is made.

    *capsule* is its manifest, *layout* its folders, *around* what its hooks may ask. The others are those of Session.
    """

    fired_before: ClassVar[frozenset[str]] = frozenset({BeforeStage.point.name})

    def __init__(
        self,
        engine: Engine,
        *,
        capsule: Capsule,
        layout: Layout,
        count: Count,
        kept: ConversationRecord,
        around: Around,
        session_id: str,
        reading_tools: frozenset[str] = frozenset(),
        **others: Any,
    ) -> None:
        beginning = Beginning(session_id=session_id)
        others.setdefault("max_tokens", capsule.inference.max_tokens or MAX_TOKENS)
        super().__init__(engine, workspace=layout.accessible, beginning=beginning, **others)
        self.capsule = capsule
        self.layout = layout
        self.count = count
        self.task: Task | None = None
        self.place = self.origin()
        self.conversation = RecordedConversation(self.recorder, kept)
        self._kept = kept
        self._context = f"ctx_{new_uuid7().hex}"
        self._reading_tools = reading_tools
        self._admitting = asyncio.Lock()
        self.from_files: set[str] = set()  # inputs that lay in the working directory
        self._takes_one_more = False  # and leaves then
        self._took_it = False
        self._settings = replace(self._settings, forbids=self._forbidden, unknown=UNDECLARED)
        self.gate = Gate(self._tools, self._settings)
        self._taker = TaskTaker(self)
        around.owner = self

    def compaction_due(self) -> Trigger | None:
        """Never before a request: an attempt asks behind its response."""
        return None

    async def admit(self, input: Input) -> Admission:
        """Have a task queued, if this capsule takes tasks and has room for one more."""
        self._check_open()
        life = self.capsule.lifecycle
        if life.acceptance is Acceptance.NONE and input.id not in self.from_files:
            return self.refuse(input, RejectionReason.NOT_READY, "this capsule takes no tasks")
        most = 1 + (life.queue_depth if life.acceptance is Acceptance.QUEUE else 0)
        async with self._admitting:  # or two at once would both find the last place
            if self._took_it:
                return self.refuse(input, RejectionReason.NOT_READY, "this capsule ends with the task that it has")
            if await self.runtime.store.at_work(self.runtime.name) >= most:
                return self.refuse(input, RejectionReason.NOT_READY, "busy with another task, and the queue is full")
            admission = await super().admit(input)
            self._took_it = self._takes_one_more and isinstance(admission, Accepted)
            return admission

    def enter_task(self, record: RunStarted) -> Task:
        """Make this the task in scope."""
        run_id = record.origin.run_id
        threaded = self.capsule.lifecycle.threaded
        context = self._context if threaded else f"ctx_{run_id.replace('-', '')}"
        source = FROM_FILE if record.input_id in self.from_files else FROM_OUTSIDE
        self._kept.enter(context)
        self.task = Task(id=run_id, context_id=context, source=source, original=record.prompt)
        return self.task

    def _forbidden(self, dispatch: BeforeDispatch) -> CallForbidden | None:
        """The manifest's own check, which stands before every hook's."""
        found = forbidden(
            dispatch.tool_name,
            dispatch.input,
            dispatch.command,
            read_only=self.capsule.read_only,
            workdir=self.layout.accessible,
            reads_only=dispatch.tool_name in self._reading_tools,
        )
        if found is None:
            return None
        return CallForbidden(
            origin=dispatch.origin,
            call_id=dispatch.call_id,
            tool=dispatch.tool_name,
            target=found.target,
            path=found.path,
            rule=found.rule,
            signal=found.signal,
            reason=found.reason,
        )

    async def wait_for_tasks(self, idle: float, *, forever: bool) -> None:
        """Work on what comes until nothing does for *idle* seconds; *forever*, until this is cancelled.

        A capsule that does not go on after a task is over with the first, and takes no other: what it took it would
        leave undone.
        """
        with self._alone():
            if forever and self.capsule.lifecycle.acceptance is Acceptance.QUEUE:
                while True:
                    await self.runtime.work_within(idle)
            async with self._admitting:
                self._takes_one_more = True
                self._took_it = await self.runtime.store.at_work(self.runtime.name) > 0
            await self.runtime.work_within(idle)
            async with self._admitting:
                self._took_it = True
