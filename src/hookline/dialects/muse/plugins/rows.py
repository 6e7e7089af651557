"""Lines that are told of plugins: words between tabs."""

from collections.abc import Sequence

from hookline.dialects.muse.plugins.diagnostics import Diagnostic
from hookline.dialects.muse.report import shown


def row(*words: str) -> str:
    """One line of words, which hold no tab and nothing that a terminal would act on."""
    return "\t".join(map(shown, words))


def word(value: bool) -> str:  # noqa: FBT001  # a value, as text
    return "true" if value else "false"


def told_of(found: Sequence[Diagnostic]) -> tuple[str, ...]:
    return tuple(shown(line) for each in found for line in (each.text, *([f"  {each.remedy}"] if each.remedy else [])))
