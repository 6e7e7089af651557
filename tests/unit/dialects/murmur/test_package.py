"""Packages: found by name and version, read whole or refused, whatever is in them."""

import io
import os
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hookline._core.capsule import Artifact, ArtifactKind
from hookline._core.problems import Problem, Scope, Where
from hookline.dialects.murmur import members
from hookline.dialects.murmur.members import Archive, Member, PackageFault, install
from hookline.dialects.murmur.package import (
    DriverPackage,
    HookPackage,
    Package,
    SkillPackage,
    ToolPackage,
    read_package,
)
from hookline.dialects.murmur.words import Binding, CommitPolicy

WHERE = Where(file="demo.yaml", label="demo.yaml", line=4, column=3, path="artifacts[0]")
HOOK = Artifact(name="guard", version="1.0.0", kind=ArtifactKind.HOOK, where=WHERE)
TOOL = Artifact(name="fetch", version="1.0.0", where=WHERE)
SKILL = Artifact(name="notes", version="1.0.0", kind=ArtifactKind.SKILL, where=WHERE)
DRIVER = Artifact(name="model", version="1.0.0", kind=ArtifactKind.DRIVER, where=WHERE)

GUARD = "name: guard\nversion: 1.0.0\nruntime: hook\nbinding: on-shell\ncommit_policy: deny\n"
FETCH = (
    "name: fetch\nversion: 1.0.0\nruntime: tool\nimplementation: native\ndescription: Fetches.\ninput: {type: object}\n"
)
NOTES = "name: notes\nversion: 1.0.0\nruntime: skill\n"
WASM = b"\0asm\r\0\1\0"
GUARD_FILES = {"murmur.yaml": GUARD, "capsule.wasm": WASM}

Files = Mapping[str, str | bytes]


def as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def folder(path: Path, files: Files) -> None:
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(as_bytes(data))


def archive(path: Path, files: Files) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in files.items():
            file.writestr(name, as_bytes(data))


def refused(found: Package | tuple[Problem, ...]) -> Problem:
    assert isinstance(found, tuple)
    (problem,) = found
    assert problem.scope is Scope.SETTINGS
    return problem


@pytest.fixture(params=["folder", "versioned folder", "archive"])
def kept(request: pytest.FixtureRequest, tmp_path: Path):
    """Puts the files of an artifact into the folder that is searched, in each form that a package has."""

    def keep(artifact: Artifact, files: Files) -> Package | tuple[Problem, ...]:
        versioned = f"{artifact.name}-{artifact.version}"
        match request.param:
            case "folder":
                folder(tmp_path / artifact.name, files)
            case "versioned folder":
                folder(tmp_path / versioned, files)
            case _:
                archive(tmp_path / f"{versioned}.mur.zip", files)
        return read_package(artifact, (tmp_path / "none", tmp_path))

    return keep


def test_a_hook(kept) -> None:
    """Its contract, its component as it is; other files are not looked at."""
    found = kept(HOOK, {**GUARD_FILES, "other.wasm": b"", "sub/a.wasm": b""})

    assert isinstance(found, HookPackage)
    assert (Binding.ON_SHELL, CommitPolicy.DENY) == (found.contract.binding, found.contract.commit_policy)
    assert (WASM, GUARD) == (found.component, found.manifest)


def test_the_single_component_at_the_root_has_any_name(kept) -> None:
    """Those in folders do not count."""
    found = kept(HOOK, {"murmur.yaml": GUARD, "x.wasm": WASM, "sub/y.wasm": b""})

    assert isinstance(found, HookPackage)
    assert WASM == found.component


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"sub/a.wasm": b""}, "missing root .wasm file (expected capsule.wasm or one root *.wasm)"),
        ({"b.wasm": b"", "a.wasm": b""}, "multiple root .wasm files found: a.wasm, b.wasm"),
    ],
)
def test_a_hook_without_its_component(kept, files: Files, said: str) -> None:
    """Told at the entry of the capsule's manifest."""
    problem = refused(kept(HOOK, {"murmur.yaml": GUARD, **files}))

    assert problem.message.endswith(f": {said}")
    assert (WHERE, "BadPackage") == (problem.where, problem.code)


@pytest.mark.parametrize("component", [b"garbage", b"", None])
def test_a_broken_component_never_hides_a_broken_contract(kept, component: bytes | None) -> None:
    """C3: the contract is checked before, also where there is no component at all."""
    broken = GUARD.replace("on-shell", "on-task-end").replace("deny", "replace-context")
    problem = refused(kept(HOOK, {"murmur.yaml": broken} | ({} if component is None else {"capsule.wasm": component})))

    assert (
        "hook guard@1.0.0 invalid config: commit_policy 'replace-context' is not valid for binding 'on-task-end'; "
        "binding 'on-task-end' honors commit_policy 'reopen-task'"
    ) == problem.message
    assert ("InvalidContract", "8", "commit_policy") == (problem.code, problem.rule, problem.where.path)
    assert (5, 16) == (problem.where.line, problem.where.column)
    assert problem.where.file.endswith("murmur.yaml")


