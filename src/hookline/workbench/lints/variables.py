"""Variables that nobody sets here."""

import re
from collections.abc import Iterator

from hookline._core.shell_lines import runs_a_shell
from hookline.dialects._base import Part
from hookline.workbench.findings import Finding, Level
from hookline.workbench.lints.asking import Asked, lint

SHELL_SETS = frozenset(
    """PWD OLDPWD IFS PPID UID EUID GROUPS RANDOM SRANDOM SECONDS LINENO OPTARG OPTIND REPLY HOSTNAME HOSTTYPE OSTYPE
    MACHTYPE EPOCHSECONDS EPOCHREALTIME PS4 PIPESTATUS FUNCNAME MAPFILE COPROC DIRSTACK SHELLOPTS SHLVL _
    BASH BASHPID BASH_SOURCE BASH_LINENO BASH_VERSION BASH_VERSINFO BASH_REMATCH BASH_COMMAND BASH_SUBSHELL
    ZSH_VERSION""".split()  # noqa: SIM905  # as a list it has forty lines
)
READ_IT = "read it from what the hook is told: "
NO_SHELL = "write what it stands for, or have a shell run it: sh with the arguments -c and the line"
_NAME = re.compile(r"\$\{?([A-Za-z_]\w*)")


@lint
def variables_that_nobody_sets(asked: Asked) -> Iterator[Finding]:
    """Variables of another tool, and such as are not in the environment that the hook gets."""
    command, habits = asked.command, asked.conventions
    if command is None or habits is None:
        return
    if asked.line is None and runs_a_shell(command.argv):
        return  # a line that is too much to be read
    if asked.line is None:
        names = [name for word in command.argv[1:] for name in _NAME.findall(word)]
    else:
        names = [name for name in asked.line.reads if name not in command.env and name not in SHELL_SETS]
    unseen = asked.line is not None and asked.line.runs_unseen
    for name in dict.fromkeys(names):
        whose = _whose(name, shell=asked.line is not None, closed=habits.closed_environment and not unseen)
        if whose:
            yield asked.finding(
                Level.WARNING,
                "VariableNotSet",
                f"`${name}` {whose}",
                effect="the command gets the name itself" if asked.line is None else "it is empty",
                remedy=NO_SHELL if asked.line is None else f"{READ_IT}{habits.instead_of_variables}",
                part=Part.COMMAND,
            )


def _whose(name: str, *, shell: bool, closed: bool) -> str:
    """Why the variable *name* is not there, or nothing where it may be."""
    from hookline.workbench.foreign import setters_of  # only where there is a variable to ask about

    tools = setters_of(name)
    if not shell:
        return "is passed as it is written: no shell runs this command"
    if tools:
        return f"is set by {' and '.join(tools)}, and not in this dialect"
    if tools is not None:
        return "is set by no tool for its hooks"
    return "is not in the environment of this hook" if closed else ""
