"""Grants of the network: which requests each form of an entry covers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline._core.capsule import Destination
from hookline.dialects.murmur.grants import destination, scope, store
from hookline.dialects.murmur.kinds import Refusal

# (entry, scheme, host, port, whether it is covered)
COVERED = [
    ("https://h", "https", "h", 443, True),
    ("https://h", "http", "h", 443, False),
    ("https://h", "https", "h", 8443, False),
    ("http://h", "http", "h", 80, True),
    ("http://h:8080", "http", "h", 8080, True),
    ("http://h:8080", "http", "h", 80, False),
    ("HTTP://H/", "http", "h", 80, True),
    ("h:80", "http", "h", 80, True),
    ("h:80", "https", "h", 80, True),
    ("h:80", "https", "h", 443, False),
    ("h", "https", "h", 443, True),
    ("h", "http", "h", 9999, True),
    ("h", "http", "x.h", 80, False),
    ("h", "http", "hh", 80, False),
    ("H.Example", "http", "h.eXAMPLE", 80, True),
    ("h.example.", "http", "h.example", 80, True),
    ("h.example", "http", "h.example.", 80, True),
    ("h.example", "http", "h.example..", 80, False),
    ("[::1]", "http", "::1", 80, True),
    ("[0:0:0::1]:80", "http", "[::1]", 80, True),
    ("[::1]:80", "http", "::1", 81, False),
    ("http://[2001:DB8::A]:8080", "http", "2001:db8::a", 8080, True),
    ("xn--mlaut-jva.de", "https", "XN--mlaut-jva.de", 443, True),
    ("127.0.0.1:1", "http", "127.0.0.1", 1, True),
    ("127.0.0.1:1", "http", "127.0.0.1", 2, False),
    ("127.0.0.1:1", "http", "localhost", 1, False),
]


@pytest.mark.parametrize(("entry", "scheme", "host", "port", "is_covered"), COVERED)
def test_what_an_entry_covers(entry: str, scheme: str, host: str, port: int, is_covered: bool) -> None:
    """Scheme and port count where the entry names them or implies them; a host is compared in its one spelling."""
    found = destination(entry)

    assert isinstance(found, Destination)
    assert is_covered == found.covers(scheme, host, port)


@given(st.text(max_size=12) | st.text(alphabet="ahtps:/.[]@1*-", max_size=12))
def test_any_entry_is_a_host_or_refused(entry: str) -> None:
    """What is granted has no path, no user, no wildcard in it, and covers itself."""
    found = destination(entry)
    if isinstance(found, Refusal):
        assert found.words
    else:
        assert not set(found.host) & set("/?#@*[] ")
        assert found.covers(found.scheme or "http", found.host, found.port or 80)


@pytest.mark.parametrize(
    ("path", "plain"),
    [(".", "."), ("a", "a"), ("./a/", "a"), ("a/../b", "b"), ("a/..", "."), ("..a", "..a"), ("a//b", "a/b")],
)
def test_a_scope_has_no_detours(path: str, plain: str) -> None:
    """So a link on the way that it does not take cannot lead it elsewhere."""
    assert plain == scope(path)


@given(st.lists(st.sampled_from(["a", "..", ".", "", "\\", "C:"]), max_size=6).map("/".join))
def test_no_scope_leaves_the_workdir(path: str) -> None:
    """Whatever it is made of: what is accepted stays beneath."""
    plain = scope(path)

    assert isinstance(plain, Refusal) or not ({".."} & set(plain.split("/")) or plain.startswith("/"))


@pytest.mark.parametrize("name", ["", ".", "..", ".a", "a/b", "a\\b", "a\0", "a\n", "C:", "x" * 101, " a"])
def test_no_store_is_a_path(name: str) -> None:
    """One plain folder among others."""
    assert isinstance(store(name), Refusal)
    assert "kept.1" == store("kept.1")
