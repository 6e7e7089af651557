"""What a component has, and asks for, by name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

WASI = "wasi:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """The functions of each interface that a component exports and imports. Functions of no interface stand under "".

    Of a component that was only inspected nothing has run.
    """

    exports: Mapping[str, frozenset[str]]
    imports: Mapping[str, frozenset[str]]

    @property
    def asks_for_wasi(self) -> bool:
        """Whether it may wait, or reach, outside of its own memory."""
        return any(name.startswith(WASI) for name in self.imports)

    def asks_for(self, names: Iterable[str]) -> bool:
        """Whether any of *names*, as in `GuestHost.imports`, is among its imports."""
        asked = {f"{interface}#{name}" for interface, functions in self.imports.items() for name in functions}
        return not asked.isdisjoint(names)
