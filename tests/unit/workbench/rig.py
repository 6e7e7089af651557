"""Hook files in a folder, and hooks asked without a session."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hookline._core.points import Event
from hookline._engines import Project
from hookline.workbench.fire import Fired, fire
from hookline.workbench.opening import Chosen, loaded, opened

ENV = {"PATH": os.environ["PATH"], "SHELL": "/bin/sh"}


def command(line: str, **fields: Any) -> dict[str, Any]:
    return {"type": "command", "command": line, **fields}


def muse_file(folder: Path, **events: Sequence[dict[str, Any]]) -> Path:
    """A project's hook file: each event with its groups, or with handlers that get a group each."""
    groups = {
        name: [each if "hooks" in each else {"hooks": [each]} for each in handlers] for name, handlers in events.items()
    }
    path = folder / ".muse" / "hooks.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"hooks": groups}, indent=1), encoding="utf-8")
    return path


def meerkat_file(folder: Path, text: str) -> Path:
    path = folder / ".rkat" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def chosen(folder: Path, *files: Path, trust: str = "run-flag", **others: Any) -> Chosen:
    """Those files, or all that a session in *folder* would have, nothing of the machine's own among them."""
    return Chosen(workspace=folder, files=files, trust=trust, env={**ENV, "HOME": str(folder / "home")}, **others)


def project(folder: Path, *files: Path, **others: Any) -> Project:
    return loaded(chosen(folder, *files, **others))


async def fired(folder: Path, event: Event, *files: Path, **others: Any) -> Fired:
    async with opened(chosen(folder, *files, **others)) as hooks:
        return await fire(hooks, event)
