"""Sends the payload to an HTTP server: its answer is the status, the headers and the body that come back."""

import asyncio
from typing import TYPE_CHECKING

from hookline._core.payload import Limits, Payload, Reply
from hookline._core.targets import HttpTarget
from hookline.adapters._http_request import objection_to
from hookline.adapters._limits import closed, could_not_start, timed_out

if TYPE_CHECKING:
    from hookline.adapters._http_exchange import Client

NO_AIOHTTP = "HTTP hooks need aiohttp, which is not installed: pip install 'hookline[http]'"


class HttpAdapter:
    """Sends each payload over connections that are kept for the next call, for as long as the adapter lives.

    The method and the headers go out as they are written, after a content type of JSON. One deadline covers
    connecting, TLS, sending, the headers and the body. Ten redirects are followed as browsers do, as long as they stay
    on the same scheme, host and port: headers may hold credentials, so a redirect to anywhere else is the answer. The
    environment has no say: neither its proxies nor a netrc file. No cookies are kept.

    A request whose first byte was sent is never sent again. Before a kept connection is used, the loop has the turns
    in which it notices that the server has closed it.
    """

    def __init__(self) -> None:
        self._client: Client | None = None
        self._closed = False

    async def call(self, target: HttpTarget, payload: Payload, limits: Limits) -> Reply:
        if not self._closed and limits.timeout > 0:
            if objection := objection_to(target):
                return could_not_start(objection)
            try:
                client = await self._client_here()
            except ImportError:
                return could_not_start(NO_AIOHTTP)
            if not self._closed:
                return await client.call(target, payload.body, limits)
        return closed() if self._closed else timed_out(limits)

    async def aclose(self) -> None:
        """Start nothing more, cut off what is under way, and close all connections."""
        self._closed = True
        client, self._client = self._client, None
        if client is not None and client.loop is asyncio.get_running_loop():  # else its loop has closed them
            await client.close()

    async def _client_here(self) -> "Client":
        """The client of the running loop. The first call ever has a thread import the library, as that takes a while.

        Raises ImportError where there is none.
        """
        if self._client is None or self._client.loop is not asyncio.get_running_loop():
            client_class = await asyncio.to_thread(_client_class)
            if self._client is None or self._client.loop is not asyncio.get_running_loop():
                self._client = client_class()
        return self._client


def _client_class() -> "type[Client]":
    from hookline.adapters._http_exchange import Client

    return Client
