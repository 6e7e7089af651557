"""A capsule's manifest: from its file to a Capsule, or to everything that is wrong with it."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hookline._core.capsule import (
    NO_GRANT,
    Artifact,
    ArtifactKind,
    CallLimits,
    Capsule,
    Context,
    Grant,
    Inference,
    Lifecycle,
    Transport,
)
from hookline._core.errors import ConfigError
from hookline._core.problems import Problem, Scope
from hookline._yaml.composing import compose
from hookline._yaml.findings import START, WHOLE_FILE, Findings
from hookline._yaml.nodes import Entries
from hookline.dialects._files import LARGEST, Unreadable, read_file
from hookline.dialects.murmur.fields import Section
from hookline.dialects.murmur.kinds import Slot
from hookline.dialects.murmur.schema import CAPSULE, GRANTS_ARE_INERT, homes


class Found(NamedTuple):
    """What a manifest says. With a capsule, `problems` are notes; without one, all that is wrong, and notes."""

    capsule: Capsule | None
    problems: tuple[Problem, ...]


def read_capsule(path: Path) -> Found:
    """The capsule whose manifest is the file *path*."""
    data = read_file(path)
    if isinstance(data, bytes):
        return parse_capsule(data, path)
    findings = Findings(str(path), Scope.SETTINGS)
    why = data.why if isinstance(data, Unreadable) else "there is no such file"
    findings.add("unreadable", f"the manifest cannot be read: {why}", WHOLE_FILE)
    return Found(None, findings.all)


def parse_capsule(data: bytes, path: Path) -> Found:
    """The capsule that *data* describes. Paths in it are found from the folder of *path*."""
    findings = Findings(str(path), Scope.SETTINGS)
    capsule = None
    with suppress(ConfigError):  # raised where there are so many problems that the first will do
        capsule = _Builder(findings, path).capsule(data)
    return Found(None if findings.count else capsule, findings.all)


class _Builder:
    """Makes the parts of a capsule of the tables that were read."""

    def __init__(self, findings: Findings, path: Path) -> None:
        self._findings = findings
        self._path = path

    def capsule(self, data: bytes) -> Capsule | None:
        node = compose(data, self._findings, what="the manifest", max_bytes=LARGEST)
        if node is None and self._findings.count:
            return None
        root = CAPSULE.read(node or Entries(START, ()), Slot(self._findings, homes=homes))
        return None if root is None else self._of(root)

    def _of(self, root: Section) -> Capsule:
        granted, trace, observed = root["capabilities"], root["trace"], root["observability"]
        name = root["name"] or ""
        return Capsule(
            name=name,
            version=root["version"] or "",
            path=self._path,
            description=root["description"],
            artifacts=self._artifacts(root["artifacts"], name),
            shell_allow=tuple(dict.fromkeys(granted["shell"]["allow"])),
            network=granted["network"]["allow"],
            scope=granted["filesystem"]["scope"],
            read_only=granted["filesystem"]["read_only"],
            limits=_limits(granted["limits"]),
            inference=self._inference(root["inference"]),
            context=_context(root["context"], name),
            lifecycle=_lifecycle(root["lifecycle"]),
            otel_endpoint=observed["otel_endpoint"],
            evaluation=_evaluation(observed["eval"]) if "eval" in observed else None,
            capture=trace["capture"],
        )

    def _artifacts(self, sections: tuple[Section, ...], capsule: str) -> tuple[Artifact, ...]:
        lines: dict[str, int] = {}
        for each in sections:
            name = each["name"]
            if name in lines:
                each.add("name", f"artifact '{name}' stands here already, in line {lines[name]}: keep one of the two")
            elif name is not None:
                lines[name] = each.place.line
        return tuple(self._artifact(each, capsule) for each in sections)

    def _artifact(self, section: Section, capsule: str) -> Artifact:
        _check_overflow(section)
        _check_grant(section)
        return Artifact(
            name=section["name"] or "",
            version=section["version"] or "",
            kind=section["runtime"],
            grant=_grant(section["capabilities"], capsule) if section["runtime"] is ArtifactKind.HOOK else NO_GRANT,
            config=section["config"],
            waits=section["on_overflow"] == BLOCK,
            where=self._findings.where(section.place, section.slot.path),
        )

    def _inference(self, section: Section) -> Inference:
        driver = section["driver"]["artifact"] or ""
        compaction = section["compaction"]
        return Inference(
            transport=section["transport"],
            has_driver=bool(driver) and section["transport"] is Transport.HTTP,
            model=section["model"],
            driver=driver,
            max_turns=section["max_turns"],
            max_tokens=section["max_tokens"],
            compaction_threshold=compaction["threshold"],
            compaction_model=compaction["model"],
            compaction_prompt=self._prompt(compaction),
            dumps_summaries=compaction["dump_summaries"],
        )

    def _prompt(self, section: Section) -> str | None:
        if section["system_prompt"] is not None and section["system_prompt_file"] is not None:
            section.add("system_prompt_file", f"{_ONE_PROMPT}: keep one of the two")
        elif section["system_prompt_file"] is not None:
            return _text_of(section, self._path.parent / section["system_prompt_file"])
        prompt: str | None = section["system_prompt"]
        return prompt


_ONE_PROMPT = "at most one of inference.compaction.system_prompt, inference.compaction.system_prompt_file may be set"
DROP, BLOCK = "drop", "block"


def _text_of(section: Section, path: Path) -> str | None:
    """The text of the file that `system_prompt_file` names."""
    data = read_file(path)
    why = "there is no such file"
    if isinstance(data, Unreadable):
        why = data.why
    elif data is not None and len(data) > LARGEST:
        why = f"it has more than {LARGEST} bytes"
    elif data is not None:
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            why = "it is not UTF-8"
    section.add("system_prompt_file", f"`system_prompt_file`: {path} cannot be read: {why}")
    return None


def _check_overflow(section: Section) -> None:
    if "on_overflow" not in section:
        return
    artifact = f"artifact '{section['name'] or '?'}'"
    if (kind := section["runtime"]) is not ArtifactKind.HOOK:
        section.add(
            "on_overflow",
            f"{artifact} declares 'on_overflow:' but has 'runtime: {kind.value}'; the key governs an async hook's job "
            "queue and is only recognized on 'runtime: hook' entries",
        )
    elif (word := section["on_overflow"]) not in (DROP, BLOCK):
        section.add("on_overflow", f"{artifact} declares unknown on_overflow '{word}'; expected: {DROP}, {BLOCK}")


def _check_grant(section: Section) -> None:
    """Of an artifact that is no hook: it cannot be granted what hooks read, and what else it is granted is in vain."""
    kind, granted = section["runtime"], section["capabilities"]
    if kind is ArtifactKind.HOOK:
        return
    for name in ("task_io", "conversation"):
        if name in granted:
            message = f"`{name}` is only recognized on 'runtime: hook' entries, and this one is 'runtime: {kind.value}'"
            granted.add(name, f"{message}: leave it out")
    if "capabilities" in section:
        place, path = section.nodes["capabilities"].place, granted.slot.path
        message = f"`capabilities` has no effect here: 'runtime: {kind.value}' is not confined by it"
        granted.slot.findings.note(GRANTS_ARE_INERT, message, place, path)


def _grant(section: Section, capsule: str) -> Grant:
    return Grant(
        network=section["network"]["allow"],
        scope=section["filesystem"]["scope"],
        state=(section["state"]["store"] or capsule) if "state" in section else None,
        reads_task=bool(section["task_io"]["read"]),
        reads_conversation=bool(section["conversation"]["read"]),
    )


def _limits(section: Section) -> CallLimits:
    return CallLimits(
        deadline=section["deadline_seconds"],
        memory_bytes=section["memory_bytes"],
        table_elements=section["table_elements"],
        instances=section["instances"],
    )


def _context(section: Section, capsule: str) -> Context:
    return Context(
        max_tokens=section["max_tokens"],
        seed_budget=section["seed_budget"],
        seed_overflow_margin=section["seed_overflow_margin"],
        record=section["record"],
        record_store=section["record_store"] or capsule,
    )


def _lifecycle(section: Section) -> Lifecycle:
    return Lifecycle(
        acceptance=section["task_acceptance"],
        after_task=section["after_task"],
        queue_depth=section["queue_depth"],
        threaded=section["conversation"],
        max_reopens=section["max_task_reopens"],
    )


def _evaluation(section: Section) -> Mapping[str, Any]:
    """What was written, as JSON has it."""
    scorers = [_written(each) for each in section["scorers"] or ()]
    return {**_written(section), "scorers": scorers}


def _written(section: Section) -> dict[str, Any]:
    values = {name: section[name] for name in section.nodes}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
