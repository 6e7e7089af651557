"""Models that need no provider: one that echoes, one that plays a script."""

from collections.abc import Callable
from pathlib import Path

from hookline._core.errors import UsageError
from hookline.session.models.echo import EchoModel
from hookline.session.ports import Model

Opener = Callable[[Path | None, str | None], Model]


def _open_echo(script: Path | None, name: str | None) -> Model:
    if name is not None:
        raise UsageError(f"the provider `echo` has no models: leave `{name}` out")
    if script is not None:
        raise UsageError(f"the provider `echo` plays no script; {script} needs the provider `script`")
    return EchoModel()


def _open_script(script: Path | None, name: str | None) -> Model:
    if script is None:
        raise UsageError("the provider `script` needs a script: the path of a YAML file")
    from hookline.session.models.script import ScriptModel  # it brings a YAML parser, which echo has no use for

    return ScriptModel.load(script, name=name)


PROVIDERS: dict[str, Opener] = {"echo": _open_echo, "script": _open_script}


def open_model(provider: str, *, script: Path | None = None, name: str | None = None) -> Model:
    """The model of this provider. *script* is the file that `script` plays; *name* goes before the one it holds.

    Raises UsageError for a provider that there is not, ConfigError for a script that cannot be used.
    """
    opener = PROVIDERS.get(provider)
    if opener is None:
        known = ", ".join(f"`{each}`" for each in PROVIDERS)
        raise UsageError(f"there is no provider `{provider}`; there are {known}")
    return opener(script, name)
