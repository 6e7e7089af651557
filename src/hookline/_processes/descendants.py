"""Finding what a program has started, also where it left the program's process group.

Three signs, read from /proc: descent from the program's process, membership in its group, and holding open the other
end of a pipe that is ours alone. A process that was orphaned, left the group and closed every descriptor shows none of
them and is not found; neither is anything on a system without /proc.
"""

import contextlib
import os
import signal
import stat
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Kin:
    """A process as it was seen. Its number and the time it was born tell it from any later one of that number."""

    pid: int
    born: int
    parent: int = field(compare=False)
    group: int = field(compare=False)
    dead: bool = field(compare=False)


def family(leader: int, known: Collection[Kin], marks: Collection[str]) -> frozenset[Kin]:
    """The living kin of *leader*, itself left out, which must not have been reaped.

    *known* are kin seen before, who may have been orphaned since. *marks* are the names (see `mark`) of descriptors
    that only kin can hold.
    """
    everyone = _everyone()
    head = everyone.get(leader)
    if head is None:
        return frozenset()
    found = {kin.pid for kin in known if everyone.get(kin.pid) == kin} | {leader}
    found.update(
        kin.pid for kin in everyone.values() if kin.group == leader or (kin.born >= head.born and holds(kin.pid, marks))
    )
    return frozenset(kin for kin in _with_descendants(found, everyone) if kin.pid != leader)


def holders(marks: Collection[str]) -> frozenset[Kin]:
    """The living who hold one of *marks*, and who descends from them: kin of a leader that is long reaped."""
    everyone = _everyone()
    return frozenset(_with_descendants({pid for pid in everyone if holds(pid, marks)}, everyone))


def mark(fd: int) -> str:
    """The name under which /proc shows what one of our descriptors leads to; empty where there is no /proc."""
    return _link(Path(f"/proc/self/fd/{fd}"))


def holds(pid: int, marks: Collection[str]) -> bool:
    """Whether a process holds one of *marks*. Whoever can read from our pipes is this program, or a fork of it."""
    found = False
    for entry in _entries(f"/proc/{pid}/fd"):
        name = _link(entry)
        if name in marks:
            if name.startswith("pipe:") and _only_reads(entry):
                return False
            found = True
    return found


def is_alive(kin: Kin) -> bool:
    now = _look_at(kin.pid)
    return now == kin and not now.dead


def send(kin: Kin, number: signal.Signals) -> None:
    """Signal this very process, and not another one that has got its number."""
    try:
        fd = os.pidfd_open(kin.pid)
    except (AttributeError, OSError):  # it is gone; or this system has no such thing, and the number is all there is
        with contextlib.suppress(OSError):
            if is_alive(kin):
                os.kill(kin.pid, number)
        return
    with contextlib.suppress(OSError):  # it ended, or it runs as another user now
        if is_alive(kin):
            signal.pidfd_send_signal(fd, number)
    os.close(fd)


def _with_descendants(found: set[int], everyone: Mapping[int, Kin]) -> Iterator[Kin]:
    """The living among those *found* and those who descend from them, without ourselves."""
    while children := {kin.pid for kin in everyone.values() if kin.parent in found} - found:
        found |= children
    return (everyone[pid] for pid in found - {os.getpid()} if not everyone[pid].dead)


def _everyone() -> dict[int, Kin]:
    numbers = (int(entry.name) for entry in _entries("/proc") if entry.name.isdigit())
    return {pid: kin for pid in numbers if (kin := _look_at(pid))}


def _look_at(pid: int) -> Kin | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The second field is the program's name in parentheses, and may itself hold spaces and parentheses.
    state, parent, group, *rest = text[text.rindex(b")") + 2 :].split()
    return Kin(pid=pid, born=int(rest[16]), parent=int(parent), group=int(group), dead=state in (b"Z", b"X"))


def _entries(directory: str) -> list[Path]:
    try:
        return list(Path(directory).iterdir())
    except OSError:
        return []


def _link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


def _only_reads(path: Path) -> bool:
    """Whether a descriptor is a pipe's reading end, as ours are. One that was opened by name is often both ends."""
    try:
        return path.lstat().st_mode & (stat.S_IRUSR | stat.S_IWUSR) == stat.S_IRUSR
    except OSError:
        return False
