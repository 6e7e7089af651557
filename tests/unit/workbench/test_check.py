"""Every hook file read in one go: what sessions would say, with places, and what they would not."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.place import Place
from tests.conformance.reading import Case
from tests.conformance.test_cases import CASES, DIALECTS

from hookline._core.errors import ConfigError, UsageError
from hookline._core.problems import Problem, Scope
from hookline._engines import open_project
from hookline.workbench.check import check
from hookline.workbench.findings import REACH, Level

OF_FILES = ("muse", "meerkat")  # the dialects whose files a session finds by itself
UNPLACED = ("cannot be read", "failed to read", "there is no", "is not set", "cannot be started", "a relative path")
NOT_OF_A_LOADER = {"NoSuchCommand", "NotExecutable", "NotAHookFile"}
OF_TRUSTING = {"HookFileAbsent"}  # that a folder was trusted for nothing is said to whoever trusts it
HANDLER = {"type": "command", "command": "true"}
ENV = {"HOME": "/home/dev", "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"}

CONFIGURED = [
    pytest.param(case, id=case.title) for case in CASES if case.dialect in OF_FILES and case.given.get("config")
]


def told_at_the_start(place: Place, env: dict[str, str]) -> list[Problem]:
    """Everything that the start of a session in a trusted folder finds wrong."""
    try:
        project = open_project(place.workspace, env=env, trust="run-flag")
    except ConfigError as error:
        return list(error.problems)
    return [problem for _, loaded in project.loaded for problem in loaded.problems]


@pytest.mark.parametrize("case", CONFIGURED)
def test_check_says_what_a_start_says_and_where(case: Case, tmp_path: Path) -> None:
    """Each problem of a session's start is a finding of the same code and words, with its line; no error is made up."""
    place = Place(tmp_path, DIALECTS[case.dialect].layout)
    place.configure(case.given["config"])
    env = place.env_with(case.given.get("env", {}))

    told = [each for each in told_at_the_start(place, env) if each.code not in OF_TRUSTING]
    found = check(workspace=place.workspace, env=env).findings

    assert {(each.code, each.message) for each in told} <= {(each.code, each.message) for each in found}
    errors = {(each.code, each.message) for each in found if each.level is Level.ERROR}
    of_loaders = {each for each in errors if each[0] not in NOT_OF_A_LOADER}
    if any(each.scope is Scope.FILE for each in told):
        return  # a start says the first fault of a file that contributes nothing, a check all of them
    assert of_loaders <= {(each.code, each.message) for each in told if REACH[each.scope].level is Level.ERROR}
    places = {(each.code, each.message): each.where for each in found}
    unplaced = [key for key, where in places.items() if not where.line and not any(each in key[1] for each in UNPLACED)]
    assert [] == [key for key in unplaced if key[0] not in ("HeldBack", "MissingShell", "HookFileAbsent")]


def written(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def codes(*paths: Path, workspace: Path, dialect: str | None = None) -> list[str]:
    return [each.code for each in check(paths, workspace=workspace, env=ENV, dialect=dialect).findings]


def test_all_of_it_is_said_in_one_go(tmp_path: Path) -> None:
    """Several files with several faults each: every fault of every file, in the order of the files and the lines."""
    broken = '{"hooks": {"OnSave": [], "Stop": [{"matcher": "x", "hooks": []}]}}'
    (tmp_path / "a.json").write_text(broken)
    (tmp_path / "b.toml").write_text('[[hooks.entries]]\npoint = "nowhere"\nid = ""\n')
    (tmp_path / "c.json").write_text("{")

    checked = check([tmp_path / name for name in ("a.json", "b.toml", "c.json")], workspace=tmp_path, env=ENV)

    assert ["a.json", "a.json", "b.toml", "b.toml", "c.json"] == [
        Path(each.where.file).name for each in checked.findings
    ]
    assert not checked.is_fine
    assert ["muse", "meerkat", "muse"] == [each.dialect for each in checked.files]


def test_files_stand_in_the_order_in_which_they_were_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By whatever path, each once, and what is wrong with one is not among what is wrong with another."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.json", "b.json"):
        Path(name).write_text('{"hooks": {\n"OnSave": [],\n\n"OnLoad": []}}')
    Path("murmur.yaml").write_text("{}")
    paths = [Path("b.json"), tmp_path / "a.json", Path("murmur.yaml"), tmp_path / "b.json"]

    checked = check(paths, workspace=tmp_path, env=ENV)

    assert ["b.json", "a.json", "murmur.yaml"] == [each.path.name for each in checked.files]
    assert ["b.json", "b.json", "a.json", "a.json", "murmur.yaml", "murmur.yaml"] == [
        Path(each.where.file).name for each in checked.findings
    ]


