"""The vocabularies and the table of fields, against the document."""

from dataclasses import fields
from enum import Enum

import pytest

from hookline.dialects.meerkat.entries import Command, Entry, HooksConfig, Http, InProcess
from hookline.dialects.meerkat.schema import ADAPTERS, ENTRY, HOOKS, LIMITS, REQUIRED
from hookline.dialects.meerkat.words import (
    AGENT_LOOP,
    POST_COMMIT,
    AdapterType,
    Capability,
    HookPoint,
    Mode,
    ReasonCode,
)

SPELLINGS = [
    (
        HookPoint,
        (
            "run_started pre_llm_request post_llm_response pre_tool_execution post_tool_execution turn_boundary "
            "run_completed run_failed runtime_input_accepted runtime_input_rejected runtime_input_deduplicated "
            "peer_ingress_committed peer_egress_committed interaction_completed"
        ),
    ),
    (Mode, "foreground background"),
    (Capability, "observe guardrail"),
    (ReasonCode, "policy_violation safety_violation schema_violation timeout runtime_error"),
    (AdapterType, "in_process command http"),
]


@pytest.mark.parametrize("case", SPELLINGS, ids=lambda case: case[0].__name__)
def test_words_are_spelled_as_on_the_wire(case: tuple[type[Enum], str]) -> None:
    """Each vocabulary holds the document's words and no other."""
    words, spelled = case
    assert spelled.split() == [each.value for each in words]


def test_every_point_is_of_the_loop_or_after_a_commit() -> None:
    """The first eight points can be refused something, the last six cannot, and each is one of the two."""
    points = list(HookPoint)
    assert frozenset(points[:8]) == AGENT_LOOP
    assert frozenset(points[8:]) == POST_COMMIT


TABLES = [
    (HOOKS, HooksConfig),
    (ENTRY, Entry),
    (ADAPTERS[AdapterType.IN_PROCESS], InProcess),
    (ADAPTERS[AdapterType.COMMAND], Command),
    (ADAPTERS[AdapterType.HTTP], Http),
]


@pytest.mark.parametrize("case", TABLES, ids=lambda case: case[1].__name__)
def test_a_table_of_fields_and_its_class_have_the_same_fields(case: tuple[dict[str, object], type]) -> None:
    """What can be written is what is kept."""
    table, kept = case
    assert list(table) == [each.name for each in fields(kept) if each.name != "spot"]


def test_the_defaults_are_those_of_the_document() -> None:
    """A configuration, an entry and an adapter of which nothing is written."""
    config = HooksConfig()
    assert (5000, 131_072, 32, ()) == (
        config.default_timeout_ms,
        config.payload_max_bytes,
        config.background_max_concurrency,
        config.entries,
    )
    assert Entry() == Entry(
        id="hook",
        enabled=True,
        point=HookPoint.TURN_BOUNDARY,
        mode=Mode.FOREGROUND,
        capability=Capability.OBSERVE,
        priority=100,
        timeout_ms=None,
        runtime=InProcess("noop"),
    )
    assert Http("http://h") == Http("http://h", method="POST", headers=())
    assert Command("c") == Command("c", args=(), env=(), inherit_env=True)


def test_only_a_command_and_a_url_have_no_default() -> None:
    """Everything else may be left out."""
    required = [name for table in ADAPTERS.values() for name, row in table.items() if row.default is REQUIRED]
    assert ["command", "url"] == required
    assert "entries" not in LIMITS


def test_secrets_are_no_part_of_a_representation() -> None:
    """Variables, headers and URLs may be credentials."""
    shown = repr((Command("c", env=(("A", "secret"),)), Http("http://u:secret@h", headers=(("A", "secret"),))))
    assert "secret" not in shown
