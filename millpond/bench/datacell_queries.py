"""DataCell's three queries over windows of rows, each as a view and as a query over exactly a window's tuples.

Rows are integers of our own: `x1` has a thousand values, so that a condition on it selects any percentage; the number
of values of `x2` is how many rows of a window find a partner in a join.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

COLUMNS = "x1 int, x2 int"
X1_VALUES = 1_000
X2_VALUES = 100_000

Q1 = "SELECT {until}x1, sum(x2) AS total FROM {s1} WHERE x1 > {above} GROUP BY x1"
Q2 = "SELECT {until}max(s1.x1) AS highest, avg(s2.x1) AS mean FROM {s1}, {s2} WHERE s1.x2 = s2.x2"
Q3 = "SELECT {until}max(x1) AS highest, sum(x2) AS total FROM {s1} WHERE x1 > {above}"


@dataclass(frozen=True)
class WindowQuery:
    """A query over windows of `size` rows that slide by `slide`; without a size, over all rows since the first. One
    that `tells` where its window ends has another answer at each slide.

    >>> WindowQuery(Q3, ("s1",), 5).view
    'SELECT max(x1) AS highest, sum(x2) AS total FROM LANDMARK(s1) AS s1 WHERE x1 > 799'
    """

    text: str
    streams: tuple[str, ...]
    slide: int
    size: int | None = None
    selectivity_percent: int = 20
    tells: bool = False

    @property
    def view(self) -> str:
        """What the view is made of."""
        size = self.size
        window = "LANDMARK({0}) AS {0}" if size is None else f"HOP({{0}}, {self.slide}, {size}) AS {{0}}"
        return self._over({stream: window.format(stream) for stream in self.streams}, "s1.window_end")

    def anew(self, end: int) -> str:
        """The same over the tuples of the window that ends before a tid, for those who keep tuples."""
        first = 0 if self.size is None else end - self.size
        rows = f"(SELECT x1, x2 FROM {{0}} WHERE tid >= {first} AND tid < {end}) AS {{0}}"
        return self._over({stream: rows.format(stream) for stream in self.streams}, f"CAST({end} AS bigint)")

    def in_flink(self, step_s: int) -> str:
        """The same by event time, with a slide of so many seconds: one row for each window that says what it has."""
        assert self.size is not None
        spans = f"INTERVAL '{step_s}' SECOND(6), INTERVAL '{self.size // self.slide * step_s}' SECOND(6)"
        hop = f"TABLE(HOP(TABLE s1, DESCRIPTOR(ts), {spans}))"
        groups = (
            f"SELECT window_start, window_end, x1, sum(CAST(x2 AS BIGINT)) AS total FROM {hop} "
            f"WHERE x1 > {self._above} GROUP BY window_start, window_end, x1"
        )
        return (
            f"SELECT window_end, count(*) AS groups_, sum(total) AS total FROM ({groups}) "
            "GROUP BY window_start, window_end"
        )

    @property
    def _above(self) -> int:
        return X1_VALUES - X1_VALUES * self.selectivity_percent // 100 - 1

    def _over(self, sources: Mapping[str, str], until: str) -> str:
        return self.text.format(above=self._above, until=f"{until} AS until, " if self.tells else "", **sources)


def rows(count: int, seed: int, x2_values: int = X2_VALUES) -> pa.Table:
    """Rows of a stream, the same for the same seed."""
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "x1": pa.array(random.integers(0, X1_VALUES, count, dtype=np.int32)),
            "x2": pa.array(random.integers(0, x2_values, count, dtype=np.int32)),
        }
    )
