"""What a manifest grants: from the text of one grant to what it means, or to why it is none.

The words of refusals are those of the Murmur runtime, as far as it has any.
"""

import re
from ipaddress import AddressValueError, IPv6Address
from posixpath import normpath

from hookline._core.capsule import Destination, plain_host
from hookline.dialects.murmur.kinds import Kind, Refusal, list_of, text

NETWORK, SCOPE, STORE = "E-CAP-001", "E-CAP-002", "E-CAP-009"  # the codes of their problems

_PORTS = {"https": 443, "http": 80}
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_LONGEST_HOST = 253
_HOST_ONLY = "host allow entries must be host or host:port only"
_URL_ONLY = "URL allow entries must not include path, query, or fragment"


def destination(entry: str) -> Destination | Refusal:
    """`scheme://host[:port]` is one port of one scheme, `host:port` one port, `host` all of a host."""
    scheme, is_url, rest = entry.partition("://")
    if not is_url:
        return _place(entry, None) if not set(entry) & set("/?#@") else Refusal(_HOST_ONLY)
    scheme = scheme.lower()
    if scheme not in _PORTS:
        return Refusal(f"unsupported URL scheme '{scheme}' (expected http or https)")
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    if rest[len(authority) :] not in ("", "/"):
        return Refusal(_URL_ONLY, f"`{scheme}://{authority}`")
    if "@" in authority:
        return Refusal("URL allow entries must not include a user or a password", f"`{scheme}://host`")
    return _place(authority, scheme)


def _place(authority: str, scheme: str | None) -> Destination | Refusal:
    host, port = _parted(authority)
    if not _is_host(host):
        return _no_host(host)
    if port is None:
        return Destination(host=plain_host(host), port=_PORTS.get(scheme or ""), scheme=scheme)
    if not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) < 65_536:  # noqa: PLR2004 - there are no more ports
        return Refusal(f"{_HOST_ONLY}, and a port is a number from 1 to 65535")
    return Destination(host=plain_host(host), port=int(port), scheme=scheme)


def _parted(authority: str) -> tuple[str, str | None]:
    """Host and port: a colon within brackets is of an address, and only one that follows is before a port."""
    if authority.startswith("["):
        host, bracket, after = authority.partition("]")
        colon, port = after[:1], after[1:]
        return (host + bracket, None) if not after else (host + bracket, port) if colon == ":" else (authority, None)
    host, colon, port = authority.rpartition(":")
    return (host, port) if colon else (authority, None)


def _is_host(host: str) -> bool:
    if host.startswith("["):
        return host.endswith("]") and _is_ipv6(host[1:-1])
    name = host.lower().removesuffix(".")
    return len(name) <= _LONGEST_HOST and all(_LABEL.fullmatch(label) for label in name.split("."))


def _is_ipv6(address: str) -> bool:
    try:
        return IPv6Address(address).scope_id is None
    except AddressValueError:
        return False


def _no_host(host: str) -> Refusal:
    if not host.isascii():
        return Refusal(f"{_HOST_ONLY}, in letters of ASCII", "the form of the name that begins with `xn--`")
    if ":" in host:
        return Refusal(f"{_HOST_ONLY}, an IPv6 address in brackets", "`[::1]` or `[::1]:8080`")
    if "*" in host:
        return Refusal(f"{_HOST_ONLY}, and none of them has wildcards", "each host by its name")
    return Refusal(_HOST_ONLY)


def endpoint(url: str) -> str | Refusal:
    """An address that is called: unlike a grant it may have a path."""
    scheme, _, rest = url.partition("://")
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    is_whole = scheme.lower() in _PORTS and not isinstance(_place(authority, scheme.lower()), Refusal)
    return url if is_whole and url.isprintable() and not set(url) & set(" ?#") else Refusal("")


def scope(path: str) -> str | Refusal:
    """A folder under the working directory, relative to it, without detours."""
    if "\0" in path:
        return Refusal("scope must not contain a NUL character")
    if path.startswith("/") or re.match("[A-Za-z]:|\\\\", path):
        return Refusal("scope must be relative to the workdir")
    if not path.strip():
        return Refusal("scope must name a folder", "`scope: .` for the whole workdir")
    if "\\" in path:
        return Refusal("scope must have `/` between its folders")
    plain = normpath(path)
    return Refusal("scope cannot escape the workdir via '..'") if plain.split("/")[0] == ".." else plain


_SEGMENT = re.compile(r"[^\s/\\.:\x00-\x1f\x7f](?:[^/\\:\x00-\x1f\x7f]{0,99})")


def store(name: str) -> str | Refusal:
    """The name of a folder among others of its kind: one plain segment of a path."""
    if _SEGMENT.fullmatch(name) and name.isprintable() and len(name.encode()) <= 200:  # noqa: PLR2004 - 255 is a folder's
        return name
    return Refusal("a store's name must be a single path segment without a leading dot")


DESTINATION: Kind = text("text: `https://host`, `host:port` or `host`", "https://example.com", destination)
DESTINATIONS = list_of(DESTINATION, "a list of `https://host`, `host:port` or `host`")
FOLDER = text("text: a folder, relative to the workdir", "hook-state", scope)
FOLDERS = list_of(FOLDER, "a list of paths, relative to the workdir")
SEGMENT = text("text that names a folder", "my-store", store)
ENDPOINT = text("text: a URL that begins with http:// or https://", "http://localhost:4318", endpoint)
