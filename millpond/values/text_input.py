"""Texts into values as PostgreSQL's input functions read them: the way in of COPY, INSERT and string columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from millpond.errors import MillpondError
from millpond.types import SqlType
from millpond.values import datetimes, intervals, numbers, strings
from millpond.values.arrays import Array, Column, arrow_array, as_strings, nulls, pc, true_rows, with_values
from millpond.values.failure import ConversionError


@dataclass(frozen=True)
class _Input:
    """How a type is read.

    `whole` reads an array at once and raises `ArrowInvalid` unless its result is certain to be PostgreSQL's;
    `common` matches the texts for which it is; `one` reads any text, exactly.
    """

    whole: Callable[[Array, SqlType], Array]
    one: Callable[[str, SqlType], object]
    common: str | None = None


_INTEGERS = _Input(numbers.integers, numbers.integer, numbers.INTEGER_COMMON)
_FLOATS = _Input(numbers.floats, numbers.float_, numbers.FLOAT_COMMON)
_INPUTS = {
    "smallint": _INTEGERS,
    "integer": _INTEGERS,
    "bigint": _INTEGERS,
    "real": _FLOATS,
    "double precision": _FLOATS,
    "numeric": _Input(numbers.numerics, numbers.numeric, numbers.NUMERIC_COMMON),
    "boolean": _Input(numbers.booleans, numbers.boolean, numbers.BOOLEAN_COMMON),
    "text": _Input(strings.texts_of, strings.text_of),
    "varchar": _Input(strings.varchars, strings.text_of),
    "char": _Input(strings.chars, strings.text_of),
    "bytea": _Input(strings.byteas, strings.bytea, strings.BYTEA_COMMON),
    "date": _Input(datetimes.dates, datetimes.date_, datetimes.DATE_COMMON),
    "timestamp": _Input(datetimes.timestamps, datetimes.timestamp, datetimes.TIMESTAMP_COMMON),
    "timestamptz": _Input(datetimes.timestamptzs, datetimes.timestamptz, datetimes.TIMESTAMP_COMMON),
    "interval": _Input(intervals.intervals, intervals.interval),
}


def from_text(texts: Column, type: SqlType, *, column: str | None = None) -> Array:
    """The values that the texts stand for; NULL stays NULL. The first text that is none raises `ConversionError`."""
    values, failures = read_texts(texts, type, column=column, failures_max=1)
    if failures:
        raise failures[0]
    return values


def read_texts(
    texts: Column, type: SqlType, *, column: str | None = None, failures_max: int
) -> tuple[Array, list[ConversionError]]:
    """The values, NULL where a text is none, and the first failures in the order of their rows."""
    strings_in = as_strings(texts)
    how = _INPUTS[type.name]
    try:
        return how.whole(strings_in, type), []
    except pa.ArrowInvalid:
        return _read_mixed(strings_in, type, how, column, failures_max)


def _read_mixed(
    texts: Array, type: SqlType, how: _Input, column: str | None, failures_max: int
) -> tuple[Array, list[ConversionError]]:
    """Common texts as a whole, the others one by one."""
    values, odd_rows = _read_common(texts, type, how)
    odd_texts = texts.take(pa.array(odd_rows, pa.int64())).to_pylist()
    failures: list[ConversionError] = []
    odd_values: list[object] = []
    for row, text in zip(odd_rows, odd_texts, strict=True):
        try:
            odd_values.append(how.one(text, type))
        except MillpondError as error:
            failures.append(ConversionError(error, row, column))
            odd_values.append(None)
            if len(failures) == failures_max:
                return nulls(len(texts), type.arrow), failures
    return with_values(values, odd_rows, _array(odd_values, type)), failures


def _read_common(texts: Array, type: SqlType, how: _Input) -> tuple[Array, Sequence[int]]:
    """The values of the common texts and the rows of the others."""
    present = texts.is_valid()
    if how.common is not None:
        common = pc.fill_null(pc.match_substring_regex(texts, how.common), False)
        try:
            values = how.whole(pc.if_else(common, texts, pa.scalar(None, pa.string())), type)
            return values, true_rows(pc.and_not(present, common))
        except pa.ArrowInvalid:
            pass  # A value of the common form is out of its type's range: reading one by one finds it.
    return nulls(len(texts), type.arrow), true_rows(present)


def _array(values: list[object], type: SqlType) -> Array:
    return arrow_array(values, type.arrow)
