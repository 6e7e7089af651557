"""Many sessions replayed on all cores, what is found in the order of the sessions."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookline.workbench.opening import Chosen
from hookline.workbench.replay import AS_IT_IS, Beat, Terms, nobody, replay
from hookline.workbench.replay_worker import packed, unpacked
from hookline.workbench.replayed import Change, Found, Replayed, Trouble

WORKER = "hookline.workbench.replay_worker"
AHEAD = 8  # sessions a worker may be ahead of the one that is told of: short ones finish while a long one is replayed
WAITING = 1000  # finds of a session that wait for its turn; its worker waits with more, so that memory stays as it is
GRACE = 10.0  # seconds for a worker to end its hooks, which are given two; then it is killed, and they by its watchdog

DIED = "not replayed to its end: the process that did it {how}"

Told = Callable[[Beat], None]


async def replay_all(
    paths: Sequence[Path],
    chosen: Chosen,
    terms: Terms = AS_IT_IS,
    *,
    jobs: int | None = None,
    told: Told = nobody,
) -> AsyncGenerator[Found]:
    """As `replay`, for several sessions: whatever is found of each, its Replayed behind it, in the order of *paths*.

    They are replayed by *jobs* processes, one a core by default, or in this one if there is only one of either, or if
    *chosen* has handlers, which are this process's own. Of a session whose process dies that is told; the others are
    replayed all the same. However this ends, no process is left.
    """
    count = min(len(paths), (os.cpu_count() or 1) if jobs is None else jobs)
    if count <= 1 or chosen.handlers is not None:
        found = _one_by_one(paths, chosen, terms, told)
    else:
        found = _side_by_side(paths, replace(chosen, env=dict(chosen.env)), terms, told, count)
    stop = False
    async with aclosing(found):
        async for each in found:
            yield each
            stop = stop or (terms.fail_fast and isinstance(each, Change))
            if stop and isinstance(each, Replayed):
                return


async def _one_by_one(paths: Sequence[Path], chosen: Chosen, terms: Terms, told: Told) -> AsyncGenerator[Found]:
    for path in paths:
        async with aclosing(replay(path, chosen, terms, told=told)) as found:
            async for each in found:
                yield each


async def _side_by_side(
    paths: Sequence[Path], chosen: Chosen, terms: Terms, told: Told, count: int
) -> AsyncGenerator[Found]:
    finds: list[asyncio.Queue[Found] | None] = [asyncio.Queue(WAITING) for _ in paths]
    ahead = asyncio.Semaphore(AHEAD * count)
    left = iter(enumerate(paths))

    async def work() -> None:
        async with aclosing(_Worker(chosen, terms, told)) as worker:
            while True:
                await ahead.acquire()
                number, path = next(left, (None, None))
                if number is None or path is None:
                    return
                queue = finds[number]
                assert queue is not None  # noqa: S101  # for the type checker: it is let go of when it is told
                await worker.replay(path, queue)

    workers = [asyncio.ensure_future(work()) for _ in range(count)]
    try:
        for number, queue in enumerate(finds):
            assert queue is not None  # noqa: S101  # as above
            while True:
                found = await _next(queue, workers)
                yield found
                if isinstance(found, Replayed):
                    break
            finds[number] = None
            ahead.release()
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _next(queue: "asyncio.Queue[Found]", workers: Sequence["asyncio.Future[None]"]) -> Found:
    """What is found next. Raises what one that puts them there raised: a bug of ours, which must not make us wait."""
    if not queue.empty():
        return queue.get_nowait()
    getting = asyncio.ensure_future(queue.get())
    try:
        while not getting.done():
            at_work = [each for each in workers if not each.done()]
            waited: list[asyncio.Future[Any]] = [getting, *at_work]
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            for each in workers:
                if each.done():
                    each.result()
        return getting.result()
    finally:
        getting.cancel()


class _Worker:
    """One process at a time, which replays one session after the other. After one that died there is another."""

    def __init__(self, chosen: Chosen, terms: Terms, told: Told) -> None:
        self._first = packed((chosen, terms))
        self._told = told
        self._process: Process | None = None

    async def replay(self, path: Path, finds: "asyncio.Queue[Found]") -> None:
        """Put into *finds* what is found in *path*, a Replayed last."""
        process = self._process or await self._started()
        try:
            assert process.stdin is not None  # noqa: S101  # for the type checker: they are pipes
            assert process.stdout is not None  # noqa: S101  # as above
            process.stdin.write(packed(path))
            await process.stdin.drain()
            while not isinstance(found := await unpacked(process.stdout), Replayed):
                if isinstance(found, Beat):
                    self._told(found)
                else:
                    await finds.put(found)
            await finds.put(found)
        except (asyncio.IncompleteReadError, ConnectionError):
            self._process = None
            await finds.put(Trouble(path, 0, DIED.format(how=_ended(await process.wait()))))
            await finds.put(Replayed(troubles=1))

    async def _started(self) -> Process:
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", WORKER), stdin=PIPE, stdout=PIPE
        )
        assert process.stdin is not None  # noqa: S101  # for the type checker: it is a pipe
        process.stdin.write(self._first)
        return process

    async def aclose(self) -> None:
        """End the process: it ends its hooks when nobody is left to name sessions."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None  # noqa: S101  # for the type checker: they are pipes
        assert process.stdout is not None  # noqa: S101  # as above
        process.stdin.close()
        try:
            async with asyncio.timeout(GRACE):
                while await process.stdout.read(65536):
                    continue  # it may have more to say than its pipe holds
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _ended(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with {code}"
