"""From the text of a script to a Script, or to everything that is wrong with it."""

import difflib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from hookline._yaml.composing import compose
from hookline._yaml.findings import START, WHOLE_FILE, Findings
from hookline._yaml.nodes import Entries, Items, Node, Scalar, found
from hookline.session.models._steps import PlannedCall, PlannedFailure, Script, Step

MAX_BYTES = 256 * 1024  # of a script: many times what anyone writes by hand
MAX_WAIT = 3600.0

SCRIPT_KEYS = ("steps", "model", "provider", "summary", "agents")
STEP_KEYS = ("say", "call", "calls", "fail", "wait")
CALL_KEYS = ("tool", "input")
FAIL_KEYS = ("category", "details")
ANSWERS = ("say", "call", "calls", "fail")

T = TypeVar("T")
Fields = dict[str, Node]


def read_script(path: Path) -> Script:
    """The script in a file."""
    findings = Findings(str(path))
    data = b""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        findings.add("unreadable", f"the script cannot be read: {error}", WHOLE_FILE)
    findings.raise_if_any()
    return parse_script(data, file=str(path))


def parse_script(text: str | bytes, *, file: str) -> Script:
    """The script that *text* is: UTF-8, with or without a byte order mark."""
    findings = Findings(file)
    data = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    root = compose(data, findings, what="the script", max_bytes=MAX_BYTES)
    if root is None:
        findings.raise_if_any()
    script = _Reader(findings).script(root or Entries(START, ()), "")
    findings.raise_if_any()
    return script


