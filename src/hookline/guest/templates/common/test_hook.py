"""The component, called as a capsule calls it: `make test` builds it first."""

from hookline.testing import call_hook

COMPONENT = "capsule.wasm"
CALL = {"turn": 0, "tool-name": "deploy", "input-bytes": 2, "input": "{}", "outcome": None}
ENV = {"MURMUR_ARTIFACT_CONFIG": '{"refuse": ["deploy"]}'}


def test_what_is_named_is_refused() -> None:
    """The decision point: the call has not run, and the hook says why it must not."""
    reply = call_hook(COMPONENT, "on-tool-call", CALL, env=ENV)

    assert (reply.arm, reply.value) == ("deny", "deploy is refused by the configuration of @NAME@")


def test_what_is_not_named_runs() -> None:
    """Anything else is let through, with the one answer that lets anything through."""
    assert call_hook(COMPONENT, "on-tool-call", {**CALL, "tool-name": "read"}, env=ENV).arm == "none"


def test_what_has_run_is_only_looked_at() -> None:
    """Behind the call there is nothing left to refuse."""
    outcome = {"output-bytes": 2, "duration-ms": 1, "status": "ok"}

    assert call_hook(COMPONENT, "on-tool-call", {**CALL, "outcome": outcome}, env=ENV).arm == "none"
