"""The native manifest: every member and field, what is said of each that is wrong, and where (section 20)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.package_rig import SCRIPT, hook, manifest, write_package

from hookline._core.package_files import Limits, read_package
from hookline.dialects.muse.plugins.family import read_as_package
from hookline.dialects.muse.plugins.manifest import HookCapability, Read

MANIFEST = ".muse-plugin/plugin.json"
FILES = {"hooks/prompt.sh!": SCRIPT, "hooks/other.sh!": SCRIPT, "lib/words": "x"}


def read(root: Path, told: Any, files: dict[str, str] | None = None) -> Read:
    text = told if isinstance(told, str) else json.dumps(told)
    write_package(root, {MANIFEST: text, **(FILES if files is None else files)})
    return read_as_package(read_package(root, Limits()))


def said(found: Read) -> list[tuple[str, str, str]]:
    return [(each.code.value, each.at, each.message) for each in found.diagnostics]


def only(found: Read) -> HookCapability:
    assert found.manifest is not None
    (capability,) = found.manifest.hooks
    return capability


def test_a_whole_hook(tmp_path: Path) -> None:
    """Each of the eight fields is what it says, and the one word that names a file is known with its place."""
    told = {
        "id": "guard",
        "event": "PostToolUse",
        "command": ["sh", "-x", "./hooks/prompt.sh", "lib/words", "/etc/hosts", "$HOME/x", "a b"],
        "timeoutMs": 1500,
        "statusMessage": "looking",
        "compatibilityName": "deploy",
        "outputCapabilities": ["skills.v1"],
    }
    found = read(tmp_path, manifest(hooks=[told]))

    assert [] == said(found)
    assert HookCapability(
        id="guard",
        event="PostToolUse",
        file=MANIFEST,
        at=("capabilities", "hooks", 0),
        command=tuple(told["command"]),
        timeout_ms=1500,
        label="looking",
        compatibility_name="deploy",
        output_capabilities=("skills.v1",),
        source="hooks/prompt.sh",
        source_at=2,
    ) == only(found)


@pytest.mark.parametrize(
    ("written", "means"),
    [(None, 600_000), (0, 1000), (10, 1000), (1000, 1000), (1001, 1001), (2**70, (2**31 - 1) * 1000)],
)
def test_limits(tmp_path: Path, written: int | None, means: int) -> None:
    """Ten minutes unless said, a second at least, and no more than fits a timer."""
    told = hook() if written is None else hook(timeoutMs=written)

    assert means == only(read(tmp_path, manifest(hooks=[told]))).timeout_ms


def test_what_may_be_left_out(tmp_path: Path) -> None:
    """A manifest without hooks is whole; so is one that says `when`, a name to show, and what is nobody's business."""
    told = manifest(
        capabilities={},
        displayName="Guard",
        when={"env": {"CI": "1"}},
        meta=[1],
        compat={"manifestDir": ".muse-plugin", "source": 7},
    )
    found = read(tmp_path, told)

    assert [] == said(found)
    assert found.manifest is not None
    assert ("Guard", {"CI": "1"}) == (found.manifest.display_name, dict(found.manifest.when))
    assert found.manifest.holds_under({"CI": "1"})
    assert not found.manifest.holds_under({"CI": "2"})


def test_what_is_not_here_is_counted_or_warned_of(tmp_path: Path) -> None:
    """Skills, commands, servers and reminders have numbers; other kinds and unknown members have warnings."""
    capabilities = {
        "skills": [1, 2],
        "commands": [],
        "mcpServers": {"a": 1},
        "reminders": [1],
        "agents": [],
        "hoks": [],
    }
    found = read(tmp_path, manifest(capabilities=capabilities, icon="x"))

    assert found.is_valid
    assert found.manifest is not None
    assert {"skills": 2, "commands": 0, "hooks": 0, "mcp": 1, "reminders": 1} == dict(found.manifest.counts)
    assert [
        ("unsupported-field", "icon", "plugin manifest field `icon` is not supported"),
        ("unsupported-capability", "capabilities.agents", "plugin capability `agents` is not supported"),
        ("unsupported-field", "capabilities.hoks", "plugin capability field `hoks` is not supported"),
    ] == said(found)
    assert 'did you mean "hooks"?' in found.diagnostics[-1].remedy


