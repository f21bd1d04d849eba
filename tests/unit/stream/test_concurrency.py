"""Random writers and readers at the same time on a small ring: no gap, no duplicate, no torn append, no lost file."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millpond.errors import MillpondError, SqlState
from millpond.stream import Chunk, StreamOptions, StreamRelation
from millpond.stream.options import Durability
from tests.unit.stream.support import small_options

SCHEMA = pa.schema([("writer", pa.int32()), ("number", pa.int32()), ("index", pa.int32()), ("size", pa.int32())])


def append_rows(writer: int, number: int, size: int) -> pa.Table:
    """One append: each row knows which it is of how many."""
    columns = [[writer] * size, [number] * size, list(range(size)), [size] * size]
    return pa.table([pa.array(column, pa.int32()) for column in columns], schema=SCHEMA)


@dataclass(frozen=True)
class Row:
    writer: int
    number: int
    index: int
    size: int


def rows_of(chunk: Chunk) -> list[Row]:
    table = chunk.read()
    assert table["tid"].to_pylist() == list(range(chunk.first, chunk.end))
    arrivals: list[datetime] = table.to_pydict()["arrival_timestamp"]
    assert arrivals == sorted(arrivals), "arrivals decrease"
    return [Row(**row) for row in table.select(SCHEMA.names).to_pylist()]


def check_whole(rows: list[Row]) -> None:
    """Appends come one after the other and whole; only the first may have lost rows, to the ring's overwriting."""
    seen: dict[int, int] = {}
    groups = [list(group) for _, group in groupby(rows, key=lambda row: (row.writer, row.number))]
    for position, group in enumerate(groups):
        first = group[0]
        assert [row.index for row in group] == list(range(first.index, first.size)), "a torn append"
        assert first.index == 0 or position == 0, "the middle of an append"
        assert first.number == seen.get(first.writer, first.number - 1) + 1, "an append is missing or there twice"
        seen[first.writer] = first.number


def write_all(stream: StreamRelation, writer: int, sizes: list[int]) -> None:
    for number, size in enumerate(sizes):
        rows = append_rows(writer, number, size)
        if number % 3 == 2:
            with stream.stage() as staged:
                for start in range(0, size, 6):
                    staged.write(rows.slice(start, 6))
                tids = staged.publish()
        else:
            tids = stream.append(rows)
        assert tids.rows == size
        assert stream.stats().end_tid >= tids.end, "an acknowledged append is not visible"


def read_on(stream: StreamRelation, writing: threading.Event) -> None:
    """Read everything again and again, keeping a chunk while others come and go."""
    kept = stream.hold()
    while writing.is_set():
        with stream.hold() as chunk:
            check_whole(rows_of(chunk))
        assert len(rows_of(kept)) == kept.rows
        kept.release()
        kept = stream.hold()
    kept.release()


def follow(stream: StreamRelation, writing: threading.Event) -> None:
    """Read what is new, as a view does; who falls behind starts again with what there is."""
    rows: list[Row] = []
    next_tid: int | None = 0
    while writing.is_set():
        try:
            with stream.hold(first=next_tid) as chunk:
                found = rows_of(chunk)
                rows = rows + found if next_tid is not None else found
                next_tid = chunk.end
        except MillpondError as error:
            if error.sqlstate != SqlState.STREAM_OVERRUN:
                raise
            next_tid = None
        check_whole(rows)


def start(targets: list[Callable[[], None]]) -> list[threading.Thread]:
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    return threads


class Failures:
    """Collects what goes wrong in threads."""

    def __init__(self) -> None:
        self.errors: list[BaseException] = []

    def guard(self, function: Callable[..., None], *arguments: object) -> Callable[[], None]:
        def run() -> None:
            try:
                function(*arguments)
            except BaseException as error:
                self.errors.append(error)

        return run


@given(
    sizes=st.lists(st.lists(st.integers(1, 60), min_size=1, max_size=12), min_size=1, max_size=4),
    capacity_rows=st.sampled_from([40, 200, 10_000]),
    durability=st.sampled_from(["log", "memory"]),
)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_readers_always_see_whole_appends(sizes: list[list[int]], capacity_rows: int, durability: Durability) -> None:
    with tempfile.TemporaryDirectory() as folder:
        options = small_options(capacity_rows=capacity_rows, durability=durability)
        stream = open_in(folder, options)
        run_together(stream, sizes)
        rows = check_end(stream, sum(map(sum, sizes)), capacity_rows)
        stream.close()
        if durability == "log":
            stream = open_in(folder, options)
            assert check_end(stream, sum(map(sum, sizes)), capacity_rows) == rows
            stream.drop()


def open_in(folder: str, options: StreamOptions) -> StreamRelation:
    return StreamRelation.open("s", Path(folder) / "lasting", Path(folder) / "scratch", SCHEMA, options)


def run_together(stream: StreamRelation, sizes: list[list[int]]) -> None:
    """Run a writer for each list of sizes, and readers as long as they write."""
    writing, failures = threading.Event(), Failures()
    writing.set()
    readers = start([failures.guard(reader, stream, writing) for reader in (read_on, follow)])
    writers = start([failures.guard(write_all, stream, writer, script) for writer, script in enumerate(sizes)])
    for thread in writers:
        thread.join()
    writing.clear()
    for thread in readers:
        thread.join()
    assert failures.errors == []


def check_end(stream: StreamRelation, total_rows: int, capacity_rows: int) -> list[Row]:
    stats = stream.stats()
    assert stats.end_tid == total_rows
    assert stats.rows_held >= min(total_rows, capacity_rows)
    with stream.hold() as chunk:
        rows = rows_of(chunk)
    check_whole(rows)
    return rows
