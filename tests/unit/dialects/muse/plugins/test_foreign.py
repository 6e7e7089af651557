"""Packages of other families: what they declare, what is lost of it, and everything that is wrong with it."""

import json
import re
import shutil
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline._core.package_files import Limits, PackageFile, PackageFiles, read_package
from hookline.dialects._places import path_text
from hookline.dialects.muse.document import Finding
from hookline.dialects.muse.group import read_matcher
from hookline.dialects.muse.plugins.diagnostics import Code
from hookline.dialects.muse.plugins.family import is_manifest, read_as_package
from hookline.dialects.muse.plugins.manifest import MANIFEST_BYTES, Family, HookCapability, Manifest, Read
from hookline.dialects.muse.rules import BY_NAME
from hookline.dialects.muse.selector import compile_selector

CLAUDE, CODEX = Family.CLAUDE, Family.CODEX
FAMILIES = pytest.mark.parametrize("family", [CLAUDE, CODEX], ids=lambda family: family.value)
HOOK_FILE = "hooks/hooks.json"
OK = {"type": "command", "command": "guard"}

Files = Mapping[str, Any]  # of each its text, or a value that is written as JSON
Reader = Callable[..., Read]


def written(value: Any) -> bytes:
    return value if isinstance(value, bytes) else (value if isinstance(value, str) else json.dumps(value)).encode()


def write(root: Path, files: Files) -> None:
    for name, value in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(written(value))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of the package that was read last."""
    return tmp_path / "demo"


@pytest.fixture
def read(root: Path) -> Reader:
    """Reads a package that has this manifest and these files alone, and a name if it is not told another."""

    def read(family: Family, manifest: Any, files: Files | None = None) -> Read:
        manifest = {"name": "demo", **manifest} if isinstance(manifest, dict) else manifest
        shutil.rmtree(root, ignore_errors=True)
        write(root, {family.manifest: manifest, **(files or {})})
        found = read_as_package(read_package(root, Limits(), keep=is_manifest))
        assert all(each.remedy for each in found.diagnostics)
        return found

    return read


def whole(found: Read) -> Manifest:
    """The manifest of a package in which there is no fault."""
    assert () == tuple(each.text for each in found.diagnostics if each.is_error)
    assert found.manifest is not None
    return found.manifest


def told(found: Read) -> list[tuple[str, str, str]]:
    """What was found: its code, its place in the document and its words."""
    return [(each.code.value, each.at, each.message) for each in found.diagnostics]


def on(event: str, /, *handlers: Any, **group: Any) -> dict[str, Any]:
    """An event map with one group, which has *handlers*, or a right one."""
    return {event: [{"hooks": list(handlers) or [OK], **group}]}


def first(event_map: dict[str, Any], read: Reader, family: Family = CLAUDE) -> HookCapability:
    (hook,) = whole(read(family, {"hooks": event_map})).hooks
    return hook


@FAMILIES
def test_a_manifest_that_says_its_name_says_enough(read: Reader, family: Family) -> None:
    """It has a version of its own all the same, and nothing else."""
    manifest = whole(read(family, {}))

    assert (family, "demo", "0.0.0", "") == (manifest.family, manifest.id, manifest.version, manifest.description)
    assert () == manifest.hooks
    assert {"skills": 0, "commands": 0, "hooks": 0, "mcp": 0, "reminders": 0} == manifest.counts


@FAMILIES
def test_other_members_of_a_manifest_pass(read: Reader, family: Family) -> None:
    """Manifests of other tools say much that is nothing to us."""
    members = ["author", "homepage", "repository", "license", "keywords", "interface", "$schema", "displayName", "x"]
    found = read(family, {"version": "2.1", "description": "Guards.", **{name: [name] for name in members}})

    assert [] == told(found)
    assert ("2.1", "Guards.") == (whole(found).version, whole(found).description)


LOST = [
    *("agents", "outputStyles", "lspServers", "apps", "tools", "settings", "developerPrompts"),
    *("monitors", "themes", "channels", "userConfig", "dependencies", "experimental"),
]


@pytest.mark.parametrize("name", LOST)
def test_what_is_lost_is_told(read: Reader, name: str) -> None:
    """A capability that there is not here is a warning at its key, and the package is good."""
    found = read(CLAUDE, {name: ["./x"]})

    assert [("unsupported-capability", name, f"plugin capability `{name}` is not supported")] == told(found)
    assert found.is_valid


BAD_TEXTS = [
    ({"name": 5}, "invalid-manifest-schema", "name", "plugin manifest must declare string field `name`"),
    ({"name": None}, "invalid-manifest-schema", "name", "plugin manifest must declare string field `name`"),
    ({"name": "Demo"}, "invalid-plugin-id", "name", "plugin id `Demo` is invalid"),
    ({"name": "demo\n"}, "invalid-plugin-id", "name", "plugin id `demo\n` is invalid"),
    ({"name": ""}, "invalid-plugin-id", "name", "plugin id `` is invalid"),
    ({"version": " "}, "invalid-version", "version", "plugin version must not be blank"),
    ({"version": 1}, "invalid-manifest-schema", "version", "plugin manifest must declare string field `version`"),
    ({"version": None}, "invalid-manifest-schema", "version", "plugin manifest must declare string field `version`"),
    (
        {"description": []},
        "invalid-manifest-schema",
        "description",
        "plugin manifest must declare string field `description`",
    ),
]


@FAMILIES
@pytest.mark.parametrize(("members", "code", "at", "message"), BAD_TEXTS, ids=[str(case[0]) for case in BAD_TEXTS])
def test_a_bad_text_of_the_manifest(
    read: Reader, family: Family, members: dict[str, Any], code: str, at: str, message: str
) -> None:
    """Identifier, version and description have the words of a native manifest."""
    found = read(family, members)

    assert [(code, at, message)] == told(found)
    assert not found.is_valid


@FAMILIES
def test_a_manifest_without_a_name(read: Reader, family: Family) -> None:
    """It is told at the manifest's beginning."""
    found = read(family, '\n {"version": "1"}')

    assert [("invalid-manifest-schema", "", "plugin manifest must declare string field `name`")] == told(found)
    assert (2, 2) == (found.diagnostics[0].line, found.diagnostics[0].column)
    assert "" == found.label


