"""The help of every command."""

import re
import shlex
from itertools import takewhile
from pathlib import Path

import click
import pytest

from hookline._cli import main

FILES = [".muse/hooks.json", "path/to/project/README.md"]  # those that have to exist for a line to be read
NAMES = [*main.COMMANDS, "new hook"]

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


def command_of(name: str) -> click.Command:
    """The command whose words are *name*, such as `new hook`."""
    with click.Context(main._hookline) as context:
        command: click.Command = main._hookline
        for word in name.split():
            assert isinstance(command, click.Group)
            found = command.get_command(context, word)
            assert found is not None
            command = found
    return command


def help_of(name: str) -> str:
    command = command_of(name)
    with command.make_context(name, [], resilient_parsing=True, terminal_width=80, max_content_width=80) as context:
        return command.get_help(context)


def words_of(line: str) -> list[str]:
    """The words of *line* up to where a shell begins something else."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|>;&")
    lexer.whitespace_split = True
    return list(takewhile(lambda word: word.strip("|>;&") != "", lexer))


@pytest.mark.parametrize("name", NAMES)
def test_help_fits_a_terminal_of_80_columns(name: str) -> None:
    """Examples too, for a line that wraps cannot be copied."""
    assert [] == [line for line in help_of(name).splitlines() if len(line) > 80]


@pytest.mark.parametrize("name", [*main.COMMANDS, ""])
def test_help_has_examples_that_are_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a command line of hookline with arguments and options that exist."""
    monkeypatch.chdir(tmp_path)
    for path in FILES:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()
    found = re.findall(r"^(?: *|.* \| )hookline (.*)$", help_of(name).partition("Examples:")[2], re.MULTILINE)
    assert found
    for line in found:
        words = words_of(line)
        command = command_of(words.pop(0))
        while isinstance(command, click.Group):
            with click.Context(command) as context:
                inner = command.get_command(context, words.pop(0))
            assert inner is not None
            command = inner
        with command.make_context(line, words):
            continue


@pytest.mark.parametrize("name", OWN)
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


@pytest.mark.parametrize("name", NAMES)
def test_every_option_says_what_it_is_for(name: str) -> None:
    """None without a sentence, and each ends as one."""
    options = [param for param in command_of(name).params if isinstance(param, click.Option)]

    assert [] == [option.name for option in options if not (option.help or "").endswith(".")]
