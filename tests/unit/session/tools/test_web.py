import asyncio
import gzip
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web

from hookline._core.errors import ToolError, UsageError
from hookline.session.ports import Risk, Tool
from hookline.session.tools import _http, builtin_tools


def tool(name: str, **more: Any) -> Tool:
    return next(each for each in builtin_tools(**more) if each.spec.name == name)


PAGES: dict[str, Callable[[], web.Response]] = {
    "/text": lambda: web.Response(text="hello é"),
    "/latin": lambda: web.Response(body=b"\xe9", headers={"Content-Type": "text/plain; charset=iso-8859-1"}),
    "/odd-charset": lambda: web.Response(body=b"hello", headers={"Content-Type": "text/plain; charset=punycode"}),
    "/html": lambda: web.Response(text="<p>Hello</p><script>no</script>", content_type="text/html"),
    "/json": lambda: web.json_response({"a": 1}),
    "/image": lambda: web.Response(body=b"\x89PNG", content_type="image/png"),
    "/large": lambda: web.Response(text="x" * (1024 * 1024 + 1)),
    "/packed": lambda: web.Response(
        body=gzip.compress(b"x"), headers={"Content-Encoding": "gzip", "Content-Type": "text/plain"}
    ),
    "/here": lambda: web.Response(status=302, headers={"Location": "/text"}),
    "/there": lambda: web.Response(status=302, headers={"Location": "http://127.0.0.2:1/elsewhere?key=secret"}),
    "/round": lambda: web.Response(status=302, headers={"Location": "/round"}),
    "/hits": lambda: web.json_response(
        [{"title": "One", "url": "http://one", "snippet": "first", "more": 1}, {"title": "", "url": "u"}]
    ),
    "/no-hits": lambda: web.json_response([]),
    "/none": lambda: web.Response(status=404),
}


class Site:
    """A server on loopback. `seen` are the requests that it got. It never answers for `/slow`."""

    def __init__(self) -> None:
        self.seen: list[web.BaseRequest] = []
        self.base = ""

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.seen.append(request)
        if request.path == "/slow":
            await asyncio.Event().wait()
        return PAGES[request.path]()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    site = Site()
    runner = web.ServerRunner(web.Server(site.answer), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    site.base = f"http://{host}:{port}"
    yield site
    await runner.cleanup()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/text", "hello é"),
        ("/latin", "é"),
        ("/odd-charset", "hello"),
        ("/html", "Hello"),
        ("/json", '{"a": 1}'),
        ("/here", "hello é"),
        ("/large", "x" * 1024 * 1024 + "\n[the page is longer; this is its first MiB]"),
    ],
)
async def test_a_page_comes_as_text(site: Site, context: Any, path: str, text: str) -> None:
    """Whatever text is sent as, it arrives as text, up to a MiB; a redirect within the site is followed."""
    assert (await tool("web_fetch").call({"url": site.base + path}, context())).text == text


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/none", "404 Not Found"),
        ("/image", "the answer is image/png, not text"),
        ("/packed", "came as gzip"),
        ("/there", "leads to another site, http://127.0.0.2:1/elsewhere.key=secret: fetch that"),
        ("/round", "more than 5 redirects"),
    ],
)
async def test_what_is_no_page_is_an_error(site: Site, context: Any, path: str, said: str) -> None:
    """The error says what came instead; another site is only named."""
    with pytest.raises(ToolError, match=said):
        await tool("web_fetch").call({"url": site.base + path}, context())


