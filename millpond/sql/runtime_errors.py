"""What goes wrong while a query runs, in PostgreSQL's words: the pure mapping from Spark's error conditions.

Checks that translation writes into a query raise `SQLSTATE:message`; Spark's own conditions are looked up here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from millpond.errors import InternalError, MillpondError, SqlState, not_supported
from millpond.sql.spark_text import BIGINT_MARK

Parameters = Mapping[str, str]

_BRACKETED = re.compile(r"\[([A-Z][A-Z0-9_]+)(?:\.[A-Z0-9_]+)?\]")
_RAISED = re.compile(r"(?P<sqlstate>[0-9A-Z]{5}):(?P<message>.*)", re.DOTALL)

_ROUTINE = re.compile(
    r"RuntimeError: in function (?P<name>.*?), line (?P<line>\d+): (?P<message>.*?)(?=\n\tat |\n\n|\Z)", re.DOTALL
)
"""How a function in Python says that it failed."""

_SORT_ORDER_DEFECT = "cannot be cast to class org.apache.spark.sql.catalyst.expressions.SortOrder"
"""How Spark 4.3 fails when it plans LISTAGG with an order together with DISTINCT aggregates of other arguments."""

_TYPE_NAMES = {
    "TINYINT": "smallint",
    "SMALLINT": "smallint",
    "INT": "integer",
    "BIGINT": "bigint",
    "FLOAT": "real",
    "DOUBLE": "double precision",
    "DATE": "date",
    "TIMESTAMP": "timestamp with time zone",
    "TIMESTAMP_NTZ": "timestamp",
    "BOOLEAN": "boolean",
    "INTERVAL": "interval",
}
_TIME_TYPES = frozenset({"date", "timestamp", "timestamp with time zone", "interval"})


def from_spark(condition: str, sqlstate: str | None, parameters: Parameters, message: str) -> MillpondError:
    """The error that PostgreSQL would report.

    >>> str(from_spark("DIVIDE_BY_ZERO", "22012", {}, ""))
    'division by zero'
    """
    main = condition.partition(".")[0]
    routine = _ROUTINE.search(message)
    if routine is not None:
        where = f"In function {routine['name']}, line {routine['line']}."
        return MillpondError(SqlState.EXTERNAL_ROUTINE_EXCEPTION, routine["message"].strip(), detail=where)
    if _SORT_ORDER_DEFECT in message:
        hint = "Compute one of them in a subquery."
        return not_supported("string_agg with ORDER BY next to several aggregates with DISTINCT", hint=hint)
    if main not in _CONDITIONS:
        # An error in a part of the query that ran by itself is wrapped: only the text tells its condition.
        main = next((found for found in _BRACKETED.findall(message) if found in _CONDITIONS), main)
    if main == "ARITHMETIC_OVERFLOW":
        return _overflow(message)
    if main in _CONDITIONS:
        return _CONDITIONS[main](parameters)
    if main.startswith(("UNSUPPORTED_", "NOT_SUPPORTED_")):
        return not_supported("this query", hint=_first_line(message))
    if main.startswith("AMBIGUOUS_") or main.startswith("UNRESOLVED_") or sqlstate is None:
        return InternalError(_first_line(message) or condition)
    return _by_sqlstate(sqlstate, message)


def _by_sqlstate(sqlstate: str, message: str) -> MillpondError:
    """A condition without words of ours: its SQLSTATE if we know it, with the first line of what Spark says."""
    if sqlstate in frozenset(SqlState) and sqlstate[:2] in ("21", "22", "0A"):
        return MillpondError(SqlState(sqlstate), _first_line(message))
    return InternalError(_first_line(message))


def _first_line(message: str) -> str:
    first = message.strip().partition("\n")[0]
    return re.sub(r"^\[[A-Z0-9_.]+\]\s*", "", first)[:500]


def _fixed(sqlstate: SqlState, message: str) -> Callable[[Parameters], MillpondError]:
    return lambda _parameters: MillpondError(sqlstate, message)


def _raised(parameters: Parameters) -> MillpondError:
    """An error that a translated query raised by itself."""
    text = parameters.get("errorMessage", "")
    match = _RAISED.fullmatch(text)
    if match is None:
        return InternalError(text)
    return MillpondError(SqlState(match["sqlstate"]), match["message"])


def _overflow(message: str) -> MillpondError:
    """Spark does not say of which type; the printer has marked the operations that are bigint's."""
    kind = "bigint" if BIGINT_MARK in message or "long overflow" in message else "integer"
    return MillpondError(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, f"{kind} out of range")


def _small_overflow(_parameters: Parameters) -> MillpondError:
    return MillpondError(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "smallint out of range")


def _cast_overflow(parameters: Parameters) -> MillpondError:
    kind = _type_name(parameters.get("targetType", ""))
    message = "numeric field overflow" if kind == "numeric" else f"{kind} out of range"
    return MillpondError(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, message)


