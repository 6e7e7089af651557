from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.field_reports.rig import Place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path.resolve())
    yield made
    made.close()
