"""An entry becomes a hook of the engine."""

from collections.abc import Iterable, Mapping

from hookline._core.answer import Word
from hookline._core.credentials import without_credentials
from hookline._core.decisions import Deny
from hookline._core.hooks import Hook, Source
from hookline._core.targets import CommandTarget, HttpTarget, NamedTarget, Target
from hookline.dialects.meerkat.entries import Command, Entry, HooksConfig, Http, InProcess
from hookline.dialects.meerkat.faults import PREFIX
from hookline.dialects.meerkat.rules import BY_EVENT, EVENTS_OF
from hookline.dialects.meerkat.words import DIALECT, Capability, HookPoint, Mode, ToolDenial

OF_TOOLS = frozenset({HookPoint.PRE_TOOL_EXECUTION, HookPoint.POST_TOOL_EXECUTION})


def hooks_of(config: HooksConfig, entries: Iterable[Entry], env: Mapping[str, str]) -> tuple[Hook, ...]:
    """The enabled ones of *entries*, in the order of registration, under the limits of *config*.

    *env* is what the environments of commands are taken from.
    """
    return tuple(_hook(entry, config, env) for entry in entries if entry.enabled)


def _hook(entry: Entry, config: HooksConfig, env: Mapping[str, str]) -> Hook:
    event, *also = EVENTS_OF[entry.point]
    where, declared = entry.where, entry.source
    timeout_ms = config.default_timeout_ms if entry.timeout_ms is None else entry.timeout_ms
    fails = config.tool_denial is ToolDenial.FAIL_RUN and entry.point in OF_TOOLS
    return Hook(
        id=PREFIX + entry.id,
        key=entry.id,
        event=event,
        also=tuple(also),
        target=_target(entry, env),
        dialect=DIALECT,
        source=Source(
            layer=declared.layer, label=declared.label, path=declared.path, line=where.line, column=where.column
        ),
        commits=_commits(entry),
        timeout=timeout_ms / 1000,
        background=entry.mode is Mode.BACKGROUND,
        priority=entry.priority,
        output_bytes=config.payload_max_bytes,
        pool=config.concurrency,
        deny_fails=True if fails else None,
        label=entry.id,
    )


def _commits(entry: Entry) -> frozenset[Word]:
    """A guardrail may deny, where anything can be denied."""
    admitted = (BY_EVENT[event].admits for event in EVENTS_OF[entry.point])
    denies = entry.capability is Capability.GUARDRAIL and all(Deny in words for words in admitted)
    return frozenset({Deny}) if denies else frozenset()


def _target(entry: Entry, env: Mapping[str, str]) -> Target:
    match entry.runtime:
        case InProcess(handler):
            return NamedTarget(handler)
        case Command(command, args, own, inherit_env):
            inherited = without_credentials(env) if inherit_env else {}
            return CommandTarget(argv=(command, *args), env={**inherited, **dict(own)}, written=command)
        case Http(url, method, headers):
            return HttpTarget(url, method, headers)
