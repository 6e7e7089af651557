import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookline._core.errors import ConfigError
from hookline._core.hooks import HeldBack, SessionSettings
from hookline._core.problems import Scope
from hookline._core.targets import CommandTarget
from hookline.dialects._base import Loaded
from hookline.dialects._files import project_root
from hookline.dialects.muse.report import startup_lines
from hookline.dialects.muse.sources import load, load_file


def handler(command: str, **fields: Any) -> dict[str, Any]:
    return {"type": "command", "command": command, **fields}


def stop(*commands: str) -> dict[str, Any]:
    return {"Stop": [{"hooks": [handler(command) for command in commands]}]}


class Machine:
    """A home and a project of its own, with files as a test writes them."""

    def __init__(self, base: Path) -> None:
        self.config = base / "home" / ".config" / "muse"
        self.project = base / "project"
        self.env = {"HOME": str(base / "home"), "PATH": "/usr/bin:/bin", "CI_TOKEN": "t", "OTHER_VAR": "1"}
        self.config.mkdir(parents=True)
        self.project.mkdir()

    def settings(self, **members: Any) -> None:
        self.write(self.config / "settings.json", {"schema_version": 1, **members})

    def project_hooks(self, hooks: Any, **members: Any) -> Path:
        return self.write(self.project / ".muse" / "hooks.json", {"hooks": hooks, **members})

    def write(self, path: Path, content: Any) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return path

    def load(self, trust: str = "run-flag", **env: str) -> Loaded:
        return load(env={**self.env, **env}, workspace=self.project, trust=trust)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def commands(loaded: Loaded) -> list[str]:
    return [target.written for target in targets(loaded)]


def targets(loaded: Loaded) -> list[CommandTarget]:
    return [hook.target for hook in loaded.hooks if isinstance(hook.target, CommandTarget)]


def test_sources_keep_their_order(machine: Machine) -> None:
    """L08, P13: managed, user, project; equal hooks of two sources both stay, each under an id of its own."""
    machine.settings(managed_hooks_path="managed.json", hooks=stop("same", "user"))
    machine.write(machine.config / "managed.json", {"hooks": stop("same")})
    machine.project_hooks(stop("same", "project"))

    loaded = machine.load()

    assert commands(loaded) == ["same", "same", "user", "same", "project"]
    assert [hook.id for hook in loaded.hooks] == [
        "managed.json:Stop[0].hooks[0]",
        "settings.json:Stop[0].hooks[0]",
        "settings.json:Stop[0].hooks[1]",
        "hooks.json:Stop[0].hooks[0]",
        "hooks.json:Stop[0].hooks[1]",
    ]
    assert [hook.source.layer for hook in loaded.hooks] == ["managed", "user", "user", "project", "project"]
    assert len({hook.key for hook in loaded.hooks}) == 5
    assert (loaded.problems, loaded.held_back, loaded.trust) == ((), (), "run-flag")


def test_nothing_anywhere_is_nothing(machine: Machine) -> None:
    """A machine without any of the files has no hooks, no problems and the default settings."""
    assert Loaded(settings=SessionSettings()) == machine.load(trust="")
    assert Loaded(settings=SessionSettings()) == load(env={}, workspace=machine.project, trust="")


def test_ids_stay_apart_where_labels_do_not(machine: Machine) -> None:
    """A managed file may be called like another source's; its hooks' ids then say that they are the managed ones."""
    machine.settings(managed_hooks_path="m/hooks.json", hooks=stop("user"))
    machine.write(machine.config / "m" / "hooks.json", {"hooks": stop("managed")})
    machine.project_hooks(stop("project"))

    loaded = machine.load()

    assert [hook.id for hook in loaded.hooks if hook.source.label == "hooks.json"] == [
        "managed:hooks.json:Stop[0].hooks[0]",
        "hooks.json:Stop[0].hooks[0]",
    ]


def test_only_managed_hooks_get_what_is_granted(machine: Machine) -> None:
    """P01, P02: a granted variable reaches the managed hooks and nobody else; what is not granted reaches nobody."""
    machine.settings(managed_hooks_path="m.json", managed_hooks_env_vars=["CI_TOKEN", "UNSET"], hooks=stop("user"))
    machine.write(machine.config / "m.json", {"hooks": stop("managed")})
    machine.project_hooks(stop("project"))

    managed, user, project = targets(machine.load())

    assert {"HOME", "PATH", "CI_TOKEN"} == set(managed.env)
    assert {"HOME", "PATH"} == set(user.env) == set(project.env)


