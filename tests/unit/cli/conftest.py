from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.cli.rig import Place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    place.close()
