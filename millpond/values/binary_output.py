"""Values into bytes as PostgreSQL's send functions write them: binary results of the wire, and COPY's binary format."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millpond.oids import oid_of
from millpond.types import SqlType
from millpond.values.arrays import Array, Column, arrow_array, contiguous, pc
from millpond.values.text_output import to_text

EPOCH_DAYS = 10_957
"""Days from 1970 to 2000, where PostgreSQL begins to count."""

EPOCH_US = EPOCH_DAYS * 86_400_000_000

INTERVAL_STORED = np.dtype([("months", "<i4"), ("days", "<i4"), ("ns", "<i8")])
"""An interval in Arrow's memory."""

INTERVAL_SENT = np.dtype([("us", ">i8"), ("days", ">i4"), ("months", ">i4")])
"""An interval on the wire."""

_NULL_LENGTH = -1

NUMERIC_NEGATIVE = 0x4000
GROUP_DIGITS = 4
"""A numeric travels as groups of four decimal digits."""


def to_binary(values: Column, type: SqlType) -> Array:
    """The bytes of the values, which must be of `type.arrow`; NULL stays NULL."""
    array = contiguous(values)
    return _arrays(array, type) if type.is_array else _OUTPUTS[type.name](array, type)


def fixed_size(numbers: npt.NDArray[np.generic]) -> Array:
    """Each number's bytes, as they lie in memory."""
    stored = pa.py_buffer(numbers.tobytes())
    return pa.Array.from_buffers(pa.binary(numbers.dtype.itemsize), len(numbers), [None, stored]).cast(pa.binary())


def row_bodies(columns: Sequence[Array], count: int) -> Array:
    """Rows as the wire and COPY's binary format have them: the number of columns, then each value behind its length.

    The columns hold bytes, or texts.
    """
    parts: list[Array] = [fixed_size(np.full(count, len(columns), ">i2"))]
    for column in columns:
        values = column.cast(pa.binary())
        lengths = pc.fill_null(pc.binary_length(values), _NULL_LENGTH).to_numpy(zero_copy_only=False)
        parts += (fixed_size(lengths.astype(">i4")), pc.fill_null(values, b""))
    return pc.binary_join_element_wise(*parts, b"")


def _sent(numbers: npt.NDArray[np.generic], values: Array) -> Array:
    """Numbers as bytes, NULL where the values are."""
    sent = fixed_size(numbers)
    return pc.if_else(values.is_valid(), sent, pa.scalar(None, pa.binary())) if values.null_count else sent


def _numbers(sent_as: str) -> Callable[[Array, SqlType], Array]:
    def send(values: Array, _type: SqlType) -> Array:
        zero = pa.scalar(0, values.type)
        return _sent(pc.fill_null(values, zero).to_numpy(zero_copy_only=False).astype(sent_as), values)

    return send


def _booleans(values: Array, _type: SqlType) -> Array:
    return _sent(pc.fill_null(values, False).to_numpy(zero_copy_only=False).astype("u1"), values)


def _dates(values: Array, _type: SqlType) -> Array:
    days = pc.fill_null(values.cast(pa.int32()), 0).to_numpy(zero_copy_only=False)
    return _sent((days - EPOCH_DAYS).astype(">i4"), values)


def _timestamps(values: Array, _type: SqlType) -> Array:
    microseconds = pc.fill_null(values.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
    return _sent((microseconds - EPOCH_US).astype(">i8"), values)


def _intervals(values: Array, _type: SqlType) -> Array:
    stored = np.frombuffer(values.buffers()[1], INTERVAL_STORED, len(values), values.offset * INTERVAL_STORED.itemsize)
    sent = np.empty(len(values), INTERVAL_SENT)
    sent["us"], sent["days"], sent["months"] = stored["ns"] // 1000, stored["days"], stored["months"]
    return _sent(sent, values)


def _numerics(values: Array, type: SqlType) -> Array:
    texts = to_text(values, type).to_pylist()
    return arrow_array([None if text is None else numeric_bytes(text) for text in texts], pa.binary())


def numeric_bytes(text: str) -> bytes:
    """A numeric's digits in groups of four: their number, the weight of the first, the sign, the scale, the groups.

    >>> numeric_bytes("-12345.6").hex(" ", 2)
    '0003 0001 4000 0001 0001 0929 1770'
    """
    sign = NUMERIC_NEGATIVE if text.startswith("-") else 0
    whole, _, fraction = text.lstrip("-").partition(".")
    whole_groups = -(-len(whole) // GROUP_DIGITS)
    digits = whole.zfill(whole_groups * GROUP_DIGITS) + fraction + "0" * (-len(fraction) % GROUP_DIGITS)
    groups = [int(digits[at : at + GROUP_DIGITS]) for at in range(0, len(digits), GROUP_DIGITS)]
    weight = whole_groups - 1
    while groups and groups[-1] == 0:
        groups.pop()
    while groups and groups[0] == 0:
        groups.pop(0)
        weight -= 1
    weight = weight if groups else 0
    return struct.pack(f"!HhHH{len(groups)}H", len(groups), weight, sign if groups else 0, len(fraction), *groups)


def _arrays(values: Array, type: SqlType) -> Array:
    """Arrays of one dimension count from 1."""
    return _lists(values, type.element, first=1)


def _vectors(values: Array, type: SqlType) -> Array:
    """int2vector and oidvector count from 0."""
    return _lists(values, SqlType("smallint" if type.name == "int2vector" else "oid"), first=0)


def _lists(values: Array, element: SqlType, *, first: int) -> Array:
    """Whether there are NULLs, the type, the length, where counting begins, then each element behind its length."""
    rows: list[bytes | None] = []
    for scalar in values:
        if not scalar.is_valid:
            rows.append(None)
            continue
        elements = to_binary(scalar.values, element)
        dimensions = 1 if len(elements) else 0
        head = struct.pack("!iiI", dimensions, int(elements.null_count > 0), oid_of(element))
        size = struct.pack("!ii", len(elements), first) if dimensions else b""
        rows.append(head + size + b"".join(map(_behind_length, elements.to_pylist())))
    return arrow_array(rows, pa.binary())


def _behind_length(value: bytes | None) -> bytes:
    return struct.pack("!i", _NULL_LENGTH) if value is None else struct.pack("!i", len(value)) + value


def _texts(values: Array, type: SqlType) -> Array:
    return to_text(values, type).cast(pa.binary())


def _byteas(values: Array, _type: SqlType) -> Array:
    return values.cast(pa.binary())


_OUTPUTS: dict[str, Callable[[Array, SqlType], Array]] = {
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
    "oid": _numbers(">u4"),
    "name": _texts,
    '"char"': _texts,
    "json": _texts,
    "int2vector": _vectors,
    "oidvector": _vectors,
}