@pytest.mark.parametrize(("value", "noun"), [("[]", "an array"), ("null", "null"), ("5", "a number")])
def test_a_manifest_that_is_no_object(read: Reader, value: str, noun: str) -> None:
    """Nothing else can be said of it."""
    found = read(CODEX, value)

    assert [("invalid-manifest-schema", "", f"plugin manifest must be an object, found {noun}")] == told(found)
    assert found.manifest is None


def test_a_hook_says_all_that_its_handler_says(read: Reader) -> None:
    """Every field of a handler has its place, and the hook knows where it was declared."""
    handler = {
        **OK,
        "timeout": 5,
        "statusMessage": "Guarding",
        "async": True,
        "description": "a guard",
        "silent": True,
        "if": "Bash(git *)",
    }
    hook = first(on("PreToolUse", handler, matcher="^Ba", description="guards"), read)

    assert (
        HookCapability(
            id=hook.id,
            event="PreToolUse",
            file=".claude-plugin/plugin.json",
            at=("hooks", "PreToolUse", 0, "hooks", 0),
            line="guard",
            timeout_ms=5000,
            label="Guarding",
            background=True,
            matcher="^Ba",
            condition="Bash(git *)",
        )
        == hook
    )


@FAMILIES
def test_a_hook_that_says_little(read: Reader, family: Family) -> None:
    """Without a limit it has ten minutes; without a matcher or an `if` it has none."""
    hook = first(on("Stop"), read, family)

    assert ("guard", (), 600_000) == (hook.line, hook.command, hook.timeout_ms)
    assert ("", False, None, None) == (hook.label, hook.background, hook.matcher, hook.condition)


@pytest.mark.parametrize(
    ("seconds", "milliseconds"),
    [(0, 1000), (1, 1000), (2, 2000), (600, 600_000), (2**31 - 1, (2**31 - 1) * 1000), (10**40, (2**31 - 1) * 1000)],
)
def test_a_limit_counts_in_seconds(read: Reader, seconds: int, milliseconds: int) -> None:
    """A second at least, and no more than fits a timer."""
    assert milliseconds == first(on("Stop", {**OK, "timeout": seconds}), read).timeout_ms


STOP = on("Stop")
OTHER = on("SessionEnd")
FILES = {"a.json": {"hooks": STOP}, "b/c.json": {"description": "c", "hooks": OTHER}}
USUAL = {HOOK_FILE: {"hooks": on("SessionStart")}}

