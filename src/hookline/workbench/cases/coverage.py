"""Which hooks the cases reached, and which of their possible answers no case has seen."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from hookline._core.effects import Notify
from hookline._core.hooks import Hook
from hookline._engine.engine import HookEngine
from hookline.journal.encode import word_name
from hookline.workbench.fire import Fired


@dataclass(slots=True, kw_only=True)
class Covered:
    """One hook: how often it was asked, what it said, how often it gave no answer, and what it never said."""

    hook: Hook
    asked: int = 0
    failed: int = 0
    said: set[str] = field(default_factory=set)

    @property
    def unseen(self) -> list[str]:
        """What it may answer and no case saw."""
        return sorted({word_name(word) for word in self.hook.commits if word is not Notify} - self.said)


@dataclass(slots=True)
class Coverage:
    """The hooks of all files of cases, each by its file and its id."""

    hooks: dict[tuple[str, str], Covered] = field(default_factory=dict)

    def know(self, engine: HookEngine) -> None:
        """Take in the hooks of a configuration."""
        for hook in engine.hooks():
            self.hooks.setdefault(_key(hook), Covered(hook=hook))

    def see(self, fired: Fired) -> None:
        """Take in what the hooks did at one event."""
        for outcome in (*fired.resolution.outcomes, *fired.ended):
            covered = self.hooks.get(_key(outcome.hook))
            if covered is None or not (outcome.started or outcome.ok):
                continue
            covered.asked += 1
            covered.failed += not outcome.ok
            if outcome.answer is not None:
                covered.said |= {word_name(word) for word in outcome.answer.words()}

    @property
    def never_asked(self) -> list[Covered]:
        return [each for each in self.hooks.values() if not each.asked]

    @property
    def percent(self) -> float:
        """How many of the hooks were asked."""
        return 100.0 * (len(self.hooks) - len(self.never_asked)) / len(self.hooks) if self.hooks else 100.0

    def as_json(self) -> dict[str, Any]:
        return {
            "percent": round(self.percent, 1),
            "hooks": [
                {
                    "hook": each.hook.id,
                    "file": each.hook.source.path,
                    "asked": each.asked,
                    "failed": each.failed,
                    "said": sorted(each.said),
                    "unseen": each.unseen,
                }
                for each in _in_order(self.hooks.values())
            ],
        }


def _in_order(hooks: Iterable[Covered]) -> list[Covered]:
    return sorted(hooks, key=lambda each: (each.hook.source.path, each.hook.source.line, each.hook.id))


def _key(hook: Hook) -> tuple[str, str]:
    return hook.source.path, hook.id
