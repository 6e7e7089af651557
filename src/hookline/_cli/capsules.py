"""What `run CAPSULE` and `exec --capsule` do: stage a capsule, give it its tasks, end it, say how it went."""

import os
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import click

from hookline._capsules import Launch, check_capsule, launch, model_of
from hookline._cli.account import Account
from hookline._cli.console import Console
from hookline._cli.execution import TOKEN, EndSignals, Options, print_config_error, to_the_end
from hookline._cli.input_lines import STANDARD_INPUT, lines_of
from hookline._cli.listening import address_of, bound
from hookline._cli.program import program_name
from hookline._cli.serving import listened_to, show_results, token_given
from hookline._compose import JournalFolder, inputs_store
from hookline._core.errors import ConfigError, UsageError
from hookline._core.inputs import Input
from hookline._core.records import Ending
from hookline.dialects.murmur.door import events_of
from hookline.session.admission.runtime import InputRefused
from hookline.session.admission.wire import InvalidInput, input_from
from hookline.session.approval import ApprovalMode
from hookline.session.capsule.life import IDLE, IDLE_VARIABLE, live
from hookline.session.capsule.session import CapsuleSession
from hookline.session.ports import Model


def run_capsule(options: Options, path: Path, tasks: Sequence[str], *, listen: str | None) -> int:
    """Run the command and return its exit code."""
    address = None if listen is None else address_of(listen)
    token = token_given()
    idle = _idle(options)
    at = None if address is None else bound(*address)  # before anything begins that would have to end again
    try:
        signals = EndSignals()
        life = _Life(options=options, path=path, tasks=tasks, idle=idle, at=at, token=token)
        return to_the_end(lambda: life.to_the_end(signals), _say, signals)
    finally:
        if at is not None:
            at.close()


def _say(text: str) -> None:
    click.echo(f"{program_name()}: {text}", err=True)


def _idle(options: Options) -> float:
    """How long to wait for a task. Raises UsageError for an environment that says no number."""
    if options.idle is not None:
        return options.idle
    text = os.environ.get(IDLE_VARIABLE, "")
    if not text:
        return IDLE
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"{IDLE_VARIABLE} is a whole number of seconds, found {text!r}")
    return float(text)


@dataclass(slots=True, kw_only=True)
class _Life:
    """One launch, from its folders to its last line."""

    options: Options
    path: Path
    tasks: Sequence[str]
    idle: float
    at: socket.socket | None
    token: str
    sound: bool = True

    async def to_the_end(self, signals: EndSignals) -> int:
        options = self.options
        env = {name: value for name, value in os.environ.items() if name != TOKEN}
        try:
            checked = await check_capsule(self.path, env=env, native=options.native_hooks)
            model = model_of(checked.capsule, provider=options.provider, model=options.model)
            launched = await launch(
                checked,
                env=env,
                workdir=options.workspace,
                trust=options.trust,
                overrides=options.hooks_override,
                strict=options.strict,
            )
        except ConfigError as error:
            print_config_error(error)
            return 1
        console = Console(launched.project, as_json=options.as_json, events=options.events or "murmur")
        capsule = checked.capsule
        console.say(f"capsule {capsule.name} {capsule.version}: {launched.layout.session}")
        console.report_loading()
        show_results(console)
        try:
            return await self._live(launched, model, console, signals)
        finally:
            console.summarise()

    async def _live(self, launched: Launch, model: Model, console: Console, signals: EndSignals) -> int:
        options = self.options
        store = inputs_store(None, env=os.environ, kept=False)
        async with AsyncExitStack() as stack:
            stack.callback(launched.programs.close)
            await stack.enter_async_context(launched.engine)
            stack.push_async_callback(store.aclose)
            await store.open()
            session = await launched.session(
                model=model,
                journals=Account(None if options.no_session_log else JournalFolder(), console),
                approval=options.approval if options.approves else ApprovalMode.NEVER,
                approver=None if options.inputs == STANDARD_INPUT else console.approver(),
                inputs=store,
            )
            signals.session = session
            await stack.enter_async_context(session)
            if self.at is not None:
                await listened_to(session, self.at, self.token, console, stack, events_of)
            return await self._worked(session, console)

    async def _worked(self, session: CapsuleSession, console: Console) -> int:
        try:
            results = await live(
                session,
                given=self.tasks,
                lines=None if self.options.inputs is None else self._lines(self.options.inputs, console),
                waits=self.at is not None,
                idle=self.idle,
            )
        except InputRefused as refused:
            console.say(f"not admitted: {refused}")
            return 1
        return 0 if self.sound and all(each.ending is Ending.COMPLETED for each in results) else 1

    async def _lines(self, file: Path, console: Console) -> AsyncIterator[Input]:
        async for place, line in lines_of(file):
            try:
                yield input_from(line)
            except InvalidInput as error:
                console.say(f"{place}: {error}")
                self.sound = False
