"""One GET, with every limit that a page from anywhere calls for. aiohttp is imported when the first one is made."""

import asyncio
from dataclasses import dataclass
from typing import Any

from hookline._core.errors import ToolError

MAX_BYTES = 1024 * 1024
TIMEOUT = 30.0  # of a whole fetch, redirects included
MAX_REDIRECTS = 5
CHUNK = 65_536
OK = 200
REDIRECTS = frozenset({301, 302, 303, 307, 308})
HEADERS = {"Accept-Encoding": "identity", "User-Agent": "hookline"}  # not compressed, so that a byte is a byte
NO_AIOHTTP = "fetching needs aiohttp, which is not installed: pip install 'hookline[http]'"

# Types that are text although they do not say so, and encodings by which pages are really sent. Others that a server
# may name are slow to decode, or no text at all.
TEXT_TYPES = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")
TEXT_ENDINGS = ("+json", "+xml")
CHARSETS = ("utf-", "us-ascii", "iso-8859-", "windows-", "gb", "big5", "shift_jis", "euc-", "koi8-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What came back. `cut` says that there was more."""

    kind: str
    text: str
    cut: bool


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A redirect to another origin. It is not followed: that is another call, for hooks and approval to see."""

    address: str


async def get(url: str) -> Page | Elsewhere:
    """Fetch a text. Raises ToolError for whatever else comes of it, without the address: there may be a key in it."""
    try:
        import aiohttp
    except ImportError:
        raise ToolError(NO_AIOHTTP) from None
    try:
        async with (
            asyncio.timeout(TIMEOUT),
            aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=None),
                headers=HEADERS,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
            ) as client,
        ):
            return await _follow(client, url)
    except TimeoutError:
        raise ToolError(f"not answered in full within {TIMEOUT:g} s") from None
    except aiohttp.ClientResponseError as error:
        raise ToolError(f"the answer is not HTTP: {error.message}") from None
    except (aiohttp.InvalidURL, ValueError):
        raise ToolError("that is no address that can be fetched") from None
    except (aiohttp.ClientError, OSError) as error:
        raise ToolError(f"{type(error).__name__}: {error}") from None


async def _follow(client: Any, url: str) -> Page | Elsewhere:
    """The page at *url*, or at where it leads to on the same origin."""
    at: Any = url
    for _ in range(MAX_REDIRECTS + 1):
        async with client.get(at, allow_redirects=False) as response:
            if response.status not in REDIRECTS:
                return await _read(response)
            at = response.url.join(type(response.url)(response.headers.get("Location", "")))
            if at.origin() != response.url.origin():
                return Elsewhere(str(at))
    raise ToolError(f"more than {MAX_REDIRECTS} redirects")


async def _read(response: Any) -> Page:
    if response.status != OK:
        raise ToolError(f"{response.status} {response.reason}")
    kind = response.headers.get("Content-Type", "text/plain").partition(";")[0].strip().lower()
    if not kind.startswith(TEXT_TYPES) and not kind.endswith(TEXT_ENDINGS):
        raise ToolError(f"the answer is {kind}, not text")
    packed = response.headers.get("Content-Encoding", "identity").lower()
    if packed != "identity":
        raise ToolError(f"the answer came as {packed}, which was not asked for")
    body = bytearray()
    async for chunk in response.content.iter_chunked(CHUNK):
        body += chunk
        if len(body) > MAX_BYTES:
            break
    charset = (response.charset or "").lower()
    text = body[:MAX_BYTES].decode(charset if charset.startswith(CHARSETS) else "utf-8", errors="replace")
    return Page(kind=kind, text=text, cut=len(body) > MAX_BYTES)
