"""Adapters: one for each kind of target. They call it, hold it to its limits, and say what came back."""

from hookline._core.ports import Adapter
from hookline._core.targets import CommandTarget, FunctionTarget, Target
from hookline._processes.watchdog import ShellWatchdog
from hookline.adapters.command import CommandAdapter
from hookline.adapters.function import FunctionAdapter

__all__ = ["builtin"]


def builtin() -> dict[type[Target], Adapter]:
    """New adapters for every kind of target that comes with hookline. Whoever takes them closes them."""
    return {
        FunctionTarget: FunctionAdapter(),
        CommandTarget: CommandAdapter(ShellWatchdog()),
    }
