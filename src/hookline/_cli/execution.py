"""What `exec` does: load, say what was loaded, run, say how it ended."""

import asyncio
import os
import signal
import stat
import sys
import uuid
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from hookline._cli.account import Account
from hookline._cli.console import Console
from hookline._cli.program import NAME, program_name
from hookline._compose import JournalFolder, open_project, tools
from hookline._core.errors import ConfigError, HooklineError, StateError
from hookline._core.records import Ending
from hookline._engine.engine import HookEngine
from hookline.session.approval import ApprovalMode
from hookline.session.beginning import Beginning
from hookline.session.models import open_model
from hookline.session.ports import Model
from hookline.session.session import Session

ENDS_BY = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}  # 128 and the number, as shells report it

STANDARD_INPUT = Path("-")
PROMPT_BYTES = 16 * 1024 * 1024  # more than any model takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The command line of `exec`, as it was given."""

    prompts: tuple[str, ...]
    provider: str
    model: str | None
    prompt_file: tuple[Path, ...]
    workspace: Path | None
    trust_workspace: bool
    yolo: bool
    strict: bool
    as_json: bool
    resume: str | None
    fork: str | None
    session_id: str | None
    approval_mode: str | None
    disable_approval: bool
    max_model_steps: int
    no_session_log: bool

    @property
    def trust(self) -> str:
        return "run-flag" if self.trust_workspace else "yolo-flag" if self.yolo else ""

    @property
    def approval(self) -> ApprovalMode:
        """Raises UsageError where two options say different things."""
        given = None if self.approval_mode is None else ApprovalMode(self.approval_mode)
        if not (self.yolo or self.disable_approval):
            return given or ApprovalMode.UNTRUSTED
        if given not in (None, ApprovalMode.NEVER):
            name = "--yolo" if self.yolo else "--disable-approval"
            raise click.UsageError(f"{name} asks for no approval and --approval-mode {given.value} does: leave one out")
        return ApprovalMode.NEVER


def execute(options: Options) -> int:
    """Run the command and return its exit code."""
    approval = options.approval
    prompts = _prompts(options)
    workspace = _workspace(options)
    try:
        journals = JournalFolder()
        project = open_project(workspace, env=os.environ, trust=options.trust, strict=options.strict)
        model = _model(options)
        beginning = _beginning(options, journals)
    except ConfigError as error:
        _print_config_error(error)
        return 1
    console = Console(project, as_json=options.as_json)
    given = "--workspace" if options.workspace else "cwd default"
    console.say(f"workspace root: {workspace} ({given})")
    console.report_loading()
    for damage in beginning.damage:
        console.say(damage)
    account = Account(None if options.no_session_log else journals, console)
    signals = EndSignals()
    session = partial(
        Session,
        project.engine,
        model=model,
        tools=tools(search_url=os.environ.get("HOOKLINE_SEARCH_URL") or None),
        journals=account,
        workspace=workspace,
        approval=approval,
        approver=console.approver(),
        max_steps=options.max_model_steps,
        beginning=beginning,
    )
    return _to_the_end(lambda: _converse(session, prompts, project.engine, console, signals), console, signals)


async def _converse(
    new_session: Callable[[], Session],
    prompts: Sequence[str],
    engine: HookEngine,
    console: Console,
    signals: "EndSignals",
) -> int:
    code = 0
    try:
        async with engine:
            session = new_session()
            signals.session = session
            async with session:
                code = await _ask(session, prompts, console)
    finally:
        console.summarise()
    return code


async def _ask(session: Session, prompts: Sequence[str], console: Console) -> int:
    code = 0
    for prompt in prompts:
        if prompt == "/compact":
            await session.compact_now()
        elif prompt == "/clear":
            await session.clear()
        else:
            result = await session.run(prompt)
            console.report_result(result)
            code = 0 if result.ending is Ending.COMPLETED else 1
    return code


