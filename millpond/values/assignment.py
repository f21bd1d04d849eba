"""Arrow arrays into declared types by PostgreSQL's assignment rules: what INSERT may convert without being asked.

Numbers fit into any number that is wide enough, anything can be printed into a text column, strings are read by the
input functions, dates and timestamps convert into each other. Everything else is an error, as in PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.types as pt

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.types import (
    BIGINT,
    BOOLEAN,
    BYTEA,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    REAL,
    SMALLINT,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    SqlType,
    numeric,
)
from millpond.values.arrays import (
    Array,
    Column,
    any_true,
    arrow_array,
    contiguous,
    first_true,
    nulls,
    pc,
    true_rows,
    with_values,
)
from millpond.values.failure import ConversionError, mismatch, out_of_range
from millpond.values.intervals import month_day_nano
from millpond.values.numbers import not_finite, numeric_overflow
from millpond.values.text_input import from_text
from millpond.values.text_output import to_text

_DATETIMES = ("date", "timestamp", "timestamptz")
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31 in days since 1970."""

_DAY_US = 86_400_000_000


def assign(values: Column, type: SqlType, *, column: str | None = None) -> Array:
    """The values as the column's type holds them."""
    array = _plain(contiguous(values), column)
    if pt.is_null(array.type):
        return nulls(len(array), type.arrow)
    if pt.is_string(array.type):
        return from_text(array, type, column=column)
    given = sql_type_of(array.type, column)
    if type.is_string:
        return from_text(_cast_text(array, given), type, column=column)
    return _assign_other(array, given, type, column)


def sql_type_of(arrow: pa.DataType, column: str | None = None) -> SqlType:
    """The SQL type that an Arrow type is nearest to."""
    for recognise, type in _NEAREST:
        if recognise(arrow):
            return type
    if isinstance(arrow, (pa.Decimal128Type, pa.Decimal256Type)) or pt.is_decimal(arrow):
        return numeric(arrow.precision, arrow.scale)
    if isinstance(arrow, pa.TimestampType):
        return TIMESTAMP if arrow.tz is None else TIMESTAMPTZ
    of_column = f' of column "{column}"' if column else ""
    raise not_supported(f"the Arrow type {arrow}{of_column}", hint="Convert it to one of the SQL types first.")


_NEAREST = (
    (pt.is_boolean, BOOLEAN),
    (lambda arrow: pt.is_int8(arrow) or pt.is_uint8(arrow) or pt.is_int16(arrow), SMALLINT),
    (lambda arrow: pt.is_uint16(arrow) or pt.is_int32(arrow), INTEGER),
    (lambda arrow: pt.is_uint32(arrow) or pt.is_int64(arrow), BIGINT),
    (pt.is_uint64, numeric(20)),
    (lambda arrow: pt.is_float16(arrow) or pt.is_float32(arrow), REAL),
    (pt.is_float64, DOUBLE),
    (lambda arrow: pt.is_string(arrow) or pt.is_large_string(arrow), TEXT),
    (lambda arrow: pt.is_binary(arrow) or pt.is_large_binary(arrow), BYTEA),
    (pt.is_date, DATE),
    (lambda arrow: pt.is_interval(arrow) or pt.is_duration(arrow), INTERVAL),
)


def _plain(array: Array, column: str | None) -> Array:
    """Without the encodings that only save space: dictionaries, run ends, views, 64-bit offsets."""
    arrow = array.type
    if pt.is_dictionary(arrow):
        return _plain(array.dictionary_decode(), column)
    if pt.is_run_end_encoded(arrow):
        return _plain(pc.run_end_decode(array), column)
    if pt.is_large_string(arrow) or pt.is_string_view(arrow):
        return array.cast(pa.string())
    if pt.is_large_binary(arrow) or pt.is_binary_view(arrow) or pt.is_fixed_size_binary(arrow):
        return array.cast(pa.binary())
    if pt.is_nested(arrow):
        of_column = f' of column "{column}"' if column else ""
        raise not_supported(f"the nested type {arrow}{of_column}", hint="Flatten it into columns, or store it as text.")
    return array


def _cast_text(array: Array, given: SqlType) -> Array:
    """The texts of a cast, which for booleans are whole words."""
    if given == BOOLEAN:
        return pc.if_else(array, "true", "false")
    if pt.is_duration(array.type):
        return to_text(_interval(array), given)
    return to_text(array.cast(given.arrow, safe=False), given)


def _assign_other(array: Array, given: SqlType, type: SqlType, column: str | None) -> Array:
    if given.name in _DATETIMES and type.name in _DATETIMES:
        return _datetime(array, given, type, column)
    if array.type.equals(type.arrow):
        return array
    if given.is_number and type.is_number:
        return _number(array, given, type, column)
    if pt.is_duration(array.type) and type == INTERVAL:
        return _interval(array)
    raise mismatch(column, type, str(given))


