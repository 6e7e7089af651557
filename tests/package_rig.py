"""Packages of files for tests: written in one line, and changed behind the back of whoever reads them."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SCRIPT = "#!/bin/sh\ncat > /dev/null\necho said by {}\n"


def write_package(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """A folder with these files; one whose name ends in `!` can be executed."""
    for name, text in files.items():
        path = root / name.removesuffix("!")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        if name.endswith("!"):
            path.chmod(0o755)
    return root


def manifest(name: str = "guard", /, hooks: Any = None, **changes: Any) -> dict[str, Any]:
    """A native manifest that is as it should be, with *changes*; None leaves a member out."""
    sound = {
        "schemaVersion": 1,
        "name": name,
        "version": "1.0.0",
        "description": "What a test needs.",
        "compat": {"manifestDir": ".muse-plugin"},
        "capabilities": {"hooks": [hook()] if hooks is None else hooks},
    }
    return {key: value for key, value in (sound | changes).items() if value is not None}


def hook(id_: str = "prompt", event: str = "UserPromptSubmit", **changes: Any) -> dict[str, Any]:
    """A hook of a native manifest that runs `hooks/<id>.sh`."""
    return {"id": id_, "event": event, "command": [f"./hooks/{id_}.sh"], **changes}


def native(root: Path, name: str = "guard", hooks: Any = None, **changes: Any) -> Path:
    """A native package, with a script for each of its hooks that says whose it is."""
    told = manifest(name, hooks, **changes)
    scripts = {
        f"hooks/{each['id']}.sh!": SCRIPT.format(f"{name}:{each['id']}") for each in told["capabilities"]["hooks"]
    }
    return write_package(root, {".muse-plugin/plugin.json": json.dumps(told, indent=2), **scripts})


def user_env(home: Path, **more: str) -> dict[str, str]:
    """The environment of a user who has nothing but a home."""
    return {"HOME": str(home), "PATH": os.environ["PATH"], "SHELL": "/bin/sh", **more}
