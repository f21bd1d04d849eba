"""A cursor over a subscription: FETCH waits for the first row, and gives what is there up to the number it asks for."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from millpond.errors import MillpondError, SqlState
from millpond.result import ResultColumn
from millpond.run.subscriber import Subscriber
from millpond.sql.session_records import DeclareCursor, Fetch


@dataclass
class LiveCursor:
    """Rows that were taken from the subscriber and not fetched yet wait here. It reads no snapshot of the transaction
    that declared it, so WITH HOLD it just goes on."""

    statement: DeclareCursor
    columns: tuple[ResultColumn, ...]
    subscriber: Subscriber
    created_at: datetime.datetime
    is_held: bool = False
    _waiting: pa.Table = field(default_factory=lambda: pa.table({}))

    def fetch(self, fetch: Fetch, timeout_s: float | None) -> Iterator[pa.Table]:
        """Rows that are there, after waiting for the first of them at most so long; None waits for ever."""
        if fetch.direction != "forward":
            raise MillpondError(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "cursor can only scan forward")
        left = fetch.count
        found = self._first(timeout_s) if left != 0 else None
        while found is not None:
            given = found.slice(0, left)
            self._waiting = found.slice(given.num_rows)
            left = None if left is None else left - given.num_rows
            yield given
            found = None if left == 0 else self.subscriber.take()

    def _first(self, timeout_s: float | None) -> pa.Table | None:
        return self._waiting if self._waiting.num_rows else self.subscriber.next(timeout_s)

    def keep(self) -> None:
        self.is_held = True

    def close(self) -> None:
        self.subscriber.close()