SCHEMA = "invalid-manifest-schema"

TOP: list[tuple[dict[str, Any], str, str, str]] = [
    ({"schemaVersion": None}, SCHEMA, "schemaVersion", "plugin manifest must declare schemaVersion 1"),
    ({"schemaVersion": 2}, SCHEMA, "schemaVersion", "plugin manifest must declare schemaVersion 1"),
    ({"schemaVersion": True}, SCHEMA, "schemaVersion", "plugin manifest must declare schemaVersion 1"),
    ({"schemaVersion": 1.0}, SCHEMA, "schemaVersion", "plugin manifest must declare schemaVersion 1"),
    ({"name": None}, SCHEMA, "", "plugin manifest must declare string field `name`"),
    ({"name": 7}, SCHEMA, "name", "plugin manifest must declare string field `name`"),
    ({"name": "Guard"}, "invalid-plugin-id", "name", "plugin id `Guard` is invalid"),
    ({"name": ""}, "invalid-plugin-id", "name", "plugin id `` is invalid"),
    ({"name": "../x"}, "invalid-plugin-id", "name", "plugin id `../x` is invalid"),
    ({"name": "a" * 81}, "invalid-plugin-id", "name", f"plugin id `{'a' * 81}` is invalid"),
    ({"version": None}, SCHEMA, "", "plugin manifest must declare string field `version`"),
    ({"version": " "}, "invalid-version", "version", "plugin version must not be blank"),
    ({"description": ""}, SCHEMA, "description", "plugin manifest field `description` must not be empty"),
    ({"displayName": 7}, SCHEMA, "displayName", "plugin manifest must declare string field `displayName`"),
    ({"compat": None}, SCHEMA, "", "plugin manifest must declare compat.manifestDir"),
    ({"compat": {}}, SCHEMA, "compat", "plugin manifest must declare compat.manifestDir"),
    (
        {"compat": {"manifestDir": ".claude-plugin"}},
        "manifest-family-mismatch",
        "compat.manifestDir",
        "compat.manifestDir is `.claude-plugin`, and the manifest stands in `.muse-plugin`",
    ),
    (
        {"when": {"env": {"A": 1}}},
        SCHEMA,
        "when",
        "plugin manifest field `when` must be an object with `env`, an object of strings",
    ),
    ({"capabilities": None}, SCHEMA, "", "plugin manifest must declare capabilities"),
    ({"capabilities": []}, SCHEMA, "capabilities", "plugin manifest must declare capabilities"),
    (
        {"capabilities": {"hooks": {}}},
        SCHEMA,
        "capabilities.hooks",
        "capabilities.hooks must be an array, found an object",
    ),
    (
        {"capabilities": {"hooks": ["x"]}},
        SCHEMA,
        "capabilities.hooks[0]",
        "hook capability must be an object, found a string",
    ),
]


@pytest.mark.parametrize(("changes", "code", "at", "message"), TOP, ids=[json.dumps(row[0])[:40] for row in TOP])
def test_what_is_wrong_with_a_manifest(
    tmp_path: Path, changes: dict[str, Any], code: str, at: str, message: str
) -> None:
    """One thing is wrong, and that is what is said, where it stands, with what to write."""
    found = read(tmp_path, manifest(**changes))

    assert [(code, at, message)] == said(found)
    assert found.diagnostics[0].remedy
    assert not found.is_valid


AT = "capabilities.hooks[0]"
FOREGROUND = (
    "hook capability `prompt` skills.v1 is supported only for foreground UserPromptSubmit or PostToolUse command hooks"
)
NO_MATCHER = (
    "hook capability field `matcher` is not supported: plugin hooks key on `event`, "
    "and the program reads the rest from its input"
)
ALIAS = "hook capability `prompt` compatibilityName"

