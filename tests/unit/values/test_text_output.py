"""Values into texts as PostgreSQL prints them, and back again."""

import math
import re
import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    array_of,
    char,
    numeric,
    varchar,
)
from millpond.values import from_text, to_text
from millpond.values.arrays import arrow_array

PRINTED: list[tuple[SqlType, Any, str]] = [
    (BOOLEAN, True, "t"),
    (DOUBLE, 0.1, "0.1"),
    (DOUBLE, 1e20, "1e+20"),
    (DOUBLE, 1e15, "1e+15"),
    (DOUBLE, 123456789012345.0, "123456789012345"),
    (DOUBLE, 12345678901.5, "12345678901.5"),
    (DOUBLE, 0.0001, "0.0001"),
    (DOUBLE, 0.00001, "1e-05"),
    (DOUBLE, -0.0, "-0"),
    (DOUBLE, math.nan, "NaN"),
    (DOUBLE, -math.inf, "-Infinity"),
    (DOUBLE, 5e-324, "5e-324"),
    (DOUBLE, 3.679134630520026e16, "3.6791346305200256e+16"),
    (REAL, 1e6, "1e+06"),
    (REAL, 123456.0, "123456"),
    (REAL, 3e10, "3.0000001e+10"),
    (numeric(10, 2), Decimal(1), "1.00"),
    (numeric(20, 10), Decimal("1e-10"), "0.0000000001"),
    (NUMERIC, Decimal("100"), "100"),
    (NUMERIC, Decimal("-12.50"), "-12.5"),
    (NUMERIC, Decimal("1e-18"), "0.000000000000000001"),
    (NUMERIC, Decimal(0), "0"),
    (char(3), "ü", "ü  "),
    (varchar(3), "ab", "ab"),
    (BYTEA, b"\x00\xff", "\\x00ff"),
    (DATE, date(1, 1, 1), "0001-01-01"),
    (TIMESTAMP, datetime(2024, 1, 1), "2024-01-01 00:00:00"),
    (TIMESTAMP, datetime(2024, 1, 1, 0, 0, 0, 120_000), "2024-01-01 00:00:00.12"),
    (TIMESTAMPTZ, datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), "9999-12-31 23:59:59.999999+00"),
]


@pytest.mark.parametrize(("type", "value", "text"), PRINTED)
def test_printed_values(type: SqlType, value: object, text: str) -> None:
    assert to_text(arrow_array([None, value], type.arrow), type).to_pylist() == [None, text]


def test_chunks_are_printed_as_one() -> None:
    assert to_text(pa.chunked_array([[1], [2, 3]]), BIGINT).to_pylist() == ["1", "2", "3"]


def _integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _decimals(digits: int, scale: int) -> st.SearchStrategy[Decimal]:
    return st.integers(-(10**digits) + 1, 10**digits - 1).map(lambda unscaled: Decimal(f"{unscaled}e-{scale}"))


DATES = st.dates(date(1, 1, 1), date(9999, 12, 31))
DATETIMES = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999))
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
VALUES: list[tuple[SqlType, st.SearchStrategy[Any]]] = [
    (SMALLINT, _integers(16)),
    (INTEGER, _integers(32)),
    (BIGINT, _integers(64)),
    (REAL, st.floats(width=32)),
    (DOUBLE, st.floats()),
    (numeric(10, 2), _decimals(10, 2)),
    (numeric(38, 0), _decimals(38, 0)),
    (numeric(5, 5), _decimals(5, 5)),
    (BOOLEAN, st.booleans()),
    (TEXT, TEXTS),
    (varchar(20), TEXTS),
    (BYTEA, st.binary(max_size=20)),
    (DATE, DATES),
    (TIMESTAMP, DATETIMES),
    (TIMESTAMPTZ, DATETIMES.map(lambda moment: moment.replace(tzinfo=UTC))),
]


@pytest.mark.parametrize(("type", "values"), VALUES, ids=lambda item: str(item) if isinstance(item, SqlType) else "")
@settings(deadline=None)
@given(data=st.data())
def test_texts_round_trip(type: SqlType, values: st.SearchStrategy[Any], data: st.DataObject) -> None:
    array = arrow_array(data.draw(st.lists(st.none() | values, max_size=8)), type.arrow)
    assert bits(from_text(to_text(array, type), type)) == bits(array)


def bits(array: Any) -> list[Any]:
    """The values such that NaN equals itself and -0 does not equal 0."""
    return [struct.pack("d", v) if isinstance(v, float) and v == v else str(v) for v in array.to_pylist()]


@settings(deadline=None)
@given(
    st.integers(-(2**31) + 1, 2**31 - 1),
    st.integers(-(2**31) + 1, 2**31 - 1),
    st.integers(-(2**52), 2**52),
)
def test_intervals_round_trip(months: int, days: int, microseconds: int) -> None:
    array = arrow_array([(months, days, microseconds * 1000), None], INTERVAL.arrow)
    assert from_text(to_text(array, INTERVAL), INTERVAL).to_pylist() == array.to_pylist()


@pytest.mark.parametrize(
    ("element", "values", "text"),
    [
        (INTEGER, [1, None, -3], "{1,NULL,-3}"),
        (INTEGER, [], "{}"),
        (
            TEXT,
            ["", "null", "NULLs", "a b", "a,b", "{x}", 'q"', "b\\", "ü"],
            '{"","null",NULLs,"a b","a,b","{x}","q\\"","b\\\\",ü}',
        ),
        (BOOLEAN, [True, False], "{t,f}"),
        (char(3), ["ab"], '{"ab "}'),
        (numeric(6, 2), [Decimal("1.50")], "{1.50}"),
        (DOUBLE, [1e20, math.nan], "{1e+20,NaN}"),
        (TIMESTAMP, [datetime(2024, 1, 1, 10)], '{"2024-01-01 10:00:00"}'),
        (BYTEA, [b"\x01"], '{"\\\\x01"}'),
    ],
)
def test_printed_arrays(element: SqlType, values: list[object], text: str) -> None:
    kind = array_of(element)
    assert to_text(arrow_array([values, None], kind.arrow), kind).to_pylist() == [text, None]


def elements_of(text: str) -> list[str | None]:
    """The elements that PostgreSQL reads in an array's text."""
    tokens = re.findall(r'"((?:[^"\\]|\\.)*)"|([^,{}"]+)', text, re.DOTALL)
    return [
        None if bare == "NULL" else bare or re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL) for quoted, bare in tokens
    ]


@given(st.lists(st.lists(st.none() | st.text()) | st.none()))
def test_array_elements_round_trip(lists: list[list[str | None] | None]) -> None:
    kind = array_of(TEXT)
    texts = to_text(arrow_array(lists, kind.arrow), kind).to_pylist()
    assert [None if text is None else elements_of(text) for text in texts] == lists
