"""Selectors: which hooks of installed plugins are meant (section 20.6)."""

from hookline.dialects.muse.document import did_you_mean
from hookline.dialects.muse.plugins.errors import Fault, PluginError
from hookline.dialects.muse.plugins.review import KIND, Candidate, plugin_of
from hookline.dialects.muse.plugins.sources import candidates
from hookline.dialects.muse.plugins.store import Store

KINDS = (KIND, "reminder", "mcp_server", "agent_definition", "invocation_preapproval")  # that a selector may name


def plugin_in(selector: str) -> str:
    """The plugin that a selector is about."""
    return plugin_of(selector) or selector.partition(":")[0]


def selected(store: Store, selector: str) -> tuple[Candidate, ...]:
    """The hooks that a selector names: a plugin's, or one. Raises PluginError where there is none such."""
    words = selector.split(":")
    if words[0] == "plugin" and len(words) > 1:
        words = words[1:]
    id_, *rest = words
    found = candidates(store, store.read().plugin(id_))
    if not rest:
        return found
    *kind, name = rest
    if len(kind) > 1 or (kind and kind[0] not in KINDS):
        message = f"`{selector}` names nothing: write <plugin>, <plugin>:<hook> or plugin:<plugin>:{KIND}:<hook>"
        raise PluginError(Fault.NOT_FOUND, message)
    if kind and kind[0] != KIND:
        raise PluginError(Fault.NOT_REVIEWABLE, f"capabilities of kind {kind[0]} are not reviewed here: only hooks are")
    chosen = tuple(each for each in found if each.hook.id == name)
    if not chosen:
        hint = did_you_mean(name, [each.hook.id for each in found])
        raise PluginError(Fault.NOT_FOUND, f"plugin `{id_}` has no hook `{name}`{hint}")
    return chosen


def one_hook(store: Store, selector: str) -> Candidate:
    """The one hook that `<plugin>:<hook>` or its stable id names, of a plugin that is enabled. Raises PluginError."""
    words = selector.split(":")
    if words[0] == "plugin":
        words = [words[1], *words[3:]] if len(words) == 4 and words[2] == KIND else []  # noqa: PLR2004
    if len(words) != 2:  # noqa: PLR2004  # a plugin and its hook
        message = f"`{selector}` names no hook: write <plugin>:<hook> or plugin:<plugin>:{KIND}:<hook>"
        raise PluginError(Fault.HOOK_TEST_FAILED, message)
    id_, name = words
    plugin = store.read().plugins.get(id_)
    if plugin is not None and plugin.is_enabled:
        for each in candidates(store, plugin):
            if each.hook.id == name:
                return each
    raise PluginError(Fault.HOOK_TEST_FAILED, f"plugin hook `{id_}:{name}` is not installed and enabled")