class _Reader:
    """Reads nodes. What cannot be read goes to the findings, and something harmless stands in for it."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def script(self, node: Node, path: str) -> Script:
        fields = self._fields(node, path, "a script", SCRIPT_KEYS)
        self._require(node, fields, path, "a script", ("steps",))
        return Script(
            steps=self._each(fields.get("steps"), f"{path}steps", "steps", self._step),
            model=self._word(fields.get("model"), f"{path}model"),
            provider=self._word(fields.get("provider"), f"{path}provider"),
            summary=self._text(fields.get("summary"), f"{path}summary"),
            agents=self._agents(fields.get("agents"), f"{path}agents"),
        )

    def _agents(self, node: Node | None, path: str) -> dict[str, Script]:
        if node is None:
            return {}
        if not isinstance(node, Entries):
            self._wrong(node, path, "a mapping from kinds of agents to their scripts", "`default: {steps: [...]}`")
            return {}
        return {kind.text: self.script(child, f"{path}.{kind.text}.") for kind, child in node.entries}

    def _step(self, node: Node, path: str) -> Step:
        fields = self._fields(node, path, "a step", STEP_KEYS)
        self._require(node, fields, path, "a step", ANSWERS)
        self._exclude(fields, path, "call", ("calls",))
        self._exclude(fields, path, "fail", ("say", "call", "calls"))
        return Step(
            say=self._text(fields.get("say"), f"{path}.say") or "",
            calls=self._calls(fields, path),
            fail=self._failure(fields["fail"], f"{path}.fail") if "fail" in fields else None,
            wait=self._seconds(fields.get("wait"), f"{path}.wait"),
        )

    def _calls(self, fields: Fields, path: str) -> tuple[PlannedCall, ...]:
        if "call" in fields:
            return (self._call(fields["call"], f"{path}.call"),)
        return self._each(fields.get("calls"), f"{path}.calls", "calls", self._call)

    def _call(self, node: Node, path: str) -> PlannedCall:
        fields = self._fields(node, path, "a call", CALL_KEYS)
        self._require(node, fields, path, "a call", ("tool",))
        tool = self._word(fields.get("tool"), f"{path}.tool") or ""
        return PlannedCall(tool, self._input(fields.get("input"), f"{path}.input"))

    def _input(self, node: Node | None, path: str) -> Any:
        if node is None:
            return {}
        if isinstance(node, Entries) or (isinstance(node, Scalar) and isinstance(node.value(), str)):
            return self._data(node, path)
        self._wrong(node, path, "a mapping, or a text that is sent as it is", "`input: {}` for none")
        return {}

    def _data(self, node: Node, path: str) -> Any:
        """JSON data."""
        match node:
            case Entries(entries=entries):
                return {key.text: self._data(value, f"{path}.{key.text}") for key, value in entries}
            case Items(items=items):
                return [self._data(item, f"{path}[{index}]") for index, item in enumerate(items)]
            case Scalar():
                value = node.value()
                if isinstance(value, float) and math.isinf(value):
                    self._wrong(node, path, "a number that JSON can hold", "it in quotes to send it as text")
                return value
            case _:
                return None

    def _failure(self, node: Node, path: str) -> PlannedFailure:
        fields = self._fields(node, path, "a failure", FAIL_KEYS)
        self._require(node, fields, path, "a failure", ("category",))
        category = self._word(fields.get("category"), f"{path}.category") or ""
        return PlannedFailure(category, self._text(fields.get("details"), f"{path}.details") or "")

    def _fields(self, node: Node, path: str, what: str, keys: tuple[str, ...]) -> Fields:
        """The entries of a mapping that may hold *keys*."""
        if not isinstance(node, Entries):
            self._wrong(node, path, f"a mapping: {what} has the keys {_listed(keys)}", f"`{keys[0]}: ...`")
            return {}
        for key, _ in node.entries:
            if key.text not in keys:
                near = difflib.get_close_matches(key.text[:80], keys, 1)
                hint = f"did you mean `{near[0]}`?" if near else f"its keys are {_listed(keys)}"
                message = f"{what} has no key `{key.text[:80]}`; {hint}"
                self._findings.add("unknown-key", message, key.place, path.removesuffix("."))
        return {key.text: value for key, value in node.entries if key.text in keys}

    def _require(self, node: Node, fields: Fields, path: str, what: str, keys: tuple[str, ...]) -> None:
        """One of *keys* has to be there. A key that was misspelt is not called missing too."""
        if isinstance(node, Entries) and len(fields) == len(node.entries) and fields.keys().isdisjoint(keys):
            written = _listed(tuple(fields)) if fields else "nothing"
            message = f"{what} needs {_listed(keys, 'or')}, found {written}: write `{keys[0]}: ...`"
            self._findings.add("missing-key", message, node.place, path.removesuffix("."))

    def _exclude(self, fields: Fields, path: str, key: str, others: tuple[str, ...]) -> None:
        for other in others:
            if key in fields and other in fields:
                message = f"`{key}` and `{other}` cannot stand in one step: keep one"
                self._findings.add("conflict", message, fields[other].place, path)

    def _each(self, node: Node | None, path: str, what: str, read: Callable[[Node, str], T]) -> tuple[T, ...]:
        if node is None:
            return ()
        if not isinstance(node, Items) or not node.items:
            self._wrong(node, path, f"a list of {what}, one at least", "each after a `- `")
            return ()
        return tuple(read(item, f"{path}[{index}]") for index, item in enumerate(node.items))

    def _text(self, node: Node | None, path: str) -> str | None:
        value = node.value() if isinstance(node, Scalar) else None
        if node is not None and not isinstance(value, str):
            self._wrong(node, path, "text", "it in quotes")
            return None
        return value if isinstance(value, str) else None

    def _word(self, node: Node | None, path: str) -> str | None:
        text = self._text(node, path)
        if node is not None and text is not None and not text.strip():
            self._wrong(node, path, "text that is not blank", "a name")
        return text

    def _seconds(self, node: Node | None, path: str) -> float:
        if node is None:
            return 0.0
        value = node.value() if isinstance(node, Scalar) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MAX_WAIT:
            return float(value)
        self._wrong(node, path, f"a number of seconds from 0 to {MAX_WAIT:g}", "`wait: 0.5`")
        return 0.0

    def _wrong(self, node: Node, path: str, wanted: str, remedy: str) -> None:
        """Say that a value is not what it has to be, unless it was refused before."""
        if type(node) is not Node:
            key = path.removesuffix(".").rpartition(".")[2]
            name = f"`{key}`" if key else "the script"
            message = f"{name} has to be {wanted}; found {found(node)}: write {remedy}"
            self._findings.add("wrong-type", message, node.place, path.removesuffix("."))


def _listed(keys: tuple[str, ...], last: str = "and") -> str:
    quoted = [f"`{key}`" for key in keys]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"
