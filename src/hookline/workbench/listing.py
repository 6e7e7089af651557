"""Every hook there is for a session, in the order in which they are asked, and those that are held back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hookline._core.hooks import Hook
from hookline._core.points import Point
from hookline._engines import Project
from hookline.journal.encode import word_name
from hookline.workbench.asked_rows import missing_rows, place_text, target_text
from hookline.workbench.explain import problems_of
from hookline.workbench.points import Spelling, all_points, spellings_of
from hookline.workbench.rows import Role, Rows, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One hook at one point. `held_back` says why it does not run, empty for one that does."""

    point: Point
    name: str
    hook: Hook
    held_back: str = ""

    def as_json(self) -> dict[str, Any]:
        hook = self.hook
        return {
            "event": self.point.name,
            "point": self.name,
            "hook": hook.id,
            "label": hook.label,
            "dialect": hook.dialect,
            "layer": hook.source.layer,
            "file": hook.source.path,
            "line": hook.source.line,
            "matcher": str(hook.matcher),
            "background": hook.background,
            "timeout": hook.timeout,
            "may": sorted(map(word_name, hook.commits)),
            "calls": target_text(hook),
            "held_back": self.held_back,
        }


def listed(project: Project) -> tuple[Listed, ...]:
    """The hooks of *project*, by hook point in the order of the lifecycle. One at several points stands at each."""
    return tuple(_listed(project))


def _listed(project: Project) -> Iterator[Listed]:
    held = [(hook, each.why) for _, loaded in project.loaded for each in loaded.held_back for hook in each.hooks]
    dialects = {dialect.name: dialect for dialect in project.engine.dialects}
    for point in all_points():
        for group in project.engine.groups(point.event):
            for hook in group.hooks:
                yield Listed(point=point, name=group.rule.name, hook=hook)
        for hook, why in held:
            rule = dialects[hook.dialect].rule(point.event)
            if rule is not None and issubclass(point.event, hook.events):
                yield Listed(point=point, name=rule.name, hook=hook, held_back=why)


def listed_rows(hooks: Sequence[Listed], project: Project) -> Rows:
    """A heading for each point, and under it its hooks."""
    last: Point | None = None
    for each in hooks:
        if each.point is not last:
            last = each.point
            yield 0, [Span(Role.HEADING, each.point.name)]
        hook = each.hook
        role = Role.MARK if each.held_back else Role.NAME
        yield 1, [Span(role, hook.id), Span(Role.QUIET, each.name), Span(Role.QUIET, place_text(hook))]
        when = "" if str(hook.matcher) == "everything" else f"when {hook.matcher}"
        background = "in the background" if hook.background else ""
        yield 3, [Span(Role.TEXT, target_text(hook)), Span(Role.QUIET, when), Span(Role.QUIET, background)]
        if each.held_back:
            yield 3, [Span(Role.MARK, f"held back: {each.held_back}")]
    if not hooks:
        yield 0, [Span(Role.MARK, "no hook is loaded")]
    for package, loaded in project.loaded:
        for held in loaded.held_back:
            if held.count and not held.hooks:
                told = f"{held.count} more of {held.path} held back: {held.why}"
                yield 0, [Span(Role.MARK, told), Span(Role.QUIET, package.dialect.name)]
    yield from missing_rows(tuple(problems_of(project)), 0)


def points() -> tuple[tuple[Point, tuple[Spelling, ...]], ...]:
    """Every hook point with what the dialects call it."""
    return tuple((point, spellings_of(point)) for point in all_points())


def point_rows() -> Rows:
    """A line for each hook point: what it can honour, and its names."""
    for point, spellings in points():
        admits = ", ".join(sorted(word_name(word) for word in point.admits if word.__name__ != "Notify"))
        yield 0, [Span(Role.HEADING, point.name), Span(Role.QUIET, admits or "observes")]
        for spelling in spellings:
            yield 2, [Span(Role.QUIET, spelling.dialect), Span(Role.NAME, spelling.name)]
