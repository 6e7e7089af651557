"""The whole environment of a hook (section 9.3): its own configuration first, so that it shadows nothing."""

from collections.abc import Mapping
from typing import Any

from hookline._core.capsule import Artifact, Capsule
from hookline.dialects.murmur.wire import json_of

CONFIG = "MURMUR_ARTIFACT_CONFIG"
OTEL = "MURMUR_OTEL_ENDPOINT"
FORMATION = "MURMUR_FORMATION_ID"
EVALUATION = "MURMUR_EVAL_CONFIG"
CASE = "MURMUR_CASE_ID"
DATASET = "MURMUR_DATASET_ID"

SCORER = ("type", "name", "max", "expected")


def environment_of(capsule: Capsule, artifact: Artifact, env: Mapping[str, str]) -> dict[str, str]:
    """What the hook of *artifact* sees. *env* is the environment of this program: an eval run sets its ids there."""
    dataset = env.get(DATASET) or str((capsule.evaluation or {}).get("dataset_id") or "")
    case = env.get(CASE, "")
    variables = {
        CONFIG: artifact.config,
        OTEL: capsule.otel_endpoint,
        FORMATION: env.get(FORMATION, ""),
        EVALUATION: "" if capsule.evaluation is None else json_of(_evaluation(capsule.evaluation)),
        CASE: case,
        DATASET: dataset if case else "",
    }
    return _set(variables)


def stage_environment_of(artifact: Artifact, env: Mapping[str, str]) -> dict[str, str]:
    """What it sees at staging, before there is anything to watch."""
    return _set({CONFIG: artifact.config, FORMATION: env.get(FORMATION, "")})


def _set(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if value}


def _evaluation(given: Mapping[str, Any]) -> dict[str, Any]:
    wanted = given.get("scorers") or ()
    scorers = [{key: scorer[key] for key in SCORER if scorer.get(key) is not None} for scorer in wanted]
    dataset = given.get("dataset_id")
    return {**({} if dataset is None else {"dataset_id": dataset}), "scorers": scorers}
