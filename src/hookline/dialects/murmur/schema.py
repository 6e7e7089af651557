"""Every key of a capsule's manifest: one row each, which the reader and the documentation share.

What holds where a key is not written is what the types in `_core.capsule` say.
"""

from collections.abc import Iterator, Mapping
from functools import cache

from hookline._core.capsule import (
    Acceptance,
    AfterTask,
    ArtifactKind,
    CallLimits,
    Context,
    Inference,
    Lifecycle,
    Transport,
)
from hookline.dialects.murmur import grants
from hookline.dialects.murmur.fields import REQUIRED, Field, Inert, TableKind, table
from hookline.dialects.murmur.kinds import (
    ANYTHING,
    BOOLEAN,
    CONFIG,
    NAME,
    PROGRAM,
    VERSION,
    Kind,
    ListKind,
    choice,
    line,
    list_of,
    number,
    prose,
    whole,
)

MOST = 2**63 - 1  # of what is counted
LONGEST_CALL = 86_400  # seconds: a day
GRANTS_ARE_INERT, READING_IS_INERT = "W-SEC-006", "W-SEC-016"

_LIMITS, _INFERENCE, _CONTEXT, _LIFECYCLE = CallLimits(), Inference(), Context(), Lifecycle()


def _deadline_fault(seconds: float) -> str:
    if seconds <= 0:
        return "must be greater than zero"
    return "" if seconds <= LONGEST_CALL else f"must be at most {LONGEST_CALL} but got {{}}"


def _share_fault(share: float) -> str:
    return "" if 0 <= share <= 1 else "must be in [0.0, 1.0] but got {}"


def _threshold_fault(share: float) -> str:
    return "" if 0 < share <= 1 else "must be in (0.0, 1.0] but got {}"


_DEADLINE = number(f"a number of seconds, more than 0 and {LONGEST_CALL} at most", "30", _deadline_fault)
_SHARE = number("a number from 0.0 to 1.0", "0.10", _share_fault)
_THRESHOLD = number("a number in (0.0, 1.0]", "0.98", _threshold_fault)


def _limit(sample: int) -> Kind:
    return whole(1, MOST, sample, too_low="must be greater than zero")


def _count(sample: int) -> Kind:
    return whole(1, MOST, sample, too_low="must be greater than 0")


_READ = Field(name="read", kind=BOOLEAN, default=REQUIRED, note="whether it may be read")
_CONVERSATION = table("`conversation`", _READ)
_NETWORK = table(
    "`network`",
    Field(
        name="allow",
        kind=grants.DESTINATIONS,
        default=(),
        code=grants.NETWORK,
        note="`https://host[:port]`: that scheme and port, 443 or 80 by default; `host:port`; `host`: all of it",
    ),
)
_SCOPE = Field(name="scope", kind=grants.FOLDER, code=grants.SCOPE, note="a folder of the workdir, made when missing")

_SHELL = table(
    "`shell`",
    Field(name="allow", kind=list_of(PROGRAM, "a list of names of programs"), default=(), note="found on PATH"),
)
_FILESYSTEM = table(
    "`filesystem`",
    _SCOPE,
    Field(
        name="read_only",
        kind=grants.FOLDERS,
        default=(),
        code=grants.SCOPE,
        note="paths that no tool may write to; asked before policy hooks are",
    ),
)
_CALL_LIMITS = table(
    "`limits`",
    Field(name="deadline_seconds", kind=_DEADLINE, default=_LIMITS.deadline, note="for one call of a hook"),
    Field(name="memory_bytes", kind=_limit(536_870_912), default=_LIMITS.memory_bytes, note="of one component"),
    Field(name="table_elements", kind=_limit(100_000), default=_LIMITS.table_elements, note="of one component"),
    Field(name="instances", kind=_limit(1000), default=_LIMITS.instances, note="of one component"),
)
_OF_HOOKS_ALONE = Inert(READING_IS_INERT, "only the entry of a hook, under `artifacts`, can grant it")
_CAPABILITIES = table(
    "the capsule's `capabilities`",
    Field(name="shell", kind=_SHELL, note="programs that the model may call"),
    Field(name="network", kind=_NETWORK, note="what the capsule may reach; no hook gains by it"),
    Field(name="filesystem", kind=_FILESYSTEM, note="where the capsule's tools work"),
    Field(name="limits", kind=_CALL_LIMITS, note="bounds of one call of a component"),
    Field(name="conversation", kind=_CONVERSATION, note="has no effect here", inert=_OF_HOOKS_ALONE),
)

