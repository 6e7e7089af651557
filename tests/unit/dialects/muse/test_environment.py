from pathlib import Path

import pytest

from hookline._core.problems import Scope
from hookline.dialects.muse.environment import hook_environment, resolve_shell

HOST = {
    "HOME": "/h",
    "PATH": "/bin",
    "TERM": "",
    "CI_TOKEN": "t",
    "OTHER_VAR": "1",
    "FAKE_API_KEY": "x",
    "BASH_ENV": "/h/.chatter",
    "HTTPS_PROXY": "http://p",
}


def test_an_environment_is_made_from_nothing() -> None:
    """P02, B-76: a hook gets the listed variables that are set, an empty one included, and no other."""
    assert hook_environment(HOST, windows=False) == {"HOME": "/h", "PATH": "/bin", "TERM": ""}


def test_a_grant_adds_what_it_names() -> None:
    """P01: granted variables are added where they are set; what is not granted stays out."""
    granted = hook_environment(HOST, granted=("CI_TOKEN", "UNSET", "PATH"), windows=False)

    assert granted == {"HOME": "/h", "PATH": "/bin", "TERM": "", "CI_TOKEN": "t"}


def test_windows_names_have_no_case() -> None:
    """On Windows four more variables pass, and names are the same in any case."""
    host = {"Path": "C:\\", "comspec": "c", "systemroot": "w", "ci_token": "t", "OTHER": "o"}

    assert hook_environment(host, granted=("CI_TOKEN",), windows=True) == {
        "Path": "C:\\",
        "comspec": "c",
        "systemroot": "w",
        "ci_token": "t",
    }


SHELLS = [
    ({"SHELL": "/bin/sh"}, ("/bin/sh", "-c"), "P03 as it is set"),
    ({}, ("/bin/sh", "-c"), "P04 not set"),
    ({"SHELL": ""}, ("/bin/sh", "-c"), "empty is not set"),
    ({"SHELL": "sh", "PATH": "/usr/bin:/bin"}, ("sh", "-c"), "a name on PATH"),
]


@pytest.mark.parametrize(("host", "prefix", "note"), SHELLS, ids=[case[2] for case in SHELLS])
def test_the_shell_is_the_users_own(host: dict[str, str], prefix: tuple[str, ...], note: str) -> None:
    """A command is given to the shell that the user's environment names, else to the plain one."""
    assert (prefix, None) == resolve_shell(host, windows=False)


def test_a_shell_that_is_not_there_is_known_at_once(tmp_path: Path) -> None:
    """B-80: a shell that cannot be started is told when the session starts, and is still the one that is used."""
    not_executable = tmp_path / "shell"
    not_executable.touch(0o600)

    for shell in ("/no/such/shell", str(not_executable), str(tmp_path), "no-such-shell"):
        prefix, problem = resolve_shell({"SHELL": shell, "PATH": "/bin"}, windows=False)

        assert (shell, "-c") == prefix
        assert problem is not None
        assert Scope.NOTE is problem.scope
        assert shell in problem.message


def test_windows_has_its_own_shell() -> None:
    """On Windows COMSPEC counts, else cmd.exe, and SHELL does not."""
    prefix, problem = resolve_shell({"SHELL": "/bin/sh", "PATH": ""}, windows=True)

    assert prefix == ("cmd.exe", "/C")
    assert problem is not None
    assert resolve_shell({"COMSPEC": "c:\\x.exe"}, windows=True)[0] == ("c:\\x.exe", "/C")
