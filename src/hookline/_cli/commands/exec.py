"""`exec`: prompts in one session."""

from pathlib import Path

import click

EXAMPLES = """\b
Examples:
  hookline exec --provider echo "hello"
  hookline exec --trust-workspace --provider script --model steps.yaml "fix the build"
  hookline exec --resume 0190 "and now the tests"
  hookline exec --provider echo "one" /compact "two" /clear "three"

A PROMPT of /compact or /clear is done to the session instead of being sent to the model.
"""


@click.command("exec", epilog=EXAMPLES)
@click.argument("prompts", nargs=-1, metavar="PROMPT...")
@click.option("--provider", default="echo", show_default=True, help="Which model answers: echo, or script.")
@click.option("--model", help="The model's name; for the script provider, its file of steps.")
@click.option(
    "--prompt-file",
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    multiple=True,
    help="Read one more prompt from a file, or with `-` from standard input. May be given again.",
)
@click.option("--workspace", type=click.Path(path_type=Path), help="The folder to work in, instead of the current one.")
@click.option(
    "--trust-workspace",
    is_flag=True,
    help="Trust this folder's own hooks, for this run only; untrusted, they are held back, under --strict too.",
)
@click.option("--yolo", is_flag=True, help="Trust the folder and ask for no approval at all.")
@click.option(
    "--strict",
    is_flag=True,
    help="A hook that could have denied and gives no answer denies, and hook files with gaps are refused.",
)
@click.option("--json", "as_json", is_flag=True, help="Write the session's events, as Muse Code has them, one a line.")
@click.option(
    "--resume",
    metavar="ID",
    help="Go on with a recorded session, named by its id or the start of it; `last` is the newest.",
)
@click.option(
    "--fork", metavar="ID", help="Begin a new session with the conversation of a recorded one, named as for --resume."
)
@click.option("--session-id", metavar="UUID", help="The id of the new session.")
@click.option(
    "--approval-mode",
    type=click.Choice(["untrusted", "on-request", "never"]),
    help="Which calls wait for a person: those that do more than read, those that reach outside the folder, or none. "
    "The first is the default.",
)
@click.option("--disable-approval", is_flag=True, help="The same as --approval-mode never.")
@click.option("--max-model-steps", type=click.IntRange(min=1), default=200, show_default=True, help="Steps in one run.")
@click.option("--no-session-log", is_flag=True, help="Keep no journal of this session.")
def COMMAND(**options: object) -> int:  # noqa: N802  # the name under which the table of commands finds it
    """Run each PROMPT in turn in one agent session, with every hook that applies.

    The last run decides: ends with 0 when it completed, with 1 when a hook cancelled it or it failed.
    """
    from hookline._cli.execution import Options, execute

    return execute(Options(**options))  # type: ignore[arg-type]  # click has checked each against its option