_INERT_ON_HOOKS = Inert(GRANTS_ARE_INERT, "no artifact is granted or bounded by it")
_GRANT = table(
    "an artifact's `capabilities`",
    Field(name="network", kind=_NETWORK, note="what a hook may reach over HTTP"),
    Field(name="filesystem", kind=table("`filesystem`", _SCOPE), note="the folder that a hook sees as its own"),
    Field(
        name="state",
        kind=table(
            "`state`",
            Field(
                name="store",
                kind=grants.SEGMENT,
                code=grants.STORE,
                note="the name of a folder that outlives the session; default: the capsule's name",
            ),
        ),
        note="a durable folder, which a hook sees as `state`",
    ),
    Field(name="task_io", kind=table("`task_io`", _READ), note="the task's text and result; of hooks only"),
    Field(name="conversation", kind=_CONVERSATION, note="what was said; of hooks only"),
    *(
        Field(name=name, kind=ANYTHING, note="has no effect here", inert=_INERT_ON_HOOKS)
        for name in ("shell", "spawn", "env", "limits", "resources", "containment")
    ),
)

_KINDS = {kind.value: kind for kind in ArtifactKind}
_ARTIFACT = table(
    "an artifact",
    Field(name="name", kind=NAME, default=REQUIRED, note="of its package"),
    Field(name="version", kind=VERSION, default=REQUIRED, note="of its package, exactly"),
    Field(name="runtime", kind=choice(_KINDS), default=ArtifactKind.TOOL, note="what it is to the capsule"),
    Field(name="capabilities", kind=_GRANT, note="what a hook may reach: nothing but this"),
    Field(name="config", kind=CONFIG, default="", code="E-CAP-010", note="its `MURMUR_ARTIFACT_CONFIG`, as JSON"),
    Field(
        name="on_overflow", kind=line("drop"), default="drop", note="`drop` or `block`: a full queue of an async hook"
    ),
)

_COMPACTION = table(
    "`compaction`",
    Field(name="threshold", kind=_THRESHOLD, default=_INFERENCE.compaction_threshold, note="how full the window is"),
    Field(name="model", kind=line("my-model"), note="for the hook that compacts"),
    Field(name="system_prompt", kind=prose("Summarise."), note="for the hook that compacts; not with the next"),
    Field(
        name="system_prompt_file", kind=line("prompt.md"), note="the same in a file, found from the manifest's folder"
    ),
    Field(
        name="dump_summaries",
        kind=BOOLEAN,
        default=_INFERENCE.dumps_summaries,
        note="keeps `out/compaction-summaries.jsonl`",
    ),
)
_DRIVER = table(
    "`driver`",
    Field(name="artifact", kind=line("my-driver"), default=REQUIRED, note="without it hooks cannot ask the model"),
)
_TRANSPORTS = {each.value: each for each in Transport}
_INFERENCE_TABLE = table(
    "`inference`",
    Field(name="transport", kind=choice(_TRANSPORTS), default=_INFERENCE.transport, note="how the model is reached"),
    Field(name="model", kind=line("my-model"), default=_INFERENCE.model, note="its name"),
    Field(name="driver", kind=_DRIVER, note="what speaks to the model's provider"),
    Field(name="max_turns", kind=_count(10), default=_INFERENCE.max_turns, note="of a task, all its attempts together"),
    Field(name="max_tokens", kind=_count(8192), note="of one answer"),
    Field(name="compaction", kind=_COMPACTION, note="when and how the conversation is shortened"),
)

_CONTEXT_TABLE = table(
    "`context`",
    Field(name="max_tokens", kind=_count(200_000), note="the window; without it nothing is compacted or seeded"),
    Field(name="seed_budget", kind=_SHARE, default=_CONTEXT.seed_budget, note="the share of it that a seed may have"),
    Field(
        name="seed_overflow_margin",
        kind=_SHARE,
        default=_CONTEXT.seed_overflow_margin,
        note="what is trimmed, not summed up",
    ),
    Field(
        name="record",
        kind=choice({"on": True, "off": False}),
        default=_CONTEXT.record,
        note="whether what is said is kept",
    ),
    Field(name="record_store", kind=grants.SEGMENT, note="the name of its folder; default: the capsule's name"),
)

