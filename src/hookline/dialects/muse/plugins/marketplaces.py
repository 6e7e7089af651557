"""Marketplaces: lists of plugins, each kept as it was when it was last read (section 20.5).

The table says which there are and from where; of each there is a snapshot, known by its digest. As with the plugins
themselves the table is what counts: a snapshot is in its place before the table names it, and goes after it no longer
does. Everything slow, and everything that a stranger wrote, is read before the store is anybody's alone.
"""

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from hookline._core.held_folders import HeldFolder
from hookline._core.hooks import Source
from hookline._core.package_files import Limits, PackageFault, PackageFiles, copy_package, read_package, take_away
from hookline._core.private_folders import make_private
from hookline._core.regular_files import NO_LINK, read_regular
from hookline._core.strictjson import JsonFault, decode, parse
from hookline.dialects._files import DEEPEST
from hookline.dialects._kinds import OBJECT, STRING, Kind, found
from hookline.dialects.muse.document import MEND, Document, did_you_mean
from hookline.dialects.muse.plugins.documents import LAYER
from hookline.dialects.muse.plugins.errors import Fault, PluginError
from hookline.dialects.muse.plugins.manifest import Family
from hookline.dialects.muse.plugins.native import GRAMMAR, IDENTIFIER
from hookline.dialects.muse.plugins.paths import Unsafe, path_in_package
from hookline.dialects.muse.plugins.store import DIGEST, Store, now, write_failed
from hookline.dialects.muse.plugins.tables import Damaged, expect, read_table, sync_folder, write_table
from hookline.dialects.muse.report import shown

TABLE, FOLDER = "marketplaces.json", "marketplaces"  # in the store: which there are, and their snapshots
DOCUMENT = "marketplace.json"
DOCUMENT_BYTES = 1_048_576
HOLDERS = (Family.MUSE.folder, Family.CLAUDE.folder)  # the folders that hold the document; the first one counts
LIMITS = Limits(entries=65_536, depth=32, all_bytes=1 << 30)  # many plugins, each of which may be a whole package

URL = re.compile(r"(?:https?|ssh|git|file)://.+")
SCP = re.compile(r"\w[\w.+-]*@\w[\w.-]*:.+")  # as ssh and scp name a place: user@host:path
REF = re.compile(r"[^\s-]\S*")
TEXTS = ("name", "added_at", "updated_at", "snapshot", "sha256")  # members of a record that are text
ITSELF = (".", "./")  # the sources of a plugin that is the whole marketplace

REPOSITORY_MEMBERS = ("source", "url", "ref", "path")
WRITE_PATH = 'write a path below the marketplace\'s folder, such as "./plugins/guard"'
WRITE_REF = "write the name of a branch or a tag"
WRITE_SOURCE = f'{WRITE_PATH}, or {{"source": "git", "url": "https://..."}}'

CLONE_TIMEOUT = 120.0  # seconds: enough for one commit of a large repository over a slow line
CLONE = ("git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "clone")
CLONE_OPTIONS = ("--quiet", "--depth", "1", "--no-recurse-submodules")
HANDED_ON = ("PATH", "HOME")
CLONE_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
}
SAID_BYTES = 65_536  # of what git says: the first lines say why
BESIDE_THE_POINT = ("warning:", "remote:")  # how lines begin that do not