HOOKS: list[tuple[dict[str, Any], str, str, str]] = [
    ({"id": None}, "invalid-capability-id", AT, "hook capability id is missing"),
    ({"id": "A"}, "invalid-capability-id", f"{AT}.id", "hook capability id `A` is invalid"),
    ({"id": 7}, "invalid-capability-id", f"{AT}.id", "hook capability id `7` is invalid"),
    ({"event": None}, SCHEMA, AT, "hook capability `prompt` must declare string field `event`"),
    ({"event": 7}, SCHEMA, f"{AT}.event", "hook capability `prompt` must declare string field `event`, found a number"),
    (
        {"event": "pre_tool_use"},
        "unsupported-hook-event",
        f"{AT}.event",
        "hook capability `prompt` event `pre_tool_use` is unsupported",
    ),
    ({"command": None}, "missing-capability-command", AT, "hook capability `prompt` must declare a non-empty command"),
    (
        {"command": []},
        "missing-capability-command",
        f"{AT}.command",
        "hook capability `prompt` must declare a non-empty command",
    ),
    (
        {"command": [""]},
        "missing-capability-command",
        f"{AT}.command",
        "hook capability `prompt` must declare a non-empty command",
    ),
    ({"command": "x"}, SCHEMA, f"{AT}.command", "hook capability `prompt` must declare a command array"),
    ({"command": [7]}, SCHEMA, f"{AT}.command", "hook capability `prompt` must declare a command array"),
    (
        {"command": ["a", "b\0"]},
        SCHEMA,
        f"{AT}.command[1]",
        "hook capability `prompt` command must not contain a NUL character",
    ),
    (
        {"command": ["./hooks/gone.sh"]},
        "missing-capability-path",
        f"{AT}.command[0]",
        "plugin file is not readable: No such file or directory (os error 2)",
    ),
    (
        {"command": ["./hooks"]},
        "missing-capability-path",
        f"{AT}.command[0]",
        "plugin file is not readable: Is a directory (os error 21)",
    ),
    (
        {"command": ["./hooks/prompt.sh", "lib/gone"]},
        "missing-capability-path",
        f"{AT}.command[1]",
        "plugin file is not readable: No such file or directory (os error 2)",
    ),
    (
        {"command": ["../x.sh"]},
        "unsafe-path",
        f"{AT}.command[0]",
        "plugin capability path must stay inside plugin root",
    ),
    (
        {"command": ["sh", "lib/../x"]},
        "unsafe-path",
        f"{AT}.command[1]",
        "plugin capability path must stay inside plugin root",
    ),
    ({"command": ["."]}, "unsafe-path", f"{AT}.command[0]", "plugin capability path must stay inside plugin root"),
    (
        {"timeoutMs": "5"},
        SCHEMA,
        f"{AT}.timeoutMs",
        "hook capability `prompt` field `timeoutMs` must be a non-negative integer, found a string",
    ),
    (
        {"timeoutMs": True},
        SCHEMA,
        f"{AT}.timeoutMs",
        "hook capability `prompt` field `timeoutMs` must be a non-negative integer, found a boolean",
    ),
    (
        {"async": "yes"},
        SCHEMA,
        f"{AT}.async",
        "hook capability `prompt` field `async` must be a boolean, found a string",
    ),
    (
        {"statusMessage": 1},
        SCHEMA,
        f"{AT}.statusMessage",
        "hook capability `prompt` field `statusMessage` must be a string, found a number",
    ),
    (
        {"outputCapabilities": "skills.v1"},
        SCHEMA,
        f"{AT}.outputCapabilities",
        'hook capability `prompt` outputCapabilities must be exactly ["skills.v1"]',
    ),
    (
        {"outputCapabilities": ["skills.v1"], "async": True},
        SCHEMA,
        f"{AT}.outputCapabilities",
        FOREGROUND,
    ),
    (
        {"outputCapabilities": ["skills.v1"], "event": "Stop"},
        SCHEMA,
        f"{AT}.outputCapabilities",
        FOREGROUND,
    ),
    (
        {"matcher": "Bash"},
        "unsupported-field",
        f"{AT}.matcher",
        NO_MATCHER,
    ),
    ({"timeout": 5}, "unsupported-field", f"{AT}.timeout", "hook capability field `timeout` is not supported"),
    (
        {"compatibilityName": "x"},
        SCHEMA,
        f"{AT}.compatibilityName",
        f"{ALIAS} is supported only for PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure hooks",
    ),
    (
        {"event": "PreToolUse", "compatibilityName": "a-b"},
        SCHEMA,
        f"{AT}.compatibilityName",
        f"{ALIAS} must be 1 to 80 ASCII letters, digits or underscores",
    ),
    (
        {"event": "PreToolUse", "compatibilityName": "Bash"},
        SCHEMA,
        f"{AT}.compatibilityName",
        f"{ALIAS} `Bash` collides with a built-in tool matcher name",
    ),
    (
        {"event": "PreToolUse", "compatibilityName": "bash"},
        SCHEMA,
        f"{AT}.compatibilityName",
        f"{ALIAS} `bash` collides with a built-in tool matcher name",
    ),
]


