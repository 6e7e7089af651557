"""The document of a marketplace: which plugins it offers, and every fault of it in one go (section 20.5)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hookline._core.hooks import Source
from hookline._core.strictjson import JsonFault, decode, parse
from hookline.dialects._files import DEEPEST
from hookline.dialects._kinds import OBJECT, STRING, Kind, found
from hookline.dialects.muse.document import MEND, Document
from hookline.dialects.muse.plugins.documents import LAYER
from hookline.dialects.muse.plugins.errors import Fault, PluginError
from hookline.dialects.muse.plugins.native import GRAMMAR, IDENTIFIER
from hookline.dialects.muse.plugins.paths import Unsafe, path_in_package
from hookline.dialects.muse.report import shown

DOCUMENT = "marketplace.json"
DOCUMENT_BYTES = 1_048_576
ITSELF = (".", "./")  # the sources of a plugin that is the whole marketplace

REPOSITORY_MEMBERS = ("source", "url", "ref", "path")
WRITE_PATH = 'write a path below the marketplace\'s folder, such as "./plugins/guard"'
WRITE_REF = "write the name of a branch or a tag"
WRITE_SOURCE = f'{WRITE_PATH}, or {{"source": "git", "url": "https://..."}}'

URL = re.compile(r"(?:https?|ssh|git|file)://.+")
SCP = re.compile(r"\w[\w.+-]*@\w[\w.-]*:.+")  # as ssh and scp name a place: user@host:path
REF = re.compile(r"[^\s-]\S*")


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
class Read:
    """What a document says: what the marketplace calls itself, and what is in it."""

    name: str
    plugins: tuple[Offered, ...]


def read_document(data: bytes, place: str) -> Read:
    """The document of a marketplace, which is at *place*. Raises PluginError for everything that is wrong in it."""
    try:
        value = parse(data, max_bytes=DOCUMENT_BYTES, max_depth=DEEPEST)
    except JsonFault as fault:
        raise invalid(f"{place}:{fault.line}:{fault.column}: {fault.message}; {MEND}") from None
    reader = _Reader(document=Document(Source(layer=LAYER, label=DOCUMENT, path=place), value, decode(data)))
    read = reader.read()
    if reader.faults:
        raise invalid(*reader.faults)
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
            if names_repository(source):
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
        if ref is not None and not is_ref(ref):
            self.say(f"`{ref[:200]}` is no ref", *at, "ref", write=WRITE_REF)
        unknown = [name for name in source if name not in REPOSITORY_MEMBERS]
        if unknown:  # it may say which bytes are meant
            return f"unsupported source: nothing is known of its `{unknown[0][:200]}`"
        return "" if names_repository(url) else f"unsupported source: `{url[:200]}` is no URL that is cloned from"

    def _path(self, path: str, *at: str | int) -> None:
        try:
            inner_path(path)
        except Unsafe:
            self.say(f"`{path[:200]}` is no path within the marketplace", *at, write=WRITE_PATH)


def _instead(value: Mapping[str, Any], name: str) -> str:
    """What stands where something else was wanted, if anything does."""
    return f", found {found(value[name])}" if name in value else ""


def inner_path(path: str) -> str:
    """The path within its marketplace that a relative source names; empty for all of it. Raises Unsafe."""
    if path.startswith(("/", "\\")) or not path.isprintable():
        raise Unsafe(path)
    return "" if path in ITSELF else path_in_package(path)


def names_repository(text: str) -> bool:
    return bool(text.isprintable() and (URL.fullmatch(text) or SCP.fullmatch(text)))


def is_ref(text: str) -> bool:
    return bool(text.isprintable() and REF.fullmatch(text))


def unavailable(message: str) -> PluginError:
    return PluginError(Fault.SOURCE_UNAVAILABLE, shown(message))


def invalid(*lines: str) -> PluginError:
    return PluginError(Fault.INVALID_MARKETPLACE, "\n".join(map(shown, lines)))
