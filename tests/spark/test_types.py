"""Every type makes the round trip: SQL literal, Arrow and CSV in, query, Arrow, text and CSV out."""

from __future__ import annotations

import datetime
import io
import math
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
import pytest

from millpond import MillpondError, Pond


@dataclass(frozen=True)
class Case:
    """A type, and values as (SQL literal, text that comes out, Python value)."""

    sql_type: str
    arrow: pa.DataType
    values: tuple[tuple[str, str, object], ...]


UTC = datetime.UTC
CASES = (
    Case("smallint", pa.int16(), (("-32768", "-32768", -32768), ("32767", "32767", 32767), ("' 7 '", "7", 7))),
    Case("integer", pa.int32(), (("-2147483648", "-2147483648", -(2**31)), ("2147483647", "2147483647", 2**31 - 1))),
    Case(
        "bigint",
        pa.int64(),
        (("-9223372036854775808", str(-(2**63)), -(2**63)), (str(2**63 - 1), str(2**63 - 1), 2**63 - 1)),
    ),
    Case(
        "real", pa.float32(), (("1.5", "1.5", 1.5), ("'NaN'", "NaN", math.nan), ("'-Infinity'", "-Infinity", -math.inf))
    ),
    Case(
        "double precision",
        pa.float64(),
        (
            ("0.1", "0.1", 0.1),
            ("1e308", "1e+308", 1e308),
            ("'NaN'", "NaN", math.nan),
            ("'Infinity'", "Infinity", math.inf),
            ("5e-324", "5e-324", 5e-324),
        ),
    ),
    Case(
        "numeric(10,2)",
        pa.decimal128(10, 2),
        (
            ("99999999.99", "99999999.99", Decimal("99999999.99")),
            ("-0.005", "-0.01", Decimal("-0.01")),
            ("7", "7.00", Decimal("7.00")),
        ),
    ),
    Case("numeric(38,0)", pa.decimal128(38, 0), ((str(10**38 - 1), str(10**38 - 1), Decimal(10**38 - 1)),)),
    Case(
        "numeric",
        pa.decimal128(38, 18),
        (
            ("1.50", "1.5", Decimal("1.5")),
            ("-12345678901234567890", "-12345678901234567890", Decimal("-12345678901234567890")),
        ),
    ),
    Case("boolean", pa.bool_(), (("true", "t", True), ("'off'", "f", False))),
    Case(
        "text",
        pa.string(),
        (
            ("''", "", ""),
            ("'it''s \"x\", \\n'", 'it\'s "x", \\n', 'it\'s "x", \\n'),
            ("E'tab\\tline\\n'", "tab\tline\n", "tab\tline\n"),
            ("'Grüße, 世界 🎉'", "Grüße, 世界 🎉", "Grüße, 世界 🎉"),
            ("'NULL'", "NULL", "NULL"),
        ),
    ),
    Case("varchar(3)", pa.string(), (("'abc'", "abc", "abc"), ("'äöü'", "äöü", "äöü"), ("'ab   '", "ab ", "ab "))),
    Case("char(4)", pa.string(), (("'ab'", "ab  ", "ab  "), ("'abcd'", "abcd", "abcd"))),
    Case("bytea", pa.binary(), (("'\\x00ff'", "\\x00ff", b"\x00\xff"), ("''", "\\x", b""))),
    Case(
        "date",
        pa.date32(),
        (
            ("'0001-01-01'", "0001-01-01", datetime.date(1, 1, 1)),
            ("'9999-12-31'", "9999-12-31", datetime.date(9999, 12, 31)),
            ("'2024-02-29'", "2024-02-29", datetime.date(2024, 2, 29)),
        ),
    ),
    Case(
        "timestamp",
        pa.timestamp("us"),
        (
            (
                "'2024-02-29 23:59:59.999999'",
                "2024-02-29 23:59:59.999999",
                datetime.datetime(2024, 2, 29, 23, 59, 59, 999999),
            ),
            ("'1582-10-10 00:00:00'", "1582-10-10 00:00:00", datetime.datetime(1582, 10, 10)),
            ("'0001-01-01 00:00:00'", "0001-01-01 00:00:00", datetime.datetime(1, 1, 1)),
        ),
    ),
    Case(
        "timestamptz",
        pa.timestamp("us", tz="UTC"),
        (
            ("'2024-06-01 12:00:00+02'", "2024-06-01 10:00:00+00", datetime.datetime(2024, 6, 1, 10, tzinfo=UTC)),
            (
                "'2024-06-01 12:00:00 America/New_York'",
                "2024-06-01 16:00:00+00",
                datetime.datetime(2024, 6, 1, 16, tzinfo=UTC),
            ),
            (
                "'1970-01-01 00:00:00.000001'",
                "1970-01-01 00:00:00.000001+00",
                datetime.datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
            ),
        ),
    ),
)


