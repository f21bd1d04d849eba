"""The text of a quoted literal, read as a value of its type while binding: errors come early and with a position.

The readers are those of COPY and INSERT. What they read is kept in the bound tree as text again, in the one
spelling that means the same to PostgreSQL and to Spark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from millpond.errors import MillpondError, SqlState
from millpond.types import INTERVAL, NUMERIC_UNCONSTRAINED_SCALE, SqlType
from millpond.values import datetimes, intervals, numbers, strings

TRUE_WORDS = ("1", "on", "t", "tr", "tru", "true", "y", "ye", "yes")
FALSE_WORDS = ("0", "f", "fa", "fal", "fals", "false", "n", "no", "of", "off")


def canonical(text: str, target: SqlType, *, position: int | None = None) -> str:
    """The literal's text in the type's canonical spelling.

    >>> from millpond.types import INTEGER, BOOLEAN, TIMESTAMPTZ
    >>> canonical(" 42 ", INTEGER), canonical("yes", BOOLEAN), canonical("2024-01-01 12:00+02", TIMESTAMPTZ)
    ('42', 'true', '2024-01-01 10:00:00+00:00')
    """
    try:
        return _READERS[target.name](text, target)
    except MillpondError as raised:
        raise MillpondError(
            raised.sqlstate, raised.message, detail=raised.detail, hint=raised.hint, position=position
        ) from None


@dataclass(frozen=True)
class IntervalParts:
    """An interval as Spark's MAKE_INTERVAL takes it."""

    months: int
    days: int
    micros: int


def interval_parts(text: str) -> IntervalParts:
    """The parts of an interval in any of PostgreSQL's spellings.

    >>> interval_parts("1 year 2 months 90 minutes")
    IntervalParts(months=14, days=0, micros=5400000000)
    """
    months, days, nanoseconds = intervals.interval(text, INTERVAL)
    return IntervalParts(months, days, nanoseconds // 1000)


def _integer(text: str, target: SqlType) -> str:
    return str(numbers.integer(text, target))


def _numeric(text: str, target: SqlType) -> str:
    """A declared scale is applied; without one the digits stay as written."""
    rounded = numbers.numeric(text, target)
    written = Decimal(text.strip())
    is_short = -int(written.as_tuple().exponent) <= NUMERIC_UNCONSTRAINED_SCALE
    return f"{written if target.precision is None and is_short else rounded:f}"


def _float(text: str, target: SqlType) -> str:
    value = repr(numbers.float_(text, target))
    return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(value, value)


def _boolean(text: str, target: SqlType) -> str:
    return "true" if numbers.boolean(text, target) else "false"


def _text(text: str, target: SqlType) -> str:
    """Text as it is; an explicit length cuts, and the blanks at the end of char(n) do not count."""
    if "\0" in text:
        raise MillpondError(SqlState.INVALID_TEXT_REPRESENTATION, 'invalid byte sequence for encoding "UTF8": 0x00')
    cut = text[: target.length] if target.length is not None else text
    return cut.rstrip(" ") if target.name == "char" else cut


def _bytea(text: str, target: SqlType) -> str:
    return "\\x" + strings.bytea(text, target).hex()


def _date(text: str, target: SqlType) -> str:
    return datetimes.date_(text, target).isoformat()


def _timestamp(text: str, target: SqlType) -> str:
    return datetimes.timestamp(text, target).isoformat(sep=" ")


def _timestamptz(text: str, target: SqlType) -> str:
    return datetimes.timestamptz(text, target).isoformat(sep=" ")


def _interval(text: str, target: SqlType) -> str:
    return intervals.interval_text(intervals.interval(text, target))


_READERS: dict[str, Callable[[str, SqlType], str]] = {
    "smallint": _integer,
    "integer": _integer,
    "bigint": _integer,
    "numeric": _numeric,
    "real": _float,
    "double precision": _float,
    "boolean": _boolean,
    "text": _text,
    "varchar": _text,
    "char": _text,
    "bytea": _bytea,
    "date": _date,
    "timestamp": _timestamp,
    "timestamptz": _timestamptz,
    "interval": _interval,
}
