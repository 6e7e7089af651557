"""WebAssembly components for tests, written by hand: what each does is the text of its functions.

Every component exports one interface, whose functions take an event and return an answer:

    record event { text: string, number: u64, note: option<string>, items: list<string> }
    variant answer { none, said(string), many(list<string>) }
    on-event: func(event: event) -> result<answer, string>

In a body `$text` and `$text-len`, `$number`, `$has-note`, `$note`, `$note-len`, `$items` and `$items-len` are the
event; `$none`, `$say`, `$refuse` and `$list` put an answer together. What it imports is a tuple of `Import`s.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from wasmtime import wat2wasm

INTERFACE = "demo:hook/lifecycle@1.0.0"

EVENT = """(record (field "text" string) (field "number" u64) (field "note" (option string))
  (field "items" (list string)))"""
ANSWER = '(variant (case "none") (case "said" string) (case "many" (list string)))'
PARAMS = """(param $text i32) (param $text-len i32) (param $number i64) (param $has-note i32) (param $note i32)
  (param $note-len i32) (param $items i32) (param $items-len i32) (result i32)"""

MEMORY = """
  (memory (export "memory") {pages})
  (global $top (mut i32) (i32.const 4096))
  (func (export "realloc") (param $old i32) (param $had i32) (param $align i32) (param $size i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $top) (i32.sub (local.get $align) (i32.const 1)))
                            (i32.sub (i32.const 0) (local.get $align))))
    (global.set $top (i32.add (local.get $at) (local.get $size)))
    (block $fits (loop $grow
      (br_if $fits (i32.le_u (global.get $top) (i32.mul (memory.size) (i32.const 65536))))
      (br_if $grow (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))
      (unreachable)))
    (memory.copy (local.get $at) (local.get $old) (local.get $had))
    (local.get $at))
  (func (export "post") (param i32) (global.set $top (i32.const 4096)))
"""

# What the bodies are written with. The answer stands at 0; 64 to 1023 are for what a test puts there.
WORDS = """
  (func $none (result i32)
    (i64.store (i32.const 0) (i64.const 0)) (i32.const 0))
  (func $say (param $at i32) (param $len i32) (result i32)
    (i32.store (i32.const 0) (i32.const 0)) (i32.store (i32.const 4) (i32.const 1))
    (i32.store (i32.const 8) (local.get $at)) (i32.store (i32.const 12) (local.get $len)) (i32.const 0))
  (func $refuse (param $at i32) (param $len i32) (result i32)
    (i32.store (i32.const 0) (i32.const 1))
    (i32.store (i32.const 4) (local.get $at)) (i32.store (i32.const 8) (local.get $len)) (i32.const 0))
  (func $list (param $at i32) (param $len i32) (result i32)
    (i32.store (i32.const 0) (i32.const 0)) (i32.store (i32.const 4) (i32.const 2))
    (i32.store (i32.const 8) (local.get $at)) (i32.store (i32.const 12) (local.get $len)) (i32.const 0))
  (func $digit (param $number i32) (result i32)
    (i32.store8 (i32.const 2048) (i32.add (i32.const 48) (local.get $number)))
    (call $say (i32.const 2048) (i32.const 1)))
