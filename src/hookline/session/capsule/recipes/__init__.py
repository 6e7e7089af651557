"""Recipes: what `make`, `just` and `npm run` would be told to run, read and never executed.

Best effort: whatever cannot be told for certain is no recipe, and that says nothing about the call.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hookline.session.capsule.recipes._reading import LONGEST_BODY, Source, Unresolved
from hookline.session.capsule.recipes.just import just
from hookline.session.capsule.recipes.make import make
from hookline.session.capsule.recipes.npm import npm

RESOLVERS: Mapping[str, Callable[[Sequence[str], Source], str]] = {"make": make, "just": just, "npm": npm}


def recipe_of(tool: str, arguments: Sequence[str], workdir: Path) -> str | None:
    """The body of the recipe that these arguments name, read from files below *workdir*. Never raises."""
    resolver = RESOLVERS.get(tool)
    if resolver is None:
        return None
    try:
        body = resolver(arguments, Source(workdir))
    except (Unresolved, OSError, ValueError, RuntimeError, RecursionError):
        return None
    return body if len(body.encode()) <= LONGEST_BODY else None
