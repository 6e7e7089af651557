"""What a dialect that has plugins gives to the commands about them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hookline._core.hooks import Hook
from hookline._core.points import Event
from hookline._core.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a dialect's own command has to say: *lines* for standard output, *asides* for standard error.

    `value` is the same for `--json`. `failed`: what was asked about is not as it should be.
    """

    lines: tuple[str, ...] = ()
    asides: tuple[str, ...] = ()
    value: Any = None
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One hook to be tried with bytes of its author's: given as they are, in the folder `cwd`.

    `event` is what the hook is asked about; None where it would not be selected, and is not called.
    """

    hook: Hook
    body: bytes
    cwd: str
    event: Event | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginCommands:
    """A dialect's plugins, as commands about them. Each raises a CodedError where it cannot do what it is asked.

    `verb` is called with the name of what to do, the environment, the folder where one is, how that is trusted, and
    what the command line gave. `trial` makes one hook ready to be tried, by its name and the file of a fixture, and
    `tried` tells of the records that came of that.
    """

    verb: Callable[..., Told] = field(repr=False)
    trial: Callable[[Mapping[str, str], str, Path], Trial] = field(repr=False)
    tried: Callable[[Trial, Sequence[Record]], Told] = field(repr=False)
