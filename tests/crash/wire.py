"""A wire between a process and PostgreSQL's server, on which the process can be killed at each of its messages."""

import os
import selectors
import signal
import socket
from contextlib import suppress
from dataclasses import dataclass

from tests.crash.plan import Point, What, When

MOST = 1 << 16  # bytes; all that a process says before it waits for an answer
PATIENCE = 5.0  # seconds for the server to answer
FAREWELL = b"X"  # what a message begins with that has no answer, and after which there is nothing more to be lost


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended, as `os.waitpid` says, and how many messages it has sent."""

    status: int
    messages: int


class Wire:
    """Carries what processes say to the server at *address*, one process after the other, without a thread."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def close(self) -> None:
        self._listener.close()

    def carry(self, pid: int, last: Point | None) -> Ended:
        """Carry for the process *pid* until it has ended; *last* is the point at which it is killed."""
        carrying = _Carrying(self._listener, self._address, pid, last)
        try:
            return carrying.to_the_end()
        finally:
            carrying.close()


class _Carrying:
    def __init__(self, listener: socket.socket, address: tuple[str, int], pid: int, last: Point | None) -> None:
        self._listener = listener
        self._address = address
        self._pid = pid
        self._last = last if last is not None and last.what is What.MESSAGE else None
        self._messages = 0
        self._process = os.pidfd_open(pid)
        self._others: dict[socket.socket, socket.socket] = {}
        self._clients: set[socket.socket] = set()
        self._ready = selectors.DefaultSelector()
        self._ready.register(listener, selectors.EVENT_READ)
        self._ready.register(self._process, selectors.EVENT_READ)

    def to_the_end(self) -> Ended:
        while True:
            ready = {key.fileobj for key, _ in self._ready.select()}
            if self._process in ready:
                _, status = os.waitpid(self._pid, 0)
                return Ended(status, self._messages)
            for each in ready:
                if each is self._listener:
                    self._accept()
                elif each in self._others:
                    self._pass_on(each)

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        server = socket.create_connection(self._address, timeout=PATIENCE)
        self._clients.add(client)
        for one, other in ((client, server), (server, client)):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._others[one] = other
            self._ready.register(one, selectors.EVENT_READ)

    def _pass_on(self, source: socket.socket) -> None:
        try:
            data = source.recv(MOST)
        except ConnectionError:
            data = b""
        if not data:
            self._part(source)
        elif source in self._clients and not data.startswith(FAREWELL):
            self._messages += 1
            self._pass_message(source, data)
        else:
            self._send(self._others[source], data)

    def _pass_message(self, client: socket.socket, data: bytes) -> None:
        server = self._others[client]
        if Point(What.MESSAGE, self._messages, When.BEFORE) == self._last:
            self._kill()
            return
        self._send(server, data)
        if Point(What.MESSAGE, self._messages, When.AFTER) == self._last:
            with suppress(TimeoutError, ConnectionError):
                server.recv(1, socket.MSG_PEEK)  # which is there when the server has done what it was asked
            self._kill()

    def _kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)

    def _send(self, to: socket.socket, data: bytes) -> None:
        try:
            to.sendall(data)
        except OSError:
            self._part(to)

    def _part(self, one: socket.socket) -> None:
        """End a connection, as it ends where there is nothing in between."""
        other = self._others.pop(one, None)
        if other is None:
            return
        self._others.pop(other, None)
        for each in (one, other):
            self._ready.unregister(each)
            self._clients.discard(each)
            each.close()

    def close(self) -> None:
        for each in list(self._others):
            self._part(each)
        self._ready.close()
        os.close(self._process)
