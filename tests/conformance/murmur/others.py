"""Components that are not what they should be."""

from collections.abc import Callable, Mapping

from tests.capsule_rig import component

INTERFACE = b"murmur:hook/lifecycle@0.8.0"


def renamed(old: bytes, new: bytes) -> bytes:
    """The scripted component, another name in all places where one stands: of the same length, so nothing moves."""
    assert len(old) == len(new)
    data = component("on-tool-call=trap\n")
    assert old in data
    return data.replace(old, new)


OTHERS: Mapping[str, Callable[[], bytes]] = {
    "garbage": lambda: b"no component at all",
    "empty": lambda: b"",
    "truncated": lambda: component()[:5000],
    "core module": lambda: b"\0asm\x01\0\0\0",
    "lifecycle 9.9.9": lambda: renamed(INTERFACE, b"murmur:hook/lifecycle@9.9.9"),
    "lifecycle 0.5.0": lambda: renamed(INTERFACE, b"murmur:hook/lifecycle@0.5.0"),
    "without on-session-start": lambda: renamed(b"on-session-start", b"on-session-gone0"),
    "without task events": lambda: renamed(b"on-task-", b"of-task-"),
    "without on-stage": lambda: renamed(b"on-stage", b"of-stage"),
}
