import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


def test_imports_go_down_only() -> None:
    """Imports go down the layers only: never up, never sideways, not for typing and not inside a function."""
    lint = subprocess.run(
        [LINT_IMPORTS, "--no-logo", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    if lint.returncode != 0:
        pytest.fail(lint.stdout + lint.stderr, pytrace=False)