class From(StrEnum):
    """What a marketplace is read from."""

    FOLDER = "folder"
    FILE = "file"
    GIT = "git"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a marketplace is: at an absolute path or a URL, and of a repository at what `ref` names, if anything."""

    kind: From
    location: str
    ref: str = ""

    @property
    def text(self) -> str:
        return f"{self.location}#{self.ref}" if self.ref else self.location

    @property
    def documents(self) -> tuple[str, ...]:
        """Where in its snapshot the document may be."""
        return (DOCUMENT,) if self.kind is From.FILE else tuple(f"{folder}/{DOCUMENT}" for folder in HOLDERS)

    def place(self, document: str) -> str:
        """What people are told of where the document is."""
        return self.location if self.kind is From.FILE else f"{self.location}/{document}"

    @property
    def around(self) -> Path:
        """What the sources in a document that is a file of its own are relative to."""
        folder = Path(self.location).parent
        return folder.parent if folder.name in HOLDERS else folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A plugin of a marketplace. `source` is as it is written; `why_not` says why it cannot be installed."""

    name: str
    version: str
    description: str
    source: str | Mapping[str, Any]
    why_not: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "version": self.version or None,
            "description": self.description or None,
            "source": self.source if isinstance(self.source, str) else dict(self.source),
            "why_not": self.why_not or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Marketplace:
    """A list of plugins under the name that it is known by. `snapshot` holds what was read, and `digest` names it."""

    name: str
    kind: From
    location: str
    ref: str
    digest: str
    snapshot: Path
    plugins: tuple[Offered, ...]

    @property
    def origin(self) -> Origin:
        return Origin(self.kind, self.location, self.ref)

    @property
    def root(self) -> Path:
        """What relative sources of plugins are relative to."""
        return self.origin.around if self.kind is From.FILE else self.snapshot

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind.value,
            "location": self.location,
            "ref": self.ref or None,
            "sha256": self.digest,
            "snapshot": str(self.snapshot),
            "plugins": [each.as_json() for each in self.plugins],
        }


Records = Mapping[str, Mapping[str, Any]]  # of the table, by name
T = TypeVar("T")


def add(store: Store, source: str, *, name: str | None = None, cwd: Path) -> Marketplace:
    """Know the marketplace at *source*, under *name* or else the one that it gives itself. Raises PluginError.

    From where it is known already, it is read anew.
    """
    if name is not None and not IDENTIFIER.fullmatch(name):
        raise _invalid(f"marketplace name `{name[:200]}` is invalid; {GRAMMAR}")
    origin = origin_of(source, cwd)
    _records(store)  # a table that cannot be used is told of before anything is fetched
    with store.stage() as stage:
        fresh = _fetched(store, origin, stage, name=name)
        _commit(store, stage.path, [fresh], known=False)
    return fresh.marketplace


def listing(store: Store) -> tuple[Marketplace, ...]:
    """Every marketplace as it was last read, by name. Raises PluginError."""
    return _settled(store, lambda records: tuple(_kept(store, records[name]) for name in sorted(records)))


def update(store: Store, name: str | None) -> tuple[Marketplace, ...]:
    """Read a marketplace anew from where it came, or all of them: all or none. Raises PluginError."""
    records = _records(store)
    chosen = sorted(records) if name is None else [_known(records, name)["name"]]
    if not chosen:
        return ()
    with store.stage() as stage:
        fresh = [_fetched(store, _origin(records[each]), stage, name=each) for each in chosen]
        _commit(store, stage.path, fresh, known=True)
    return tuple(each.marketplace for each in fresh)


def remove(store: Store, name: str) -> None:
    """Know a marketplace no more. Raises PluginError."""
    _known(_records(store), name)
    with store.stage() as stage, store.alone():
        table = _table(store)
        _known(table["marketplaces"], name)
        del table["marketplaces"][name]
        write_table(store.root / TABLE, table)
        _sweep(store, table["marketplaces"], stage.path)


@contextmanager
def fetched(store: Store, plugin: str, marketplace: str) -> Iterator[Path]:
    """The folder of a plugin's package, to be copied from meanwhile. Raises PluginError."""
    place = _settled(store, lambda records: _kept(store, _known(records, marketplace)))
    offered = next((each for each in place.plugins if each.name == plugin), None)
    if offered is None:
        hint = did_you_mean(plugin, [each.name for each in place.plugins])
        raise _unavailable(f"plugin `{plugin}` is not in marketplace `{marketplace}`{hint}")
    if offered.why_not:
        raise _unavailable(f"plugin `{plugin}` of marketplace `{marketplace}` cannot be installed: {offered.why_not}")
    if isinstance(offered.source, str):
        told = str(place.root) if place.kind is From.FILE else place.origin.text
        yield _folder_within(place.root, offered.source, told)
        return
    repository = Origin(From.GIT, offered.source["url"], offered.source.get("ref", ""))
    with store.stage() as stage:
        clone = stage.path / "clone"
        _clone(repository, clone, stage)
        take_away(clone / ".git")
        yield _folder_within(clone, offered.source.get("path", "."), repository.text)


