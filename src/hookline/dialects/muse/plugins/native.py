"""The native manifest, `.muse-plugin/plugin.json`: a closed schema, and every fault of it in one go (section 20.1)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hookline._core.events.tool import ToolEvent
from hookline._core.package_files import PackageFiles
from hookline._core.strictjson import Path
from hookline.dialects._kinds import ARRAY, BOOLEAN, INTEGER, NON_NEGATIVE_INTEGER, OBJECT, STRING, STRINGS, Kind, found
from hookline.dialects._places import key_of
from hookline.dialects.muse.build import LONGEST_TIMEOUT
from hookline.dialects.muse.document import Document, did_you_mean
from hookline.dialects.muse.plugins.diagnostics import Code, Diagnostic, Severity, diagnostic
from hookline.dialects.muse.plugins.manifest import DEFAULT_MS, SHORTEST_MS, Family, HookCapability, Manifest, Read
from hookline.dialects.muse.plugins.paths import Unsafe, looks_like_path, path_in_package
from hookline.dialects.muse.rules import BY_NAME, TOOL_ALIASES

SCHEMA_VERSION = 1
IDENTIFIER = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
GRAMMAR = "write lower-case letters, digits, dots, underscores and hyphens, up to 80, the first a letter or a digit"
COMPATIBILITY_NAME = re.compile(r"[A-Za-z0-9_]{1,80}")
SKILLS = ["skills.v1"]
SKILL_EVENTS = " or ".join(rule.name for rule in BY_NAME.values() if rule.skills)
TOOL_EVENTS = tuple(name for name, rule in BY_NAME.items() if issubclass(rule.event, ToolEvent))
BUILT_IN = frozenset(TOOL_ALIASES).union(*TOOL_ALIASES.values())

# Every member of the manifest, with its kind.
TOP: dict[str, Kind | None] = {
    "schemaVersion": None,
    "name": STRING,
    "version": STRING,
    "description": STRING,
    "compat": OBJECT,
    "capabilities": OBJECT,
    "displayName": STRING,
    "when": OBJECT,
    "meta": None,
}

# The kinds of capabilities that there are, by the word of the report line.
CAPABILITIES = {
    "skills": "skills",
    "commands": "commands",
    "hooks": "hooks",
    "mcpServers": "mcp",
    "reminders": "reminders",
}
NOT_SUPPORTED = ("tools", "agents", "outputStyles", "settings", "apps", "developerPrompts")

# The eight fields of a hook.
FIELDS: dict[str, Kind] = {
    "id": STRING,
    "event": STRING,
    "command": STRINGS,
    "timeoutMs": NON_NEGATIVE_INTEGER,
    "statusMessage": STRING,
    "async": BOOLEAN,
    "compatibilityName": STRING,
    "outputCapabilities": ARRAY,
}


def read_native(document: Document, package: PackageFiles) -> Read:
    """The package that *document*, its manifest, describes."""
    return _Reader(document=document, package=package).read()


def counts_of(numbers: dict[str, int]) -> dict[str, int]:
    """A number for every kind of capability, in the order of the report line."""
    return {word: numbers.get(word, 0) for word in CAPABILITIES.values()}


@dataclass(slots=True, kw_only=True)
class _Reader:
    document: Document
    package: PackageFiles
    found: list[Diagnostic] = field(default_factory=list)

    def say(self, code: Code, message: str, *at: str | int, remedy: str = "", key: bool = False) -> None:
        path: Path = key_of(at) if key else at
        self.found.append(diagnostic(self.document, code, message, path, remedy=remedy))

    def warn(self, code: Code, message: str, *at: str | int, remedy: str = "") -> None:
        told = diagnostic(self.document, code, message, key_of(at), remedy=remedy, severity=Severity.WARNING)
        self.found.append(told)

    def read(self) -> Read:
        value = self.document.value
        if not isinstance(value, dict):
            self.say(Code.INVALID_SCHEMA, f"plugin manifest must be an object, found {found(value)}", remedy="write {}")
            return Read(diagnostics=tuple(self.found))
        self._unknown(value)
        if not (INTEGER.accepts(value.get("schemaVersion")) and value["schemaVersion"] == SCHEMA_VERSION):
            remedy = f'write "schemaVersion": {SCHEMA_VERSION}'
            self.say(
                Code.INVALID_SCHEMA, "plugin manifest must declare schemaVersion 1", "schemaVersion", remedy=remedy
            )
        name, version = self._text(value, "name"), self._text(value, "version")
        description, title = self._text(value, "description"), self._text(value, "displayName", required=False)
        self._check_texts(name, version, description)
        self._compat(value)
        when = self._when(value.get("when", {}))
        hooks, counts = self._capabilities(value)
        manifest = Manifest(
            family=Family.MUSE,
            id=name or "",
            version=version or "",
            description=description or "",
            display_name=title or "",
            when=when,
            hooks=tuple(hooks),
            counts=counts_of(counts),
        )
        return Read(manifest=manifest, diagnostics=tuple(self.found), label=name or "")

    def _unknown(self, value: dict[str, Any]) -> None:
        for name in value:
            if name not in TOP:
                hint = did_you_mean(name, TOP)
                message = f"plugin manifest field `{name}` is not supported"
                self.warn(Code.UNSUPPORTED_FIELD, message, name, remedy=f"remove it, or mend its name{hint}")

    def _text(self, value: dict[str, Any], name: str, *, required: bool = True) -> str | None:
        said = value.get(name)
        if isinstance(said, str):
            return said
        if name in value or required:
            at = (name,) if name in value else ()
            self.say(
                Code.INVALID_SCHEMA,
                f"plugin manifest must declare string field `{name}`",
                *at,
                remedy=f'write "{name}": "..."',
            )
        return None

    def _check_texts(self, name: str | None, version: str | None, description: str | None) -> None:
        if name is not None and not IDENTIFIER.fullmatch(name):
            self.say(Code.INVALID_ID, f"plugin id `{name[:200]}` is invalid", "name", remedy=GRAMMAR)
        if version is not None and not version.strip():
            self.say(Code.INVALID_VERSION, "plugin version must not be blank", "version", remedy='write "1.0.0", say')
        if description is not None and not description:
            message = "plugin manifest field `description` must not be empty"
            self.say(Code.INVALID_SCHEMA, message, "description", remedy="say what the plugin is for")

    def _compat(self, value: dict[str, Any]) -> None:
        folder = Family.MUSE.folder
        compat = value.get("compat")
        said = compat.get("manifestDir") if isinstance(compat, dict) else None
        remedy = f'write "compat": {{"manifestDir": "{folder}"}}'
        if not isinstance(said, str):
            at = ("compat",) if "compat" in value else ()
            self.say(Code.INVALID_SCHEMA, "plugin manifest must declare compat.manifestDir", *at, remedy=remedy)
        elif said != folder:
            message = f"compat.manifestDir is `{said}`, and the manifest stands in `{folder}`"
            self.say(Code.FAMILY_MISMATCH, message, "compat", "manifestDir", remedy=remedy)

    def _when(self, when: Any) -> dict[str, str]:
        env = when.get("env", {}) if isinstance(when, dict) else None
        if isinstance(env, dict) and when.keys() <= {"env"} and all(isinstance(each, str) for each in env.values()):
            return env
        message = "plugin manifest field `when` must be an object with `env`, an object of strings"
        self.say(Code.INVALID_SCHEMA, message, "when", remedy='write {"env": {"NAME": "value"}}')
        return {}

    def _capabilities(self, value: dict[str, Any]) -> tuple[list[HookCapability], dict[str, int]]:
        capabilities = value.get("capabilities")
        if not isinstance(capabilities, dict):
            at = ("capabilities",) if "capabilities" in value else ()
            message = "plugin manifest must declare capabilities"
            self.say(Code.INVALID_SCHEMA, message, *at, remedy='write "capabilities": {"hooks": [...]}')
            return [], {}
        counts: dict[str, int] = {}
        for name, entries in capabilities.items():
            if name in NOT_SUPPORTED:
                message = f"plugin capability `{name}` is not supported"
                self.warn(Code.UNSUPPORTED_CAPABILITY, message, "capabilities", name, remedy="nothing comes of it")
            elif name not in CAPABILITIES:
                hint = did_you_mean(name, CAPABILITIES)
                message = f"plugin capability field `{name}` is not supported"
                remedy = f"remove it, or mend its name{hint}"
                self.warn(Code.UNSUPPORTED_FIELD, message, "capabilities", name, remedy=remedy)
            elif isinstance(entries, list | dict):
                counts[CAPABILITIES[name]] = len(entries)
        hooks = capabilities.get("hooks", [])
        if not isinstance(hooks, list):
            message = f"capabilities.hooks must be an array, found {found(hooks)}"
            self.say(Code.INVALID_SCHEMA, message, "capabilities", "hooks", remedy="write [{...}]")
            return [], counts
        return list(self._hooks(hooks)), counts

    def _hooks(self, entries: list[Any]) -> Iterator[HookCapability]:
        ids: set[str] = set()
        names: dict[str, str] = {}
        sources: dict[str, str] = {}
        taken = {each["id"] for each in entries if isinstance(each, dict) and isinstance(each.get("id"), str)}
        for index, entry in enumerate(entries):
            at = ("capabilities", "hooks", index)
            if not isinstance(entry, dict):
                message = f"hook capability must be an object, found {found(entry)}"
                self.say(Code.INVALID_SCHEMA, message, *at, remedy="write {...}")
                continue
            hook = self._hook(entry, at)
            if hook is None:
                continue
            if hook.id in ids:
                message = f"duplicate hook capability id `{hook.id}`"
                self.say(Code.DUPLICATE_CAPABILITY_ID, message, *at, "id", remedy="write an id of its own")
            ids.add(hook.id)
            self._check_name(hook, taken, names, at)
            if hook.source and hook.source in sources:
                other = sources[hook.source]
                message = f"hook capability `{hook.id}` reuses source `{hook.source}` already used by `{other}`"
                remedy = "give each hook a file of its own, which may call a shared one"
                self.say(Code.DUPLICATE_SOURCE, message, *at, "command", hook.source_at, remedy=remedy)
            sources.setdefault(hook.source, hook.id)
            yield hook

    def _check_name(
        self, hook: HookCapability, ids: set[str], names: dict[str, str], at: tuple[str | int, ...]
    ) -> None:
        name = hook.compatibility_name
        if not name:
            return
        whose = f"hook capability `{hook.id}` compatibilityName"
        if hook.event not in TOOL_EVENTS:
            why = f"{whose} is supported only for {', '.join(TOOL_EVENTS)} hooks"
        elif not COMPATIBILITY_NAME.fullmatch(name):
            why = f"{whose} must be 1 to 80 ASCII letters, digits or underscores"
        elif name in BUILT_IN:
            why = f"{whose} `{name}` collides with a built-in tool matcher name"
        elif name in ids - {hook.id}:
            why = f"{whose} `{name}` collides with the id of a hook"
        elif name in names:
            why = f"{whose} `{name}` collides with that of `{names[name]}`"
        else:
            names[name] = hook.id
            return
        self.say(Code.INVALID_SCHEMA, why, *at, "compatibilityName", remedy="write the name of a tool of your own")

    def _hook(self, entry: dict[str, Any], at: tuple[str | int, ...]) -> HookCapability | None:
        before = len(self.found)
        self._check_fields(entry, at)
        id_ = entry.get("id")
        if not isinstance(id_, str) or not IDENTIFIER.fullmatch(id_):
            shown = f"`{str(id_)[:200]}` is invalid" if "id" in entry else "is missing"
            where = (*at, "id") if "id" in entry else at
            self.say(Code.INVALID_CAPABILITY_ID, f"hook capability id {shown}", *where, remedy=GRAMMAR)
            id_ = ""
        rule = BY_NAME.get(entry["event"]) if isinstance(entry.get("event"), str) else None
        if rule is None:
            self._bad_event(id_, entry, at)
        command = self._command(id_, entry, at)
        source, source_at = self._source(command, at)
        self._check_kinds(id_, entry, at)
        capabilities = entry.get("outputCapabilities", [])
        if "outputCapabilities" in entry and capabilities != SKILLS:
            message = f'hook capability `{id_}` outputCapabilities must be exactly ["skills.v1"]'
            self.say(
                Code.INVALID_SCHEMA, message, *at, "outputCapabilities", remedy='write ["skills.v1"], or remove it'
            )
        elif capabilities and rule is not None and (not rule.skills or entry.get("async") is True):
            message = f"hook capability `{id_}` skills.v1 is supported only for foreground {SKILL_EVENTS} command hooks"
            self.say(Code.INVALID_SCHEMA, message, *at, "outputCapabilities", remedy="remove it")
        if len(self.found) > before:
            return None
        return HookCapability(
            id=id_,
            event=entry["event"],
            file=Family.MUSE.manifest,
            at=at,
            command=command,
            timeout_ms=min(max(entry.get("timeoutMs", DEFAULT_MS), SHORTEST_MS), LONGEST_TIMEOUT * 1000),
            label=entry.get("statusMessage", ""),
            background=entry.get("async", False),
            compatibility_name=entry.get("compatibilityName", ""),
            output_capabilities=tuple(capabilities),
            source=source,
            source_at=source_at,
        )

    def _check_fields(self, entry: dict[str, Any], at: tuple[str | int, ...]) -> None:
        for name in entry:
            if name == "matcher":
                message = (
                    "hook capability field `matcher` is not supported: plugin hooks key on `event`, "
                    "and the program reads the rest from its input"
                )
                self.say(Code.UNSUPPORTED_FIELD, message, *at, name, remedy="remove it", key=True)
            elif name not in FIELDS:
                hint = did_you_mean(name, FIELDS)
                message = f"hook capability field `{name}` is not supported"
                self.say(
                    Code.UNSUPPORTED_FIELD, message, *at, name, remedy=f"remove it, or mend its name{hint}", key=True
                )

    def _bad_event(self, id_: str, entry: dict[str, Any], at: tuple[str | int, ...]) -> None:
        event = entry.get("event")
        where = (*at, "event") if "event" in entry else at
        if not isinstance(event, str):
            what = f", found {found(event)}" if "event" in entry else ""
            message = f"hook capability `{id_}` must declare string field `event`{what}"
            self.say(Code.INVALID_SCHEMA, message, *where, remedy="write the name of an event")
            return
        hint = next((f' (did you mean "{rule.name}"?)' for rule in BY_NAME.values() if rule.snake == event), "")
        remedy = f"write one of {', '.join(BY_NAME)}{hint or did_you_mean(event, BY_NAME)}"
        message = f"hook capability `{id_}` event `{event[:200]}` is unsupported"
        self.say(Code.UNSUPPORTED_EVENT, message, *where, remedy=remedy)

    def _command(self, id_: str, entry: dict[str, Any], at: tuple[str | int, ...]) -> tuple[str, ...]:
        command = entry.get("command")
        where = (*at, "command") if "command" in entry else at
        remedy = 'write the program and its arguments: ["./hooks/guard.sh"]'
        if "command" not in entry or command == [] or (isinstance(command, list) and command[0] == ""):
            message = f"hook capability `{id_}` must declare a non-empty command"
            self.say(Code.MISSING_COMMAND, message, *where, remedy=remedy)
            return ()
        if not STRINGS.accepts(command):
            message = f"hook capability `{id_}` must declare a command array"
            self.say(Code.INVALID_SCHEMA, message, *where, remedy=remedy)
            return ()
        assert isinstance(command, list)  # noqa: S101  # for the type checker: STRINGS accepts nothing else
        for index, each in enumerate(command):
            if "\0" in each:
                message = f"hook capability `{id_}` command must not contain a NUL character"
                self.say(Code.INVALID_SCHEMA, message, *where, index, remedy="remove it")
        return tuple(command)

    def _source(self, command: tuple[str, ...], at: tuple[str | int, ...]) -> tuple[str, int]:
        """The file of the package that is run, with its place in the argv; every other path has to be there as well."""
        source, source_at = "", -1
        for index, each in enumerate(command):
            if not looks_like_path(each, first=index == 0):
                continue
            try:
                path = path_in_package(each)
            except Unsafe:
                message = "plugin capability path must stay inside plugin root"
                remedy = "write a path below the package's folder, without .."
                self.say(Code.UNSAFE_PATH, message, *at, "command", index, remedy=remedy)
                continue
            first = source_at < 0
            if not (self.package.has(path) or (not first and self.package.has_folder(path))):
                why = "Is a directory (os error 21)" if self.package.has_folder(path) else NO_SUCH_FILE
                remedy = f"put the file at {path}, or mend the path"
                self.say(Code.MISSING_PATH, f"plugin file is not readable: {why}", *at, "command", index, remedy=remedy)
            elif first:
                source, source_at = path, index
        return source, source_at

    def _check_kinds(self, id_: str, entry: dict[str, Any], at: tuple[str | int, ...]) -> None:
        for name, kind in FIELDS.items():
            if name in ("id", "event", "command", "outputCapabilities") or name not in entry:
                continue  # those have texts of their own
            if not kind.accepts(entry[name]):
                message = f"hook capability `{id_}` field `{name}` must be {kind.noun}, found {found(entry[name])}"
                self.say(Code.INVALID_SCHEMA, message, *at, name, remedy=f"write {kind.noun}")


NO_SUCH_FILE = "No such file or directory (os error 2)"