# (family, the member `hooks` of the manifest, files of the package, where the hooks are that count)
PLACES = [
    (CLAUDE, STOP, {}, [".claude-plugin/plugin.json hooks.Stop[0].hooks[0]"]),
    (CLAUDE, {"hooks": STOP}, {}, [".claude-plugin/plugin.json hooks.hooks.Stop[0].hooks[0]"]),
    (CLAUDE, {"hooks": STOP, "description": "x"}, {}, [".claude-plugin/plugin.json hooks.hooks.Stop[0].hooks[0]"]),
    (CLAUDE, "./a.json", FILES, ["a.json hooks.Stop[0].hooks[0]"]),
    (CLAUDE, "b//./c.json", FILES, ["b/c.json hooks.SessionEnd[0].hooks[0]"]),
    (
        CLAUDE,
        ["./b/c.json", STOP, {"hooks": OTHER}, "a.json"],
        FILES,
        [
            "b/c.json hooks.SessionEnd[0].hooks[0]",
            ".claude-plugin/plugin.json hooks[1].Stop[0].hooks[0]",
            ".claude-plugin/plugin.json hooks[2].hooks.SessionEnd[0].hooks[0]",
            "a.json hooks.Stop[0].hooks[0]",
        ],
    ),
    (CLAUDE, ["a.json", "./a.json"], FILES, ["a.json hooks.Stop[0].hooks[0]"]),
    (CLAUDE, None, USUAL, [f"{HOOK_FILE} hooks.SessionStart[0].hooks[0]"]),
    (
        CLAUDE,
        "./a.json",
        {**FILES, **USUAL},
        ["a.json hooks.Stop[0].hooks[0]", f"{HOOK_FILE} hooks.SessionStart[0].hooks[0]"],
    ),
    (CLAUDE, f"./{HOOK_FILE}", USUAL, [f"{HOOK_FILE} hooks.SessionStart[0].hooks[0]"]),
    (
        CLAUDE,
        [f"./{HOOK_FILE}", "a.json"],
        {**FILES, **USUAL},
        [f"{HOOK_FILE} hooks.SessionStart[0].hooks[0]", "a.json hooks.Stop[0].hooks[0]"],
    ),
    (CLAUDE, [], USUAL, [f"{HOOK_FILE} hooks.SessionStart[0].hooks[0]"]),
    (CLAUDE, None, {f"{HOOK_FILE}/x": "a folder"}, []),
    (CODEX, STOP, USUAL, [".codex-plugin/plugin.json hooks.Stop[0].hooks[0]"]),
    (CODEX, "./a.json", {**FILES, **USUAL}, ["a.json hooks.Stop[0].hooks[0]"]),
    (CODEX, None, USUAL, [f"{HOOK_FILE} hooks.SessionStart[0].hooks[0]"]),
    (CODEX, [], USUAL, []),
    (CODEX, None, {}, []),
]


@pytest.mark.parametrize(("family", "hooks", "files", "where"), PLACES)
def test_where_hooks_are(read: Reader, family: Family, hooks: Any, files: Files, where: list[str]) -> None:
    """The manifest has them or names them. The usual file counts beside that for Claude, in its place for Codex."""
    manifest = whole(read(family, {} if hooks is None else {"hooks": hooks}, files))

    assert where == [f"{hook.file} {path_text(hook.at)}" for hook in manifest.hooks]
    assert len(where) == manifest.counts["hooks"]


UNSAFE = "plugin capability path must stay inside plugin root"
NO_FILE = "plugin file is not readable: No such file or directory (os error 2)"
BAD_PATHS = [
    *((path, "unsafe-path", UNSAFE) for path in ("../a.json", "./x/../a.json", "/a.json", "", ".", "./")),
    *((path, "unsafe-path", UNSAFE) for path in ("..\\a.json", "\\a.json", "C:\\a.json", "c:a.json", "//h/s/a.json")),
    ("./none.json", "missing-capability-path", NO_FILE),
    ("${CLAUDE_PLUGIN_ROOT}/a.json", "missing-capability-path", NO_FILE),
    ("a\0.json", "missing-capability-path", NO_FILE),
    ("b", "missing-capability-path", "plugin file is not readable: Is a directory (os error 21)"),
]


@FAMILIES
@pytest.mark.parametrize(("path", "code", "message"), BAD_PATHS, ids=[repr(case[0]) for case in BAD_PATHS])
def test_a_path_that_names_no_file_of_the_package(
    read: Reader, family: Family, path: str, code: str, message: str
) -> None:
    """It is told where it is written, and the other files are read all the same."""
    found = read(family, {"hooks": [path, "a.json"]}, FILES)

    assert [(code, "hooks[0]", message)] == told(found)
    assert found.manifest is not None
    assert ["Stop"] == [hook.event for hook in found.manifest.hooks]


OF_THESE = "plugin manifest field `hooks` must be an object, a path or an array of these"


@FAMILIES
@pytest.mark.parametrize(
    ("hooks", "at", "noun"),
    [
        (5, "hooks", "a number"),
        (None, "hooks", "null"),
        ([[]], "hooks[0]", "an array"),
        ([True], "hooks[0]", "a boolean"),
    ],
)
def test_a_member_that_declares_no_hooks(read: Reader, family: Family, hooks: Any, at: str, noun: str) -> None:
    """Three forms there are, and arrays in arrays are none of them."""
    assert [("invalid-manifest-schema", at, f"{OF_THESE}, found {noun}")] == told(read(family, {"hooks": hooks}))


