"""The session: it opens, takes prompts, compacts, clears, forks, and closes, and every edge fires its events."""

import asyncio
import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Self

from hookline._core import events
from hookline._core.effects import EndRun
from hookline._core.errors import ModelError, ToolError, UsageError
from hookline._core.events import (
    BeforeStage,
    SessionEnd,
    SessionStart,
    SubagentStart,
)
from hookline._core.finish import Cancellations, all_of
from hookline._core.inputs import (
    Accepted,
    Admission,
    Input,
    InputKind,
    Rejected,
    RejectionReason,
)
from hookline._core.messages import with_results
from hookline._core.points import Agent, Event, Origin
from hookline._core.ports import Dispatcher, Engine, Journals
from hookline._core.records import Noted, SessionClosed, SessionOpened
from hookline._core.rules import Rule
from hookline.session.account import Account
from hookline.session.admission.places import store_for
from hookline.session.admission.runtime import InputRefused, Runtime
from hookline.session.admission.store import Store
from hookline.session.apply import Fired, apply_all
from hookline.session.approval import NOTIFY_AFTER, ApprovalMode
from hookline.session.aside import Aside
from hookline.session.beginning import Beginning, Family
from hookline.session.children import MAX_DEPTH, Children
from hookline.session.compaction import Trigger, Window, compact
from hookline.session.conversation import Conversation
from hookline.session.gate import Gate, GateSettings
from hookline.session.identity import new_run_id, new_session_id
from hookline.session.over import RunOver, failed_by, stop_if
from hookline.session.peers.exchange import Exchange, Peers
from hookline.session.ports import MAX_TOKENS, Approver, Model, RunResult, Tool
from hookline.session.taking import Taker
from hookline.session.tally import Tally

END_BUDGET = 60.0  # seconds for the hooks of session_end: they may upload or clean up, but not keep a terminal for ever
MAX_STEPS = 200  # model calls in one run; a loop that a person would have stopped long before

# A point from outside is fired outside, and what is before every session is not fired by one.
FIRES = frozenset(getattr(events, name).point.name for name in events.__all__) - {BeforeStage.point.name}


