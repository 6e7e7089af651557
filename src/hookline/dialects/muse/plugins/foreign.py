"""Packages that were written for Claude Code or for Codex: the manifest, and the hooks that come with it (section 21).

Hooks have the form of those in the settings, with fewer fields. Whatever else stands in a group or in a handler might
narrow when it runs, so it is a fault; other members of a manifest are nobody's business here, and pass.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hookline._core.package_files import PackageFiles
from hookline._core.strictjson import JsonFault, Path
from hookline.dialects._kinds import ANYTHING, ARRAY, BOOLEAN, NON_NEGATIVE_INTEGER, OBJECT, STRING, Kind, found
from hookline.dialects._places import key_of
from hookline.dialects.muse.build import LONGEST_TIMEOUT
from hookline.dialects.muse.document import Document, Finding, did_you_mean
from hookline.dialects.muse.group import LONGEST_SHOWN, read_matcher
from hookline.dialects.muse.handler import FOREIGN, TYPE
from hookline.dialects.muse.plugins.diagnostics import Code, Diagnostic, Severity, diagnostic
from hookline.dialects.muse.plugins.documents import document_in, not_json
from hookline.dialects.muse.plugins.foreign_counts import counts_in
from hookline.dialects.muse.plugins.manifest import (
    DEFAULT_MS,
    SHORTEST_MS,
    Family,
    HookCapability,
    Manifest,
    Read,
)
from hookline.dialects.muse.plugins.native import GRAMMAR, IDENTIFIER, NO_SUCH_FILE, NOT_SUPPORTED
from hookline.dialects.muse.plugins.paths import Unsafe, path_in_package
from hookline.dialects.muse.rules import BY_NAME, MuseRule
from hookline.dialects.muse.selector import compile_selector
from hookline.dialects.muse.shape import GROUP, GROUPS, HANDLER, HANDLERS, WRITE

DEFAULT_VERSION = "0.0.0"
HOOK_FILE = "hooks/hooks.json"  # where hooks are that no manifest names
SECOND = 1000  # milliseconds
ID_DIGITS = 16
TEXTS = ("name", "version", "description")

# Members of a manifest that stand for what is lost here: those that a native one may not have, and theirs alone.
LOST_TOO = ("lspServers", "monitors", "themes", "channels", "userConfig", "dependencies", "experimental")
LOST = frozenset({*NOT_SUPPORTED, *LOST_TOO})

# What may stand around an event map, in a group and in a handler, each with its kind.
AROUND: Mapping[str, Kind] = {"hooks": OBJECT, "description": STRING, "$schema": ANYTHING}
GROUP_FIELDS: Mapping[str, Kind] = {"matcher": STRING, "description": STRING, "hooks": ARRAY}
FIELDS: Mapping[str, Kind] = {
    "type": STRING,
    "command": STRING,
    "timeout": NON_NEGATIVE_INTEGER,
    "statusMessage": STRING,
    "async": BOOLEAN,
    "description": STRING,
    "silent": BOOLEAN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What differs between the families.

    `events` has Muse Code's name for each name that an event may have; those `passed_over` never happen here, and are
    no fault. `adds` says whether the hook file counts that no manifest names where a manifest names others.
    """

    events: Mapping[str, str]
    fields: Mapping[str, Kind]
    passed_over: frozenset[str] = frozenset()
    adds: bool = False


UNKNOWN_TO_CODEX = ("Notification", "PostToolUseFailure", "StopFailure", "PostToolBatch")

