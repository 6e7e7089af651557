"""What a dialect is made of, and what its loader brings back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookline._core.answer import Answer
from hookline._core.hooks import HeldBack, Hook, SessionSettings
from hookline._core.lanes import LanePolicy
from hookline._core.payload import CallFailed, Payload, Refused, Reply
from hookline._core.points import Event
from hookline._core.problems import Problem, Where
from hookline._core.rules import Rule, Strategy

if TYPE_CHECKING:  # whoever checks a file has no session, and records take longer to import than the file to read
    from hookline._core.ports import Stream
    from hookline._core.records import Record
    from hookline.dialects._plugins import PluginCommands

RUN_FLAG, YOLO_FLAG = "run-flag", "yolo-flag"  # how a command line trusts a folder
NOT_TRUSTED = "folder not trusted"  # why hooks are held back
TRUSTED_BY = frozenset({"", RUN_FLAG, YOLO_FLAG})


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDialect:
    """A dialect: its table of rules, and two pure functions. Implements `_core.ports.Dialect`.

    All its background hooks share one lane, bounded by `lane`.
    """

    name: str
    strategy: Strategy
    lane: LanePolicy
    rules: Mapping[type[Event], Rule] = field(repr=False)
    encode: Callable[[Event, Hook], Payload | Refused] = field(repr=False)
    decode: Callable[[Reply, Event, Hook], Answer | CallFailed] = field(repr=False)
    output_bytes: int = 16_384
    observers_after_deny: bool = True

    def rule(self, event: type[Event]) -> Rule | None:
        return self.rules.get(event)

    def lane_of(self, hook: Hook) -> tuple[str, LanePolicy]:
        return "", self.lane


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What a dialect found: hooks in configured order, everything wrong, and what will not run although it is right.

    `settings` is what the files say about the session, None where the dialect has no say. `trust` is how the project
    folder came to be trusted, empty when it is not or the dialect has no say. `in_vain` is to be
    told where no dialect has a hook in the end. `config` is the dialect's own form of it all, for its `override`.
    `place` says where a part of a hook stands, by the hook's id, where that is known. `conventions` are those of this
    file, where they are not the dialect's.
    """

    hooks: tuple[Hook, ...] = ()
    problems: tuple[Problem, ...] = ()
    held_back: tuple[HeldBack, ...] = ()
    settings: SessionSettings | None = None
    trust: str = ""
    in_vain: Problem | None = None
    config: object = None
    conventions: "Conventions | None" = None
    place: Callable[[str, "Part"], Where] | None = field(default=None, repr=False, compare=False)


class Part(Enum):
    """A part of a hook that something can be said about."""

    WHOLE = "whole"
    MATCHER = "matcher"
    COMMAND = "command"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conventions:
    """What the authors of a dialect's hooks have to know, for whoever checks what they wrote.

    `timeout_key` is where a hook's time limit is written. `blocks_by` is the exit status that denies, None where none
    does; `needs_reason`: only with text on standard error; `denies_with` are the members of an answer that deny too.
    `instead_of_variables` says what a command reads in the place of the variables that other tools set;
    `closed_environment`: there are none but those that it is given. `unit` is what the limit counts, where that is not
    what the dialect's files count. `has_fallbacks`: another hook can be named that is called when this one fails.
    """

    timeout_key: str
    unit: "Unit | None" = None
    has_fallbacks: bool = True
    blocks_by: int | None = None
    needs_reason: bool = False
    denies_with: frozenset[str] = frozenset()
    closed_environment: bool = False
    instead_of_variables: str = "the event is one JSON object on standard input"


