"""Section 6.3: which files hold, and how they become one list."""

import os
from pathlib import Path

import pytest

from hookline._core.errors import ConfigError
from hookline._core.problems import Scope
from hookline.dialects.meerkat.entries import Entry, HooksConfig
from hookline.dialects.meerkat.layers import Resolved, core_layers, inherited, resolve
from hookline.dialects.meerkat.words import ToolDenial


def written(folder: Path, text: str) -> Path:
    """The folder, in which now a config file stands."""
    path = folder / ".rkat" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return folder


def hooks(*ids: str, **limits: int) -> str:
    lines = [f"{name} = {value}" for name, value in limits.items()]
    return "\n".join(["[hooks]", *lines, *(f"[[hooks.entries]]\nid = '{each}'" for each in ids)])


def ids(resolved: Resolved) -> list[str]:
    return [entry.id for entry in resolved.usable().entries]


def codes(resolved: Resolved) -> list[tuple[Scope, str]]:
    return [(problem.scope, problem.code) for problem in resolved.problems]


def test_core_reads_home_then_the_nearest_project(tmp_path: Path) -> None:
    """28: the home's entries come first, then those of the nearest folder above; further ones do not count."""
    home = written(tmp_path / "home", hooks("global-hook"))
    written(tmp_path / "work", hooks("too-far"))
    written(tmp_path / "work" / "project", hooks("project-hook"))
    start = tmp_path / "work" / "project" / "a" / "b"
    start.mkdir(parents=True)
    (start / ".rkat").mkdir()  # without a file in it, this is no project

    resolved = core_layers(home, start)

    assert ["global-hook", "project-hook"] == ids(resolved)
    assert () == resolved.problems
    assert ["home", "project"] == [entry.source.layer for entry in resolved.usable().entries]
    assert [".rkat/config.toml"] * 2 == [entry.source.label for entry in resolved.usable().entries]


def test_core_starts_at_the_folder_itself(tmp_path: Path) -> None:
    """The nearest folder may be the one that the search starts in, and the home may be unknown."""
    assert ["here"] == ids(core_layers(None, written(tmp_path, hooks("here"))))


def test_core_reads_one_file_once(tmp_path: Path) -> None:
    """Below a home that has no project nearer, the home's file is the nearest too, and its hooks are no duplicates."""
    home = written(tmp_path, hooks("one"))
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    assert ["one"] == ids(core_layers(home, tmp_path / "sub"))
    assert ["one"] == ids(core_layers(tmp_path / "link", tmp_path / "sub"))
    assert ["one"] == ids(resolve(tmp_path / ".rkat" / "config.toml", home, tmp_path / "link"))


def test_core_keeps_duplicates_and_they_are_refused(tmp_path: Path) -> None:
    """The core loader drops nothing: two of an id are an error, in the words of the document."""
    home, project = written(tmp_path / "h", hooks("dup")), written(tmp_path / "p", hooks("dup"))

    resolved = core_layers(home, project)

    assert resolved.config is None
    [problem] = resolved.problems
    assert (Scope.SETTINGS, "DuplicateId", str(project / ".rkat" / "config.toml"), 3) == (
        problem.scope, problem.code, problem.where.file, problem.where.line
    )  # fmt: skip
    assert problem.message.startswith("duplicate hook id: dup: the first stands at ")
    assert f"{home / '.rkat' / 'config.toml'}:2:1" in problem.message


def test_core_limits_are_built_in(tmp_path: Path) -> None:
    """What a file says about limits does not hold there, and its author is told, unless it says the same."""
    home = written(tmp_path / "h", hooks("a", default_timeout_ms=1, payload_max_bytes=131_072))

    resolved = core_layers(home, tmp_path / "nowhere")

    assert HooksConfig(entries=(Entry(id="a"),)) == resolved.config
    [note] = resolved.problems
    assert (Scope.NOTE, "IgnoredLimit", 2, 22) == (note.scope, note.code, note.where.line, note.where.column)
    assert "`default_timeout_ms` is ignored" in note.message
    assert "5000" in note.message


def three(tmp_path: Path, active: str, context: str, user: str) -> Resolved:
    (tmp_path / "realm.toml").write_text(active)
    return resolve(tmp_path / "realm.toml", written(tmp_path / "c", context), written(tmp_path / "u", user))


def test_the_first_of_an_id_holds(tmp_path: Path) -> None:
    """29: active, context, user; the first of an id wins, and each that is dropped is named at its place."""
    resolved = three(tmp_path, hooks("dup", "a"), hooks("dup", "c"), hooks("dup", "u", "a"))

    assert ["dup", "a", "c", "u"] == ids(resolved)
    assert ["active", "active", "context", "user"] == [entry.source.layer for entry in resolved.usable().entries]
    assert [(Scope.NOTE, "DuplicateAcrossLayers")] * 3 == codes(resolved)
    assert [("c", 3), ("u", 3), ("u", 7)] == [
        (Path(each.where.file).parts[-3], each.where.line) for each in resolved.problems
    ]
    assert f"the one of that id at {tmp_path / 'realm.toml'}:2:1 comes first" in resolved.problems[0].message


def test_two_of_an_id_within_a_file_are_refused(tmp_path: Path) -> None:
    """Two entries without an id are two of one id: nothing starts, and the remedy is said."""
    resolved = resolve(None, written(tmp_path, "[[hooks.entries]]\npriority = 1\n[[hooks.entries]]\n"), None)

    assert resolved.config is None
    [problem] = resolved.problems
    assert (Scope.SETTINGS, "DuplicateId", 3) == (problem.scope, problem.code, problem.where.line)
    assert "an entry without an id is called" in problem.message