def _folder_within(root: Path, path: str, told: str) -> Path:
    """The folder that a relative source names below *root*, if no link leads to it. Raises PluginError."""
    try:
        folder = root.resolve() / _inner(path)
        if folder.resolve() != folder:
            raise _unavailable(f"{path} in {told} is behind a link; put the folder itself there")
        if folder.is_dir():
            return folder
    except OSError as error:
        raise _unavailable(f"{path} in {told} cannot be read: {error.strerror}") from error
    raise _unavailable(f"there is no folder {path} in {told}")


# Sources


def origin_of(source: str, cwd: Path) -> Origin:
    """Where a marketplace is that *source* names, as people write it. Raises PluginError."""
    asked = source.removeprefix("git+")
    try:
        location, mark, ref = asked.partition("#")
        if _names_repository(location) and (URL.match(location) or not (cwd / asked).exists()):
            origin = Origin(From.GIT, location, _ref(ref) if mark else "")
        else:
            origin = _local(asked, cwd, is_repository=asked != source)
    except (OSError, RuntimeError, ValueError) as error:  # links that go in circles, and names that no file can have
        raise _unavailable(f"cannot read {source}: {getattr(error, 'strerror', None) or error}") from error
    if not origin.location.isprintable():
        raise _unavailable(f"the path {origin.location!a} has a character that cannot be written down; rename it")
    return origin


def _names_repository(text: str) -> bool:
    return bool(text.isprintable() and (URL.fullmatch(text) or SCP.fullmatch(text)))


def _is_ref(text: str) -> bool:
    return bool(text.isprintable() and REF.fullmatch(text))


def _ref(ref: str) -> str:
    if not _is_ref(ref):
        raise _unavailable(f"`{ref}` is no ref; {WRITE_REF}")
    return ref


def _local(text: str, cwd: Path, *, is_repository: bool) -> Origin:
    path, ref = cwd / text, ""
    if not path.exists() and "#" in text:
        before, _, after = text.rpartition("#")
        path, ref = cwd / before, _ref(after)
    if not path.exists():
        wanted = "a folder, a file, or a repository at a path or a URL with http, https, ssh, git or file"
        raise _unavailable(f"there is nothing at {path}; write {wanted}")
    path = path.resolve()
    if is_repository or (_is_bare(path) and not _holds_document(path)):
        return Origin(From.GIT, path.as_uri(), ref)
    if ref:
        raise _unavailable(f"{path} is read as it lies there, and has no refs; git+{path}#{ref} is what is committed")
    return Origin(From.FOLDER if path.is_dir() else From.FILE, str(path))


