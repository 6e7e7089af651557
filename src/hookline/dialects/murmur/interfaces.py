"""The lifecycle interfaces that are served, and what is wrong with a component that exports none of them."""

from collections.abc import Mapping

from hookline._core.components import Interface

REQUIRED = ("on-session-start", "on-inference", "on-tool-call", "on-shell", "on-compaction", "on-session-end")
OPTIONAL = ("on-task-start", "on-task-end", "on-stage")


def _lifecycle(version: str) -> Interface:
    return Interface(
        name=f"murmur:hook/lifecycle@{version}", required=frozenset(REQUIRED), optional=frozenset(OPTIONAL)
    )


VERSION = "0.8.0"  # the current one

CURRENT = _lifecycle(VERSION)
OLDER = _lifecycle("0.5.0")

INTERFACES = (CURRENT, OLDER)  # the preferred one first

NOT_EXPORTED = (
    "hook {name}@{version} does not export {current}; rebuild the hook against the current WIT (run `mur install` for "
    "a default artifact, or rebuild from source otherwise); {older} is served too, for older hooks"
)
MISSING = "hook {name}@{version} missing function {interface}#{function}"


def interface_of(exports: Mapping[str, frozenset[str]]) -> Interface | None:
    """The served interface that a component with these *exports* is called through."""
    return next((each for each in INTERFACES if each.name in exports), None)


def interface_problem(name: str, version: str, exports: Mapping[str, frozenset[str]]) -> str | None:
    """Why the component of this hook cannot be called, if it cannot. *exports* are its interfaces and their functions.

    Names only: that a signature is another one shows when it is called.
    """
    found = interface_of(exports)
    if found is None:
        return NOT_EXPORTED.format(name=name, version=version, current=CURRENT.name, older=OLDER.name)
    missing = next((each for each in REQUIRED if each not in exports[found.name]), None)
    if missing is None:
        return None
    return MISSING.format(name=name, version=version, interface=found.name, function=missing)
