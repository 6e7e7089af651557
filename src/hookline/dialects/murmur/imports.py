"""What a hook may ask of its host: the functions of section 9.1, each of them there under every grant."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from hookline._core.capsule import Grant
from hookline._core.guests import GuestError, Surroundings
from hookline._core.messages import Message
from hookline.dialects.murmur.messages import outgoing

INFERENCE = ("murmur:runtime/inference@0.3.0#run-inference", "murmur:runtime/inference@0.2.0#run-inference")
COUNT = "murmur:runtime/tokens@0.3.0#count"
TASK = "murmur:task-io/read@0.1.0#"
CONVERSATION = "murmur:conversation/read@0.1.0#read-messages"

NOT_GRANTED, NO_TASK, NO_OUTPUT, OUT_OF_RANGE = "not-granted", "no-task", "no-output", "out-of-range"
INVALID_CURSOR, UNAVAILABLE = "invalid-cursor", "unavailable: "

MOST = 100  # messages of one page

_CURSOR = re.compile(r"mc_([1-9][0-9]{0,9})")

Arguments = tuple[Any, ...]


class Host:
    """One hook's host. Implements GuestHost: arguments and results are JSON values, the text of an error its answer."""

    def __init__(self, surroundings: Surroundings, hook_name: str, grant: Grant) -> None:
        self._around = surroundings
        self._hook = hook_name
        self._grant = grant
        self._functions: Mapping[str, Callable[[Arguments], Awaitable[Any]]] = {
            **dict.fromkeys(INFERENCE, self._infer),
            COUNT: self._count,
            TASK + "input-len": self._input_length,
            TASK + "read-input": self._read_input,
            TASK + "output-len": self._output_length,
            TASK + "read-output": self._read_output,
            CONVERSATION: self._messages,
        }

    def imports(self) -> frozenset[str]:
        return frozenset(self._functions)

    async def ask(self, name: str, arguments: Arguments) -> Any:
        function = self._functions.get(name)
        if function is None:
            raise GuestError(f"{name} is not served here")
        return await function(arguments)

    async def _infer(self, arguments: Arguments) -> Any:
        (request,) = arguments
        # The text goes as it is: unlike anywhere else a content is no JSON here.
        messages = [Message(role=each["role"], text=each["content"]) for each in request["messages"]]
        system, model = request.get("system-prompt") or "", request.get("model")
        said = await self._around.infer(self._hook, messages, system, model)
        return {
            "text": said.text,
            "model-used": said.model,
            "input-tokens": said.input_tokens,
            "output-tokens": said.output_tokens,
        }

    async def _count(self, arguments: Arguments) -> int:
        (text,) = arguments
        return self._around.count_tokens(text)

    async def _input_length(self, arguments: Arguments) -> int:
        (form,) = arguments
        return len(self._input(form))

    async def _read_input(self, arguments: Arguments) -> str:
        form, offset, most = arguments
        return part_of(self._input(form), offset, most)

    async def _output_length(self, arguments: Arguments) -> int:
        return len(self._output())

    async def _read_output(self, arguments: Arguments) -> str:
        offset, most = arguments
        return part_of(self._output(), offset, most)

    def _input(self, form: str) -> bytes:
        self._check(granted=self._grant.reads_task)
        text = self._around.task_input(original=form == "original")
        if text is None:
            raise GuestError(NO_TASK)
        return text.encode("utf-8", "replace")

    def _output(self) -> bytes:
        self._check(granted=self._grant.reads_task)
        if self._around.task_input(original=False) is None:
            raise GuestError(NO_TASK)
        text = self._around.task_output()
        if text is None:
            raise GuestError(NO_OUTPUT)
        return text.encode("utf-8", "replace")

    async def _messages(self, arguments: Arguments) -> Any:
        cursor, limit = arguments
        self._check(granted=self._grant.reads_conversation)
        try:
            record = await self._around.conversation()
        except GuestError as fault:
            raise GuestError(UNAVAILABLE + str(fault).removeprefix(UNAVAILABLE)) from fault
        end = len(record) if cursor is None else _place(cursor, len(record))
        begin = max(0, end - max(1, min(limit, MOST)))
        page = [outgoing(each) for each in reversed(record[begin:end])]
        return {"messages": page, "next-cursor": f"mc_{begin}" if begin else None, "total": len(record)}

    @staticmethod
    def _check(*, granted: bool) -> None:
        if not granted:
            raise GuestError(NOT_GRANTED)


def part_of(data: bytes, offset: int, most: int) -> str:
    """The longest text from *offset* on that *most* bytes hold. GuestError past the end and inside a character."""
    if not 0 <= offset <= len(data) or not _between_characters(data, offset):
        raise GuestError(OUT_OF_RANGE)
    end = min(len(data), offset + most)
    while not _between_characters(data, end):
        end -= 1
    return data[offset:end].decode()


def _between_characters(data: bytes, place: int) -> bool:
    return place == len(data) or data[place] & 0xC0 != 0x80  # noqa: PLR2004  # how every later byte of one begins


def _place(cursor: str, total: int) -> int:
    """How many of the oldest messages a page ends with: counted so, what is added does not shift it."""
    found = _CURSOR.fullmatch(cursor)
    if found is None or (place := int(found[1])) > total:
        raise GuestError(INVALID_CURSOR)
    return place
