"""`plugins`: packages of hooks, from a first look at one to its removal."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from hookline._cli.options import Decorator, all_of
from hookline._core.errors import CodedError
from hookline.dialects._plugins import Told

EXAMPLES = """\b
Examples:
  hookline plugins validate path/to/plugin
  hookline plugins install path/to/plugin
  hookline plugins inspect guard
  hookline plugins approve guard:check-shell
  hookline plugins hook test guard:check-shell --fixture fixture.json
  hookline plugins update guard
"""


class _Misused(click.UsageError):
    """Wrong usage: the words, and then what there is."""

    def show(self, file: Any = None) -> None:
        click.echo(self.message, err=True)
        if self.ctx is not None:
            click.echo(self.ctx.find_root().get_help(), err=True)


class _Verbs(click.Group):
    """Commands under words of ours, `said`, whose misuse has documented texts."""

    def __init__(self, *args: Any, said: str = "plugins", **settings: Any) -> None:
        super().__init__(*args, **{**settings, "invoke_without_command": True})
        self.said = said

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            raise _Misused(f"unsupported {self.said} command `{args[0]}`", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Whatever is wrong with the words of a verb is told as what is wrong with the verb itself."""
        try:
            return super().invoke(ctx)
        except _Misused:
            raise
        except click.UsageError as error:
            raise _Misused(error.format_message(), error.ctx or ctx) from error


def _missing(ctx: click.Context, words: str) -> None:
    if ctx.invoked_subcommand is None:
        raise _Misused(words, ctx)


@click.command("plugins", cls=_Verbs, epilog=EXAMPLES)
@click.pass_context
def COMMAND(ctx: click.Context) -> None:  # noqa: N802  # as the table of commands has it
    """Packages of hooks that are installed, reviewed, versioned and tested as a unit.

    A hook of a plugin runs in sessions once its plugin is installed and enabled and the hook is approved; an approval
    is for the definition and for every byte of the package, and any change takes it back.
    """
    _missing(ctx, "missing plugins command")


def _verb(
    name: str, *parameters: Decorator, of: click.Group = COMMAND
) -> Callable[[Callable[..., Told]], Callable[..., Told]]:
    """Make a function a verb: what it returns is printed, as text or as JSON, and is the exit code."""

    def register(function: Callable[..., Told]) -> Callable[..., Told]:
        def call(*, as_json: bool, **given: Any) -> int:
            try:
                return _print(function(**given), as_json=as_json)
            except CodedError as error:
                if as_json:
                    click.echo(json.dumps(error.as_json(), ensure_ascii=False, indent=2))
                for line in error.lines:
                    click.echo(line, err=True)
                return 1

        call.__doc__ = function.__doc__
        of.add_command(click.command(name)(all_of((*parameters, JSON))(call)))
        return function

    return register


def _print(told: Told, *, as_json: bool) -> int:
    if as_json:
        click.echo(json.dumps(told.value, ensure_ascii=False, indent=2))
    else:
        for line in told.lines:
            click.echo(line)
    for line in told.asides:
        click.echo(line, err=True)
    return 1 if told.failed else 0


JSON = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
ID = click.argument("plugin")
SELECTOR = click.argument("selector")
EXPECT = click.option(
    "--expect", metavar="HASH", default="", help="Only if this is its definition hash, as inspect --json has it."
)


def _do(verb: str, *given: Any, **options: Any) -> Told:
    from hookline.workbench.plugins import plugins

    return plugins(verb, *given, **options)


@_verb("validate", click.argument("path"))
def validate(path: str) -> Told:
    """Report everything that is wrong with the package at PATH. Nothing is installed."""
    return _do("validate", path)


@_verb(
    "install",
    click.argument("source", metavar="PATH|PLUGIN@MARKETPLACE"),
    click.option(
        "--scope",
        type=click.Choice(["user", "project"]),
        default="user",
        show_default=True,
        help="Whose it is said to be; for `project` the current folder has to be trusted.",
    ),
)
def install(source: str, scope: str) -> Told:
    """Install a package. Its hooks have to be approved before they run."""
    return _do("install", source, scope=scope)


