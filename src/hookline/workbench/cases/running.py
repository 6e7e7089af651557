"""Cases run: at once as many as wanted, each on an engine of its own, so that a fault in one touches no other."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from hookline._core.errors import ConfigError, HooklineError, UsageError
from hookline._core.hooks import Hook
from hookline._core.points import Event
from hookline._core.problems import Problem, Scope
from hookline._engines import Project
from hookline.workbench.cases.comparing import differences, found_in, hook_called
from hookline.workbench.cases.coverage import Coverage
from hookline.workbench.cases.files import read_cases
from hookline.workbench.cases.types import ALL, Case, CaseFile, Report, Result, Status
from hookline.workbench.faults import faulty
from hookline.workbench.fire import Fired, fire
from hookline.workbench.occurrences import Wanted, from_payload, occurrence_of, recorded
from hookline.workbench.opening import engine_with, opened

TOLERATED = (Scope.NOTE, Scope.ABSENT)  # everything that is there runs all the same
WHOLE = (Scope.SETTINGS, Scope.FILE)
NO_WANT = "it says nothing of what is wanted: write `want:`, or let `hookline test --update` fill it in"


async def run_cases(
    paths: Sequence[Path],
    *,
    jobs: int = 4,
    chosen: Callable[[Case], bool] = lambda _: True,
    on_result: Callable[[Result], None] = lambda _: None,
    fail_fast: bool = False,
) -> Report:
    """Run the cases of these files, *jobs* at once. *on_result* is told of each as soon as those before it have ended.

    With *fail_fast* none is begun after the first that is not as wanted. What is wrong with a file, or a configuration,
    is in the report; the other files are run all the same.
    """
    begun = time.monotonic()
    coverage, results = Coverage(), []
    problems: list[Problem] = []
    async with AsyncExitStack() as stack:
        work: list[asyncio.Task[Result]] = []
        turn = asyncio.Semaphore(jobs)
        for path in paths:
            file = read_cases(path)
            problems += file.problems
            wanted = [case for case in file.cases if chosen(case)]
            bench = await _opened(file, stack, coverage) if wanted else None
            problems += _not_loaded(bench)
            work += [asyncio.ensure_future(_in_turn(turn, bench, file, case)) for case in wanted]
        async for result in _in_order(work, stop=fail_fast):
            if result.fired is not None:
                coverage.see(result.fired)
            results.append(result)
            on_result(result)
    return Report(results=tuple(results), coverage=coverage, problems=tuple(problems), seconds=time.monotonic() - begun)


async def _in_order(work: Sequence["asyncio.Task[Result]"], *, stop: bool) -> AsyncIterator[Result]:
    try:
        for task in work:
            result = await task
            yield result
            if stop and result.status is not Status.OK:
                return
    finally:
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)


def _not_loaded(bench: Project | str | None) -> Iterator[Problem]:
    """What a start would tell: a hook that is not there must not look like one that has nothing against it."""
    for _, loaded in bench.loaded if isinstance(bench, Project) else ():
        yield from (problem for problem in loaded.problems if problem.scope not in TOLERATED)


async def _opened(file: CaseFile, stack: AsyncExitStack, coverage: Coverage) -> Project | str:
    """The hooks of a file of cases, or why they cannot be had."""
    try:
        project = await stack.enter_async_context(opened(file.chosen))
    except ConfigError as error:
        told = [f"{each.where}: {each.message}" for each in error.problems]
        return "\n".join(told) or str(error)
    except HooklineError as error:
        return str(error)
    whole = [each for _, loaded in project.loaded for each in loaded.problems if each.scope in WHOLE]
    if whole and file.chosen.files:
        return "\n".join(f"{each.where}: {each.message}" for each in whole)
    coverage.know(project.engine)
    return project


async def _in_turn(turn: asyncio.Semaphore, bench: Project | str | None, file: CaseFile, case: Case) -> Result:
    broken = Result(file=file.path, case=case, status=Status.BROKEN)
    if not isinstance(bench, Project):
        return replace(broken, error=bench or "")
    async with turn:
        begun = time.monotonic()
        try:
            ran = await _run(bench, file, case)
        except HooklineError as error:
            return replace(broken, error=str(error), seconds=time.monotonic() - begun)
        return replace(ran, seconds=time.monotonic() - begun)


async def _run(bench: Project, file: CaseFile, case: Case) -> Result:
    event = _event(case, file)
    hooks = bench.engine.hooks()
    change = _Faults({ALL if not name else hook_called(name, hooks).id: fault for name, fault in case.faults.items()})
    result = Result(file=file.path, case=case, status=Status.OK)
    for _ in range(case.repeat):
        fired = await _fired(bench, file, event, change)
        found = found_in(fired)
        wrong = tuple(differences(case, fired, found, hooks))
        result = replace(result, found=found, fired=fired, differences=wrong)
        if case.want is None:
            return replace(result, status=Status.BROKEN, error=NO_WANT)
        if wrong:
            return replace(result, status=Status.FAILED)
    return result


async def _fired(bench: Project, file: CaseFile, event: Event, change: "_Faults") -> Fired:
    async with engine_with(bench, file.chosen, change) as engine:
        return await fire(bench, event, engine=engine)


@dataclass(frozen=True, slots=True)
class _Faults:
    """Puts faults in the places of hooks."""

    faults: dict[str, str]

    def __call__(self, hook: Hook) -> Hook:
        name = self.faults.get(hook.id) or self.faults.get(ALL)
        return hook if name is None else faulty(hook, name)


def _event(case: Case, file: CaseFile) -> Event:
    asked, where = case.asked, f"{file.path}:{case.line}"
    if asked.payload is not None:
        return from_payload(json.dumps(asked.payload).encode(), where, asked.event)
    if asked.payload_file is not None:
        try:
            data = asked.payload_file.read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read the payload {asked.payload_file}: {error.strerror}") from error
        return from_payload(data, str(asked.payload_file), asked.event)
    if asked.session is not None:
        return recorded(asked.session, asked.session_line, asked.event)
    cwd = file.chosen.workspace
    wanted = Wanted(point=asked.event or "", tool=asked.tool, input=asked.input, members=asked.members, cwd=cwd)
    return occurrence_of(wanted)
