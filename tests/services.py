"""Servers that some tests need. Where one does not answer its tests are skipped, or fail if it was promised."""

import functools
import os
import shutil
import socket
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

import pytest

POSTGRES = os.environ.get("HOOKLINE_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/test")
NATS = os.environ.get("HOOKLINE_TEST_NATS", "nats://127.0.0.1:4222")

PROMISED = os.environ.get("HOOKLINE_REQUIRE_SERVICES") == "1"
PORTS = {"postgres": 5432, "postgresql": 5432, "nats": 4222}


def require(url: str) -> str:
    """*url*, if a server answers there. Otherwise the test is skipped; with HOOKLINE_REQUIRE_SERVICES=1 it fails."""
    if why := _silence(url):
        _do_without(why)
    return url


def require_nats() -> str:
    """The URL of a NATS server that answers, on the same terms."""
    return require(NATS)


def nats_program() -> str:
    """Where `nats-server` is installed, on the same terms."""
    program = shutil.which("nats-server", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))
    if program is None:
        _do_without("nats-server is not installed")
    return program


def native_hooks() -> Path:
    """The folder of the shipped hooks as programs of this machine, where `make components` puts them, likewise."""
    folder = Path(__file__).parent.parent / "components" / "build" / "native"
    if not folder.is_dir():
        _do_without("`make components` has not built the hooks as programs")
    return folder


def _do_without(why: str) -> NoReturn:
    if PROMISED:
        pytest.fail(why)
    pytest.skip(why)


@functools.cache
def _silence(url: str) -> str:
    """Why nothing answers at *url*, empty if something does. It is asked once."""
    parts = urlsplit(url)
    host, port = parts.hostname or "127.0.0.1", parts.port or PORTS[parts.scheme]
    try:
        socket.create_connection((host, port), timeout=2).close()
    except OSError as error:
        return f"no {parts.scheme} server answers at {host}:{port}: {error}"
    return ""
