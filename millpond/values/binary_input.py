"""Bytes into values as PostgreSQL's receive functions read them: binary parameters, and COPY's binary format."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.oids import oid_of
from millpond.types import SqlType
from millpond.values.arrays import Array, arrow_array, contiguous, pc
from millpond.values.binary_output import (
    EPOCH_DAYS,
    EPOCH_US,
    GROUP_DIGITS,
    INTERVAL_SENT,
    INTERVAL_STORED,
    NUMERIC_NEGATIVE,
)
from millpond.values.failure import ConversionError, base_name
from millpond.values.text_input import from_text

Raw = Sequence[bytes | None]

_GROUP_MAX = 9999
_NUMERIC_DIGITS_MAX = 1000
"""No numeric that fits a column has more; a weight of thousands must not become a text of thousands of zeros."""


def from_binary(values: Raw, type: SqlType, *, column: str | None = None) -> Array:
    """The values that the bytes stand for; None is NULL. The first that is none raises `ConversionError`."""
    return _arrays(values, type, column) if type.is_array else _INPUTS[type.name](values, type, column)


def _bad_format(row: int, column: str | None) -> ConversionError:
    message = "incorrect binary data format"
    return ConversionError(MillpondError(SqlState.INVALID_BINARY_REPRESENTATION, message), row, column)


def _received(values: Raw, sent_as: npt.DTypeLike, column: str | None) -> tuple[npt.NDArray[Any], Array]:
    """The numbers that the bytes are, and which of them are not NULL."""
    dtype = np.dtype(sent_as)
    for row, raw in enumerate(values):
        if raw is not None and len(raw) != dtype.itemsize:
            raise _bad_format(row, column)
    nothing = bytes(dtype.itemsize)
    numbers = np.frombuffer(b"".join(nothing if raw is None else raw for raw in values), dtype)
    return numbers, arrow_array([raw is not None for raw in values], pa.bool_())


def _with_nulls(numbers: npt.NDArray[Any], valid: Array, arrow: pa.DataType) -> Array:
    return pc.if_else(valid, arrow_array(numbers, arrow), pa.scalar(None, arrow))  # type: ignore[arg-type]


def _numbers(sent_as: str) -> Callable[[Raw, SqlType, str | None], Array]:
    def receive(values: Raw, type: SqlType, column: str | None) -> Array:
        numbers, valid = _received(values, sent_as, column)
        return _with_nulls(numbers.astype(sent_as[1:]), valid, type.arrow)

    return receive


def _booleans(values: Raw, type: SqlType, column: str | None) -> Array:
    numbers, valid = _received(values, "u1", column)
    return _with_nulls(numbers != 0, valid, type.arrow)


_DAYS = (date.min.toordinal() - date(2000, 1, 1).toordinal(), date.max.toordinal() - date(2000, 1, 1).toordinal())
_MICROSECONDS = (_DAYS[0] * 86_400_000_000, (_DAYS[1] + 1) * 86_400_000_000 - 1)


def _dates(values: Raw, type: SqlType, column: str | None) -> Array:
    days, valid = _received(values, ">i4", column)
    _check_range(days, _DAYS, type, column)
    return _with_nulls(days.astype("i4") + EPOCH_DAYS, valid, pa.int32()).cast(type.arrow)


def _timestamps(values: Raw, type: SqlType, column: str | None) -> Array:
    microseconds, valid = _received(values, ">i8", column)
    _check_range(microseconds, _MICROSECONDS, type, column)
    return _with_nulls(microseconds.astype("i8") + EPOCH_US, valid, pa.int64()).cast(type.arrow)


def _check_range(numbers: npt.NDArray[Any], allowed: tuple[int, int], type: SqlType, column: str | None) -> None:
    """Infinity and years beyond those of the calendar are no values here, as in text."""
    outside = np.nonzero((numbers < allowed[0]) | (numbers > allowed[1]))[0]
    if len(outside):
        error = MillpondError(SqlState.DATETIME_FIELD_OVERFLOW, f"{base_name(type)} out of range")
        raise ConversionError(error, int(outside[0]), column)


def _intervals(values: Raw, type: SqlType, column: str | None) -> Array:
    sent, _ = _received(values, INTERVAL_SENT, column)
    stored = np.empty(len(values), INTERVAL_STORED)
    stored["ns"], stored["days"], stored["months"] = sent["us"] * 1000, sent["days"], sent["months"]
    nulls = [raw is None for raw in values]
    if not any(nulls):
        return pa.Array.from_buffers(type.arrow, len(values), [None, pa.py_buffer(stored.tobytes())])
    bits = contiguous(arrow_array([not null for null in nulls], pa.bool_())).buffers()[1]
    return pa.Array.from_buffers(type.arrow, len(values), [bits, pa.py_buffer(stored.tobytes())])


def _numerics(values: Raw, type: SqlType, column: str | None) -> Array:
    texts = [None if raw is None else _numeric_text(raw, row, column) for row, raw in enumerate(values)]
    return from_text(arrow_array(texts, pa.string()), type, column=column)


def _numeric_text(raw: bytes, row: int, column: str | None) -> str:
    """The reverse of `numeric_bytes`; what is not finite is left to the reader of texts."""
    if len(raw) < 8 or len(raw) != 8 + 2 * int.from_bytes(raw[:2], "big"):
        raise _bad_format(row, column)
    count, weight, sign, scale = struct.unpack("!HhHH", raw[:8])
    groups = struct.unpack(f"!{count}H", raw[8:])
    if sign in _NOT_FINITE:
        return _NOT_FINITE[sign]
    size = (abs(weight) + count) * GROUP_DIGITS
    if sign not in (0, NUMERIC_NEGATIVE) or any(group > _GROUP_MAX for group in groups) or size > _NUMERIC_DIGITS_MAX:
        raise _bad_format(row, column)
    digits = "".join(f"{group:04}" for group in groups)
    point = (weight + 1) * GROUP_DIGITS
    digits = digits.ljust(point, "0") if point > 0 else "0" * -point + digits
    point = max(point, 0)
    fraction = digits[point:].ljust(scale, "0")[:scale]
    return f"{'-' if sign else ''}{digits[:point] or '0'}.{fraction}".removesuffix(".")


_NOT_FINITE = {0xC000: "NaN", 0xD000: "Infinity", 0xF000: "-Infinity"}


def _arrays(values: Raw, type: SqlType, column: str | None) -> Array:
    """Arrays of one dimension, as `binary_output` writes them; all elements are read together."""
    elements: list[bytes | None] = []
    ends: list[int | None] = [0]
    for row, raw in enumerate(values):
        if raw is not None:
            elements += _array_elements(raw, type, row, column)
        ends.append(len(elements))
    offsets = arrow_array([None if raw is None else end for raw, end in zip(values, ends, strict=False)], pa.int32())
    offsets = pa.concat_arrays([offsets, arrow_array(ends[-1:], pa.int32())])
    return pa.ListArray.from_arrays(offsets, from_binary(elements, type.element, column=column), type=type.arrow)


def _array_elements(raw: bytes, type: SqlType, row: int, column: str | None) -> list[bytes | None]:
    """The bytes of each element."""
    try:
        dimensions, _, oid = struct.unpack_from("!iiI", raw)
        if oid != oid_of(type.element) and not type.element.is_string:
            message = f"binary data has array element type {oid} instead of expected {oid_of(type.element)}"
            raise ConversionError(MillpondError(SqlState.DATATYPE_MISMATCH, message), row, column)
        if dimensions > 1:
            raise ConversionError(not_supported("an array of arrays"), row, column)
        count, at = (struct.unpack_from("!ii", raw, 12)[0], 20) if dimensions else (0, 12)
        found: list[bytes | None] = []
        for _ in range(count):
            size = struct.unpack_from("!i", raw, at)[0]
            found.append(None if size < 0 else raw[at + 4 : at + 4 + size])
            at += 4 + max(size, 0)
    except struct.error:
        raise _bad_format(row, column) from None
    if at != len(raw) or dimensions < 0:
        raise _bad_format(row, column)
    return found


def _texts(values: Raw, type: SqlType, column: str | None) -> Array:
    texts = [None if raw is None else _text(raw, row, column) for row, raw in enumerate(values)]
    return from_text(arrow_array(texts, pa.string()), type, column=column)


def _text(raw: bytes, row: int, column: str | None) -> str:
    bad = raw.find(b"\0")
    if bad < 0:
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            bad = error.start
    message = f'invalid byte sequence for encoding "UTF8": 0x{raw[bad]:02x}'
    raise ConversionError(MillpondError(SqlState.CHARACTER_NOT_IN_REPERTOIRE, message), row, column)


def _byteas(values: Raw, type: SqlType, _column: str | None) -> Array:
    return arrow_array(values, type.arrow)


_INPUTS: dict[str, Callable[[Raw, SqlType, str | None], Array]] = {
    "smallint": _numbers(">i2"),
    "integer": _numbers(">i4"),
    "bigint": _numbers(">i8"),
    "real": _numbers(">f4"),
    "double precision": _numbers(">f8"),
    "numeric": _numerics,
    "boolean": _booleans,
    "text": _texts,
    "varchar": _texts,
    "char": _texts,
    "bytea": _byteas,
    "date": _dates,
    "timestamp": _timestamps,
    "timestamptz": _timestamps,
    "interval": _intervals,
}
