"""The program and the streams that it is started with."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_a_stream_that_is_closed_is_no_fault(closed: str, tmp_path: Path) -> None:
    """Started without standard input, output or error, or any of them, a session runs and ends as it would."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    script = f'exec "$0" -m hookline exec --provider echo hello {closed}'
    ran = subprocess.run(
        ["/bin/sh", "-c", script, sys.executable], cwd=tmp_path, env=env, check=False, capture_output=True, text=True
    )

    assert ran.returncode == 0, ran.stderr
    assert "bug" not in ran.stderr
    assert ran.stdout == ("" if "1>&-" in closed else "echo: hello\n")
    (journal,) = (tmp_path / ".local/state/hookline/sessions").iterdir()
    assert '"session_closed"' in journal.read_text()
