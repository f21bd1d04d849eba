"""Cursors: queries whose rows a session fetches some at a time, forward or in any direction.

A cursor reads its rows from an iterator of pieces and asks it for no more than it was asked itself. One over a
subscription (`live_cursor.py`) has no end: there FETCH gives what is there.
"""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from millpond.errors import MillpondError, SqlState
from millpond.live_cursor import LiveCursor
from millpond.result import Result, ResultColumn
from millpond.row_buffer import RowBuffer
from millpond.sql.session_records import DeclareCursor, Fetch


@dataclass
class Cursor:
    """`position` is 0 before the first row, then the number of the row that was fetched last, counted from 1; behind
    the last row it is one more than there are. `directory` is the cursor's own, for rows that memory does not hold.
    """

    statement: DeclareCursor
    result: Result
    rows: RowBuffer
    directory: Path
    created_at: datetime.datetime
    position: int = 0
    is_held: bool = False

    @property
    def columns(self) -> tuple[ResultColumn, ...]:
        return self.result.columns

    def fetch(self, fetch: Fetch) -> Iterator[pa.Table]:
        """The rows that a FETCH returns, in pieces. The cursor moves as they are read."""
        count = fetch.count
        if count is None:
            return self._forward(None) if fetch.direction == "forward" else self._backward(None)
        if fetch.direction == "absolute":
            return self._absolute(count)
        if fetch.direction == "relative" or count == 0:
            return self._relative(count)
        return self._forward(count) if fetch.direction == "forward" else self._backward(count)

    def keep(self) -> None:
        """Read all rows that are left: the transaction whose snapshot they come from ends."""
        self.rows.read_all()
        self.is_held = True

    def close(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)

    # -- directions --------------------------------------------------------------------------------------------

    def _forward(self, count: int | None) -> Iterator[pa.Table]:
        left = count
        while left is None or left > 0:
            found = self.rows.starting_at(self.position, left)
            if found is None:
                self.position = self.rows.read_all() + 1
                return
            self.position += found.num_rows
            left = None if left is None else left - found.num_rows
            if not self.statement.scroll:
                self.rows.forget_before(self.position)
            yield found

    def _backward(self, count: int | None) -> Iterator[pa.Table]:
        self._check_scroll()
        left = self.position - 1 if count is None else count
        while left > 0 and self.position > 1:
            found = self.rows.ending_before(self.position - 1, left)
            self.position -= found.num_rows
            left -= found.num_rows
            yield found
        if left > 0 or count is None:
            self.position = 0

    def _absolute(self, number: int) -> Iterator[pa.Table]:
        """The row of a number, counted from the end if it is negative."""
        if number > self.position:
            return self._only_last(number - self.position)
        self._check_scroll()
        return self._again(number if number >= 0 else max(self.rows.read_all() + number + 1, 0))

    def _relative(self, steps: int) -> Iterator[pa.Table]:
        if steps > 0:
            return self._only_last(steps)
        if steps == 0 and not self._is_on_row:
            return iter(())
        self._check_scroll()
        return self._again(max(self.position + steps, 0))

    def _again(self, number: int) -> Iterator[pa.Table]:
        """A row that was read before; 0 is the place before the first."""
        self.position = max(number - 1, 0)
        return self._forward(1 if number else 0)

    def _only_last(self, steps: int) -> Iterator[pa.Table]:
        """The last of so many rows ahead, if there are so many."""
        for _ in self._forward(steps - 1):
            pass
        return self._forward(1)

    @property
    def _is_on_row(self) -> bool:
        return self.position > 0 and (self.rows.count is None or self.position <= self.rows.count)

    def _check_scroll(self) -> None:
        if not self.statement.scroll:
            message, hint = "cursor can only scan forward", "Declare it with SCROLL option to enable backward scan."
            raise MillpondError(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, message, hint=hint)


AnyCursor = Cursor | LiveCursor


class Portal(Protocol):
    """A query of the extended protocol, which has a name like a cursor and can be moved like one."""

    def skip(self, count: int | None) -> int:
        """Go forward over so many rows, or all; gives back how many there were."""


class Cursors:
    """The cursors of a session by name; portals of its client share their names."""

    def __init__(self) -> None:
        self._cursors: dict[str, AnyCursor] = {}
        self.portals: Mapping[str, Portal | None] = {}

    def __iter__(self) -> Iterator[AnyCursor]:
        return iter(list(self._cursors.values()))

    def __contains__(self, name: str) -> bool:
        return name in self._cursors

    def names(self) -> set[str]:
        return set(self._cursors)

    def check_free(self, name: str) -> None:
        if name in self._cursors or name in self.portals:
            raise MillpondError(SqlState.DUPLICATE_CURSOR, f'cursor "{name}" already exists')

    def add(self, cursor: AnyCursor) -> None:
        self._cursors[cursor.statement.name] = cursor

    def get(self, name: str) -> AnyCursor:
        if name not in self._cursors:
            raise MillpondError(SqlState.INVALID_CURSOR_NAME, f'cursor "{name}" does not exist')
        return self._cursors[name]

    def is_binary(self, name: str) -> bool:
        return self.get(name).statement.binary

    def close(self, name: str) -> None:
        self.get(name).close()
        del self._cursors[name]

    def close_all(self) -> None:
        for name in self.names():
            self.close(name)

    # -- transactions ------------------------------------------------------------------------------------------

    def return_to(self, names: set[str]) -> None:
        """Close those that were declared since there were only these."""
        for name in self.names() - names:
            self.close(name)

    def end_transaction(self, *, commit: bool) -> None:
        """Close those that end with their transaction; a commit leaves those WITH HOLD."""
        for cursor in self:
            if not cursor.is_held and not (commit and cursor.statement.hold):
                self.close(cursor.statement.name)

    def keep_held(self) -> None:
        """Before a commit: those WITH HOLD read what they need of the transaction."""
        for cursor in self:
            if cursor.statement.hold and not cursor.is_held:
                cursor.keep()
