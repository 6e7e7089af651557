"""Who asks for something to be done with plugins, and from where."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hookline.dialects.muse.plugins.store import Store, store_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who asks: the environment, the folder where that is, and how the command line trusts it."""

    env: Mapping[str, str]
    cwd: Path
    trust: str = ""

    @property
    def store(self) -> Store:
        return store_of(self.env)
