"""Arrow arrays into declared types by PostgreSQL's assignment rules."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millpond.errors import MillpondError
from millpond.types import (
    BIGINT,
    BOOLEAN,
    BYTEA,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    NUMERIC,
    REAL,
    SMALLINT,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    SqlType,
    numeric,
    varchar,
)
from millpond.values import ConversionError, assign
from millpond.values.arrays import arrow_array

ASSIGNED: list[tuple[pa.DataType, Any, SqlType, Any]] = [
    (pa.int64(), 7, SMALLINT, 7),
    (pa.uint64(), 7, INTEGER, 7),
    (pa.int64(), 7, numeric(10, 2), Decimal("7.00")),
    (pa.int64(), 2**60 + 1, DOUBLE, float(2**60 + 1)),
    (pa.float64(), 2.5, INTEGER, 2),
    (pa.float64(), 3.5, INTEGER, 4),
    (pa.float64(), 1.005, numeric(10, 2), Decimal("1.01")),
    (pa.float64(), 0.1 + 0.2, numeric(20, 18), Decimal("0.3")),
    (pa.float32(), 0.1, numeric(10, 8), Decimal("0.1")),
    (pa.float32(), 0.5, DOUBLE, 0.5),
    (pa.decimal128(4, 1), Decimal("2.5"), INTEGER, 3),
    (pa.decimal128(4, 1), Decimal("-2.5"), INTEGER, -3),
    (pa.decimal128(4, 3), Decimal("9.995"), numeric(4, 2), Decimal("10.00")),
    (pa.decimal256(50, 3), Decimal("1.005"), NUMERIC, Decimal("1.005")),
    (pa.decimal128(4, 1), Decimal("2.5"), REAL, 2.5),
    (pa.string(), " 7", INTEGER, 7),
    (pa.large_string(), "yes", BOOLEAN, True),
    (pa.string_view(), "x", TEXT, "x"),
    (pa.int32(), 7, TEXT, "7"),
    (pa.bool_(), True, TEXT, "true"),
    (pa.date32(), date(2024, 1, 31), varchar(10), "2024-01-31"),
    (pa.large_binary(), b"x", BYTEA, b"x"),
    (pa.binary(1), b"x", BYTEA, b"x"),
    (pa.date64(), date(2024, 1, 31), DATE, date(2024, 1, 31)),
    (pa.date32(), date(2024, 1, 31), TIMESTAMP, datetime(2024, 1, 31)),
    (pa.timestamp("s"), datetime(2024, 1, 31, 5), DATE, date(2024, 1, 31)),
    (pa.timestamp("ns"), datetime(2024, 1, 31, 5), TIMESTAMP, datetime(2024, 1, 31, 5)),
    (pa.timestamp("ms"), datetime(2024, 1, 31, 5), TIMESTAMPTZ, datetime(2024, 1, 31, 5, tzinfo=UTC)),
    (pa.timestamp("us", "Asia/Tokyo"), datetime(2024, 1, 31, tzinfo=UTC), TIMESTAMP, datetime(2024, 1, 31)),
    (pa.duration("us"), timedelta(seconds=1), TEXT, "00:00:01"),
    (pa.duration("us"), timedelta(seconds=1), INTERVAL, pa.MonthDayNano),
]


@pytest.mark.parametrize(("arrow", "given_value", "type", "value"), ASSIGNED)
def test_assigned_values(arrow: pa.DataType, given_value: object, type: SqlType, value: object) -> None:
    assigned = assign(arrow_array([given_value, None], arrow), type, column="x")
    assert assigned.type == type.arrow
    assert assigned[1].as_py() is None
    if value is pa.MonthDayNano:
        assert assigned[0].as_py() == (0, 0, 1_000_000_000)
    else:
        assert assigned[0].as_py() == value


def test_encodings_are_undone() -> None:
    dictionary = pa.array(["1", None, "1"]).dictionary_encode()
    assert assign(dictionary, INTEGER).to_pylist() == [1, None, 1]
    runs: Any = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([1, 2]))
    assert assign(runs, BIGINT).to_pylist() == [1, 1, 2]
    assert assign(pa.nulls(2), numeric(4, 2)).type == numeric(4, 2).arrow


REFUSED: list[tuple[pa.DataType, Any, SqlType, str, str]] = [
    (pa.int64(), 40_000, SMALLINT, "22003", "smallint out of range"),
    (pa.uint64(), 2**63, BIGINT, "22003", "bigint out of range"),
    (pa.float64(), float("nan"), INTEGER, "22003", "integer out of range"),
    (pa.float64(), 1e300, REAL, "22003", "value out of range: overflow"),
    (pa.float64(), float("inf"), NUMERIC, "0A000", '"inf" as a value of type numeric is not supported'),
    (pa.int32(), 100, numeric(4, 2), "22003", "numeric field overflow"),
    (pa.decimal128(4, 3), Decimal("9.995"), numeric(3, 2), "22003", "numeric field overflow"),
    (pa.string(), "x", DATE, "22007", 'invalid input syntax for type date: "x"'),
    (pa.string(), "long", varchar(3), "22001", "value too long for type character varying(3)"),
    (pa.timestamp("s"), 10**12, TIMESTAMP, "22008", "timestamp out of range"),
    (pa.date32(), -800_000, DATE, "22008", "date out of range"),
]


@pytest.mark.parametrize(("arrow", "value", "type", "sqlstate", "message"), REFUSED)
def test_refused_values_name_their_row(
    arrow: pa.DataType, value: object, type: SqlType, sqlstate: str, message: str
) -> None:
    with pytest.raises(ConversionError) as caught:
        assign(arrow_array([None, None, value, None], arrow), type, column="x")
    assert (caught.value.sqlstate, caught.value.message, caught.value.row) == (sqlstate, message, 2)


@pytest.mark.parametrize(
    ("arrow", "type", "given_name"),
    [
        (pa.bool_(), INTEGER, "boolean"),
        (pa.int64(), BOOLEAN, "bigint"),
        (pa.int32(), DATE, "integer"),
        (pa.binary(), INTEGER, "bytea"),
        (pa.timestamp("us"), BIGINT, "timestamp without time zone"),
    ],
)
def test_types_that_do_not_assign(arrow: pa.DataType, type: SqlType, given_name: str) -> None:
    with pytest.raises(MillpondError) as caught:
        assign(arrow_array([None], arrow), type, column="x")
    assert caught.value.sqlstate == "42804"
    assert caught.value.message == f'column "x" is of type {type} but expression is of type {given_name}'


@pytest.mark.parametrize(
    "arrow", [pa.list_(pa.int32()), pa.struct([("a", pa.int32())]), pa.map_(pa.int32(), pa.int32())]
)
def test_nested_types_are_refused(arrow: pa.DataType) -> None:
    with pytest.raises(MillpondError, match=r'nested type .* of column "x" is not supported'):
        assign(arrow_array([], arrow), TEXT, column="x")


@settings(deadline=None)
@given(st.lists(st.none() | st.decimals(-(10**6), 10**6, places=5), max_size=6), st.integers(0, 4))
def test_decimals_round_half_away_from_zero(values: list[Decimal | None], scale: int) -> None:
    array = arrow_array(values, pa.decimal128(12, 5))
    expected = [None if v is None else v.quantize(Decimal(1).scaleb(-scale), "ROUND_HALF_UP") for v in values]
    assert assign(array, numeric(12, scale)).to_pylist() == expected


@settings(deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
def test_the_first_integer_out_of_range_is_named(values: list[int]) -> None:
    first = next((row for row, value in enumerate(values) if not -(2**31) <= value < 2**31), None)
    array = arrow_array(values, pa.int64())
    if first is None:
        assert assign(array, INTEGER).to_pylist() == values
    else:
        with pytest.raises(ConversionError) as caught:
            assign(array, INTEGER)
        assert caught.value.row == first
