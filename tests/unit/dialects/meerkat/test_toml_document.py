"""TOML: what is refused and where, and where keys and values stand."""

import pytest

from hookline._core.strictjson import Part, Path
from hookline.dialects.meerkat.toml_document import TomlFault, parse
from hookline.dialects.meerkat.toml_positions import positions


def read(data: bytes | str) -> tuple[object, str]:
    return parse(data if isinstance(data, bytes) else data.encode(), max_bytes=10_000, max_depth=20)


FAULTS = [
    ("a bare word", "[hooks]\na = True", (2, 5), "invalid value: write text in quotes, and true and false in lower"),
    ("a statement that is none", "é = 1", (1, 1), "invalid statement: write `name = value`"),
    ("no value", "a", (1, 2), "expected '=' after a key"),
    ("two statements on one line", 'a = "üü" c = 2', (1, 10), "expected newline or end"),
    ("a string without an end", "x = 'abc", (1, 9), "expected \"'\""),
    ("an array without an end", "x = [1,\n2\n", (3, 1), "unclosed array"),
    ("a backslash that escapes nothing", 'h = "\\q"', (1, 8), "write two backslashes, or the text in single quotes"),
    ("a bare carriage return", "a = 1\rb = 2", (1, 6), "expected newline"),
    ("CRLF before the fault", "a = 1\r\n\r\nb = \r\n", (3, 5), "invalid value"),
    ("a key twice", "[h]\na = 1\n  a = 2\n", (3, 3), '"a" is already defined at line 2'),
    ("a quoted key twice", "'a b' = 1\n\"a\\u0020b\" = 2\n", (2, 1), '"a b" is already defined at line 1'),
    ("a dotted key twice", "a.b = 1\na.b = 2\n", (2, 1), '"b" is already defined at line 1'),
    ("a key within a value", "a = 1\na.b = 2\n", (2, 1), '"a" is already defined at line 1'),
    ("a table twice", "[h]\n\n [h]", (3, 2), '"h" is already defined at line 1'),
    ("a table within a value", "a = 1\n[a.b]", (2, 1), '"a" is already defined at line 1'),
    ("a table, then an array of tables", "[h]\n[[h]]", (2, 1), '"h" is already defined at line 1'),
    ("an array of tables, then a table", "[[h]]\n[[h]]\n[h]", (3, 1), '"h" is already defined at line 1'),
    ("a static array, then an array of tables", "h = []\n[[h]]", (2, 1), '"h" is already defined at line 1'),
    ("a dotted key into a table with a header", "[a.b]\n[a]\nb.c = 1", (3, 1), '"b" is already defined at line 1'),
    ("a key twice in an inline table", "a = {x = 1, y = {z = 3}, x = [{b = 2}]}", (1, 26), '"x" is already defined'),
    ("a key twice in an element", "[[e]]\na = 1\n[[e]]\na = 1\na = 2", (5, 1), '"a" is already defined at line 4'),
    ("not UTF-8", b"\xef\xbb\xbfa = 1\r\nb = 'x\xff'", (2, 7), "not UTF-8: byte 16 is 0xff"),
    ("digits without end", "# 1\na = '" + "1" * 5000 + "'\nb = " + "1" * 4400, (3, 5), "too large to be read"),
    ("too large", "#" * 10_001, (1, 1), "larger than 10000 bytes"),
    ("brackets in brackets", "a = " + "[" * 30, (1, 25), "nested more than 20 levels deep"),
    ("a key of very many parts", "x = 1\n" + "a." * 30 + "b = 1", None, "nested more than 20 levels deep"),
    ("a header of very many parts", "[" + '"a.b".' * 30 + "b]", None, "nested more than 20 levels deep"),
    ("keys and brackets together", "a.a.a.a.a.a = { b.b.b.b.b.b = { c.c.c.c.c.c.c.c.c.c = 1 } }", None, "nested"),
]  # fmt: skip