@pytest.mark.parametrize(("changes", "code", "at", "message"), HOOKS, ids=[json.dumps(row[0])[:50] for row in HOOKS])
def test_what_is_wrong_with_a_hook(tmp_path: Path, changes: dict[str, Any], code: str, at: str, message: str) -> None:
    """One thing is wrong with one hook, and that is what is said, where it stands, with what to write."""
    told = {name: value for name, value in hook(**changes).items() if value is not None}
    if "id" in changes:
        told |= {name: value for name, value in changes.items() if name == "id" and value is not None}
        told = told if changes["id"] is not None else {name: value for name, value in told.items() if name != "id"}
    found = read(tmp_path, manifest(hooks=[told]))

    assert [(code, at, message)] == said(found)
    assert found.diagnostics[0].remedy
    assert not found.is_valid


def test_hooks_against_one_another(tmp_path: Path) -> None:
    """An id, a source and a tool's name are each one hook's."""
    tool = hook("prompt", "PreToolUse", compatibilityName="deploy")
    hooks = [
        tool,
        {**tool, "id": "other", "command": ["sh", "hooks/prompt.sh"], "compatibilityName": "ship"},
        {**hook("other"), "command": ["true"]},
        {**tool, "id": "third", "command": ["true"]},
    ]
    found = read(tmp_path, manifest(hooks=hooks))

    assert [
        (
            "duplicate-hook-source",
            "capabilities.hooks[1].command[1]",
            "hook capability `other` reuses source `hooks/prompt.sh` already used by `prompt`",
        ),
        ("duplicate-capability-id", "capabilities.hooks[2].id", "duplicate hook capability id `other`"),
        (
            SCHEMA,
            "capabilities.hooks[3].compatibilityName",
            "hook capability `third` compatibilityName `deploy` collides with that of `prompt`",
        ),
    ] == said(found)


def test_a_tools_name_and_ids_of_hooks(tmp_path: Path) -> None:
    """It may be the id of its own hook, and of no other."""
    own = hook("prompt", "PreToolUse", compatibilityName="prompt")
    assert [] == said(read(tmp_path / "own", manifest(hooks=[own])))

    found = read(tmp_path / "other", manifest(hooks=[{**own, "compatibilityName": "other"}, hook("other")]))
    message = "hook capability `prompt` compatibilityName `other` collides with the id of a hook"
    assert [(SCHEMA, "capabilities.hooks[0].compatibilityName", message)] == said(found)


def test_everything_is_told_at_once_with_its_line(tmp_path: Path) -> None:
    """Required texts come before compat, and that before capabilities; every finding has line and column."""
    text = """{"schemaVersion": 3,
 "name": "Guard", "version": "",
 "description": "x", "compat": {"manifestDir": "x"},
 "capabilities": {"hooks": [{"id": "a", "event": "Stop", "command": []},
   {"id": "b", "event": "OnSave", "command": ["true"], "extra": 1}]}}"""
    found = read(tmp_path, text)

    assert [
        (SCHEMA, 1, 19),
        ("invalid-plugin-id", 2, 10),
        ("invalid-version", 2, 30),
        ("manifest-family-mismatch", 3, 48),
        ("missing-capability-command", 4, 69),
        ("unsupported-field", 5, 56),
        ("unsupported-hook-event", 5, 25),
    ] == [(each.code.value, each.line, each.column) for each in found.diagnostics]
    assert f"{tmp_path / MANIFEST}:1:19" == found.diagnostics[0].place


