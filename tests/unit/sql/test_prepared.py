"""Parameters of prepared statements: counted, written as literals, and typed by where they stand."""

from __future__ import annotations

import pytest

from millpond import types
from millpond.sql.parameters import TypedText
from millpond.sql.prepared import parameter_count, with_literals


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("SELECT 1", 0),
        ("SELECT $2, $1", 2),
        ("SELECT '$1', \"$2\", $$ $3 $$, $x$ $4 $x$ -- $5\n, $1 /* $6 */", 1),
        ("SELECT E'\\'$1', $2", 2),
        ("SELECT a$1 FROM t", 0),
    ],
)
def test_parameters_are_counted_outside_of_quotes(text: str, count: int) -> None:
    assert parameter_count(text) == count


def test_literals_are_quoted() -> None:
    text = "INSERT INTO t VALUES ($1, $2, $3, '$1')"
    values = [TypedText("it's"), TypedText(None, types.INTEGER), TypedText("1.5", types.DOUBLE)]
    assert with_literals(text, values) == "INSERT INTO t VALUES ('it''s', NULL, '1.5'::double precision, '$1')"
