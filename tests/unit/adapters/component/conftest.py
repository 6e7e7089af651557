import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.adapters.component.guests import Guests
from tests.unit.processes.rig import descriptors


@pytest.fixture
async def guests(tmp_path: Path) -> AsyncIterator[Guests]:
    """Components, whose adapter is closed afterwards: then no descriptor of theirs is left.

    A thread that compiles takes as long as it takes, closed or not, and reads files meanwhile: the next test would
    count them as its own.
    """
    before = descriptors()
    guests = Guests(tmp_path)
    yield guests
    await guests.adapter.aclose()
    for thread in threading.enumerate():
        if thread.name == "hookline-compiler":
            await asyncio.to_thread(thread.join)
    assert descriptors() == before
