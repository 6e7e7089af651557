"""Nodes of a YAML file as the fields of something. What cannot be read is a finding; something harmless stands in."""

import difflib
import math
from collections.abc import Callable
from typing import Any, TypeVar

from hookline._yaml.findings import Findings
from hookline._yaml.nodes import Entries, Items, Node, Scalar, found

T = TypeVar("T")
Fields = dict[str, Node]


class Reader:
    """Reads nodes of a file that messages call *whole*."""

    def __init__(self, findings: Findings, *, whole: str) -> None:
        self.findings = findings
        self._whole = whole

    def data(self, node: Node, path: str) -> Any:
        """JSON data."""
        match node:
            case Entries(entries=entries):
                return {key.text: self.data(value, f"{path}.{key.text}") for key, value in entries}
            case Items(items=items):
                return [self.data(item, f"{path}[{index}]") for index, item in enumerate(items)]
            case Scalar():
                value = node.value()
                if isinstance(value, float) and math.isinf(value):
                    self.wrong(node, path, "a number that JSON can hold", "it in quotes to send it as text")
                return value
            case _:
                return None

    def fields(self, node: Node, path: str, what: str, keys: tuple[str, ...]) -> Fields:
        """The entries of a mapping that may hold *keys*."""
        if not isinstance(node, Entries):
            self.wrong(node, path, f"a mapping: {what} has the keys {listed(keys)}", f"`{keys[0]}: ...`")
            return {}
        for key, _ in node.entries:
            if key.text not in keys:
                near = difflib.get_close_matches(key.text[:80], keys, 1)
                hint = f"did you mean `{near[0]}`?" if near else f"its keys are {listed(keys)}"
                message = f"{what} has no key `{key.text[:80]}`; {hint}"
                self.findings.add("unknown-key", message, key.place, path.removesuffix("."))
        return {key.text: value for key, value in node.entries if key.text in keys}

    def require(self, node: Node, fields: Fields, path: str, what: str, keys: tuple[str, ...]) -> None:
        """One of *keys* has to be there. A key that was misspelt is not called missing too."""
        if isinstance(node, Entries) and len(fields) == len(node.entries) and fields.keys().isdisjoint(keys):
            written = listed(tuple(fields)) if fields else "nothing"
            message = f"{what} needs {listed(keys, 'or')}, found {written}: write `{keys[0]}: ...`"
            self.findings.add("missing-key", message, node.place, path.removesuffix("."))

    def exclude(self, fields: Fields, path: str, key: str, others: tuple[str, ...]) -> None:
        for other in others:
            if key in fields and other in fields:
                message = f"`{key}` and `{other}` cannot stand together: keep one"
                self.findings.add("conflict", message, fields[other].place, path)

    def each(self, node: Node | None, path: str, what: str, read: Callable[[Node, str], T]) -> tuple[T, ...]:
        if node is None:
            return ()
        if not isinstance(node, Items) or not node.items:
            self.wrong(node, path, f"a list of {what}, one at least", "each after a `- `")
            return ()
        return tuple(read(item, f"{path}[{index}]") for index, item in enumerate(node.items))

    def text(self, node: Node | None, path: str) -> str | None:
        value = node.value() if isinstance(node, Scalar) else None
        if node is not None and not isinstance(value, str):
            self.wrong(node, path, "text", "it in quotes")
            return None
        return value if isinstance(value, str) else None

    def word(self, node: Node | None, path: str) -> str | None:
        text = self.text(node, path)
        if node is not None and text is not None and not text.strip():
            self.wrong(node, path, "text that is not blank", "a name")
        return text

    def wrong(self, node: Node, path: str, wanted: str, remedy: str) -> None:
        """Say that a value is not what it has to be, unless it was refused before."""
        if type(node) is not Node:
            key = path.removesuffix(".").rpartition(".")[2]
            name = f"`{key}`" if key else self._whole
            message = f"{name} has to be {wanted}; found {found(node)}: write {remedy}"
            self.findings.add("wrong-type", message, node.place, path.removesuffix("."))


def listed(keys: tuple[str, ...], last: str = "and") -> str:
    quoted = [f"`{key}`" for key in keys]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"
