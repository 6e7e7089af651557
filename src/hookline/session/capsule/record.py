"""The kept record of a conversation: every message that entered a context, in order, a line of JSON each."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookline._core.guests import GuestError
from hookline._core.identity import new_uuid7
from hookline._core.messages import Message, ToolCall, wire_form
from hookline._core.points import Origin
from hookline._core.ports import Recorder
from hookline.session.conversation import Conversation

FILE = "conversation.jsonl"
LONGEST = 16 * 1024 * 1024  # bytes of a line that is read: more than any message that was written

Say = Callable[[str], None]


def new_message_id() -> str:
    return f"msg_{new_uuid7().hex}"


class ConversationRecord:
    """The records of one capsule: a file for each context. Without a *folder* nothing is kept.

    Not being able to write never fails a task; *say* hears of it, and of lines that are no messages.
    """

    def __init__(self, folder: Path | None, say: Say) -> None:
        self._folder = folder
        self._say = say
        self._context = ""

    def enter(self, context: str) -> None:
        """From now on messages are of this context."""
        self._context = context

    def append(self, message: Message) -> None:
        path = self._path
        if path is None:
            return
        line = json.dumps(_line_of(message), ensure_ascii=True, separators=(",", ":"), default=str) + "\n"
        try:
            _make_private(path.parent, stop=path.parents[4])
            with open(path, "ab", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW, 0o600)) as file:
                file.write(line.encode())
        except OSError as error:
            self._say(f"[record] {path.name}: {error.strerror}")

    def messages(self) -> Sequence[Message]:
        """Every message of the context in scope, oldest first. Raises GuestError where they cannot be read."""
        path = self._path
        if path is None or not path.exists():
            return ()
        found: list[Message] = []
        try:
            with path.open("rb") as file:
                for number, line in enumerate(iter(lambda: file.readline(LONGEST), b""), 1):
                    message = _message_of(line)
                    if message is None:
                        self._say(f"[record] line {number} is not a message")
                    else:
                        found.append(message)
        except OSError as error:
            raise GuestError(f"unavailable: {error.strerror}") from error
        return found

    @property
    def _path(self) -> Path | None:
        if self._folder is None or not self._context:
            return None
        return self._folder / self._context / FILE


class RecordedConversation(Conversation):
    """A conversation whose messages have an identity, and are kept as they enter it."""

    def __init__(self, recorder: Recorder, kept: ConversationRecord) -> None:
        super().__init__(recorder)
        self._kept = kept
        self._known: set[str] = set()

    def add(self, message: Message, origin: Origin) -> None:
        super().add(self._entered(message), origin)

    def replace(self, messages: Sequence[Message], *, why: str, origin: Origin) -> None:
        """Those that were never here before are kept beside the ones that they replace."""
        super().replace([self._entered(each) for each in messages], why=why, origin=origin)

    def release(self) -> None:
        before = len(self.messages)
        super().release()
        for message in self.messages[before:]:
            self._kept.append(message)

    def _entered(self, message: Message) -> Message:
        if not message.id:
            message = replace(message, id=new_message_id())
        if message.id not in self._known:
            self._known.add(message.id)
            self._kept.append(message)
        return message


def records_folder(env: Mapping[str, str], store: str) -> Path | None:
    """Where the records of *store* lie. None without a home."""
    home = env.get("HOME", "")
    return Path(home) / ".murmur" / "conversations" / store if home.startswith("/") else None


def _line_of(message: Message) -> dict[str, Any]:
    wire = wire_form(message)
    told: dict[str, Any] = {"role": wire["role"], "content": wire["content"], "id": message.id}
    told |= {name: wire[name] for name in ("tool_call_id", "is_error") if name in wire}
    if message.source_id is not None:
        told["source_id"] = message.source_id
    return told


def _message_of(line: bytes) -> Message | None:
    """The message that a line is, if it is one."""
    try:
        told = json.loads(line)
        text, calls = "", []
        for block in told["content"]:
            if block["type"] == "text":
                text += block["text"]
            else:
                calls.append(ToolCall(id=block["id"], name=block["name"], input=block["input"]))
        message = Message(
            role=told["role"],
            text=text,
            calls=tuple(calls),
            call_id=told.get("tool_call_id"),
            id=told["id"],
            source_id=told.get("source_id"),
            is_error=told.get("is_error"),
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return message if all(isinstance(each, str) for each in (message.role, message.text, message.id)) else None


def _make_private(folder: Path, *, stop: Path) -> None:
    """Make *folder* and what is missing above it, up to *stop*, for nobody else to look into."""
    missing = []
    while folder != stop and not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(mode=0o700)
