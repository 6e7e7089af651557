"""Kills processes that work with a session, and says whether the law of crashes was kept. Prints one JSON object.

Everything is imported once; each process that is killed is a fork of this one, which has neither a thread nor a loop
that runs.
"""

import argparse
import asyncio
import gc
import importlib
import json
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.crash.law import Life, breaches
from tests.crash.life import Log, Program, Steps, live, step_at_statements
from tests.crash.places import InPostgres, InSqlite, Place
from tests.crash.plan import Point, What, groups, points, share

LONGEST = 10  # seconds for one life, after which it counts as hanging
COUNTED = 2  # undisturbed lives; where tasks go different ways the number of steps may differ a little
TRIES = 5  # where a life has fewer steps than the one that was counted, its point is drawn again


@dataclass(frozen=True, slots=True)
class Lived:
    """A life, and how many steps it made."""

    life: Life
    counts: dict[What, int]


class Trials:
    """Trials in *place* of what *seed* says; their logs are in *folder*."""

    def __init__(self, place: Place, folder: Path, seed: int) -> None:
        self._place = place
        self._folder = folder
        self._groups = groups(seed)
        self._log = folder / "log"
        self.killed = 0
        self.broken: list[str] = []

    def counted(self, *, fresh: bool, lives: int = 1) -> dict[What, int]:
        """How many steps the last of some undisturbed lives has: the fewest that were seen."""
        counted = [self._trial([(Program.WHOLE, None)] * lives, fresh=fresh)[-1].counts for _ in range(COUNTED)]
        if self.broken:
            raise SystemExit(f"a life that nobody disturbs does not end well: {self.broken[0]}")
        return {what: min(each.get(what, 0) for each in counted) for what in What}

    def kill_at(self, *deaths: tuple[Program, Point], fresh: bool = False) -> None:
        """Kill one life after the other, let the next ones recover and give everything again, and look at it all."""
        name = ", ".join(f"{program.value} {point}" for program, point in deaths)
        for _ in range(TRIES):
            lived = self._trial([*deaths, (Program.RECOVER, None), (Program.WHOLE, None)], fresh=fresh)
            lives = [each.life for each in lived]
            self.broken += [f"{name}: {each}" for each in breaches(lives, self._groups)]
            killed = sum(life.was_killed for life in lives)
            if killed == len(deaths):
                self.killed += killed
                return
            deaths = tuple(
                (program, Point(point.what, max(1, min(point.number, each.counts.get(point.what, 1))), point.when))
                for (program, point), each in zip(deaths, lived, strict=False)
            )

    def _trial(self, programs: Sequence[tuple[Program, Point | None]], *, fresh: bool) -> list[Lived]:
        self._place.begin(fresh=fresh)
        self._log.unlink(missing_ok=True)
        return [self._live(number, program, last) for number, (program, last) in enumerate(programs)]

    def _live(self, number: int, program: Program, last: Point | None) -> Lived:
        report = self._folder / "report"
        report.unlink(missing_ok=True)
        pid = os.fork()
        if pid == 0:
            self._be(number, program, last, report)
        try:
            ended = self._place.watch(pid, last)
        except BaseException:
            os.kill(pid, signal.SIGKILL)
            raise
        was_killed = os.WIFSIGNALED(ended.status) and os.WTERMSIG(ended.status) == signal.SIGKILL
        if not was_killed and (ended.status != 0 or not report.exists()):
            said = report.read_text() if report.exists() else ""
            self.broken.append(f"{program.value} {last}: the process ended with {ended.status}: {said}")
        counts = {What.MESSAGE: ended.messages}
        if report.exists() and ended.status == 0:
            told = json.loads(report.read_text())
            counts |= {What(name): count for name, count in told["counts"].items()}
            for module in told["modules"]:
                importlib.import_module(module)
        gave_all = program is Program.WHOLE and ended.status == 0
        return Lived(Life(self._lines_of(number), self._place.state(), was_killed, gave_all), counts)

    def _lines_of(self, number: int) -> tuple[tuple[str, ...], ...]:
        """What a life logged, without its number."""
        if not self._log.exists():
            return ()
        lines = [line.split() for line in self._log.read_text().splitlines()]
        return tuple(tuple(words) for life, *words in lines if life == str(number))

    def _be(self, number: int, program: Program, last: Point | None, report: Path) -> None:
        """Live, in a process of its own. Never returns."""
        status = 1
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(LONGEST)
            before = set(sys.modules)
            steps = Steps(last)
            step_at_statements(steps)
            log = Log(self._log, number, steps)
            url, runtime = self._place.url(), self._place.runtime
            asyncio.run(live(program, self._groups, url=url, runtime=runtime, log=log, workspace=self._folder))
            modules = sorted(set(sys.modules) - before)
            counts = {what.value: count for what, count in steps.counts.items()}
            report.write_text(json.dumps({"counts": counts, "modules": modules}))
            status = 0
        except BaseException:  # noqa: BLE001 - whatever it is, the parent has to know, and this process to end
            report.write_text(traceback.format_exc())
        finally:
            os._exit(status)


def give_up(*_: object) -> None:
    raise SystemExit("the time is over")


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("store", choices=("sqlite", "postgres"))
    read.add_argument("--url", default="", help="of the PostgreSQL database")
    read.add_argument("--folder", type=Path, required=True, help="for files and logs; empty")
    read.add_argument("--seed", type=int, default=1)
    read.add_argument("--chunk", type=int, default=0)
    read.add_argument("--of", type=int, default=1, help="chunks that all points are shared out to")
    read.add_argument("--most", type=int, default=10_000, help="points of this chunk")
    read.add_argument("--twice", type=int, default=6, help="trials in which the next life is killed too")
    read.add_argument("--within", type=float, default=0, help="seconds after which it gives up; 0 for never")
    given = read.parse_args()
    place: Place = (
        InSqlite(given.folder)
        if given.store == "sqlite"
        else InPostgres(given.url, f"crash_{os.getpid()}_{random.getrandbits(32):08x}")
    )
    began = time.monotonic()
    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, given.within)
    try:
        trials = Trials(place, given.folder, given.seed)
        opening, whole = trials.counted(fresh=True), trials.counted(fresh=False)
        gc.freeze()
        # Where tables have to be made a life begins with more steps, which are those at which only there it can end.
        making = {what: opening[what] - whole[what] for what in What}
        everything = [(False, point) for point in points(whole)] + [(True, point) for point in points(making)]
        again = points(trials.counted(fresh=False, lives=2))  # the least of a recovery: there was nothing left to do
        mine = share(given.seed, everything, chunk=given.chunk, of=given.of)[: given.most]
        for fresh, point in mine:
            if trials.broken:  # the others would have the same to say, and take long where a process hangs
                break
            trials.kill_at((Program.WHOLE, point), fresh=fresh)
        chance = random.Random(f"{given.seed}/{given.chunk}")  # noqa: S311 - an order is no secret
        for _ in range(given.twice):
            (fresh, first), second = chance.choice(everything), chance.choice(again)
            trials.kill_at((Program.WHOLE, first), (Program.WHOLE, second), fresh=fresh)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        place.close()
    found = {
        "points": len(everything),
        "wanted": len(mine) + 2 * given.twice,
        "killed": trials.killed,
        "broken": trials.broken,
        "seconds": round(time.monotonic() - began, 1),
    }
    print(json.dumps(found))  # noqa: T201 - it is read by whoever started this


if __name__ == "__main__":
    main()
