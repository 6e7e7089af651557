import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline._core.strictjson import DEEPEST_WRITTEN, JsonFault, Part, encode, parse, positions

LAW = settings(deadline=None)  # how fast the machine is belongs to no law
LIMITS: dict[str, int] = {"max_bytes": 1000, "max_depth": 5}

FAULTS = [
    pytest.param(b"", "nothing in it", 1, 1, id="empty"),
    pytest.param(b" \n ", "nothing in it", 2, 2, id="blank"),
    pytest.param(b'{"a": 1,}', "a comma with nothing after it", 1, 8, id="trailing comma"),
    pytest.param(b"[1,\n ]", "a comma with nothing after it", 1, 3, id="trailing comma, next line"),
    pytest.param(b"{} // why", "more text after the JSON document, from byte 3", 1, 4, id="comment behind"),
    pytest.param(b"[\n  // why\n 1]", "JSON has no comments", 2, 3, id="comment within"),
    pytest.param(b'{"a": "b', "unterminated string", 1, 7, id="cut off"),
    pytest.param(b'{"a" 1}', "expecting ':' delimiter", 1, 6, id="no colon"),
    pytest.param(b'{"a": "x\ny"}', "invalid control character", 1, 9, id="raw newline in a string"),
    pytest.param(b'{"a":1}\n{"b":2}', "a second JSON document starts at byte 8", 2, 1, id="two documents"),
    pytest.param(
        b'\xef\xbb\xbf"\xc3\xa9"\n[]', "a second JSON document starts at byte 8", 2, 1, id="bytes, not characters"
    ),
    pytest.param(b'{"a": 1, "b": {"c": 1,\n "c": 2}}', "duplicate key `c`", 2, 2, id="duplicate key"),
    pytest.param(b'{"a": 1, "\\u0061": 2}', "duplicate key `a`", 1, 10, id="duplicate key, escaped"),
    pytest.param(
        b'[{"a":1,"a":2}, {"b":1,"b":2}]', "duplicate key `a`", 1, 9, id="the first of two is the one reported"
    ),
    pytest.param(b"[1, NaN]", "`NaN` is not JSON", 1, 5, id="NaN"),
    pytest.param(b'{"a": -Infinity}', "`-Infinity` is not JSON", 1, 7, id="infinity"),
    pytest.param(b"[1e999]", "a number that is too large to be kept as it is", 1, 2, id="becomes infinity"),
    pytest.param(b"[[[[[[1]]]]]]", "nested more than 5 levels deep", 1, 6, id="one level too deep"),
    pytest.param(b"[" * 999, "nested more than 5 levels deep", 1, 6, id="deeper than the C parser's own stack"),
    pytest.param(b" " * 1001, "larger than 1000 bytes", 1, 1, id="one byte too large"),
    pytest.param(b'{"\xc3\xa9":\n "\xff"}', "not UTF-8: byte 9 is 0xff", 2, 3, id="not UTF-8"),
    pytest.param(b"\xff\xfe{\x00}\x00", "not UTF-8: byte 0 is 0xff", 1, 1, id="UTF-16"),
    pytest.param(b'["\xed\xa0\x80"]', "not UTF-8: byte 2 is 0xed", 1, 3, id="a surrogate's bytes"),
    pytest.param(
        b'["ok",\n "\\ud83dx"]', "a \\u escape for half a character (a lone surrogate)", 2, 3, id="lone surrogate"
    ),
    pytest.param(
        b'{"\\udc00": 1}', "a \\u escape for half a character (a lone surrogate)", 1, 3, id="lone surrogate in a key"
    ),
    pytest.param(
        b'["\\ud800\\ud83d\\ude00"]',
        "a \\u escape for half a character (a lone surrogate)",
        1,
        3,
        id="one before a pair",
    ),
    pytest.param(b'{"\\ud800":1,"\\ud800":2}', "duplicate key `\\ud800`", 1, 13, id="a duplicate that no stream takes"),
]


@pytest.mark.parametrize(("data", "message", "line", "column"), FAULTS)
def test_every_fault_has_a_place(data: bytes, message: str, line: int, column: int) -> None:
    """What is not strict JSON is refused with the place where that shows, whichever rule it breaks."""
    with pytest.raises(JsonFault) as caught:
        parse(data, **LIMITS)

    assert (message, line, column) == (caught.value.message, caught.value.line, caught.value.column)


ACCEPTED = [
    pytest.param(b'{"a": [1, 2.5, true, null, "x"]}', {"a": [1, 2.5, True, None, "x"]}, id="every kind"),
    pytest.param(b'\xef\xbb\xbf{"a": 1}', {"a": 1}, id="byte order mark"),
    pytest.param(b"[[[[[1]]]]]", [[[[[1]]]]], id="as deep as is allowed"),
    pytest.param(b'["\\ud83d\\ude00"]', ["\N{GRINNING FACE}"], id="an escaped pair is one character"),
    pytest.param(b'["\\\\ud800"]', ["\\ud800"], id="a backslash before a word is no escape"),
    pytest.param(b'{"a": {"k": 1}, "b": {"k": 2}}', {"a": {"k": 1}, "b": {"k": 2}}, id="a key in two objects"),
    pytest.param(b"7", 7, id="a document need not be an object"),
    pytest.param(b'["[[[[[[[["]', ["[[[[[[[["], id="brackets in a string are not depth"),
    pytest.param(b" " * 999 + b"1", 1, id="exactly the largest size"),
]


