"""Rows of the function table: dates, times, intervals, and the values that are constant during a statement."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.sql.casts import INTERVAL_DAYS, INTERVAL_HOURS, plain_cast
from millpond.sql.formats import literal_text
from millpond.sql.functions import CONSTANTS, Function, row
from millpond.sql.interval_math import MICROS_BETWEEN, interval_key, is_difference
from millpond.sql.nodes import type_of
from millpond.sql.templates import fill
from millpond.types import TIMESTAMP, SqlType

TRUNCATIONS = frozenset("microseconds milliseconds second minute hour day week month quarter year".split())
_YEARS = {"decade": 10, "century": 100, "millennium": 1000}


def date_trunc(call: exp.Anonymous) -> exp.Expr:
    """`date_trunc('day', t)` -> `DATE_TRUNC('DAY', t)`, in the type of `t`."""
    unit, moment = call.expressions
    word = literal_text(unit, "the unit of date_trunc").lower()
    word = word[:-1] if word.endswith("s") and word[:-1] in TRUNCATIONS else word
    target = type_of(moment)
    if word in _YEARS:
        raise not_supported(f"date_trunc to the {word}", hint="Truncate to the year.")
    if word not in TRUNCATIONS:
        message = f'unit "{word}" not recognized for type {target}'
        raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, message)
    spark_unit = exp.Literal.string(word.removesuffix("s").upper() if word != "microseconds" else "MICROSECOND")
    made = fill("DATE_TRUNC(_1, _2)", spark_unit, moment)
    return plain_cast(made, target) if target == TIMESTAMP else made


# -- extract --------------------------------------------------------------------------------------------------

_MOMENT_FIELDS = {
    "year": "YEAR(_1)",
    "month": "MONTH(_1)",
    "day": "DAYOFMONTH(_1)",
    "hour": "HOUR(_1)",
    "minute": "MINUTE(_1)",
    "second": "DATE_PART('SECOND', _1)",
    "milliseconds": "DATE_PART('SECOND', _1) * 1000",
    "microseconds": "DATE_PART('SECOND', _1) * 1000000",
    "quarter": "QUARTER(_1)",
    "week": "WEEKOFYEAR(_1)",
    "dow": "DAYOFWEEK(_1) - 1",
    "isodow": "WEEKDAY(_1) + 1",
    "doy": "DAYOFYEAR(_1)",
    "isoyear": "DATE_PART('YEAROFWEEK', _1)",
    "decade": "FLOOR(YEAR(_1) / 10)",
    "century": "CEIL(YEAR(_1) / 100)",
    "millennium": "CEIL(YEAR(_1) / 1000)",
    "julian": "DATEDIFF(CAST(_1 AS DATE), CAST('1970-01-01' AS DATE)) + 2440588"
    " + (UNIX_MICROS(CAST(_1 AS TIMESTAMP)) - UNIX_MICROS(CAST(CAST(_1 AS DATE) AS TIMESTAMP))) / 86400000000",
    "epoch": "CAST(UNIX_MICROS(CAST(_1 AS TIMESTAMP)) AS DECIMAL(20,0)) / 1000000",
    "timezone": "0",
    "timezone_hour": "0",
    "timezone_minute": "0",
}
_INTERVAL_FIELDS = {
    "year": "DATE_PART('YEAR', _1)",
    "month": "DATE_PART('MONTH', _1)",
    "day": INTERVAL_DAYS,
    "hour": INTERVAL_HOURS,
    "minute": "DATE_PART('MINUTE', _1)",
    "second": "DATE_PART('SECOND', _1)",
    "milliseconds": "DATE_PART('SECOND', _1) * 1000",
    "microseconds": "DATE_PART('SECOND', _1) * 1000000",
    "quarter": "DATE_PART('MONTH', _1) DIV 3 + 1",
    "decade": "DATE_PART('YEAR', _1) DIV 10",
    "century": "DATE_PART('YEAR', _1) DIV 100",
    "millennium": "DATE_PART('YEAR', _1) DIV 1000",
    "epoch": "CAST(CAST(DATE_PART('YEAR', _1) * 31557600 + DATE_PART('MONTH', _1) * 2592000"
    " + DATE_PART('DAY', _1) * 86400 AS BIGINT) AS DECIMAL(20,0)) + DATE_PART('HOUR', _1) * 3600"
    " + DATE_PART('MINUTE', _1) * 60 + DATE_PART('SECOND', _1)",
}
_DATE_LACKS = frozenset("hour minute second milliseconds microseconds timezone timezone_hour timezone_minute".split())


def can_extract(field: str, kind: SqlType) -> bool:
    """Whether values of the type have the field."""
    fields = _INTERVAL_FIELDS if kind.name == "interval" else _MOMENT_FIELDS
    return field in fields and not (kind.name == "date" and field in _DATE_LACKS)


def extracted(field: str, source: exp.Expr) -> exp.Expr:
    """A field of a moment or interval as Spark computes it, of whatever numeric type that gives."""
    kind = type_of(source)
    fields = _INTERVAL_FIELDS if kind.name == "interval" else _MOMENT_FIELDS
    if not can_extract(field, kind):
        message = f'unit "{field}" not supported for type {kind}'
        raise MillpondError(SqlState.FEATURE_NOT_SUPPORTED, message)
    if field == "epoch" and is_difference(source):
        return fill("CAST(_1 AS DECIMAL(20,0)) / 1000000", fill(MICROS_BETWEEN, source.this, source.expression))
    return fill(fields[field], source)


def _date_part(call: exp.Anonymous) -> exp.Expr:
    """`date_part('hour', t)` is EXTRACT as a double."""
    unit, source = call.expressions
    field = literal_text(unit, "the field of date_part").lower()
    field = {"seconds": "second", "years": "year", "months": "month", "days": "day", "hours": "hour"}.get(field, field)
    if field not in _MOMENT_FIELDS:
        message = f'unit "{field}" not recognized for type {type_of(source)}'
        raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, message)
    return fill("CAST(_1 AS DOUBLE)", extracted(field, source))


# -- to_char, to_date, to_timestamp ---------------------------------------------------------------------------

_PATTERNS: dict[str, str] = {
    "YYYY": "DATE_FORMAT(_1, 'yyyy')",
    "YYY": "SUBSTRING(DATE_FORMAT(_1, 'yyyy'), 2)",
    "YY": "DATE_FORMAT(_1, 'yy')",
    "Y": "SUBSTRING(DATE_FORMAT(_1, 'yyyy'), 4)",
    "IYYY": "CAST(DATE_PART('YEAROFWEEK', _1) AS STRING)",
    "IW": "LPAD(CAST(WEEKOFYEAR(_1) AS STRING), 2, '0')",
    "WW": "LPAD(CAST((DAYOFYEAR(_1) - 1) DIV 7 + 1 AS STRING), 2, '0')",
    "MM": "DATE_FORMAT(_1, 'MM')",
    "MONTH": "RPAD(UPPER(DATE_FORMAT(_1, 'MMMM')), 9, ' ')",
    "Month": "RPAD(DATE_FORMAT(_1, 'MMMM'), 9, ' ')",
    "month": "RPAD(LOWER(DATE_FORMAT(_1, 'MMMM')), 9, ' ')",
    "MON": "UPPER(DATE_FORMAT(_1, 'MMM'))",
    "Mon": "DATE_FORMAT(_1, 'MMM')",
    "mon": "LOWER(DATE_FORMAT(_1, 'MMM'))",
    "DDD": "LPAD(CAST(DAYOFYEAR(_1) AS STRING), 3, '0')",
    "DD": "DATE_FORMAT(_1, 'dd')",
    "DAY": "RPAD(UPPER(DATE_FORMAT(_1, 'EEEE')), 9, ' ')",
    "Day": "RPAD(DATE_FORMAT(_1, 'EEEE'), 9, ' ')",
    "day": "RPAD(LOWER(DATE_FORMAT(_1, 'EEEE')), 9, ' ')",
    "DY": "UPPER(DATE_FORMAT(_1, 'EEE'))",
    "Dy": "DATE_FORMAT(_1, 'EEE')",
    "dy": "LOWER(DATE_FORMAT(_1, 'EEE'))",
    "D": "CAST(DAYOFWEEK(_1) AS STRING)",
    "ID": "CAST(WEEKDAY(_1) + 1 AS STRING)",
    "Q": "CAST(QUARTER(_1) AS STRING)",
    "HH24": "DATE_FORMAT(_1, 'HH')",
    "HH12": "DATE_FORMAT(_1, 'hh')",
    "HH": "DATE_FORMAT(_1, 'hh')",
    "MI": "DATE_FORMAT(_1, 'mm')",
    "SS": "DATE_FORMAT(_1, 'ss')",
    "MS": "DATE_FORMAT(_1, 'SSS')",
    "US": "DATE_FORMAT(_1, 'SSSSSS')",
    "AM": "UPPER(DATE_FORMAT(_1, 'a'))",
    "PM": "UPPER(DATE_FORMAT(_1, 'a'))",
    "am": "LOWER(DATE_FORMAT(_1, 'a'))",
    "pm": "LOWER(DATE_FORMAT(_1, 'a'))",
    "TZ": "'UTC'",
    "OF": "'+00'",
}
_CASED = frozenset("MONTH Month month MON Mon mon DAY Day day DY Dy dy AM PM am pm".split())
_TOKEN = re.compile(
    r'"([^"]*)"|(FM)?(' + "|".join(sorted(map(re.escape, _PATTERNS), key=len, reverse=True)) + ")", re.I
)


def _to_char(call: exp.Anonymous) -> exp.Expr:
    """`to_char(t, 'YYYY-MM')` -> `CONCAT(DATE_FORMAT(t, 'yyyy'), '-', DATE_FORMAT(t, 'MM'))`."""
    moment, pattern = call.expressions
    text = literal_text(pattern, "the format of to_char")
    pieces: list[exp.Expr] = []
    place = 0
    for found in _TOKEN.finditer(text):
        if found.start() > place:
            pieces.append(exp.Literal.string(text[place : found.start()]))
        pieces.append(exp.Literal.string(found[1]) if found[1] is not None else _piece(found, moment))
        place = found.end()
    if place < len(text):
        pieces.append(exp.Literal.string(text[place:]))
    return fill("CONCAT(_all)", *pieces) if pieces else exp.Literal.string("")


def _piece(found: re.Match[str], moment: exp.Expr) -> exp.Expr:
    word = found[3] if found[3] in _CASED else found[3].upper()
    piece = fill(_PATTERNS[word], moment)
    if not found[2]:
        return piece
    trimmed = "RTRIM(_1)" if word.upper() in ("MONTH", "DAY") else "REGEXP_REPLACE(_1, '^0+(?=.)', '')"
    return fill(trimmed, piece)


_INPUT_PATTERNS = {
    "YYYY": "yyyy",
    "MM": "M",
    "DD": "d",
    "HH24": "H",
    "HH12": "h",
    "HH": "h",
    "MI": "m",
    "SS": "s",
    "MS": "SSS",
    "US": "SSSSSS",
    "AM": "a",
    "PM": "a",
    "MON": "MMM",
    "MONTH": "MMMM",
    "YY": "yy",
    "DDD": "D",
}
_INPUT_TOKEN = re.compile("|".join(sorted(_INPUT_PATTERNS, key=len, reverse=True)) + "|[A-Za-z]+", re.I)


def _input_format(node: exp.Expr) -> exp.Expr:
    """A format for reading, in Spark's letters.

    'YYYY-MM-DD HH24:MI' -> 'yyyy-M-d H:m'
    """

    def replaced(found: re.Match[str]) -> str:
        letters = _INPUT_PATTERNS.get(found[0].upper())
        if letters is None:
            raise not_supported(f'"{found[0]}" in a format')
        return letters

    return exp.Literal.string(_INPUT_TOKEN.sub(replaced, literal_text(node, "a format")))


def _to_date(call: exp.Anonymous) -> exp.Expr:
    return fill("TO_DATE(_1, _2)", call.expressions[0], _input_format(call.expressions[1]))


def _to_timestamp(call: exp.Anonymous) -> exp.Expr:
    return fill("TO_TIMESTAMP(_1, _2)", call.expressions[0], _input_format(call.expressions[1]))


# -- the rows -------------------------------------------------------------------------------------------------

_MAKE_DATE = (
    "CASE WHEN _1 IS NULL OR _2 IS NULL OR _3 IS NULL THEN NULL"
    " WHEN _2 BETWEEN 1 AND 12 AND _3 BETWEEN 1 AND DAYOFMONTH(LAST_DAY(MAKE_DATE(_1, _2, 1)))"
    " THEN MAKE_DATE(_1, _2, _3)"
    " ELSE RAISE_ERROR(CONCAT('22008:date field value out of range: ', _1, '-',"
    " LPAD(CAST(_2 AS STRING), 2, '0'), '-', LPAD(CAST(_3 AS STRING), 2, '0'))) END"
)
_DATE_BIN = (
    "TIMESTAMP_MICROS(UNIX_MICROS(CAST(_3 AS TIMESTAMP)) + CAST(FLOOR(CAST(_5 AS DECIMAL(20,0)) / _4) AS BIGINT) * _4)"
)


def _date_bin(call: exp.Anonymous) -> exp.Expr:
    """`date_bin(stride, t, origin)`: the start of the stride that `t` is in."""
    stride, moment, origin = call.expressions
    micros = interval_key(stride)
    apart = fill(MICROS_BETWEEN, moment, origin)
    made = fill(_DATE_BIN, stride, moment, origin, micros, apart)
    return plain_cast(made, type_of(moment)) if type_of(moment) == TIMESTAMP else made


def _second(types: Sequence[SqlType], _nodes: Sequence[exp.Expr]) -> SqlType:
    return types[1]


_MOMENTS = ("timestamp", "timestamptz")


def _unresolved(call: exp.Anonymous) -> exp.Expr:
    raise AssertionError(f"{call.name} is replaced before functions are")


ROWS: tuple[Function, ...] = (
    *(row(name, f"-> {kind}", _unresolved) for name, kind in CONSTANTS.items()),
    row("current_timestamp", "integer -> timestamptz", _unresolved),
    row("localtimestamp", "integer -> timestamp", _unresolved),
    *(row("date_trunc", f"text {kind} -> {kind}", date_trunc) for kind in _MOMENTS),
    *(row("date_part", f"text {kind} -> double", _date_part) for kind in ("date", *_MOMENTS, "interval")),
    *(row("to_char", f"{kind} text -> text", _to_char) for kind in _MOMENTS),
    row("to_date", "text text -> date", _to_date),
    row("to_timestamp", "text text -> timestamptz", _to_timestamp),
    row("to_timestamp", "double -> timestamptz", "TIMESTAMP_MICROS(CAST(RINT(_1 * 1000000) AS BIGINT))"),
    row("make_date", "integer integer integer -> date", _MAKE_DATE),
    row(
        "make_timestamp",
        "integer integer integer integer integer double -> timestamp",
        "MAKE_TIMESTAMP_NTZ(_1, _2, _3, _4, _5, CAST(_6 AS DECIMAL(16,6)))",
    ),
    row(
        "make_timestamptz",
        "integer integer integer integer integer double -> timestamptz",
        "MAKE_TIMESTAMP(_1, _2, _3, _4, _5, CAST(_6 AS DECIMAL(16,6)))",
    ),
    row(
        "make_interval",
        "integer integer integer integer integer integer double -> interval",
        "MAKE_INTERVAL(_1, _2, _3, _4, _5, _6, CAST(_7 AS DECIMAL(18,6)))",
    ),
    *(row("date_bin", f"interval {kind} {kind} ->", _date_bin, result=_second) for kind in _MOMENTS),
    row("justify_hours", "interval -> interval", "_1"),
    row("isfinite", "date -> boolean", "_1 IS NOT NULL"),
    row("isfinite", "timestamptz -> boolean", "_1 IS NOT NULL"),
)
