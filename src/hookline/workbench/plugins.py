"""Plugins: packages of hooks that a dialect installs, and one of their hooks tried alone.

What there is to do with them, and what is said of it, is the dialect's: `Package.plugins`.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookline._core.hooks import Hook
from hookline._core.payload import Payload
from hookline._core.points import Event
from hookline._engine.engine import HookEngine
from hookline.adapters import builtin
from hookline.dialects import DIALECTS, IN_CODE
from hookline.dialects import package as named
from hookline.dialects._base import Package
from hookline.dialects._plugins import PluginCommands, Told
from hookline.workbench.fire import Heard

ENDING = 10.0  # seconds beyond its own limit that a hook in the background has to be gone in


def plugins(
    verb: str,
    /,
    *given: Any,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    trust: str = "",
    **options: Any,
) -> Told:
    """Do one thing with plugins: *verb* as on the command line, such as `install` or `marketplace add`.

    *given* and *options* are what that takes. *cwd* is the folder that paths are relative to, the current one by
    default; *trust* is how it is trusted, as for `open_project`. Raises CodedError where it cannot be done.
    """
    environment = os.environ if env is None else env
    return _commands().verb(verb, environment, (cwd or Path.cwd()).absolute(), trust, *given, **options)


async def hook_test(selector: str, fixture: Path, *, env: Mapping[str, str] | None = None) -> Told:
    """Try one hook of an installed plugin with the input of a fixture. Whether it is approved does not matter.

    Raises CodedError for a hook that there is not, and for a fixture that is not as it has to be.
    """
    package = _package()
    commands = _commands()
    trial = commands.trial(os.environ if env is None else env, selector, fixture)
    heard = Heard()
    if trial.event is not None:

        def encode(event: Event, hook: Hook) -> Payload:
            return Payload(event, trial.body, trial.cwd)

        dialect = replace(package.dialect, encode=encode)
        engine = HookEngine(dialects=[dialect, IN_CODE], in_code=IN_CODE, adapters=builtin(), hooks=[trial.hook])
        async with engine:
            await engine.recording(heard).dispatch(trial.event)
            await engine.drain(trial.event.origin.session_id, trial.hook.timeout + ENDING)
    return commands.tried(trial, heard.records)


def _package() -> Package:
    return next(package for package in map(named, DIALECTS) if package.plugins is not None)


def _commands() -> PluginCommands:
    commands = _package().plugins
    assert commands is not None  # noqa: S101  # for the type checker: it was chosen by it
    return commands()