def test_a_hook_file_that_is_not_json(read: Reader, root: Path) -> None:
    """It is told where it stops being any, in that file."""
    found = read(CLAUDE, {"name": "demo"}, {HOOK_FILE: '{"hooks": {\n  "Stop": [],}}'})

    (one,) = found.diagnostics
    assert (Code.INVALID_JSON, "hook file is not valid JSON: a comma with nothing after it") == (one.code, one.message)
    assert f"{root / HOOK_FILE}:2:13" == one.place
    assert not found.is_valid


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b" " * (MANIFEST_BYTES + 1), f"hook file is not valid JSON: larger than {MANIFEST_BYTES} bytes"),
        (b"\xff", "hook file is not valid JSON: not UTF-8: byte 0 is 0xff"),
        (b"", "hook file is not valid JSON: nothing in it"),
        (b"[" * 200, "hook file is not valid JSON: nested more than 100 levels deep"),
    ],
    ids=["large", "bytes", "empty", "deep"],
)
def test_a_hook_file_that_cannot_be_taken(read: Reader, data: bytes, message: str) -> None:
    """One is as large as a manifest at most, and JSON as strict."""
    assert [("invalid-manifest-json", "", message)] == told(read(CODEX, {}, {HOOK_FILE: data}))


BAD_FILES = [
    ([], "", "hook file must be an object, found an array"),
    ({}, "", "hook file must declare `hooks`"),
    ({"hooks": []}, "hooks", "hooks must be an object"),
    ({"hooks": None}, "hooks", "hooks must be an object"),
    (
        {"hooks": {}, "description": 5},
        "description",
        "foreign hook file field `description` must be a string, found a number",
    ),
    ({"hooks": {"Stop": {}}}, "hooks.Stop", "hook event `Stop` must be an array"),
    ({"hooks": {"Stop": [5]}}, "hooks.Stop[0]", "hook matcher group must be an object, found a number"),
    ({"hooks": {"Stop": [{}]}}, "hooks.Stop[0]", "hook matcher group must declare `hooks`"),
    (
        {"hooks": {"Stop": [{"hooks": {}}]}},
        "hooks.Stop[0].hooks",
        "hook matcher group `hooks` must be an array, found an object",
    ),
    (
        {"hooks": {"Stop": [{"hooks": [], "description": 1}]}},
        "hooks.Stop[0].description",
        "foreign hook group field `description` must be a string, found a number",
    ),
    (
        {"hooks": {"PreToolUse": [{"matcher": None, "hooks": [OK]}]}},
        "hooks.PreToolUse[0].matcher",
        "hook matcher must be a string, found null",
    ),
    (
        {"hooks": {"PreToolUse": [{"matcher": "(", "hooks": [OK]}]}},
        "hooks.PreToolUse[0].matcher",
        "hook matcher `(` is not a valid regular expression: missing ): (",
    ),
    (
        {"hooks": {"Stop": [{"matcher": "Bash", "hooks": [OK]}]}},
        "hooks.Stop[0].matcher",
        "`stop` is unmatchable; drop this group's matcher",
    ),
    (
        {"hooks": {"Stop": [{"hooks": ["x"]}]}},
        "hooks.Stop[0].hooks[0]",
        "hook handler must be an object, found a string",
    ),
]


@FAMILIES
@pytest.mark.parametrize(("value", "at", "message"), BAD_FILES, ids=[str(case[0]) for case in BAD_FILES])
def test_a_shape_that_is_wrong(read: Reader, family: Family, value: Any, at: str, message: str) -> None:
    """In the words of a hook file of the settings, and nothing comes of what stands in it."""
    found = read(family, {}, {HOOK_FILE: value})

    assert [("invalid-manifest-schema", at, message)] == told(found)
    assert found.manifest is not None
    assert () == found.manifest.hooks


def test_the_same_shapes_in_the_manifest(read: Reader) -> None:
    """An object in there is looked at as a file is."""
    found = read(CLAUDE, {"hooks": [{"hooks": []}, {"Stop": 5}, {"hooks": {"Stop": [[]]}}]})

    assert ["hooks[0].hooks", "hooks[1].Stop", "hooks[2].hooks.Stop[0]"] == [each.at for each in found.diagnostics]


def test_what_stands_beside_the_events(read: Reader) -> None:
    """It is told and does no harm; an event there runs nothing, and the remedy says where it belongs."""
    found = read(CLAUDE, {}, {HOOK_FILE: {"$schema": 5, "hooks": STOP, "PreToolUse": [], "descripton": ""}})

    assert [
        ("unsupported-field", "PreToolUse", "foreign hook file field `PreToolUse` is not supported"),
        ("unsupported-field", "descripton", "foreign hook file field `descripton` is not supported"),
    ] == told(found)
    inside, near = (each.remedy for each in found.diagnostics)
    assert "put it inside `hooks`: nothing runs from where it stands" == inside
    assert near.endswith('(did you mean "description"?)')
    assert 1 == len(whole(found).hooks)


UNKNOWN_TO_CODEX = {"Notification", "PostToolUseFailure", "StopFailure", "PostToolBatch"}


@pytest.mark.parametrize("event", BY_NAME)
def test_events(read: Reader, event: str) -> None:
    """Claude has all of ours; Codex has all but four."""
    assert event == first(on(event), read).event
    found = read(CODEX, {"hooks": on(event)})
    if event in UNKNOWN_TO_CODEX:
        assert [unsupported(event)] == told(found)
    else:
        assert [event] == [hook.event for hook in whole(found).hooks]


