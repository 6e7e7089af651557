"""What a capsule's hooks may ask of it: its model, its way of counting, its task, its conversation."""

import time
from collections.abc import Sequence
from typing import Any, Protocol

from hookline._core.errors import ModelError
from hookline._core.guests import GuestError, Inferred
from hookline._core.messages import Message
from hookline._core.points import Origin
from hookline._core.ports import Recorder
from hookline._core.records import Diagnosed, HookAskedModel
from hookline.session.capsule.measure import Count, tokens_of_reply, tokens_of_request
from hookline.session.capsule.record import ConversationRecord
from hookline.session.capsule.task import Task
from hookline.session.identity import new_run_id
from hookline.session.ports import Model, ModelReply, ModelRequest

MAX_TOKENS = 8192  # of what a hook has the model answer, whatever the capsule itself may

NO_DRIVER = "inference driver is not configured; add inference.driver.artifact to murmur.yaml"
HOOKS = "hook"  # the kind of child that a model is asked for on behalf of a hook


class Owner(Protocol):
    """The capsule's session, once it is there."""

    @property
    def model(self) -> Model: ...
    @property
    def recorder(self) -> Recorder: ...
    @property
    def task(self) -> Task | None: ...
    @property
    def place(self) -> Origin:
        """Where the session is at this moment."""
        ...


class Around:
    """Implements `_core.guests.Surroundings` for one launch. Before the session is there it has nothing to give."""

    def __init__(self, *, count: Count, record: ConversationRecord, driver: str) -> None:
        self._count = count
        self._record = record
        self._driver = driver
        self._models: dict[str, Model] = {}
        self.owner: Owner | None = None

    def say(self, text: str) -> None:
        """A line for the log of the launch."""
        if self.owner is not None:
            self.owner.recorder.record(Diagnosed(origin=self.owner.place, log="bootstrap", text=text))

    async def infer(self, hook: str, messages: Sequence[Message], system: str, model: str | None) -> Inferred:
        owner = self.owner
        if owner is None or not self._driver:
            raise GuestError(NO_DRIVER)
        name = owner.model.name if model is None else model
        request = ModelRequest(
            messages=(Message(role="developer", text=system), *messages) if system else tuple(messages),
            tools=(),
            request_id=new_run_id(),
            options={} if model is None else {"model": model},
            max_tokens=MAX_TOKENS,
        )
        begun = time.monotonic()
        sent = tokens_of_request(request.messages, (), self._count)
        try:
            reply = await self._asked(hook, owner, request)
        except ModelError as error:
            self._note(owner, hook=hook, model=name, decision="error", duration=time.monotonic() - begun)
            raise GuestError(f"inference driver '{self._driver}' failed: {error}") from error
        received = tokens_of_reply(reply, self._count)
        self._note(
            owner,
            hook=hook,
            model=name,
            decision="end_turn",
            input_tokens=sent,
            output_tokens=received,
            duration=time.monotonic() - begun,
        )
        return Inferred(text=reply.text, model=name, input_tokens=sent, output_tokens=received)

    async def _asked(self, hook: str, owner: Owner, request: ModelRequest) -> ModelReply:
        """Ask the model of this hook: a model that keeps its place, as one that plays a script, has one for each."""
        try:
            if hook not in self._models:
                self._models[hook] = owner.model.for_child(HOOKS)
            reply: object = await self._models[hook].complete(request)
        except Exception as fault:  # a model from outside may raise anything
            raise ModelError.of(fault) from fault
        if not isinstance(reply, ModelReply):
            raise ModelError("unknown", f"it gave a {type(reply).__name__}")
        return reply

    @staticmethod
    def _note(owner: Owner, **told: Any) -> None:
        owner.recorder.record(HookAskedModel(origin=owner.place, **told))

    def count_tokens(self, text: str) -> int:
        return self._count(text)

    def task_input(self, *, original: bool) -> str | None:
        task = None if self.owner is None else self.owner.task
        if task is None or not task.at_work:
            return None
        return task.original if original else task.as_given

    def task_output(self) -> str | None:
        task = None if self.owner is None else self.owner.task
        return None if task is None else task.output

    async def conversation(self) -> Sequence[Message]:
        return self._record.messages()
