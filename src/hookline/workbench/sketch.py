"""Percentiles of any number of values in the memory of a few hundred."""

import math
from collections import Counter

ERROR = 0.01  # a percentile is off by this share of itself at most
SMALLEST = 0.001  # what is below counts as 0; of milliseconds a microsecond, the finest that a journal has
LARGEST = 1e9  # what is above counts as this much; of milliseconds more than eleven days

# A bucket reaches from one power of this to the next. Its middle, in the sense below, is within ERROR of both ends.
_GAMMA = (1 + ERROR) / (1 - ERROR)
_PER_BUCKET = 1 / math.log(_GAMMA)


class Sketch:
    """Counts values in buckets that grow with them: 1,400 at most, however many values there are.

    `largest`, `total` and `count` are exact.
    """

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.largest = 0.0
        self._buckets: Counter[int | None] = Counter()  # None is for those below the smallest

    def add(self, value: float) -> None:
        self.count += 1
        if value < SMALLEST:
            self._buckets[None] += 1
            return
        value = min(value, LARGEST)
        self.total += value
        self.largest = max(self.largest, value)
        self._buckets[math.ceil(math.log(value / SMALLEST) * _PER_BUCKET)] += 1

    def percentile(self, share: float) -> float:
        """The least value that *share* of all values do not exceed, within ERROR of itself. 0 where there is none."""
        wanted = max(1, math.ceil(share * self.count))
        passed = self._buckets[None]
        if passed >= wanted:
            return 0.0
        for bucket in sorted(each for each in self._buckets if each is not None):
            passed += self._buckets[bucket]
            if passed >= wanted:
                return min(SMALLEST * _GAMMA**bucket * 2 / (_GAMMA + 1), self.largest)
        return 0.0
