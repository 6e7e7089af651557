"""The options of every command that asks hooks without a session: which hooks, and which event."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from hookline._cli.options import Decorator, all_of, option
from hookline._core.errors import UsageError

WHICH, EVENT = "Which hooks", "Which event"
FILE = click.Path(dir_okay=False, path_type=Path)

OF_HOOKS: tuple[Decorator, ...] = (
    option(
        WHICH,
        "--config",
        "files",
        type=FILE,
        multiple=True,
        help="The hooks of this file alone, which you vouch for by naming it. May be given again.",
    ),
    option(WHICH, "--capsule", type=FILE, help="The hooks of the capsule with this manifest."),
    option(
        WHICH,
        "--native-hooks",
        metavar="FOLDER",
        type=click.Path(file_okay=False, exists=True, path_type=Path),
        help="Run the programs in this folder in the place of a capsule's components of the same name.",
    ),
    option(
        WHICH,
        "--workspace",
        type=click.Path(file_okay=False, exists=True, path_type=Path),
        help="Those of a session in this folder, instead of the current one.",
    ),
    option(WHICH, "--trust-workspace", is_flag=True, help="Trust this folder's own hooks, for this once."),
    option(WHICH, "--strict", is_flag=True, help="As `exec --strict`: a guard that gives no answer denies."),
)

OF_AN_EVENT: tuple[Decorator, ...] = (
    option(EVENT, "--tool", metavar="NAME", help="The tool of a call, by its own name or another: bash, Bash, shell."),
    option(EVENT, "--input", metavar="JSON", help="The input of the call, a JSON object."),
    option(
        EVENT,
        "--set",
        "members",
        metavar="NAME=VALUE",
        multiple=True,
        help="Another member of the event, as JSON or else as text: --set prompt='fix it'. May be given again.",
    ),
)


hook_options = all_of(OF_HOOKS)
event_options = all_of(OF_AN_EVENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """The options of both kinds, as they were given."""

    files: tuple[Path, ...]
    capsule: Path | None
    native_hooks: Path | None
    workspace: Path | None
    trust_workspace: bool
    strict: bool
    tool: str | None = None
    input: str | None = None
    members: tuple[str, ...] = ()

    @property
    def where(self) -> Path:
        return (self.workspace or Path.cwd()).resolve()

    def chosen(self) -> Any:
        """The hooks that are meant."""
        from hookline.workbench.opening import Chosen

        return Chosen(
            workspace=self.where,
            files=self.files,
            capsule=self.capsule,
            native_hooks=self.native_hooks,
            trust="run-flag" if self.trust_workspace else "",
            strict=self.strict,
        )

    def wanted(self, point: str) -> Any:
        """The event that is meant. Raises UsageError for what is no JSON, or no NAME=VALUE."""
        from hookline.workbench.occurrences import Wanted, value_of

        return Wanted(
            point=point,
            tool=self.tool,
            input=None if self.input is None else _json_of(self.input, "--input"),
            members=_pairs(self.members, value_of),
            cwd=self.where,
        )


def _pairs(given: tuple[str, ...], value_of: Callable[[str], Any]) -> Mapping[str, Any]:
    pairs: dict[str, Any] = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not sign or not name:
            raise UsageError(f"--set takes NAME=VALUE, found {each!r}; write --set prompt='fix it'")
        pairs[name] = value_of(value)
    return pairs


def _json_of(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        example = '{"command": "ls"}'
        raise UsageError(f"{name} is no JSON ({error}): write it as in {name} '{example}'") from error