"""


@dataclass(frozen=True)
class Import:
    """Something imported: the component's text for it, and the core functions that it gives the bodies.

    Of each function there are its name in the bodies, what is lowered, and the parameters and results of the core one.
    """

    text: str
    functions: tuple[tuple[str, str, str], ...]

    @property
    def lowered(self) -> str:
        return "\n".join(
            f"(core func ${name} ({canon} (memory (core memory $memory)) (realloc (core func $realloc))))"
            if canon.startswith("canon lower")
            else f"(core func ${name} ({canon}))"
            for name, canon, _ in self.functions
        )

    @property
    def given(self) -> str:
        return " ".join(f'(export "{name}" (func ${name}))' for name, _, _ in self.functions)

    @property
    def taken(self) -> str:
        return "\n".join(f'(import "" "{name}" (func ${name} {kind}))' for name, _, kind in self.functions)


def component(
    bodies: Mapping[str, str] | str,
    imports: Iterable[Import] = (),
    *,
    more: str = "",
    pages: int = 1,
    interface: str = INTERFACE,
    event: str = EVENT,
    params: str = PARAMS,
) -> bytes:
    """A component whose functions have these *bodies*; of one it is `on-event`. *more* are core fields."""
    functions = {"on-event": bodies} if isinstance(bodies, str) else bodies
    taken = tuple(imports)
    core = "\n".join(f'(func (export "{name}") {params} {body})' for name, body in functions.items())
    lifted = "\n".join(
        f"""(func ${name} (type $call) (canon lift (core func $main "{name}") (memory (core memory $memory))
          (realloc (core func $realloc)) (post-return (core func $post))))"""
        for name in functions
    )
    shim = "\n".join(
        f"""(import "of-{name}" (func $of-{name} (param "event" $event-in) (result (result $answer-in (error string)))))
        (export "{name}" (func $of-{name})
          (func (param "event" $event-out) (result (result $answer-out (error string)))))"""
        for name in functions
    )
    given = " ".join(f'(with "of-{name}" (func ${name}))' for name in functions)
    text = f"""
    (component
      {" ".join(each.text for each in taken)}
      (core module $own {MEMORY.format(pages=pages)})
      (core instance $own (instantiate $own))
      (alias core export $own "memory" (core memory $memory))
      (alias core export $own "realloc" (core func $realloc))
      (alias core export $own "post" (core func $post))
      {" ".join(each.lowered for each in taken)}
      (core module $main
        (import "" "memory" (memory 1))
        {" ".join(each.taken for each in taken)}
        {WORDS} {more} {core})
      (core instance $main (instantiate $main (with "" (instance
        (export "memory" (memory $memory)) {" ".join(each.given for each in taken)}))))
      (type $event {event})
      (type $answer {ANSWER})
      (type $call (func (param "event" $event) (result (result $answer (error string)))))
      {lifted}
      (component $shim
        (type $event {event}) (import "event-in" (type $event-in (eq $event)))
        (type $answer {ANSWER}) (import "answer-in" (type $answer-in (eq $answer)))
        (export $event-out "event" (type $event)) (export $answer-out "answer" (type $answer))
        {shim})
      (instance $exported (instantiate $shim
        (with "event-in" (type $event)) (with "answer-in" (type $answer)) {given}))
      (export "{interface}" (instance $exported)))
    """
    return bytes(wat2wasm(text))


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


NONE = "(call $none)"
ECHO = "(call $say (local.get $text) (local.get $text-len))"
REFUSES = "(call $refuse (local.get $text) (local.get $text-len))"
TRAPS = "unreachable"
LOOPS = "(loop $on (br $on)) unreachable"
RECURSES = "(call $deeper)"
DEEPER = "(func $deeper (result i32) (i32.add (call $deeper) (call $deeper)))"
GROWS = (
    """(loop $on (if (i32.eq (memory.grow (i32.const 16)) (i32.const -1)) (then unreachable)) (br $on)) unreachable"""
)
SETTLES = "(loop $on (br_if $on (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) (call $none)"
COUNTS = "(global.set $calls (i32.add (global.get $calls) (i32.const 1))) (call $digit (global.get $calls))"
CALLS = "(global $calls (mut i32) (i32.const 0))"
ITEMS_BACK = "(call $list (local.get $items) (local.get $items-len))"
BAD_POINTER = "(call $say (i32.const -16) (i32.const 100))"
BAD_CASE = "(i32.store (i32.const 0) (i32.const 0)) (i32.store (i32.const 4) (i32.const 99)) (i32.const 0)"
BAD_TEXT = "(i32.store (i32.const 64) (i32.const -1)) (call $say (i32.const 64) (i32.const 4))"
# A list of $number texts, each of them the event's own, which is counted as often as it is there.
REPEATS = """
  (local $left i32) (local $at i32) (local $count i32)
  (local.set $count (i32.wrap_i64 (local.get $number)))
  (local.set $left (local.get $count))
  (drop (memory.grow (i32.add (i32.shr_u (local.get $count) (i32.const 13)) (i32.const 1))))
  (local.set $at (i32.const 65536))
  (block $done (loop $on
    (br_if $done (i32.eqz (local.get $left)))
    (i32.store (local.get $at) (local.get $text))
    (i32.store (i32.add (local.get $at) (i32.const 4)) (local.get $text-len))
    (local.set $at (i32.add (local.get $at) (i32.const 8)))
    (local.set $left (i32.sub (local.get $left) (i32.const 1)))
    (br $on)))
  (call $list (i32.const 65536) (local.get $count))
"""

HOST = Import(
    """
  (import "demo:host/desk@1.0.0" (instance $desk
    (type $why (enum "busy" "shut")) (export "why" (type $reason (eq $why)))
    (type $card (record (field "name" string) (field "age" (option u32)))) (export "card" (type $person (eq $card)))
    (export "echo" (func (param "text" string) (result (result string (error string)))))
    (export "count" (func (param "text" string) (result u64)))
    (export "knock" (func (param "who" $person) (result (result (error $reason)))))))
""",
    (
        ("echo", 'canon lower (func $desk "echo")', "(param i32 i32 i32)"),
        ("count", 'canon lower (func $desk "count")', "(param i32 i32) (result i64)"),
        ("knock", 'canon lower (func $desk "knock")', "(param i32 i32 i32 i32 i32)"),
    ),
)
ASKS = """
  (call $echo (local.get $text) (local.get $text-len) (i32.const 64))
  (if (result i32) (i32.load8_u (i32.const 64))
    (then (call $refuse (i32.load (i32.const 68)) (i32.load (i32.const 72))))
    (else (call $say (i32.load (i32.const 68)) (i32.load (i32.const 72)))))
"""
COUNTED = "(call $digit (i32.wrap_i64 (call $count (local.get $text) (local.get $text-len))))"
KNOCKS = """
  (call $knock (local.get $text) (local.get $text-len) (i32.const 1) (i32.const 7) (i32.const 64))
  (if (result i32) (i32.load8_u (i32.const 64))
    (then (call $digit (i32.load8_u (i32.const 65))))
    (else (call $none)))
"""
