"""skills.v1 behind its two gates: who is asked, and what becomes of the skills that an answer names (section 19)."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline._core.answer import Answer
from hookline._core.effects import AddContext
from hookline._core.events import BeforeRun
from hookline._core.hooks import Hook
from hookline._core.payload import CallFailed, Exited, Payload
from hookline._core.points import Origin
from hookline.dialects.muse.answer import decode
from hookline.dialects.muse.payload import encode
from hookline.dialects.muse.sources import load

ASKED = {"MUSE_EXPERIMENTAL_HOOK_SELECTED_SKILLS": "1"}
APPLIED = {**ASKED, "MUSE_EXPERIMENTAL_HOOK_SELECTED_SKILLS_APPLY": "1"}
TOLD = "selected_skills:rejected:"


def hook_under(tmp_path: Path, env: dict[str, str], *, capable: bool = True) -> Hook:
    """A hook of the user's settings, and one that can name skills if it is *capable*."""
    handler: dict[str, Any] = {"type": "command", "command": "true"}
    if capable:
        handler["outputCapabilities"] = ["skills.v1"]
    config = tmp_path / "config" / "muse"
    config.mkdir(parents=True, exist_ok=True)
    settings = {"schema_version": 1, "hooks": {"UserPromptSubmit": [{"hooks": [handler]}]}}
    (config / "settings.json").write_text(json.dumps(settings))
    (tmp_path / "project").mkdir(exist_ok=True)
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config"), **env}
    (hook,) = load(env=env, workspace=tmp_path / "project", trust="run-flag").hooks
    return hook


def event(tmp_path: Path) -> BeforeRun:
    return BeforeRun(prompt="hi", origin=Origin(session_id="s", run_id="r", cwd=str(tmp_path)))


def answered(hook: Hook, tmp_path: Path, skills: Any) -> Answer | CallFailed:
    said = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "selectedSkills": skills}}
    return decode(Exited(code=0, stdout=json.dumps(said).encode()), event(tmp_path), hook)


def skill(tmp_path: Path, **changes: str) -> dict[str, str]:
    path = str(tmp_path.resolve() / "project" / ".muse" / "skills" / "pdf" / "SKILL.md")
    return {"id": "pdf", "path": path, "description": "reads PDF", **changes}


@pytest.mark.parametrize(
    ("env", "capable", "asked"),
    [({}, True, None), (ASKED, True, ["skills.v1"]), (APPLIED, True, ["skills.v1"]), (APPLIED, False, None)],
)
def test_who_is_asked_for_skills(tmp_path: Path, env: dict[str, str], capable: bool, asked: list[str] | None) -> None:
    """Only a hook that declared the capability, and only behind the first gate, reads that skills are wanted."""
    payload = encode(event(tmp_path), hook_under(tmp_path, env, capable=capable))
    assert isinstance(payload, Payload)

    assert asked == json.loads(payload.body).get("supported_output_capabilities")


@pytest.mark.parametrize(("env", "capable"), [({}, True), (APPLIED, False)])
def test_skills_that_nobody_asked_for_reject_the_answer(tmp_path: Path, env: dict[str, str], capable: bool) -> None:
    """Who names skills unasked did not negotiate that, and nothing of the answer counts."""
    failed = answered(hook_under(tmp_path, env, capable=capable), tmp_path, [skill(tmp_path)])

    assert isinstance(failed, CallFailed)
    assert f"{TOLD}capability-not-negotiated" == failed.detail


def test_behind_the_first_gate_alone_they_are_accepted_and_change_nothing(tmp_path: Path) -> None:
    """The answer stands, and a note says why nothing comes of the skills."""
    answer = answered(hook_under(tmp_path, ASKED), tmp_path, [skill(tmp_path, path="nowhere")])

    assert isinstance(answer, Answer)
    assert ((), 1) == (answer.effects, len(answer.notes))


def test_behind_both_gates_the_model_is_told_of_them(tmp_path: Path) -> None:
    """Each skill by its id, its file and what it is for."""
    path = skill(tmp_path)["path"]
    answer = answered(hook_under(tmp_path, APPLIED), tmp_path, [skill(tmp_path), skill(tmp_path, id="b")])

    assert isinstance(answer, Answer)
    assert (AddContext(f"Skill pdf in {path}: reads PDF\nSkill b in {path}: reads PDF"),) == answer.effects


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"path": "project/SKILL.md"}, "invalid-path"),
        ({"path": "/p/../SKILL.md"}, "invalid-path"),
        ({"path": "@/project/README.md"}, "invalid-path"),
        ({"path": "@/project/.git/SKILL.md"}, "invalid-path"),
        ({"path": "/etc/SKILL.md"}, "path-outside-project"),
        ({"path": "@/project/out/SKILL.md"}, "path-outside-project"),
        ({"id": "a\nb"}, "invalid-id"),
        ({"id": " a"}, "invalid-id"),
    ],
)
def test_one_bad_skill_rejects_all_of_an_answer(tmp_path: Path, changes: dict[str, str], code: str) -> None:
    """Paths lead to a SKILL.md inside the project, also once links are followed; ids are plain."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "out").symlink_to("/etc")
    bad = {name: text.replace("@", str(tmp_path.resolve())) for name, text in changes.items()}
    failed = answered(hook_under(tmp_path, APPLIED), tmp_path, [skill(tmp_path), skill(tmp_path, **{"id": "x", **bad})])

    assert isinstance(failed, CallFailed)
    assert TOLD + code == failed.detail


def test_the_same_skill_twice_and_too_many_are_rejected(tmp_path: Path) -> None:
    """An id stands once in an answer, which has at most 32."""
    hook = hook_under(tmp_path, APPLIED)
    twice = answered(hook, tmp_path, [skill(tmp_path)] * 2)
    many = answered(hook, tmp_path, [skill(tmp_path, id=str(number)) for number in range(33)])
    assert isinstance(twice, CallFailed)
    assert isinstance(many, CallFailed)

    assert (f"{TOLD}duplicate-within-handler", f"{TOLD}aggregate-limit") == (twice.detail, many.detail)
    assert isinstance(answered(hook, tmp_path, [skill(tmp_path, id=str(number)) for number in range(32)]), Answer)


def test_without_a_trusted_project_no_path_can_be_inside_it(tmp_path: Path) -> None:
    """A user's own hook runs in a folder that nobody trusts, and what it selects there does not count."""
    hook_under(tmp_path, APPLIED)
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config"), **APPLIED}
    (hook,) = load(env=env, workspace=tmp_path / "project", trust="").hooks
    failed = answered(hook, tmp_path, [skill(tmp_path)])

    assert isinstance(failed, CallFailed)
    assert f"{TOLD}missing-trusted-project-root" == failed.detail