def test_xdg_config_home_counts_first(machine: Machine, tmp_path: Path) -> None:
    """XDG_CONFIG_HOME is where settings are; empty or relative, it is as if it were not set."""
    machine.settings(hooks=stop("home"))
    machine.write(tmp_path / "xdg" / "muse" / "settings.json", {"schema_version": 1, "hooks": stop("xdg")})

    assert commands(machine.load(XDG_CONFIG_HOME=str(tmp_path / "xdg"))) == ["xdg"]
    assert commands(machine.load(XDG_CONFIG_HOME="")) == ["home"]
    assert commands(machine.load(XDG_CONFIG_HOME="xdg")) == ["home"]


def test_settings_that_cannot_be_used_stop_everything(machine: Machine) -> None:
    """L01: nothing is loaded from anywhere while the settings file is malformed."""
    machine.write(machine.config / "settings.json", "{}")
    machine.project_hooks(stop("project"))

    with pytest.raises(ConfigError) as caught:
        machine.load()
    assert f"malformed settings file at {machine.config}/settings.json: missing field `schema_version`" == str(
        caught.value
    )


def test_the_limit_of_continuations_is_a_setting(machine: Machine) -> None:
    """The session is told how often in a row it may be kept going."""
    machine.settings(max_consecutive_stop_hook_continuations=3)

    assert machine.load().settings.reopen_limit == 3


def test_a_broken_hooks_member_costs_the_user_source_only(machine: Machine) -> None:
    """L24: broken hooks in the settings leave the other sources as they are."""
    machine.settings(hooks=[])
    machine.project_hooks(stop("project"))

    loaded = machine.load()

    assert commands(loaded) == ["project"]
    assert [(problem.where.label, problem.message) for problem in loaded.problems] == [
        ("settings.json", "hooks must be an object")
    ]


def test_a_managed_file_need_not_exist(machine: Machine) -> None:
    """L06: a missing managed file means no managed hooks, and no warning of the document's. Empty, it is none."""
    for path in ("nowhere.json", "", "/nowhere/m.json", "settings.json/m.json"):
        machine.settings(managed_hooks_path=path, hooks=stop("user"))
        loaded = machine.load()
        assert (commands(loaded), startup_lines(loaded, "muse")) == (["user"], [])
        assert [problem.scope for problem in loaded.problems] == ([Scope.ABSENT] if path else [])


def test_a_managed_file_that_cannot_be_read_is_malformed(machine: Machine, tmp_path: Path) -> None:
    """A managed file that is there and cannot be read is told; a pipe in its place does not make anyone wait."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    dangling = tmp_path / "dangling"
    dangling.symlink_to("nowhere")

    for path, why in (
        (tmp_path, "Is a directory"),
        (pipe, "not a regular file"),
        (Path("/dev/null"), "not a regular file"),
        (dangling, "the link leads nowhere"),
    ):
        machine.settings(managed_hooks_path=str(path), hooks=stop("user"))
        loaded = machine.load()
        assert commands(loaded) == ["user"]
        [problem] = loaded.problems
        assert f"failed to read hook config at {path}: {why}" == problem.message
        assert ("MalformedConfig", Scope.FILE, path.name) == (problem.code, problem.scope, problem.where.label)


def test_a_path_that_no_file_can_have_is_told(machine: Machine) -> None:
    """A managed path with a NUL in it is a problem of that source, and nothing worse."""
    machine.settings(managed_hooks_path="a\0b", hooks=stop("user"))

    loaded = machine.load()

    assert commands(loaded) == ["user"]
    assert [problem.code for problem in loaded.problems] == ["MalformedConfig"]


def test_a_variable_replaces_the_managed_path(machine: Machine, tmp_path: Path) -> None:
    """TBH_MANAGED_HOOKS_PATH stands in for the setting, never beside it; a relative one lies beside the settings."""
    machine.settings(managed_hooks_path="m.json")
    machine.write(machine.config / "m.json", {"hooks": stop("setting")})
    machine.write(machine.config / "v.json", {"hooks": stop("variable")})

    assert commands(machine.load(TBH_MANAGED_HOOKS_PATH="")) == ["setting"]
    assert commands(machine.load(TBH_MANAGED_HOOKS_PATH="v.json")) == ["variable"]
    assert commands(machine.load(TBH_MANAGED_HOOKS_PATH=str(machine.config / "v.json"))) == ["variable"]
    assert commands(machine.load(TBH_MANAGED_HOOKS_PATH=str(tmp_path / "nowhere"))) == []


def test_a_relative_managed_path_needs_a_place(machine: Machine) -> None:
    """Where the environment names no configuration directory, a relative path is told, not guessed at."""
    loaded = load(env={"TBH_MANAGED_HOOKS_PATH": "m.json"}, workspace=machine.project, trust="")

    assert [problem.code for problem in loaded.problems] == ["MalformedConfig"]


@pytest.mark.parametrize("trust", ["run-flag", "yolo-flag"])
def test_a_flag_trusts_the_folder(machine: Machine, trust: str) -> None:
    """L04, L05: either flag loads the project's hooks, and the reason is kept."""
    machine.project_hooks(stop("project"))

    loaded = machine.load(trust=trust)

    assert (["project"], trust, ()) == (commands(loaded), loaded.trust, loaded.held_back)