def _numeric_overflow(parameters: Parameters) -> MillpondError:
    precision, scale = parameters.get("precision"), parameters.get("scale")
    detail = None
    if precision and scale and precision.isdigit() and scale.isdigit():
        whole = int(precision) - int(scale)
        bound = f"10^{whole}" if whole else "1"
        detail = f"A field with precision {precision}, scale {scale} must round to an absolute value less than {bound}."
    return MillpondError(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow", detail=detail)


def _invalid_input(parameters: Parameters) -> MillpondError:
    """Text that is no value of the type it was cast to."""
    kind = _type_name(parameters.get("targetType", ""))
    text = _unquoted(parameters.get("expression", ""))
    if kind in ("smallint", "integer", "bigint") and re.fullmatch(r"\s*[+-]?\d+\s*", text):
        message = f'value "{text.strip()}" is out of range for type {kind}'
        return MillpondError(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, message)
    sqlstate = SqlState.INVALID_DATETIME_FORMAT if kind in _TIME_TYPES else SqlState.INVALID_TEXT_REPRESENTATION
    return MillpondError(sqlstate, f'invalid input syntax for type {kind}: "{text}"')


def _type_name(spark_type: str) -> str:
    bare = spark_type.strip('"').upper()
    if bare.startswith("DECIMAL"):
        return "numeric"
    return "interval" if bare.startswith("INTERVAL") else _TYPE_NAMES.get(bare, bare.lower())


def _unquoted(expression: str) -> str:
    """The text inside Spark's quotes, its escapes taken out."""
    bare = expression[1:-1] if len(expression) > 1 and expression[0] == expression[-1] == "'" else expression
    return re.sub(r"\\(.)", r"\1", bare, flags=re.DOTALL)


def _bad_format(parameters: Parameters) -> MillpondError:
    text = _unquoted(parameters.get("input", parameters.get("func", "")))
    return MillpondError(SqlState.INVALID_DATETIME_FORMAT, f'invalid value "{text}" for the format')


def _bad_date(parameters: Parameters) -> MillpondError:
    message = parameters.get("rangeMessage", "")
    detail = message or None
    return MillpondError(SqlState.DATETIME_FIELD_OVERFLOW, "date field value out of range", detail=detail)


def _invalid_parameter(parameters: Parameters) -> MillpondError:
    if "regexp" in parameters.get("parameter", ""):
        message = f"invalid regular expression: {parameters.get('value', '')}"
        return MillpondError(SqlState.INVALID_REGULAR_EXPRESSION, message)
    name = _unquoted(parameters.get("functionName", "").replace("`", "'"))
    return MillpondError(SqlState.INVALID_PARAMETER_VALUE, f"invalid argument of {name}")


def _bad_zone(parameters: Parameters) -> MillpondError:
    zone = _unquoted(parameters.get("timeZone", ""))
    return MillpondError(SqlState.INVALID_PARAMETER_VALUE, f'time zone "{zone}" not recognized')


def _unsupported_subquery(_parameters: Parameters) -> MillpondError:
    hint = "Rewrite the subquery as a join, or aggregate it."
    return not_supported("this kind of correlated subquery", hint=hint)


_TOO_MANY_ROWS = "more than one row returned by a subquery used as an expression"

_CONDITIONS: dict[str, Callable[[Parameters], MillpondError]] = {
    "DIVIDE_BY_ZERO": _fixed(SqlState.DIVISION_BY_ZERO, "division by zero"),
    "REMAINDER_BY_ZERO": _fixed(SqlState.DIVISION_BY_ZERO, "division by zero"),
    "INTERVAL_DIVIDED_BY_ZERO": _fixed(SqlState.DIVISION_BY_ZERO, "division by zero"),
    "USER_RAISED_EXCEPTION": _raised,
    "BINARY_ARITHMETIC_OVERFLOW": _small_overflow,
    "CAST_OVERFLOW": _cast_overflow,
    "CAST_OVERFLOW_IN_TABLE_INSERT": _cast_overflow,
    "NUMERIC_VALUE_OUT_OF_RANGE": _numeric_overflow,
    "NUMERIC_OUT_OF_SUPPORTED_RANGE": _numeric_overflow,
    "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION": _numeric_overflow,
    "CAST_INVALID_INPUT": _invalid_input,
    "CANNOT_PARSE_TIMESTAMP": _bad_format,
    "CONVERSION_INVALID_INPUT": _bad_format,
    "DATETIME_FIELD_OUT_OF_BOUNDS": _bad_date,
    "DATETIME_OVERFLOW": _fixed(SqlState.DATETIME_FIELD_OVERFLOW, "timestamp out of range"),
    "INTERVAL_ARITHMETIC_OVERFLOW": _fixed(SqlState.DATETIME_FIELD_OVERFLOW, "interval out of range"),
    "INVALID_TIMEZONE": _bad_zone,
    "SCALAR_SUBQUERY_TOO_MANY_ROWS": _fixed(SqlState.CARDINALITY_VIOLATION, _TOO_MANY_ROWS),
    "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY": _unsupported_subquery,
    "RECURSION_LEVEL_LIMIT_EXCEEDED": _fixed(SqlState.PROGRAM_LIMIT_EXCEEDED, "recursive query does not end"),
    "RECURSION_ROW_LIMIT_EXCEEDED": _fixed(SqlState.PROGRAM_LIMIT_EXCEEDED, "recursive query has too many rows"),
    "INVALID_PARAMETER_VALUE": _invalid_parameter,
    "INVALID_REGEXP_REPLACE": _fixed(SqlState.INVALID_REGULAR_EXPRESSION, "invalid regular expression"),
}