def _is_bare(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def _holds_document(folder: Path) -> bool:
    return any((folder / holder / DOCUMENT).is_file() for holder in HOLDERS)


# What a source holds now


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fresh:
    """A marketplace that was just read. `staged` is the copy that becomes its snapshot, if there is none so far."""

    marketplace: Marketplace
    staged: Path
    is_kept: bool


def _fetched(store: Store, origin: Origin, stage: HeldFolder, *, name: str | None) -> _Fresh:
    try:
        work = Path(tempfile.mkdtemp(dir=stage.path))
        root, staged = _brought(origin, work, stage), work / "package"
        package = copy_package(root, staged, LIMITS, keep=origin.documents.__contains__)
    except PackageFault as fault:
        remedy = f"; {fault.write}" if fault.write else ""
        raise _unavailable(f"cannot copy {origin.text}: {fault}{remedy}") from fault
    except OSError as error:
        raise write_failed(stage.path, error) from error
    path = next(filter(package.has, origin.documents), None)
    if path is None:
        raise _no_document(origin)
    read = read_document(package.read(path), origin.place(path))
    marketplace = _marketplace(name or read.name, origin, package.digest, store, read)
    return _Fresh(marketplace=marketplace, staged=staged, is_kept=_is_whole(marketplace.snapshot, package))


def _brought(origin: Origin, work: Path, stage: HeldFolder) -> Path:
    """The folder to copy: the source itself, or what was made of it in *work*."""
    root = Path(origin.location) if origin.kind is From.FOLDER else work / "source"
    match origin.kind:
        case From.FOLDER:
            _check_folder(root, origin)
        case From.GIT:
            _clone(origin, root, stage)
        case From.FILE:
            data = _bytes_of(Path(origin.location))
            root.mkdir()
            (root / DOCUMENT).write_bytes(data)
    return root


def _check_folder(root: Path, origin: Origin) -> None:
    """Raise PluginError where no document is in it, before all the rest that may be there is copied."""
    try:
        if not root.is_dir():
            raise _unavailable(f"there is no folder {root} any more")
        if not _holds_document(root):
            raise _no_document(origin)
    except OSError as error:
        raise _unavailable(f"cannot read {origin.text}: {error.strerror}") from error


def _no_document(origin: Origin) -> PluginError:
    return _invalid(f"{origin.text}: there is neither {' nor '.join(origin.documents)} in it; write one")


def _bytes_of(file: Path) -> bytes:
    try:
        return read_regular(file, DOCUMENT_BYTES, flags=NO_LINK)[0]
    except OSError as error:
        raise _unavailable(f"cannot read {file}: {error.strerror}") from error


def _is_whole(snapshot: Path, package: PackageFiles) -> bool:
    try:
        return read_package(snapshot, LIMITS).digest == package.digest
    except PackageFault:
        return False


def _clone(origin: Origin, to: Path, stage: HeldFolder) -> None:
    """Have the one commit that is asked for at *to*, without running anything of it. Raises PluginError.

    git is in a session of its own, and keeps *stage* from being taken away for as long as it runs.
    """
    branch = ("--branch", origin.ref) if origin.ref else ()
    command = [*CLONE, *CLONE_OPTIONS, *branch, "--", origin.location, str(to)]
    env = {name: os.environ[name] for name in HANDED_ON if name in os.environ} | CLONE_ENVIRONMENT
    said = to.with_name("said")  # a pipe could be held open by what git leaves running
    try:
        with said.open("wb") as errors:
            git = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=env,
                cwd=to.parent,
                start_new_session=True,
                pass_fds=(stage.lock,),
            )
    except OSError as error:
        raise _unavailable(f"cannot run git, which {origin.text} takes: {error.strerror}") from error
    try:
        status = git.wait(CLONE_TIMEOUT)
    except subprocess.TimeoutExpired:
        raise _unavailable(f"cannot clone {origin.text}: it takes longer than {CLONE_TIMEOUT:g} seconds") from None
    finally:
        if git.returncode is None:
            os.killpg(git.pid, signal.SIGKILL)
            git.wait()
    if status:
        raise _unavailable(f"cannot clone {origin.text}: {_reason(said, status)}")


def _reason(said: Path, status: int) -> str:
    """The one line that says most of what git said."""
    with said.open("rb") as file:
        text = file.read(SAID_BYTES).decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if not line.lower().startswith(BESIDE_THE_POINT)]
    return (telling or lines or [f"git ended with status {status}"])[0]


