"""Events fired in tests: hooks asked for real, from a test that runs on a loop of its own or on none."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hookline._core.errors import UsageError
from hookline._core.handlers import Handlers
from hookline._core.hooks import Hook
from hookline.workbench.cases.comparing import hook_called
from hookline.workbench.faults import faulty
from hookline.workbench.fire import Fired, fire
from hookline.workbench.occurrences import Wanted, occurrence_of
from hookline.workbench.opening import Chosen, engine_with, opened

Config = Path | str | Sequence[Path | str]
Faults = str | Mapping[str, str]


class Fire:
    """Asks hooks about one event and gives what crossed and what came of it; the value of the fixture `hookline_fire`.

    *event* is a name of any dialect, or hookline's own. *config* are files of hooks, which the test vouches for;
    without them, or with *workspace*, those of a session there, the project's own among them with *trust*; or those of
    a *capsule*. *fault* is put in the place of every hook, or of those that a mapping names. Further keywords are
    members of the event. Raises UsageError and ConfigError.
    """

    def __call__(self, event: str, **options: Any) -> Fired:
        """For tests without a loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.asynchronous(event, **options))
        raise UsageError("this test has a loop: write `await hookline_fire.asynchronous(...)`")

    async def asynchronous(
        self,
        event: str,
        *,
        tool: str | None = None,
        input: Any = None,
        config: Config = (),
        workspace: Path | str | None = None,
        capsule: Path | str | None = None,
        trust: bool = False,
        strict: bool = False,
        fault: Faults | None = None,
        env: Mapping[str, str] | None = None,
        handlers: Handlers | None = None,
        **members: Any,
    ) -> Fired:
        """The same on the loop of the test."""
        folder = Path.cwd() if workspace is None else Path(workspace)
        files = (config,) if isinstance(config, Path | str) else config
        chosen = Chosen(
            workspace=folder,
            files=[Path(each) for each in files],
            capsule=None if capsule is None else Path(capsule),
            trust="run-flag" if trust else "",
            strict=strict,
            env=os.environ if env is None else env,
            handlers=handlers,
        )
        asked = occurrence_of(Wanted(point=event, tool=tool, input=input, members=members, cwd=folder))
        async with opened(chosen) as project:
            if fault is None:
                return await fire(project, asked)
            hooks = project.engine.hooks()
            named = (
                {} if isinstance(fault, str) else {hook_called(name, hooks).id: each for name, each in fault.items()}
            )

            def change(hook: Hook) -> Hook:
                wanted = fault if isinstance(fault, str) else named.get(hook.id)
                return hook if wanted is None else faulty(hook, wanted)

            async with engine_with(project, chosen, change) as engine:
                return await fire(project, asked, engine=engine)