def test_what_a_hook_grants_itself_is_nothing(kept) -> None:
    """C10: its own `capabilities` are not even read."""
    found = kept(HOOK, {**GUARD_FILES, "murmur.yaml": GUARD + "capabilities: {network: {allow: [h]}}\n"})

    assert isinstance(found, HookPackage)
    assert HOOK.grant == found.artifact.grant


def test_a_tool(kept, tmp_path: Path) -> None:
    """All of its files; the one of its name can be run once it is installed, and the manifest is not among them."""
    found = kept(TOOL, {"murmur.yaml": FETCH, "fetch": "#!/bin/sh\n", "lib/a.txt": "a"})

    assert isinstance(found, ToolPackage)
    assert ("Fetches.", {"type": "object"}) == (found.description, found.input)
    assert ["fetch", "lib/a.txt"] == sorted(found.files)
    install(found.files, tmp_path / "tools" / "fetch")
    assert os.access(tmp_path / "tools/fetch/fetch", os.X_OK)
    assert "a" == (tmp_path / "tools/fetch/lib/a.txt").read_text()


@pytest.mark.parametrize(
    ("manifest", "said", "line"),
    [
        (FETCH.replace("native", "wasm"), "`implementation` has to be `native`; found the text 'wasm'", 4),
        (FETCH.replace("implementation: native\n", ""), "a tool has no `implementation`", 1),
        (FETCH.replace("Fetches.", "''"), "`description` has to be text that is not blank", 5),
        (FETCH.replace("{type: object}", "text"), "`input` has to be a JSON schema of `type: object`", 6),
        (FETCH.replace("{type: object}", "{type: string}"), "`input` has to be a JSON schema of `type: object`", 6),
        (FETCH.replace("{type: object}", "{type: object, 1: a}"), "a key has to be text", 6),
        (FETCH.replace("runtime: tool", "runtime: hook"), "`runtime` is 'hook', and the capsule has it as 'tool'", 3),
        (FETCH.replace("version: 1.0.0\n", "version: 1.0\n"), '`version` has to be text: write `version: "1.0.0"`', 2),
    ],
)
def test_a_tool_with_a_mistake(kept, manifest: str, said: str, line: int) -> None:
    """Told in its own manifest."""
    problem = refused(kept(TOOL, {"murmur.yaml": manifest, "fetch": ""}))

    assert said in problem.message
    assert (line, True) == (problem.where.line, problem.where.file.endswith("murmur.yaml"))


def test_a_tool_without_its_program(kept) -> None:
    """The message says which file it is."""
    assert "as a file that is called fetch" in refused(kept(TOOL, {"murmur.yaml": FETCH, "bin/fetch": ""})).message


def test_a_skill(kept) -> None:
    """Its text is in one file; others may lie beside it."""
    found = kept(SKILL, {"murmur.yaml": NOTES, "SKILL.md": "# Notes", "more/a.md": "a"})

    assert isinstance(found, SkillPackage)
    assert {"SKILL.md": Member(b"# Notes"), "more/a.md": Member(b"a")} == found.files


def test_a_skill_without_its_text(kept) -> None:
    """The message says which file it is."""
    assert "as a file that is called SKILL.md" in refused(kept(SKILL, {"murmur.yaml": NOTES, "a.md": ""})).message


def test_a_driver(kept) -> None:
    """Only that it is there: nothing of it is run."""
    assert isinstance(kept(DRIVER, {"murmur.yaml": "name: model\nversion: 1.0.0\nruntime: driver"}), DriverPackage)


def test_a_package_that_is_not_there() -> None:
    """Told at the entry, with what would be taken and where."""
    problem = refused(read_package(HOOK, (Path("a"), Path("b"))))

    assert ("NoPackage", WHERE) == (problem.code, problem.where)
    assert "put guard/, guard-1.0.0/ or guard-1.0.0.mur.zip into a or b" in problem.message


def test_a_package_of_another_version_is_passed_over(tmp_path: Path) -> None:
    """And told where there is none of the right one."""
    folder(tmp_path / "guard", {**GUARD_FILES, "murmur.yaml": GUARD.replace("1.0.0", "2.0.0")})
    problem = refused(read_package(HOOK, (tmp_path,)))

    assert "`version` is '2.0.0', and the capsule asks for '1.0.0'" == problem.message
    assert ("OtherPackage", 2, 10) == (problem.code, problem.where.line, problem.where.column)

    archive(tmp_path / "guard-1.0.0.mur.zip", GUARD_FILES)
    assert isinstance(read_package(HOOK, (tmp_path,)), HookPackage)


