"""The options of every command that begins a session, declared once."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

Decorated = Callable[..., Any]
Decorator = Callable[[Decorated], Decorated]


class _Option(click.Option):
    """An option that the help lists under a heading."""

    def __init__(self, *args: Any, section: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.section = section


class Sectioned(click.Command):
    """A command whose help has its options in sections, in the order in which they are declared."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            row = param.get_help_record(ctx)
            if row is not None and isinstance(param, click.Option):
                sections.setdefault(getattr(param, "section", "Help"), []).append(row)
        for section, rows in sections.items():
            with formatter.section(section):
                formatter.write_dl(rows)


def option(section: str, *names: str, **settings: Any) -> Decorator:
    """An option in a section of a `Sectioned` command."""
    return click.option(*names, cls=_Option, section=section, **settings)


def all_of(options: Sequence[Decorator]) -> Decorator:
    """What gives a command all of *options*, in this order."""

    def give(command: Decorated) -> Decorated:
        for add in reversed(options):
            command = add(command)
        return command

    return give


MODEL, FOLDER, HOOKS, OUTPUT = "Model", "Folder and approval", "Hooks", "Output"
SESSION, PEERS = "Session", "Other agents"

OF_A_SESSION: tuple[Decorator, ...] = (
    option(MODEL, "--provider", help="Which model answers: echo, or script. Left out, echo, or a capsule's driver."),
    option(MODEL, "--model", help="The model's name; for the script provider, its file of steps."),
    option(
        MODEL,
        "--max-model-steps",
        type=click.IntRange(min=1),
        metavar="N",
        default=200,
        show_default=True,
        help="Steps in one run.",
    ),
    option(
        FOLDER,
        "--workspace",
        type=click.Path(path_type=Path),
        help="The folder to work in, instead of the current one.",
    ),
    option(
        FOLDER,
        "--trust-workspace",
        is_flag=True,
        help="Trust this folder's own hooks, for this run only; untrusted, they are held back, under --strict too.",
    ),
    option(
        FOLDER,
        "--approval-mode",
        type=click.Choice(["untrusted", "on-request", "never"]),
        help="Which calls wait for a person: those that do more than read, those that reach outside the folder, or "
        "none. The first is the default.",
    ),
    option(FOLDER, "--disable-approval", is_flag=True, help="The same as --approval-mode never."),
    option(FOLDER, "--yolo", is_flag=True, help="Trust the folder and ask for no approval at all."),
    option(
        HOOKS,
        "--strict",
        is_flag=True,
        help="A hook that could have denied and gives no answer denies, and hook files with gaps are refused.",
    ),
    option(
        HOOKS,
        "--hooks-override",
        type=click.Path(dir_okay=False, path_type=Path),
        help="A JSON file of Meerkat overrides for this session: `entries` to add, `disable`d ids.",
    ),
    option(OUTPUT, "--json", "as_json", is_flag=True, help="Write the session's events, one a line."),
    option(
        OUTPUT,
        "--events",
        type=click.Choice(["muse", "meerkat", "murmur"]),
        help="Whose events --json writes. Left out, muse, and of a capsule murmur: the lines of its trace.",
    ),
    option(SESSION, "--session-id", metavar="UUID", help="The id of the new session."),
    option(
        SESSION,
        "--resume",
        metavar="ID",
        help="Go on with a recorded session, named by its id or the start of it; `last` is the newest.",
    ),
    option(
        SESSION,
        "--fork",
        metavar="ID",
        help="Begin a new session with the conversation of a recorded one, named as for --resume.",
    ),
    option(
        SESSION,
        "--no-session-log",
        is_flag=True,
        help="Keep no journal of this session, nor its inputs once it has ended.",
    ),
    option(
        SESSION,
        "--store",
        metavar="FILE|URL",
        envvar="HOOKLINE_STORE",
        help="Where inputs are kept: a file, or postgresql://...; by default a file beside the journals. A URL with a "
        "password is better named by HOOKLINE_STORE: a command line can be seen by everybody.",
    ),
    option(
        PEERS,
        "--nats",
        metavar="URL",
        envvar="HOOKLINE_NATS",
        help="The NATS server that carries messages to other agents; also taken from HOOKLINE_NATS.",
    ),
    option(PEERS, "--peer-name", metavar="NAME", help="What this agent is called among its peers; needs --nats."),
    option(
        PEERS, "--peer", "peers", metavar="NAME", multiple=True, help="A peer that it may write to; else to anybody."
    ),
)


CAPSULE = "Capsule"

OF_A_CAPSULE: tuple[Decorator, ...] = (
    option(
        CAPSULE,
        "--native-hooks",
        metavar="FOLDER",
        type=click.Path(file_okay=False, exists=True, path_type=Path),
        help="Run the programs in this folder in the place of components of the same name. They have no sandbox.",
    ),
    option(
        CAPSULE,
        "--idle",
        type=click.FloatRange(min=0),
        metavar="SECONDS",
        help="How long a capsule waits for a task; 30 by default, or MURMUR_A2A_TIMEOUT_SECS.",
    ),
)


capsule_options = all_of(OF_A_CAPSULE)
session_options = all_of(OF_A_SESSION)
