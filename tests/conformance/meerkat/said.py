"""What the hooks of a case say, as the case has it, and the handlers and adapters that say it."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from hookline._core.handlers import Handlers, Revised
from hookline._core.hooks import Hook
from hookline._core.payload import CallFailed, Exited, Limits, Payload, Reply, Responded, Returned
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget, HttpTarget, NamedTarget, Target
from hookline.dialects.meerkat.faults import entry_id

RESPONSES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "allow": {"decision": {"decision": "allow"}},
    "deny": {
        "decision": {"decision": "deny", "hook_id": "another", "reason_code": "policy_violation", "message": "no"}
    },
}

HOW = frozenset(
    {
        "says",
        "turns",
        "held",
        "held_for_good",
        "raises",
        "fails",
        "exit",
        "stdout",
        "stderr",
        "status",
        "reason",
        "body",
        "adds",
    }
)


class Behaviour:
    """What one hook or handler does each time it is called.

    `says` is a response, or a word for one of the usual; a list, of `stdout` too, has one for each call. It takes so
    many `turns` of the loop. `held`: it ends when it is let, or is cut off; `held_for_good`: it is never let. `raises`
    is the text of an exception, `fails` the reason of a failure. The others are parts of what a command or a server
    answers. `adds` is what it does to the payload that it was given, in place.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        if unknown := given.keys() - HOW:
            raise ValueError(f"no hook of a case does {sorted(unknown)}; there are {sorted(HOW)}")
        self._given = given
        self._calls = 0
        self.released = asyncio.Event()
        self.running = 0
        self.ended = 0
        self.cut_off = 0

    async def response(self) -> Any:
        """What it says, when it is let."""
        self._calls += 1
        self.running += 1
        try:
            for _ in range(self._given.get("turns", 0)):
                await asyncio.sleep(0)
            if "held" in self._given or "held_for_good" in self._given:
                await self.released.wait()
        except asyncio.CancelledError:
            self.cut_off += 1
            raise
        finally:
            self.running -= 1
        self.ended += 1
        if "raises" in self._given:
            raise RuntimeError(self._given["raises"])
        said = self._this_time("says", "nothing")
        return RESPONSES[said] if isinstance(said, str) else said

    def _this_time(self, key: str, otherwise: Any) -> Any:
        """What it does this time, where a list says it for each."""
        each = self._given.get(key, otherwise)
        return each[min(self._calls, len(each)) - 1] if isinstance(each, list) else each

    def release(self) -> None:
        """Let it end."""
        if "held_for_good" not in self._given:
            self.released.set()

    def change(self, payload: Any) -> None:
        """Do to the payload what a handler should not."""
        if "adds" in self._given:
            _add(payload, self._given["adds"])

    async def reply(self, target: Target) -> Reply:
        """The same as what an adapter brings back."""
        given = self._given
        try:
            said = await self.response()
        except RuntimeError as error:
            return CallFailed(why=Failure.CRASHED, detail=f"RuntimeError: {error}")
        if "fails" in given:
            return CallFailed(why=Failure(given["fails"]), detail=given["fails"])
        match target:
            case CommandTarget():
                stdout, stderr = self._this_time("stdout", json.dumps(said)), given.get("stderr", "")
                return Exited(code=given.get("exit", 0), stdout=_bytes(stdout), stderr=_bytes(stderr))
            case HttpTarget():
                body = _bytes(given.get("body", json.dumps(said)))
                return Responded(status=given.get("status", 200), reason=given.get("reason", "OK"), body=body)
            case _:
                return Returned(said)


def _add(payload: Any, more: Any) -> None:
    for key, value in more.items():
        if isinstance(value, dict):
            _add(payload[key], value)
        else:
            payload[key] = value


def _bytes(said: str | bytes) -> bytes:
    return said.encode() if isinstance(said, str) else said


class Played:
    """Everybody who is called in one case: what each does, and what it was given."""

    def __init__(self, behaviours: Mapping[str, Any]) -> None:
        self.behaviours = {name: Behaviour(given or {}) for name, given in behaviours.items()}
        self.payloads: dict[str, list[Any]] = {}
        self.bodies: dict[str, list[str]] = {}
        self.called: list[str] = []

    def given(self, name: str, payload: Any, body: bytes = b"") -> Behaviour:
        """Note a call."""
        self.called.append(name)
        self.payloads.setdefault(name, []).append(json.loads(json.dumps(payload)))
        self.bodies.setdefault(name, []).append(body.decode())
        return self.behaviours.setdefault(name, Behaviour({}))

    def running(self) -> list[str]:
        return [name for name, each in self.behaviours.items() if each.running]

    def release(self) -> None:
        """Let everybody end."""
        for each in self.behaviours.values():
            each.release()

    def handler(self, name: str, behaviour: Behaviour | None = None) -> Callable[[Any], Any]:
        """A handler that is known by *name*, to be registered."""

        async def handle(payload: Any) -> Any:
            acts = self.given(name, payload)
            acts = behaviour or acts
            acts.change(payload)
            return await acts.response()

        return handle


def handlers_of(played: Played) -> Handlers:
    """All of them, registered by their names."""
    handlers = Handlers()
    for name in played.behaviours:
        handlers.register(name, played.handler(name))
    return handlers


def register_again(handlers: Handlers, played: Played, behaviours: Mapping[str, Any]) -> list[str]:
    """Register handlers, and say for each whether its name was taken."""
    told = []
    for name, given in behaviours.items():
        registered = handlers.register(name, played.handler(name, Behaviour(given or {})))
        match registered:
            case Revised(previous, revision):
                told.append(f"{name} revised {previous} {revision}")
            case _:
                told.append(f"{name} registered {registered.revision}")
    return told


class Canned:
    """The one adapter for every target: each hook has the reply that the case gives it, by default nothing to say."""

    def __init__(self, hooks: tuple[Hook, ...], played: Played) -> None:
        self._names = {id(hook.target): entry_id(hook.id) for hook in hooks}
        self._hooks = hooks  # keeps the targets, whose identities are the keys
        self._played = played
        if unknown := played.behaviours.keys() - set(self._names.values()):
            raise ValueError(f"replies for hooks that there are not: {sorted(unknown)}; there are {self._names}")

    async def call(self, target: Target, payload: Payload, limits: Limits) -> Reply:
        given = json.loads(payload.body) if payload.value is None else payload.value
        return await self._played.given(self._names[id(target)], given, payload.body).reply(target)

    async def aclose(self) -> None:
        """Nothing is kept."""

    def everywhere(self) -> dict[type[Target], Any]:
        return {CommandTarget: self, HttpTarget: self, NamedTarget: self}