def test_the_first_folder_that_has_it_wins(tmp_path: Path) -> None:
    """One that is broken is told, not passed over."""
    folder(tmp_path / "a" / "guard", {**GUARD_FILES, "murmur.yaml": "- a"})
    folder(tmp_path / "b" / "guard", GUARD_FILES)

    assert isinstance(read_package(HOOK, (tmp_path / "b", tmp_path / "a")), HookPackage)
    problem = refused(read_package(HOOK, (tmp_path / "a", tmp_path / "b")))
    assert problem.message.startswith("hook guard@1.0.0 invalid config: YAML parse error: ")


@pytest.mark.parametrize("name", ["murmur.yaml", "capsule.wasm"])
def test_a_link_in_a_folder_is_refused(tmp_path: Path, name: str) -> None:
    """Whatever it leads to; the folder itself may be one."""
    folder(tmp_path / "real", GUARD_FILES)
    (tmp_path / "guard").symlink_to(tmp_path / "real")
    assert isinstance(read_package(HOOK, (tmp_path,)), HookPackage)

    (tmp_path / "real" / name).rename(tmp_path / "elsewhere")
    (tmp_path / "real" / name).symlink_to(tmp_path / "elsewhere")
    assert f"`{name}` cannot be read: it is a link" in refused(read_package(HOOK, (tmp_path,))).message


def test_a_pipe_in_a_folder_is_refused(tmp_path: Path) -> None:
    """Without waiting for whoever would write to it."""
    folder(tmp_path / "notes", {"murmur.yaml": NOTES, "SKILL.md": ""})
    os.mkfifo(tmp_path / "notes" / "pipe")

    assert "`pipe` is not a regular file" in refused(read_package(SKILL, (tmp_path,))).message


def skill_archive(tmp_path: Path, *more: tuple[zipfile.ZipInfo | str, bytes]) -> Path:
    path = tmp_path / "notes-1.0.0.mur.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in (("murmur.yaml", NOTES.encode()), ("SKILL.md", b""), *more):
            file.writestr(name, data)
    return path


def told_of_skill(tmp_path: Path) -> str:
    problem = refused(read_package(SKILL, (tmp_path,)))
    assert WHERE == problem.where
    return problem.message


def linked() -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../a", "`../a` is not a plain path within the package"),
        ("a/../../b", "is not a plain path"),
        ("/etc/a", "is not a plain path"),
        ("a//b", "is not a plain path"),
        ("./a", "is not a plain path"),
        ("a\\..\\b", "is not a plain path"),
        ("C:a", "is not a plain path"),
        ("a\n", "is not a plain path"),
        ("a/. /b", "is not a plain path"),
        ("skill.MD", "`SKILL.md` and `skill.MD` are one file"),
        ("SKILL.md/a", "`SKILL.md` is both a file and a folder"),
        ("x" * 1001, "is not a plain path"),
        (linked(), "`link` is a link"),
    ],
)
def test_a_path_out_of_an_archive_is_refused(tmp_path: Path, name: zipfile.ZipInfo | str, said: str) -> None:
    """Before any file of it is used, and nothing is written."""
    skill_archive(tmp_path, (name, b"x"))

    assert said in told_of_skill(tmp_path)
    assert ["notes-1.0.0.mur.zip"] == [each.name for each in tmp_path.iterdir()]


def test_a_name_that_is_cut_at_a_nul_is_refused(tmp_path: Path) -> None:
    """What the archive says counts, not what is left of it."""
    path = skill_archive(tmp_path, ("aXb", b""))
    path.write_bytes(path.read_bytes().replace(b"aXb", b"a\0b"))

    assert "is not a plain path" in told_of_skill(tmp_path)


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file, all files together, the archive itself, and their number are bounded."""
    monkeypatch.setattr(members, "MAX_MEMBER", 1000)
    monkeypatch.setattr(members, "MAX_TOTAL", 2000)
    skill_archive(tmp_path, ("a", b"x" * 1001))
    assert "`a` has more than 1000 bytes" in told_of_skill(tmp_path)
    skill_archive(tmp_path, *((each, b"x" * 1000) for each in "ab"))
    assert "its files have more than 2000 bytes" in told_of_skill(tmp_path)
    monkeypatch.setattr(members, "MAX_MEMBERS", 3)
    skill_archive(tmp_path, *((each, b"") for each in "abc"))
    assert "more than 3 files" in told_of_skill(tmp_path)
    skill_archive(tmp_path, *((f"{each}/b", b"") for each in range(30)))
    assert "more than 3 files" in told_of_skill(tmp_path)
    monkeypatch.setattr(members, "MAX_ARCHIVE", 100)
    assert "it has more than 100 bytes" in told_of_skill(tmp_path)


def test_a_folder_is_bounded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the same numbers."""
    monkeypatch.setattr(members, "MAX_MEMBER", 1000)
    folder(tmp_path / "notes", {"murmur.yaml": NOTES, "SKILL.md": "x" * 1001})
    assert "`SKILL.md` has more than 1000 bytes" in told_of_skill(tmp_path)


