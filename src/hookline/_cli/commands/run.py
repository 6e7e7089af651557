"""`run`: a session that takes inputs until it is ended."""

from pathlib import Path

import click

from hookline._cli.options import Sectioned, capsule_options, option, session_options

INPUTS = "Where inputs come from"

EXAMPLES = """\b
Examples:
  hookline run capsule/murmur.yaml "fix the build"
  hookline run --listen 127.0.0.1:8765
  hookline run --inputs - < inputs.jsonl
  hookline run --nats nats://127.0.0.1:4222 --peer-name reviewer

The token that requests to the port have to bring is printed, or taken from HOOKLINE_TOKEN.
"""


@click.command("run", cls=Sectioned, epilog=EXAMPLES)
@click.argument("capsule", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.argument("tasks", nargs=-1, metavar="[TASK]...")
@option(
    INPUTS,
    "--listen",
    metavar="HOST:PORT",
    help="Take inputs over HTTP at this address of this machine; port 0 is any that is free.",
)
@option(
    INPUTS,
    "--inputs",
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    help="Read inputs from a file, or with `-` from standard input: a JSON object a line.",
)
@option(
    INPUTS,
    "--queue",
    metavar="NAME",
    help="Share this queue of inputs with other processes on one store, instead of one of this session's own.",
)
@capsule_options
@session_options
def COMMAND(**options: object) -> int:  # noqa: N802  # the name under which the table of commands finds it
    """Take inputs from a port, from peers or from lines, and work on them one after the other.

    With CAPSULE, the manifest of one, stage that and give it its tasks: the one in its folder,
    each TASK, and what comes by lines or by the port.

    What was admitted and not finished before, in the same --queue or in the session
    of --resume, is worked on first. Ends with the lines, where there is neither port nor
    peer, and with 1 when one of them was no input, or was refused; else when it is interrupted.
    """
    from hookline._cli.execution import Options

    listen, queue = options.pop("listen"), options.pop("queue")
    capsule, tasks = options.pop("capsule"), options.pop("tasks")
    given = Options(**options)  # type: ignore[arg-type]  # click has checked each
    if isinstance(capsule, Path):
        from hookline._cli.capsules import run_capsule

        return run_capsule(given, capsule, tasks, listen=listen)  # type: ignore[arg-type]  # as above
    from hookline._cli.serving import serve

    return serve(given, listen=listen, queue=queue)  # type: ignore[arg-type]  # as above