# The document


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What a document says: what the marketplace calls itself, and what is in it."""

    name: str
    plugins: tuple[Offered, ...]


def read_document(data: bytes, place: str) -> Read:
    """The document of a marketplace, which is at *place*. Raises PluginError for everything that is wrong in it."""
    try:
        value = parse(data, max_bytes=DOCUMENT_BYTES, max_depth=DEEPEST)
    except JsonFault as fault:
        raise _invalid(f"{place}:{fault.line}:{fault.column}: {fault.message}; {MEND}") from None
    reader = _Reader(document=Document(Source(layer=LAYER, label=DOCUMENT, path=place), value, decode(data)))
    read = reader.read()
    if reader.faults:
        raise _invalid(*reader.faults)
    return read


@dataclass(slots=True, kw_only=True)
class _Reader:
    document: Document
    faults: list[str] = field(default_factory=list)

    def say(self, message: str, *at: str | int, write: str) -> None:
        self.faults.append(f"{self.document.where(at)}: {message}; {write}")

    def read(self) -> Read:
        value = self.document.value
        if not isinstance(value, dict):
            self.say(f"a marketplace must be an object, found {found(value)}", write="write {}")
            return Read(name="", plugins=())
        name = self._identifier(value, "marketplace")
        self._optional(value, "owner", OBJECT)
        self._optional(value, "description", STRING)
        entries = value.get("plugins")
        if not isinstance(entries, list):
            message = f"a marketplace must declare array field `plugins`{_instead(value, 'plugins')}"
            self.say(message, "plugins", write='write "plugins": []')
            entries = []
        return Read(name=name, plugins=tuple(self._plugins(entries)))

    def _plugins(self, entries: list[Any]) -> Iterator[Offered]:
        names: set[str] = set()
        for index, entry in enumerate(entries):
            at = ("plugins", index)
            if not isinstance(entry, dict):
                self.say(f"a plugin must be an object, found {found(entry)}", *at, write="write {...}")
                continue
            name = self._identifier(entry, "plugin", *at)
            if name and name in names:
                self.say(f"there is a plugin `{name}` already", *at, "name", write="write a name of its own")
            names.add(name)
            yield Offered(
                name=name,
                version=self._optional(entry, "version", STRING, *at) or "",
                description=self._optional(entry, "description", STRING, *at) or "",
                source=entry.get("source", ""),
                why_not=self._source(entry, *at),
            )

    def _identifier(self, value: dict[str, Any], what: str, *at: str | int) -> str:
        name = value.get("name")
        if isinstance(name, str) and IDENTIFIER.fullmatch(name):
            return name
        invalid = f"{what} name `{name[:200]}` is invalid" if isinstance(name, str) else ""
        self.say(
            invalid or f"a {what} must declare string field `name`{_instead(value, 'name')}", *at, "name", write=GRAMMAR
        )
        return ""

    def _optional(self, value: dict[str, Any], name: str, kind: Kind, *at: str | int) -> Any:
        if name in value and not kind.accepts(value[name]):
            message = f"`{name}` must be {kind.noun}{_instead(value, name)}"
            self.say(message, *at, name, write=f"write {kind.sample}")
            return None
        return value.get(name)

    def _source(self, entry: dict[str, Any], *at: str | int) -> str:
        """Why nothing can be installed from an entry's source, or nothing. What is wrong with it is said."""
        source = entry.get("source")
        at = (*at, "source")
        if isinstance(source, str):
            if _names_repository(source):
                return f'unsupported source: for a repository write {{"source": "git", "url": "{source[:200]}"}}'
            self._path(source, *at)
            return ""
        if not isinstance(source, dict) or not isinstance(source.get("source"), str):
            self.say(f"a plugin must declare its `source`{_instead(entry, 'source')}", *at, write=WRITE_SOURCE)
            return ""
        if source["source"] not in ("git", "url"):
            return f"unsupported source: `{source['source'][:200]}` is none of a path, `git` and `url`"
        return self._repository(source, *at)

    def _repository(self, source: dict[str, Any], *at: str | int) -> str:
        url = source.get("url")
        if not isinstance(url, str):
            message = f"a repository must declare string field `url`{_instead(source, 'url')}"
            self.say(message, *at, "url", write="write its URL")
            return ""
        if self._optional(source, "path", STRING, *at) is not None:
            self._path(source["path"], *at, "path")
        ref = self._optional(source, "ref", STRING, *at)
        if ref is not None and not _is_ref(ref):
            self.say(f"`{ref[:200]}` is no ref", *at, "ref", write=WRITE_REF)
        unknown = [name for name in source if name not in REPOSITORY_MEMBERS]
        if unknown:  # it may say which bytes are meant
            return f"unsupported source: nothing is known of its `{unknown[0][:200]}`"
        return "" if _names_repository(url) else f"unsupported source: `{url[:200]}` is no URL that is cloned from"

    def _path(self, path: str, *at: str | int) -> None:
        try:
            _inner(path)
        except Unsafe:
            self.say(f"`{path[:200]}` is no path within the marketplace", *at, write=WRITE_PATH)