FORMS = {
    Family.CLAUDE: Form(
        events={**{name: name for name in BY_NAME}, "PreUserTurn": "UserPromptSubmit"},
        fields={**FIELDS, "if": STRING},
        passed_over=frozenset({"Setup"}),
        adds=True,
    ),
    Family.CODEX: Form(
        events={name: name for name in BY_NAME if name not in UNKNOWN_TO_CODEX},
        fields=FIELDS,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A place in a file of the package, and the form that holds there."""

    form: Form
    document: Document
    file: str
    at: Path = ()

    def below(self, *steps: str | int) -> "Spot":
        return replace(self, at=(*self.at, *steps))

    def key(self) -> "Spot":
        """The key of the member whose value stands here."""
        return replace(self, at=key_of(self.at))

    def fault(self, message: str, remedy: str, code: Code = Code.INVALID_SCHEMA) -> Diagnostic:
        return diagnostic(self.document, code, message, self.at, remedy=remedy)

    def warning(self, message: str, remedy: str, code: Code) -> Diagnostic:
        return diagnostic(self.document, code, message, self.at, remedy=remedy, severity=Severity.WARNING)


@dataclass(frozen=True, slots=True)
class Declared:
    """What should be a map from events to groups, and where it stands."""

    spot: Spot
    events: Any


def read_foreign(family: Family, document: Document, package: PackageFiles) -> Read:
    """The package that *document*, its manifest, describes. Raises PackageFault if a file of it changes."""
    spot = Spot(form=FORMS[family], document=document, file=family.manifest)
    value = document.value
    if not isinstance(value, dict):
        told = spot.fault(f"plugin manifest must be an object, found {found(value)}", WRITE.format(OBJECT.noun))
        return Read(diagnostics=(told,))
    faults = list(_manifest_faults(value, spot))
    hooks: list[HookCapability] = []
    for each in _hooks(value, spot, package):
        if isinstance(each, Diagnostic):
            faults.append(each)
        else:
            hooks.append(each)
    name = _text(value, "name")
    manifest = Manifest(
        family=family,
        id=name,
        version=_text(value, "version", DEFAULT_VERSION),
        description=_text(value, "description"),
        hooks=tuple(hooks),
        counts=counts_in(value, package, hooks=len(hooks)),
    )
    return Read(manifest=manifest, diagnostics=tuple(faults), label=name)


def _text(value: dict[str, Any], name: str, default: str = "") -> str:
    said = value.get(name)
    return said if isinstance(said, str) else default


def _manifest_faults(value: dict[str, Any], spot: Spot) -> Iterator[Diagnostic]:
    for name in TEXTS:
        there = name in value
        if (there and not isinstance(value[name], str)) or (name == "name" and not there):
            message = f"plugin manifest must declare string field `{name}`"
            yield (spot.below(name) if there else spot).fault(message, f'write "{name}": "..."')
    id_, version = value.get("name"), value.get("version")
    if isinstance(id_, str) and not IDENTIFIER.fullmatch(id_):
        yield spot.below("name").fault(f"plugin id `{_shown(id_)}` is invalid", GRAMMAR, Code.INVALID_ID)
    if isinstance(version, str) and not version.strip():
        remedy = 'write "1.0.0", say, or remove it'
        yield spot.below("version").fault("plugin version must not be blank", remedy, Code.INVALID_VERSION)
    for name in value:
        if name in LOST:
            message = f"plugin capability `{name}` is not supported"
            yield spot.below(name).key().warning(message, "nothing comes of it", Code.UNSUPPORTED_CAPABILITY)


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _hooks(value: dict[str, Any], spot: Spot, package: PackageFiles) -> Iterator[Diagnostic | HookCapability]:
    """The hooks of the package, each id once, and all that is wrong with them."""
    ids: set[str] = set()
    for declared in _declared(value, spot, package):
        if isinstance(declared, Diagnostic):
            yield declared
            continue
        for each in _of_events(declared.events, declared.spot):
            if isinstance(each, HookCapability) and each.id in ids:
                message = f"duplicate hook capability id `{each.id}`"
                remedy = "remove it: the same handler stands before it, and runs once"
                yield replace(declared.spot, at=each.at).warning(message, remedy, Code.DUPLICATE_CAPABILITY_ID)
                continue
            if isinstance(each, HookCapability):
                ids.add(each.id)
            yield each


def _declared(value: dict[str, Any], spot: Spot, package: PackageFiles) -> Iterator[Diagnostic | Declared]:
    """Each event map of the package: those in the manifest or named there, then the one that nobody has to name."""
    files: set[str] = set()
    for entry, here in _entries(value, spot):
        if isinstance(entry, str):
            path = _file_named(entry, here, package)
            if isinstance(path, Diagnostic):
                yield path
            elif path not in files:
                files.add(path)
                yield from _in_file(path, spot, package)
        elif not isinstance(entry, dict):
            message = (
                f"plugin manifest field `hooks` must be an object, a path or an array of these, found {found(entry)}"
            )
            yield here.fault(message, f'write "./{HOOK_FILE}"')
        elif "hooks" in entry:
            yield from _in_object(entry, here)
        else:
            yield Declared(here, entry)
    if (spot.form.adds or "hooks" not in value) and HOOK_FILE not in files and package.has(HOOK_FILE):
        yield from _in_file(HOOK_FILE, spot, package)


def _entries(value: dict[str, Any], spot: Spot) -> Iterator[tuple[Any, Spot]]:
    here, member = spot.below("hooks"), value.get("hooks", [])
    if isinstance(member, list):
        yield from ((entry, here.below(index)) for index, entry in enumerate(member))
    else:
        yield member, here


def _file_named(word: str, spot: Spot, package: PackageFiles) -> str | Diagnostic:
    try:
        path = path_in_package(word)
    except Unsafe:
        message = "plugin capability path must stay inside plugin root"
        remedy = "write a path below the package's folder, without .."
        return spot.fault(message, remedy, Code.UNSAFE_PATH)
    if package.has(path):
        return path
    why = "Is a directory (os error 21)" if package.has_folder(path) else NO_SUCH_FILE
    remedy = f"put the file at {_shown(path)}, or mend the path"
    return spot.fault(f"plugin file is not readable: {why}", remedy, Code.MISSING_PATH)


def _in_file(path: str, spot: Spot, package: PackageFiles) -> Iterator[Diagnostic | Declared]:
    try:
        document = document_in(package, path)
    except JsonFault as fault:
        yield not_json(str(package.root / path), fault, "hook file")
        return
    yield from _in_object(document.value, Spot(form=spot.form, document=document, file=path))


def _in_object(value: Any, spot: Spot) -> Iterator[Diagnostic | Declared]:
    """The event map that an object, a hook file or one like it in the manifest, has as its member `hooks`."""
    if not isinstance(value, dict):
        yield spot.fault(f"hook file must be an object, found {found(value)}", 'write {"hooks": {...}}')
        return
    if "hooks" not in value:
        yield spot.fault("hook file must declare `hooks`", 'write {"hooks": {...}}, with the events in it')
    for name, said in value.items():
        here = spot.below(name)
        if name not in AROUND:
            message = f"foreign hook file field `{_shown(name)}` is not supported"
            remedy = f"remove it, or mend its name{did_you_mean(name, AROUND)}"
            if name in spot.form.events:
                remedy = "put it inside `hooks`: nothing runs from where it stands"
            yield here.key().warning(message, remedy, Code.UNSUPPORTED_FIELD)
        elif name == "hooks":
            yield Declared(here, said)
        elif not AROUND[name].accepts(said):
            yield _of_another_kind("file", name, AROUND[name], said, here)


def _of_another_kind(what: str, name: str, kind: Kind, said: Any, spot: Spot) -> Diagnostic:
    message = f"foreign hook {what} field `{name}` must be {kind.noun}, found {found(said)}"
    return spot.fault(message, WRITE.format(kind.noun))


def _of_events(events: Any, spot: Spot) -> Iterator[Diagnostic | HookCapability]:
    """What stands under an event that there is not is nobody's, and not looked at."""
    if not isinstance(events, dict):
        yield spot.fault("hooks must be an object", WRITE.format(OBJECT.noun))
        return
    for name, groups in events.items():
        here = spot.below(name)
        known = spot.form.events.get(name)
        if known is None:
            yield _unsupported_event(name, here)
        elif not isinstance(groups, list):
            yield here.fault(f"hook event `{name}` must be an array", GROUPS)
        else:
            for index, group in enumerate(groups):
                yield from _of_group(group, BY_NAME[known], here.below(index))


def _unsupported_event(name: str, spot: Spot) -> Diagnostic:
    message, events = f"foreign hook event `{_shown(name)}` is unsupported", spot.form.events
    if name in spot.form.passed_over:
        remedy = "nothing: it never happens here, so its hooks are left out"
        return spot.key().warning(message, remedy, Code.UNSUPPORTED_EVENT)
    known = next((f' (did you mean "{each}"?)' for each in events if BY_NAME[events[each]].snake == name), "")
    remedy = f"write one of {', '.join(events)}{known or did_you_mean(name, events)}"
    return spot.key().fault(message, remedy, Code.UNSUPPORTED_EVENT)


def _of_group(group: Any, rule: MuseRule, spot: Spot) -> Iterator[Diagnostic | HookCapability]:
    """The handlers of a group. Of one that is faulty itself only the faults are told."""
    if not isinstance(group, dict):
        yield spot.fault(f"hook matcher group must be an object, found {found(group)}", GROUP)
        return
    faults = tuple(_group_faults(group, rule, spot))
    yield from faults
    handlers = group.get("hooks")
    for index, handler in enumerate(handlers if isinstance(handlers, list) else ()):
        for each in _of_handler(handler, group.get("matcher"), rule, spot.below("hooks", index)):
            if isinstance(each, Diagnostic) or not faults:
                yield each


def _group_faults(group: dict[str, Any], rule: MuseRule, spot: Spot) -> Iterator[Diagnostic]:
    if "hooks" not in group:
        yield spot.fault("hook matcher group must declare `hooks`", GROUP)
    for name, said in group.items():
        here, kind = spot.below(name), GROUP_FIELDS.get(name)
        if kind is None:
            message = f"foreign hook group field `{_shown(name)}` is unsupported"
            remedy = f"remove it, or mend its name{did_you_mean(name, GROUP_FIELDS)}"
            yield here.key().fault(message, remedy, Code.UNSUPPORTED_FIELD)
        elif name == "matcher":
            yield from _matcher_faults(said, rule, spot)
        elif not kind.accepts(said) and name == "hooks":
            yield here.fault(f"hook matcher group `hooks` must be an array, found {found(said)}", HANDLERS)
        elif not kind.accepts(said):
            yield _of_another_kind("group", name, kind, said, here)


def _matcher_faults(matcher: Any, rule: MuseRule, group: Spot) -> Iterator[Diagnostic]:
    if not isinstance(matcher, str):
        message = f"hook matcher must be a string, found {found(matcher)}"
        yield group.below("matcher").fault(message, WRITE.format(STRING.noun))
        return
    finding = read_matcher({"matcher": matcher}, rule, group.at)
    if isinstance(finding, Finding):
        yield replace(group, at=finding.at).fault(finding.message, finding.remedy)


def _of_handler(handler: Any, matcher: Any, rule: MuseRule, spot: Spot) -> Iterator[Diagnostic | HookCapability]:
    if not isinstance(handler, dict):
        yield spot.fault(f"hook handler must be an object, found {found(handler)}", HANDLER)
        return
    faults = [*_field_faults(handler, spot), *_type_faults(handler, spot), *_command_faults(handler, spot)]
    yield from faults
    if not faults:
        hook = _capability(handler, matcher, rule, spot)
        yield _inactive(hook, rule, spot) or hook


def _field_faults(handler: dict[str, Any], spot: Spot) -> Iterator[Diagnostic]:
    fields = spot.form.fields
    for name, said in handler.items():
        here, kind = spot.below(name), fields.get(name)
        if kind is None:
            message = f"foreign hook handler field `{_shown(name)}` is unsupported"
            remedy = f"remove it, or mend its name{did_you_mean(name, fields)}"
            remedy = FOREIGN[name].remedy if name in FOREIGN else remedy
            yield here.key().fault(message, remedy, Code.UNSUPPORTED_FIELD)
        elif name != "command" and not kind.accepts(said):
            yield _of_another_kind("handler", name, kind, said, here)


def _type_faults(handler: dict[str, Any], spot: Spot) -> Iterator[Diagnostic]:
    if "type" not in handler:
        yield spot.fault("foreign hook handler must declare a `type`", TYPE)
    elif isinstance(kind := handler["type"], str) and kind != "command":
        yield spot.below("type").fault(f"foreign hook handler type `{_shown(kind)}` is unsupported", TYPE)


def _command_faults(handler: dict[str, Any], spot: Spot) -> Iterator[Diagnostic]:
    here, remedy = spot.below("command"), 'write what the shell runs: "..."'
    command = handler.get("command")
    if "command" not in handler:
        if handler.get("type", "command") == "command":  # one of another type has none
            yield spot.fault("foreign hook must declare a command", remedy, Code.MISSING_COMMAND)
    elif not isinstance(command, str):
        yield here.fault("foreign hook command must be a string", remedy)
    elif not command.strip():
        yield here.fault("foreign hook command must not be blank", remedy, Code.MISSING_COMMAND)
    elif "\0" in command:
        yield here.fault("foreign hook command must not contain a NUL character", "remove it")


def _inactive(hook: HookCapability, rule: MuseRule, spot: Spot) -> Diagnostic | None:
    """That a hook is left out whose selector cannot be proven: it alone, as it may do less than was meant."""
    code = None if hook.condition is None else compile_selector(hook.condition, rule)
    if not isinstance(code, str):
        return None
    remedy = "write Bash, Bash(*) or Bash(<glob>), at an event about one call; else let the command decide"
    return spot.below("if").warning(
        f"conditional hook `{hook.id}` is inactive: {code}", remedy, Code.UNSUPPORTED_CAPABILITY
    )


def _capability(handler: dict[str, Any], matcher: str | None, rule: MuseRule, spot: Spot) -> HookCapability:
    """The hook that a faultless handler stands for."""
    timeout = handler["timeout"] * SECOND if "timeout" in handler else DEFAULT_MS
    return HookCapability(
        id=_id(handler, matcher, rule, spot),
        event=rule.name,
        file=spot.file,
        at=spot.at,
        line=handler["command"],
        timeout_ms=min(max(timeout, SHORTEST_MS), LONGEST_TIMEOUT * SECOND),
        label=handler.get("statusMessage", ""),
        background=handler.get("async", False),
        matcher=matcher,
        condition=handler.get("if"),
    )


def _id(handler: dict[str, Any], matcher: str | None, rule: MuseRule, spot: Spot) -> str:
    """An id that stays for as long as the hook says the same in the same file, wherever in there it stands."""
    told = {"source": spot.file, "event": rule.name, "matcher": matcher, "handler": handler}
    canonical = json.dumps(told, sort_keys=True, separators=(",", ":"))
    return f"hook-{hashlib.sha256(canonical.encode()).hexdigest()[:ID_DIGITS]}"
