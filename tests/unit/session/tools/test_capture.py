from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hookline.session.tools._capture import Capture

TEXT = st.text(max_size=200)


def pieces_of(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(places)]


CUTS = st.lists(st.integers(0, 800), max_size=8)


@given(TEXT, CUTS)
def test_what_fits_is_kept_whole(text: str, cuts: list[int]) -> None:
    """Output within the limit comes out as it went in, however it was cut into pieces on the way."""
    capture = Capture(limit=1000)
    for piece in pieces_of(text.encode(), cuts):
        capture.add(piece)

    assert text == capture.text()
    assert not capture.truncated
    assert len(text.encode()) == capture.total


@given(TEXT, CUTS, st.integers(8, 100))
def test_what_does_not_fit_keeps_head_and_tail(text: str, cuts: list[int], limit: int) -> None:
    """Past the limit the first and the last half are kept, no character is broken, and the gap says its size."""
    capture = Capture(limit=limit)
    for piece in pieces_of(text.encode(), cuts):
        capture.add(piece)
    if not capture.truncated:
        return
    head, _, rest = capture.text().partition("\n[... ")
    left_out, _, tail = rest.partition(" bytes left out ...]\n")

    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(text.encode()) == len(head.encode()) + int(left_out) + len(tail.encode())
    assert len(head.encode()) + len(tail.encode()) <= limit


@given(TEXT, CUTS)
def test_cutting_off_breaks_no_character(text: str, cuts: list[int]) -> None:
    """Reading the output in parts gives the parts of the text, whole characters each."""
    capture = Capture(limit=2000)
    parts = []
    for piece in pieces_of(text.encode(), cuts):
        capture.add(piece)
        following = capture.cut()
        parts.append(capture.text())
        capture = following
    parts.append(capture.text())

    assert text == "".join(parts)


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    """Output need not be UTF-8: what cannot be read is replaced, and nothing is held back for ever."""
    capture = Capture()
    capture.add(b"a\xff\x80b")

    assert capture.text() == "a\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}b"
