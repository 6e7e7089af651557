"""skills.v1: a hook names skills that fit, where that is asked for (section 19).

Two variables of the session's own environment are its gates: without the first nobody is asked, without the second what
is named is accepted and changes nothing.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookline._core.hooks import Hook
from hookline.dialects.muse.answer_schema import SPECIFIC, Members

if TYPE_CHECKING:  # most sessions know nothing of it
    from hookline.dialects.muse.origins import SkillTerms

CAPABILITY = "skills.v1"
KEY = "selectedSkills"
ADVERTISED = "MUSE_EXPERIMENTAL_HOOK_SELECTED_SKILLS"
APPLIED = "MUSE_EXPERIMENTAL_HOOK_SELECTED_SKILLS_APPLY"
FILE = "SKILL.md"
MOST = 32  # of one answer
REJECTED = "selected_skills:rejected:"
IGNORED = f"`{KEY}` accepted and not applied: {APPLIED} is not 1"


def terms_under(env: Mapping[str, str], root: Path | None) -> "SkillTerms | None":
    """On which terms hooks that can name skills are asked for them; None where they are not. *root* is trusted."""
    if env.get(ADVERTISED) != "1":
        return None
    from hookline.dialects.muse.origins import SkillTerms

    return SkillTerms(applied=env.get(APPLIED) == "1", root="" if root is None else str(root))


def terms_of(hook: Hook) -> "SkillTerms | None":
    """On which terms *hook* is asked for skills."""
    if hook.facts is None:
        return None
    from hookline.dialects.muse.origins import HookFacts

    return hook.facts.skills if isinstance(hook.facts, HookFacts) else None


def fault_in_selection(said: Members, hook: Hook) -> str | None:
    """Why the skills that a well-formed answer names are rejected, and the answer with them."""
    skills = said.get(SPECIFIC, {}).get(KEY)
    if skills is None:
        return None
    terms = terms_of(hook)
    if terms is None:
        return f"{REJECTED}capability-not-negotiated"
    code = _objection(skills, terms) if terms.applied else ""
    return f"{REJECTED}{code}" if code else None


def told_of_selection(said: Members, hook: Hook) -> str:
    """What the model is to know of the skills that an answer names; empty where none count."""
    skills = said.get(SPECIFIC, {}).get(KEY)
    terms = terms_of(hook)
    if not skills or terms is None or not terms.applied:
        return ""
    return "\n".join(f"Skill {each['id']} in {each['path']}: {each['description']}" for each in skills)


def is_inert(said: Members, hook: Hook) -> bool:
    """Whether an answer names skills that are accepted and not applied."""
    terms = terms_of(hook)
    return KEY in said.get(SPECIFIC, {}) and terms is not None and not terms.applied


def _objection(skills: list[dict[str, Any]], terms: "SkillTerms") -> str:
    """The code of what is wrong with a selection: of one it takes all."""
    if not terms.root:
        return "missing-trusted-project-root"
    if len(skills) > MOST:
        return "aggregate-limit"
    seen: set[str] = set()
    for each in skills:
        if not each["id"].isprintable() or each["id"] != each["id"].strip():
            return "invalid-id"
        if each["id"] in seen:
            return "duplicate-within-handler"
        seen.add(each["id"])
        if code := _path_objection(each["path"], terms.root):
            return code
    return ""


def _path_objection(path: str, root: str) -> str:
    steps = Path(path).parts
    if not Path(path).is_absolute() or ".." in steps or ".git" in steps or "\0" in path or steps[-1] != FILE:
        return "invalid-path"
    inside = Path(os.path.realpath(path)).is_relative_to(root) and Path(path).is_relative_to(root)
    return "" if inside else "path-outside-project"
