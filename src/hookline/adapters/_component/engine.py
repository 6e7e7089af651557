"""How wasmtime is set up, and what its errors say. The library is imported with this module: 50 ms, 17 MB."""

from wasmtime import Config, Engine, ExitTrap, WasmtimeError

from hookline._core.reasons import Failure
from hookline.adapters._component.broken import Broken

STACK = 512 * 1024  # bytes; the threads of this process have 8 MiB
IN_GUEST = "error while executing at wasm backtrace"
COPIED_TOO_MUCH = "fuel allocated for hostcalls has been exhausted"


def new_engine() -> Engine:
    """An engine whose guests stop where its epoch passes their deadline. No guest waits for another's memory."""
    config = Config()
    config.epoch_interruption = True
    config.max_wasm_stack = STACK
    config.wasm_threads = False
    return Engine(config)


def configuration() -> str:
    """What compiled code depends on: whatever is said to the engine above has to show here."""
    from importlib.metadata import version  # 20 ms, which a worker need not spend

    return f"hookline 1, wasmtime {version('wasmtime')}, epochs, stack {STACK}, no threads"


def said(error: WasmtimeError) -> str:
    """The last line of what wasmtime says, which is the cause; what stands above it is a backtrace."""
    if isinstance(error, ExitTrap):
        return f"it exited with code {error.code}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else "no cause is known"


def fault_of(error: WasmtimeError) -> Broken:
    """What became of a call that ended in *error*."""
    text, cause = str(error), said(error)
    if text.startswith(IN_GUEST) or "wasm trap:" in text or isinstance(error, ExitTrap):
        return Broken(Failure.CRASHED, cause)
    if COPIED_TOO_MUCH in text:
        return Broken(Failure.OUTPUT_TOO_LARGE, "what it returned is too large to be copied", stream="body")
    return Broken(Failure.MALFORMED_ANSWER, f"what it returned cannot be read: {cause}")
