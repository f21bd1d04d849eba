"""TPC-H with `lineitem` as the stream: views that were there first hold what DuckDB answers on the whole data.

MILLPOND_TPCH_SCALE sets the scale factor (0.1), MILLPOND_TPCH_SEED the cuts of the stream.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import duckdb
import pytest

import millpond
from millpond import MillpondError, Pond
from millpond.bench.tpch import create_tables, create_views, random_chunks
from millpond.bench.tpch_answers import difference, unpadded
from millpond.bench.tpch_data import STREAM, TABLES, generate, rows_of
from millpond.bench.tpch_queries import ON_REVENUE, QUERIES, REVENUE, VIEWS, original

SCALE = float(os.environ.get("MILLPOND_TPCH_SCALE", "0.1"))
SEED = int(os.environ.get("MILLPOND_TPCH_SEED", "1"))
pytestmark = pytest.mark.timeout(600)
CHUNKS = 3

SUBQUERY_BELOW = (
    'a subquery over the stream "lineitem" below the grouping of the stream "lineitem"'
    " is not supported in a continuous view"
)
REFUSED = {
    17: SUBQUERY_BELOW,
    18: SUBQUERY_BELOW,
    21: SUBQUERY_BELOW,
}
"""Queries that a continuous view cannot hold as they are written, and what is said about them."""

ALL_VIEWS = {**VIEWS, "revenue": REVENUE, "q15_on_revenue": ON_REVENUE}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tpch")
    generate(directory, SCALE)
    return directory


@pytest.fixture(scope="module")
def peer(data: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """DuckDB with the same data."""
    with duckdb.connect() as connection:
        for name, columns in TABLES.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
            connection.execute(f"INSERT INTO {name} FROM '{data / name}.parquet'")
        yield connection


@pytest.fixture(scope="module")
def loaded(shared_spark: None, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pond]:
    """Tables first, then the views, then the stream in chunks of random size, each seen by one of the views."""
    random = Random(SEED)
    with millpond.connect(tmp_path_factory.mktemp("pond"), master="local[2]") as pond:
        create_tables(pond, data)
        create_views(pond, ALL_VIEWS)
        for rows in random_chunks(rows_of(data, STREAM), CHUNKS, random):
            pond.insert(STREAM, rows)
            pond.execute(f"SELECT * FROM {random.choice(list(ALL_VIEWS))}")
        yield pond


@pytest.mark.parametrize("name", [name for name in ALL_VIEWS if name != "revenue"])
def test_view_holds_what_duckdb_answers(loaded: Pond, peer: duckdb.DuckDBPyConnection, name: str) -> None:
    expected = peer.execute(original(name)).fetchall()
    assert difference(expected, unpadded(loaded.execute(f"SELECT * FROM {name}"))) is None


@pytest.mark.parametrize("number", REFUSED)
def test_what_cannot_be_kept_is_refused_with_the_reason(loaded: Pond, number: int) -> None:
    with pytest.raises(MillpondError) as caught:
        loaded.execute(f"CREATE VIEW refused AS {QUERIES[number]}")
    assert (caught.value.sqlstate, caught.value.message) == ("0A000", REFUSED[number])
    assert caught.value.hint is not None
    assert caught.value.position is not None
