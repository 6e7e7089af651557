"""Which transport a session gets."""

from collections.abc import Callable

from hookline._core.errors import UsageError
from hookline._core.peers import Transport
from hookline.session.peers.jetstream import NatsTransport
from hookline.session.peers.local import LocalHub

HERE = LocalHub()  # of this process


def transport_for(
    url: str | None, hub: LocalHub | None = None, *, on_status: Callable[[str], None] | None = None
) -> Transport:
    """A transport over the NATS server at *url*; without one, a transport between the peers of this process.

    Those who name no *hub* share one. *on_status* hears how a server fares.
    """
    if url is None:
        return (hub or HERE).transport()
    if hub is not None:
        raise UsageError("peers meet at a NATS server or in a hub of this process: give a URL or a hub, not both")
    return NatsTransport(url, on_status=on_status)
