"""Taking turns at the loop."""

import asyncio

from hookline.adapters._turns import Turns


async def turns_taken(turns: Turns, count: int) -> list[int]:
    """In which turn of the loop each of several callers got through."""
    loop = asyncio.get_running_loop()
    clock = 0
    taken: list[int] = []

    def tick() -> None:
        nonlocal clock
        clock += 1
        if len(taken) < count:
            loop.call_soon(tick)

    async def caller() -> None:
        await turns.next()
        taken.append(clock)

    tick()
    await asyncio.gather(*(caller() for _ in range(count)))
    return taken


async def test_one_caller_per_turn() -> None:
    """No two callers get through in one turn of the loop, and hardly a turn goes unused."""
    taken = await turns_taken(Turns(), 6)

    assert taken == sorted(set(taken))
    assert taken[-1] - taken[0] <= 6


async def test_a_lone_caller_does_not_wait() -> None:
    """Where nobody else had the turn it is the caller's at once, without a turn of the loop."""
    call = Turns().next()
    try:
        call.send(None)
    except StopIteration:
        return
    raise AssertionError("it waited")


async def test_who_gives_up_is_passed_over() -> None:
    """A caller that is cancelled while it waits costs nobody a turn."""
    turns = Turns()
    order = []

    async def caller(name: str) -> None:
        await turns.next()
        order.append(name)

    tasks = [asyncio.create_task(caller(name)) for name in "abcd"]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.wait(tasks)

    assert order == ["a", "c", "d"]


def test_a_loop_that_ended_blocks_no_other() -> None:
    """Turns that were taken in a loop that ended since are free in the next one."""
    turns = Turns()

    for _ in range(2):
        loop = asyncio.new_event_loop()
        call = turns.next()
        asyncio.events._set_running_loop(loop)
        try:
            call.send(None)
        except StopIteration:
            pass
        finally:
            asyncio.events._set_running_loop(None)
            loop.close()
