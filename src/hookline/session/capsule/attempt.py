"""One attempt at a task: a run of the agent loop, with the moments at which a capsule measures and shortens."""

from dataclasses import replace
from typing import Protocol

from hookline._core.capsule import Capsule
from hookline._core.effects import EmitArtifact
from hookline._core.faults import Fault, FaultKind
from hookline._core.messages import Usage
from hookline._core.points import Origin
from hookline._core.records import ArtifactEmitted, Ending
from hookline.session.apply import Fired
from hookline.session.capsule.layout import Layout
from hookline.session.capsule.measure import Count, tokens_of_reply, tokens_of_request
from hookline.session.capsule.shortening import shortened
from hookline.session.capsule.task import Task
from hookline.session.over import RunOver, failed
from hookline.session.ports import ModelReply, ModelRequest, RunResult
from hookline.session.run import Owner as OwnerOfRun
from hookline.session.run import Run

ERROR = "error: "
OVER_LIMIT = ERROR + "inference loop exceeded {limit} turns"


class Owner(OwnerOfRun, Protocol):
    """The capsule's session as an attempt sees it."""

    capsule: Capsule
    layout: Layout
    count: Count
    task: Task | None
    place: Origin


class Attempt(Run):
    """The steps of one attempt. `taken` says how many there were."""

    def __init__(self, owner: Owner, origin: Origin, *, most: int) -> None:
        super().__init__(owner, origin)
        self._capsule = owner
        self._most = most
        self._artifacts: list[tuple[str, str]] = []
        self.taken = 0

    @property
    def limit(self) -> int:
        return self._most

    async def _before_model(self, step: int) -> None:
        """Whether it is time to shorten the conversation is asked behind the response, not before the request."""
        self._capsule.place = self._origin
        self.taken += 1
        self._artifacts.clear()  # those of a step that went on with calls are nobody's

    def _measured(self, request: ModelRequest, reply: ModelReply) -> ModelReply:
        """The reply with the tokens that the runtime counts, whatever the provider says."""
        count = self._capsule.count
        sent = tokens_of_request(request.messages, request.tools, count)
        return replace(reply, usage=Usage(input_tokens=sent, output_tokens=tokens_of_reply(reply, count)))

    def _heard_of_reply(self, fired: Fired) -> None:
        for each in fired.resolution.applied:
            if isinstance(each.effect, EmitArtifact):
                self._artifacts.append((each.hook, each.effect.content))

    async def _after_model(self, reply: ModelReply) -> None:
        occupancy = reply.usage.input_tokens + reply.usage.output_tokens
        await shortened(self._capsule, self._origin, occupancy)

    async def _finish(self) -> None:
        """The model has nothing more to do. Whether the task is done is for its hooks to say."""
        if self._owner.children.at_work:
            await self._bring_in_children(wait=True)
            return
        for hook, content in self._artifacts:
            self._owner.recorder.record(ArtifactEmitted(origin=self._origin, hook=hook, content=content))
        raise RunOver(RunResult(ending=Ending.COMPLETED, text=self._text))

    def _out_of_steps(self) -> RunOver:
        text = OVER_LIMIT.format(limit=self._capsule.capsule.inference.max_turns)
        return failed(Fault(kind=FaultKind.STEPS, message=text), self._text)


STATUS: dict[FaultKind, str] = {FaultKind.STEPS: "max_turns_reached"}


def status_of(result: RunResult) -> str:
    """How an attempt ended, in the one word that its hooks are told."""
    if result.ending is Ending.COMPLETED:
        return "ok"
    return "failed" if result.fault is None else STATUS.get(result.fault.kind, "failed")


def left_text(ending: Ending, text: str, reason: str | None) -> str:
    """What a task leaves for people: its answer, or the error, in one word said once."""
    if ending is Ending.COMPLETED:
        return text
    return f"error: {(reason or '').removeprefix(ERROR)}"
