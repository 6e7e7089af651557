"""A matcher group: its keys, and the matcher that it puts before its hooks (sections 5.1, 7)."""

from dataclasses import dataclass
from typing import Any

from hookline._core.events.tool import ToolEvent
from hookline._core.matchers import EVERYTHING, Matcher, exact_names
from hookline._core.problems import Scope
from hookline._core.strictjson import Path
from hookline.dialects._pattern import compile_matcher
from hookline.dialects._places import key_of
from hookline.dialects.muse.document import INVALID_MATCHER, UNSUPPORTED_HANDLER, Finding
from hookline.dialects.muse.rules import TOOL_ALIASES, Matching, MuseRule

LONGEST_SHOWN = 200  # characters of a matcher, so that what is wrong with it still fits on a line

GROUP_KEYS = frozenset({"matcher", "hooks"})


def read_matcher(group: dict[str, Any], rule: MuseRule, at: Path) -> Matcher | Finding:
    """The matcher that a well-typed *group* puts before its hooks, or why the group is skipped."""
    for name in group:
        if name not in GROUP_KEYS:
            return Finding(
                scope=Scope.GROUP,
                code=UNSUPPORTED_HANDLER,
                message=f"unknown matcher-group field `{name}` may narrow execution, so this group is skipped",
                at=key_of((*at, name)),
                rule="D66",
                remedy="remove it: a group has `matcher` and `hooks`",
            )
    written = group.get("matcher", "")
    matcher = compile_matcher(written)
    if rule.matching is Matching.NOTHING and matcher != EVERYTHING:
        return _invalid(f"`{rule.snake}` is unmatchable; drop this group's matcher", at, "remove `matcher`")
    if isinstance(matcher, str):
        shown = written if len(written) <= LONGEST_SHOWN else f"{written[:LONGEST_SHOWN]}…"
        return _invalid(f"hook matcher `{shown}` is not a valid regular expression: {matcher}", at, MATCHERS)
    if rule.matching is Matching.IGNORED or matcher is EVERYTHING:
        return EVERYTHING
    return ToolMatcher(matcher) if issubclass(rule.event, ToolEvent) else matcher


@dataclass(frozen=True, slots=True)
class ToolMatcher:
    """Tests the further names of a built-in tool too (section 7.3), whoever fired the event."""

    matcher: Matcher

    def __str__(self) -> str:
        return str(self.matcher)

    @property
    def names(self) -> frozenset[str] | None:
        """As `exact_names` asks for them."""
        return exact_names(self.matcher)

    def matches(self, subjects: tuple[str, ...]) -> bool:
        return self.matcher.matches(subjects + tuple(name for each in subjects for name in TOOL_ALIASES.get(each, ())))


MATCHERS = "write exact names, as in Bash|Write, or a regular expression of RE2, as in ^mcp__"


def _invalid(message: str, at: Path, remedy: str) -> Finding:
    return Finding(scope=Scope.GROUP, code=INVALID_MATCHER, message=message, at=(*at, "matcher"), remedy=remedy)
