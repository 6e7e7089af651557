from pathlib import Path

import pytest

from hookline._core.errors import ConfigError, UsageError
from hookline.session.models import open_model


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.yaml"
    path.write_text("model: demo-1\nsteps: [{say: hi}]\n")
    return path


def test_echo_needs_nothing() -> None:
    """It is `unknown` by name, and a name that it cannot have is not taken in silence."""
    assert open_model("echo", script=None, name=None).name == "unknown"
    with pytest.raises(UsageError, match="the provider `echo` has no models: leave `gpt` out"):
        open_model("echo", script=None, name="gpt")


def test_a_name_goes_before_the_one_in_the_script(script: Path) -> None:
    """What the command line says counts more than the file."""
    assert open_model("script", script=script, name=None).name == "demo-1"
    assert open_model("script", script=script, name="demo-2").name == "demo-2"


def test_what_cannot_work_is_wrong_usage(script: Path) -> None:
    """An unknown provider is told the known ones; a script goes with `script` and with nothing else."""
    with pytest.raises(UsageError, match="no provider `ehco`; there are `echo`, `script`"):
        open_model("ehco", script=None, name=None)
    with pytest.raises(UsageError, match="needs a script"):
        open_model("script", script=None, name=None)
    with pytest.raises(UsageError, match="`echo` plays no script"):
        open_model("echo", script=script, name=None)


def test_a_script_that_cannot_be_used_is_a_wrong_configuration(tmp_path: Path) -> None:
    """The problem names the file."""
    with pytest.raises(ConfigError) as raised:
        open_model("script", script=tmp_path / "none", name=None)

    assert raised.value.problems[0].where.file == str(tmp_path / "none")
