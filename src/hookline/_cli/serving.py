"""What `run` does: a session that takes inputs from a port, from peers and from lines, until it is ended."""

import asyncio
import os
import secrets
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from hookline._cli.console import Console
from hookline._cli.execution import TOKEN, EndSignals, Opened, Options, admitted, opened, to_the_end
from hookline._cli.listening import Listener, address_of, bound, in_url, no_events
from hookline._core.errors import UsageError
from hookline._core.records import Record, RunEnded
from hookline.session.ports import RunResult
from hookline.session.session import Session


def serve(options: Options, *, listen: str | None, queue: str | None) -> int:
    """Run the command and return its exit code."""
    address = None if listen is None else address_of(listen)
    token = token_given()
    if address is None and options.inputs is None and options.peer_name is None:
        raise UsageError("nothing to take inputs from: give --listen, --inputs or --nats with --peer-name")
    at = None if address is None else bound(*address)  # before anything begins that would have to end again
    try:
        found = opened(options, queue=queue)
        if isinstance(found, int):
            return found
        show_results(found.console)
        signals = EndSignals()
        return to_the_end(lambda: _serve(found, options, at, token, signals), found.console.say, signals)
    finally:
        if at is not None:
            at.close()


def token_given() -> str:
    """The one that the environment names, empty where it names none. Raises UsageError for one that cannot be sent."""
    token = os.environ.get(TOKEN, "")
    if not all("!" <= char <= "~" for char in token):
        raise UsageError(f"{TOKEN} holds what no request can bring: use letters, digits and punctuation, no blanks")
    return token


def show_results(console: Console) -> None:
    """Print what each run of the session itself comes to, whoever gave its input."""

    def show(record: Record, lines: list[str]) -> None:
        if isinstance(record, RunEnded) and record.origin.agent is None:
            console.report_result(RunResult(ending=record.ending, text=record.text, reason=record.reason))

    console.watchers.append(show)


async def _serve(found: Opened, options: Options, at: socket.socket | None, token: str, signals: EndSignals) -> int:
    code = 0
    try:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(found.engine)
            stack.push_async_callback(found.store.aclose)
            await found.store.open()
            session = found.new_session()
            signals.session = session
            await stack.enter_async_context(session)
            if at is not None:
                await listened_to(session, at, token, found.console, stack)
            code = await _work(session, options, found.console, forever=at is not None or bool(options.peer_name))
    finally:
        found.console.summarise()
    return code


async def listened_to(  # noqa: PLR0917  # each is a thing of its own, and the call names what it gives
    session: Session,
    at: socket.socket,
    token: str,
    console: Console,
    stack: AsyncExitStack,
    events: Callable[[Record], list[tuple[str, str]]] = no_events,
) -> None:
    """Take inputs at this address until the stack is left. *events* are what readers are told of each record."""
    made = token or secrets.token_urlsafe(24)
    listener = Listener(session, token=made, say=console.say, events=events)
    stack.push_async_callback(await listener.open(at))
    console.watchers.append(listener.watch)
    shown = f"the one in {TOKEN}" if token else made
    console.say(f"listening on http://{in_url(at.getsockname()[0])}:{listener.port}, token: {shown}")


async def _work(session: Session, options: Options, console: Console, *, forever: bool) -> int:
    """Work on what is queued, while lines are read beside it. The code is 1 where a line was no input, or refused."""
    reading = asyncio.ensure_future(admitted(session, options.inputs, console))
    serving = asyncio.ensure_future(session.serve())
    both: set[asyncio.Future[Any]] = {reading, serving}
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
        sound = await reading
        if not forever:
            await _worked_off(session, serving)
            return 0 if sound else 1
        await asyncio.wait([serving])
        serving.result()
        return 0
    finally:
        for each in both:
            each.cancel()
        await asyncio.gather(*both, return_exceptions=True)


async def _worked_off(session: Session, serving: "asyncio.Future[None]") -> None:
    """Return once everything is done. Raises what *serving* ends with before that."""
    done = asyncio.ensure_future(session.runtime.worked_off())
    try:
        await asyncio.wait({done, serving}, return_when=asyncio.FIRST_COMPLETED)
        (done if done.done() else serving).result()
    finally:
        done.cancel()
        await asyncio.wait([done])
