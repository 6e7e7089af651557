"""Files of cases: read whole, every mistake with its place; a case with a mistake keeps the others from nothing."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hookline._core.errors import ConfigError, UsageError
from hookline._core.problems import Scope
from hookline._yaml.composing import compose
from hookline._yaml.findings import START, WHOLE_FILE, Findings
from hookline._yaml.nodes import Entries, Items, Node, Scalar
from hookline._yaml.reading import Fields, Reader
from hookline.workbench.cases.types import ALL, Asked, Case, CaseFile, Want
from hookline.workbench.faults import FAULTS
from hookline.workbench.opening import Chosen

ENDING = ".hooktest.yaml"
MAX_BYTES = 1024 * 1024

FILE_KEYS = ("hooks", "workspace", "trust", "capsule", "native_hooks", "strict", "env", "cases")
CASE_KEYS = (
    "name",
    "event",
    "tool",
    "input",
    "set",
    "payload",
    "payload_file",
    "session",
    "line",
    "want",
    "within",
    "fault",
    "repeat",
)
WANT_KEYS = ("decision", "reason", "by", "effects", "input", "outcomes", "ignored", "told")
DECISIONS = ("none", "allow", "ask", "deny", "failed_run")
EVENTS = ("event", "payload", "payload_file", "session")
HOOKS = ("hooks", "workspace", "capsule")
UNITS = {"ms": 0.001, "s": 1.0}
MOST = 10_000  # times that one case is repeated


def files_in(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The files of cases that are named, and those below named folders. Raises UsageError where there is none."""
    found = [path for each in paths or (Path(),) for path in _below(each)]
    if not found:
        where = ", ".join(map(str, paths)) or "this folder"
        raise UsageError(f"there is no file *{ENDING} in {where}: `hookline test --init` writes a first one")
    return tuple(dict.fromkeys(found))


def _below(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        if not path.exists():
            raise UsageError(f"there is no file {path}")
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(each for each in folders if not each.startswith(".") or each == ".muse")
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(ENDING))


def read_cases(path: Path, *, env: Mapping[str, str] | None = None) -> CaseFile:
    """The cases in a file, and everything that is wrong with it."""
    findings = Findings(str(path), Scope.NOTE)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        findings.add("unreadable", f"the file cannot be read: {error.strerror}", WHOLE_FILE)
        return _nothing(path, findings)
    try:
        root = compose(data, findings, what="the file", max_bytes=MAX_BYTES)
        if root is None and findings.count:
            return _nothing(path, findings)
        return _Reader(findings, path.absolute(), env).file(root or Entries(START, ()))
    except ConfigError:  # there are so many problems that the first of them will do
        return _nothing(path, findings)


def _nothing(path: Path, findings: Findings) -> CaseFile:
    return CaseFile(path=path, chosen=Chosen(), cases=(), problems=findings.all)


