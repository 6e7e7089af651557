"""A connection to a NATS server: a few tries to make it, each of them told; from then on nats-py makes it again."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from hookline._core.errors import StateError, UsageError

SCHEMES = ("nats", "tls")
PORT = 4222
PING_INTERVAL = 10.0  # seconds: a server that is there and silent counts as gone after two of these
RETRY_INTERVAL = 0.5  # seconds between nats-py's own tries to come back
CLOSING = 2.0  # seconds for the last bytes of a connection to leave
NO_NATS = "messages over NATS need nats-py, which is not installed: pip install 'hookline[nats]'"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Server:
    """A NATS server. The URL may hold a password, so only `address` is ever shown."""

    url: str = field(repr=False)
    address: str

    @classmethod
    def at(cls, url: str) -> "Server":
        """Raises UsageError for a URL that names no server."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port or PORT
        except ValueError:
            host, port, parts = None, PORT, urlsplit("")
        if parts.scheme not in SCHEMES or not host:
            raise UsageError("the URL of a NATS server has the form nats://host:port or tls://host:port")
        return cls(url, f"[{host}]:{port}" if ":" in host else f"{host}:{port}")


class Listener(Protocol):
    """Whoever wants to know how a connection fares."""

    def on_lost(self) -> None:
        """It is lost; nats-py tries to make it again."""
        ...

    def on_back(self) -> None: ...

    def on_closed(self) -> None:
        """It is closed for good."""
        ...

    def on_error(self, error: Exception) -> None:
        """The server, or nats-py, said this outside of any call."""
        ...


async def connect(server: Server, listener: Listener, timeout: float) -> Any:  # noqa: ASYNC109 - it is nats-py's
    """One try: a connected client of nats-py, which tells *listener* what becomes of it. Raises what nats-py raises.

    The client holds nothing back for a server that is away: what cannot be sent at once is refused.
    """
    try:
        from nats.aio.client import Client
    except ImportError:
        raise UsageError(NO_NATS) from None
    client = Client()
    is_made = False

    async def on_error(error: Exception) -> None:
        if not is_made:
            raise error  # or nats-py would try for as long as it likes
        listener.on_error(error)

    async def on_lost() -> None:
        if is_made:
            listener.on_lost()

    async def on_closed() -> None:
        if is_made:
            listener.on_closed()

    async def on_back() -> None:
        listener.on_back()

    options: dict[str, Any] = {
        "error_cb": on_error,
        "disconnected_cb": on_lost,
        "reconnected_cb": on_back,
        "closed_cb": on_closed,
        "connect_timeout": timeout,
        "reconnect_time_wait": RETRY_INTERVAL,
        "max_reconnect_attempts": -1,
        "ping_interval": PING_INTERVAL,
        "pending_size": 0,
    }
    try:
        await client.connect(server.url, **options)
    except BaseException:
        await close(client)
        raise
    is_made = True
    return client


async def close(client: Any) -> None:
    """End *client*, also one that never came to be connected. Never raises, and takes twice `CLOSING` at the most."""
    for _ in range(2):
        try:
            async with asyncio.timeout(CLOSING):
                await client.close()
        except Exception:  # noqa: BLE001 - whatever nats-py trips over here, there is nothing left to lose
            # It gives up half-way, its tasks running, when it cannot write what it still has; that is dropped by now.
            client._status = client.DISCONNECTED  # noqa: SLF001 - or it would take itself for closed
        else:
            return


async def persist(
    attempt: Callable[[], Awaitable[T]], *, what: str, tries: int, backoff: float, tell: Callable[[str], None]
) -> T:
    """What *attempt* comes to, of up to *tries*; the pause after the first that fails is *backoff*, then twice that.

    Raises StateError once there are no more tries, and at once for an attempt that raises one of our own errors.
    """
    said = ""
    for number in range(1, tries + 1):
        try:
            return await attempt()
        except (StateError, UsageError):
            raise
        except Exception as error:  # noqa: BLE001 - nats-py lets through whatever a server's answer makes it stumble over
            said = _words(error)
        if number < tries:
            pause = backoff * 2 ** (number - 1)
            tell(f"{what}: try {number} of {tries} failed: {said}; the next in {pause:g} s")
            await asyncio.sleep(pause)
        else:
            tell(f"{what}: try {number} of {tries} failed: {said}")
    raise StateError(f"{what} cannot be used after {tries} tries: {said}")


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