class Session:
    """An agent at work, with hooks at every point of its life.

    Use it as a context manager: entering fires `session_start`, leaving `session_end`. *engine* decides; *model*
    answers; *tools* act, each through the one gate. *journals* keeps the account, nobody does without it.
    *workspace* is the folder it works in, the current one by default. Under *approval* calls may wait for *approver*;
    without one they are refused. *env* is the environment of its tools, this process's by default. *beginning* says
    where it goes on; it begins anew by default.

    *inputs*, a store that is open, keeps what it is given to work on; without one that is process-local. *queue*
    names the runtime in it, `rt:session:<id>` by default: sessions that share one share its work. *peers* are other
    agents that it exchanges messages with.

    `reason_if_cancelled` is what `session_end` tells of a session that is left by a cancellation.

    It is entered once, and takes one prompt at a time. Raises UsageError for what cannot work: a hook for a point that
    never fires here, two tools of one name, a workspace that is no folder.
    """

    fired_before: ClassVar[frozenset[str]] = frozenset()  # points that whoever opened this session has fired by then

    def __init__(
        self,
        engine: Engine,
        *,
        model: Model,
        tools: Sequence[Tool] = (),
        journals: Journals | None = None,
        workspace: Path | str | None = None,
        approval: ApprovalMode = ApprovalMode.UNTRUSTED,
        approver: Approver | None = None,
        notify_after: float = NOTIFY_AFTER,
        env: Mapping[str, str] | None = None,
        window: Window | None = None,
        max_steps: int = MAX_STEPS,
        max_tokens: int = MAX_TOKENS,
        beginning: Beginning | None = None,
        inputs: Store | None = None,
        queue: str | None = None,
        peers: Peers | None = None,
    ) -> None:
        if never := sorted({hook.event.point.name for hook in engine.hooks()} - FIRES - self.fired_before):
            raise UsageError(f"a session never fires {', '.join(never)}: a hook there would never run")
        _check(model, approval)
        beginning = beginning or Beginning()
        self.id = beginning.session_id or new_session_id()
        self.model = model
        self.max_steps = max_steps
        self.max_tokens = max_tokens
        self.reopen_limit = engine.settings.reopen_limit
        self.children = Children()
        self._workspace = _folder(Path(workspace or Path.cwd()))
        self._engine = engine
        self._journals = journals
        self._source = beginning.source
        self._recorded = beginning.recorded
        self._family = beginning.family
        self._tools = tuple(tools)
        self._window = window or Window()
        self._soft_vetoed = False
        self._over: RunResult | None = None  # what the next run comes to before it has begun
        self._state = _State.NEW
        self._worker: asyncio.Task[Any] | None = None  # who has taken a prompt
        self._idle = asyncio.Event()
        self._idle.set()
        self.reason_if_cancelled = "interrupted"
        self.recorder = Account()
        self.tally = Tally()
        self._dispatcher: Dispatcher = engine
        self.conversation = Conversation(self.recorder, beginning.conversation)
        self._settings = GateSettings(
            mode=approval,
            approver=approver,
            notify_after=notify_after,
            env=dict(os.environ if env is None else env),
        )
        self.gate = Gate(self._tools, self._settings)
        self._aside = Aside(engine, lambda: self._dispatcher, self.recorder)
        self._owns_inputs = inputs is None
        self.runtime = Runtime(inputs or store_for(None), queue or f"rt:session:{self.id}", self)
        self._taker = Taker(self)
        self.exchange = None if peers is None else Exchange(peers, self, self.runtime.store, self.runtime.name)

    @property
    def workspace(self) -> Path:
        """The folder that the session works in, absolute."""
        return self._workspace

    @property
    def subagent_id(self) -> str | None:
        """What the parent calls this session, None for one that has no parent."""
        return None if self._family.agent is None else self._family.agent.id

    async def __aenter__(self) -> Self:
        if self._state is not _State.NEW:
            raise UsageError("a session is entered once; fork() it, or begin another that resumes it")
        if self._family.parent is not None and self._family.users.gone:
            raise UsageError("the session that this one comes from has ended, and its tools with it")
        if self._journals is not None:
            self.recorder.to = self._journals.recorder(self.id)
            self._dispatcher = self._engine.recording(self.recorder)
        try:
            self.recorder.record(
                SessionOpened(
                    origin=self.origin(),
                    source=self._source,
                    workspace=str(self._workspace),
                    parent=self._family.parent,
                    hooks=len(self._engine.hooks()),
                )
            )
        except BaseException:
            self.recorder.close()  # it never began, and its account is nobody's to keep open
            raise
        self._state = _State.OPEN
        self._family.users.count += 1
        try:
            await self._open()
        except BaseException:
            await self.close(self.reason_if_cancelled)  # nobody else does, of a session that was never entered
            raise
        return self

    async def _open(self) -> None:
        """Begin, and then take over what is queued. A child is given its one task by its parent, and nothing else."""
        if self.conversation.messages and not self._recorded:
            self.conversation.replace(self.conversation.messages, why=self._source, origin=self.origin())
        await self._fire_start()
        if self.subagent_id is not None:
            return
        if self._owns_inputs:
            await self.runtime.store.open()
        await self.runtime.open()
        if self.exchange is not None:
            await self.exchange.open()

    async def _fire_start(self) -> None:
        name = self.subagent_id
        if name is None:
            await self._begin(self._source)
            return
        event = SubagentStart(subagent_id=name, child_session_id=self.id, origin=self.origin(self.id))
        with self._kept_for_the_next_run():
            await self.fire(event)

    async def _begin(self, source: str) -> None:
        """Fire `session_start`. A hook of it that ends the run ends the next one: there is none yet."""
        with self._kept_for_the_next_run():
            stop_if((await self.fire(SessionStart(source=source, origin=self.origin()))).end)

    @contextlib.contextmanager
    def _kept_for_the_next_run(self) -> Iterator[None]:
        try:
            yield
        except RunOver as over:
            self._over = over.result

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        await self.close(self.reason_if_cancelled if kind is asyncio.CancelledError else "other")

    async def close(self, reason: str = "other") -> None:
        """End the session: run, children, `session_end` hooks, background hooks, tools. In this order, each bounded.

        Cancelling it cuts the hooks short, and nothing else: whatever still runs is ended and the account is closed
        before the cancellation takes its way. A second call does nothing.
        """
        was, self._state = self._state, _State.CLOSED
        if was is not _State.OPEN:
            return
        cancellations = Cancellations()
        try:
            await cancellations.finish(self._end_run(asyncio.current_task()))
            if self.exchange is not None:
                await cancellations.finish(self.exchange.aclose())
            await cancellations.finish(self.children.aclose())
            if self.subagent_id is None:
                await cancellations.finish_or_cut(self._fire_end(reason))
        finally:
            try:
                await self._end_account(reason, cancellations)
            finally:
                self._family.users.count -= 1
                if self._family.users.gone:  # children and forks use the tools of the session that they come from
                    await cancellations.finish(self.gate.aclose())
        cancellations.raise_if_any()

    async def _end_run(self, closer: "asyncio.Task[Any] | None") -> None:
        """Cut off a run that is at work in another task than the one that closes the session."""
        if self._worker is not None and self._worker is not closer:
            self._worker.cancel()
            await self._idle.wait()

    async def _end_account(self, reason: str, cancellations: Cancellations) -> None:
        try:
            abandoned = await self._drain(cancellations)
            if self._owns_inputs:
                await cancellations.finish(self.runtime.store.aclose())
            closed = SessionClosed(origin=self.origin(), reason=reason, abandoned=abandoned, totals=self.tally.totals())
            self.recorder.record(closed)
        finally:
            self.recorder.close()

    async def _drain(self, cancellations: Cancellations) -> tuple[str, ...]:
        """Wait for background hooks within the budget. Whoever cancels does not want to wait; they end all the same."""
        budget = 0.0 if cancellations.any else self._engine.settings.drain
        await cancellations.finish(self.gate.settle(budget))
        await cancellations.finish(self._aside.settle(budget))
        abandoned = await cancellations.finish_or_cut(self._engine.drain(self.id, budget))
        if abandoned is None:
            abandoned = await cancellations.finish(self._engine.drain(self.id, 0.0))
        return abandoned

    async def run(self, prompt: str, *, key: str | None = None) -> RunResult:
        """Take *prompt* and work until there is a final answer, or a hook, an error or the step limit ends it.

        It is admitted first, and inputs that were queued before it are worked on before it. With a *key* that was used
        before nothing is done again: the result is that of the first. Raises InputRefused when it is not admitted;
        UsageError for a session that is not open, for without its start no hook has seen it begin, and for one that is
        at work on another prompt.
        """
        return await self.submit(Input(id=new_session_id(), kind=InputKind.PROMPT, text=prompt, key=key))

    async def submit(self, input: Input) -> RunResult:
        """The same for an input of any kind."""
        with self._alone():
            if self.subagent_id is not None:
                return await self.take(input)
            match await self.admit(input):
                case Rejected() as rejected:
                    raise InputRefused(rejected)
                case Accepted(input_id=input_id):
                    return await self.runtime.work_until(input_id)
                case deduplicated:
                    return await self.runtime.work_until(deduplicated.existing)

    async def admit(self, input: Input) -> Admission:
        """Have *input* queued: committed, and told to hooks, before this returns. Whoever works next gets to it.

        Raises StateError where the store of inputs cannot be used: nothing is known to have been decided then.
        """
        self._check_open()
        return await self.runtime.admit(input)

    def refuse(self, input: Input, reason: RejectionReason, detail: str) -> Rejected:
        """Refuse *input* for good, for a reason that was found outside."""
        return self.runtime.refuse(input, reason, detail)

    async def serve(self) -> None:
        """Work on whatever is queued, one input after the other, for as long as this is not cancelled."""
        with self._alone():
            await self.runtime.serve()

    async def work_off(self) -> int:
        """Work on what is queued now. How many inputs that were."""
        count = 0
        with self._alone():
            while await self.runtime.work_once():
                count += 1
        return count

    @property
    def peers(self) -> Exchange:
        """Messages to other agents. Raises UsageError for a session that has no peers."""
        if self.exchange is None:
            raise UsageError("this session has no peers: give it some, as in Session(..., peers=Peers(...))")
        return self.exchange

    def tell_aside(self, event: Event) -> None:
        """Tell hooks of a settled fact, without waiting for them."""
        self._aside.tell(event)

    async def take(self, input: Input) -> RunResult:
        """Work on an input up to its end."""
        return await self._taker.take(input)

    def ended_before(self) -> RunResult | None:
        """What the next run comes to before it has begun, told once."""
        result, self._over = self._over, None
        return result

    def rules(self, event: type[Event]) -> tuple[Rule, ...]:
        """The rules under which there are hooks for *event*."""
        return self._engine.rules(event)

    async def compact_now(self) -> bool:
        """Shorten the conversation. False when a hook objected. Raises ModelError when the model gives no summary."""
        with self._alone(), self._kept_for_the_next_run():
            before = self.conversation.messages
            stop_if(await self.compact(Trigger.MANUAL, self.origin(new_run_id())))
        return self.conversation.messages != before

    async def clear(self) -> None:
        """Forget the conversation and begin anew: the end and the start of a session, under the same id."""
        with self._alone():
            await self.children.aclose()
            await self._fire_end("clear")
            self.conversation.drop_held()
            self.conversation.replace((), why="clear", origin=self.origin())
            self._soft_vetoed = False
            self._over = None
            await self._begin("clear")

    def fork(self) -> "Session":
        """A new session that goes on from here; enter it to start it. This one goes on by itself."""
        self._check_open()
        family = Family(parent=self.id, depth=self._family.depth, users=self._family.users)
        said = tuple(with_results(self.conversation.messages, {}))  # in the middle of a run a call has no result yet
        return self._another(Beginning(source="fork", conversation=said, family=family))

    async def fire(self, event: Event) -> Fired:
        """Dispatch *event* and apply what its hooks ask for. Raises RunOver when a hook failed that fails the run."""
        fired = await self.tell(event)
        if fired.resolution.failed_run is not None:
            raise failed_by(fired.resolution)
        return fired

    async def fire_all(self, events: Sequence[Event]) -> tuple[Fired, ...]:
        """Fire *events* at once, and apply what comes of them in their order.

        What ends the run is the caller's to see.
        """
        resolutions = await all_of([self._dispatcher.dispatch(event) for event in events])
        return tuple(apply_all(each, self.conversation, self.recorder) for each in resolutions)

    async def tell(self, event: Event) -> Fired:
        """The same for what is over, which no failure can end any more."""
        return apply_all(await self._dispatcher.dispatch(event), self.conversation, self.recorder)

    def compaction_due(self) -> Trigger | None:
        """Which compaction the conversation has come to need."""
        return self._window.due(self.conversation.tokens(), soft_vetoed=self._soft_vetoed)

    async def compact(self, trigger: Trigger, origin: Origin) -> EndRun | None:
        """Shorten the conversation, unless a hook objects. Returns what ends the run, if a hook wants it to end.

        Raises ModelError when the model gives no summary.
        """
        compaction = await compact(self, trigger, origin)
        self._soft_vetoed = compaction.vetoed and (self._soft_vetoed or trigger is Trigger.SOFT)
        return compaction.end

    async def spawn(self, *, objective: str, role: str, kind: str) -> str:
        """Start a child agent and return its id once it has begun; its result arrives later as context."""
        if self._family.depth >= MAX_DEPTH:
            raise ToolError(f"agents nest {MAX_DEPTH} deep at most; do this one yourself")
        name = self.children.next_id()
        try:
            model = self.model.for_child(kind)
        except ModelError as error:
            raise ToolError(f"no agent of the kind {kind or 'default'}: {error}") from error
        agent = Agent(id=name, type=kind or "default")
        family = Family(parent=self.id, agent=agent, depth=self._family.depth + 1, users=self._family.users)
        child = self._another(Beginning(family=family), model)
        await child.__aenter__()
        prompt = f"{role}\n\n{objective}" if role else objective
        self.children.start(name, child.work_to_the_end(prompt))
        return name

    async def work_to_the_end(self, prompt: str) -> RunResult:
        """A child's whole life after its start."""
        reason = "interrupted"
        try:
            result = await self.run(prompt)
            reason = "other"
        finally:
            await self.close(reason)
        return result

    async def _fire_end(self, reason: str) -> None:
        try:
            async with asyncio.timeout(END_BUDGET):
                await self.tell(SessionEnd(reason=reason, totals=self.tally.totals(), origin=self.origin()))
        except TimeoutError:
            text = f"hooks of session_end were cut off after {END_BUDGET:g} seconds"
            self.recorder.record(Noted(origin=self.origin(), text=text))

    def _check_open(self) -> None:
        if self._state is not _State.OPEN:
            raise UsageError("this session is not open: use it as `async with Session(...) as session`")

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """One thing at a time happens to the conversation."""
        self._check_open()
        if self._worker is not None:
            raise UsageError("this session is at work on another prompt: wait for it, or fork() the session")
        self._worker = asyncio.current_task()
        self._idle.clear()
        try:
            yield
        finally:
            self._worker = None
            self._idle.set()

    def origin(self, run_id: str = "") -> Origin:
        """Where something happens in the session itself, or in a run of it."""
        return Origin(
            session_id=self.id,
            run_id=run_id,
            cwd=str(self._workspace),
            model=self.model.name,
            provider=self.model.provider if self.model.provider_known else None,
            approval_off=self._settings.mode is ApprovalMode.NEVER,
            agent=self._family.agent,
        )

    def _another(self, beginning: Beginning, model: Model | None = None) -> "Session":
        """A session like this one: same engine, same tools, same approval, hence the same hooks and the same gate."""
        return Session(
            self._engine,
            model=model or self.model,
            tools=self._tools,
            journals=self._journals,
            workspace=self._workspace,
            approval=self._settings.mode,
            approver=self._settings.approver,
            notify_after=self._settings.notify_after,
            env=self._settings.env,
            window=self._window,
            max_steps=self.max_steps,
            max_tokens=self.max_tokens,
            beginning=beginning,
        )


class _State(Enum):
    NEW = "new"
    OPEN = "open"
    CLOSED = "closed"


def _check(model: object, approval: object) -> None:
    """What a type checker would have said."""
    if not callable(getattr(model, "complete", None)):
        raise UsageError(f"model= takes a model, such as EchoModel(), found {model!r}")
    if not isinstance(approval, ApprovalMode):
        known = ", ".join(f"ApprovalMode.{mode.name}" for mode in ApprovalMode)
        raise UsageError(f"approval= takes one of {known}, found {approval!r}")


def _folder(path: Path) -> Path:
    folder = path.resolve()
    if not folder.is_dir():
        raise UsageError(f"workspace= takes a folder, and {folder} is none")
    return folder
