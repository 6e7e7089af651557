"""Lifecycle hooks for AI agents: three dialects, one engine.

    import hookline as hl

    engine = hl.load(".muse/hooks.json")

    @engine.on(hl.BeforeToolCall, match=hl.names("bash"))
    async def no_force_push(event: hl.BeforeToolCall) -> hl.Deny | None:
        return hl.Deny("force push is off") if "--force" in str(event.input) else None

The names come from `hookline._public`, on first use: the command line starts before any of it is needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# `hookline.events` works without an import.
DOORS = ("adapters", "dialects", "effects", "errors", "events", "session", "testing")

if TYPE_CHECKING:
    from hookline._public import *  # noqa: F403  # its __all__ is the list of public names
else:

    def __getattr__(name: str) -> Any:
        if name == "__all__" or not name.startswith("_"):
            from hookline import _public

            if name in {"__all__", *_public.__all__}:
                return getattr(_public, name)
            if name in DOORS:
                return import_module(f"hookline.{name}")
        raise AttributeError(f"module 'hookline' has no attribute {name!r}")

    def __dir__() -> list[str]:
        from hookline import _public

        return sorted({*globals(), *_public.__all__, *DOORS})
