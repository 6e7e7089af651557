"""Adapters: one for each kind of target. They call it, hold it to its limits, and say what came back.

Here is what an adapter of your own is made of; `hookline.new_engine(adapters={YourTarget: YourAdapter()})` uses it.
"""

from pathlib import Path

from hookline._core.components import ComponentTarget
from hookline._core.handlers import Handlers, Registered, Revised
from hookline._core.packages import Packaged, PackagedTarget
from hookline._core.payload import CallFailed, Exited, Limits, Payload, Reply, Responded, Returned
from hookline._core.ports import Adapter
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget, FunctionTarget, HttpTarget, NamedTarget, Target
from hookline._processes.watchdog import ShellWatchdog
from hookline.adapters.command import CommandAdapter
from hookline.adapters.component import ComponentAdapter
from hookline.adapters.function import FunctionAdapter, NamedAdapter
from hookline.adapters.http import HttpAdapter
from hookline.adapters.packaged import PackagedAdapter

__all__ = [
    "Adapter",
    "CallFailed",
    "CommandTarget",
    "ComponentTarget",
    "Exited",
    "Failure",
    "FunctionTarget",
    "Handlers",
    "HttpTarget",
    "Limits",
    "NamedTarget",
    "Packaged",
    "PackagedTarget",
    "Payload",
    "Registered",
    "Reply",
    "Responded",
    "Returned",
    "Revised",
    "Target",
    "builtin",
]


def builtin(handlers: Handlers | None = None, *, compiled: Path | None = None) -> dict[type[Target], Adapter]:
    """New adapters for every kind of target that comes with hookline. Whoever takes them closes them.

    *handlers* are those that targets may name. *compiled* is a folder, ours alone, that keeps compiled components.
    """
    commands = CommandAdapter(ShellWatchdog())
    return {
        FunctionTarget: FunctionAdapter(),
        NamedTarget: NamedAdapter(handlers or Handlers()),
        CommandTarget: commands,
        PackagedTarget: PackagedAdapter(commands),
        HttpTarget: HttpAdapter(),
        ComponentTarget: ComponentAdapter(ShellWatchdog(), cache=compiled),
    }
