"""What every built-in tool shares: its input is a Struct, and schema, check and parsed input all follow from that."""

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import msgspec
from msgspec.structs import FieldInfo

from hookline._core.commands import ResolvedCommand
from hookline._core.errors import ToolError
from hookline._core.messages import Provenance, ToolSpec
from hookline.session.ports import CallContext, Risk, ToolResult

PathText = Annotated[str, msgspec.Meta(min_length=1, max_length=4096, pattern=r"^[^\x00]+$")]

SOURCE = "hookline"  # where our own tools come from

KINDS = {dict: "an object", list: "an array", str: "text", bool: "a boolean", int: "a number", float: "a number"}


class ToolInput(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Base of all inputs. Fields are plain values, each with a default that means "left out", or required."""


Input = TypeVar("Input", bound=ToolInput)


class BuiltinTool(Generic[Input]):
    """A tool of ours. Implements `session.ports.Tool`.

    A subclass sets the first three attributes, and `kind` where it is not simply built in, says how far a call reaches
    and performs it. Its methods are given the parsed input; raw input is for the methods of the protocol alone. An
    input that `check` objects to is taken to reach as far as can be, and `call` refuses it.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    shape: type[Input]
    kind: ClassVar[str] = "builtin"

    def __init__(self, aliases: tuple[str, ...] = ()) -> None:
        self.aliases = aliases
        self.spec = ToolSpec(
            name=self.name,
            description=self.description,
            parameters=schema_of(self.shape),
            provenance=Provenance(self.kind, SOURCE),
        )
        self._fields = {field.encode_name: field for field in msgspec.structs.fields(self.shape)}

    def reach(self, wanted: Input, workspace: Path) -> Risk:
        raise NotImplementedError

    def place(self, wanted: Input, workspace: Path) -> Path:
        """The call's effective directory."""
        return workspace

    def command(self, wanted: Input, context: CallContext) -> ResolvedCommand | None:
        """What the call will execute."""
        return None

    async def perform(self, wanted: Input, context: CallContext) -> ToolResult:
        raise NotImplementedError

    def check(self, input: Any) -> str | None:
        """Everything that is wrong with *input*, each objection with the name of its field."""
        if not isinstance(input, Mapping):
            fields = ", ".join(f"`{name}`" for name in self._fields)
            return f"the input must be a JSON object with the fields {fields}; found {kind_of(input)}"
        found = [self._unknown(str(name)) for name in input if name not in self._fields]
        found += [_objection(field, input) for field in self._fields.values()]
        return "; ".join(filter(None, found)) or None

    def risk(self, input: Any, workspace: Path) -> Risk:
        try:
            return self.reach(self._parsed(input), workspace)
        except ToolError:
            return Risk.REACHES_OUT

    def directory(self, input: Any, workspace: Path) -> Path:
        try:
            return self.place(self._parsed(input), workspace)
        except ToolError:
            return workspace

    def resolve(self, input: Any, context: CallContext) -> ResolvedCommand | None:
        try:
            return self.command(self._parsed(input), context)
        except ToolError:
            return None

    async def call(self, input: Any, context: CallContext) -> ToolResult:
        return await self.perform(self._parsed(input), context)

    async def aclose(self) -> None:
        """Most tools have nothing running between calls."""

    def _parsed(self, input: Any) -> Input:
        objection = self.check(input)
        if objection:
            raise ToolError(objection)
        return msgspec.convert(input, self.shape)

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name[:80], self._fields, 1)
        known = ", ".join(f"`{field}`" for field in self._fields)
        hint = f"did you mean `{near[0]}`?" if near else f"there are {known}"
        return f"there is no field `{name[:80]}`; {hint}"


def _objection(field: FieldInfo, input: Mapping[str, Any]) -> str:
    """What is wrong with one field, or nothing."""
    name = field.encode_name
    if name not in input:
        return f"field `{name}` is missing" if field.required else ""
    value = input[name]
    try:
        msgspec.convert(value, field.type)
        if isinstance(value, str):
            value.encode()
    except msgspec.ValidationError as error:
        text = str(error)
        return f"field `{name}`: {text[0].lower()}{text[1:]}"
    except UnicodeEncodeError:
        return f"field `{name}`: holds half of a surrogate pair, which no text can hold"
    return ""


def kind_of(value: object) -> str:
    """What a JSON value is called in a message."""
    return "null" if value is None else KINDS.get(type(value), type(value).__name__)


def schema_of(shape: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON Schema of *shape* as one flat object, the form in which models take a tool's parameters."""
    _, components = msgspec.json.schema_components([shape])
    schema: dict[str, Any] = components[shape.__name__]
    return {key: value for key, value in schema.items() if key not in ("title", "description")}
