"""A small server on loopback that answers as a case says, and keeps what it was asked."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

PARTS = frozenset({"status", "reason", "headers", "body", "stalls"})


class Server:
    """Answers each path as the case says: `status`, `reason`, `headers`, `body`; `stalls`: the body never ends."""

    def __init__(self, answers: Mapping[str, Any], filled: Callable[[Any], Any]) -> None:
        """*filled* puts the names of the case into an answer."""
        if unknown := {part for answer in answers.values() for part in answer} - PARTS:
            raise ValueError(f"an answer of the server has no {sorted(unknown)}")
        self._answers = answers
        self._filled = filled
        self.requests: list[dict[str, Any]] = []
        self.url = ""
        self._over = asyncio.Event()

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await self._answer(await self._request(reader), writer)
        except (EOFError, OSError):
            pass
        finally:
            writer.transport.abort()

    async def _request(self, reader: asyncio.StreamReader) -> str:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().removesuffix("\r\n\r\n")
        line, *lines = head.split("\r\n")
        headers: dict[str, list[str]] = {}
        for each in lines:
            name, _, value = each.partition(":")
            headers.setdefault(name.lower(), []).append(value.strip())
        body = await reader.readexactly(int(headers.get("content-length", ["0"])[0]))
        method, path, _ = line.split(" ")
        self.requests.append({"method": method, "path": path, "headers": headers, "body": body.decode()})
        return path

    async def _answer(self, path: str, writer: asyncio.StreamWriter) -> None:
        said = self._filled(self._answers[path])
        body = said.get("body", "{}").encode()
        size = len(body) + 1 if said.get("stalls") else len(body)
        lines = [f"HTTP/1.1 {said.get('status', 200)} {said.get('reason', 'OK')}", f"Content-Length: {size}"]
        lines += [f"{name}: {value}" for name, value in said.get("headers", {}).items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
        if said.get("stalls"):
            await self._over.wait()

    def stop(self) -> None:
        self._over.set()


@contextlib.asynccontextmanager
async def serving(answers: Mapping[str, Any], filled: Callable[[Any], Any]) -> AsyncIterator[Server]:
    """A server that is gone at the end, and its connections with it."""
    server = Server(answers, filled)
    tasks: set[asyncio.Task[None]] = set()

    def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(server.meet(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listening = await asyncio.start_server(meet, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()
        server.stop()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
