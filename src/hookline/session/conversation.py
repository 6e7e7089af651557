"""The conversation of one session: what the model reads, and the account of how it came about."""

from collections.abc import Sequence

from hookline._core.messages import Message
from hookline._core.points import Origin
from hookline._core.ports import Recorder
from hookline._core.records import ContextAdded, ConversationReplaced, MessageAdded

CHARACTERS_PER_TOKEN = 4  # a rough average over models; only the time of compaction depends on it


class Conversation:
    """Messages in order. Context from hooks is held until the next request: it never parts calls from results."""

    def __init__(self, recorder: Recorder, messages: Sequence[Message] = ()) -> None:
        self._recorder = recorder
        self._messages = list(messages)
        self._held: list[tuple[Origin, str, str, str]] = []
        self._contexts = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    def tokens(self) -> int:
        """An estimate of what the messages take."""
        return sum(len(message.text) for message in self._messages) // CHARACTERS_PER_TOKEN

    def add(self, message: Message, origin: Origin) -> None:
        """Add a message of the user, the model, a tool or the developer."""
        self._messages.append(message)
        self._recorder.record(MessageAdded(origin=origin, message=message))

    def hold_context(self, text: str, *, point: str, hook: str, origin: Origin) -> None:
        """Keep a hook's text for the next `release`."""
        self._held.append((origin, point, hook, text))

    def release(self) -> None:
        """Add the held texts as the developer's, in the order in which they came."""
        held, self._held = self._held, []
        for origin, point, hook, text in held:
            self._messages.append(Message(role="developer", text=text))
            added = ContextAdded(origin=origin, point=point, hook=hook, text=text, number=self._contexts)
            self._recorder.record(added)
            self._contexts += 1

    def drop_held(self) -> None:
        """Forget the held texts: what they belonged to was refused."""
        self._held.clear()

    def replace(self, messages: Sequence[Message], *, why: str, origin: Origin) -> None:
        """Put *messages* in the place of all there are."""
        self._messages = list(messages)
        self._recorder.record(ConversationReplaced(origin=origin, why=why, messages=self.messages))
