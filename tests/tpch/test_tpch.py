"""TPC-H with `lineitem` as the stream: views that were there first hold what DuckDB answers on the whole data.

MILLPOND_TPCH_SCALE sets the scale factor (0.01), MILLPOND_TPCH_SEED the cuts of the stream.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

import millpond
from millpond import MillpondError, Pond
from millpond.result import Result
from tests.tpch.data import STREAM, TABLES, generate
from tests.tpch.queries import GROUPED_FIRST, ON_REVENUE, QUERIES, REVENUE

SCALE = os.environ.get("MILLPOND_TPCH_SCALE", "0.01")
SEED = int(os.environ.get("MILLPOND_TPCH_SEED", "1"))
pytestmark = pytest.mark.timeout(600)
CHUNKS = 3

SUBQUERY_BELOW = (
    'a subquery over the stream "lineitem" below the grouping of the stream "lineitem"'
    " is not supported in a continuous view"
)
REFUSED = {
    4: 'a continuous view must group the stream "lineitem"',
    17: SUBQUERY_BELOW,
    18: SUBQUERY_BELOW,
    21: SUBQUERY_BELOW,
}
"""Queries that a continuous view cannot hold as they are written, and what is said about them."""

VIEWS = {f"q{number}": sql for number, sql in QUERIES.items() if number not in REFUSED}
VIEWS |= {f"q{number}_grouped_first": sql for number, sql in GROUPED_FIRST.items()}
VIEWS |= {"revenue": REVENUE, "q15_on_revenue": ON_REVENUE}


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
        for name, columns in TABLES.items():
            pond.execute(f"CREATE {'STREAM' if name == STREAM else 'TABLE'} {name} ({columns})")
            if name != STREAM:
                pond.insert(name, pq.read_table(data / f"{name}.parquet"))
        for name, sql in VIEWS.items():
            pond.execute(f"CREATE VIEW {name} AS {sql}")
        rows = pq.read_table(data / f"{STREAM}.parquet")
        cuts = sorted(random.randrange(len(rows) + 1) for _ in range(CHUNKS - 1))
        for first, end in zip([0, *cuts], [*cuts, len(rows)], strict=True):
            pond.insert(STREAM, rows.slice(first, end - first))
            pond.execute(f"SELECT * FROM {random.choice(list(VIEWS))}")
        yield pond


@pytest.mark.parametrize("name", [name for name in VIEWS if name != "revenue"])
def test_view_holds_what_duckdb_answers(loaded: Pond, peer: duckdb.DuckDBPyConnection, name: str) -> None:
    number = int(name.partition("_")[0][1:])
    expected = peer.execute(QUERIES[number]).fetchall()
    assert_same(expected, unpadded(loaded.execute(f"SELECT * FROM {name}")))


@pytest.mark.parametrize("number", REFUSED)
def test_what_cannot_be_kept_is_refused_with_the_reason(loaded: Pond, number: int) -> None:
    with pytest.raises(MillpondError) as caught:
        loaded.execute(f"CREATE VIEW refused AS {QUERIES[number]}")
    assert (caught.value.sqlstate, caught.value.message) == ("0A000", REFUSED[number])
    assert caught.value.hint is not None
    assert caught.value.position is not None


def unpadded(result: Result) -> list[tuple[Any, ...]]:
    """The rows, char(n) without its blanks: DuckDB takes it for text."""
    padded = [column.type.name == "char" for column in result.columns]
    return [
        tuple(value.rstrip() if char and value else value for value, char in zip(row, padded, strict=True))
        for row in result.fetchall()
    ]


def assert_same(expected: Sequence[tuple[Any, ...]], given: Sequence[tuple[Any, ...]]) -> None:
    """The same rows in any order; exact where both are exact, to 12 digits where DuckDB computes with doubles."""
    assert len(given) == len(expected)
    for left, right in zip(_sorted(expected), _sorted(given), strict=True):
        assert len(left) == len(right)
        assert all(_same(*pair) for pair in zip(left, right, strict=True)), f"expected {left}, got {right}"


def _sorted(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Text decides first, then numbers in few digits: what is inexact may differ in the last ones."""

    def key(row: tuple[Any, ...]) -> list[tuple[bool, str]]:
        return [(value is None, f"{value:.6g}" if isinstance(value, float | Decimal) else str(value)) for value in row]

    return sorted(rows, key=key)


def _same(expected: Any, given: Any) -> bool:
    if isinstance(expected, float) and isinstance(given, float | Decimal):
        return math.isclose(expected, float(given), rel_tol=1e-12)
    return bool(expected == given)