@pytest.mark.parametrize(
    ("text", "code", "message", "line"),
    [
        ("", "invalid-manifest-json", "plugin manifest is not valid JSON: nothing in it", 1),
        ("{\n,}", "invalid-manifest-json", "plugin manifest is not valid JSON: ", 2),
        (
            '{"name": 1,\n"name": 2}',
            "invalid-manifest-json",
            "plugin manifest is not valid JSON: duplicate key `name`",
            2,
        ),
        ("[]", SCHEMA, "plugin manifest must be an object, found an array", 1),
        (
            '{"x": "' + "x" * 131_072 + '"}',
            "invalid-manifest-json",
            "plugin manifest is not valid JSON: larger than",
            1,
        ),
    ],
)
def test_what_is_no_manifest_at_all(tmp_path: Path, text: str, code: str, message: str, line: int) -> None:
    """JSON that is not strict, not an object or too large is told with its place."""
    (told,) = read(tmp_path, text).diagnostics

    assert (code, line) == (told.code.value, told.line)
    assert told.message.startswith(message)


def test_which_manifest_counts(tmp_path: Path) -> None:
    """Of several families the native one, then Claude's; that the others are ignored is said."""
    other = json.dumps({"name": "theirs"})
    files = {".claude-plugin/plugin.json": other, ".codex-plugin/plugin.json": other}
    found = read(tmp_path, manifest(), {**FILES, **files})

    assert found.is_valid
    assert found.manifest is not None
    assert "guard" == found.manifest.id
    assert [
        ("multiple-manifests", "", "selected `.muse-plugin`; ignoring `.claude-plugin`"),
        ("multiple-manifests", "", "selected `.muse-plugin`; ignoring `.codex-plugin`"),
    ] == said(found)


def test_a_folder_without_a_manifest_is_told_which_there_may_be(tmp_path: Path) -> None:
    """What is missing is named with its place."""
    (told,) = read_as_package(read_package(write_package(tmp_path, FILES), Limits())).diagnostics

    assert ("missing-manifest", str(tmp_path)) == (told.code.value, told.path)
    assert MANIFEST in told.message


@pytest.mark.parametrize("name", ["loop", "muse-core", "tbh-reminders"])
def test_names_of_plugins_that_come_with_muse_code(tmp_path: Path, name: str) -> None:
    """They can be installed, and a warning says that nothing comes of them."""
    found = read(tmp_path, manifest(name))

    assert found.is_valid
    assert ["bundled_plugin_id_reserved"] == [each.code.value for each in found.diagnostics]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from([*manifest(), "when", "displayName", "x"])
FIELDS = st.sampled_from([*hook(), "timeoutMs", "async", "compatibilityName", "outputCapabilities", "statusMessage"])


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(NAMES, JSON, max_size=4), st.lists(st.dictionaries(FIELDS, JSON, max_size=4) | JSON, max_size=3))
def test_any_manifest_is_read_and_judged(
    tmp_path_factory: pytest.TempPathFactory, members: dict[str, Any], hooks: list[Any]
) -> None:
    """Whatever stands in it: there is a judgement, and what is valid has hooks that can be hashed."""
    told = manifest(hooks=[{**hook(), **each} if isinstance(each, dict) else each for each in hooks]) | members
    found = read(tmp_path_factory.mktemp("any"), told)

    assert found.is_valid or any(each.is_error and each.message for each in found.diagnostics)
    if found.is_valid and found.manifest is not None:
        for each in found.manifest.hooks:
            again = HookCapability.from_members(json.loads(json.dumps(each.members())))
            assert json.dumps(each.definition(), sort_keys=True) == json.dumps(again.definition(), sort_keys=True)
            assert each == again
