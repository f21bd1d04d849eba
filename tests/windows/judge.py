"""DuckDB as the judge of windows: it runs a view's query over exactly the rows of each window that is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Protocol

import duckdb

from tests.windows.random_windows import Evaluation, Row

_COLUMNS = "tid BIGINT, k INTEGER, v INTEGER, d DECIMAL(8,2), moment TIMESTAMPTZ, arrival TIMESTAMPTZ"


class JudgedView(Protocol):
    """A view whose windows can be told from the rows of its streams."""

    @property
    def name(self) -> str: ...

    @property
    def statement(self) -> str: ...

    def evaluations(self, streams: dict[str, list[Row]], now: datetime) -> list[Evaluation]: ...

    def late(self, rows: Sequence[Row]) -> list[int]: ...


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

    def expected(self, view: JudgedView, now: datetime) -> list[tuple[Any, ...]]:
        """What the view shows, in an order of its own."""
        answers: list[tuple[Any, ...]] = []
        for evaluation in view.evaluations(self.rows, now):
            for stream, rows in evaluation.rows.items():
                self._fill(stream, rows)
            answers += self._database.execute(evaluation.query).fetchall()
        return comparable(answers)

    def _fill(self, stream: str, rows: list[Row]) -> None:
        self._database.execute(f"DELETE FROM win_{stream}")
        if rows:
            values = [(row.tid, row.k, row.v, row.d, row.at, row.arrival) for row in rows]
            self._database.executemany(f"INSERT INTO win_{stream} VALUES (?, ?, ?, ?, ?, ?)", values)


def comparable(rows: Iterable[Sequence[object]]) -> list[tuple[Any, ...]]:
    """Rows in one order, their values without the differences that two engines may have."""
    return sorted((tuple(map(_plain, row)) for row in rows), key=str)


def _plain(value: object) -> object:
    if isinstance(value, (float, Decimal)):
        return round(float(value), 9)
    return value.astimezone(UTC) if isinstance(value, datetime) else value