def _instead(value: Mapping[str, Any], name: str) -> str:
    """What stands where something else was wanted, if anything does."""
    return f", found {found(value[name])}" if name in value else ""


def _inner(path: str) -> str:
    """The path within its marketplace that a relative source names; empty for all of it. Raises Unsafe."""
    if path.startswith(("/", "\\")) or not path.isprintable():
        raise Unsafe(path)
    return "" if path in ITSELF else path_in_package(path)


# The store


def _table(store: Store) -> dict[str, Any]:
    return read_table(store.root / TABLE, {"marketplaces": {}}, _check)


def _records(store: Store) -> Records:
    records: Records = _table(store)["marketplaces"]
    return records


def _check(value: dict[str, Any]) -> None:
    """Raise Damaged where the table is not one that this program could have written."""
    records = value.get("marketplaces", {})
    expect(records, ("marketplaces",), OBJECT)
    for name, record in records.items():
        at = ("marketplaces", name)
        expect(record, at, OBJECT)
        for text in TEXTS:
            if text not in record:
                raise Damaged(at, f"`{text}` is missing")
            expect(record[text], (*at, text), STRING)
        if record["name"] != name or not IDENTIFIER.fullmatch(name):
            raise Damaged((*at, "name"), "it is not the name that the marketplace is kept under")
        if not DIGEST.fullmatch(record["sha256"]):
            raise Damaged((*at, "sha256"), "it is not a digest of 64 hexadecimal digits")
        _check_source(record.get("source"), (*at, "source"))


def _check_source(source: Any, at: tuple[str | int, ...]) -> None:
    expect(source, at, OBJECT)
    kind, location, ref = source.get("kind"), source.get("location"), source.get("ref", "")
    expect(location, (*at, "location"), STRING)
    expect(ref, (*at, "ref"), STRING)
    if kind not in list(From):
        raise Damaged((*at, "kind"), f"it is none of {', '.join(From)}")
    is_sound = _names_repository(location) if kind == From.GIT else location.startswith("/") and location.isprintable()
    if not is_sound:
        raise Damaged((*at, "location"), f"it is not where a {kind} can be")
    if "ref" in source and not (kind == From.GIT and _is_ref(ref)):
        raise Damaged((*at, "ref"), "it is no ref of a repository")


def _known(records: Records, name: str) -> Mapping[str, Any]:
    if name not in records:
        raise PluginError(Fault.UNKNOWN_MARKETPLACE, shown(f"marketplace `{name}` is not known"))
    return records[name]


def _origin(record: Mapping[str, Any]) -> Origin:
    source = record["source"]
    return Origin(From(source["kind"]), source["location"], source.get("ref", ""))


def _snapshot(store: Store, name: str, digest: str) -> Path:
    return store.root / FOLDER / name / digest / "package"


def _marketplace(name: str, origin: Origin, digest: str, store: Store, read: Read) -> Marketplace:
    return Marketplace(
        name=name,
        kind=origin.kind,
        location=origin.location,
        ref=origin.ref,
        digest=digest,
        snapshot=_snapshot(store, name, digest),
        plugins=read.plugins,
    )