@pytest.mark.parametrize(("data", "value"), ACCEPTED)
def test_strict_json_is_read_as_the_standard_library_reads_it(data: bytes, value: Any) -> None:
    """Strictness refuses; it never changes a value."""
    assert value == parse(data, **LIMITS)


def test_a_number_with_more_digits_than_python_reads_is_a_fault() -> None:
    """Python's own limit on digits never leaves the parser as something other than a fault."""
    with pytest.raises(JsonFault, match="a number that is too large"):
        parse(b'{"timeout": ' + b"9" * 5000 + b"}", max_bytes=10_000, max_depth=5)


@LAW
@given(st.binary(max_size=300))
def test_any_bytes_are_a_value_or_a_fault(data: bytes) -> None:
    """Bytes are the value that any JSON reader sees in them, or a JsonFault whose place counts from 1."""
    try:
        value = parse(data, **LIMITS)
    except JsonFault as caught:
        place = (caught.line, caught.column)
    else:
        place = positions(data.decode("utf-8-sig"))[()]
        assert value == json.loads(data)
    assert min(place) >= 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@LAW
@given(JSON)
def test_positions_name_every_value_and_key(value: Any) -> None:
    """Every value and key of a document has a place, and what stands at that place begins that value or key."""
    text = json.dumps(value, indent=1)
    lines = text.split("\n")
    places = positions(text)

    paths = {path for path in places if not path or path[-1] is not Part.KEY}
    assert set(_paths(value)) == paths
    for path, (line, column) in places.items():
        rest = lines[line - 1][column - 1 :]
        if path and path[-1] is Part.KEY:
            assert rest.startswith(json.dumps(path[-2]) + ":")
        else:
            assert rest.startswith(json.dumps(_at(value, path), indent=1).split("\n")[0])


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(each for step, inner in inside for each in _paths(inner, (*path, step)))]


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


class Mute:
    def __str__(self) -> str:
        raise RuntimeError


def within_itself() -> list[Any]:
    knot: list[Any] = []
    knot += [knot, knot]
    return knot


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


WRITTEN = [
    pytest.param({"a": 1, "b": [True, None]}, b'{"a": 1, "b": [true, null]}', id="plain"),
    pytest.param({"a": "é\u2028"}, '{"a": "é\u2028"}'.encode(), id="UTF-8, not escapes"),
    pytest.param({"p": "a\ud800b"}, b'{"p": "a\\ud800b"}', id="a lone surrogate as its escape"),
    pytest.param([float("nan"), float("inf"), -float("inf")], b"[null, null, null]", id="no number is null"),
    pytest.param({2: "a", None: "b", True: "c"}, b'{"2": "a", "null": "b", "true": "c"}', id="keys become strings"),
    pytest.param({1: "a", "1": "b"}, b'{"1": "b"}', id="keys that become equal are one, the last"),
    pytest.param({(1, 2): "a"}, b'{"[1, 2]": "a"}', id="a tuple as a key"),
    pytest.param([b"\xff.txt"], b'["\\\\xff.txt"]', id="bytes become text"),
    pytest.param({"s": {"b", "a"}}, b'{"s": ["a", "b"]}', id="a set is written in order"),
    pytest.param([1 + 2j], b'["(1+2j)"]', id="anything else is its string"),
    pytest.param([Mute()], b'["<Mute>"]', id="what has no string is its type"),
    pytest.param(within_itself(), b'["(contains itself)", "(contains itself)"]', id="a knot is cut"),
    pytest.param([16**5000], b'["0x1' + b"0" * 5000 + b'"]', id="more digits than Python writes"),
]


@pytest.mark.parametrize(("value", "written"), WRITTEN)
def test_anything_is_written(value: Any, written: bytes) -> None:
    """Whatever stands in a value, it is written as JSON, the same every time, and nothing is raised."""
    assert written == encode(value, spaced=True)


def test_spacing_is_all_that_differs() -> None:
    """Compact and spaced output say the same."""
    assert encode({"a": [1, 2]}, spaced=False) == b'{"a":[1,2]}'
    assert encode({"a": [1, 2]}, spaced=True) == b'{"a": [1, 2]}'


def test_depth_is_bounded() -> None:
    """What lies too deep is named instead of written, and what is just deep enough is not touched."""
    assert encode(deep(DEEPEST_WRITTEN), spaced=False) == b"[" * DEEPEST_WRITTEN + b"]" * DEEPEST_WRITTEN
    assert b'"(nested more than 120 levels deep)"' in encode(deep(100_000), spaced=False)


@LAW
@given(JSON, st.booleans())
def test_what_was_written_reads_back(value: Any, spaced: bool) -> None:
    """JSON goes through encode and parse unchanged."""
    assert value == parse(encode(value, spaced=spaced), max_bytes=1_000_000, max_depth=DEEPEST_WRITTEN)