async def test_a_server_that_does_not_answer_is_left(site: Site, context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a limit for the whole of it."""
    monkeypatch.setattr(_http, "TIMEOUT", 0.1)
    with pytest.raises(ToolError, match=r"within 0.1 s"):
        await tool("web_fetch").call({"url": f"{site.base}/slow"}, context())


async def test_a_server_that_is_not_there_is_an_error(context: Any, site: Site) -> None:
    """No connection is a failed call."""
    with pytest.raises(ToolError, match="Cannot connect"):
        await tool("web_fetch").call({"url": "http://127.0.0.1:1/"}, context())


@pytest.mark.parametrize("url", ["http://[", "http://a:b/", "http://\N{SNOWMAN}\u200b..x/"])
async def test_an_address_that_is_none_is_an_error(context: Any, url: str) -> None:
    """Whatever the model takes for an address, the call fails and nothing else does."""
    with pytest.raises(ToolError):
        await tool("web_fetch").call({"url": url}, context())


async def test_no_proxy_and_no_compression(site: Site, context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of the environment is not asked, and a body is sent as it is."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    await tool("web_fetch").call({"url": f"{site.base}/text"}, context())

    assert site.seen[0].headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize("name", ["web_fetch", "web_search"])
async def test_without_the_extra_the_error_says_what_to_install(
    name: str, context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """aiohttp is optional, and who needs it is told."""
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    inputs = {"web_fetch": {"url": "http://localhost/"}, "web_search": {"query": "x"}}
    with pytest.raises(ToolError, match=r"pip install 'hookline\[http\]'"):
        await tool(name, search_url="http://localhost/?q={query}").call(inputs[name], context())


async def test_a_search_asks_the_configured_service(site: Site, context: Any) -> None:
    """The query is quoted into the address; hits are told one after the other."""
    search = tool("web_search", search_url=site.base + "/hits?q={query}&key=1")
    result = await search.call({"query": "a&b é"}, context())

    assert site.seen[0].raw_path == "/hits?q=a%26b%20%C3%A9&key=1"
    assert result.text == "One\nhttp://one\nfirst\n\nu"


async def test_a_search_without_hits_says_so(site: Site, context: Any) -> None:
    """Nothing found is an answer."""
    search = tool("web_search", search_url=site.base + "/no-hits?q={query}")

    assert (await search.call({"query": "x"}, context())).text == "nothing found"


async def test_without_a_service_the_error_says_how_to_configure_one(context: Any) -> None:
    """Nothing is asked of anyone by default."""
    with pytest.raises(ToolError, match=r"set HOOKLINE_SEARCH_URL to an address with \{query\} in it"):
        await tool("web_search").call({"query": "x"}, context())


def test_an_address_without_a_place_for_the_query_is_refused() -> None:
    """A service that cannot be asked is a mistake of the configuration, found at once."""
    with pytest.raises(UsageError, match=r"\{query\}"):
        tool("web_search", search_url="http://localhost/")


@pytest.mark.parametrize("path", ["/text", "/none", "/there", "/json", "/slow"])
async def test_an_error_of_a_search_does_not_show_the_key(
    site: Site, context: Any, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address of a service may hold a key, so no error repeats it."""
    monkeypatch.setattr(_http, "TIMEOUT", 0.5)
    search = tool("web_search", search_url=f"{site.base}{path}?key=secret&q={{query}}")
    with pytest.raises(ToolError) as raised:
        await search.call({"query": "x"}, context())

    assert "secret" not in str(raised.value)


async def test_an_answer_that_is_not_http_does_not_show_the_key(context: Any) -> None:
    """Not even the errors of the HTTP library do, which like to."""

    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"no http at all\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(babble, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        search = tool("web_search", search_url=f"http://127.0.0.1:{port}/?key=secret&q={{query}}")
        with pytest.raises(ToolError) as raised:
            await search.call({"query": "x"}, context())

    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("name", ["web_fetch", "web_search"])
def test_the_web_is_outside(name: str, workspace: Any) -> None:
    """Both tools reach out, whatever they are asked."""
    inputs: dict[str, dict[str, Any]] = {"web_fetch": {"url": "http://localhost/"}, "web_search": {"query": "x"}}

    assert tool(name).risk(inputs[name], workspace) is Risk.REACHES_OUT
