"""The name that the program was started under: messages begin with it."""

import sys
from pathlib import Path

NAME = "hookline"


def program_name() -> str:
    """The name of the link or file that was started; `python -m hookline` counts as hookline."""
    name = Path(sys.argv[0]).name
    return NAME if name in {"", "-c", "__main__.py"} else name.removesuffix(".exe")
