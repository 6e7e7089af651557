"""`exec`: prompts in one session."""

from pathlib import Path

import click

from hookline._cli.options import Sectioned, capsule_options, option, session_options

INPUTS = "Prompts and inputs"

EXAMPLES = """\b
Examples:
  hookline exec --provider echo "hello"
  hookline exec --trust-workspace --provider script --model fix.yaml "fix it"
  hookline exec --resume 0190 "and now the tests"
  hookline exec --provider echo "one" /compact "two" /clear "three"
  echo '{"text": "hello", "idempotency_key": "k1"}' | hookline exec --inputs -

A PROMPT of /compact or /clear is done to the session instead of being sent to the model.
"""


@click.command("exec", cls=Sectioned, epilog=EXAMPLES)
@click.argument("prompts", nargs=-1, metavar="PROMPT...")
@option(
    INPUTS,
    "--prompt-file",
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    multiple=True,
    help="Read one more prompt from a file, or with `-` from standard input. May be given again.",
)
@option(
    INPUTS,
    "--inputs",
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    help="Read inputs from a file, or with `-` from standard input: a JSON object a line, worked on as they come.",
)
@option(
    INPUTS,
    "--idempotency-key",
    metavar="KEY",
    help="Of the one prompt: under a key that this session has seen, nothing is done again and the first result shown.",
)
@option(
    "Capsule",
    "--capsule",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Run this capsule, with each PROMPT as a task of its.",
)
@capsule_options
@session_options
def COMMAND(**options: object) -> int:  # noqa: N802  # the name under which the table of commands finds it
    """Run each PROMPT in turn in one agent session, with every hook that applies.

    The last run decides: ends with 0 when it completed, with 1 when a hook cancelled it or it failed; with 1 also when
    a line of --inputs was no input, or was refused.
    """
    from hookline._cli.execution import Options, execute, prompts_of

    capsule = options.pop("capsule")
    given = Options(**options)  # type: ignore[arg-type]  # click has checked each against its option
    if isinstance(capsule, Path):
        from hookline._cli.capsules import run_capsule

        return run_capsule(given, capsule, prompts_of(given), listen=None)
    return execute(given)
