"""Adapters: one for each kind of target. They call it, hold it to its limits, and say what came back.

Here is what an adapter of your own is made of; `hookline.new_engine(adapters={YourTarget: YourAdapter()})` uses it.
"""

from hookline._core.payload import CallFailed, Exited, Limits, Payload, Reply, Returned
from hookline._core.ports import Adapter
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget, FunctionTarget, Target
from hookline._processes.watchdog import ShellWatchdog
from hookline.adapters.command import CommandAdapter
from hookline.adapters.function import FunctionAdapter

__all__ = [
    "Adapter",
    "CallFailed",
    "CommandTarget",
    "Exited",
    "Failure",
    "FunctionTarget",
    "Limits",
    "Payload",
    "Reply",
    "Returned",
    "Target",
    "builtin",
]


def builtin() -> dict[type[Target], Adapter]:
    """New adapters for every kind of target that comes with hookline. Whoever takes them closes them."""
    return {
        FunctionTarget: FunctionAdapter(),
        CommandTarget: CommandAdapter(ShellWatchdog()),
    }