def _kept(store: Store, record: Mapping[str, Any]) -> Marketplace:
    """A marketplace as its snapshot has it. Raises PluginError where that is gone or damaged."""
    name, digest, origin = record["name"], record["sha256"], _origin(record)
    snapshot = _snapshot(store, name, digest)
    if record["snapshot"] != str(snapshot):
        raise _stale(name, f"the table names {record['snapshot']} for its files, which belong in {snapshot}")
    for path in origin.documents:
        try:
            data, _ = read_regular(snapshot / path, DOCUMENT_BYTES, flags=NO_LINK)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise _stale(name, f"cannot read {snapshot / path}: {error.strerror}") from error
        try:
            return _marketplace(name, origin, digest, store, read_document(data, str(snapshot / path)))
        except PluginError as error:
            raise _stale(name, str(error)) from error
    raise _stale(name, f"there is no {' and no '.join(origin.documents)} in {snapshot}")


def _stale(name: str, why: str) -> PluginError:
    remedy = f"`hookline plugins marketplace update {name}` reads it anew"
    return _invalid(*f"marketplace `{name}` is not as it was read; {remedy}: {why}".split("\n"))


def _settled(store: Store, look: Callable[[Records], T]) -> T:
    """What *look* finds, unless what it looked at was replaced meanwhile: then it looks again."""
    while True:
        records = _records(store)
        try:
            return look(records)
        except PluginError:
            if _records(store) == records:
                raise


def _commit(store: Store, work: Path, fresh: Sequence[_Fresh], *, known: bool) -> None:
    """Have the table name what was read, in one step. Raises PluginError.

    *known*: it has to name an older one of each.
    """
    with store.alone():
        table = _table(store)
        records = table["marketplaces"]
        for each in fresh:
            place = each.marketplace
            before = _known(records, place.name) if known else records.get(place.name)
            if before is not None and _origin(before) != place.origin:
                taken = f"marketplace `{place.name}` is that of {_origin(before).text}, and not of {place.origin.text}"
                raise _invalid(f"{taken}; give this one another name, or remove that one first")
            records[place.name] = _record(place, before or {})
        for each in fresh:
            _place(each, work)
        write_table(store.root / TABLE, table)
        _sweep(store, records, work)


def _record(place: Marketplace, before: Mapping[str, Any]) -> dict[str, Any]:
    moment = now()
    source = {"kind": place.kind.value, "location": place.location, **({"ref": place.ref} if place.ref else {})}
    return {
        **before,
        "name": place.name,
        "source": {**before.get("source", {}), **source},
        "added_at": before.get("added_at", moment),
        "updated_at": moment,
        "snapshot": str(place.snapshot),
        "sha256": place.digest,
    }


def _place(fresh: _Fresh, work: Path) -> None:
    """Move a copy to where its snapshot belongs. Must be alone. Raises PluginError."""
    home = fresh.marketplace.snapshot
    if fresh.is_kept and home.is_dir():
        return
    try:
        if os.path.lexists(home.parent):
            home.parent.rename(_aside(work))
        made = make_private(home.parent)
        fresh.staged.rename(home)
        home.chmod(0o555)
        for folder in (home.parent, *(each.parent for each in made)):
            sync_folder(folder)
    except OSError as error:
        raise write_failed(home, error) from error


def _sweep(store: Store, records: Records, work: Path) -> None:
    """Take away all snapshots that the table does not name, also a killed program's. What cannot be moved stays."""
    with suppress(OSError):
        for each in list(_unnamed(store.root / FOLDER, records)):
            each.rename(_aside(work))


def _unnamed(folder: Path, records: Records) -> Iterator[Path]:
    for home in folder.iterdir():
        if home.name in records:
            yield from (each for each in home.iterdir() if each.name != records[home.name]["sha256"])
        else:
            yield home


def _aside(work: Path) -> Path:
    """A path to move something to that goes with the folder at *work*: where it was it is whole or not at all."""
    return Path(tempfile.mkdtemp(dir=work)) / "gone"


def _unavailable(message: str) -> PluginError:
    return PluginError(Fault.SOURCE_UNAVAILABLE, shown(message))


def _invalid(*lines: str) -> PluginError:
    return PluginError(Fault.INVALID_MARKETPLACE, "\n".join(map(shown, lines)))
