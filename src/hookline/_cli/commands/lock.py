"""`lock`: one at a time, for hooks that share a file."""

import fcntl
import os
import signal
import time

import click

from hookline._cli.program import program_name

PATIENCE = 1.0  # seconds after which somebody wonders
PAUSE = 0.01

EXAMPLES = """\b
Examples:
  hookline lock n.txt sh -c 'n=$(cat n.txt); echo $((n+1)) > n.txt'

Hooks of one event run at the same time. Those that change the same file take turns this way: each waits for the
lock, keeps it while COMMAND runs, and ends with COMMAND's exit code.
"""


@click.command("lock", epilog=EXAMPLES, context_settings={"allow_interspersed_args": False})
@click.argument("file", type=click.Path(dir_okay=False))
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def COMMAND(file: str, command: tuple[str, ...]) -> int:  # noqa: N802  # the name under which the table finds it
    """Run COMMAND while holding the lock of FILE, which is `FILE.lock` beside it."""
    path = f"{file}.lock"
    try:
        opened = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        # It stays open in COMMAND, whose end lets go of the lock; 0 to 9 are for COMMAND's own use (`exec 3>log`).
        descriptor = fcntl.fcntl(opened, fcntl.F_DUPFD, 10)
        os.close(opened)
        _take(descriptor, path)
    except OSError as error:
        raise click.ClickException(f"cannot lock {path}: {error.strerror}") from error
    program = command[1:] if command[0] == "--" else command
    if not program:
        raise click.UsageError("no command was given to run under the lock")
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by the interpreter, for itself
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(program[0], program)  # noqa: S606  # running the command is what this is for
    except OSError as error:
        raise click.ClickException(f"cannot run {program[0]}: {error.strerror}") from error


def _take(descriptor: int, path: str) -> None:
    """Wait for the lock, and say so where that takes time: a command that holds it may be waiting for itself."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(PAUSE)
        else:
            return
    click.echo(f"{program_name()}: waiting for {path}", err=True)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
