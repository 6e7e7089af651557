"""Staging: the manifests of a capsule's tools, what hooks make of them, and the inventory that the model is told."""

import errno
from collections.abc import Mapping, Sequence
from pathlib import Path

from hookline._core.capsule import Capsule
from hookline._core.effects import WriteManifests
from hookline._core.events import BeforeStage
from hookline._core.points import Origin
from hookline._core.ports import Dispatcher, Recorder
from hookline._core.records import Diagnosed
from hookline.session.capsule.layout import Layout, put
from hookline.session.capsule.program import INTERPRETERS

MANIFEST = "murmur.yaml"
BOOTSTRAP = "bootstrap"
NAME_MAX = 255  # bytes of a name that file systems take

SYNTHETIC = """\
name: {name}
version: 0.0.0
runtime: tool
implementation: native
description: {description}
input:
  type: object
  required: [command]
  properties:
    command:
      type: string
"""
OF_INTERPRETER = "Run a script with {name}; the command is passed via -c."
OF_PROGRAM = "Run {name}; the command is its argument list, without the name of the program."


def synthetic(name: str) -> str:
    """The manifest of a program that has none."""
    return SYNTHETIC.format(name=name, description=description_of(name))


def description_of(name: str) -> str:
    """What the model is told of a program."""
    return (OF_INTERPRETER if name in INTERPRETERS else OF_PROGRAM).format(name=name)


async def staged(
    capsule: Capsule,
    layout: Layout,
    artifacts: Mapping[str, str],
    *,
    dispatcher: Dispatcher,
    recorder: Recorder,
    origin: Origin,
) -> dict[str, str]:
    """Write the manifests, *artifacts* by name and one for each program without, and let hooks have theirs written.

    The texts of all of them by the names of their tools, as they are in the end. What a hook does wrong is logged, and
    staging goes on.
    """
    for name, text in {**{each: synthetic(each) for each in capsule.shell_allow}, **artifacts}.items():
        _write(layout, name, text)
    fired = await dispatcher.dispatch(BeforeStage(shell_allow=capsule.shell_allow, origin=origin))
    for effect in fired.effects(WriteManifests):
        for manifest in effect.manifests:
            if problem := _written_by_hook(layout, manifest.name, manifest.content):
                recorder.record(Diagnosed(origin=origin, log=BOOTSTRAP, text=problem))
    return {each.name: _read(each / MANIFEST) for each in sorted(layout.tools.iterdir()) if each.is_dir()}


def _written_by_hook(layout: Layout, name: str, content: str) -> str:
    """What went wrong, or nothing. A name that is more than one segment of a path would leave the folder."""
    if not is_segment(name):
        return f"failed to create tool dir for {name}: it is not one plain segment of a path"
    try:
        _write(layout, name, content)
    except OSError as error:
        return f"failed to write manifest for {name}: {error.strerror}"
    return ""


def is_segment(name: str) -> bool:
    """Whether *name* is one plain segment of a path."""
    return name not in {"", ".", ".."} and not any(char in name for char in "/\\\0") and len(name.encode()) <= NAME_MAX


def _write(layout: Layout, name: str, text: str) -> None:
    folder = layout.tools / name
    folder.mkdir(exist_ok=True)
    if folder.is_symlink():
        raise NotADirectoryError(errno.ENOTDIR, "a link stands in the place of its folder", str(folder))
    put(folder / MANIFEST, text)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def inventory(capsule: Capsule, tools: Sequence[tuple[str, str]], *, compacts: bool) -> str:
    """`MURMUR.md`: what the capsule is and has, for the model. *tools* are names and descriptions."""
    lines = [f"# {capsule.name} {capsule.version}", "", "## Tools", ""]
    lines += [f"- `{name}`: {text}" for name, text in tools] or ["none"]
    granted = ", ".join(capsule.capabilities) or "none"
    lines += ["", "## Capabilities", "", granted, ""]
    if capsule.context.max_tokens is not None and compacts:
        lines += ["compaction configured", ""]
    return "\n".join(lines)
