"""Why a command about plugins fails: a closed set of codes (section 20.4)."""

from collections.abc import Sequence
from enum import Enum
from typing import Any

from hookline._core.errors import CodedError
from hookline._core.problems import Where
from hookline.dialects.muse.plugins.diagnostics import Diagnostic, told_of
from hookline.dialects.muse.report import shown


class Fault(Enum):
    """What went wrong, as the document spells it."""

    INVALID_PACKAGE = "invalid-plugin-package"
    INCOMPATIBLE_PACKAGE = "incompatible-plugin-package"
    UNKNOWN_PLUGIN = "unknown-plugin"
    UNKNOWN_MARKETPLACE = "unknown-marketplace"
    INVALID_MARKETPLACE = "invalid-marketplace"
    SOURCE_UNAVAILABLE = "plugin-source-unavailable"
    STORE_READ_FAILED = "plugin-store-read-failed"
    STORE_WRITE_FAILED = "plugin-store-write-failed"
    STORE_FORMAT_INVALID = "plugin-store-format-invalid"
    CACHE_INVALID = "plugin-cache-invalid"
    REMOVE_FAILED = "plugin-remove-failed"
    HOOK_TEST_FAILED = "plugin-hook-test-failed"
    NOT_FOUND = "runtime-capability-not-found"
    AMBIGUOUS = "runtime-capability-ambiguous"
    NOT_REVIEWABLE = "runtime-capability-not-reviewable"
    TRUST_WRITE_FAILED = "runtime-capability-trust-write-failed"
    REVIEW_FAILED = "runtime-capability-review-failed"


class PluginError(CodedError):
    """A command about plugins that could not do what it was asked. Nothing was changed.

    `diagnostics` are what was found in the package, where that is why. `where` is the place of what is wrong in a file
    of the store; the message begins with it.
    """

    def __init__(
        self, code: Fault, message: str, diagnostics: Sequence[Diagnostic] = (), *, where: Where | None = None
    ) -> None:
        super().__init__(message if where is None else f"{where}: {message}")
        self.code = code
        self.diagnostics = tuple(diagnostics)
        self.where = where
        self.message = message

    @property
    def lines(self) -> tuple[str, ...]:
        """The message and every finding, with nothing that a terminal would act on."""
        return (*(shown(line) for line in str(self).splitlines()), *told_of(self.diagnostics))

    def as_json(self) -> dict[str, Any]:
        """As `--json` has it."""
        told: dict[str, Any] = {"code": self.code.value, "message": str(self)}
        if self.diagnostics:
            told["details"] = {"diagnostics": [each.as_json() for each in self.diagnostics]}
        return {"error": told}