class EndSignals:
    """Ends a session by the signals that end a program: its task is cancelled, so that everything ends in order."""

    def __init__(self) -> None:
        self.first: signal.Signals | None = None
        self.session: Session | None = None

    def listen(self) -> None:
        """From now on the current task is ended by them."""
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        for number in ENDS_BY:
            loop.add_signal_handler(number, self._end, number, task)

    def _end(self, number: signal.Signals, task: "asyncio.Task[object] | None") -> None:
        self.first = self.first or number
        if self.session is not None and self.first is not signal.SIGINT:
            self.session.reason_if_cancelled = "terminated"
        if task is not None:
            task.cancel()


def _to_the_end(work: Callable[[], Coroutine[None, None, int]], console: Console, signals: EndSignals) -> int:
    """Run *work*; a signal to end cancels it, so that every hook's process is ended and the session closed."""

    async def watched() -> int:
        signals.listen()
        return await work()

    try:
        with asyncio.Runner() as runner:  # a loop that cannot be made leaves nothing that was never awaited
            return runner.run(watched())
    except KeyboardInterrupt:
        console.say("interrupted")
        return 130
    except asyncio.CancelledError:
        if signals.first is None or signals.first is signal.SIGINT:
            console.say("interrupted")
            return 130
        console.say(f"ended by {signals.first.name}")
        return ENDS_BY[signals.first]
    except StateError as error:
        console.say(f"{error}; --no-session-log keeps no journal")
        return 1
    except HooklineError as error:
        console.say(str(error))
        return 1


def _prompts(options: Options) -> tuple[str, ...]:
    prompts = list(options.prompts)
    for file in options.prompt_file:
        try:
            prompts.append(_text_of(file))
        except (OSError, ValueError) as error:
            raise click.ClickException(f"cannot read the prompt file {file}: {error}") from error
    if not prompts:
        raise click.UsageError('no prompt was given; write one, as in: exec "hello"')
    return tuple(prompts)


def _text_of(file: Path) -> str:
    """What is in a file that may be a pipe, or have no end."""
    if file == STANDARD_INPUT:
        text = sys.stdin.buffer.read(PROMPT_BYTES + 1)
    else:
        with file.open("rb") as opened:
            text = opened.read(PROMPT_BYTES + 1)
    if len(text) > PROMPT_BYTES:
        raise ValueError(f"it has more than {PROMPT_BYTES:,} bytes")
    return text.decode("utf-8-sig")


def _workspace(options: Options) -> Path:
    try:
        folder = (options.workspace or Path.cwd()).resolve()
    except FileNotFoundError as error:
        raise click.UsageError("the current folder does not exist any more; name one with --workspace") from error
    except OSError as error:
        raise click.UsageError(f"the workspace {options.workspace}: {error.strerror}") from error
    try:
        if stat.S_ISDIR(folder.stat().st_mode):
            return folder
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise click.UsageError(f"the workspace {folder}: {error.strerror}") from error
    raise click.UsageError(f"the workspace {folder} is not a folder")


def _model(options: Options) -> Model:
    script = Path(options.model) if options.provider == "script" and options.model else None
    return open_model(options.provider, script=script, name=None if script else options.model)


def _beginning(options: Options, journals: JournalFolder) -> Beginning:
    if options.resume is not None and options.fork is not None:
        raise click.UsageError("--resume goes on with a session and --fork begins another: give one of them")
    if options.resume is not None and options.session_id is not None:
        raise click.UsageError("--resume goes on with a session under its own id: leave --session-id out")
    if options.resume is not None:
        return journals.resumed(options.resume)
    session_id: str | None = None
    if options.session_id is not None:
        try:
            session_id = str(uuid.UUID(options.session_id))
        except ValueError as error:
            raise click.UsageError(f"--session-id must be a UUID, found {options.session_id!r}") from error
        if journals.has(session_id):
            raise click.UsageError(f"there is a session {session_id} already; go on with it by --resume {session_id}")
    if options.fork is not None:
        return journals.forked(options.fork, session_id=session_id)
    return Beginning(session_id=session_id)


def _print_config_error(error: ConfigError) -> None:
    """The text stands as the dialect has it; under our own name the places follow that it does not name itself."""
    text = str(error)
    click.echo(text, err=True)
    if program_name() == NAME:
        for problem in error.problems:
            if problem.where.line and str(problem.where) not in text:
                click.echo(f"  at {problem.where}", err=True)