def test_a_disabled_entry_keeps_its_id_from_the_layers_below(tmp_path: Path) -> None:
    """It occupies its id: that is how an active config switches a user's hook off."""
    resolved = three(tmp_path, hooks("x") + "\nenabled = false", hooks(), hooks("x"))
    assert (Entry(id="x", enabled=False),) == resolved.usable().entries


def test_only_the_active_config_sets_limits(tmp_path: Path) -> None:
    """Its concurrency is at least 1; what the other files say of limits is ignored and said."""
    active = hooks(background_max_concurrency=0, default_timeout_ms=7) + "\ntool_denial = 'fail_run'"

    resolved = three(tmp_path, active, hooks(default_timeout_ms=9), hooks(default_timeout_ms=7))

    assert HooksConfig(
        background_max_concurrency=1, default_timeout_ms=7, tool_denial=ToolDenial.FAIL_RUN
    ) == resolved.usable()  # fmt: skip
    assert [(Scope.NOTE, "IgnoredLimit")] == codes(resolved)
    assert "there it is 7" in resolved.problems[0].message


def test_without_an_active_config_the_limits_are_built_in(tmp_path: Path) -> None:
    """A user's file sets none, also where there is no other; and roots that are not named are not looked for."""
    resolved = resolve(None, None, written(tmp_path, hooks("u") + "\n[hooks.x]"))
    assert HooksConfig(entries=(Entry(id="u"),)) == resolved.usable()
    ignored = resolve(None, None, written(tmp_path, "[hooks]\ntool_denial = 'fail_run'"))
    assert HooksConfig() == ignored.usable()
    assert 'there it is "tool_error"' in ignored.problems[0].message
    assert Resolved(HooksConfig()) == resolve(None, None, None)


def test_a_broken_layer_is_an_error(tmp_path: Path) -> None:
    """Whichever file is broken, nothing starts, and the problems of every file are found."""
    resolved = three(tmp_path, "[[hooks.entries]]\nmode = 1", "[hooks", "[[hooks.entries]]\nid = ''")

    assert [(Scope.SETTINGS, "WrongType"), (Scope.SETTINGS, "MalformedToml"), (Scope.SETTINGS, "EmptyId")] == (
        codes(resolved)
    )
    assert resolved.config is None
    with pytest.raises(ConfigError, match=r"realm\.toml:2:8: `mode` must be") as caught:
        resolved.usable()
    assert resolved.problems == caught.value.problems


def test_an_illegal_entry_that_is_dropped_harms_nothing(tmp_path: Path) -> None:
    """Only what is in force is judged."""
    illegal = hooks("x") + "\nmode = 'background'\ncapability = 'guardrail'"
    assert ["x"] == ids(three(tmp_path, hooks("x"), illegal, hooks()))
    assert three(tmp_path, illegal, hooks("x"), hooks()).config is None


def test_what_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """A folder, a pipe or a link that leads nowhere in the place of a file is no reason to go without its guards."""
    folder = tmp_path / "folder"
    (folder / ".rkat" / "config.toml").mkdir(parents=True)
    link = tmp_path / "link"
    (link / ".rkat").mkdir(parents=True)
    (link / ".rkat" / "config.toml").symlink_to("nowhere")
    pipe = tmp_path / "pipe"
    (pipe / ".rkat").mkdir(parents=True)
    os.mkfifo(pipe / ".rkat" / "config.toml")

    for root in (folder, link, pipe):
        for resolved in (resolve(None, root, None), core_layers(None, root)):
            assert [(Scope.SETTINGS, "UnreadableConfig")] == codes(resolved)
            assert resolved.config is None


def test_an_active_config_has_to_be_there(tmp_path: Path) -> None:
    """Who names a file is told when there is none; the roots need not have one."""
    resolved = resolve(tmp_path / "realm.toml", tmp_path, tmp_path / "x")
    assert [(Scope.ABSENT, "ConfigAbsent")] == codes(resolved)
    assert [] == ids(resolved)


def test_a_file_that_is_too_large_is_an_error(tmp_path: Path) -> None:
    """One byte over 1 MiB is not read as far as it goes, but refused; 1 MiB is fine."""
    limit = 1_048_576
    assert [] == ids(resolve(None, written(tmp_path, "#" * limit), None))
    [problem] = resolve(None, written(tmp_path, "#" * (limit + 1)), None).problems
    assert "malformed TOML: larger than 1048576 bytes" == problem.message


def test_a_child_adds_to_its_parent_and_takes_nothing_away() -> None:
    """30: limits of a child count where they differ from the built-in ones; its entries come after."""
    a, b = Entry(id="a"), Entry(id="b")
    parent = HooksConfig(default_timeout_ms=1, payload_max_bytes=2, entries=(a,))
    assert parent == inherited(parent, HooksConfig())
    assert HooksConfig(
        default_timeout_ms=3, payload_max_bytes=2, tool_denial=ToolDenial.FAIL_RUN, entries=(a, b)
    ) == inherited(
        parent, HooksConfig(default_timeout_ms=3, tool_denial=ToolDenial.FAIL_RUN, entries=(b,))
    )  # fmt: skip
