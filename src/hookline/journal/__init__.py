"""The journal: an append-only account of a session, one JSON object a line. docs/journal.md describes the file."""

from hookline.journal.places import journal_path, sessions_folder, state_folder
from hookline.journal.reader import (
    Damage,
    Entry,
    Occurrence,
    Spoken,
    Summary,
    children,
    conversation,
    events_from,
    find,
    outline,
    read,
    sessions,
    spoken,
    summary,
)
from hookline.journal.redact import Redactor
from hookline.journal.writer import Journal

__all__ = [
    "Damage",
    "Entry",
    "Journal",
    "Occurrence",
    "Redactor",
    "Spoken",
    "Summary",
    "children",
    "conversation",
    "events_from",
    "find",
    "journal_path",
    "outline",
    "read",
    "sessions",
    "sessions_folder",
    "spoken",
    "state_folder",
    "summary",
]
