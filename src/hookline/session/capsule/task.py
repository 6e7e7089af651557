"""The task in scope: what hooks may read of it."""

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Task:
    """One task. `as_given` is what this attempt received, feedback included; `output` what it came to, None before.

    `at_work`: an attempt has begun, before which there is nothing to read.
    """

    id: str
    context_id: str
    source: str
    original: str
    as_given: str = ""
    output: str | None = None
    at_work: bool = False

    def begin_attempt(self, text: str) -> None:
        self.as_given = text
        self.output = None
        self.at_work = True
