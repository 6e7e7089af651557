"""Resolving a shell call: from what the model wrote to what is executed, once, for everybody who asks."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookline._core.commands import ResolvedCommand
from hookline.session.capsule.program import INTERPRETERS, located
from hookline.session.capsule.recipes import recipe_of
from hookline.session.capsule.words import split

REQUIRED = "shell tool input.data is required"
NOT_JSON = "shell tool input must be valid JSON: {why}"
NO_COMMAND = "shell tool input must include a non-empty 'command' string"


def resolve(name: str, input: Any, *, workdir: Path, path: str, with_recipe: bool) -> ResolvedCommand | str:
    """What a call of the program *name* will execute, or what is wrong with its input. *path* is where programs are."""
    if input is None or input == "":
        return REQUIRED
    given = input
    if isinstance(input, str):
        try:
            given = json.loads(input)
        except (ValueError, RecursionError) as error:
            return NOT_JSON.format(why=error)
    command = given.get("command") if isinstance(given, Mapping) else None
    if not isinstance(command, str) or not (command := command.strip()):
        return NO_COMMAND
    program = located(name, path)
    if name in INTERPRETERS:
        return ResolvedCommand(program=program, arguments=("-c", command), text=command, script=command)
    words = split(command)
    recipe = recipe_of(name, words, workdir) if with_recipe else None
    return ResolvedCommand(program=program, arguments=words, text=command, recipe=recipe)
