"""The session of the documentation in which every Meerkat point fires: it is what its example does today."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from hookline.dialects.meerkat.rules import BY_EVENT
from hookline.dialects.meerkat.words import HookPoint
from hookline.journal import Damage, read

ROOT = Path(__file__).parent.parent
DOCUMENTED = ROOT / "docs/dialects/meerkat-session.jsonl"


def what_happened(journal: Path) -> Counter[tuple[str, str]]:
    """How often each kind of line stands in a journal; of an event, how often at each point."""
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    return Counter((line["kind"], line.get("event", {}).get("point", "")) for line in lines)


def test_every_point_fires_from_what_really_happens(tmp_path: Path) -> None:
    """All 14 fire in one session, and its account has the lines that the documented one has.

    What is told aside stands in no order with the rest, so the lines are counted.
    """
    env = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    example = [sys.executable, ROOT / "examples/meerkat/every_point.py", tmp_path / "project"]
    ended = subprocess.run(example, env=env, capture_output=True, text=True, timeout=18, check=False)
    assert (0, "") == (ended.returncode, ended.stderr)

    given = [json.loads(line) for line in (tmp_path / "project/events.jsonl").read_text().splitlines()]
    assert {point.value for point in HookPoint} == {envelope["point"] for envelope in given}
    [journal] = (tmp_path / "project/journal").iterdir()
    assert what_happened(DOCUMENTED) == what_happened(journal)


def test_the_documented_journal_is_whole() -> None:
    """Every line can be read, and every point has been asked of its hook there."""
    entries = list(read(DOCUMENTED))
    points = {name for (kind, name) in what_happened(DOCUMENTED) if kind == "dispatched"}

    assert [] == [each for each in entries if isinstance(each, Damage)]
    assert {event.point.name for event in BY_EVENT} - {"tool_call_failed"} <= points
