"""What a session has come to so far."""

import time
from dataclasses import dataclass, field

from hookline._core.events.session import Totals
from hookline._core.messages import Usage


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts. Each is raised before hooks are told of what it counts, so that they are told what is so by then."""

    steps: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    tool_calls: int = 0
    shell_calls: int = 0
    failed: bool = False
    begun: float = field(default_factory=time.monotonic)

    def count_step(self, usage: Usage) -> None:
        """A model call came back."""
        self.steps += 1
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens

    def totals(self) -> Totals:
        return Totals(
            steps=self.steps,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            tool_calls=self.tool_calls,
            shell_calls=self.shell_calls,
            duration=time.monotonic() - self.begun,
            status="failed" if self.failed else "ok",
        )
