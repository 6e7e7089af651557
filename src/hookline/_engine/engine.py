"""The engine: give it an event, get back what the hooks together say."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Self, TypeVar

from hookline._core.answer import Answerable
from hookline._core.errors import UsageError
from hookline._core.finish import Cancellations
from hookline._core.hooks import Hook, SessionSettings
from hookline._core.matchers import EVERYTHING, Matcher
from hookline._core.outcomes import Outcome
from hookline._core.points import Event
from hookline._core.ports import Adapter, Dialect, Dispatcher, Recorder
from hookline._core.records import Dispatched
from hookline._core.resolution import Resolution
from hookline._core.rules import FailurePolicy, Rule
from hookline._core.targets import Target
from hookline._engine.ask import ask
from hookline._engine.background import Lane
from hookline._engine.fold import fold_all
from hookline._engine.invoke import requests_to_cancel
from hookline._engine.occasion import Occasion
from hookline._engine.plan import Group, check, in_order, plan_for, selected
from hookline._engine.registration import Terms, hook_from

DEFAULT_HANDLER_TIMEOUT = 30.0  # long for a decision in this process, short for a person who waits for it

E = TypeVar("E", bound=Event)
R = TypeVar("R", bound=Answerable | Awaitable[Answerable])


class HookEngine:
    """Holds hooks and fires events. Holds nothing about any session: that travels with the event.

    *dialects* are asked in their order; *in_code* is the one of them that handlers registered here belong to.
    `strict` turns every failure or skip of a hook that could have denied into a Deny. One engine serves any number
    of sessions on one event loop.
    """

    def __init__(
        self,
        *,
        dialects: Sequence[Dialect],
        in_code: Dialect,
        adapters: Mapping[type[Target], Adapter],
        hooks: Sequence[Hook] = (),
        settings: SessionSettings | None = None,
        strict: bool = False,
    ) -> None:
        self.settings = settings or SessionSettings()
        self.strict = strict
        self._dialects = tuple(dialects)
        self._in_code = in_code
        self._adapters = dict(adapters)
        self._by_name = {dialect.name: dialect for dialect in dialects}
        self._hooks: dict[str, Hook] = {}
        if in_code.name not in self._by_name:
            raise UsageError(f"handlers would be of the dialect {in_code.name!r}, which this engine does not ask")
        self._in_code_count = sum(hook.dialect == in_code.name for hook in hooks)
        self._plans: dict[type[Event], tuple[Group, ...]] = {}
        self._lanes: dict[tuple[str, str], Lane] = {}
        self._closed = False
        for hook in hooks:
            self._add(hook)

    def on(
        self,
        event: type[E],
        *,
        match: Matcher = EVERYTHING,
        timeout: float = DEFAULT_HANDLER_TIMEOUT,
        priority: int = 0,
        on_failure: FailurePolicy | None = None,
    ) -> Callable[[Callable[[E], R]], Callable[[E], R]]:
        """Register the decorated callable for *event*.

        It is given the event and returns None, a decision, an effect or an Answer; its return annotation, where it
        has one, is what it commits to, so `-> None` makes an observer. A synchronous callable runs off the event
        loop. *timeout* is in seconds. A handler that commits Deny and fails denies, unless *on_failure* says
        otherwise. Raises UsageError for what can never work: a matcher where the point has no subject, an annotation
        that the point cannot honour.
        """
        if getattr(event, "point", None) is None:
            raise UsageError(f"{event!r} is not a hook point: on() takes an event class, such as BeforeToolCall")

        def register(handler: Callable[[E], R]) -> Callable[[E], R]:
            terms = Terms(match=match, timeout=timeout, priority=priority, on_failure=on_failure)
            self._add(hook_from(handler, event, self._in_code, self._in_code_count, terms))
            self._in_code_count += 1
            return handler

        return register

    def hooks(self) -> tuple[Hook, ...]:
        """Every hook, in the order in which they are asked."""
        return in_order(self._hooks.values(), self._dialects)

    def rules(self, event: type[Event]) -> tuple[Rule, ...]:
        """The rules under which there are hooks for *event*, in the order in which their dialects are asked."""
        return tuple(group.rule for group in self._plan(event))

    @property
    def dialects(self) -> tuple[Dialect, ...]:
        """Those whose hooks it takes, in the order in which they are asked."""
        return self._dialects

    def groups(self, event: type[Event]) -> tuple[Group, ...]:
        """The hooks for *event* by dialect, each with the rule that holds, in the order in which they are asked."""
        return self._plan(event)

    def preview(self, event: Event) -> tuple[Hook, ...]:
        """The hooks that *event* would reach, in configured order. Nothing is called."""
        return tuple(hook for group in self._plan(type(event)) for hook in selected(event, group))

    async def dispatch(self, event: Event) -> Resolution:
        """Call every hook that *event* reaches and fold their outcomes.

        What hooks do never raises. Cancelling it does, once every call has ended; so does wrong use, UsageError.
        """
        return await self._dispatch(event, None)

    def recording(self, recorder: Recorder) -> Dispatcher:
        """The same engine, its account going to *recorder*. What *recorder* raises, dispatching raises."""
        return _Recording(self, recorder)

    async def drain(self, session_id: str, budget: float) -> tuple[str, ...]:
        """Wait up to *budget* seconds for a session's background hooks, cut off the rest and name those."""
        ends = [lane.drain(session_id, budget) for lane in self._lanes.values()]
        abandoned: list[str] = []
        faults: list[BaseException] = []
        for drained in await asyncio.gather(*ends, return_exceptions=True):
            if isinstance(drained, BaseException):
                faults.append(drained)
            else:
                abandoned.extend(drained)
        if faults:
            raise faults[0]
        return tuple(abandoned)

    async def aclose(self) -> None:
        """Stop taking events, end what runs in the background, and let go of what the adapters keep.

        A cancellation takes its way when that is done, and so does what a recorder or an adapter raises.
        """
        self._closed = True
        cancellations = Cancellations()
        faults: list[Exception] = []
        lanes = tuple(self._lanes.values())  # a chain under way may still add one, which is shut from the start
        for lane in lanes:
            lane.shut()
        for close in (*(lane.close for lane in lanes), *(each.aclose for each in self._adapters.values())):
            try:
                await cancellations.finish(close())
            except Exception as fault:  # noqa: BLE001  # the others are closed all the same
                faults.append(fault)
        cancellations.raise_if_any()
        if faults:
            raise faults[0]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _add(self, hook: Hook) -> None:
        """Raises UsageError for a hook that cannot be told from another, would never run, or would not be heard."""
        if hook.id in self._hooks:
            raise UsageError(f"two hooks have the id {hook.id}: an answer must be told from another")
        check(hook, self._by_name)
        self._hooks[hook.id] = hook
        self._plans.clear()

    def _plan(self, event: type[Event]) -> tuple[Group, ...]:
        plan = self._plans.get(event)
        if plan is None:
            if getattr(event, "point", None) is None:
                raise UsageError(f"{event.__name__} is not a hook point; see hookline.events for those that are")
            plan = self._plans[event] = plan_for(event, self._hooks.values(), self._dialects)
        return plan

    async def _dispatch(self, event: Event, recorder: Recorder | None) -> Resolution:
        if self._closed:
            raise UsageError("this engine is closed; a closed guard must not look like one that agrees")
        since = time.monotonic()
        said: list[tuple[Rule, Outcome]] = []
        resolution: Resolution | None = None
        launched: tuple[Hook, ...] = ()
        for group in self._plan(type(event)):
            seen = event if resolution is None else resolution.event
            hooks = selected(seen, group)
            if not hooks:
                continue
            occasion = Occasion(
                event=seen,
                dialect=group.dialect,
                rule=group.rule,
                adapters=self._adapters,
                recorder=recorder,
                since=since,
                strict=self.strict,
                requests=requests_to_cancel(),
                denied=resolution is not None and resolution.denied,
            )
            outcomes, sent = await ask(hooks, occasion, partial(self._lane, group.dialect))
            launched += sent
            said.extend([(group.rule, outcome) for outcome in outcomes])
            resolution = fold_all(event, said, strict=self.strict)
        if resolution is None:
            resolution = Resolution(event=event)
        if launched:
            resolution = replace(resolution, launched=launched)
        if recorder is not None:
            took = time.monotonic() - since
            recorder.record(Dispatched(origin=event.origin, event=event, resolution=resolution, duration=took))
        return resolution

    def _lane(self, dialect: Dialect, hook: Hook) -> Lane:
        name, policy = dialect.lane_of(hook)
        lane = self._lanes.get((dialect.name, name))
        if lane is None:
            lane = self._lanes[dialect.name, name] = Lane(policy)
            if self._closed:
                lane.shut()
        return lane


class _Recording:
    """An engine and where the account of its events goes. Implements Dispatcher."""

    def __init__(self, engine: HookEngine, recorder: Recorder) -> None:
        self._engine = engine
        self._recorder = recorder

    async def dispatch(self, event: Event) -> Resolution:
        return await self._engine._dispatch(event, self._recorder)  # noqa: SLF001  # the engine's other half
