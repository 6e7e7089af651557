"""The names that built-in tools have, for telling whether a matcher can ever match.

The tools themselves are a session's, and take a session's imports; `tests/test_registries.py` compares.
"""

from hookline.dialects import tool_aliases

BUILT_IN = (
    "bash",
    "bash_input",
    "read_file",
    "write_file",
    "edit_file",
    "search",
    "web_fetch",
    "web_search",
    "read_skill",
    "subagent_spawn",
)
OF_PEERS = ("peer_message", "peer_request", "peer_respond")


def known_as(name: str) -> tuple[str, tuple[str, ...]]:
    """The tool's own name where *name* is one that it is called besides, and all of those."""
    found = tool_aliases()
    own = next((tool for tool, others in found.items() if name in others), name)
    return own, found.get(own, ())
