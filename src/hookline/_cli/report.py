"""The report of a bug of ours: a file, never a page of traceback on somebody's terminal."""

import os
import tempfile
import traceback
from pathlib import Path


def save_report(fault: BaseException) -> str:
    """Write the traceback to a private file and say where it is."""
    text = "".join(traceback.format_exception(fault))
    try:
        descriptor, name = tempfile.mkstemp(prefix="hookline-report-", suffix=".txt")
    except OSError as error:
        return f"its report could not be saved ({error.strerror}):\n{text}"
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    return f"its report is in {Path(name)}"
