"""A hook document becomes hooks and problems, in document order (sections 4, 6.4).

What is wrong with a handler never touches the others; what is wrong with a type, or with the text, takes the file.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from hookline._core.hooks import Hook, Source
from hookline._core.problems import Problem, Scope, Where
from hookline._core.strictjson import JsonFault, Path
from hookline.dialects._kinds import found
from hookline.dialects._places import key_of, path_text
from hookline.dialects.muse.build import Group, build_hook
from hookline.dialects.muse.document import (
    MALFORMED_CONFIG,
    MANAGED,
    MEND,
    Document,
    Finding,
    did_you_mean,
    malformed,
    read_json,
    unsupported_event,
)
from hookline.dialects.muse.environment import Launch
from hookline.dialects.muse.group import read_matcher
from hookline.dialects.muse.handler import Spot, notes, why_skipped
from hookline.dialects.muse.rules import BY_NAME, MuseRule
from hookline.dialects.muse.shape import FIELDS, type_faults
from hookline.dialects.muse.strict import STRICT_FIELDS, breaches, is_strict

SETTINGS_ONLY = "managed_hooks_env_vars"
AT: Path = ("hooks",)
GROUP, HANDLER = 3, 5  # steps of their paths: hooks, an event, a number; hooks and a number again
GRANTS = "remove it: only your own settings.json grants variables"


class Found(NamedTuple):
    """What one source contributes, and what is wrong with it. `document` is its text, if it could be parsed."""

    hooks: tuple[Hook, ...] = ()
    problems: tuple[Problem, ...] = ()
    document: Document | None = None


def read_document(data: bytes, *, source: Source, launch: Launch, id_prefix: str = "") -> Found:
    """The hooks of a project file or a managed file. *id_prefix* keeps ids apart where two files share a label."""
    try:
        document = read_json(data, source)
    except JsonFault as fault:
        return Found((), (unparsed(fault, source),))
    if not isinstance(document.value, dict):
        message = f"malformed hook config: the document must be an object, found {found(document.value)}"
        return Found((), (document.problem(malformed(message, (), 'write {"hooks": {...}}')),), document)
    if SETTINGS_ONLY in document.value:
        message = f"hook file cannot declare User-tier field `{SETTINGS_ONLY}`"
        return Found((), (document.problem(malformed(message, key_of((SETTINGS_ONLY,)), GRANTS)),), document)
    if document.value and "hooks" not in document.value:
        return Found((), (document.problem(_no_hooks(document.value)),), document)
    return read_hooks(document, launch=launch, id_prefix=id_prefix)


def _no_hooks(value: dict[str, Any]) -> Finding:
    """A hook file that holds something, and no hooks. The document has no warning of it."""
    name = next((name for name in value if name in BY_NAME or did_you_mean(name, ("hooks",))), None)
    hint = "" if name is None else f"; put `{name}` inside it" if name in BY_NAME else f"; `{name}` may be meant"
    message = f"this hook file has no member `hooks`, so nothing in it runs{hint}"
    return Finding(scope=Scope.ABSENT, code="NoHooks", message=message, at=() if name is None else key_of((name,)))


def unparsed(fault: JsonFault, source: Source) -> Problem:
    """A hook file that is not strict JSON."""
    message = f"malformed hook config: {fault.message} at line {fault.line} column {fault.column}"
    where = Where(file=source.path, label=source.label, line=fault.line, column=fault.column)
    return Problem(scope=Scope.FILE, code=MALFORMED_CONFIG, message=message, where=where, remedy=MEND)


def unread(why: str, source: Source) -> Problem:
    """A hook file that exists and could not be read."""
    message = f"failed to read hook config at {source.path}: {why}"
    where = Where(file=source.path, label=source.label)
    remedy = "make it a file that you can read, or remove it"
    return Problem(scope=Scope.FILE, code=MALFORMED_CONFIG, message=message, where=where, remedy=remedy)


def read_hooks(
    document: Document, *, launch: Launch, id_prefix: str = "", reserved: frozenset[str] = frozenset()
) -> Found:
    """The hooks of a document's `hooks` member. *reserved* are members of that which are no events."""
    if "hooks" not in document.value:
        return Found(document=document)
    reader = _Reader(document=document, launch=launch, id_prefix=id_prefix, reserved=reserved)
    rejection = next(reader.rejections(), None)
    if rejection is not None:
        return Found((), (document.problem(rejection),), document)
    hooks: list[Hook] = []
    problems: list[Problem] = []
    for each in reader.events():
        if isinstance(each, Hook):
            hooks.append(each)
        else:
            problems.append(document.problem(each))
    return Found(tuple(hooks), tuple(problems), document)


