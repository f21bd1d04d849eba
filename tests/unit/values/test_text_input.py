"""Texts into values: PostgreSQL's input functions, their spellings and their errors."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

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
    char,
    numeric,
    varchar,
)
from millpond.values import ConversionError, from_text, read_texts, to_text

ACCEPTED: list[tuple[SqlType, str, Any]] = [
    (SMALLINT, "-32768", -32768),
    (INTEGER, " 42\t", 42),
    (INTEGER, "+7", 7),
    (INTEGER, "0x1F", 31),
    (INTEGER, "1_000", 1000),
    (BIGINT, "-9223372036854775808", -(2**63)),
    (REAL, "1e10", 1e10),
    (DOUBLE, " -inf ", float("-inf")),
    (DOUBLE, "Infinity", float("inf")),
    (DOUBLE, ".5", 0.5),
    (numeric(4, 2), "1.005", Decimal("1.01")),
    (numeric(4, 2), "-1.005", Decimal("-1.01")),
    (numeric(4, 2), " 99.994 ", Decimal("99.99")),
    (numeric(10), "2.5e3", Decimal(2500)),
    (NUMERIC, "1e-30", Decimal(0)),
    (BOOLEAN, "T", True),
    (BOOLEAN, " yes ", True),
    (BOOLEAN, "ON", True),
    (BOOLEAN, "of", False),
    (BOOLEAN, "fal", False),
    (BOOLEAN, "0", False),
    (TEXT, "  ü ", "  ü "),
    (varchar(3), "abc  ", "abc"),
    (varchar(3), "a", "a"),
    (char(3), "ab ", "ab"),
    (char(3), "abc   ", "abc"),
    (BYTEA, "\\xDEad", b"\xde\xad"),
    (BYTEA, "a\\\\b\\001", b"a\\b\x01"),
    (BYTEA, "ü", "ü".encode()),
    (DATE, "2024-01-31", date(2024, 1, 31)),
    (DATE, "20240131", date(2024, 1, 31)),
    (DATE, "Jan 31, 2024", date(2024, 1, 31)),
    (DATE, "1/31/2024", date(2024, 1, 31)),
    (DATE, "2024-01-31 23:00:00", date(2024, 1, 31)),
    (TIMESTAMP, "2024-01-31T10:30", datetime(2024, 1, 31, 10, 30)),
    (TIMESTAMP, "2024-01-31 10:11:12.5 PM", datetime(2024, 1, 31, 22, 11, 12, 500_000)),
    (TIMESTAMP, "2024-01-31 24:00:00", datetime(2024, 2, 1)),
    (TIMESTAMP, "2024-01-31 10:00:00.1234567", datetime(2024, 1, 31, 10, 0, 0, 123_457)),
    (TIMESTAMP, "2024-01-31 10:00:00+05", datetime(2024, 1, 31, 10)),
    (TIMESTAMPTZ, "2024-01-31 10:00:00", datetime(2024, 1, 31, 10, tzinfo=UTC)),
    (TIMESTAMPTZ, "2024-01-31 10:00:00+02:30", datetime(2024, 1, 31, 7, 30, tzinfo=UTC)),
    (TIMESTAMPTZ, "2024-01-31 10:00:00Z", datetime(2024, 1, 31, 10, tzinfo=UTC)),
    (TIMESTAMPTZ, "2024-01-31 10:00 America/New_York", datetime(2024, 1, 31, 15, tzinfo=UTC)),
    # Berlin's clocks showed this hour twice, and the later one is meant.
    (TIMESTAMPTZ, "2024-10-27 02:30 Europe/Berlin", datetime(2024, 10, 27, 1, 30, tzinfo=UTC)),
    # Berlin's clocks never showed this.
    (TIMESTAMPTZ, "2024-03-31 02:30 Europe/Berlin", datetime(2024, 3, 31, 1, 30, tzinfo=UTC)),
]


@pytest.mark.parametrize(("type", "text", "value"), ACCEPTED)
def test_accepted_texts(type: SqlType, text: str, value: object) -> None:
    assert from_text(pa.array([text]), type).to_pylist() == [value]


REFUSED: list[tuple[SqlType, str, str, str]] = [
    (SMALLINT, "99999", "22003", 'value "99999" is out of range for type smallint'),
    (INTEGER, "abc", "22P02", 'invalid input syntax for type integer: "abc"'),
    (INTEGER, "", "22P02", 'invalid input syntax for type integer: ""'),
    (INTEGER, "1.0", "22P02", 'invalid input syntax for type integer: "1.0"'),
    (INTEGER, "0xFFFFFFFF", "22003", 'value "0xFFFFFFFF" is out of range for type integer'),
    (BIGINT, "9223372036854775808", "22003", 'value "9223372036854775808" is out of range for type bigint'),
    (DOUBLE, "1e400", "22003", '"1e400" is out of range for type double precision'),
    (DOUBLE, "1e-400", "22003", '"1e-400" is out of range for type double precision'),
    (REAL, "1e39", "22003", '"1e39" is out of range for type real'),
    (DOUBLE, "x", "22P02", 'invalid input syntax for type double precision: "x"'),
    (numeric(4, 2), "99.995", "22003", "numeric field overflow"),
    (numeric(4, 2), "1e999999999", "22003", "numeric field overflow"),
    (NUMERIC, "NaN", "0A000", '"NaN" as a value of type numeric is not supported'),
    (NUMERIC, "--1", "22P02", 'invalid input syntax for type numeric: "--1"'),
    (BOOLEAN, "o", "22P02", 'invalid input syntax for type boolean: "o"'),
    (varchar(3), "abcd", "22001", "value too long for type character varying(3)"),
    (char(3), "abcd", "22001", "value too long for type character(3)"),
    (BYTEA, "\\xabc", "22023", "invalid hexadecimal data: odd number of digits"),
    (BYTEA, "\\xzz", "22023", 'invalid hexadecimal digit: "z"'),
    (BYTEA, "\\q", "22P02", "invalid input syntax for type bytea"),
    (DATE, "x", "22007", 'invalid input syntax for type date: "x"'),
    (DATE, "2024-02-30", "22008", 'date/time field value out of range: "2024-02-30"'),
    (DATE, "0000-01-01", "22008", 'date/time field value out of range: "0000-01-01"'),
    (DATE, "0044-03-15 BC", "22008", 'date/time field value out of range: "0044-03-15 BC"'),
    (DATE, "10000-01-01", "22008", 'date/time field value out of range: "10000-01-01"'),
    (DATE, "infinity", "0A000", '"infinity" as a value of type date is not supported'),
    (TIMESTAMP, "2024-01-31 10", "22007", 'invalid input syntax for type timestamp: "2024-01-31 10"'),
    (TIMESTAMP, "9999-12-31 24:00", "22008", 'date/time field value out of range: "9999-12-31 24:00"'),
    (TIMESTAMPTZ, "2024-01-31 25:00", "22008", 'date/time field value out of range: "2024-01-31 25:00"'),
    (TIMESTAMPTZ, "0001-01-01 00:00+02", "22008", 'date/time field value out of range: "0001-01-01 00:00+02"'),
    (TIMESTAMPTZ, "2024-01-31 10:00 no/where", "22023", 'time zone "no/where" not recognized'),
    (INTERVAL, "1 fortnight", "22007", 'invalid input syntax for type interval: "1 fortnight"'),
    (INTERVAL, "1 day 2 days", "22007", 'invalid input syntax for type interval: "1 day 2 days"'),
]


@pytest.mark.parametrize(("type", "text", "sqlstate", "message"), REFUSED)
def test_refused_texts(type: SqlType, text: str, sqlstate: str, message: str) -> None:
    with pytest.raises(ConversionError) as caught:
        from_text(pa.array([None, text]), type, column="x")
    error = caught.value
    assert (error.sqlstate, error.message, error.row, error.column) == (sqlstate, message, 1, "x")


def test_numeric_overflow_says_what_would_fit() -> None:
    with pytest.raises(ConversionError) as caught:
        from_text(pa.array(["100"]), numeric(4, 2))
    assert caught.value.detail == ("A field with precision 4, scale 2 must round to an absolute value less than 10^2.")
    with pytest.raises(ConversionError) as caught:
        from_text(pa.array(["1"]), numeric(2, 2))
    assert caught.value.detail == "A field with precision 2, scale 2 must round to an absolute value less than 1."


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("1 day 2 hours", "1 day 02:00:00"),
        ("-1 year 2 mons", "-10 mons"),
        ("P1Y2M3DT4H5M6.5S", "1 year 2 mons 3 days 04:05:06.5"),
        ("1.5 months", "1 mon 15 days"),
        ("@ 3 days ago", "-3 days"),
        ("-1 days +02:03:00", "-1 days +02:03:00"),
        ("1-2", "1 year 2 mons"),
        ("90", "00:01:30"),
        ("-00:00:00.5", "-00:00:00.5"),
        ("0 days", "00:00:00"),
    ],
)
def test_intervals_are_read_and_printed(text: str, printed: str) -> None:
    assert to_text(from_text(pa.array([text]), INTERVAL), INTERVAL).to_pylist() == [printed]


def test_common_and_odd_texts_mix() -> None:
    texts = pa.chunked_array([["1", None], [" 2 ", "0x3"], ["4"]])
    assert from_text(texts, INTEGER).to_pylist() == [1, None, 2, 3, 4]


def test_all_failures_are_collected_when_asked() -> None:
    values, failures = read_texts(pa.array(["1", "x", None, "y", "5"]), INTEGER, failures_max=10)
    assert values.to_pylist() == [1, None, None, None, 5]
    assert [failure.row for failure in failures] == [1, 3]


@pytest.mark.parametrize("arrow", [pa.string(), pa.large_string(), pa.string_view()])
def test_every_arrow_string_type_is_read(arrow: pa.DataType) -> None:
    make: Any = pa.array
    assert from_text(make(["1", None], arrow), INTEGER).to_pylist() == [1, None]


@pytest.mark.parametrize(
    "type", [SMALLINT, DOUBLE, NUMERIC, BOOLEAN, TEXT, char(2), BYTEA, DATE, TIMESTAMPTZ, INTERVAL]
)
def test_nothing_and_null(type: SqlType) -> None:
    assert from_text(pa.array([], pa.string()), type).type == type.arrow
    assert from_text(pa.array([None], pa.string()), type).to_pylist() == [None]
