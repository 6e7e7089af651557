import pytest

from hookline.workbench.rows import Role, Span, first_line, rendered, unstyled


def line(*texts: str, width: int = 20) -> str:
    return rendered([Span(Role.TEXT, text) for text in texts], width=width, style=unstyled)


@pytest.mark.parametrize(
    ("texts", "want"),
    [
        (("a", "b"), "a  b"),
        (("a", "", "b"), "a  b"),
        (("x" * 20,), "x" * 20),
        (("x" * 21,), "x" * 19 + "…"),
        (("x" * 15, "yyyy"), "x" * 15 + "  yy…"),
        (("x" * 18, "yyyy"), "x" * 18),
        (("日本語日本語日本語日本語",), "日本語日本語日本語…"),
        (("e\u0301" * 20,), "e\u0301" * 20),
    ],
    ids=["two", "an empty one", "just fits", "too long", "the last one is cut", "no room at all", "wide", "combining"],
)
def test_a_line_fits_the_screen(texts: tuple[str, ...], want: str) -> None:
    """Pieces stand two spaces apart, empty ones are left out, and what does not fit ends in a mark."""
    assert want == line(*texts)


@pytest.mark.parametrize("text", ["\x1b[31mred", "\x07", "\u202eabc", "\ud800", "\x9b1m", "a\tb\rc"])
def test_a_terminal_is_shown_nothing_that_it_obeys(text: str) -> None:
    """Text of hooks and models cannot colour, move or reorder what is on the screen, nor fail to be printed."""
    shown = line(text)

    assert shown.isprintable()
    assert "\\" in shown
    shown.encode()


def test_colour_is_added_after_cutting() -> None:
    """A style takes no room, and is told which piece it is."""
    spans = [Span(Role.BAD, "failed"), Span(Role.NAME, "x" * 100)]

    line = rendered(spans, width=11, style=lambda role, text: f"<{role.value} {text}>")

    assert line == "<bad failed>  <name xx…>"


@pytest.mark.parametrize(("text", "want"), [("", ""), ("\n \n", ""), ("\n  a \nb", "a"), ("a", "a")])
def test_first_line(text: str, want: str) -> None:
    """The first line that says something."""
    assert want == first_line(text)
