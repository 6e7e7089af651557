"""All that the commands about plugins need of this dialect."""

from hookline.dialects._plugins import PluginCommands
from hookline.dialects.muse.plugins.trial import trial, tried
from hookline.dialects.muse.plugins.verbs import call


def commands() -> PluginCommands:
    return PluginCommands(verb=call, trial=trial, tried=tried)
