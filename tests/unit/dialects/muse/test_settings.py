import json
from pathlib import Path
from typing import Any

import pytest

from hookline._core.errors import ConfigError
from hookline._core.problems import Scope
from hookline.dialects.muse.settings import Settings, parse_settings, read_settings, switched_off

PATH = Path("/c/muse/settings.json")


def parse(members: Any) -> Settings:
    text = members if isinstance(members, str) else json.dumps(members)
    return parse_settings(text.encode(), PATH)


def grants(*names: Any) -> dict[str, Any]:
    return {"schema_version": 1, "managed_hooks_env_vars": list(names)}


MALFORMED = "malformed settings file at /c/muse/settings.json: "
GRANT = "invalid managed_hooks_env_vars"

# (case, settings, what the program says, line, column)
REFUSED = [
    ("L01 no version", '{"hooks": {}}', MALFORMED + "missing field `schema_version`", 1, 1),
    ("L02 another version", '{"schema_version": 2}', "unsupported settings schema version 2", 1, 20),
    ("a version below", '{"schema_version": -1}', "unsupported settings schema version -1", 1, 20),
    ("a version that is a word", '{"schema_version": "1"}',
     MALFORMED + "field `schema_version` must be an integer, found a string", 1, 20),
    ("a version that is a boolean", '{"schema_version": true}',
     MALFORMED + "field `schema_version` must be an integer, found a boolean", 1, 20),
    ("not JSON", '{"schema_version": 1,\n}', MALFORMED + "a comma with nothing after it at line 1 column 21", 1, 21),
    ("a key twice", '{"schema_version": 1,\n "hooks": {"Stop": [], "Stop": []}}',
     MALFORMED + "duplicate key `Stop` at line 2 column 24", 2, 24),
    ("empty", "", MALFORMED + "nothing in it at line 1 column 1", 1, 1),
    ("not an object", "[]", MALFORMED + "the settings must be an object, found an array", 1, 1),
    ("a path that is null", '{"schema_version": 1, "managed_hooks_path": null}',
     MALFORMED + "field `managed_hooks_path` must be a string, found null", 1, 45),
    ("grants that are a word", '{"schema_version": 1, "managed_hooks_env_vars": "A"}',
     MALFORMED + "field `managed_hooks_env_vars` must be an array, found a string", 1, 49),
    ("a grant that is a number", '{"schema_version": 1, "managed_hooks_env_vars": ["A", 5]}',
     MALFORMED + "field `managed_hooks_env_vars[1]` must be a string, found a number", 1, 55),
    ("a limit below zero", '{"schema_version": 1, "max_consecutive_stop_hook_continuations": -1}',
     MALFORMED + "field `max_consecutive_stop_hook_continuations` must be a non-negative integer, found a number",
     1, 66),
    ("decisions that are a list", '{"schema_version": 1, "runtime_capabilities": []}',
     MALFORMED + "field `runtime_capabilities` must be an object, found an array", 1, 47),
    ("L33 a provider's credential", '{"schema_version": 1, "managed_hooks_env_vars": ["ANTHROPIC_API_KEY"]}',
     GRANT + "[0]: provider credential names are not allowed", 1, 50),
    ("in another case", '{"schema_version": 1, "managed_hooks_env_vars": ["A", "openai_Api_Key"]}',
     GRANT + "[1]: provider credential names are not allowed", 1, 55),
    ("L34 a name twice", '{"schema_version": 1, "managed_hooks_env_vars": ["A", "a"]}',
     GRANT + "[1]: duplicate name", 1, 55),
    ("no name", '{"schema_version": 1, "managed_hooks_env_vars": ["A=B"]}',
     GRANT + "[0]: name must match [A-Za-z_][A-Za-z0-9_]*", 1, 50),
    ("a name with a newline", '{"schema_version": 1, "managed_hooks_env_vars": ["A\\n"]}',
     GRANT + "[0]: name must match [A-Za-z_][A-Za-z0-9_]*", 1, 50),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=[case[0] for case in REFUSED])