def unsupported(event: str) -> tuple[str, str, str]:
    return "unsupported-hook-event", f"hooks.{event}", f"foreign hook event `{event}` is unsupported"


def test_an_event_has_a_second_name_for_claude(read: Reader) -> None:
    """Both names may be used at once; the hook is at the event that there is."""
    events = {**on("PreUserTurn"), **on("UserPromptSubmit", {**OK, "command": "other"})}

    assert ["UserPromptSubmit"] * 2 == [hook.event for hook in whole(read(CLAUDE, {"hooks": events})).hooks]
    assert [unsupported("PreUserTurn")] == told(read(CODEX, {"hooks": on("PreUserTurn")}))


def test_an_event_that_never_happens_here_is_passed_over(read: Reader) -> None:
    """`Setup` is a warning for Claude, whatever stands under it, and no event at all for Codex."""
    found = read(CLAUDE, {"hooks": {"Setup": 5, **STOP}})

    assert [unsupported("Setup")] == told(found)
    assert ["Stop"] == [hook.event for hook in whole(found).hooks]
    codex = read(CODEX, {"hooks": on("Setup")})
    assert ([unsupported("Setup")], False) == (told(codex), codex.is_valid)


@FAMILIES
@pytest.mark.parametrize(
    ("event", "hint"), [("pre_tool_use", "PreToolUse"), ("Pretooluse", "PreToolUse"), ("OnSave", None)]
)
def test_an_event_that_there_is_not(read: Reader, family: Family, event: str, hint: str | None) -> None:
    """A fault at its name, with the name that may be meant; what stands under it is not looked at."""
    found = read(family, {"hooks": {event: [5]}})

    assert [unsupported(event)] == told(found)
    assert not found.is_valid
    assert (hint is not None) == ("did you mean" in found.diagnostics[0].remedy)
    assert hint is None or f'(did you mean "{hint}"?)' in found.diagnostics[0].remedy


@FAMILIES
@pytest.mark.parametrize("matcher", ["", "*", "Bash|Write", "^mcp__"])
def test_a_matcher_is_kept_as_it_is_written(read: Reader, family: Family, matcher: str) -> None:
    """Its grammar is that of the settings."""
    assert matcher == first(on("PreToolUse", matcher=matcher), read, family).matcher


@pytest.mark.parametrize("matcher", ["", "*"])
def test_a_matcher_that_says_everything_is_right_everywhere(read: Reader, matcher: str) -> None:
    """Also at an event where there is nothing to match."""
    assert matcher == first(on("Stop", matcher=matcher), read).matcher


@FAMILIES
@pytest.mark.parametrize("name", ["event", "matchers", "timeout", "Hooks"])
def test_a_field_that_a_group_has_not(read: Reader, family: Family, name: str) -> None:
    """It may narrow when the hooks run, so it is a fault."""
    found = read(family, {"hooks": on("Stop", **{name: 1})})

    message = f"foreign hook group field `{name}` is unsupported"
    assert [("unsupported-field", f"hooks.Stop[0].{name}", message)] == told(found)
    assert not found.is_valid


AT = "hooks.PreToolUse[0].hooks[0]"
SCHEMA = "invalid-manifest-schema"
FIELD = "foreign hook handler field"

# (the handler's fields, None where one is missing; code, place within the handler, words)
BAD_HANDLERS = [
    ({"type": "prompt"}, SCHEMA, ".type", "foreign hook handler type `prompt` is unsupported"),
    ({"type": "prompt", "command": None}, SCHEMA, ".type", "foreign hook handler type `prompt` is unsupported"),
    ({"type": None}, SCHEMA, "", "foreign hook handler must declare a `type`"),
    ({"type": 5}, SCHEMA, ".type", f"{FIELD} `type` must be a string, found a number"),
    ({"command": None}, "missing-capability-command", "", "foreign hook must declare a command"),
    ({"command": " \n"}, "missing-capability-command", ".command", "foreign hook command must not be blank"),
    ({"command": ["guard"]}, SCHEMA, ".command", "foreign hook command must be a string"),
    ({"command": "a\0b"}, SCHEMA, ".command", "foreign hook command must not contain a NUL character"),
    ({"timeout": -1}, SCHEMA, ".timeout", f"{FIELD} `timeout` must be a non-negative integer, found a number"),
    ({"timeout": 1.0}, SCHEMA, ".timeout", f"{FIELD} `timeout` must be a non-negative integer, found a number"),
    ({"timeout": True}, SCHEMA, ".timeout", f"{FIELD} `timeout` must be a non-negative integer, found a boolean"),
    ({"timeout": "5"}, SCHEMA, ".timeout", f"{FIELD} `timeout` must be a non-negative integer, found a string"),
    ({"async": 1}, SCHEMA, ".async", f"{FIELD} `async` must be a boolean, found a number"),
    ({"silent": "yes"}, SCHEMA, ".silent", f"{FIELD} `silent` must be a boolean, found a string"),
    ({"statusMessage": []}, SCHEMA, ".statusMessage", f"{FIELD} `statusMessage` must be a string, found an array"),
    ({"description": {}}, SCHEMA, ".description", f"{FIELD} `description` must be a string, found an object"),
    *(
        ({name: "x"}, "unsupported-field", f".{name}", f"{FIELD} `{name}` is unsupported")
        for name in ("args", "shell", "once", "onFailure", "matcher", "timeoutMs", "commandWindows", "prompt")
    ),
]