@_verb("list", click.option("--available", is_flag=True, help="What marketplaces offer, instead."))
def list_(*, available: bool) -> Told:
    """List what is installed."""
    return _do("list", available=available)


@_verb("inspect", ID)
def inspect(plugin: str) -> Told:
    """Show a plugin and each of its hooks: what it runs, the state of its review, and what changed since."""
    return _do("inspect", plugin)


@_verb("approve", SELECTOR, EXPECT)
def approve(selector: str, expect: str) -> Told:
    """Let hooks run as they are now, from the next session on.

    SELECTOR is PLUGIN for all of its hooks, PLUGIN:HOOK, or plugin:PLUGIN:hook:HOOK.
    """
    return _do("approve", selector, expect=expect)


@_verb("reject", SELECTOR, EXPECT)
def reject(selector: str, expect: str) -> Told:
    """Keep hooks from running. SELECTOR is as for approve."""
    return _do("reject", selector, expect=expect)


@_verb("enable", ID)
def enable(plugin: str) -> Told:
    """Let what is approved of a plugin run again."""
    return _do("enable", plugin)


@_verb("disable", ID)
def disable(plugin: str) -> Told:
    """Have nothing of a plugin run; what was decided about its hooks stays."""
    return _do("disable", plugin)


@_verb("update", ID)
def update(plugin: str) -> Told:
    """Install a plugin anew from where it came from. What did not change stays approved."""
    return _do("update", plugin)


@_verb("remove", ID, click.option("--delete-data", is_flag=True, help="Delete what the plugin kept, too."))
def remove(plugin: str, *, delete_data: bool) -> Told:
    """Remove a plugin and forget what was decided about it."""
    return _do("remove", plugin, delete_data=delete_data)


@COMMAND.group("hook", cls=_Verbs, said="plugins hook")
@click.pass_context
def hook(ctx: click.Context) -> None:
    """Try one hook alone."""
    _missing(ctx, "missing plugins hook command")


@_verb(
    "test",
    click.argument("selector", required=False),
    click.option("--fixture", metavar="FILE", type=click.Path(path_type=Path), help="The input, as JSON; see below."),
    of=hook,
)
def hook_test(selector: str | None, fixture: Path | None) -> Told:
    """Run one hook of an installed and enabled plugin for real, approved or not, and show what it did.

    SELECTOR is PLUGIN:HOOK. The fixture is a JSON object with `event`, the name of the hook's event; `stdin`, the
    object that the hook is given; and, where wanted, `matcher_input`, a tool's name to match, and `cwd`.
    """
    if selector is None:
        _misused("missing plugins hook test selector")
    if fixture is None:
        _misused("plugins hook test requires --fixture <path>")
    from hookline.workbench.plugins import hook_test as run

    return asyncio.run(run(selector, fixture))


def _misused(words: str) -> NoReturn:
    raise _Misused(words, click.get_current_context())


@COMMAND.group("marketplace", cls=_Verbs, said="plugins marketplace")
@click.pass_context
def marketplace(ctx: click.Context) -> None:
    """Lists of plugins to install from: a folder, a file, or a Git repository."""
    _missing(ctx, "missing plugins marketplace command")


@_verb(
    "add",
    click.argument("source"),
    click.option("--name", help="What to call it, instead of what it calls itself."),
    of=marketplace,
)
def marketplace_add(source: str, name: str | None) -> Told:
    """Know the list at SOURCE: a folder, a file, or a Git repository, as in git+/path#main or https://host/repo."""
    return _do("marketplace add", source, name=name)


@_verb("list", of=marketplace)
def marketplace_list() -> Told:
    """List the lists that are known."""
    return _do("marketplace list")


@_verb("update", click.argument("name", required=False), of=marketplace)
def marketplace_update(name: str | None) -> Told:
    """Read a list anew, or all of them."""
    return _do("marketplace update", name)


@_verb("remove", click.argument("name"), of=marketplace)
def marketplace_remove(name: str) -> Told:
    """Know a list no more. What was installed from it stays."""
    return _do("marketplace remove", name)
