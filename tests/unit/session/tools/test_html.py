import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.session.tools._html import readable

PAGE = """<!DOCTYPE html>
<html><head><title>A &amp; B</title><style>p { color: red }</style>
<SCRIPT>if (a < b) { "</p>" }</SCRIPT></head>
<body><!-- not <b>this</b> --><h1>Head</h1><p>One <b>two</b>
three<br>four: 1 < 2</p><ul><li><a class=x href="https://example.org/?a=1&amp;b=2">link</a>
<li><a href='#top'>up</a></ul></body></html>"""

READ = """A & B

Head

One two
three
four: 1 < 2

[https://example.org/?a=1&b=2] link

up"""


def test_a_page_is_read_as_a_person_would() -> None:
    """Blocks are lines, links have their address, scripts, styles and comments are not seen."""
    assert readable(PAGE) == READ


@pytest.mark.parametrize(
    "piece",
    ["<!--", "<script>", "<!--<script></script>", "<a href=", "<a href='", "<", "<b", "&#", "<style></style >", "</"],
)
def test_no_page_holds_us_up(piece: str) -> None:
    """A mebibyte of anything is read in one pass; the limit of the test run is the bound."""
    assert isinstance(readable(piece * (1024 * 1024 // len(piece))), str)


def test_a_number_past_all_bounds_is_no_crash() -> None:
    """A character reference of five thousand digits stays as it is."""
    assert readable("a &#" + "9" * 5000 + ";").startswith("a &#999")


@given(st.text(alphabet="<>!-/ab\"'=& \n", max_size=80))
def test_anything_can_be_read(page: str) -> None:
    """There is no wrong page."""
    assert isinstance(readable(page), str)
