"""What of the agent's environment a program that a tool starts may see."""

from collections.abc import Mapping

from hookline._core.credentials import is_provider_credential

WITHHELD = frozenset({"HOOKLINE_SEARCH_URL"})  # the address of a search service often has its key in it


def for_programs(env: Mapping[str, str]) -> dict[str, str]:
    """*env* without what must not reach a program by accident."""
    return {
        name: value for name, value in env.items() if name.upper() not in WITHHELD and not is_provider_credential(name)
    }
