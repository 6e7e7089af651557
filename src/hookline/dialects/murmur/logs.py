"""The logs of a session (sections 14 and 7.3): one for each hook that had something to complain of, and `bootstrap`."""

from collections import Counter

from hookline._core.reasons import Skip
from hookline._core.records import Diagnosed, Dispatched, HookEnded, Record, SessionClosed
from hookline.dialects.murmur.build import DIALECT, DRAIN
from hookline.dialects.murmur.dialect import QUEUE
from hookline.dialects.murmur.faults import ended, lines_of, name_of

Line = tuple[str, str]  # the log, without a suffix, and the text

DROPPED = (
    "hook '{name}' discarded {count} lifecycle event(s): its queue ({queue} deep) was full and the capsule manifest "
    "declares 'on_overflow: drop' for this hook"
)
ABANDONED = (
    "hook '{name}' did not finish its queued lifecycle calls within the {budget}ms session-end drain budget; the "
    "remaining calls were abandoned"
)


class Logs:
    """Renders records, in their order, as lines of logs. It counts what was dropped until it can be told at once."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}  # of async hooks, by their id
        self._dropped: Counter[str] = Counter()

    def lines(self, record: Record) -> list[Line]:
        """The lines that *record* gives rise to, none for most."""
        match record:
            case Diagnosed(log=log, text=text):
                return [(log, text)]
            case SessionClosed(abandoned=abandoned):
                return self._of_drain(abandoned)
            case Dispatched(resolution=resolution):
                self._names.update((each.id, name_of(each)) for each in resolution.launched if each.dialect == DIALECT)
            case HookEnded(outcome=outcome) if outcome.why is Skip.LANE_FULL and outcome.hook.dialect == DIALECT:
                self._dropped[name_of(outcome.hook)] += 1
            case _:
                pass
        ends = [(name_of(outcome.hook), lines_of(outcome, event)) for outcome, event in ended(record)]
        return [_line(name, text) for name, texts in ends for text in texts]

    def _of_drain(self, abandoned: tuple[str, ...]) -> list[Line]:
        dropped = [
            _line(name, DROPPED.format(name=name, count=count, queue=QUEUE)) for name, count in self._dropped.items()
        ]
        self._dropped.clear()
        cut_off = dict.fromkeys(self._names[each] for each in abandoned if each in self._names)
        budget = round(DRAIN * 1000)
        return [*dropped, *(_line(name, ABANDONED.format(name=name, budget=budget)) for name in cut_off)]


def _line(name: str, text: str) -> Line:
    return f"hook-{name}", text
