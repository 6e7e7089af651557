import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.unit.adapters.rig import Hooks
from tests.unit.processes.rig import Fifo, descriptors


@pytest.fixture
async def hooks() -> AsyncIterator[Hooks]:
    """Commands with a short grace and drain. Whatever a test did, it leaves no process and no descriptor."""
    before = descriptors()
    hooks = Hooks()
    yield hooks
    await hooks.adapter.aclose()
    assert hooks.alive() == []
    assert descriptors() == before


@pytest.fixture
def fifo(tmp_path: Path) -> Iterator[Fifo]:
    fifo = Fifo(tmp_path / "fifo")
    yield fifo
    os.close(fifo.fd)