def same(left: object, right: object) -> bool:
    both_nan = isinstance(left, float) and isinstance(right, float) and math.isnan(left) and math.isnan(right)
    return both_nan or left == right


@pytest.mark.parametrize("kind", ["TABLE", "STREAM"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.sql_type)
def test_round_trip(pond: Pond, case: Case, kind: str) -> None:
    pond.execute(f"CREATE {kind} t (n int, v {case.sql_type})")
    rows = [*(f"({n}, {literal})" for n, (literal, _, _) in enumerate(case.values)), f"({len(case.values)}, NULL)"]
    pond.execute(f"INSERT INTO t VALUES {', '.join(rows)}")
    texts, values = [*(text for _, text, _ in case.values), None], [*(value for _, _, value in case.values), None]

    result = pond.execute("SELECT n, v FROM t ORDER BY n")
    assert str(result.columns[1].type).replace(" without time zone", "").replace(" with time zone", "tz") == (
        case.sql_type.replace("varchar", "character varying").replace("char(4)", "character(4)")
    )
    assert result.arrow().schema.field("v").type == case.arrow
    assert [row[1] for row in result.text_rows()] == texts
    assert all(same(got, want) for (_, got), want in zip(result.fetchall(), values, strict=True))

    pond.execute(f"CREATE {kind} u (n int, v {case.sql_type})")
    pond.insert("u", result.arrow())
    pond.execute("INSERT INTO u SELECT n + 100, v FROM t")
    out = io.BytesIO()
    pond.execute("COPY t TO STDOUT (FORMAT csv)", stdout=out)
    pond.execute("CREATE TABLE w (n int, v text)")
    assert pond.execute("COPY u FROM STDIN (FORMAT csv)", stdin=io.BytesIO(out.getvalue())).rowcount == len(rows)
    again = pond.execute("SELECT n % 100 AS k, v FROM u ORDER BY k").text_rows()
    assert [row[1] for row in again] == [text for text in texts for _ in range(3)]


@pytest.mark.parametrize(
    ("sql_type", "literal", "sqlstate", "message"),
    [
        ("smallint", "32768", "22003", "out of range"),
        ("integer", "'abc'", "22P02", 'invalid input syntax for type integer: "abc"'),
        ("bigint", "9223372036854775808", "22003", "out of range"),
        ("numeric(4,2)", "100", "22003", "numeric field overflow"),
        ("numeric(4,2)", "'NaN'", "0A000", "NaN"),
        ("varchar(3)", "'abcd'", "22001", "value too long for type character varying(3)"),
        ("char(2)", "'abc'", "22001", "value too long for type character(2)"),
        ("boolean", "'perhaps'", "22P02", 'invalid input syntax for type boolean: "perhaps"'),
        ("boolean", "5", "42804", "is of type boolean but expression is of type integer"),
        ("date", "'2024-02-30'", "22008", "out of range"),
        ("date", "'soon'", "22007", 'invalid input syntax for type date: "soon"'),
        ("timestamptz", "'infinity'", "0A000", "infinity"),
        ("bytea", "'\\xzz'", "22023", "invalid hexadecimal digit"),
    ],
)
def test_bad_values_are_refused_on_every_way(
    pond: Pond, sql_type: str, literal: str, sqlstate: str, message: str
) -> None:
    pond.execute(f"CREATE STREAM s (v {sql_type})")
    for statement in (f"INSERT INTO s VALUES ({literal})", f"INSERT INTO s SELECT {literal}"):
        with pytest.raises(MillpondError) as caught:
            pond.execute(statement)
        assert (caught.value.sqlstate, message in caught.value.message) == (sqlstate, True), (statement, caught.value)
    assert pond.execute("SELECT count(*) FROM s").fetchall() == [(0,)]
