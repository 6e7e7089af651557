"""Lines that are told of plugins: words between tabs."""

from hookline.dialects.muse.report import shown


def row(*words: str) -> str:
    """One line of words, which hold no tab and nothing that a terminal would act on."""
    return "\t".join(map(shown, words))


def word(value: bool) -> str:  # noqa: FBT001  # a value, as text
    return "true" if value else "false"
