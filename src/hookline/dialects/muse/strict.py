"""The strict form of a managed file (section 10): one handler with `name` or `timeout_ms` asks it of the whole file.

Whoever administers a machine wants to know that all of a file is in force, so any breach rejects all of it. The one
exception is a handler for Windows only, which a file shared by a fleet may well have: elsewhere it is skipped.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hookline._core.problems import Scope
from hookline._core.strictjson import Path
from hookline.dialects._kinds import NON_NEGATIVE_INTEGER, STRING
from hookline.dialects._places import key_of
from hookline.dialects.muse.document import INVALID_MATCHER, Finding, malformed, unsupported_event
from hookline.dialects.muse.group import read_matcher
from hookline.dialects.muse.handler import WINDOWS_ONLY_RULE, Handler, Spot, why_skipped
from hookline.dialects.muse.rules import BY_NAME
from hookline.dialects.muse.shape import FIELDS, Fields
from hookline.dialects.muse.walking import links_in

SWITCHES = ("name", "timeout_ms")
STRICT_FIELDS: Fields = {**FIELDS, "name": STRING, "timeout_ms": NON_NEGATIVE_INTEGER}
ADMITTED = frozenset({"type", "name", "command", "commandWindows", "timeout_ms", "statusMessage", "async"})

SECOND = 1000  # milliseconds

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def is_strict(hooks: Any) -> bool:
    """Whether any handler, wherever it stands, carries one of the two keys."""
    return any(name in handler for handler, _ in links_in(hooks) for name in SWITCHES)


def breaches(hooks: dict[str, Any], at: Path, *, windows: bool) -> Iterator[Finding]:
    """Everything for which a well-typed strict file is rejected, in document order."""
    names: set[str] = set()
    for event, groups in hooks.items():
        rule = BY_NAME.get(event)
        if rule is None or not rule.strict_form:
            yield unsupported_event(event, Scope.FILE, (*at, event))
            continue
        for index, group in enumerate(groups):
            here = (*at, event, index)
            matcher = read_matcher(group, rule, here)
            if isinstance(matcher, Finding):
                yield _for_the_file(matcher)
            for number, handler in enumerate(group["hooks"]):
                spot = Spot(rule=rule, at=(*here, "hooks", number), windows=windows, fields=ADMITTED)
                yield from _handler_breaches(handler, spot, names)


def _for_the_file(finding: Finding) -> Finding:
    if finding.code == INVALID_MATCHER:
        return replace(finding, scope=Scope.FILE)
    return malformed(finding.message, finding.at, finding.remedy)


def _handler_breaches(handler: Handler, spot: Spot, names: set[str]) -> Iterator[Finding]:
    if any(name not in handler for name in SWITCHES):
        remedy = "give every handler of the file both, or none of them either"
        yield malformed("managed hook handler must declare `name` and `timeout_ms`", spot.at, remedy)
        return
    for key in (key for key in handler if key not in ADMITTED):
        message = f"managed hook handler field `{key}` is not admitted beside `name` and `timeout_ms`"
        yield malformed(message, key_of((*spot.at, key)), f"remove `{key}`")
    name, timeout = handler["name"], handler["timeout_ms"]
    if not _NAME.fullmatch(name):
        message = "managed hook handler field `name` must match [A-Za-z0-9][A-Za-z0-9._-]{0,79}"
        yield malformed(message, (*spot.at, "name"), "write letters, digits, dots and hyphens, up to 80")
    if name in names:
        message = f"managed hook handler name `{name}` is declared twice"
        yield malformed(message, (*spot.at, "name"), "write a name of its own")
    names.add(name)
    if timeout < SECOND or timeout % SECOND:
        message = f"managed hook handler field `timeout_ms` must be a whole number of seconds, found {timeout} ms"
        yield malformed(message, (*spot.at, "timeout_ms"), "write whole thousands, such as 5000")
    finding = why_skipped(handler, spot)
    if finding is not None and finding.rule != WINDOWS_ONLY_RULE:
        yield malformed(finding.message, finding.at, finding.remedy)
