"""From the text of a script to a Script, or to everything that is wrong with it."""

from pathlib import Path
from typing import Any

from hookline._yaml.composing import compose
from hookline._yaml.findings import START, WHOLE_FILE, Findings
from hookline._yaml.nodes import Entries, Node, Scalar
from hookline._yaml.reading import Fields, Reader
from hookline.session.models._steps import PlannedCall, PlannedFailure, Script, Step

MAX_BYTES = 256 * 1024  # of a script: many times what anyone writes by hand
MAX_WAIT = 3600.0

SCRIPT_KEYS = ("steps", "model", "provider", "summary", "agents")
STEP_KEYS = ("say", "call", "calls", "fail", "wait")
CALL_KEYS = ("tool", "input")
FAIL_KEYS = ("category", "details")
ANSWERS = ("say", "call", "calls", "fail")


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
    script = _Reader(findings, whole="the script").script(root or Entries(START, ()), "")
    findings.raise_if_any()
    return script


class _Reader(Reader):
    """Reads the nodes of a script."""

    def script(self, node: Node, path: str) -> Script:
        fields = self.fields(node, path, "a script", SCRIPT_KEYS)
        self.require(node, fields, path, "a script", ("steps",))
        return Script(
            steps=self.each(fields.get("steps"), f"{path}steps", "steps", self._step),
            model=self.word(fields.get("model"), f"{path}model"),
            provider=self.word(fields.get("provider"), f"{path}provider"),
            summary=self.text(fields.get("summary"), f"{path}summary"),
            agents=self._agents(fields.get("agents"), f"{path}agents"),
        )

    def _agents(self, node: Node | None, path: str) -> dict[str, Script]:
        if node is None:
            return {}
        if not isinstance(node, Entries):
            self.wrong(node, path, "a mapping from kinds of agents to their scripts", "`default: {steps: [...]}`")
            return {}
        return {kind.text: self.script(child, f"{path}.{kind.text}.") for kind, child in node.entries}

    def _step(self, node: Node, path: str) -> Step:
        fields = self.fields(node, path, "a step", STEP_KEYS)
        self.require(node, fields, path, "a step", ANSWERS)
        self.exclude(fields, path, "call", ("calls",))
        self.exclude(fields, path, "fail", ("say", "call", "calls"))
        return Step(
            say=self.text(fields.get("say"), f"{path}.say") or "",
            calls=self._calls(fields, path),
            fail=self._failure(fields["fail"], f"{path}.fail") if "fail" in fields else None,
            wait=self._seconds(fields.get("wait"), f"{path}.wait"),
        )

    def _calls(self, fields: Fields, path: str) -> tuple[PlannedCall, ...]:
        if "call" in fields:
            return (self._call(fields["call"], f"{path}.call"),)
        return self.each(fields.get("calls"), f"{path}.calls", "calls", self._call)

    def _call(self, node: Node, path: str) -> PlannedCall:
        fields = self.fields(node, path, "a call", CALL_KEYS)
        self.require(node, fields, path, "a call", ("tool",))
        tool = self.word(fields.get("tool"), f"{path}.tool") or ""
        return PlannedCall(tool, self._input(fields.get("input"), f"{path}.input"))

    def _input(self, node: Node | None, path: str) -> Any:
        if node is None:
            return {}
        if isinstance(node, Entries) or (isinstance(node, Scalar) and isinstance(node.value(), str)):
            return self.data(node, path)
        self.wrong(node, path, "a mapping, or a text that is sent as it is", "`input: {}` for none")
        return {}

    def _failure(self, node: Node, path: str) -> PlannedFailure:
        fields = self.fields(node, path, "a failure", FAIL_KEYS)
        self.require(node, fields, path, "a failure", ("category",))
        category = self.word(fields.get("category"), f"{path}.category") or ""
        return PlannedFailure(category, self.text(fields.get("details"), f"{path}.details") or "")

    def _seconds(self, node: Node | None, path: str) -> float:
        if node is None:
            return 0.0
        value = node.value() if isinstance(node, Scalar) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MAX_WAIT:
            return float(value)
        self.wrong(node, path, f"a number of seconds from 0 to {MAX_WAIT:g}", "`wait: 0.5`")
        return 0.0