def problems_of_rejected(
    document: Document, *, launch: Launch, reserved: frozenset[str] = frozenset()
) -> Iterator[Problem]:
    """Everything that is wrong with a document that is rejected for one fault: the others, and what is in the rest."""
    if not isinstance(document.value, dict) or "hooks" not in document.value:
        return
    reader = _Reader(document=document, launch=launch, id_prefix="", reserved=reserved)
    faults = tuple(reader.rejections())
    yield from map(document.problem, faults)
    if reader.strict or not isinstance(reader.member, dict):
        return
    faulty = frozenset(_unusable(each.at) for each in faults)
    for each in replace(reader, faulty=faulty).events():
        if isinstance(each, Finding):
            yield document.problem(each)


def _unusable(at: Path) -> Path:
    """The handler, the group or the event that the fault at *at* makes one that cannot be read."""
    return next((at[:steps] for steps in (HANDLER, GROUP) if len(at) >= steps), at)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """One document being read. What is *faulty* is left out."""

    document: Document
    launch: Launch
    id_prefix: str
    reserved: frozenset[str]
    faulty: frozenset[Path] = frozenset()

    @property
    def member(self) -> Any:
        return self.document.value["hooks"]

    @property
    def strict(self) -> bool:
        return self.document.source.layer == MANAGED and is_strict(self.member)

    def rejections(self) -> Iterator[Finding]:
        """Each fault for which the whole source contributes nothing. Types come first, wherever they stand."""
        if not self.strict:
            yield from type_faults(self.member, AT, reserved=self.reserved)
            return
        wrong_types = tuple(type_faults(self.member, AT, fields=STRICT_FIELDS))
        yield from wrong_types or breaches(self.member, AT, windows=self.launch.windows)

    def events(self) -> Iterator[Hook | Finding]:
        fields = frozenset(STRICT_FIELDS if self.strict else FIELDS)
        for name, groups in self.member.items():
            rule = BY_NAME.get(name)
            if (*AT, name) in self.faulty:
                continue
            if rule is not None:
                for index, group in enumerate(groups):
                    yield from self._group(group, rule, (*AT, name, index), fields)
            elif name not in self.reserved:
                yield unsupported_event(name, Scope.POINT, (*AT, name))

    def _group(
        self, group: dict[str, Any], rule: MuseRule, at: Path, fields: frozenset[str]
    ) -> Iterator[Hook | Finding]:
        if at in self.faulty:
            return
        matcher = read_matcher(group, rule, at)
        if isinstance(matcher, Finding):
            yield matcher
            return
        shared = Group(
            document=self.document,
            launch=self.launch,
            rule=rule,
            matcher=matcher,
            written=group.get("matcher"),
        )
        for index, handler in enumerate(group["hooks"]):
            here = (*at, "hooks", index)
            if here in self.faulty:
                continue
            skipped = why_skipped(handler, Spot(rule=rule, at=here, windows=self.launch.windows, fields=fields))
            if skipped is not None:
                yield skipped
                continue
            yield from notes(handler, here)
            place = f"{self.document.source.label}:{path_text(here[1:])}"
            yield build_hook(handler, shared, id=f"{self.id_prefix}{place}", at=here)
