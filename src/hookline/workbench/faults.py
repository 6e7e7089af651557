"""Faults that can stand in a hook's place, so that its author sees what the agent would have done without it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hookline._core.components import ComponentTarget
from hookline._core.errors import UsageError
from hookline._core.hooks import Hook
from hookline._core.targets import CommandTarget, Target

SHELL = "/bin/sh"
SOON = 0.5  # seconds after which a hook that hangs is given up: its own limit may be ten minutes
PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class Fault:
    """What runs in the hook's place: a line of the shell, which has the hook's own command as its arguments.

    `cuts_short`: it would take all the time that the hook has. `needs_command`: it runs the hook's own command.
    """

    line: str
    cuts_short: bool = False
    needs_command: bool = False


FAULTS: Mapping[str, Fault] = {
    "hang": Fault("exec sleep 1000", cuts_short=True),
    "crash": Fault("kill -SEGV $$"),
    "flood": Fault("while :; do printf '%01024d' 0; done"),
    "garbage": Fault(r"""printf '{"decision": \377\376'"""),
    "fork": Fault("sleep 1000 & sleep 1000 & exec sleep 1000", cuts_short=True),
    "ignore_term": Fault("trap '' TERM; while :; do sleep 1; done", cuts_short=True),
    "slow": Fault('sleep 1; exec "$@"', needs_command=True),
}


def faulty(hook: Hook, name: str) -> Hook:
    """*hook* with the fault called *name* in its place; its fallbacks are as they were.

    Raises UsageError for a fault that there is not, or that this hook cannot have.
    """
    fault = FAULTS.get(name)
    if fault is None:
        raise UsageError(f"there is no fault {name!r}; there are {', '.join(FAULTS)}")
    timeout = min(hook.timeout, SOON) if fault.cuts_short else hook.timeout
    return replace(hook, target=_target(hook, name, fault, timeout), timeout=timeout)


def _target(hook: Hook, name: str, fault: Fault, timeout: float) -> Target:
    own = hook.target
    if fault.needs_command and not isinstance(own, CommandTarget):
        raise UsageError(f"the fault {name!r} is for hooks that are commands, and {hook.id} is none")
    if isinstance(own, ComponentTarget):
        limits = replace(own.limits, deadline=timeout)
        return replace(own, program=(SHELL, "-c", fault.line), limits=limits)
    command = own if isinstance(own, CommandTarget) else CommandTarget(argv=(), env={"PATH": PATH})
    argv = (SHELL, "-c", fault.line, name, *command.argv)
    return replace(command, argv=argv, written=f"fault {name}")  # of its own kind: what it runs from stays what it was
