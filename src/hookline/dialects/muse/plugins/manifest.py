"""What a package says of itself, whatever its family: the facts that everything else here reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any

from hookline._core.strictjson import Path
from hookline.dialects.muse.directories import MANIFEST
from hookline.dialects.muse.plugins.diagnostics import Diagnostic
from hookline.dialects.muse.rules import BY_NAME

MANIFEST_BYTES = 131_072

SHORTEST_MS = 1000  # milliseconds: a timeout below is raised to this
DEFAULT_MS = 600_000

RESERVED = frozenset({"loop", "muse-core", "tbh-reminders"})  # ids of plugins that come with Muse Code itself


class Family(Enum):
    """Whose form a package has. The value is how the store calls it."""

    MUSE = "muse"
    CLAUDE = "claude"
    CODEX = "codex"

    @property
    def folder(self) -> str:
        """The folder of the package that holds the manifest, which is how the family is told."""
        return f".{self.value}-plugin"

    @property
    def title(self) -> str:
        """As people are told of it."""
        return "native" if self is Family.MUSE else f"{self.value}-compatible"

    @property
    def manifest(self) -> str:
        return f"{self.folder}/{MANIFEST}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCapability:
    """One hook of a package.

    `command` is the argv of a native hook, in which the element `source_at` stands for the file `source` of the
    package (-1 and empty where none does). A hook of another family has a `line` for the shell in its place, and its
    group's `matcher` and its `if` as they are written. `timeout_ms` is in milliseconds, and as it will be. It is
    declared in `file` of the package, at the path `at`.
    """

    id: str
    event: str
    file: str
    at: Path
    command: tuple[str, ...] = ()
    line: str = ""
    timeout_ms: int = DEFAULT_MS
    label: str = ""
    background: bool = False
    compatibility_name: str = ""
    output_capabilities: tuple[str, ...] = ()
    source: str = ""
    source_at: int = -1
    matcher: str | None = None
    condition: str | None = None

    def definition(self) -> dict[str, Any]:
        """All that decides what the hook does: what is reviewed, and hashed."""
        told: dict[str, Any] = {
            "id": self.id,
            "event": self.event,
            "command": list(self.command) if self.command else self.line,
            "timeoutMs": self.timeout_ms,
            "async": self.background,
        }
        optional = (
            ("source", {"path": self.source, "argument": self.source_at} if self.source else None),
            ("statusMessage", self.label or None),
            ("compatibilityName", self.compatibility_name or None),
            ("outputCapabilities", list(self.output_capabilities) or None),
            ("matcher", self.matcher),
            ("if", self.condition),
        )
        return told | {name: value for name, value in optional if value is not None}

    def members(self) -> dict[str, Any]:
        """All of it that is not as it would be unsaid, as JSON, for `from_members`."""
        told = {each.name: (getattr(self, each.name), each.default) for each in fields(self)}
        return {name: value for name, (value, default) in told.items() if value != default}

    @classmethod
    def from_members(cls, members: Mapping[str, Any]) -> "HookCapability":
        """What `members` gave of a native hook. Raises ValueError for anything else.

        Every member has to be of its own kind, and none of a hook of another family may be there: what was not hashed
        for an approval must not come to count.
        """
        given: dict[str, Any] = dict(members)
        for name, value in members.items():
            if type(value) is not _MEMBERS.get(name):
                raise ValueError(f"no native hook has such a member: {name}")
            if type(value) is list:
                given[name] = tuple(value)
        if not members.keys() >= _REQUIRED:
            raise ValueError(f"every native hook has {', '.join(sorted(_REQUIRED))}")
        told = cls(**given)
        words = (*told.command, *told.output_capabilities)
        if not told.command or told.event not in BY_NAME or not all([type(each) is str for each in words]):  # noqa: C419
            raise ValueError("no native hook has such words")
        if told.source_at not in (range(len(told.command)) if told.source else (-1,)):
            raise ValueError("no word of its command is its source")
        return told


# The members of a native hook, each with the type that JSON gives it; of those in lists the rest is looked at.
_MEMBERS: Mapping[str, type] = {
    "id": str,
    "event": str,
    "file": str,
    "at": list,
    "command": list,
    "timeout_ms": int,
    "label": str,
    "background": bool,
    "compatibility_name": str,
    "output_capabilities": list,
    "source": str,
    "source_at": int,
}
_REQUIRED = frozenset({"id", "event", "file", "at", "command"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A package. `when` are the variables, with their values, that it asks for to be loaded at all.

    `counts` are how many capabilities of each kind it has, by the words of the report line.
    """

    family: Family
    id: str
    version: str
    description: str = ""
    display_name: str = ""
    when: Mapping[str, str] = field(default_factory=dict)
    hooks: tuple[HookCapability, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    def holds_under(self, env: Mapping[str, str]) -> bool:
        """Whether every variable that it asks for has its value."""
        return all(env.get(name) == value for name, value in self.when.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A package that was read: the manifest as far as it goes, None where it does not, and everything found in it.

    `label` is what to call a package that has no valid id: its id as it is written, or empty.
    """

    manifest: Manifest | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    label: str = ""

    @property
    def is_valid(self) -> bool:
        return self.manifest is not None and not any(each.is_error for each in self.diagnostics)
