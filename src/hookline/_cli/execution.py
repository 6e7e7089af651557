"""What `exec` does: load, say what was loaded, run, say how it ended."""

import asyncio
import contextlib
import os
import signal
import stat
import sys
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from hookline._cli.account import Account
from hookline._cli.console import Console
from hookline._cli.input_lines import STANDARD_INPUT, lines_of
from hookline._cli.program import NAME, program_name
from hookline._compose import JournalFolder, inputs_store, peer_tools, peers_over, tools
from hookline._core.errors import ConfigError, HooklineError, StateError, UsageError
from hookline._core.handlers import Handlers
from hookline._core.inputs import Input, InputKind, Rejected
from hookline._core.problems import Scope
from hookline._core.records import Ending
from hookline._engine.engine import HookEngine
from hookline._engines import open_project
from hookline.journal import state_folder
from hookline.session.admission.runtime import InputRefused
from hookline.session.admission.store import Store
from hookline.session.admission.wire import InvalidInput, input_from
from hookline.session.approval import ApprovalMode
from hookline.session.beginning import Beginning
from hookline.session.identity import new_session_id
from hookline.session.models import open_model
from hookline.session.ports import Model
from hookline.session.session import Session

ENDS_BY = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}  # 128 and the number, as shells report it

PROMPT_BYTES = 16 * 1024 * 1024  # more than any model takes

# What a prompt of this name does instead of being sent to the model.
DONE_TO_THE_SESSION: dict[str, Callable[[Session], Awaitable[object]]] = {
    "/compact": Session.compact_now,
    "/clear": Session.clear,
}

TOKEN = "HOOKLINE_TOKEN"  # noqa: S105  # a variable: who has its value may give the agent work; hooks and tools do not


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The command line of `exec` or `run`, as it was given."""

    provider: str | None
    model: str | None
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
    hooks_override: Path | None
    events: str | None
    store: str | None
    nats: str | None
    peer_name: str | None
    peers: tuple[str, ...]
    inputs: Path | None = None
    prompts: tuple[str, ...] = ()
    prompt_file: tuple[Path, ...] = ()
    idempotency_key: str | None = None
    native_hooks: Path | None = None
    idle: float | None = None

    @property
    def approves(self) -> bool:
        """Whether it was said how calls are approved."""
        return self.yolo or self.disable_approval or self.approval_mode is not None

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """Everything that a session needs, loaded and told of. The session itself is not begun."""

    console: Console
    engine: HookEngine
    store: Store
    new_session: Callable[[], Session]


def execute(options: Options) -> int:
    """Run the command and return its exit code."""
    prompts = prompts_of(options)
    found = opened(options)
    if isinstance(found, int):
        return found
    signals = EndSignals()
    return to_the_end(lambda: _converse(found, prompts, options, signals), found.console.say, signals)


def opened(options: Options, *, queue: str | None = None) -> Opened | int:
    """Load what the command line asks for, and say what was loaded. An exit code where nothing may start."""
    approval = options.approval
    workspace = _workspace(options)
    env = {name: value for name, value in os.environ.items() if name != TOKEN}
    try:
        journals = JournalFolder()
        project = open_project(
            workspace,
            env=env,
            trust=options.trust,
            handlers=Handlers(),  # a command line has none, so a hook that names one could only fail
            overrides=options.hooks_override,
            strict=options.strict,
        )
        model = _model(options)
        beginning = _beginning(options, journals)
    except ConfigError as error:
        print_config_error(error)
        return 1
    console = Console(project, as_json=options.as_json, events=options.events or "muse")
    given = "--workspace" if options.workspace else "cwd default"
    console.say(f"workspace root: {workspace} ({given})")
    console.report_loading()
    for damage in beginning.damage:
        console.say(damage)
    account = Account(None if options.no_session_log else journals, console)
    store = inputs_store(options.store, env=os.environ, kept=not options.no_session_log, on_status=console.say)
    peers = peers_over(options.nats, options.peer_name, options.peers, on_status=console.say)
    session = partial(
        Session,
        project.engine,
        model=model,
        tools=[
            *tools(search_url=os.environ.get("HOOKLINE_SEARCH_URL") or None),
            *(() if peers is None else peer_tools()),
        ],
        journals=account,
        workspace=workspace,
        approval=approval,
        approver=None if options.inputs == STANDARD_INPUT else console.approver(),  # an answer is no input
        env=env,
        max_steps=options.max_model_steps,
        beginning=beginning,
        inputs=store,
        queue=queue,
        peers=peers,
    )
    return Opened(console=console, engine=project.engine, store=store, new_session=session)


async def _converse(found: Opened, prompts: Sequence[str], options: Options, signals: "EndSignals") -> int:
    code = 0
    try:
        async with found.engine:
            try:
                await found.store.open()
                session = found.new_session()
                signals.session = session
                async with session:
                    code = await _ask(session, prompts, options, found.console)
            finally:
                await found.store.aclose()
    finally:
        found.console.summarise()
    return code


async def _ask(session: Session, prompts: Sequence[str], options: Options, console: Console) -> int:
    code = 0
    sound = True
    for prompt in prompts:
        if prompt in DONE_TO_THE_SESSION:
            await DONE_TO_THE_SESSION[prompt](session)
        else:
            given = Input(id=new_session_id(), kind=InputKind.PROMPT, text=prompt, key=options.idempotency_key)
            try:
                code = await _submitted(session, given, console)
            except InputRefused as refused:
                console.say(f"not admitted: {refused}")
                code = 1
    if options.inputs is not None:
        async for place, line in lines_of(options.inputs):
            try:
                code = await _submitted(session, input_from(line), console)
            except InvalidInput as error:
                console.say(f"{place}: {error}")
                sound = False
            except InputRefused as refused:
                console.say(f"{place}: not admitted: {refused}")
                sound = False
    return code if sound else 1


async def _submitted(session: Session, input: Input, console: Console) -> int:
    """Have one input worked on, and say what it came to. Raises InputRefused."""
    result = await session.submit(input)
    console.report_result(result)
    return 0 if result.ending is Ending.COMPLETED else 1


async def admitted(session: Session, file: Path | None, console: Console) -> bool:
    """Have every line of *file* admitted, as they come. False where one was no input, or was refused."""
    sound = True
    if file is None:
        return sound
    async for place, line in lines_of(file):
        try:
            decided = await session.admit(input_from(line))
        except InvalidInput as error:
            console.say(f"{place}: {error}")
            sound = False
            continue
        if isinstance(decided, Rejected):
            console.say(f"{place}: not admitted: {decided}")
            sound = False
    return sound


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


def to_the_end(work: Callable[[], Coroutine[None, None, int]], say: Callable[[str], None], signals: EndSignals) -> int:
    """Run *work*; a signal to end cancels it, so that every hook's process is ended and the session closed."""

    async def watched() -> int:
        signals.listen()
        return await work()

    try:
        with asyncio.Runner() as runner:  # a loop that cannot be made leaves nothing that was never awaited
            return runner.run(watched())
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    except asyncio.CancelledError:
        if signals.first is None or signals.first is signal.SIGINT:
            say("interrupted")
            return 130
        say(f"ended by {signals.first.name}")
        return ENDS_BY[signals.first]
    except HooklineError as error:
        say(f"{error}{_remedy(error)}")
        return 2 if isinstance(error, UsageError) else 1


