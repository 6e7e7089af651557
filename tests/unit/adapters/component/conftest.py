from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.adapters.component.guests import Guests
from tests.unit.processes.rig import descriptors


@pytest.fixture
async def guests(tmp_path: Path) -> AsyncIterator[Guests]:
    """Components, whose adapter is closed afterwards: then no descriptor of theirs is left."""
    before = descriptors()
    guests = Guests(tmp_path)
    yield guests
    await guests.adapter.aclose()
    assert descriptors() == before
