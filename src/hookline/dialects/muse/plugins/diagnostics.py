"""What can be said of a package: a closed set of codes, each with the severity that it has (sections 20.1 and 20.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from hookline._core.strictjson import Path
from hookline.dialects._places import path_text
from hookline.dialects.muse.document import Document
from hookline.dialects.muse.report import shown


class Severity(Enum):
    """Whether a package can be installed all the same."""

    ERROR = "error"
    WARNING = "warning"


class Code(Enum):
    """What is wrong with a package, as the document spells it."""

    MISSING_MANIFEST = "missing-manifest"
    MULTIPLE_MANIFESTS = "multiple-manifests"
    INVALID_JSON = "invalid-manifest-json"
    INVALID_SCHEMA = "invalid-manifest-schema"
    FAMILY_MISMATCH = "manifest-family-mismatch"
    INVALID_ID = "invalid-plugin-id"
    INVALID_VERSION = "invalid-version"
    INVALID_PACKAGE = "invalid-plugin-package"
    UNSUPPORTED_FIELD = "unsupported-field"
    UNSUPPORTED_CAPABILITY = "unsupported-capability"
    INVALID_CAPABILITY_ID = "invalid-capability-id"
    DUPLICATE_CAPABILITY_ID = "duplicate-capability-id"
    MISSING_COMMAND = "missing-capability-command"
    MISSING_PATH = "missing-capability-path"
    UNSAFE_PATH = "unsafe-path"
    UNSUPPORTED_EVENT = "unsupported-hook-event"
    DUPLICATE_SOURCE = "duplicate-hook-source"
    RESERVED_ID = "bundled_plugin_id_reserved"
    CACHE_INVALID = "plugin-cache-invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One finding. `path` names the file; line and column count from 1, 0 where there is no place within it.

    `at` is the path within the document, `remedy` says what to write instead.
    """

    code: Code
    path: str
    message: str
    severity: Severity = Severity.ERROR
    line: int = 0
    column: int = 0
    at: str = ""
    remedy: str = ""

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path

    @property
    def text(self) -> str:
        """On one line, in the documented form."""
        severity = self.severity.value
        return f"diagnostic={self.code.value} severity={severity} path={self.place} message={self.message}"

    def as_json(self) -> dict[str, Any]:
        return {
            "code": self.code.value,
            "severity": self.severity.value,
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "at": self.at,
            "message": self.message,
            "remedy": self.remedy,
        }


def diagnostic(
    document: Document,
    code: Code,
    message: str,
    at: Path,
    *,
    remedy: str = "",
    severity: Severity = Severity.ERROR,
) -> Diagnostic:
    """A finding at a place of *document*, or at the nearest thing around it that stands there."""
    where = document.where(at)
    return Diagnostic(
        code=code,
        severity=severity,
        path=where.file,
        line=where.line,
        column=where.column,
        at=path_text(at),
        message=message,
        remedy=remedy,
    )


def told_of(found: Sequence[Diagnostic]) -> tuple[str, ...]:
    """A line for each finding, and one for its remedy, with nothing that a terminal would act on."""
    return tuple(shown(line) for each in found for line in (each.text, *([f"  {each.remedy}"] if each.remedy else [])))
