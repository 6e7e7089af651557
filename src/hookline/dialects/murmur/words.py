"""The words of a hook's contract, as its manifest spells them."""

from enum import Enum


class Binding(Enum):
    """When a hook is called. A hook without one is called at every event of a session, which staging is not."""

    ON_STAGE = "on-stage"
    ON_SESSION_START = "on-session-start"
    ON_TASK_START = "on-task-start"
    ON_INFERENCE = "on-inference"
    ON_TOOL_CALL = "on-tool-call"
    ON_SHELL = "on-shell"
    ON_COMPACTION = "on-compaction"
    ON_TASK_END = "on-task-end"
    ON_SESSION_END = "on-session-end"


class ExecutionMode(Enum):
    """Whether the agent waits for a hook."""

    BLOCKING = "blocking"
    ASYNC = "async"


class CommitPolicy(Enum):
    """Which of a hook's outputs takes effect."""

    NONE = "none"
    REPLACE_CONTEXT = "replace-context"
    WRITE_MANIFESTS = "write-manifests"
    REOPEN_TASK = "reopen-task"
    SEED_CONTEXT = "seed-context"
    DENY = "deny"
