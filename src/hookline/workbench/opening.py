"""Hooks to ask without a session: those of a workspace, of files by their names, or of a capsule."""

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hookline._core.errors import UsageError
from hookline._core.handlers import Handlers
from hookline._core.hooks import Hook
from hookline._engine.engine import HookEngine
from hookline._engines import Project, new_engine, open_files, open_project
from hookline.journal.places import components_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Which hooks are meant.

    Those of *files*, each vouched for by naming it; or those of the *capsule* with this manifest and of the folder that
    it works in; or, with neither, all that a session in *workspace* would have. *trust* is how its folder is trusted,
    as for `open_project`. *handlers* are the callables that hooks may name; without them such a hook fails.
    """

    workspace: Path = field(default_factory=Path.cwd)
    files: Sequence[Path] = ()
    capsule: Path | None = None
    native_hooks: Path | None = None
    trust: str = ""
    strict: bool = False
    env: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    handlers: Handlers | None = None


@asynccontextmanager
async def opened(chosen: Chosen) -> AsyncIterator[Project]:
    """The hooks of *chosen*, ready to be asked; at the end nothing of theirs is left running.

    Raises ConfigError, with every problem, where a configuration is such that nothing may start.
    """
    if chosen.capsule is not None:
        if chosen.files:
            raise UsageError("a capsule has its hooks from its own manifest: name it, or files, not both")
        async with _launched(chosen, chosen.capsule) as project:
            yield project
        return
    project = loaded(chosen)
    async with project.engine:
        yield project


def loaded(chosen: Chosen) -> Project:
    """The hooks of *chosen*, which is no capsule. Nothing runs, and nothing has to be closed, until one is asked."""
    if chosen.files:
        return open_files(chosen.files, env=chosen.env, handlers=chosen.handlers, strict=chosen.strict)
    return open_project(
        chosen.workspace, env=chosen.env, trust=chosen.trust, handlers=chosen.handlers, strict=chosen.strict
    )


@asynccontextmanager
async def _launched(chosen: Chosen, manifest: Path) -> AsyncIterator[Project]:
    from hookline._capsules import check_capsule, launch

    checked = await check_capsule(manifest, env=chosen.env, native=chosen.native_hooks)
    launched = await launch(checked, env=chosen.env, trust=chosen.trust, strict=chosen.strict)
    try:
        async with launched.engine:
            yield launched.project
    finally:
        launched.programs.close()
        launched.layout.take_away()


def engine_with(project: Project, chosen: Chosen, change: Callable[[Hook], Hook | None]) -> HookEngine:
    """An engine of its own over the hooks of *project*, each as *change* leaves it, without those that it makes None.

    Whoever asks for it closes it.
    """
    engine = project.engine
    return new_engine(
        hooks=[changed for hook in engine.hooks() if (changed := change(hook)) is not None],
        handlers=chosen.handlers,
        settings=engine.settings,
        strict=engine.strict,
        compiled=None if chosen.capsule is None else components_folder(chosen.env),
    )