def _datetime(array: Array, given: SqlType, type: SqlType, column: str | None) -> Array:
    """In microseconds of UTC, and within the years 1 to 9999, which every part of the pond can hold."""
    range_error = MillpondError(
        SqlState.DATETIME_FIELD_OVERFLOW, f"{'date' if given == DATE else 'timestamp'} out of range"
    )
    values = _located(array, lambda part: _without_fractions(part, given), range_error, column)
    ordinals = values.cast(pa.int32() if given == DATE else pa.int64())
    first, last = (_FIRST_DAY, _LAST_DAY) if given == DATE else (_FIRST_DAY * _DAY_US, (_LAST_DAY + 1) * _DAY_US - 1)
    outside = pc.or_(pc.less(ordinals, first), pc.greater(ordinals, last))
    if any_true(outside):
        raise ConversionError(range_error, first_true(outside), column)
    return values if values.type.equals(type.arrow) else values.cast(type.arrow, safe=False)


def _without_fractions(array: Array, given: SqlType) -> Array:
    """Nanoseconds are cut to microseconds; that a coarser unit overflows is an error."""
    finer = pt.is_timestamp(array.type) and array.type.unit == "ns"
    return array if array.type.equals(given.arrow) else array.cast(given.arrow, safe=not finer)


def _number(array: Array, given: SqlType, type: SqlType, column: str | None) -> Array:
    if type.is_integer:
        return _located(array, lambda part: _rounded(part, 0).cast(type.arrow), out_of_range(type), column)
    if type.is_float:
        return _float(array, type, column)
    if given.is_float:
        return _numeric_of_float(array, type, column)
    overflow = numeric_overflow(type)
    return _located(array, lambda part: _rounded(part, type.decimal_scale).cast(type.arrow), overflow, column)


def _rounded(array: Array, scale: int) -> Array:
    """Floats round half to even, decimals half away from zero; integers become decimals if digits are wanted."""
    if pt.is_floating(array.type):
        return pc.round(array, round_mode="half_to_even")
    if pt.is_integer(array.type):
        return array if scale == 0 else array.cast(pa.decimal128(20, 0))
    if array.type.scale <= scale:
        return array
    # Rounding up may need a digit more than the declared precision has.
    wide = array.cast(pa.decimal256(76, array.type.scale))
    return pc.round(wide, ndigits=scale, round_mode="half_towards_infinity")


def _float(array: Array, type: SqlType, column: str | None) -> Array:
    values = array.cast(type.arrow, safe=False)
    if pt.is_floating(array.type):
        lost = pc.and_(pc.is_inf(values), pc.invert(pc.is_inf(array)))
        if any_true(lost):
            error = MillpondError(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow")
            raise ConversionError(error, first_true(lost), column)
    return values


def _numeric_of_float(array: Array, type: SqlType, column: str | None) -> Array:
    """Through the float's decimal digits, 15 of a double and 6 of a real, as PostgreSQL does."""
    infinite = pc.invert(pc.fill_null(pc.is_finite(array), True))
    if any_true(infinite):
        row = first_true(infinite)
        raise ConversionError(not_finite(str(array[row].as_py())), row, column)
    digits = 15 if pt.is_float64(array.type) else 6
    texts = array.cast(pa.string())
    long = pc.fill_null(pc.greater(pc.binary_length(texts), digits + 1), False)
    rows = true_rows(long)
    shortened = [f"{value:.{digits}g}" for value in array.take(pa.array(rows, pa.int64())).to_pylist()]
    return from_text(with_values(texts, rows, pa.array(shortened, pa.string())), type, column=column)


def _interval(array: Array) -> Array:
    nanoseconds = array.cast(pa.duration("ns")).cast(pa.int64()).to_pylist()
    return arrow_array([None if ns is None else month_day_nano(0, 0, ns) for ns in nanoseconds], INTERVAL.arrow)


def _located(array: Array, convert: Callable[[Array], Array], error: MillpondError, column: str | None) -> Array:
    """The converted array; where it cannot be, the error names the first row that fails, found by halving."""
    try:
        return convert(array)
    except pa.ArrowInvalid:
        good, bad = 0, len(array)
        while bad - good > 1:
            middle = (good + bad) // 2
            if _converts(array.slice(good, middle - good), convert):
                good = middle
            else:
                bad = middle
        raise ConversionError(error, good, column) from None


def _converts(array: Array, convert: Callable[[Array], Array]) -> bool:
    try:
        convert(array)
    except pa.ArrowInvalid:
        return False
    return True
