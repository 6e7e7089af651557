"""A faultless handler becomes a hook (sections 4.2, 9, 15.1, 17.2)."""

import hashlib
import json
from dataclasses import dataclass, replace

from hookline._core.answer import Word
from hookline._core.hooks import Condition, Hook
from hookline._core.matchers import Matcher
from hookline._core.strictjson import Path
from hookline._core.targets import CommandTarget
from hookline.dialects.muse.document import Document
from hookline.dialects.muse.environment import Launch
from hookline.dialects.muse.handler import Handler, command_of
from hookline.dialects.muse.rules import MuseRule
from hookline.dialects.muse.selector import compile_selector

DIALECT = "muse"
DEFAULT_TIMEOUT = 600  # seconds
LONGEST_TIMEOUT = 2**31 - 1  # seconds, 68 years; a larger number means the same and fits no timer

NOTHING: frozenset[Word] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What the handlers of one group have in common. `written` is the group's matcher as it stands in the file."""

    document: Document
    launch: Launch
    rule: MuseRule
    matcher: Matcher
    written: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One handler of a chain: `depth` fallbacks deep, under the id and the key of the chain's first."""

    handler: Handler
    id: str
    key: str
    at: Path
    background: bool
    depth: int = 0

    @property
    def own_key(self) -> str:
        return f"{self.key}#onFailure[{self.depth - 1}]" if self.depth else self.key

    def fallback(self) -> "Link | None":
        if "onFailure" not in self.handler:
            return None
        at, handler = (*self.at, "onFailure"), self.handler["onFailure"]
        return replace(self, handler=handler, id=f"{self.id}.onFailure", at=at, depth=self.depth + 1)


def build_hook(handler: Handler, group: Group, *, id: str, at: Path) -> Hook:
    """The hook for *handler*, with its fallbacks behind it."""
    key, background = definition_key(handler, group), bool(handler.get("async", False))
    hook = _build(Link(handler=handler, id=id, key=key, at=at, background=background), group)
    return replace(hook, condition=_condition(handler, group.rule))


def definition_key(handler: Handler, group: Group) -> str:
    """The identity of a definition: where it is declared, and what it says. Two equal handlers share it."""
    definition = {"event": group.rule.name, "matcher": group.written, "handler": handler}
    canonical = json.dumps(definition, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return f"{group.document.source.path}:{group.rule.snake}:def-{digest[:16]}"


def timeout_of(handler: Handler) -> float:
    """Seconds. Only the strict form of a managed file counts in milliseconds."""
    seconds: int = handler["timeout_ms"] // 1000 if "timeout_ms" in handler else handler.get("timeout", DEFAULT_TIMEOUT)
    return float(min(max(seconds, 1), LONGEST_TIMEOUT))


def _condition(handler: Handler, rule: MuseRule) -> Condition | None:
    condition = compile_selector(handler["if"], rule) if "if" in handler else None
    return None if isinstance(condition, str) else condition


def _build(link: Link, group: Group) -> Hook:
    handler, launch, fallback = link.handler, group.launch, link.fallback()
    command = command_of(handler, windows=launch.windows) or ""
    return Hook(
        id=link.id,
        key=link.own_key,
        event=group.rule.event,
        target=CommandTarget(argv=launch.argv(command), env=launch.env, written=command),
        dialect=DIALECT,
        source=replace(group.document.source, line=group.document.line(link.at)),
        matcher=group.matcher,
        commits=NOTHING if link.background else group.rule.admits,
        timeout=timeout_of(handler),
        background=link.background,
        fallback=None if fallback is None else _build(fallback, group),
        label=handler.get("statusMessage", ""),
        facts=_facts(handler, launch),
    )


def _facts(handler: Handler, launch: Launch) -> object:
    if launch.skills is None or not handler.get("outputCapabilities"):
        return None
    from hookline.dialects.muse.origins import HookFacts

    return HookFacts(skills=launch.skills)
