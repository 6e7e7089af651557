"""A shell call as it was resolved: what is going to be executed, to the letter."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedCommand:
    """What guards are asked about and what is then executed are this same object.

    `program` is an absolute path, or a bare name that was not found. `text` is the command as the model wrote it.
    `script` is what an interpreter is given to run. `recipe` is the body of the build recipe that is named, None where
    none was resolved, which says nothing about the call.
    """

    program: str
    arguments: tuple[str, ...] = ()
    text: str = ""
    script: str | None = None
    recipe: str | None = None

    @property
    def argv(self) -> tuple[str, ...]:
        """The program first."""
        return (self.program, *self.arguments)
