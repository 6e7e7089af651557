"""The guide: every page does what it says."""

from pathlib import Path

import pytest
from tests.guides import differences, steps_of

PAGES = sorted((Path(__file__).parent.parent / "docs" / "guide").glob("*.md"))


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in PAGES])
def test_a_page_of_the_guide_is_true(page: Path, tmp_path: Path) -> None:
    """Its files are written and its commands run in an empty folder, and print what the page shows."""
    if found := differences(page, tmp_path):
        pytest.fail("\n".join(found), pytrace=False)


def test_pages_have_examples() -> None:
    """A page of the guide without a command would pass by saying nothing."""
    assert [] == [
        page.name for page in PAGES if page.stem != "README" and not any(step.command for step in steps_of(page))
    ]