def test_an_untrusted_project_contributes_nothing(machine: Machine) -> None:
    """L03, B-19: no hooks and no problems, however wrong the file; what is held back is counted."""
    path = machine.project_hooks(
        {**stop("a", "", "b"), "OnSave": []}, trusted=True, managed_hooks_path="x", env={"A": "b"}
    )

    loaded = machine.load(trust="")

    assert (loaded.hooks, loaded.problems, loaded.trust) == ((), (), "")
    (held,) = loaded.held_back
    assert ("hooks.json", str(path), 2, "folder not trusted") == (held.label, held.path, held.count, held.why)
    assert ["UnsupportedHandler", "UnsupportedEvent"] == [each.code for each in held.problems]
    assert 2 == len(held.hooks)


def test_an_untrusted_project_is_never_validated(machine: Machine) -> None:
    """A malformed file of an untrusted project is known to be there, and nothing of it is reported."""
    machine.write(machine.project / ".muse" / "hooks.json", "{nonsense")

    loaded = machine.load(trust="")

    assert (loaded.problems, [each.count for each in loaded.held_back]) == ((), [0])


def test_user_and_managed_hooks_need_no_trust(machine: Machine) -> None:
    """Without trust only the project's hooks are held back."""
    machine.settings(managed_hooks_path="m.json", hooks=stop("user"))
    machine.write(machine.config / "m.json", {"hooks": stop("managed")})
    machine.project_hooks(stop("project"))

    assert commands(machine.load(trust="")) == ["managed", "user"]


def trust_file(folder: Path, decision: str = "trusted") -> dict[str, Any]:
    return {"schema_version": 1, "projects": {str(folder): {"decision": decision}}}


def test_a_stored_decision_trusts_the_folder(machine: Machine) -> None:
    """A folder that the user's own file records as trusted is trusted; any other word, or folder, is not."""
    machine.project_hooks(stop("project"))
    store = machine.config / "trust.json"

    machine.write(store, trust_file(machine.project))
    assert (commands(machine.load(trust="")), machine.load(trust="").trust) == (["project"], "stored")
    for content in (trust_file(machine.project, "denied"), trust_file(machine.project.parent), {"schema_version": 1}):
        machine.write(store, content)
        assert (commands(machine.load(trust="")), machine.load(trust="").trust) == ([], "")


def test_a_damaged_trust_file_is_noted(machine: Machine) -> None:
    """A trust file that cannot be understood trusts no folder, and that is no reason not to start."""
    machine.project_hooks(stop("project"))
    machine.write(machine.config / "trust.json", "{")

    loaded = machine.load(trust="")

    assert ([], 1) == (commands(loaded), len(loaded.held_back))
    assert [(Scope.NOTE, "DamagedTrustFile")] == [(note.scope, note.code) for note in loaded.problems]


def test_nothing_in_a_project_can_trust_it(machine: Machine) -> None:
    """B-85: no file of a project's own, and no member of its hook file, makes it a trusted one."""
    machine.project_hooks(stop("project"), trusted=True)
    for place in (".muse/trust.json", ".muse/settings.json", ".config/muse/trust.json", "trust.json"):
        machine.write(machine.project / place, trust_file(machine.project))

    loaded = machine.load(trust="", XDG_CONFIG_HOME=".config")

    assert (commands(loaded), loaded.trust) == ([], "")


def test_a_link_is_not_the_folder_that_was_trusted(machine: Machine, tmp_path: Path) -> None:
    """Trust is for the folder itself: reached through a link it is the same folder, and a new target is another."""
    machine.project_hooks(stop("project"))
    link = tmp_path / "link"
    link.symlink_to(machine.project)
    machine.write(machine.config / "trust.json", trust_file(machine.project))
    assert commands(load(env=machine.env, workspace=link, trust="")) == ["project"]

    machine.write(machine.config / "trust.json", trust_file(link))
    assert commands(load(env=machine.env, workspace=link, trust="")) == []


def test_the_project_root_is_where_git_is(machine: Machine) -> None:
    """From a folder within a project its hooks are those of the nearest folder with a `.git`, else its own."""
    machine.project_hooks(stop("project"))
    inner = machine.project / "a" / "b"
    inner.mkdir(parents=True)

    assert inner == project_root(inner)
    (machine.project / ".git").touch()
    assert machine.project == project_root(inner) == project_root(machine.project)
    assert commands(load(env=machine.env, workspace=inner, trust="run-flag")) == ["project"]


