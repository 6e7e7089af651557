"""What a component has to export, and the environment that it is given."""

import json

import pytest
from tests.unit.dialects.murmur.rig import CAPSULE, hook, staged

from hookline._core.capsule import Capsule
from hookline._core.events import AfterModelCall, BeforeStage
from hookline.dialects.murmur.build import settings_of
from hookline.dialects.murmur.environment import environment_of, stage_environment_of
from hookline.dialects.murmur.interfaces import CURRENT, OLDER, REQUIRED, interface_of, interface_problem

ALL = frozenset({*REQUIRED, "on-stage"})


@pytest.mark.parametrize(
    "exports",
    [
        {},
        {"murmur:hook/lifecycle@9.9.9": ALL},
        {"murmur:hook/lifecycle@0.7.0": ALL},
        {"murmur:hook/lifecycle": ALL},
        {"murmur:runtime/inference@0.3.0": ALL},
    ],
)
def test_a_component_of_another_version_is_refused(exports: dict[str, frozenset[str]]) -> None:
    """The text names the hook, what is served, the current one first, and what to do."""
    problem = interface_problem("watch", "1.0.0", exports)

    assert problem is not None
    assert problem.startswith(
        "hook watch@1.0.0 does not export murmur:hook/lifecycle@0.8.0; rebuild the hook against the current WIT (run "
        "`mur install` for a default artifact, or rebuild from source otherwise)"
    )
    assert "murmur:hook/lifecycle@0.5.0" in problem
    assert interface_of(exports) is None


@pytest.mark.parametrize("interface", [CURRENT, OLDER])
@pytest.mark.parametrize("function", REQUIRED)
def test_a_required_function_is_missed(function: str, interface: object) -> None:
    """The text names the function by its interface."""
    exports = {interface.name: ALL - {function}}

    assert f"hook watch@1.0.0 missing function {interface.name}#{function}" == interface_problem(
        "watch", "1.0.0", exports
    )


@pytest.mark.parametrize("interface", [CURRENT, OLDER])
def test_an_optional_function_is_not(interface: object) -> None:
    """A component without any of them loads."""
    assert interface_problem("watch", "1.0.0", {interface.name: frozenset(REQUIRED)}) is None
    assert {"on-stage", "on-task-start", "on-task-end"} == interface.optional


def test_the_current_version_is_preferred() -> None:
    """A component that exports both is called through the current one."""
    assert CURRENT == interface_of({OLDER.name: ALL, CURRENT.name: ALL})


ENV = {"PATH": "/bin", "HOME": "/home", "MURMUR_FORMATION_ID": "f-1", "MURMUR_CASE_ID": "c-1", "API_KEY": "secret"}
WATCHED = Capsule(
    name="builder",
    version="1.0.0",
    path=CAPSULE.path,
    otel_endpoint="http://127.0.0.1:4318",
    evaluation={
        "dataset_id": "d-1",
        "scorers": [{"type": "max_turns", "name": "short", "max": 3, "weight": 2}, {"type": "exit_ok", "name": "ok"}],
    },
)


def test_a_hook_sees_what_it_is_given_in_order() -> None:
    """Its configuration first, then the variables of the runtime; of the host's environment nothing else."""
    artifact = staged().artifact
    configured = type(artifact)(name="watch", version="1.0.0", config='{"who":"hook"}', where=artifact.where)
    env = environment_of(WATCHED, configured, ENV)

    assert [
        "MURMUR_ARTIFACT_CONFIG",
        "MURMUR_OTEL_ENDPOINT",
        "MURMUR_FORMATION_ID",
        "MURMUR_EVAL_CONFIG",
        "MURMUR_CASE_ID",
        "MURMUR_DATASET_ID",
    ] == list(env)
    assert ('{"who":"hook"}', "http://127.0.0.1:4318", "f-1", "c-1", "d-1") == tuple(
        value for name, value in env.items() if name != "MURMUR_EVAL_CONFIG"
    )
    assert {
        "dataset_id": "d-1",
        "scorers": [{"type": "max_turns", "name": "short", "max": 3}, {"type": "exit_ok", "name": "ok"}],
    } == json.loads(env["MURMUR_EVAL_CONFIG"])


def test_without_anything_configured_there_is_nothing() -> None:
    """An empty environment."""
    assert {} == environment_of(CAPSULE, staged().artifact, {"PATH": "/bin"})


def test_a_data_set_belongs_to_a_case() -> None:
    """Without an eval run there is no id of one; a run may name another than the manifest does."""
    without = environment_of(WATCHED, staged().artifact, {})
    other = environment_of(WATCHED, staged().artifact, {"MURMUR_CASE_ID": "c", "MURMUR_DATASET_ID": "d-2"})

    assert "MURMUR_DATASET_ID" not in without
    assert "d-2" == other["MURMUR_DATASET_ID"]


def test_at_staging_there_is_less() -> None:
    """The configuration and the formation."""
    assert {"MURMUR_FORMATION_ID": "f-1"} == stage_environment_of(staged().artifact, ENV)


def test_at_staging_another_instance_is_called() -> None:
    """A hook of staging calls its throw-away target; every other its own."""
    assert "watch at staging" == hook(binding="on-stage").target.subject
    assert "watch" == hook().target.subject
    assert BeforeStage not in hook().events
    assert AfterModelCall in hook().events


def test_the_manifest_has_a_say_about_the_session() -> None:
    """How often a task is reopened, and how long async hooks may still work at its end."""
    assert (1, 15.0) == (settings_of(CAPSULE).reopen_limit, settings_of(CAPSULE).drain)
