"""The parser, and what an exit code means: 0 fine, 1 problems or refused, 2 wrong usage, 3 our bug, 130 interrupted."""

import errno
import fcntl
import gc
import importlib
import io
import os
import sys
from typing import Any, NoReturn

import click

from hookline._cli.program import program_name
from hookline._core.errors import HooklineError, UsageError

# What the machine does not give is no bug of ours. Journals say it themselves, with their path.
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
NO_MEANS = frozenset({errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM})
NO_THREAD = "can't start new thread"  # all that the interpreter says of it

# A line per command: its module, which is imported when the command is used, and what it does.
COMMANDS = {
    "exec": ("hookline._cli.commands.exec", "Run prompts in one agent session, with every hook that applies."),
    "run": ("hookline._cli.commands.run", "Take inputs from a port, from peers or from lines, until interrupted."),
    "check": ("hookline._cli.commands.check", "Report every problem of every hook file, with places and remedies."),
    "list": ("hookline._cli.commands.list", "List every hook that a session here would have."),
    "explain": ("hookline._cli.commands.explain", "Show which hooks an event reaches, which not, and why."),
    "fire": ("hookline._cli.commands.fire", "Put one event to the hooks for real, and show what came of it."),
    "test": ("hookline._cli.commands.test", "Run *.hooktest.yaml files: what hooks should do, and what they do."),
    "trust": ("hookline._cli.commands.trust", "Trust a project's own hooks, or hold them to what they are now."),
    "plugins": ("hookline._cli.commands.plugins", "Install, review, test and update packages of hooks."),
    "doctor": ("hookline._cli.commands.doctor", "Look at everything on this machine that hookline relies on."),
    "replay": ("hookline._cli.commands.replay", "Put recorded sessions to other hooks: every decision that changes."),
    "new": ("hookline._cli.commands.new", "Make a project to begin with: a hook in Python, JavaScript or C."),
    "lock": ("hookline._cli.commands.lock", "Run a command while holding a file's lock, for hooks that share a file."),
    "convert": ("hookline._cli.commands.convert", "Write hooks of another tool or dialect anew, for one of ours."),
    "trace": ("hookline._cli.commands.trace", "Show a recorded session as a tree of runs, steps, calls and hooks."),
    "schema": ("hookline._cli.commands.schema", "Print the JSON Schema of what hooks are sent, and may answer."),
}

EXAMPLES = """\b
Examples:
  hookline check
  hookline explain PreToolUse --tool Bash
  hookline exec --provider echo "hello"
  hookline trace --report
"""


class _Table(click.Group):
    """Finds commands through the table, so that starting one does not import the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).COMMAND
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.command(cls=_Table, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="hookline", message="%(prog)s %(version)s")
def _hookline() -> None:
    """Lifecycle hooks for AI agents: run them, and see what they do."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run one command and exit with its code."""
    code = run(arguments)
    gc.freeze()  # or else the interpreter looks for cycles once more, in all that goes away with it
    sys.exit(code)


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code. Nothing that goes wrong leaves a traceback on the terminal."""
    _open_standard_streams()
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return 130
    except HooklineError as error:
        click.echo(f"{program_name()}: {error}", err=True)
        return 2 if isinstance(error, UsageError) else 1
    except BrokenPipeError:
        _silence_output()
        return 1
    except Exception as fault:  # noqa: BLE001  # whatever it is, it has to be said
        return _failed(fault)


def _run(arguments: list[str] | None) -> int:
    try:
        code: Any = _hookline.main(arguments, prog_name=program_name(), standalone_mode=False)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.Abort:
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return code if isinstance(code, int) else 0


def _open_standard_streams() -> None:
    """Have all three, and nothing that they cannot write.

    Those that we were started without lead nowhere: no file of ours may come to stand in their place.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this one's
            setattr(sys, name, os.fdopen(opened, "r" if descriptor == 0 else "w", encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")  # a prompt's stray byte, or a terminal that is not UTF-8


def _failed(fault: Exception) -> int:
    """1 when the machine is short of something, 3 with the place of its report for what is our bug."""
    if isinstance(fault, OSError) and (fault.errno in NO_ROOM or not _output_is_open()):
        _silence_output()
        click.echo(f"{program_name()}: cannot write the output: {fault.strerror}", err=True)
        return 1
    if isinstance(fault, MemoryError) or str(fault) == NO_THREAD or getattr(fault, "errno", None) in NO_MEANS:
        why = str(fault) or "out of memory"
        click.echo(f"{program_name()}: the limits of this machine are reached: {why}", err=True)
        return 1
    if isinstance(fault, FileNotFoundError) and not _is_somewhere():
        click.echo(f"{program_name()}: the current folder does not exist any more; change to one that does", err=True)
        return 1
    return _report(fault)


def _is_somewhere() -> bool:
    """Whether the current folder, which anybody may remove, is still there."""
    try:
        os.getcwd()  # noqa: PTH109  # the question, and not the answer
    except FileNotFoundError:
        return False
    return True


def _output_is_open() -> bool:
    """Whether standard output, which somebody else opened, can be written to at all."""
    try:
        return fcntl.fcntl(sys.stdout.fileno(), fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    except io.UnsupportedOperation:  # it is no file
        return True


def _report(fault: Exception) -> int:
    from hookline._cli.report import save_report

    click.echo(f"{program_name()}: this is a bug of ours ({type(fault).__name__}: {fault})", err=True)
    click.echo(save_report(fault), err=True)
    return 3


def _silence_output() -> None:
    """Nobody can read our output any more; the interpreter must not complain about that at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
