"""Numerics in units answer like decimals: the same query over a stream that flows, and over what the stream holds."""

from __future__ import annotations

import time
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millpond import Pond
from millpond.run import units

QUERY = """
    SELECT k, sum(price), avg(price), min(price), max(fee), count(fee), sum(price * (1 - fee)), sum(-price + fee * 2.5),
        sum(price * fee * price) FILTER (WHERE price >= 0.5), sum(CASE WHEN fee < 0 THEN price ELSE fee END),
        count(*) FILTER (WHERE price BETWEEN -1 AND 10.125 OR fee IN (0.5, 1)), sum(price * n), sum(cost * price)
    FROM {} JOIN costs USING (k) WHERE fee IS NULL OR fee <> 3 GROUP BY k ORDER BY k
"""

Row = tuple[int, Decimal | None, Decimal | None, int]


def decimals(digits: int, scale: int) -> st.SearchStrategy[Decimal | None]:
    """Few and short ones as often as the longest."""
    most = 10**digits - 1
    numbers = st.one_of(st.integers(-200, 200), st.integers(-most, most), st.sampled_from([most, -most]))
    return st.one_of(st.none(), numbers.map(lambda number: Decimal(number).scaleb(-scale)))


ROWS: st.SearchStrategy[list[Row]] = st.one_of(
    st.lists(st.tuples(st.integers(0, 2), decimals(4, 2), decimals(3, 1), st.integers(-9, 9)), min_size=1, max_size=20),
    st.lists(
        st.tuples(st.integers(0, 2), decimals(15, 2), decimals(5, 1), st.integers(-9, 9)), min_size=1, max_size=20
    ),
)


@pytest.fixture
def prices(pond: Pond, monkeypatch: pytest.MonkeyPatch) -> Pond:
    monkeypatch.setattr(units, "ROWS_MIN", 1)
    pond.execute("CREATE TABLE costs (k int, cost numeric(9,3))")
    pond.execute("INSERT INTO costs VALUES (0, 1.125), (1, -20.5), (2, NULL), (1, 100000)")
    return pond


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS)
def test_answer_is_that_of_decimals(prices: Pond, rows: list[Row]) -> None:
    name = f"prices_{time.monotonic_ns()}"
    columns = "k int, price numeric(15,2), fee numeric(5,1), n int"
    prices.execute(f"CREATE FOREIGN TABLE {name} ({columns}) SERVER stream OPTIONS (durability 'memory')")
    types = [pa.int32(), pa.decimal128(15, 2), pa.decimal128(5, 1), pa.int32()]
    arrays = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), types, strict=True)]
    prices.insert(name, pa.table(arrays, names=["k", "price", "fee", "n"]))
    session = prices.new_session()
    session.execute(f"SET stream_limit = '{len(rows)} rows'")
    flowed = session.execute(QUERY.format(name))
    session.execute("SET stream_scan = 'snapshot'")
    assert flowed.fetchall() == session.execute(QUERY.format(name)).fetchall()
    prices.end_session(session)
    prices.execute(f"DROP FOREIGN TABLE {name}")