def test_places_that_are_no_sources(machine: Machine) -> None:
    """Files of other tools, and files beside the right place, are not read."""
    for place in (".muse/settings.json", ".muse/hooks/hooks.json", "hooks.json", ".claude/settings.json"):
        machine.write(machine.project / place, {"schema_version": 1, "hooks": stop(place)})
    machine.write(machine.config / "hooks.json", {"hooks": stop("x")})
    machine.write(machine.config.parent.parent / ".muse" / "hooks.json", {"hooks": stop("x")})

    loaded = machine.load()
    assert (loaded.hooks, loaded.held_back) == ((), ())
    assert loaded.problems == ()
    assert loaded.in_vain is not None
    assert (loaded.in_vain.scope, loaded.in_vain.message) == (
        Scope.NOTE,
        f"the folder is trusted, and there are no hooks: nothing runs of {machine.project / '.muse/hooks.json'}",
    )
    assert machine.load(trust="yolo-flag") == Loaded(settings=SessionSettings(), trust="yolo-flag")


def test_hook_files_may_be_links(machine: Machine, tmp_path: Path) -> None:
    """A linked hook file is followed, and its hooks are known by the link's own path."""
    real = machine.write(tmp_path / "elsewhere.json", {"hooks": stop("linked")})
    link = machine.project / ".muse" / "hooks.json"
    link.parent.mkdir()
    link.symlink_to(real)

    loaded = machine.load()

    assert (["linked"], [str(link)]) == (commands(loaded), [hook.source.path for hook in loaded.hooks])


def test_state_switches_hooks_off(machine: Machine) -> None:
    """A hook that `hooks.state` switches off does not run and is counted as held back; managed hooks stay on."""
    machine.write(machine.config / "m.json", {"hooks": stop("managed")})
    project = machine.project_hooks(stop("project", "project2"))
    machine.settings(managed_hooks_path="m.json", hooks=stop("user", "user2"))
    loaded = machine.load()
    keys = {target.written: hook.key for target, hook in zip(targets(loaded), loaded.hooks, strict=True)}
    off = [keys["managed"], keys["user"], keys["project"], "unknown"]
    state = {**{key: {"enabled": False} for key in off}, keys["user2"]: {"enabled": True}}
    machine.settings(managed_hooks_path="m.json", hooks={"state": state, **stop("user", "user2")})

    loaded = machine.load()

    why = "switched off by hooks.state"
    assert commands(loaded) == ["managed", "user2", "project2"]
    assert loaded.problems == ()
    assert [
        HeldBack(label="settings.json", path=str(machine.config / "settings.json"), count=1, why=why),
        HeldBack(label="hooks.json", path=str(project), count=1, why=why),
    ] == [replace(each, hooks=()) for each in loaded.held_back]
    assert [1, 1] == [len(each.hooks) for each in loaded.held_back]


def test_rejected_settings_hooks_switch_nothing_off(machine: Machine) -> None:
    """A user source that contributes nothing does not contribute its `state` either: more hooks run, not fewer."""
    machine.project_hooks(stop("project"))
    state = {machine.load().hooks[0].key: {"enabled": False}}

    machine.settings(hooks={"state": state})
    assert commands(machine.load()) == []
    machine.settings(hooks={"state": state, "Stop": 5})
    assert commands(machine.load()) == ["project"]


def test_a_missing_shell_is_noted_where_there_are_hooks(machine: Machine) -> None:
    """B-80: a shell that cannot be started is noted at load if any hook would need it."""
    assert machine.load("yolo-flag", SHELL="/no/such/shell").problems == ()

    machine.settings(hooks=stop("user"))
    loaded = machine.load(SHELL="/no/such/shell")

    assert [(note.scope, note.code) for note in loaded.problems] == [(Scope.NOTE, "MissingShell")]
    assert [target.argv for target in targets(loaded)] == [("/no/such/shell", "-c", "user")]


def test_one_file_by_its_path(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that the caller names is read like a trusted project's, under its absolute path."""
    path = machine.project_hooks({**stop("project"), "OnSave": []})
    monkeypatch.chdir(machine.project)

    loaded = load_file(Path(".muse/hooks.json"), env=machine.env)

    assert [("project", str(path))] == [(hook.source.layer, hook.source.path) for hook in loaded.hooks]
    assert [problem.code for problem in loaded.problems] == ["UnsupportedEvent"]


def test_a_named_file_has_to_exist(machine: Machine) -> None:
    """A caller who names a file that is not there is told so at once."""
    with pytest.raises(ConfigError, match=r"there is no hook file at /no/such/hooks\.json"):
        load_file(Path("/no/such/hooks.json"), env=machine.env)
