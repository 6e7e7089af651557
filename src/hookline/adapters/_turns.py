"""Taking turns: one spawn per turn of the loop, so that many hooks at once never stall it for longer than one does."""

import asyncio
from collections import deque


class Turns:
    """Lets one caller through per turn of the loop, first come first served."""

    def __init__(self) -> None:
        self._taken_in: asyncio.AbstractEventLoop | None = None  # a loop that ended frees the turn that it had
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def next(self) -> None:
        """Return when it is the caller's turn, at once if nobody else had this one."""
        loop = asyncio.get_running_loop()
        if self._taken_in is loop:
            turn = loop.create_future()
            self._waiting.append(turn)
            await turn
        else:
            self._taken_in = loop
            loop.call_soon(self._pass_on, loop)

    def _pass_on(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # else its caller was cancelled
                turn.set_result(None)
                loop.call_soon(self._pass_on, loop)
                return
        self._taken_in = None
