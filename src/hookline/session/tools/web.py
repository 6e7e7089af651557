"""The web tools: fetch a page, ask a search service."""

from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import msgspec
from msgspec import Meta

from hookline._core.errors import ToolError, UsageError
from hookline.session.ports import CallContext, Risk, ToolResult
from hookline.session.tools import _http
from hookline.session.tools._base import BuiltinTool, ToolInput
from hookline.session.tools._html import readable
from hookline.session.tools._http import Elsewhere

PLACEHOLDER = "{query}"
MAX_HITS = 20
HTML = frozenset({"text/html", "application/xhtml+xml"})
NO_SEARCH = (
    "no search service is configured: set HOOKLINE_SEARCH_URL to an address with {query} in it that answers with "
    'JSON, [{"title": ..., "url": ..., "snippet": ...}]'
)


class Address(ToolInput, frozen=True):
    """What `web_fetch` takes."""

    url: Annotated[str, Meta(max_length=8192, pattern=r"^https?://[^/\s]", description="An http or https address.")]


class Question(ToolInput, frozen=True):
    """What `web_search` takes."""

    query: Annotated[str, Meta(min_length=1, max_length=1024, description="What to look for.")]


class Hit(msgspec.Struct, frozen=True):
    """One answer of a search service. Whatever else it says is left out."""

    title: str
    url: str
    snippet: str = ""


class WebFetch(BuiltinTool[Address]):
    name = "web_fetch"
    description = "Fetch a page from the web and answer with its text. A redirect to another site is not followed."
    shape = Address

    def reach(self, wanted: Address, workspace: Path) -> Risk:
        return Risk.REACHES_OUT

    async def perform(self, wanted: Address, context: CallContext) -> ToolResult:
        page = await _http.get(wanted.url)
        if isinstance(page, Elsewhere):
            raise ToolError(f"this leads to another site, {page.address}: fetch that if it is wanted")
        text = readable(page.text) if page.kind in HTML else page.text
        return ToolResult(text=text + ("\n[the page is longer; this is its first MiB]" if page.cut else ""))


class WebSearch(BuiltinTool[Question]):
    """Asks the service at *endpoint*, an address with `{query}` in it. Without one, every call says how to set one."""

    name = "web_search"
    description = "Search the web. Answers with titles, addresses and snippets."
    shape = Question

    def __init__(self, aliases: tuple[str, ...] = (), *, endpoint: str | None = None) -> None:
        super().__init__(aliases)
        if endpoint is not None and PLACEHOLDER not in endpoint:
            raise UsageError(f"the address of the search service needs {PLACEHOLDER} where the query goes")
        self._endpoint = endpoint

    def reach(self, wanted: Question, workspace: Path) -> Risk:
        return Risk.REACHES_OUT

    async def perform(self, wanted: Question, context: CallContext) -> ToolResult:
        if self._endpoint is None:
            raise ToolError(NO_SEARCH)
        page = await _http.get(self._endpoint.replace(PLACEHOLDER, quote(wanted.query, safe="")))
        if isinstance(page, Elsewhere):
            raise ToolError("the search service leads to another site: its configured address is out of date")
        try:
            hits = msgspec.json.decode(page.text, type=list[Hit])
        except msgspec.DecodeError as error:
            raise ToolError(f"the search service did not answer as it should: {error}") from None
        return ToolResult(text="\n\n".join(map(_told, hits[:MAX_HITS])) or "nothing found")


def _told(hit: Hit) -> str:
    return "\n".join(filter(None, (hit.title, hit.url, hit.snippet)))
