"""The table of records, and the interface that guests are built with: one cannot say what the other does not."""

import re
from pathlib import Path

from hookline.dialects.murmur.interfaces import CURRENT, OPTIONAL, REQUIRED
from hookline.dialects.murmur.rules import ARMS, NONE
from hookline.dialects.murmur.types import ARGUMENTS, CARRIED, RECORDS

WIT = Path(__file__).parents[4] / "src/hookline/guest/wit/murmur.wit"


def lifecycle() -> str:
    """The interface, without its comments."""
    text = re.sub(r"//.*", "", WIT.read_text(encoding="utf-8"))
    package, _, rest = CURRENT.name.partition("/lifecycle@")
    start = text.index(f"package {package}@{rest} {{")
    return text[start : text.index("package ", start + 1)]


def members(body: str) -> list[tuple[str, str]]:
    return re.findall(r"([\w-]+): ([^,]+),", body)


def test_every_record_is_as_the_interface_has_it() -> None:
    """The same records, with the same fields of the same types in the same order."""
    found = {name: members(body) for name, body in re.findall(r"record ([\w-]+) \{(.*?)\}", lifecycle(), re.DOTALL)}

    assert found == {name: [(field.name, field.type) for field in fields] for name, fields in RECORDS.items()}


def test_every_function_takes_the_record_that_the_interface_says() -> None:
    """And there are no others."""
    found = dict(re.findall(r"([\w-]+): func\(event: ([\w-]+)\)", lifecycle()))

    assert found == dict(ARGUMENTS)
    assert set(found) == {*REQUIRED, *OPTIONAL}


def test_every_arm_carries_what_the_interface_says() -> None:
    """And `none` nothing."""
    (body,) = re.findall(r"variant hook-output \{(.*?)\}", lifecycle(), re.DOTALL)
    found = dict(re.findall(r"([\w-]+)(?:\(([^)]+)\))?,", body))

    assert found == {NONE: "", **{field.name: field.type for field in CARRIED}}
    assert set(found) == set(ARMS)
