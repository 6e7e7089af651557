"""`convert`: hooks of one dialect, or of another tool, as a file of a dialect of ours."""

import contextlib
import os
from pathlib import Path

import click

from hookline._cli.program import program_name
from hookline._core.errors import StateError, UsageError

_TAKEN = "{path}: there is such a file already; --force overwrites it"

EXAMPLES = """\b
Examples:
  hookline convert .claude/settings.json --from claude-code --to muse
  hookline convert .muse/hooks.json --to meerkat --output .rkat/config.toml

What is lost is told on standard error, one line each, and hooks that would
guard less than before are left out. Ends with 1 if there was any of that.
"""


@click.command("convert", epilog=EXAMPLES)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--to", "to", metavar="DIALECT", required=True, help="The dialect to write: muse or meerkat.")
@click.option("--from", "written_for", metavar="NAME", help="What FILE was written for, where it does not tell itself.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file instead.")
@click.option("--force", is_flag=True, help="Overwrite the file that --output names.")
def COMMAND(  # noqa: N802  # the name under which the table of commands finds it
    file: Path, to: str, *, written_for: str | None, output: Path | None, force: bool
) -> int:
    """Write the hooks of FILE anew, in another dialect, on standard output.

    FILE is of a dialect of ours or of another tool: Claude Code, Gemini CLI, Cursor, GitHub Copilot, Windsurf, Kiro or
    Codex.
    """
    from hookline.workbench.convert import convert

    if force and output is None:
        raise UsageError("--force is for the file that --output names, and there is none")
    if output is not None and not force and os.path.lexists(output):
        raise UsageError(_TAKEN.format(path=output))
    done = convert(file, to=to, written_for=written_for)
    for line in done.lines():
        click.echo(f"{program_name()}: {line}", err=True)
    if not done.count:
        click.echo(f"{program_name()}: {file}: no hook of it can be written for {to}", err=True)
        return 1
    if output is None:
        click.echo(done.text, nl=False)
    else:
        _write(output, done.text, force=force)
        click.echo(f"{program_name()}: {output}: {done.count} written, from {done.source}", err=True)
    return 1 if done.losses else 0


def _write(path: Path, text: str, *, force: bool) -> None:
    """Write the file whole or not at all. Raises UsageError where there is one already and *force* is off."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text, encoding="utf-8")
        if force:
            beside.replace(path)
        else:
            os.link(beside, path)  # it fails where there is something, which nobody can then put there meanwhile
    except FileExistsError:
        raise UsageError(_TAKEN.format(path=path)) from None
    except OSError as error:
        raise StateError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):  # most often it has become the file
            beside.unlink()
