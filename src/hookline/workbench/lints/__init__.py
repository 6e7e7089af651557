"""What can be said of hooks that loaders accept: each lint asks one question of one hook, and calls nothing.

To add one, write it under `@lint` in a module of this folder and name that in `MODULES`.
"""

from importlib import import_module

from hookline.workbench.lints.asking import LINTS, Lint

MODULES = ("matchers", "commands", "scripts", "timeouts", "variables", "answers", "guards")


def lints() -> tuple[Lint, ...]:
    """Every lint, in the order in which they are asked."""
    for name in MODULES:
        import_module(f"hookline.workbench.lints.{name}")
    return tuple(LINTS)