@pytest.mark.parametrize("case", FAULTS, ids=[case[0] for case in FAULTS])
def test_a_fault_has_a_place_and_a_remedy(case: tuple[str, str | bytes, tuple[int, int] | None, str]) -> None:
    """What is no TOML, or too much of it, is refused at the line and column where it stands."""
    _, data, place, message = case

    with pytest.raises(TomlFault) as caught:
        read(data)

    assert message in caught.value.message
    assert "(at " not in caught.value.message
    if place is not None:
        assert place == (caught.value.line, caught.value.column)


NOT_DEEP = [
    "a = '''" + "[" * 50 + "'''",
    'a = """' + '\\"""[' * 50 + '"""',
    "# " + "[" * 50,
    "a = 1 # " + "[" * 50 + "\nb = 2",
    "'" + "." * 50 + "' = 1",
    "a = [" + "1.5, " * 50 + "]",
    "a = [\n" + "1.5,\n" * 50 + "]",
    "a = [" + "[], " * 50 + "]",
    "".join(f"[[a.b]]\nc{index}.d = 1.5\n" for index in range(50)),
    "".join(f"a{index}.b = {{ c.d = [1] }}\n" for index in range(50)),
]


@pytest.mark.parametrize("text", NOT_DEEP)
def test_what_is_long_is_not_deep(text: str) -> None:
    """Brackets and dots in strings, in comments and side by side nest nothing."""
    assert read(text)


def test_a_byte_order_mark_is_no_text() -> None:
    """It is passed over, and columns are counted without it."""
    value, text = read(b"\xef\xbb\xbfa = 1")
    assert {"a": 1} == value
    assert (1, 1) == positions(text)["a", Part.KEY]


KEY = Part.KEY
TEXT = '''\
# head
top = 1
"quo.ted" = 'é'
'lit' = 2
"\\u00e9" = """
[not] = "a table"
"""	# a comment = 1
bare.dotted . 'key' = [ 1, # one
  [2, {x = 3, y.z = "#" }], ]
[ a . "b" ]
c = 1979-05-27 07:32:00 # now
[[a.list]]
k = """a""\\"""""
[[a.list]]
  [a.list.sub]
  k = {}
[[ a.list.deep ]]
[a]
'''

PLACES: list[tuple[Path, tuple[int, int]]] = [
    (("top", KEY), (2, 1)),
    (("top",), (2, 7)),
    (("quo.ted", KEY), (3, 1)),
    (("quo.ted",), (3, 13)),
    (("lit",), (4, 9)),
    (("é", KEY), (5, 1)),
    (("é",), (5, 12)),
    (("bare", KEY), (8, 1)),
    (("bare",), (8, 1)),
    (("bare", "dotted", KEY), (8, 6)),
    (("bare", "dotted", "key", KEY), (8, 15)),
    (("bare", "dotted", "key"), (8, 23)),
    (("bare", "dotted", "key", 0), (8, 25)),
    (("bare", "dotted", "key", 1), (9, 3)),
    (("bare", "dotted", "key", 1, 1), (9, 7)),
    (("bare", "dotted", "key", 1, 1, "x"), (9, 12)),
    (("bare", "dotted", "key", 1, 1, "y", "z"), (9, 21)),
    (("a", "b"), (10, 1)),
    (("a", "b", KEY), (10, 7)),
    (("a", "b", "c"), (11, 5)),
    (("a", "list"), (12, 1)),
    (("a", "list", KEY), (12, 5)),
    (("a", "list", 0), (12, 1)),
    (("a", "list", 0, "k"), (13, 5)),
    (("a", "list", 1), (14, 1)),
    (("a", "list", 1, "sub"), (15, 3)),
    (("a", "list", 1, "sub", "k"), (16, 7)),
    (("a", "list", 1, "deep", 0), (17, 1)),
    (("a",), (18, 1)),  # its own header, though others went through it before
    (("a", KEY), (18, 2)),
]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_everything_has_its_place(line_end: str) -> None:
    """Keys and values of every form TOML has stand where they stand, whatever ends the lines."""
    _, text = read(TEXT.replace("\n", line_end))
    places = positions(text)
    assert dict(PLACES) == {path: places.get(path) for path, _ in PLACES}
