"""The model that plays a script: for tests, for demonstrations, for trying hooks without a provider."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hookline._core.errors import ModelError
from hookline._core.messages import Message, ToolCall
from hookline.session.models._reading import parse_script, read_script
from hookline.session.models._steps import PlannedCall, Script
from hookline.session.models._words import usage_of
from hookline.session.models.echo import first_words
from hookline.session.ports import ModelReply, ModelRequest

OVER = "(script is over)"
DEFAULT = "default"  # the agent that stands in for every kind that has no script of its own


class ScriptModel:
    """Plays *script*, one step for each model call, failed calls and cancelled ones included.

    After the last step it says `(script is over)`, however often it is asked: a session then ends by itself, and what
    keeps it from ending (a Stop hook, say) can be tried without a step for each round. Holds its position, so each
    session needs one of its own. Call ids count from `call-1`; those of a child begin with `agent-<n>-`.
    """

    provider_known = True

    def __init__(self, script: Script, *, name: str | None = None, prefix: str = "") -> None:
        self.name = name or script.model or "script"
        self.provider = script.provider or "script"
        self._script = script
        self._prefix = prefix
        self._position = 0
        self._calls = 0
        self._children = 0

    @classmethod
    def load(cls, path: Path, *, name: str | None = None) -> "ScriptModel":
        """The script in a file. Raises ConfigError with everything that is wrong with it."""
        return cls(read_script(path), name=name)

    @classmethod
    def parse(cls, text: str | bytes, *, file: str = "script") -> "ScriptModel":
        """The script that *text* is. *file* is what messages call it. Raises ConfigError as `load` does."""
        return cls(parse_script(text, file=file))

    async def complete(self, request: ModelRequest) -> ModelReply:
        steps = self._script.steps
        self._position += 1
        if self._position > len(steps):
            return self._reply(request, OVER, ())
        step = steps[self._position - 1]
        await asyncio.sleep(step.wait)
        if step.fail is not None:
            raise ModelError(step.fail.category, step.fail.details)
        return self._reply(request, step.say, step.calls)

    async def summarise(self, messages: Sequence[Message]) -> str:
        return first_words(messages) if self._script.summary is None else self._script.summary

    def for_child(self, kind: str) -> "ScriptModel":
        """A model at the start of the script for this kind of agent, or of the one called `default`."""
        agents = self._script.agents
        script = agents.get(kind) or agents.get(DEFAULT)
        if script is None:
            message = f"the script has no agent `{kind}` and none called `{DEFAULT}`: add one under `agents`"
            raise ModelError("invalid_request", message)
        self._children += 1
        heir = replace(script, model=script.model or self.name, provider=script.provider or self.provider)
        return ScriptModel(heir, prefix=f"{self._prefix}agent-{self._children}-")

    def _reply(self, request: ModelRequest, text: str, planned: Sequence[PlannedCall]) -> ModelReply:
        calls = tuple(ToolCall(id=self._new_id(), name=call.tool, input=call.input) for call in planned)
        return ModelReply(
            text=text,
            calls=calls,
            usage=usage_of(request, text),
            response_id=f"{self._prefix}response-{self._position}",
            finish_reason="tool_calls" if calls else "stop",
        )

    def _new_id(self) -> str:
        self._calls += 1
        return f"{self._prefix}call-{self._calls}"
