"""The format of segment files, which Spark reads: encodings, types, and the stamp of arrivals."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from millpond.errors import InternalError
from millpond.stream import segment_file
from tests.unit.stream.support import SCHEMA, numbered

ARRIVAL_US = 1_700_000_000_123_456


def test_plain_uncompressed_and_one_row_group(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    rows = numbered(0, 1000).combine_chunks().to_batches()[0]
    stored = segment_file.stored_schema(SCHEMA)
    segment_file.write(path, pa.Table.from_batches([segment_file.with_arrival(rows, ARRIVAL_US, stored)]))
    metadata = pq.read_metadata(path)
    assert metadata.num_row_groups == 1
    columns = [metadata.row_group(0).column(index) for index in range(3)]
    assert [column.path_in_schema for column in columns] == ["n", "text", "arrival_timestamp"]
    assert {column.compression for column in columns} == {"UNCOMPRESSED"}
    assert [column.has_dictionary_page for column in columns] == [False, False, True]
    assert segment_file.last_arrival_us(path) == ARRIVAL_US


def test_types_are_those_that_spark_reads(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    table = pa.table(
        {
            "price": pa.array([1]).cast(pa.decimal128(19, 0)).cast(pa.decimal128(10, 0)),
            "local": pa.array([1], pa.timestamp("us")),
            "utc": pa.array([1], pa.timestamp("us", tz="UTC")),
        }
    )
    segment_file.write(path, segment_file.with_placeholder(table))
    schema = pq.read_metadata(path).schema
    assert [schema.column(index).physical_type for index in range(4)] == ["INT64"] * 4
    columns = [pq.read_metadata(path).row_group(0).column(index) for index in range(4)]
    assert [column.is_stats_set for column in columns] == [True, True, True, False]
    local, utc, arrival = (str(schema.column(index).logical_type) for index in (1, 2, 3))
    assert "isAdjustedToUTC=false, timeUnit=microseconds" in local
    assert "isAdjustedToUTC=true, timeUnit=microseconds" in utc
    assert "isAdjustedToUTC=true, timeUnit=microseconds" in arrival


@pytest.mark.parametrize("rows", [1, 2, 1000, 100_000])
def test_a_stamp_is_the_arrival_of_every_row(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "f.parquet"
    segment_file.write(path, segment_file.with_placeholder(numbered(0, rows)))
    segment_file.stamp(path, ARRIVAL_US)
    table = segment_file.read(path)
    assert table.select(SCHEMA.names).equals(numbered(0, rows))
    assert set(table["arrival_timestamp"].cast(pa.int64()).to_pylist()) == {ARRIVAL_US}
    assert table.schema.field("arrival_timestamp").equals(segment_file.ARRIVAL_FIELD)


def test_a_file_is_stamped_once(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    segment_file.write(path, segment_file.with_placeholder(numbered(0, 3)))
    segment_file.stamp(path, ARRIVAL_US)
    with pytest.raises(InternalError, match="has no place for an arrival"):
        segment_file.stamp(path, ARRIVAL_US)
