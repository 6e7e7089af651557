"""The help of the commands that begin a session."""

import re

import click
import pytest

from hookline._cli.commands import exec as exec_command
from hookline._cli.commands import run as run_command

COMMANDS = {"exec": exec_command.COMMAND, "run": run_command.COMMAND}

SECTIONS = {
    "Model": ["--provider", "--model", "--max-model-steps"],
    "Folder and approval": ["--workspace", "--trust-workspace", "--approval-mode", "--disable-approval", "--yolo"],
    "Hooks": ["--strict", "--hooks-override"],
    "Output": ["--json", "--events"],
    "Session": ["--session-id", "--resume", "--fork", "--no-session-log", "--store"],
    "Other agents": ["--nats", "--peer-name", "--peer"],
}
OWN = {
    "exec": {
        "Prompts and inputs": ["--prompt-file", "--inputs", "--idempotency-key"],
        "Capsule": ["--capsule", "--native-hooks", "--idle"],
    },
    "run": {
        "Where inputs come from": ["--listen", "--inputs", "--queue"],
        "Capsule": ["--native-hooks", "--idle"],
    },
}


def help_of(name: str) -> str:
    command: click.Command = COMMANDS[name]
    with command.make_context(name, [], resilient_parsing=True, terminal_width=80, max_content_width=80) as context:
        return command.get_help(context)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_terminal_of_80_columns(name: str) -> None:
    """Examples too, for a line that wraps cannot be copied."""
    assert [] == [line for line in help_of(name).splitlines() if len(line) > 80]


@pytest.mark.parametrize("name", COMMANDS)
def test_options_that_belong_together_stand_together(name: str) -> None:
    """What a command has of its own comes first, then what every session has, in sections with a heading each."""
    found: dict[str, list[str]] = {}
    section: list[str] = []
    for line in help_of(name).splitlines():
        if heading := re.fullmatch(r"(\w[\w ]+):", line):
            section = found.setdefault(heading[1], [])
        elif option := re.match(r"  (?:-\w, )?(--[a-z-]+)", line):
            section.append(option[1])

    expected = OWN[name] | SECTIONS | {"Help": ["--help"]}
    assert expected == found
    assert list(expected) == list(found)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_is_for(name: str) -> None:
    """None without a sentence, and each ends as one."""
    options = [param for param in COMMANDS[name].params if isinstance(param, click.Option)]

    assert [] == [option.name for option in options if not (option.help or "").endswith(".")]
