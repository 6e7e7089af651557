"""What a hook's process is started with: the shell, and an environment made from nothing (sections 15.1, 15.2)."""

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hookline._core.problems import Problem, Scope, Where

if TYPE_CHECKING:  # an experiment, which most sessions know nothing of
    from hookline.dialects.muse.origins import SkillTerms

WINDOWS = os.name == "nt"

PASSED_ON = ("HOME", "PATH", "USER", "LOGNAME", "TMPDIR", "TEMP", "TMP", "SHELL", "LANG", "LC_ALL", "TERM")
PASSED_ON_WINDOWS = ("COMSPEC", "PATHEXT", "SystemRoot", "WINDIR")


@dataclass(frozen=True, slots=True)
class Launch:
    """How the hooks of one source are started: the shell that their commands are given to, and their environment.

    `windows` chooses between a hook's two forms of its command. `skills` are the terms on which those that can name
    skills are asked for them, None where they are not.
    """

    shell: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    windows: bool = WINDOWS
    skills: "SkillTerms | None" = None

    def argv(self, command: str) -> tuple[str, ...]:
        return (*self.shell, command)


def hook_environment(
    host: Mapping[str, str], *, granted: Iterable[str] = (), windows: bool = WINDOWS
) -> dict[str, str]:
    """The whole environment of a hook: of *host* only the listed names and the *granted* ones, where they are set."""
    if not windows:
        return {name: host[name] for name in (*PASSED_ON, *granted) if name in host}
    wanted = {name.upper() for name in (*PASSED_ON, *PASSED_ON_WINDOWS, *granted)}
    return {name: value for name, value in host.items() if name.upper() in wanted}


def resolve_shell(host: Mapping[str, str], *, windows: bool = WINDOWS) -> tuple[tuple[str, ...], Problem | None]:
    """What a command is appended to, and a note when that shell cannot be started: every hook would then fail."""
    variable, default, flag = ("COMSPEC", "cmd.exe", "/C") if windows else ("SHELL", "/bin/sh", "-c")
    shell = host.get(variable) or default
    if _can_start(shell, host.get("PATH")):
        return (shell, flag), None
    problem = Problem(
        scope=Scope.NOTE,
        code="MissingShell",
        message=f"the shell `{shell}` cannot be started, so every command hook will fail; set {variable}",
        where=Where(file=f"${variable}", label="environment"),
    )
    return (shell, flag), problem


def _can_start(shell: str, path: str | None) -> bool:
    if Path(shell).is_absolute():
        return os.access(shell, os.X_OK) and not Path(shell).is_dir()
    return shutil.which(shell, path=path) is not None