@dataclass(frozen=True, slots=True)
class Unread:
    """A payload that is of a dialect's form, and wrong. `why` names the key, what was found, what to write."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustRecords:
    """A dialect's stored decisions about project folders.

    `file` is where they are kept, None where that is not known. `read` gives them by folder, and what is wrong with the
    file. `trust` records that a folder is trusted, and `forget` nothing about it any more; both raise ConfigError for a
    file that is damaged, and StateError for one that cannot be written.
    """

    file: Callable[[Mapping[str, str]], Path | None]
    read: Callable[[Mapping[str, str]], tuple[Mapping[str, str], Problem | None]]
    trust: Callable[[Mapping[str, str], Path], None]
    forget: Callable[[Mapping[str, str], Path], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PointSchema:
    """What crosses at one point of a dialect: the JSON Schema of the payload, and of the answers that can count.

    `point` is the dialect's name, `also` are others under which its documents have it. `events` are the names of our
    points that it is.
    """

    dialect: str
    point: str
    events: tuple[str, ...]
    payload: Mapping[str, Any] = field(repr=False)
    answer: Mapping[str, Any] = field(repr=False)
    also: tuple[str, ...] = ()


def deferred(module: str, name: str) -> Callable[..., Any]:
    """The function *name* of *module*, which is imported when it is first called: not every command needs it."""

    def call(*args: Any, **others: Any) -> Any:
        return getattr(import_module(module), name)(*args, **others)

    return call


class Unit(Enum):
    """What the number counts that a hook file gives for a timeout; the value is one of it in seconds."""

    SECONDS = 1.0
    MILLISECONDS = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How documents of one kind are told from others: `title` is what people call the kind.

    `marks` are the paths of keys that its documents have, in which `*` is any key or index; which of them no other kind
    has is for whoever compares to find. `apart` says why its hooks are rewritten neither from others nor to them.
    """

    title: str
    marks: frozenset[tuple[str, ...]]
    unit: Unit
    apart: str = ""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A condition as its author wrote it, for whoever can read it: until then it holds for everything."""

    text: str

    def __call__(self, event: Event) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What is not the same once a hook is written anew, and what to do. `left_out`: the hook is not there at all."""

    hook: str
    why: str
    left_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Hooks as the text of a file, and every difference. `count` is how many of them are in it.

    `note` is what a command from elsewhere has to know here: what it is given, and how it is understood.
    """

    text: str
    count: int
    losses: tuple[Loss, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """All of a dialect that the wiring needs: one line in `dialects/__init__.py` per package.

    `load` finds the dialect's files for a workspace: environment, workspace and how the folder is trusted, as the
    command line or a dialect before this one says. `load_file` reads one file, trusting it. `override` changes what was
    loaded for one session, by a text or an object. `programs` are names under which the program prints what the
    original prints and nothing else. `tool_aliases` are other names of built-in tools. `read_payload` makes an event of
    what a hook is told, None where it is not of this dialect's form. `files` are where the dialect looks for a
    workspace's hooks, whether there is anything or not. `examine` reads one of them as `load` would, raises nothing,
    and goes on where a session would not begin. `conventions` are for whoever checks what authors wrote. `trust` are
    the dialect's stored decisions about folders, which then hold for all dialects after it. `schemas` describes what
    crosses at each of its points; None where nothing crosses in a form of the dialect's own.

    `plugins` are the commands about the packages of hooks that the dialect installs, where it has such.

    `write` makes one file of hooks, also of other dialects': what such a one's failure does to the action is in its own
    `on_failure`, for nobody knows the rules of a dialect but itself. `untold` is what a file says, and no `Hook` can.
    """

    dialect: TableDialect
    load: Callable[[Mapping[str, str], Path, str], Loaded] | None = None
    load_file: Callable[[Path, Mapping[str, str]], Loaded] | None = None
    override: Callable[[Loaded, object, Mapping[str, str]], Loaded] | None = None
    report: Callable[[Loaded, str], list[str]] | None = None
    stream: "Callable[[], Stream] | None" = None
    notices: "Callable[[Record, str], list[str]] | None" = None
    programs: frozenset[str] = frozenset()
    tool_aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    read_payload: Callable[[Mapping[str, Any]], Event | Unread | None] | None = None
    files: Callable[[Mapping[str, str], Path], tuple[Path, ...]] | None = None
    examine: Callable[[Path, Mapping[str, str]], Loaded] | None = None
    conventions: Conventions | None = None
    trust: TrustRecords | None = None
    schemas: Callable[[], tuple[PointSchema, ...]] | None = None
    look: Look | None = None
    write: Callable[[Sequence[Hook]], Written] | None = None
    untold: Callable[[Path], tuple[Loss, ...]] | None = None
    plugins: "Callable[[], PluginCommands] | None" = None
