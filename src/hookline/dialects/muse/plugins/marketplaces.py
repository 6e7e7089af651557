"""Marketplaces: lists of plugins, each kept as it was when it was last read (section 20.5).

The table says which there are and from where; of each there is a snapshot, known by its digest. As with the plugins
themselves the table is what counts: a snapshot is in its place before the table names it, and goes after it no longer
does. Everything slow, and everything that a stranger wrote, is read before the store is anybody's alone.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from hookline._core.held_folders import HeldFolder
from hookline._core.package_files import Limits, PackageFault, copy_package, take_away
from hookline._core.regular_files import NO_LINK, read_regular
from hookline.dialects._kinds import OBJECT, STRING
from hookline.dialects.muse.document import did_you_mean
from hookline.dialects.muse.plugins.errors import Fault, PluginError
from hookline.dialects.muse.plugins.marketplace_documents import (
    DOCUMENT,
    DOCUMENT_BYTES,
    Offered,
    Read,
    inner_path,
    invalid,
    is_ref,
    names_repository,
    read_document,
    unavailable,
)
from hookline.dialects.muse.plugins.marketplace_sources import From, Origin, bytes_of, clone, holds_document, origin_of
from hookline.dialects.muse.plugins.native import GRAMMAR, IDENTIFIER
from hookline.dialects.muse.plugins.store import DIGEST, Store, is_whole, now, put_in_place, write_failed
from hookline.dialects.muse.plugins.tables import Damaged, expect, read_table, write_table
from hookline.dialects.muse.report import shown

TABLE, FOLDER = "marketplaces.json", "marketplaces"  # in the store: which there are, and their snapshots
LIMITS = Limits(entries=65_536, depth=32, all_bytes=1 << 30)  # many plugins, each of which may be a whole package
TEXTS = ("name", "added_at", "updated_at", "snapshot", "sha256")  # members of a record that are text


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
        raise invalid(f"marketplace name `{name[:200]}` is invalid; {GRAMMAR}")
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
        raise unavailable(f"plugin `{plugin}` is not in marketplace `{marketplace}`{hint}")
    if offered.why_not:
        raise unavailable(f"plugin `{plugin}` of marketplace `{marketplace}` cannot be installed: {offered.why_not}")
    if isinstance(offered.source, str):
        told = str(place.root) if place.kind is From.FILE else place.origin.text
        yield _folder_within(place.root, offered.source, told)
        return
    repository = Origin(From.GIT, offered.source["url"], offered.source.get("ref", ""))
    with store.stage() as stage:
        cloned = stage.path / "clone"
        clone(repository, cloned, stage)
        take_away(cloned / ".git")
        yield _folder_within(cloned, offered.source.get("path", "."), repository.text)


def _folder_within(root: Path, path: str, told: str) -> Path:
    """The folder that a relative source names below *root*, if no link leads to it. Raises PluginError."""
    try:
        folder = root.resolve() / inner_path(path)
        if folder.resolve() != folder:
            raise unavailable(f"{path} in {told} is behind a link; put the folder itself there")
        if folder.is_dir():
            return folder
    except OSError as error:
        raise unavailable(f"{path} in {told} cannot be read: {error.strerror}") from error
    raise unavailable(f"there is no folder {path} in {told}")


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
        raise unavailable(f"cannot copy {origin.text}: {fault}{remedy}") from fault
    except OSError as error:
        raise write_failed(stage.path, error) from error
    path = next(filter(package.has, origin.documents), None)
    if path is None:
        raise _no_document(origin)
    read = read_document(package.read(path), origin.place(path))
    marketplace = _marketplace(name or read.name, origin, package.digest, store, read)
    is_kept = is_whole(marketplace.snapshot, package.digest, LIMITS)
    return _Fresh(marketplace=marketplace, staged=staged, is_kept=is_kept)


def _brought(origin: Origin, work: Path, stage: HeldFolder) -> Path:
    """The folder to copy: the source itself, or what was made of it in *work*."""
    root = Path(origin.location) if origin.kind is From.FOLDER else work / "source"
    match origin.kind:
        case From.FOLDER:
            _check_folder(root, origin)
        case From.GIT:
            clone(origin, root, stage)
        case From.FILE:
            data = bytes_of(Path(origin.location))
            root.mkdir()
            (root / DOCUMENT).write_bytes(data)
    return root


def _check_folder(root: Path, origin: Origin) -> None:
    """Raise PluginError where no document is in it, before all the rest that may be there is copied."""
    try:
        if not root.is_dir():
            raise unavailable(f"there is no folder {root} any more")
        if not holds_document(root):
            raise _no_document(origin)
    except OSError as error:
        raise unavailable(f"cannot read {origin.text}: {error.strerror}") from error


def _no_document(origin: Origin) -> PluginError:
    return invalid(f"{origin.text}: there is neither {' nor '.join(origin.documents)} in it; write one")


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
    is_sound = names_repository(location) if kind == From.GIT else location.startswith("/") and location.isprintable()
    if not is_sound:
        raise Damaged((*at, "location"), f"it is not where a {kind} can be")
    if "ref" in source and not (kind == From.GIT and is_ref(ref)):
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
    return invalid(*f"marketplace `{name}` is not as it was read; {remedy}: {why}".split("\n"))


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
                raise invalid(f"{taken}; give this one another name, or remove that one first")
            records[place.name] = _record(place, before or {})
        for each in fresh:
            home = each.marketplace.snapshot
            if not (each.is_kept and home.is_dir()):
                put_in_place(each.staged, home, aside=_aside(work))
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
