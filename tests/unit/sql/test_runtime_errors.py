"""Spark's error conditions in PostgreSQL's words."""

from __future__ import annotations

import pytest

from millpond.errors import InternalError
from millpond.sql.runtime_errors import from_spark

CASES: tuple[tuple[str, dict[str, str], str, str, str], ...] = (
    ("DIVIDE_BY_ZERO", {}, "", "22012", "division by zero"),
    ("REMAINDER_BY_ZERO", {}, "", "22012", "division by zero"),
    ("ARITHMETIC_OVERFLOW", {}, "[ARITHMETIC_OVERFLOW] overflow.\n`a` + 1", "22003", "integer out of range"),
    ("ARITHMETIC_OVERFLOW", {}, "overflow.\n`a` + /* bigint */ 1", "22003", "bigint out of range"),
    ("BINARY_ARITHMETIC_OVERFLOW", {}, "", "22003", "smallint out of range"),
    ("CAST_OVERFLOW", {"targetType": '"INT"'}, "", "22003", "integer out of range"),
    ("CAST_OVERFLOW", {"targetType": '"DECIMAL(5,2)"'}, "", "22003", "numeric field overflow"),
    ("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", {}, "", "22003", "numeric field overflow"),
    (
        "CAST_INVALID_INPUT",
        {"expression": "'it\\'s'", "targetType": '"INT"'},
        "",
        "22P02",
        'invalid input syntax for type integer: "it\'s"',
    ),
    (
        "CAST_INVALID_INPUT",
        {"expression": "'x'", "targetType": '"TIMESTAMP_NTZ"'},
        "",
        "22007",
        'invalid input syntax for type timestamp: "x"',
    ),
    (
        "CAST_INVALID_INPUT",
        {"expression": "'99999999999'", "targetType": '"INT"'},
        "",
        "22003",
        'value "99999999999" is out of range for type integer',
    ),
    ("USER_RAISED_EXCEPTION", {"errorMessage": "22001:too long: x"}, "", "22001", "too long: x"),
    (
        "",
        {},
        "Exception thrown in awaitResult: [SCALAR_SUBQUERY_TOO_MANY_ROWS] More than one row",
        "21000",
        "more than one row returned by a subquery used as an expression",
    ),
    (
        "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.X",
        {},
        "",
        "0A000",
        "this kind of correlated subquery is not supported",
    ),
    ("UNSUPPORTED_FEATURE.X", {}, "[UNSUPPORTED_FEATURE] no", "0A000", "this query is not supported"),
)


@pytest.mark.parametrize(("condition", "parameters", "text", "sqlstate", "message"), CASES)
def test_condition(condition: str, parameters: dict[str, str], text: str, sqlstate: str, message: str) -> None:
    error = from_spark(condition, None, parameters, text)
    assert (error.sqlstate, error.message) == (sqlstate, message)


def test_an_unknown_condition_is_internal_and_keeps_its_first_line() -> None:
    error = from_spark("SOMETHING_NEW", "XX999", {}, "[SOMETHING_NEW] It broke.\n\tat java.lang.Thread")
    assert isinstance(error, InternalError)
    assert error.message == "It broke."


def test_a_numeric_overflow_says_what_would_fit() -> None:
    error = from_spark("NUMERIC_VALUE_OUT_OF_RANGE", None, {"precision": "4", "scale": "2"}, "")
    assert error.detail == "A field with precision 4, scale 2 must round to an absolute value less than 10^2."
