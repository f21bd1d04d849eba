"""The binary forms of values: what PostgreSQL sends and takes, and round trips of every type."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond import types
from millpond.errors import MillpondError
from millpond.types import SqlType
from millpond.values.arrays import arrow_array
from millpond.values.binary_input import from_binary
from millpond.values.binary_output import to_binary
from millpond.values.text_input import from_text

MOMENTS = st.datetimes(datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31))
INTERVALS = st.builds(
    lambda months, days, us: (months, days, us * 1000),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**53), 2**53),
)
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
VALUES: dict[SqlType, st.SearchStrategy[object]] = {
    types.SMALLINT: st.integers(-(2**15), 2**15 - 1),
    types.INTEGER: st.integers(-(2**31), 2**31 - 1),
    types.BIGINT: st.integers(-(2**63), 2**63 - 1),
    types.REAL: st.floats(width=32, allow_nan=False),
    types.DOUBLE: st.floats(allow_nan=False),
    types.numeric(38, 10): st.decimals(-(10**27), 10**27, places=10),
    types.numeric(5, 0): st.decimals(-99999, 99999, places=0),
    types.numeric(38, 38): st.decimals(Decimal("-0.9"), Decimal("0.9"), places=38),
    types.BOOLEAN: st.booleans(),
    types.TEXT: TEXTS,
    types.BYTEA: st.binary(),
    types.DATE: st.dates(),
    types.TIMESTAMP: MOMENTS,
    types.TIMESTAMPTZ: MOMENTS.map(lambda moment: moment.replace(tzinfo=datetime.UTC)),
    types.INTERVAL: INTERVALS,
}
VALUES |= {types.array_of(kind): st.lists(st.none() | values, max_size=4) for kind, values in VALUES.items()}


@pytest.mark.parametrize("sql_type", VALUES, ids=str)
@given(data=st.data())
def test_values_come_back(sql_type: SqlType, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.none() | VALUES[sql_type], max_size=8))
    array = arrow_array([None, *values, None], sql_type.arrow)[1:-1]
    sent = to_binary(array, sql_type)
    assert sent.type == pa.binary()
    assert from_binary(sent.to_pylist(), sql_type).equals(array)


@pytest.mark.parametrize(
    ("text", "sql_type", "sent"),
    [
        ("1", types.SMALLINT, "0001"),
        ("-2", types.INTEGER, "fffffffe"),
        ("1.5", types.DOUBLE, "3ff8000000000000"),
        ("t", types.BOOLEAN, "01"),
        ("2000-01-02", types.DATE, "00000001"),
        ("1999-12-31 23:59:59.999999", types.TIMESTAMP, "ffffffffffffffff"),
        ("1 mon 2 days 00:00:00.000003", types.INTERVAL, "00000000000000030000000200000001"),
        ("0", types.numeric(5, 2), "0000000000000002"),
        ("12345.6", types.numeric(10, 1), "00030001000000010001" + "0929" + "1770"),
        ("0.0001", types.numeric(10, 4), "0001ffff000000040001"),
        ("-10000", types.numeric(10, 0), "00010001400000000001"),
        ("ab", types.varchar(5), "6162"),
        ("ab", types.char(4), "61622020"),
    ],
)
def test_bytes_are_those_of_postgresql(text: str, sql_type: SqlType, sent: str) -> None:
    value = from_text(pa.array([text]), sql_type)
    assert to_binary(value, sql_type)[0].as_py().hex() == sent
    assert from_binary([bytes.fromhex(sent)], sql_type).equals(value)


@pytest.mark.parametrize(
    ("raw", "sql_type", "sqlstate"),
    [
        ("01", types.INTEGER, "22P03"),
        ("0000000000000001", types.INTEGER, "22P03"),
        ("00", types.numeric(5, 2), "22P03"),
        ("00010000000000002711", types.numeric(5, 2), "22P03"),
        ("00017fff000000000001", types.numeric(5, 2), "22P03"),
        ("0001000000000000270f", types.numeric(3, 0), "22003"),
        ("7fffffff", types.DATE, "22008"),
        ("7fffffffffffffff", types.TIMESTAMPTZ, "22008"),
        ("ff", types.TEXT, "22021"),
        ("6100", types.TEXT, "22021"),
        ("616263", types.varchar(2), "22001"),
    ],
)
def test_what_is_no_value_is_refused(raw: str, sql_type: SqlType, sqlstate: str) -> None:
    with pytest.raises(MillpondError) as caught:
        from_binary([None, bytes.fromhex(raw)], sql_type, column="c")
    assert caught.value.sqlstate == sqlstate