def test_settings_that_cannot_be_used_stop_the_start(case: tuple[str, Any, str, int, int]) -> None:
    """Wrong settings raise with exactly the line that the program prints, and a problem that says where."""
    _, text, message, line, column = case

    with pytest.raises(ConfigError) as caught:
        parse(text)

    assert message == str(caught.value)
    [problem] = caught.value.problems
    assert (Scope.SETTINGS, line, column) == (problem.scope, problem.where.line, problem.where.column)
    assert (str(PATH), "settings.json") == (problem.where.file, problem.where.label)


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "HF_TOKEN", "GEMINI_API_KEY", "MODEL_API_KEY"])
def test_no_credential_can_be_granted(name: str) -> None:
    """Every name in the table of provider credentials is refused."""
    with pytest.raises(ConfigError, match="provider credential names are not allowed"):
        parse(grants(name))


def test_settings_say_what_they_say() -> None:
    """Each member that concerns hooks is read; a byte order mark before them is no fault."""
    members = {
        **grants("CI_TOKEN", "_x9"),
        "managed_hooks_path": "managed.json",
        "max_consecutive_stop_hook_continuations": 0,
        "runtime_capabilities": {},
    }

    settings = parse("\ufeff" + json.dumps(members))

    assert (settings.managed_path, settings.granted) == ("managed.json", ("CI_TOKEN", "_x9"))
    assert settings.session.reopen_limit == 0
    assert settings.notes == ()


def test_defaults() -> None:
    """What is not said has its default: eight continuations, no managed file, nothing granted."""
    settings = parse({"schema_version": 1})

    assert (settings.managed_path, settings.granted, settings.session.reopen_limit) == ("", (), 8)


@pytest.mark.parametrize("hooks", [[], None, 5, {"Stop": 1}], ids=str)
def test_broken_hooks_do_not_stop_the_start(hooks: Any) -> None:
    """What is wrong under `hooks` is the hook reader's to report: the settings themselves are in force."""
    assert parse({"schema_version": 1, "hooks": hooks}).document is not None


def test_unknown_members_are_noted() -> None:
    """A member that nobody reads stops nothing, and is noted with its place and the name that may have been meant."""
    settings = parse({"schema_version": 1, "Hooks": {}, "theme": "dark", "managedHooksPath": "x"})

    assert [(note.where.path, note.message) for note in settings.notes] == [
        ("Hooks", 'unknown top-level member `Hooks` is ignored (did you mean "hooks"?)'),
        ("theme", "unknown top-level member `theme` is ignored"),
        ("managedHooksPath",
         'unknown top-level member `managedHooksPath` is ignored (did you mean "managed_hooks_path"?)'),
    ]  # fmt: skip
    assert [Scope.ABSENT, Scope.NOTE, Scope.NOTE] == [note.scope for note in settings.notes]
    assert all(note.where.column for note in settings.notes)


def test_no_file_means_defaults(tmp_path: Path) -> None:
    """A settings file that does not exist is the same as one that says nothing."""
    assert Settings() == read_settings(tmp_path / "settings.json")


def test_a_file_that_cannot_be_read_stops_the_start(tmp_path: Path) -> None:
    """A settings file that is there and cannot be read is not taken for none."""
    dangling = tmp_path / "dangling.json"
    dangling.symlink_to(tmp_path / "nowhere")

    for path, why in ((tmp_path, "Is a directory"), (dangling, "the link leads nowhere")):
        with pytest.raises(ConfigError) as caught:
            read_settings(path)
        assert f"failed to read settings file at {path}: {why}" == str(caught.value)


def test_state_switches_off_what_it_says() -> None:
    """`hooks.state` names hooks by key; an entry that does not say true or false changes nothing, and is noted."""
    state = {"a": {"enabled": False}, "b": {"enabled": True}, "c": {"enabled": "no"}, "d": False, "e": {}}
    document = parse({"schema_version": 1, "hooks": {"state": state}}).document
    assert document is not None

    off, notes = switched_off(document)

    assert {"a"} == off
    assert [note.where.path for note in notes] == ["hooks.state.c", "hooks.state.d", "hooks.state.e"]
    assert {Scope.NOTE} == {note.scope for note in notes}
