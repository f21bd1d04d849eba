"""Data from Python into tables with the declared columns, and the NOT NULL check."""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from millpond.errors import MillpondError
from millpond.relation import Column, Relation
from millpond.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
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
from millpond.values import check_not_null, missing_columns, to_table

COLUMNS = (Column("id", INTEGER), Column("price", numeric(10, 2)), Column("name", TEXT))
SCHEMA = pa.schema([(column.name, column.type.arrow) for column in COLUMNS])
TABLE = pa.table({"id": [1, 2], "price": [Decimal("1.50"), None], "name": ["a", None]}, schema=SCHEMA)
ROWS = [(1, Decimal("1.5"), "a"), (2, None, None)]
FRAME = pd.DataFrame({"id": [1, 2], "price": [1.5, None], "name": ["a", None]})


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        (row for row in ROWS),
        [list(row) for row in ROWS],
        [{"id": 1, "price": 1.5, "name": "a"}, {"id": 2}],
        FRAME,
        TABLE,
        TABLE.to_batches()[0],
        TABLE.to_reader(),
        TABLE.to_batches(max_chunksize=1),
        [TABLE.slice(0, 1), TABLE.slice(1)],
        pa.table({"id": ["1", " 2"], "price": [1.5, None], "name": pa.array(["a", None]).dictionary_encode()}),
    ],
    ids=lambda data: type(data).__name__,
)
def test_all_kinds_of_data_give_the_same_table(data: object) -> None:
    assert to_table(data, COLUMNS).equals(TABLE)


def test_a_table_that_fits_is_passed_on() -> None:
    assert to_table(TABLE, COLUMNS) is TABLE


def test_columns_are_matched_by_name_and_missing_ones_reported() -> None:
    table = to_table(pa.table({"name": ["x"], "id": [7]}), COLUMNS)
    assert table.to_pydict() == {"name": ["x"], "id": [7]}
    assert missing_columns(table, COLUMNS) == (COLUMNS[1],)
    named = to_table([("x", 7)], COLUMNS, ["name", "id"])
    assert named.equals(table)
    assert missing_columns(to_table([(1,)], COLUMNS), COLUMNS) == COLUMNS[1:]


def test_no_rows_have_the_declared_types() -> None:
    assert to_table([], COLUMNS).schema == SCHEMA


@pytest.mark.parametrize(
    ("data", "names", "sqlstate", "message"),
    [
        ([(1, 2, "a", 4)], None, "42601", "INSERT has more expressions than target columns"),
        ([(1,)], ["id", "name"], "42601", "INSERT has more target columns than expressions"),
        ([(1,), (1, 2)], None, "42601", "VALUES lists must all be the same length"),
        ([{"nam": 1}], None, "42703", 'column "nam" does not exist'),
        ([(1, 2)], ["id", "id"], "42701", 'column "id" specified more than once'),
        ("abc", None, "42804", "cannot insert data of Python type str"),
        ([(True,)], None, "42804", 'column "id" is of type integer but expression is of type boolean'),
        ([(object(),)], None, "42804", 'column "id" is of type integer but expression is of type Python\'s object'),
        ([({"a": 1},)], None, "0A000", 'the nested type struct<a: int64> of column "id" is not supported'),
    ],
)
def test_bad_data(data: object, names: list[str] | None, sqlstate: str, message: str) -> None:
    with pytest.raises(MillpondError) as caught:
        to_table(data, COLUMNS, names)
    assert (caught.value.sqlstate, caught.value.message) == (sqlstate, message)


def test_the_closest_column_is_offered() -> None:
    with pytest.raises(MillpondError) as caught:
        to_table([{"nam": 1}], COLUMNS)
    assert caught.value.hint == 'Perhaps you meant "name".'


CONVERTED: list[tuple[SqlType, list[Any], list[Any]]] = [
    (INTEGER, [1, "2", None, 3.7], [1, 2, None, 4]),
    (INTEGER, [2.5, 3.5], [2, 4]),
    (SMALLINT, [Decimal("2.5")], [3]),
    (DOUBLE, [1, 2**63, None], [1.0, float(2**63), None]),
    (REAL, [0.5, 1], [0.5, 1.0]),
    (NUMERIC, [1, Decimal("2.5"), 0.1], [Decimal(1), Decimal("2.5"), Decimal("0.1")]),
    (numeric(38, 0), [10**30], [Decimal(10**30)]),
    (BOOLEAN, [True, "off"], [True, False]),
    (TEXT, [1, True, "x", date(2024, 1, 1)], ["1", "true", "x", "2024-01-01"]),
    (varchar(2), ["ab  "], ["ab"]),
    (DATE, [datetime(2024, 1, 31, 5), "2024-02-01"], [date(2024, 1, 31), date(2024, 2, 1)]),
    (TIMESTAMP, [date(2024, 1, 31)], [datetime(2024, 1, 31)]),
    (TIMESTAMPTZ, [datetime(2024, 1, 31, 5)], [datetime(2024, 1, 31, 5, tzinfo=UTC)]),
    (BIGINT, [None, None], [None, None]),
]


@pytest.mark.parametrize(("type", "given", "expected"), CONVERTED)
def test_python_values_are_assigned(type: SqlType, given: Iterable[object], expected: list[object]) -> None:
    table = to_table([(value,) for value in given], [Column("x", type)])
    assert table.column("x").type == type.arrow
    assert table.column("x").to_pylist() == expected


def test_an_error_names_column_and_row() -> None:
    with pytest.raises(MillpondError) as caught:
        to_table([(1,), (2**40,)], COLUMNS)
    assert (caught.value.message, caught.value.detail) == ("integer out of range", 'Column "id", row 2.')
    with pytest.raises(MillpondError) as caught:
        to_table([pa.table({"id": ["1"]}), pa.table({"id": ["x"]})], COLUMNS)
    assert caught.value.detail == 'Column "id", row 2.'


RELATION = Relation(1, "t", "table", (Column("a", INTEGER, not_null=True), Column("b", TEXT), Column("c", BOOLEAN)))


def test_not_null() -> None:
    check_not_null(pa.table({"a": [1], "b": [None], "c": [None]}), RELATION)
    schema = RELATION.arrow_schema
    parts: list[dict[str, list[Any]]] = [
        {"a": [1], "b": ["x"], "c": [None]},
        {"a": [None], "b": ["y" * 70], "c": [True]},
    ]
    table = pa.concat_tables([pa.table(part, schema=schema) for part in parts])
    with pytest.raises(MillpondError) as caught:
        check_not_null(table, RELATION)
    assert caught.value.sqlstate == "23502"
    assert caught.value.message == 'null value in column "a" of relation "t" violates not-null constraint'
    assert caught.value.detail == f"Failing row contains (null, {'y' * 64}..., t)."


def test_a_missing_column_is_null() -> None:
    with pytest.raises(MillpondError) as caught:
        check_not_null(pa.table({"b": ["x"]}), RELATION)
    assert caught.value.detail == "Failing row contains (null, x, null)."