class _Reader(Reader):
    """Reads the nodes of a file of cases."""

    def __init__(self, findings: Findings, path: Path, env: Mapping[str, str] | None) -> None:
        super().__init__(findings, whole="the file")
        self._path = path
        self._env = os.environ if env is None else env

    def file(self, node: Node) -> CaseFile:
        fields = self.fields(node, "", "a file of hook tests", FILE_KEYS)
        self.require(node, fields, "", "a file of hook tests", HOOKS)
        for first, second in (("hooks", "workspace"), ("hooks", "capsule"), ("workspace", "capsule")):
            self.exclude(fields, "", first, (second,))
        chosen = self._chosen(fields)
        cases = self._cases(fields.get("cases"), node, fields)
        return CaseFile(path=self._path, chosen=chosen, cases=cases, problems=self.findings.all)

    def _chosen(self, fields: Fields) -> Chosen:
        hooks = fields.get("hooks")
        files = self.each(hooks, "hooks", "files", self._file) if isinstance(hooks, Items) else ()
        if hooks is not None and not isinstance(hooks, Items):
            files = (self._file(hooks, "hooks"),)
        workspace = self._file(fields["workspace"], "workspace") if "workspace" in fields else self._path.parent
        env = {name: str(value) for name, value in self._mapping(fields.get("env"), "env").items()}
        return Chosen(
            workspace=workspace,
            files=files,
            capsule=self._file(fields["capsule"], "capsule") if "capsule" in fields else None,
            native_hooks=self._file(fields["native_hooks"], "native_hooks") if "native_hooks" in fields else None,
            trust="run-flag" if self._switch(fields.get("trust"), "trust") else "",
            strict=self._switch(fields.get("strict"), "strict"),
            env={**self._env, **env},
        )

    def _file(self, node: Node, path: str) -> Path:
        return Path(os.path.normpath(self._path.parent / (self.word(node, path) or "")))

    def _switch(self, node: Node | None, path: str) -> bool:
        value = node.value() if isinstance(node, Scalar) else None
        if node is not None and not isinstance(value, bool):
            self.wrong(node, path, "true or false", "`true`")
        return value is True

    def _mapping(self, node: Node | None, path: str) -> dict[str, Any]:
        if node is None:
            return {}
        if not isinstance(node, Entries):
            self.wrong(node, path, "a mapping", "`name: value`")
            return {}
        data: dict[str, Any] = self.data(node, path)
        return data

    def _cases(self, node: Node | None, root: Node, fields: Fields) -> tuple[Case, ...]:
        if node is None:
            if not self.findings.count:
                self.require(
                    root, {key: value for key, value in fields.items() if key not in HOOKS}, "", "it", ("cases",)
                )
            return ()
        if not isinstance(node, Items):
            self.wrong(node, "cases", "a list of cases", "each after a `- `")
            return ()
        read = (self._case(item, f"cases[{index}]") for index, item in enumerate(node.items))
        return tuple(case for case in read if case is not None)

    def _case(self, node: Node, path: str) -> Case | None:
        """The case, unless there is a mistake in it."""
        before = self.findings.count
        fields = self.fields(node, path, "a case", CASE_KEYS)
        self.require(node, fields, path, "a case", EVENTS)
        for other in ("payload", "payload_file", "session"):
            self.exclude(fields, path, other, ("tool", "input", "set"))
        case = Case(
            name=self.word(fields.get("name"), f"{path}.name") or path,
            line=node.place.line,
            column=node.place.column,
            asked=self._asked(fields, path),
            want=None if "want" not in fields else self._want(fields["want"], f"{path}.want"),
            want_line=self._line_of(node, "want"),
            faults=self._faults(fields.get("fault"), f"{path}.fault"),
            within=self._within(fields.get("within"), f"{path}.within"),
            within_each=self._within_each(fields.get("within"), f"{path}.within"),
            repeat=self._count(fields.get("repeat"), f"{path}.repeat"),
        )
        return case if self.findings.count == before else None

    def _line_of(self, node: Node, key: str) -> int:
        entries = node.entries if isinstance(node, Entries) else ()
        return next((name.place.line for name, _ in entries if name.text == key), 0)

    def _asked(self, fields: Fields, path: str) -> Asked:
        line = fields.get("line")
        number = line.value() if isinstance(line, Scalar) else None
        if line is not None and (not isinstance(number, int) or isinstance(number, bool)):
            self.wrong(line, f"{path}.line", "the number of a line", "`line: 12`")
        return Asked(
            event=self.word(fields.get("event"), f"{path}.event"),
            tool=self.word(fields.get("tool"), f"{path}.tool"),
            input=self.data(fields["input"], f"{path}.input") if "input" in fields else None,
            members=self._mapping(fields.get("set"), f"{path}.set"),
            payload=self._mapping(fields["payload"], f"{path}.payload") if "payload" in fields else None,
            payload_file=self._file(fields["payload_file"], f"{path}.payload_file")
            if "payload_file" in fields
            else None,
            session=self._file(fields["session"], f"{path}.session") if "session" in fields else None,
            session_line=number if isinstance(number, int) else None,
        )

    def _want(self, node: Node, path: str) -> Want:
        fields = self.fields(node, path, "what is wanted", WANT_KEYS)
        for name in ("outcomes",):
            self._mapping(fields.get(name), f"{path}.{name}")
        decision = fields.get("decision")
        if decision is not None and self.data(decision, path) not in (*DECISIONS, None):
            self.wrong(decision, f"{path}.decision", f"one of {', '.join(DECISIONS)}", "`decision: deny`")
        effects = fields.get("effects")
        if effects is not None and not isinstance(effects, Items):
            self.wrong(effects, f"{path}.effects", "a list of effects", "`effects: []` for none")
        members = {name: self.data(value, f"{path}.{name}") for name, value in fields.items()}
        if members.get("decision", "") is None:
            members["decision"] = "none"
        return Want(members)

    def _faults(self, node: Node | None, path: str) -> dict[str, str]:
        if node is None:
            return {}
        given = self._mapping(node, path) if isinstance(node, Entries) else {ALL: self.word(node, path) or ""}
        for name, fault in given.items():
            if fault not in FAULTS:
                self.findings.add(
                    "unknown-fault",
                    f"there is no fault `{fault}`; there are {', '.join(FAULTS)}",
                    node.place,
                    f"{path}.{name}",
                )
        return {name: str(fault) for name, fault in given.items()}

    def _within(self, node: Node | None, path: str) -> float | None:
        return None if node is None or isinstance(node, Entries) else self._seconds(node, path)

    def _within_each(self, node: Node | None, path: str) -> dict[str, float]:
        if not isinstance(node, Entries):
            return {}
        return {key.text: self._seconds(value, f"{path}.{key.text}") for key, value in node.entries}

    def _seconds(self, node: Node, path: str) -> float:
        value = node.value() if isinstance(node, Scalar) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return float(value)
        for unit, factor in UNITS.items():
            number = value.removesuffix(unit) if isinstance(value, str) and value.endswith(unit) else ""
            if number.replace(".", "", 1).isdigit():
                return float(number) * factor
        self.wrong(node, path, "a time above 0", "`2s` or `500ms`")
        return 1.0

    def _count(self, node: Node | None, path: str) -> int:
        value = node.value() if isinstance(node, Scalar) else None
        if node is None:
            return 1
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST:
            return value
        self.wrong(node, path, f"a whole number from 1 to {MOST}", "`repeat: 3`")
        return 1