def test_a_file_that_is_rejected_is_read_to_its_end(tmp_path: Path) -> None:
    """One wrong type takes the whole file at a start; a check says the others too, and what is wrong with the rest."""
    (tmp_path / "a.json").write_text(
        """{"hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "true", "timeout": "5"}, {"type": "comand"}]}],
        "PreToolUse": [{"matcher": 5, "hooks": []}, {"matcher": "b(", "hooks": []}, {"matcher": "x"}],
        "OnSave": 3,
        "SessionStart": {},
        "PostToolUse": [{"hooks": [{"type": "command", "command": "a", "onFailure": {"type": 1}}, 7]}]
        }}"""
    )

    checked = check([tmp_path / "a.json"], workspace=tmp_path, env=ENV)

    assert [
        ("MalformedConfig", "hooks.Stop[0].hooks[0].timeout", 2),
        ("UnsupportedHandler", "hooks.Stop[0].hooks[1].type", 2),
        ("MalformedConfig", "hooks.PreToolUse[0].matcher", 3),
        ("InvalidMatcher", "hooks.PreToolUse[1].matcher", 3),
        ("MalformedConfig", "hooks.PreToolUse[2]", 3),
        ("UnsupportedEvent", "hooks.OnSave", 4),
        ("MalformedConfig", "hooks.SessionStart", 5),
        ("MalformedConfig", "hooks.PostToolUse[0].hooks[0].onFailure.type", 6),
        ("MalformedConfig", "hooks.PostToolUse[0].hooks[1]", 6),
    ] == [(each.code, each.where.path, each.where.line) for each in checked.findings]
    assert 0 == checked.files[0].hooks


def test_a_folder_is_the_same_by_whatever_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By one with `..` in it, by a link to it; and the folder that holds the hook file is as good as the project's."""
    project = tmp_path / "project"
    written(project, **{".muse__hooks.json": "{", ".rkat__config.toml": "["})
    (tmp_path / "link").symlink_to(project)
    monkeypatch.chdir(project / ".muse")

    for path in (project, Path(), Path(".."), Path("../../project"), tmp_path / "link", tmp_path / "link" / ".muse"):
        files = [each.path.resolve() for each in check([path], workspace=project, env=ENV).files]
        wanted = [project / ".muse" / "hooks.json", project / ".rkat" / "config.toml"]
        assert wanted[: 1 if path.resolve().name == ".muse" else 2] == files


def test_what_cannot_be_read_is_said_and_the_rest_is_read(tmp_path: Path) -> None:
    """A missing path, a folder without hook files, a FIFO, too much, no UTF-8: a finding each, and no exception."""
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "large.json").write_bytes(b" " * 2_000_000)
    (tmp_path / "latin.json").write_bytes(b'{"hooks": "\xff"}')
    (tmp_path / "bom.json").write_bytes(b'\xef\xbb\xbf{"hooks": {}}')
    (tmp_path / "hooks.ini").write_text("x")

    assert ["NotAHookFile"] == codes(tmp_path / "gone.json", workspace=tmp_path)
    assert ["NotAHookFile"] == codes(tmp_path / "hooks.ini", workspace=tmp_path)
    assert [] == codes(tmp_path / "empty", workspace=tmp_path)
    assert ["MalformedConfig"] == codes(tmp_path / "pipe.json", workspace=tmp_path)
    assert ["MalformedConfig"] == codes(tmp_path / "large.json", workspace=tmp_path)
    assert ["MalformedConfig"] == codes(tmp_path / "latin.json", workspace=tmp_path)
    assert [] == codes(tmp_path / "bom.json", workspace=tmp_path)


def test_a_check_that_checks_nothing_does_not_pass(tmp_path: Path) -> None:
    """Where there is no hook file, what was looked for is said, and it is not fine."""
    checked = check([tmp_path], workspace=tmp_path, env=ENV)

    assert (False, ()) == (checked.is_fine, checked.findings)
    assert {".muse/hooks.json", ".rkat/config.toml", "murmur.yaml"} == {
        str(path.relative_to(tmp_path)) for path in checked.looked_for
    }


