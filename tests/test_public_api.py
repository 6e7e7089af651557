"""The public names: what is there, what it costs to ask for it, and that each says what it is."""

import enum
import importlib
import inspect
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

import hookline
from hookline import _public

HEAVY = ("aiohttp", "asyncio", "click", "msgspec", "re2", "rich", "yaml")
DOORS = tuple(f"hookline.{door}" for door in hookline.DOORS)
VOCABULARIES = ("hookline.effects", "hookline.errors", "hookline.events")


def run(program: str) -> str:
    """What a fresh interpreter prints that runs this."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_public_names_are_sorted() -> None:
    """The list of public names is in order and holds each once."""
    assert list(_public.__all__) == sorted(set(_public.__all__))


@pytest.mark.parametrize("name", _public.__all__)
def test_every_public_name_is_there(name: str) -> None:
    """Each public name is an attribute of the package, the same as in the module that it is listed in."""
    assert getattr(hookline, name) is getattr(_public, name)
    assert name in dir(hookline)


@pytest.mark.parametrize("name", _public.__all__)
def test_every_public_name_says_what_it_is(name: str) -> None:
    """Each public name has a docstring of its own, written for whoever uses it."""
    assert own_docstring(getattr(hookline, name))


def own_docstring(documented: Any) -> str:
    """The docstring that was written for this, not inherited, nor made up by dataclass or Enum."""
    if not inspect.isclass(documented):
        return documented.__doc__ or ""
    text = vars(documented).get("__doc__") or ""
    made_up = text.startswith(f"{documented.__name__}(") or text == enum.Enum.__doc__
    return "" if made_up else text


@pytest.mark.parametrize("name", ["Nothing", "_nothing", "_public_", "os"])
def test_no_other_name_is_there(name: str) -> None:
    """A name that is not public is missing as from any module, and the message names it."""
    with pytest.raises(AttributeError, match=f"module 'hookline' has no attribute '{name}'"):
        getattr(hookline, name)


def test_importing_the_package_costs_nothing() -> None:
    """Importing hookline imports no library and no event loop: the command line must start at once."""
    assert run(f"import hookline, sys; print(*sorted(set({HEAVY!r}) & set(sys.modules)))") == ""


def test_importing_the_package_imports_nothing_of_it() -> None:
    """The names come on first use, not before."""
    assert run("import hookline, sys; print(*(each for each in sys.modules if each.startswith('hookline.')))") == ""


def test_a_star_import_brings_the_public_names() -> None:
    """`from hookline import *` works, and brings the public names."""
    program = "from hookline import *; import hookline; print(set(hookline.__all__) <= set(globals()))"

    assert run(program) == "True"


def test_the_core_needs_no_library() -> None:
    """The vocabularies can be had without any library, for whoever writes an adapter or a dialect."""
    program = f"import {', '.join(VOCABULARIES)}, sys; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"

    assert run(program) == ""


@pytest.mark.parametrize("door", hookline.DOORS)
def test_every_door_is_an_attribute(door: str) -> None:
    """A door needs no import of its own, and whoever looks around finds it."""
    program = f"import hookline; print({door!r} in dir(hookline), hookline.{door}.__name__)"

    assert run(program) == f"True hookline.{door}"


@pytest.mark.parametrize("door", DOORS)
def test_each_door_lists_what_is_behind_it(door: str) -> None:
    """A door has a docstring, lists its names once and in order, and each is there and documented."""
    module: ModuleType = importlib.import_module(door)

    assert module.__doc__
    assert len(module.__all__) == len(set(module.__all__))
    for name in module.__all__:
        value = getattr(module, name)
        assert not inspect.isclass(value) or own_docstring(value), name


def test_the_doors_hold_the_public_vocabulary() -> None:
    """What the package exports is the very thing that a door holds under the same name."""
    for door in DOORS:
        module = importlib.import_module(door)
        for name in set(module.__all__) & set(_public.__all__):
            assert getattr(module, name) is getattr(hookline, name)
