"""Statements described without being run: the columns they return and the parameters they take."""

from __future__ import annotations

import pytest

from millpond import Pond
from millpond.sql.parse import parse
from millpond.sql.prepared import open_parameters, parameter_count
from millpond.types import SqlType

CASES = [
    ("SELECT id, price FROM part WHERE id = $1 AND name LIKE $2", ["id", "price"], ["integer", "text"]),
    ("SELECT $1", ["?column?"], ["text"]),
    ("SELECT $1::date + 1 AS d", ["d"], ["date"]),
    ("SELECT * FROM part WHERE price > $1 LIMIT $2", ["id", "name", "price"], ["numeric", "bigint"]),
    ("SELECT count(*) FROM part WHERE id IN ($1, $2)", ["count"], ["integer", "integer"]),
    ("INSERT INTO part VALUES ($1, $2, $3)", None, ["integer", "text", "numeric(10,2)"]),
    ("INSERT INTO part (name, id) SELECT $1, $2 RETURNING id AS made", ["made"], ["text", "integer"]),
    ("UPDATE part SET name = $1 WHERE id = $2 RETURNING *", ["id", "name", "price"], ["text", "integer"]),
    ("DELETE FROM part WHERE id BETWEEN $1 AND $2", None, ["integer", "integer"]),
    ("SHOW datestyle", ["DateStyle"], []),
    ("EXPLAIN SELECT 1", ["QUERY PLAN"], []),
    ("CREATE TABLE other (a int)", None, []),
]


@pytest.fixture
def parts(pond: Pond) -> Pond:
    pond.execute("CREATE TABLE part (id int, name text, price numeric(10,2))")
    return pond


@pytest.mark.parametrize(("text", "columns", "parameters"), CASES, ids=[case[0] for case in CASES])
def test_descriptions(parts: Pond, text: str, columns: list[str] | None, parameters: list[str]) -> None:
    open_ones: list[SqlType | None] = [None] * parameter_count(text)
    description = parts.session.describe(parse(text, open_parameters(open_ones)))
    assert (None if description.columns is None else [column.name for column in description.columns]) == columns
    assert [str(description.parameters[number + 1]) for number in range(len(open_ones))] == parameters
