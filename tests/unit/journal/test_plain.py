import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest

from hookline.journal import entries as en
from hookline.journal.plain import line_of

PLENTY = 1_000_000


class Rude:
    def __repr__(self) -> str:
        raise RuntimeError


class Word(str):
    __slots__ = ()


@dataclass
class Pair:
    left: object
    right: object


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def endless() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "want"),
    [
        ({"a": [1, 2.5, None, True, "é"]}, {"a": [1, 2.5, None, True, "é"]}),
        ("a\ud800b", "a\ud800b"),
        ({"\udcff": Word("\ud800")}, {"\udcff": "\ud800"}),
        (Word("w"), "w"),
        (MappingProxyType({"a": (1, 2)}), {"a": [1, 2]}),
        (["\ud800", MappingProxyType({"a": (1, 2)}), {3}], ["\ud800", {"a": [1, 2]}, [3]]),
        (float("nan"), None),
        (["\ud800", float("inf")], ["\ud800", None]),
        ({1: "a"}, {"1": "a"}),
        (2**70, 2**70),
        (b"\xff", "/w=="),
        (["\ud800", b"\xff"], ["\ud800", "/w=="]),
        (["\ud800", datetime(2026, 1, 2, tzinfo=UTC)], ["\ud800", "2026-01-02T00:00:00Z"]),
        (Pair(1, [2]), {"left": 1, "right": [2]}),
        (Pair("\ud800", [2]), {"left": "\ud800", "right": [2]}),
        (object, repr(object)),
        (["\ud800", object], ["\ud800", repr(object)]),
        (Rude(), "<Rude>"),
        (["\ud800", Rude()], ["\ud800", "<Rude>"]),
        (endless(), [1, "..."]),
        (10**5000, hex(10**5000)),
    ],
    ids=range(21),
)
def test_any_value_has_a_line(value: object, want: object) -> None:
    """Whatever a value holds, there is a line of JSON for it, and one half of a surrogate pair comes back from it."""
    assert want == json.loads(line_of(value, limit=PLENTY))


def test_depth_is_bounded() -> None:
    """What is nested deeper than a reader's stack allows is cut, and the rest stands."""
    assert line_of(nested(100_000), limit=PLENTY) == b"[" * 200 + b'"..."' + b"]" * 200


@pytest.mark.parametrize(
    "value",
    [
        "x" * 100_000,
        "\U0001f600" * 100_000,
        "\ud800" * 100_000,
        ["x" * 10] * 10_000,
        {f"key {n}": n for n in range(10_000)},
        [[[n] * 10] * 10 for n in range(1000)],
        {"k" * 100_000: 1},
        list(range(100_000)),
        [10**3000] * 100,
        [[] for _ in range(100_000)],
        [Pair(None, ()) for _ in range(100_000)],
    ],
    ids=range(11),
)
def test_a_line_is_never_longer_than_asked(value: object) -> None:
    """A value that would take more than the limit is cut to fit, and is JSON still."""
    line = line_of(value, limit=10_000)

    assert len(line) <= 10_000
    assert json.loads(line)


def test_a_cut_body_keeps_its_fields() -> None:
    """Cutting shortens texts and collections, never our own fields, so that the line can be read back."""
    body = en.CallStarted(call_id="c1", tool="bash", input={"a": "x" * 100_000, "b": 1})

    told: Mapping[str, Any] = json.loads(line_of(body, limit=10_000))

    assert {name: told[name] for name in ("call_id", "tool")} == {"call_id": "c1", "tool": "bash"}
    assert told["input"]["a"].startswith("xxx")