def test_a_file_that_is_larger_than_it_says_is_refused(tmp_path: Path) -> None:
    """No more is unpacked than what the list of the archive says."""
    path = skill_archive(tmp_path, ("a", b"x" * 100_000))
    size = (100_000).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size, (10).to_bytes(4, "little")))

    assert "`a` is no archive that can be read: Bad CRC-32" in told_of_skill(tmp_path)


def test_an_encrypted_file_is_refused(tmp_path: Path) -> None:
    """By its flag; nobody is asked for a password."""
    path = skill_archive(tmp_path)
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)

    assert "`SKILL.md` is encrypted" in told_of_skill(tmp_path)


def test_another_compression_is_refused(tmp_path: Path) -> None:
    """Packages are stored or deflated."""
    with zipfile.ZipFile(tmp_path / "notes-1.0.0.mur.zip", "w", zipfile.ZIP_LZMA) as file:
        file.writestr("murmur.yaml", NOTES)

    assert "not compressed by deflate" in told_of_skill(tmp_path)


@pytest.mark.parametrize("data", [b"", b"garbage", b"PK\x05\x06" + b"\xff" * 18])
def test_no_archive(tmp_path: Path, data: bytes) -> None:
    """A file of the right name is not enough."""
    (tmp_path / "notes-1.0.0.mur.zip").write_bytes(data)

    assert "no archive that can be read" in told_of_skill(tmp_path)


def test_an_archive_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    """As a link, and as a folder of that name."""
    (tmp_path / "notes-1.0.0.mur.zip").symlink_to(tmp_path / "gone")

    assert "cannot be read: No such file" in told_of_skill(tmp_path)


def test_installing_needs_a_folder_of_its_own(tmp_path: Path) -> None:
    """So nothing is written through what lies there already."""
    with pytest.raises(FileExistsError):
        install({"a": Member(b"")}, tmp_path)


def good_archive() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("murmur.yaml", NOTES)
        file.writestr("a/SKILL.md", b"text" * 20)
    return data.getvalue()


GOOD = good_archive()


@pytest.fixture(scope="module")
def broken_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("broken") / "a.mur.zip"


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), max_size=4), st.integers(0, len(GOOD)))
@example([], len(GOOD))
def test_any_archive_is_read_or_refused(broken_archive: Path, changes: list[tuple[int, int]], length: int) -> None:
    """Whatever became of its bytes: files under plain names, or a fault in words."""
    data = bytearray(GOOD)
    for at, byte in changes:
        data[at] = byte
    broken_archive.write_bytes(data[-length:] if length % 2 else data[:length])
    assert all(".." not in name.split("/") for name in names_or_none(broken_archive))


def names_or_none(path: Path) -> tuple[str, ...]:
    """The names in an archive all of whose files can be read; none where a fault is told."""
    try:
        found = Archive(path)
        for name in found.names():
            found.read(name)
    except PackageFault:
        return ()
    return found.names()


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("searched")


KEYS = st.sampled_from(["name", "version", "runtime", "implementation", "description", "input", "binding"])
WORDS = st.sampled_from(["notes", "fetch", "1.0.0", "tool", "native", "{type: object}", "[1]", "1", "*a"])


@settings(deadline=None)
@given(
    st.binary(max_size=60)
    | st.lists(st.tuples(KEYS, WORDS), max_size=7).map(lambda each: "\n".join(map(": ".join, each)).encode())
)
@example((FETCH.replace("{type: object}", "\n  type: object") + "".join(f"  {n}: a\n" for n in range(150))).encode())
def test_any_manifest_is_a_package_or_problems(searched: Path, data: bytes) -> None:
    """Of every kind, and each problem has a line."""
    for artifact in (HOOK, TOOL, SKILL, DRIVER):
        folder(searched / artifact.name, {"murmur.yaml": data, "fetch": "", "SKILL.md": "", "capsule.wasm": ""})
        found = read_package(artifact, (searched,))
        assert not isinstance(found, tuple) or (found and all(each.where.line for each in found))
