"""`hookline new hook`: what it makes. That each of them builds and passes its own test is CI's to show (.ci/run)."""

from pathlib import Path

import pytest

from hookline._core.errors import UsageError
from hookline.dialects.murmur.contract import Contract, read_contract
from hookline.guest.project import TAKEN_ALONG, make_project

LANGUAGES = list(TAKEN_ALONG)


def _told(contract: Contract) -> tuple[str, str | None, str]:
    binding = None if contract.binding is None else contract.binding.value
    return contract.name, binding, contract.commit_policy.value


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_project_has_a_lawful_contract(language: str, tmp_path: Path) -> None:
    """Its own manifest goes through the check that staging does, under the name that was asked for."""
    folder = make_project("my-guard", language, tmp_path / "made" / "here")
    contract = read_contract((folder / "murmur.yaml").read_bytes())

    assert isinstance(contract, Contract)
    assert ("my-guard", "on-tool-call", "deny") == _told(contract)


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_left_to_fill_in(language: str, tmp_path: Path) -> None:
    """No mark of a template is left in any file, and the interface comes along."""
    folder = make_project("my-guard", language, tmp_path / "guard")
    files = [each for each in folder.rglob("*") if each.is_file()]

    assert [] == [each for each in files if "@NAME@" in each.read_text() or "@POLICY@" in each.read_text()]
    assert {"wit/murmur.wit", "wit/hook.wit", "murmur.yaml", "Makefile", "test_hook.py", ".gitignore"} <= {
        str(each.relative_to(folder)) for each in files
    }


@pytest.mark.parametrize("name", ["", "Guard", "-guard", "guard-", "a/b", "..", "a" * 101])
def test_a_name_that_no_artifact_can_have_is_refused(name: str, tmp_path: Path) -> None:
    """And nothing is made."""
    with pytest.raises(UsageError, match="a hook's name has"):
        make_project(name, "c", tmp_path / "guard")
    assert not (tmp_path / "guard").exists()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    """What is there already stays as it is."""
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(UsageError, match="has something in it"):
        make_project("guard", "c", tmp_path)
    assert [tmp_path / "mine"] == list(tmp_path.iterdir())
