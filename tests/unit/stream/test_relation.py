"""The stream relation as its callers see it: appends, tids, arrivals, holding, overwriting, closing."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from millpond.errors import InternalError, MillpondError, SqlState
from millpond.stream import StreamOptions, StreamRelation, Tid, TidRange
from millpond.stream.options import Durability
from tests.unit.stream.support import (
    SCHEMA,
    ManualClock,
    checked_numbers,
    numbered,
    numbers,
    open_stream,
    small_options,
)

BOTH: list[Durability] = ["log", "memory"]


@pytest.fixture(params=BOTH)
def options(request: pytest.FixtureRequest) -> StreamOptions:
    return small_options(durability=request.param)


def test_appends_get_dense_tids_and_are_visible_at_once(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, options)
    expected: list[int] = []
    for size in (1, 3, 100, 1, 8, 7, 33, 2):
        tids = stream.append(numbered(len(expected), size))
        assert tids == TidRange(Tid(len(expected)), Tid(len(expected) + size))
        expected += range(len(expected), len(expected) + size)
        assert numbers(stream) == expected


def test_record_batches_and_empty_appends(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, options)
    assert stream.append(numbered(0, 0)).rows == 0
    assert stream.append(numbered(0, 5).combine_chunks().to_batches()[0]).rows == 5
    assert stream.append(numbered(5, 20).combine_chunks().to_batches()[0]).rows == 20
    assert stream.append(numbered(0, 0)) == TidRange(Tid(25), Tid(25))
    assert numbers(stream) == list(range(25))


def test_a_slice_keeps_only_its_own_rows(tmp_path: Path) -> None:
    stream = open_stream(tmp_path, small_options(durability="memory"))
    large = pa.table({"n": pa.array(range(100_000), pa.int64()), "text": ["x" * 100] * 100_000}, schema=SCHEMA)
    before = pa.total_allocated_bytes()
    stream.append(large.slice(50_000, 2))
    del large
    assert pa.total_allocated_bytes() < before


def test_wrong_schema_changes_nothing(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, options)
    with pytest.raises(InternalError, match='rows for stream "s" do not have its schema'):
        stream.append(pa.table({"n": [1]}))
    assert stream.stats().end_tid == 0


def test_whether_a_column_may_be_null_does_not_matter(tmp_path: Path, options: StreamOptions) -> None:
    strict = pa.schema([field.with_nullable(False) for field in SCHEMA])
    stream = open_stream(tmp_path, options)
    for first, size in ((0, 2), (2, 20)):
        stream.append(numbered(first, size).cast(strict))
        stream.append(numbered(first, size))
    with stream.hold() as chunk:
        assert chunk.read(SCHEMA.names).schema.equals(SCHEMA)


def test_interval_columns_are_refused(tmp_path: Path) -> None:
    schema = pa.schema([("length", pa.month_day_nano_interval())])
    with pytest.raises(MillpondError, match='column "length" of type interval in a stream is not supported'):
        StreamRelation.open("s", tmp_path / "a", tmp_path / "b", schema, StreamOptions())
    assert not list(tmp_path.iterdir())


def test_arrivals_never_decrease_even_if_the_clock_does(tmp_path: Path, options: StreamOptions) -> None:
    clock = ManualClock(1000)
    stream = open_stream(tmp_path, options, clock=clock)
    for now_us, size in ((1000, 1), (2000, 50), (500, 1), (500, 50), (3000, 2)):
        clock.now_us = now_us
        stream.append(numbered(0, size))
    with stream.hold() as chunk:
        arrivals = chunk.read(["arrival_timestamp"])["arrival_timestamp"].cast(pa.int64()).to_pylist()
    assert arrivals == [1000] + [2000] * 101 + [3000] * 2


def test_arrivals_do_not_decrease_across_a_restart(tmp_path: Path) -> None:
    clock = ManualClock(5000)
    stream = open_stream(tmp_path, clock=clock)
    stream.append(numbered(0, 1))
    stream.close()
    clock.now_us = 4000
    stream = open_stream(tmp_path, clock=clock)
    stream.append(numbered(1, 1))
    with stream.hold() as chunk:
        assert chunk.read(["arrival_timestamp"])["arrival_timestamp"].cast(pa.int64()).to_pylist() == [5000, 5000]


def test_all_types_survive(tmp_path: Path, options: StreamOptions) -> None:
    row = pa.table(
        {
            "small": pa.array([1, None], pa.int16()),
            "price": pa.array([None, 12], pa.int64()).cast(pa.decimal128(19, 0)).cast(pa.decimal128(38, 2)),
            "short": pa.array([1, 2], pa.int32()).cast(pa.decimal128(10, 0)),
            "real": pa.array([1.5, None], pa.float32()),
            "flag": pa.array([True, None]),
            "bytes": pa.array([b"\x00", None]),
            "day": pa.array([1, None], pa.date32()),
            "local": pa.array([1, None], pa.timestamp("us")),
            "utc": pa.array([1, None], pa.timestamp("us", tz="UTC")),
        }
    )
    stream = StreamRelation.open("s", tmp_path / "a", tmp_path / "b", row.schema, options)
    stream.append(row)
    stream.append(pa.concat_tables([row] * 10))
    with stream.hold() as chunk:
        assert chunk.read(row.schema.names).equals(pa.concat_tables([row] * 11))


# -- holding -------------------------------------------------------------------------------------------------


def test_hold_gives_exactly_the_range(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, options)
    for first, size in ((0, 3), (3, 50), (53, 4), (57, 1)):
        stream.append(numbered(first, size))
    for first in range(0, 59, 3):
        for end in range(first, 59, 5):
            with stream.hold(first, end) as chunk:
                assert (chunk.first, chunk.end, chunk.rows) == (first, end, end - first)
                assert checked_numbers(chunk) == list(range(first, end))
                assert sum(file.take for file in chunk.files) == chunk.rows
                assert all(int(file.path.name[:20]) == file.first_tid for file in chunk.files)
                assert chunk.is_cut == (sum(file.rows for file in chunk.files) != chunk.rows)


def test_a_chunk_does_not_see_later_rows(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, options)
    stream.append(numbered(0, 3))
    with stream.hold() as chunk:
        stream.append(numbered(3, 3))
        stream.append(numbered(6, 30))
        assert checked_numbers(chunk) == [0, 1, 2]


def test_chosen_columns_come_in_the_order_asked_for(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, options)
    stream.append(numbered(7, 2))
    with stream.hold() as chunk:
        assert chunk.read(["tid", "n"]).to_pylist() == [{"tid": 0, "n": 7}, {"tid": 1, "n": 8}]
        assert chunk.read().column_names == ["n", "text", "tid", "arrival_timestamp"]
    with stream.hold(1, 1) as empty:
        assert empty.read().num_rows == 0
        assert empty.files == ()


def test_a_reader_behind_the_ring_is_told_what_is_missing(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, replace(options, capacity_rows=64))
    for first in range(0, 200, 10):
        stream.append(numbered(first, 10))
    held = stream.stats()
    with pytest.raises(MillpondError) as caught:
        stream.hold(first=3)
    assert caught.value.sqlstate == SqlState.STREAM_OVERRUN
    assert caught.value.message == f'tuples 3 to {held.first_tid - 1} of stream "s" have been overwritten'
    assert caught.value.detail == f"The stream holds tuples {held.first_tid} to 199."
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("Give the stream a larger capacity")


def test_tuples_that_do_not_exist_yet_cannot_be_held(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, options)
    stream.append(numbered(0, 3))
    with pytest.raises(MillpondError, match='stream "s" has no tuples 1 to 4'):
        stream.hold(1, 5)


# -- overwriting ---------------------------------------------------------------------------------------------


def test_the_ring_keeps_its_capacity_and_at_most_a_segment_more(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, replace(options, capacity_rows=100))
    segment_rows_max = options.limits.rows_max
    for first in range(0, 400, 4):
        stream.append(numbered(first, 4))
        held = stream.stats()
        assert min(100, first + 4) <= held.rows_held <= 100 + segment_rows_max
        assert numbers(stream) == list(range(held.first_tid, first + 4))


def test_the_ring_keeps_its_bytes(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, replace(options, capacity_rows=10**9, capacity_bytes=20_000))
    for first in range(0, 1000, 10):
        stream.append(numbered(first, 10))
        assert stream.stats().bytes_held <= 20_000
    assert stream.stats().rows_held > 10
    files = [path for path in tmp_path.rglob("*.parquet") if path.parent.name == "segments"]
    assert sum(path.stat().st_size for path in files) <= 20_000


def test_a_held_chunk_outlives_its_overwriting(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, replace(options, capacity_rows=64))
    for first in range(0, 60, 4):
        stream.append(numbered(first, 4))
    chunk, twin = stream.hold(), stream.hold()
    for first in range(60, 600, 4):
        stream.append(numbered(first, 4))
    chunk.release()
    chunk.release()
    assert checked_numbers(twin) == list(range(60))
    twin.release()
    assert not any(file.path.exists() for file in twin.files)
    with pytest.raises(InternalError, match="read after its release"):
        twin.read()


def test_a_forgotten_chunk_is_released(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, replace(options, capacity_rows=16))
    stream.append(numbered(0, 16))
    chunk = stream.hold()
    paths = [file.path for file in chunk.files]
    stream.append(numbered(16, 60))
    assert all(path.exists() for path in paths)
    del chunk
    gc.collect()
    stream.append(numbered(76, 1))
    assert not any(path.exists() for path in paths)


# -- statistics and the end ----------------------------------------------------------------------------------


def test_stats(tmp_path: Path, options: StreamOptions) -> None:
    clock = ManualClock(10_000_000)
    stream = open_stream(tmp_path, replace(options, capacity_rows=50), clock=clock)
    for _ in range(5):
        stream.append(numbered(0, 20))
        clock.now_us += 1_000_000
    stats = stream.stats()
    assert (stats.rows_in, stats.end_tid, stats.rate) == (100, 100, 20.0)
    assert stats.rows_held == stats.end_tid - stats.first_tid >= 50
    assert stats.bytes_held > 0
    assert (stats.durability, stats.capacity_rows) == (options.durability, 50)


def test_a_closed_stream_says_so(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, options)
    staged = stream.stage()
    staged.write(numbered(0, 20))
    stream.close()
    stream.close()
    for call in (lambda: stream.append(numbered(0, 1)), stream.hold, stream.stage, stream.stats, staged.publish):
        with pytest.raises(MillpondError, match='stream "s" is closed'):
            call()


def test_a_log_stream_survives_closing_and_a_memory_stream_does_not(tmp_path: Path, options: StreamOptions) -> None:
    for round_ in range(3):
        stream = open_stream(tmp_path, options)
        kept = round_ * 23 if options.durability == "log" else 0
        assert numbers(stream) == list(range(kept))
        stream.append(numbered(kept, 20))
        stream.append(numbered(kept + 20, 3))
        stream.close()
    assert not list(tmp_path.rglob("*.log"))


def test_drop_leaves_nothing_once_readers_are_done(tmp_path: Path, options: StreamOptions) -> None:
    stream = open_stream(tmp_path, options)
    stream.append(numbered(0, 20))
    stream.append(numbered(20, 3))
    chunk = stream.hold()
    stream.drop()
    assert checked_numbers(chunk) == list(range(23))
    chunk.release()
    assert not list(tmp_path.iterdir())


def test_many_small_appends_make_few_segments(tmp_path: Path, options: StreamOptions) -> None:
    options = replace(options, capacity_rows=100_000, segment_rows_max=256)
    stream = open_stream(tmp_path, options)
    for first in range(0, 2000, 5):
        stream.append(numbered(first, 5))
    assert stream.stats().segments <= 2000 // 256 * 2 + 12
    stream.compact()
    assert numbers(stream) == list(range(2000))