@FAMILIES
@pytest.mark.parametrize(("fields", "code", "at", "message"), BAD_HANDLERS, ids=[f"{case[0]}" for case in BAD_HANDLERS])
def test_a_handler_that_is_wrong(
    read: Reader, family: Family, fields: dict[str, Any], code: str, at: str, message: str
) -> None:
    """It has one fault, at the field that is wrong, and the others beside it are hooks."""
    handler = {name: value for name, value in {**OK, **fields}.items() if value is not None}
    found = read(family, {"hooks": on("PreToolUse", handler, {**OK, "command": "other"})})

    assert [(code, f"{AT}{at}", message)] == told(found)
    assert found.manifest is not None
    assert ["other"] == [hook.line for hook in found.manifest.hooks]


@pytest.mark.parametrize(
    ("event", "selector", "code"),
    [
        ("PreToolUse", "", "selector_empty"),
        ("PreToolUse", "Read", "selector_unsupported_tool"),
        ("PreToolUse", "Bash(", "selector_malformed"),
        ("Stop", "Bash", "selector_unsupported_event"),
    ],
)
def test_an_if_that_says_nothing_leaves_its_hook_inactive(read: Reader, event: str, selector: str, code: str) -> None:
    """A hook that cannot be narrowed as it asks is left out, with a warning; the package and its other hooks stand."""
    found = read(CLAUDE, {"hooks": on(event, {**OK, "if": selector}, {**OK, "command": "other"})})
    ((which, at, message),) = told(found)

    assert ("unsupported-capability", f"hooks.{event}[0].hooks[0].if") == (which, at)
    assert re.fullmatch(rf"conditional hook `hook-[0-9a-f]{{16}}` is inactive: {code}", message)
    assert found.is_valid
    assert ["other"] == [hook.line for hook in whole(found).hooks]


def test_an_if_that_is_no_text_is_a_fault(read: Reader) -> None:
    """It is of another kind than the field."""
    found = read(CLAUDE, {"hooks": on("PreToolUse", {**OK, "if": 5})})

    assert [(SCHEMA, "hooks.PreToolUse[0].hooks[0].if", f"{FIELD} `if` must be a string, found a number")] == told(
        found
    )


@pytest.mark.parametrize("selector", ["Bash", "Bash("])
def test_codex_has_no_if(read: Reader, selector: str) -> None:
    """There it is a field like any that there is not."""
    found = read(CODEX, {"hooks": on("PreToolUse", {**OK, "if": selector})})

    assert [("unsupported-field", f"{AT}.if", f"{FIELD} `if` is unsupported")] == told(found)


def test_the_place_of_a_fault(read: Reader, root: Path) -> None:
    """File, line and column of what is wrong; of a field that there is not, those of its name."""
    text = '{"hooks": {"Stop": [\n  {"hooks": [{"type": "command",\n    "command": 5, "once": true}]}]}}'
    found = read(CLAUDE, {}, {HOOK_FILE: text})

    file = root / HOOK_FILE
    assert [f"{file}:3:19", f"{file}:3:16"] == [each.place for each in found.diagnostics]


def test_every_fault_in_one_go(read: Reader) -> None:
    """Whatever is wrong in one place hides nothing in another."""
    group = {"matcher": "(", "x": 1, "hooks": [{"type": "http", "url": "u"}, {"type": "command", "timeout": -1}]}
    hooks = ["/x", 5, {"PreToolUse": [group], "OnSave": []}, "none.json", "bad.json"]
    manifest = {"name": "Demo", "version": "", "description": 1, "agents": [], "hooks": hooks}
    found = read(CLAUDE, manifest, {"bad.json": "{", HOOK_FILE: {"hooks": {"Stop": 5}}})

    assert [
        "description",
        "name",
        "version",
        "agents",
        "hooks[0]",
        "hooks[1]",
        "hooks[2].PreToolUse[0].matcher",
        "hooks[2].PreToolUse[0].x",
        "hooks[2].PreToolUse[0].hooks[0].url",
        "hooks[2].PreToolUse[0].hooks[0].type",
        "hooks[2].PreToolUse[0].hooks[1].timeout",
        "hooks[2].PreToolUse[0].hooks[1]",
        "hooks[2].OnSave",
        "hooks[3]",
        "",
        "hooks.Stop",
    ] == [each.at for each in found.diagnostics]


