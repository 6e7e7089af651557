"""Every handler of a document, whatever else is wrong with it, and where it stands."""

from collections.abc import Iterator
from typing import Any

from hookline._core.strictjson import Path

Handler = dict[str, Any]


def handlers_in(hooks: Any, at: Path = ()) -> Iterator[tuple[Handler, Path]]:
    """The handlers under *hooks*, which stands at *at*, in the order of the document; fallbacks are not among them."""
    for name, groups in hooks.items() if isinstance(hooks, dict) else ():
        for index, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") if isinstance(group, dict) else None
            for number, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(handler, dict):
                    yield handler, (*at, name, index, "hooks", number)


def links_in(hooks: Any, at: Path = ()) -> Iterator[tuple[Handler, Path]]:
    """The same, each followed by its fallbacks."""
    for handler, place in handlers_in(hooks, at):
        link: Any = handler
        here = place
        while isinstance(link, dict):
            yield link, here
            link, here = link.get("onFailure"), (*here, "onFailure")
