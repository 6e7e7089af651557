"""Which interface of a component is served."""

from collections.abc import Iterable

from hookline._core.components import Interface
from hookline.adapters._component.broken import unusable
from hookline.adapters._component.exported import Inspected


def interface_of(inspected: Inspected, wanted: Iterable[Interface]) -> str:
    """The first interface of *wanted* that is exported, whole. Raises Broken where there is none."""
    interfaces = tuple(wanted)
    for interface in interfaces:
        if (functions := inspected.exports.get(interface.name)) is not None:
            if missing := sorted(interface.required - functions):
                raise unusable("missing function " + ", ".join(f"{interface.name}#{name}" for name in missing))
            return interface.name
    found = ", ".join(sorted(filter(None, inspected.exports))) or "no interface"
    raise unusable(f"it exports {found} instead of {' or '.join(each.name for each in interfaces)}")
