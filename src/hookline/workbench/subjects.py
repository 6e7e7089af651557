"""What matchers can be tested against where a session has a closed list of it, by hook point."""

from collections.abc import Mapping

SUBJECTS: Mapping[str, tuple[str, ...]] = {
    "session_start": ("startup", "resume", "clear", "compact", "fork"),
    "before_compaction": ("manual", "auto"),
    "after_compaction": ("manual", "auto"),
}
