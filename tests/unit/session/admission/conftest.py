import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests import services

from hookline.session.admission.places import store_for
from hookline.session.admission.store import Store

Opener = Callable[[], Awaitable[Store]]


@pytest.fixture(params=["file", "memory", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path | None:
    match request.param:
        case "file":
            return tmp_path / "inputs.db"
        case "memory":
            return None
        case _:
            return services.require(services.POSTGRES)


@pytest.fixture(params=["file", "postgres"])
def shared_place(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    """A place that two stores can have open."""
    return tmp_path / "inputs.db" if request.param == "file" else services.require(services.POSTGRES)


@pytest.fixture
async def store(place: str | Path | None) -> AsyncIterator[Store]:
    store = store_for(place)
    await store.open()
    yield store
    await store.aclose()


@pytest.fixture
async def opened(shared_place: str | Path) -> AsyncIterator[Opener]:
    """Opens one more store in the same place, each time."""
    stores: list[Store] = []

    async def open_store() -> Store:
        stores.append(store_for(shared_place))
        await stores[-1].open()
        return stores[-1]

    yield open_store
    for store in stores:
        await store.aclose()


@pytest.fixture
def runtime() -> str:
    """Nobody else's."""
    return f"rt:session:{uuid.uuid4()}"


# Claims an input, says which, and works on it for as long as it is let.
WORKER = """
import asyncio, sys
from hookline.session.admission.places import store_for

async def main():
    store = store_for(sys.argv[1])
    await store.open()
    row = await store.claim(sys.argv[2])
    print(row.input.id, flush=True)
    sys.stdin.read()

asyncio.run(main())
"""

# Admits, works, ends and publishes until it is killed, and says what it was told was done.
RESTLESS = """
import asyncio, sys, uuid
from hookline._core.inputs import Handling, Input, InputKind
from hookline.session.admission.places import store_for
from hookline.session.admission.store import Phase

async def main():
    store, runtime = store_for(sys.argv[1]), sys.argv[2]
    await store.open()
    while True:
        for _ in range(2):
            id = str(uuid.uuid4())
            await store.admit(runtime, Input(id=id, kind=InputKind.PROMPT, key=id), Handling.QUEUE)
            print("admitted", id, flush=True)
        id = (await store.claim(runtime)).input.id
        await store.finish(runtime, id, Phase.CONSUMED, id.encode())
        print("finished", id, flush=True)
        await store.publish(runtime, id)
        print("published", id, flush=True)

asyncio.run(main())
"""

Worker = Callable[[str | Path, str], tuple[subprocess.Popen[str], str]]


@pytest.fixture
def start_worker() -> Iterator[Worker]:
    """Starts another process that works on an input of a runtime in a place. Returns it, and the input's id."""
    with ExitStack() as stack:

        def start(place: str | Path, runtime: str) -> tuple[subprocess.Popen[str], str]:
            worker = stack.enter_context(started(WORKER, place, runtime))
            assert worker.stdout is not None
            return worker, worker.stdout.readline().strip()

        yield start


@pytest.fixture
def told_by_killed(shared_place: str | Path, runtime: str) -> dict[str, list[str]]:
    """What a process that was killed in the middle of its work had been told was admitted, finished and published."""
    told: dict[str, list[str]] = {"admitted": [], "finished": [], "published": []}
    with started(RESTLESS, shared_place, runtime) as worker:
        assert worker.stdout is not None
        for number, line in enumerate(worker.stdout):
            what, input_id = line.split()
            told[what].append(input_id)
            if number == 50:
                worker.kill()
    return told


@contextmanager
def started(script: str, place: str | Path, runtime: str) -> Iterator[subprocess.Popen[str]]:
    """A process of its own, which is killed if it has not ended by itself."""
    with subprocess.Popen(
        [sys.executable, "-c", script, str(place), runtime],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as worker:
        try:
            yield worker
        finally:
            worker.kill()