def test_an_id_is_made_of_what_the_hook_says(read: Reader) -> None:
    """It is the beginning of a digest over the file, the event, the matcher and the handler."""
    hook = first(on("PreToolUse", {**OK, "timeout": 5}, matcher="Bash"), read)

    canonical = (
        '{"event":"PreToolUse","handler":{"command":"guard","timeout":5,"type":"command"},'
        '"matcher":"Bash","source":".claude-plugin/plugin.json"}'
    )
    assert f"hook-{sha256(canonical.encode()).hexdigest()[:16]}" == hook.id


def test_an_id_outlives_a_move_within_the_file(read: Reader) -> None:
    """Other hooks before it, or another order of its keys, change nothing."""
    before = first(on("Stop"), read).id
    turned = dict(reversed(OK.items()))
    moved = whole(read(CLAUDE, {"hooks": {"Stop": [{"hooks": [{**OK, "command": "new"}]}, {"hooks": [turned]}]}}))

    assert before == moved.hooks[1].id


@pytest.mark.parametrize(
    ("hooks", "files"),
    [
        (on("SessionEnd"), {}),
        (on("Stop", matcher=""), {}),
        (on("Stop", {**OK, "command": "guard "}), {}),
        (on("Stop", {**OK, "silent": True}), {}),
        ("a.json", {"a.json": {"hooks": on("Stop")}}),
    ],
    ids=["event", "matcher", "command", "field", "file"],
)
def test_another_hook_has_another_id(read: Reader, hooks: Any, files: Files) -> None:
    """Whatever it is made of counts."""
    (other,) = whole(read(CLAUDE, {"hooks": hooks}, files)).hooks

    assert first(on("Stop"), read).id != other.id


@FAMILIES
def test_the_same_handler_twice_runs_once(read: Reader, family: Family) -> None:
    """The second is dropped, with a warning where it stands, wherever in the file that is."""
    hooks = {"Stop": [{"hooks": [OK, OK]}, {"hooks": [OK]}], **on("SessionEnd")}
    found = read(family, {"hooks": hooks})

    manifest = whole(found)
    message = f"duplicate hook capability id `{manifest.hooks[0].id}`"
    assert [
        ("duplicate-capability-id", "hooks.Stop[0].hooks[1]", message),
        ("duplicate-capability-id", "hooks.Stop[1].hooks[0]", message),
    ] == told(found)
    assert (["Stop", "SessionEnd"], 2) == ([hook.event for hook in manifest.hooks], manifest.counts["hooks"])


TREE = {
    "skills/a/SKILL.md": "",
    "skills/b/SKILL.md": "",
    "skills/b/notes.md": "",
    "skills/b/deep/SKILL.md": "",
    "skills/SKILL.md": "",
    "more/c/SKILL.md": "",
    "commands/x.md": "",
    "commands/deep/er/y.md": "",
    "commands/z.txt": "",
    "docs/about.md": "",
    ".mcp.json": {"mcpServers": {"one": {}, "two": {}}},
    "servers.json": {"mcpServers": {"two": {}, "three": {}, "four": {}}},
    "odd.json": "{,",
    "flat.json": [],
}

# (members of the manifest, files beside those, how many skills, commands and MCP servers there are)
COUNTS = [
    ({}, {}, (2, 2, 2)),
    ({"skills": "./more/"}, {}, (1, 2, 2)),
    ({"skills": ["./skills/a", "skills/b/", "./more"]}, {}, (4, 2, 2)),
    ({"skills": ["./skills", "./skills/a"]}, {}, (3, 2, 2)),
    ({"skills": ["./none", "../x", 5]}, {}, (0, 2, 2)),
    ({"skills": []}, {}, (0, 2, 2)),
    ({"skills": None}, {}, (0, 2, 2)),
    ({"commands": ["./commands/x.md", "./docs"]}, {}, (2, 2, 2)),
    ({"commands": "./commands/deep"}, {}, (2, 1, 2)),
    ({"commands": ["./commands/z.txt", "/", ""]}, {}, (2, 0, 2)),
    ({"commands": {"a": {"source": "./docs/about.md"}, "b": {"content": "x"}, "c": 1}}, {}, (2, 3, 2)),
    ({"mcpServers": {"a": {}}}, {}, (2, 2, 1)),
    ({"mcpServers": "./servers.json"}, {}, (2, 2, 3)),
    ({"mcpServers": ["./servers.json", "./.mcp.json", {"five": {}}]}, {}, (2, 2, 5)),
    ({"mcpServers": ["./odd.json", "./flat.json", "./none.json", "../x", "/x", 5]}, {}, (2, 2, 0)),
    ({}, {".mcp.json": "{"}, (2, 2, 0)),
    ({}, {".mcp.json": {"mcpServers": 5}}, (2, 2, 0)),
    ({}, {".mcp.json": b" " * (MANIFEST_BYTES + 1)}, (2, 2, 0)),
]


