"""DuckDB as the judge of windows: it runs a view's query over exactly the rows of each window that is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import duckdb

from tests.windows.random_windows import RandomView, Row

_COLUMNS = "tid BIGINT, k INTEGER, v INTEGER, d DECIMAL(8,2), moment TIMESTAMPTZ, arrival TIMESTAMPTZ"


class Judge:
    """Knows all rows of the streams `s` and `r`, in the order of their tids, and the table `kind`."""

    def __init__(self, kinds: Mapping[int, str]) -> None:
        self.rows: dict[str, list[Row]] = {"s": [], "r": []}
        self._database = duckdb.connect()
        self._database.execute("SET TimeZone = 'UTC'")
        self._database.execute("CREATE TABLE kind (k INTEGER, name TEXT)")
        self._database.executemany("INSERT INTO kind VALUES (?, ?)", list(kinds.items()))
        for stream in self.rows:
            self._database.execute(f"CREATE TABLE win_{stream} ({_COLUMNS})")

    def expected(self, view: RandomView, now: datetime) -> list[tuple[Any, ...]]:
        """What the view shows, in an order of its own."""
        streams = ["s", "r"] if view.two_streams else ["s"]
        answers: list[tuple[Any, ...]] = []
        rows = [self.rows[stream] for stream in streams]
        window, own = view.most_frequent, streams.index("r") if view.most_frequent is view.other else 0
        for bounds in window.shown(rows, now, view.retain, early=view.early, own=own):
            for stream in streams:
                self._fill(stream, view, bounds if view.other is None else view.bounds(stream, bounds[1]))
            answers += self._database.execute(view.judged(bounds)).fetchall()
        return comparable(answers)

    def _fill(self, stream: str, view: RandomView, bounds: tuple[int, int]) -> None:
        inside = [row for row in self.rows[stream] if _is_inside(view.window.place(row), bounds)]
        self._database.execute(f"DELETE FROM win_{stream}")
        if inside:
            values = [(row.tid, row.k, row.v, row.d, row.at, row.arrival) for row in inside]
            self._database.executemany(f"INSERT INTO win_{stream} VALUES (?, ?, ?, ?, ?, ?)", values)


def _is_inside(place: int | None, bounds: tuple[int, int]) -> bool:
    return place is not None and bounds[0] <= place < bounds[1]


def comparable(rows: Iterable[Sequence[object]]) -> list[tuple[Any, ...]]:
    """Rows in one order, their values without the differences that two engines may have."""
    return sorted((tuple(map(_plain, row)) for row in rows), key=str)


def _plain(value: object) -> object:
    if isinstance(value, (float, Decimal)):
        return round(float(value), 9)
    return value.astimezone(UTC) if isinstance(value, datetime) else value
