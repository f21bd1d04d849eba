"""Cursors: every walk over every cut of the rows gives what a list and an index would."""

from __future__ import annotations

import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from millpond.cursors import Cursor, Cursors
from millpond.errors import MillpondError
from millpond.result import Result, ResultColumn
from millpond.row_buffer import RowBuffer
from millpond.sql.session_records import DeclareCursor, Direction, Fetch
from millpond.types import INTEGER

FETCHES = st.builds(
    Fetch,
    st.just("c"),
    st.sampled_from(get_args(Direction)),
    st.integers(-7, 7),
) | st.builds(Fetch, st.just("c"), st.sampled_from(["forward", "backward"]), st.none())


class Model:
    """A cursor over a list, as PostgreSQL's documentation describes one."""

    def __init__(self, rows: list[int]) -> None:
        self.rows, self.position = rows, 0

    def fetch(self, fetch: Fetch) -> list[int]:
        end, count = len(self.rows) + 1, fetch.count
        if fetch.direction in ("absolute", "relative") or count == 0:
            assert count is not None
            target = self.position + count
            if fetch.direction == "absolute":
                target = count if count >= 0 else end + count
            self.position = min(max(target, 0), end)
            return self.rows[self.position - 1 : self.position] if 0 < self.position < end else []
        step = 1 if fetch.direction == "forward" else -1
        found: list[int] = []
        while count is None or len(found) < count:
            self.position = min(max(self.position + step, 0), end)
            if self.position in (0, end):
                break
            found.append(self.rows[self.position - 1])
        return found


def cursor_over(pieces: list[list[int]], directory: Path, *, scroll: bool = True, memory_bytes_max: int = 16) -> Cursor:
    tables = iter([pa.table({"c0": pa.array(piece, pa.int32())}) for piece in pieces])
    statement = DeclareCursor("c", exp.select("1"), scroll=scroll)
    result = Result("SELECT", (ResultColumn("c0", INTEGER),))
    rows = RowBuffer(tables, directory / "kept", memory_bytes_max)
    return Cursor(statement, result, rows, directory, datetime.datetime.now(datetime.UTC))


def fetched(cursor: Cursor, fetch: Fetch) -> list[int]:
    values: list[int] = []
    for piece in cursor.fetch(fetch):
        values += piece.column(0).to_numpy().tolist()
    return values


@settings(deadline=None)  # files are written and mapped
@given(sizes=st.lists(st.integers(0, 5), max_size=5), walk=st.lists(FETCHES, max_size=12))
def test_a_walk_over_a_scroll_cursor(sizes: list[int], walk: list[Fetch]) -> None:
    numbers = iter(range(1, 100))
    pieces = [[next(numbers) for _ in range(size)] for size in sizes]
    model = Model([number for piece in pieces for number in piece])
    with TemporaryDirectory() as directory:
        cursor = cursor_over(pieces, Path(directory))
        for fetch in walk:
            if fetch.count is not None and fetch.count < 0 and fetch.direction in ("forward", "backward"):
                continue  # the parser turns these around
            assert fetched(cursor, fetch) == model.fetch(fetch), fetch
            assert cursor.position == model.position


def test_a_cursor_that_goes_only_forward_lets_go_of_its_rows(tmp_path: Path) -> None:
    cursor = cursor_over([[1, 2], [3, 4], [5]], tmp_path, scroll=False, memory_bytes_max=16)
    assert fetched(cursor, Fetch("c", "forward", 3)) == [1, 2, 3]
    assert len(cursor.rows._kept) == 1
    assert fetched(cursor, Fetch("c", "forward", None)) == [4, 5]
    assert not (tmp_path / "kept").exists()
    with pytest.raises(MillpondError, match="cursor can only scan forward"):
        cursor.fetch(Fetch("c", "absolute", 1))


def test_what_memory_does_not_hold_lies_in_files(tmp_path: Path) -> None:
    cursor = cursor_over([[number] * 10 for number in range(5)], tmp_path, memory_bytes_max=100)
    cursor.keep()
    assert len(list((tmp_path / "kept").iterdir())) == 3
    assert fetched(cursor, Fetch("c", "absolute", -1)) == [4]
    cursor.close()
    assert not tmp_path.exists()


def test_names_are_shared_with_portals() -> None:
    cursors = Cursors()
    cursors.portals = {"taken": None}
    with pytest.raises(MillpondError, match='cursor "taken" already exists'):
        cursors.check_free("taken")