@FAMILIES
@pytest.mark.parametrize(("members", "files", "numbers"), COUNTS, ids=[str(index) for index in range(len(COUNTS))])
def test_what_else_there_is_is_counted(
    read: Reader, family: Family, members: dict[str, Any], files: Files, numbers: tuple[int, int, int]
) -> None:
    """By the manifest's member, or in the usual place where there is none; what is not there counts for nothing."""
    skills, commands, servers = numbers
    manifest = whole(read(family, members, {**TREE, **files}))

    assert {"skills": skills, "commands": commands, "hooks": 0, "mcp": servers, "reminders": 0} == manifest.counts


@pytest.mark.parametrize("path", [HOOK_FILE, ".mcp.json"])
def test_a_package_that_changes_meanwhile(tmp_path: Path, path: str) -> None:
    """What is read are the bytes that were hashed, or nothing is."""
    write(tmp_path, {CLAUDE.manifest: {"name": "demo"}, path: {"hooks": {}}})
    package = read_package(tmp_path, Limits())
    write(tmp_path, {path: {"hooks": STOP}})

    (found,) = read_as_package(package).diagnostics
    assert ("invalid-plugin-package", str(tmp_path / path)) == (found.code.value, found.path)
    assert "it changed while the package was read" == found.message


# Words that mean something here, so that what is generated gets further than the first check.
WORDS = [
    *("hooks", "name", "version", "description", "matcher", "type", "command", "timeout", "async", "if", "silent"),
    *("skills", "commands", "mcpServers", "agents", "Setup", "PreUserTurn", "Stop", "PreToolUse", "Notification"),
    *("a.json", "./a.json", HOOK_FILE, "../a", "/", "demo", "Bash", "Bash(git *)", "[", "^x", "*", "", "a\0b"),
]
words = st.sampled_from(WORDS) | st.text(max_size=5)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)
# Mostly right, so that there are packages with hooks and without a fault.
right = st.fixed_dictionaries(
    {"type": st.just("command"), "command": st.sampled_from(["guard", "other"])},
    optional={"timeout": st.integers(min_value=0), "async": st.booleans(), "statusMessage": words},
)
handlers = st.one_of(
    right, right, right, st.tuples(right, st.dictionaries(words, scalars)).map(lambda two: {**two[0], **two[1]})
)
matchers = st.sampled_from(["", "*", "Bash", "^x", "["])
groups = anything | st.fixed_dictionaries(
    {"hooks": st.lists(handlers | anything, max_size=3)}, optional={"matcher": matchers, "description": words}
)
events = st.sampled_from([*BY_NAME, "PreToolUse", "PreUserTurn", "Setup", "OnSave"])
right_events = st.dictionaries(
    events, st.lists(st.fixed_dictionaries({"hooks": st.lists(right)}), max_size=2), max_size=3
)
event_maps = st.one_of(right_events, right_events, st.dictionaries(events, st.lists(groups, max_size=2)), anything)
hook_files = st.one_of(*[st.fixed_dictionaries({"hooks": event_maps})] * 3, anything)
declared = st.one_of(hook_files, event_maps, st.lists(st.one_of(words, event_maps, hook_files), max_size=3), anything)
manifests = st.tuples(st.dictionaries(words, anything, max_size=2), declared).map(
    lambda two: {**two[0], "name": "demo", "hooks": two[1]}
)


def in_memory(files: Files) -> PackageFiles:
    kept = {name: written(value) for name, value in files.items()}
    found = (PackageFile(name, executable=False, sha256=sha256(kept[name]).hexdigest()) for name in sorted(kept))
    return PackageFiles(root=Path("/p"), files=tuple(found), kept=kept)


@given(
    family=st.sampled_from([CLAUDE, CODEX]),
    manifest=manifests | anything,
    files=st.dictionaries(st.sampled_from(["a.json", HOOK_FILE, ".mcp.json"]), hook_files.map(json.dumps)),
)
@settings(deadline=None, max_examples=300)
def test_any_value_is_read(family: Family, manifest: Any, files: dict[str, str]) -> None:
    """Whatever a manifest or a hook file holds, nothing raises, every fault has a remedy, and every hook can be one."""
    found = read_as_package(in_memory({**files, family.manifest: json.dumps(manifest)}))

    assert all(each.path.startswith("/p/") and each.message and each.remedy for each in found.diagnostics)
    assert (found.manifest is None) == (not isinstance(manifest, dict))
    hooks = () if found.manifest is None else found.manifest.hooks
    assert len(hooks) == len({hook.id for hook in hooks})
    for hook in hooks:
        rule = BY_NAME[hook.event]
        assert (True, ()) == (bool(hook.line.strip()), hook.command)
        assert not isinstance(read_matcher({"matcher": hook.matcher or ""}, rule, ()), Finding)
        assert hook.condition is None or not isinstance(compile_selector(hook.condition, rule), str)
        assert 1000 <= hook.timeout_ms