def _remedy(error: HooklineError) -> str:
    """What else helps where a file of ours cannot be used."""
    with contextlib.suppress(StateError):  # there is no such folder at all
        if isinstance(error, StateError) and str(state_folder(os.environ)) in str(error):
            return "; --no-session-log keeps no journal"
    return ""


def prompts_of(options: Options) -> tuple[str, ...]:
    if (*options.prompt_file, options.inputs).count(STANDARD_INPUT) > 1:
        raise click.UsageError("standard input can be read once: name it by one --prompt-file, or by --inputs")
    prompts = list(options.prompts)
    for file in options.prompt_file:
        try:
            prompts.append(_text_of(file))
        except (OSError, ValueError) as error:
            raise click.ClickException(f"cannot read the prompt file {file}: {error}") from error
    if not prompts and options.inputs is None:
        raise click.UsageError('no prompt was given; write one, as in: exec "hello"')
    if options.idempotency_key is not None:
        if len(prompts) != 1 or options.inputs is not None:
            raise click.UsageError("--idempotency-key is that of one prompt: give one, and no --inputs")
        if prompts[0] in DONE_TO_THE_SESSION:
            raise click.UsageError(f"{prompts[0]} is no prompt, and is done each time: leave --idempotency-key out")
        if options.session_id is None and options.resume is None:
            raise click.UsageError("--idempotency-key holds within a session: name one by --session-id or --resume")
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
    provider = options.provider or "echo"
    script = Path(options.model) if provider == "script" and options.model else None
    return open_model(provider, script=script, name=None if script else options.model)


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
            if options.idempotency_key is not None:  # the same command once more, which a key is for
                return journals.resumed(session_id)
            raise click.UsageError(f"there is a session {session_id} already; go on with it by --resume {session_id}")
    if options.fork is not None:
        return journals.forked(options.fork, session_id=session_id)
    return Beginning(session_id=session_id)


def print_config_error(error: ConfigError) -> None:
    """Every problem with its place, once, in the order of the files.

    Where the text is a dialect's own it stands as that has it; under our own name the place follows that it leaves out.
    """
    text = str(error)
    found = [problem for problem in error.problems if problem.scope is not Scope.NOTE]
    files = list(dict.fromkeys(problem.where.file for problem in found))
    found.sort(key=lambda problem: (files.index(problem.where.file), problem.where.line, problem.where.column))
    lines = dict.fromkeys(f"{problem.where}: {problem.message}" for problem in found)
    if text in lines:  # the first of them, and the others wait for the next try
        for line in lines:
            click.echo(line, err=True)
        return
    click.echo(text, err=True)
    if program_name() == NAME:
        for problem in found:
            if problem.where.line and str(problem.where) not in text:
                click.echo(f"  at {problem.where}", err=True)