_LATER = Inert("LaterRevision", "it is of a later revision of Murmur; commands run in the foreground here")
_LIFECYCLE_TABLE = table(
    "`lifecycle`",
    Field(
        name="task_acceptance",
        kind=choice({each.value: each for each in Acceptance}),
        default=_LIFECYCLE.acceptance,
        note="which tasks are taken",
    ),
    Field(
        name="after_task",
        kind=choice({each.value: each for each in AfterTask}),
        default=_LIFECYCLE.after_task,
        note="`sleep` waits for the next where they are queued",
    ),
    Field(name="queue_depth", kind=_count(1), default=_LIFECYCLE.queue_depth, note="tasks that may wait"),
    Field(
        name="conversation",
        kind=choice({"stateless": False, "threaded": True}),
        default=_LIFECYCLE.threaded,
        note="whether a task reads what was said before it",
    ),
    Field(name="max_task_reopens", kind=whole(0, MOST, 1), default=_LIFECYCLE.max_reopens, note="of one task; 0: none"),
    Field(name="shell_grace_secs", kind=whole(0, MOST, 10), note="has no effect here", inert=_LATER),
)

_SCORERS = {name: name for name in ("exit_ok", "max_turns", "max_tokens", "tool_sequence", "llm_judge")}
_SCORER = table(
    "a scorer",
    Field(name="type", kind=choice(_SCORERS), default=REQUIRED, note="what it scores"),
    Field(name="name", kind=line("short"), default=REQUIRED, note="what its score is called"),
    Field(name="max", kind=whole(0, MOST, 10), note="of `max_turns` and `max_tokens`"),
    Field(name="expected", kind=list_of(line("bash"), "a list of names of tools"), note="of `tool_sequence`"),
)
_EVAL = table(
    "`eval`",
    Field(name="dataset_id", kind=line("my-cases"), note="the set that the cases are of"),
    Field(
        name="scorers",
        kind=list_of(_SCORER, "a list of scorers"),
        default=REQUIRED,
        note="how a session is scored",
    ),
)
_OBSERVABILITY = table(
    "`observability`",
    Field(name="otel_endpoint", kind=grants.ENDPOINT, default="", note="hooks see it as `MURMUR_OTEL_ENDPOINT`"),
    Field(name="eval", kind=_EVAL, note="hooks see it as `MURMUR_EVAL_CONFIG`"),
)
_TRACE = table(
    "`trace`",
    Field(
        name="capture", kind=choice({"meta": False, "full": True}), default=False, note="`full`: results of tools too"
    ),
)

CAPSULE = table(
    "a capsule",
    Field(name="name", kind=NAME, default=REQUIRED, note="also of its stores, where they have no other"),
    Field(name="version", kind=VERSION, default=REQUIRED, note="as hooks and the trace have it"),
    Field(name="description", kind=prose("What it does."), default="", note="for people"),
    Field(name="artifacts", kind=list_of(_ARTIFACT, "a list of artifacts"), default=(), note="in the order of calling"),
    Field(name="capabilities", kind=_CAPABILITIES, note="what the capsule may do: nothing but this"),
    Field(name="inference", kind=_INFERENCE_TABLE, note="the model"),
    Field(name="context", kind=_CONTEXT_TABLE, note="the window and what is kept"),
    Field(name="lifecycle", kind=_LIFECYCLE_TABLE, note="which tasks are taken, and for how long"),
    Field(name="observability", kind=_OBSERVABILITY, note="what hooks that observe are told"),
    Field(name="trace", kind=_TRACE, note="what `trace.jsonl` holds"),
)


def rows(kind: TableKind = CAPSULE, path: str = "") -> Iterator[tuple[str, Field]]:
    """Every key of a manifest by its path, such as `artifacts[].name`, tables before what they hold."""
    for name, row in kind.fields.items():
        at = f"{path}.{name}".removeprefix(".")
        yield at, row
        match row.kind:
            case TableKind() as inner:
                yield from rows(inner, at)
            case ListKind(member=TableKind() as inner):
                yield from rows(inner, f"{at}[]")
            case _:
                pass


@cache
def homes() -> Mapping[str, tuple[str, ...]]:
    """The tables in which a key has an effect, by the key."""
    found: dict[str, tuple[str, ...]] = {}
    for path, row in rows():
        around, _, _ = path.rpartition(".")
        if row.inert is None:
            found[row.name] = (*found.get(row.name, ()), f"`{around}`" if around else "the top of the manifest")
    return found
