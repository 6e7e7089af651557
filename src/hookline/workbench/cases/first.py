"""A first file of cases: one for each hook that is loaded, and what its failure does for each that may deny."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from hookline._core.decisions import Deny
from hookline._core.errors import UsageError
from hookline._core.events.tool import ToolEvent
from hookline._core.hooks import Hook
from hookline._core.matchers import EVERYTHING, exact_names
from hookline._core.regular_files import replace_text
from hookline._engines import Project
from hookline.workbench.cases.files import ENDING
from hookline.workbench.cases.golden import yaml_of
from hookline.workbench.opening import Chosen
from hookline.workbench.samples import SAMPLES
from hookline.workbench.tool_names import BUILT_IN, known_as

HEAD = """\
# Hook tests. Nothing was run to write this file: `hookline test --update` runs the hooks for real, with your files and
# your rights, and fills in what each case wants. Read that before you keep it.
"""
COMMANDS = ({"command": "ls"}, {"command": "git status"}, {"command": "rm -rf build"}, {"command": "npm install"})


def first_file(path: Path, project: Project, chosen: Chosen) -> int:
    """Write the file at *path* for the hooks of *project*, and return how many cases it has. Raises UsageError."""
    if not path.name.endswith(ENDING):
        raise UsageError(f"files of hook tests end in {ENDING}: write {path.with_suffix('').name}{ENDING}")
    if path.exists():
        raise UsageError(f"there is a file {path} already: name another")
    if not (hooks := project.engine.hooks()):
        raise UsageError("no hook is loaded, so there is nothing to test; `hookline list` says what is held back")
    cases = [line for hook in hooks for line in _cases(hook, project)]
    text = HEAD + "\n".join([*_which(path, chosen), "cases:", *cases]) + "\n"
    replace_text(path, text)
    return sum(line.startswith("  - ") for line in cases)


def _which(path: Path, chosen: Chosen) -> Iterator[str]:
    here = path.absolute().parent

    def named(file: Path) -> str:
        return yaml_of(os.path.relpath(file.absolute(), here))

    if chosen.capsule is not None:
        yield f"capsule: {named(chosen.capsule)}"
    elif chosen.files:
        yield f"hooks: [{', '.join(map(named, chosen.files))}]"
    else:
        yield f"workspace: {named(chosen.workspace)}"
        yield f"trust: {'true' if chosen.trust else 'false'}"
    if chosen.strict:
        yield "strict: true"


def _cases(hook: Hook, project: Project) -> Iterator[str]:
    name = hook.label or hook.id
    yield from _case(f"{name} answers", hook, project)
    rules = project.engine.rules(hook.event)
    if Deny in hook.commits and any(Deny in rule.admits for rule in rules):
        yield from _case(f"without {name}", hook, project)
        yield f"    fault: {{{yaml_of(hook.id)}: hang}}"


def _case(name: str, hook: Hook, project: Project) -> Iterator[str]:
    yield f"  - name: {yaml_of(name)}"
    yield f"    event: {_point(hook, project)}"
    sample = SAMPLES[hook.event.point.event]
    if isinstance(sample, ToolEvent):
        tool, given = _call(hook, sample)
        yield f"    tool: {tool}"
        yield f"    input: {json.dumps(given)}"
    elif (subject := hook.event.point.subject) is not None and not hook.matcher.matches(sample.subjects()):
        names = sorted(exact_names(hook.matcher) or ())
        if names:
            yield f"    set: {{{subject}: {yaml_of(names[0])}}}"


def _call(hook: Hook, sample: ToolEvent) -> tuple[str, dict[str, str]]:
    """A call that the hook is asked about, as far as one of the usual ones is."""
    tool = _tool(hook)
    own, others = known_as(tool)
    for given in COMMANDS if own == BUILT_IN[0] else ({},):
        if hook.selects(replace(sample, tool_name=own, aliases=others, input=given)):
            return tool, given
    return tool, {}


def _point(hook: Hook, project: Project) -> str:
    """What the hook's own dialect calls its point, where that is this one event."""
    for group in project.engine.groups(hook.event):
        if hook in group.hooks and not group.rule.also_named and " " not in group.rule.name:
            return group.rule.name
    return hook.event.point.name


def _tool(hook: Hook) -> str:
    """A tool that the hook is asked about."""
    if hook.matcher is EVERYTHING:
        return BUILT_IN[0]
    names = sorted(exact_names(hook.matcher) or ())
    return next((each for each in (*BUILT_IN, *names) if hook.matcher.matches((each,))), BUILT_IN[0])