def test_of_a_folder_only_what_is_in_it_is_read(tmp_path: Path) -> None:
    """The user's own files are read where no folder was named, and only then."""
    home, project = tmp_path / "home", tmp_path / "project"
    written(home, **{".config__muse__settings.json": '{"schema_version": 1, "hook": {}}'})
    written(project, **{".muse__hooks.json": '{"hooks": {}}'})
    env = {**ENV, "HOME": str(home)}

    assert ["hooks.json"] == [each.path.name for each in check([project], workspace=project, env=env).files]
    everything = check(workspace=project, env=env)
    assert ["settings.json", "hooks.json"] == [each.path.name for each in everything.files]
    assert ["UnknownSetting"] == [each.code for each in everything.findings]


def test_a_project_that_is_not_trusted_is_read_all_the_same(tmp_path: Path) -> None:
    """Its problems are said, and that its hooks are held back."""
    written(
        tmp_path,
        **{".muse__hooks.json": json.dumps({"hooks": {"OnSave": [], "Stop": [{"hooks": [HANDLER]}]}})},
    )

    assert ["HeldBack", "UnsupportedEvent"] == [each.code for each in check(workspace=tmp_path, env=ENV).findings]


def test_the_dialect_can_be_said(tmp_path: Path) -> None:
    """A file of any name is read as the dialect that is named; one that there is not is wrong usage."""
    (tmp_path / "hooks.txt").write_text('{"hooks": {"OnSave": []}}')

    assert ["UnsupportedEvent"] == codes(tmp_path / "hooks.txt", workspace=tmp_path, dialect="muse")
    assert ["MalformedToml"] == codes(tmp_path / "hooks.txt", workspace=tmp_path, dialect="meerkat")
    with pytest.raises(UsageError, match="there are muse, meerkat, murmur"):
        check([tmp_path / "hooks.txt"], env=ENV, dialect="mues")


def test_hooks_under_the_wrong_member_are_found(tmp_path: Path) -> None:
    """Events beside `hooks`, in a hook file and in the settings, run nothing, and the remedy says where they belong."""
    written(
        tmp_path, **{"hooks.json": '{"PreToolUse": []}', "settings.json": '{"schema_version": 1, "PreToolUse": []}'}
    )

    (file,) = check([tmp_path / "hooks.json"], workspace=tmp_path, env=ENV).findings
    (settings,) = check([tmp_path / "settings.json"], workspace=tmp_path, env=ENV).findings

    assert ("NoHooks", Level.WARNING, 1) == (file.code, file.level, file.where.line)
    assert "put `PreToolUse` inside `hooks`: nothing in it runs here" == settings.remedy


def test_a_capsule_is_read_with_its_packages(tmp_path: Path) -> None:
    """What is wrong with a manifest, and a package that is not there; the manifest of the demo is right."""
    (tmp_path / "murmur.yaml").write_text(
        "name: a\nversion: 1.0.0\nartifacts:\n  - {name: nowhere, version: 1.0.0, runtime: hook}\n"
    )
    demo = Path(__file__).parents[3] / "examples" / "murmur" / "murmur.yaml"
    env = {**ENV, "HOME": str(tmp_path)}

    assert [Level.ERROR] == [
        each.level for each in check([tmp_path / "murmur.yaml"], workspace=tmp_path, env=env).findings
    ]
    checked = check([demo], workspace=tmp_path, env=env)
    assert (True, 2) == (checked.is_fine, checked.files[0].hooks)


@pytest.mark.parametrize("case", CONFIGURED)
def test_every_finding_says_what_comes_of_it_and_what_to_do(case: Case, tmp_path: Path) -> None:
    """An effect always; a remedy, or a message that says it: what must be there, or what to write behind a sign."""
    place = Place(tmp_path, DIALECTS[case.dialect].layout)
    place.configure(case.given["config"])

    for found in check(workspace=place.workspace, env=place.env_with(case.given.get("env", {}))).findings:
        assert found.code.isalnum()
        assert found.effect
        assert (
            found.remedy or found.level is Level.NOTE or any(sign in found.message for sign in (":", ";", " must "))
        ), found


@given(
    data=st.binary(max_size=200), name=st.sampled_from(["hooks.json", "settings.json", "config.toml", "murmur.yaml"])
)
def test_any_bytes_are_findings_or_hooks(tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str) -> None:
    """Whatever stands in a hook file, a check ends, and says so as JSON."""
    path = tmp_path_factory.mktemp("any") / name
    path.write_bytes(data)

    json.dumps(check([path], workspace=path.parent, env={**ENV, "HOME": str(path.parent)}).as_json())


def test_a_finding_of_every_scope_has_its_level() -> None:
    """Each scope of a problem has a level and an effect of its own."""
    assert set(Scope) == set(REACH)
    assert len(Scope) == len({reach.effect for reach in REACH.values()})
