"""Window functions over the rows of keys, by Arrow and numpy: rows that are remembered, and then those of a cycle.

    rows         all rows, in the order of their keys, then as they are ordered within a key
    place        which row of its key each is, counted from 0

A sum over the last rows is a difference of running totals, where these are exact: integers, and decimals in their
smallest units. Floats are added one after the other, so that each sum is the one that its rows alone would make.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millpond.errors import MillpondError, SqlState
from millpond.plan.history import HistoryCall, HistoryWindow, SortKey, several_rows
from millpond.values.arrays import Array, Column, contiguous, pc

_LONG_MAX = (1 << 63) - 1
_LONG_BYTES = 8

Numbers: TypeAlias = npt.NDArray[Any]
"""A column in numpy."""


@dataclass(frozen=True)
class Ordered:
    """Rows in the order of their keys: where each was, which of its key it is, and how many come after it."""

    rows: Numbers
    place: Numbers
    following: Numbers

    @classmethod
    def by(cls, codes: Numbers, ranks: Sequence[Numbers]) -> Ordered:
        rows = np.lexsort((*reversed(ranks), codes))
        sorted_codes = codes[rows]
        count = np.arange(len(rows))
        starts = np.ones(len(rows), dtype=bool)
        starts[1:] = sorted_codes[1:] != sorted_codes[:-1]
        first = np.maximum.accumulate(np.where(starts, count, 0))
        sizes = np.diff(np.append(np.flatnonzero(starts), len(rows)))
        place = count - first
        return cls(rows, place, np.repeat(sizes, sizes) - place - 1)


def remembered(window: HistoryWindow, rows: pa.Table, memory: pa.Table | None) -> tuple[list[Array], pa.Table]:
    """The columns that the calls of a window make of a cycle's rows, in the order of these, and the memory after them.

    `memory` are the newest rows of each key before, in their order.
    """
    before = rows.select(window.columns).slice(0, 0) if memory is None else memory
    both = pa.concat_tables([before, rows.select(window.columns)]).combine_chunks()
    old, new = before.num_rows, rows.num_rows
    codes = codes_of([both.column(key) for key in window.keys], old + new)
    if not window.order:
        check_single(window, codes[old:])
    ranks = [np.concatenate([np.full(old, -1), ranks_of(rows.column(key.column), key)]) for key in window.order]
    # Rows of earlier cycles come first, whatever they are ordered by.
    ordered = Ordered.by(codes, [(np.arange(old + new) >= old).astype(np.int8), *ranks])
    back = np.empty(old + new, dtype=np.int64)
    back[ordered.rows] = np.arange(old + new)
    wanted = pa.array(back[old:])
    sorted_rows = both.take(ordered.rows)
    made = [array.take(wanted) for call in window.calls for array in _results(call, sorted_rows, ordered)]
    return made, sorted_rows.filter(pa.array(ordered.following < window.kept))


def check_single(window: HistoryWindow, codes: Numbers) -> None:
    if len(np.unique(codes)) < len(codes):
        raise several_rows(window)


# -- keys and order ----------------------------------------------------------------------------------------------


def codes_of(columns: Sequence[Column], count: int) -> Numbers:
    """A number for each row, the same for rows with the same key; NULLs are alike, as in PARTITION BY."""
    codes = np.zeros(count, dtype=np.int64)
    for column in columns:
        found, values = _encoded(column)
        codes = codes * (values + 1) + found
        # Few enough that the next column cannot make them overflow.
        codes = np.unique(codes, return_inverse=True)[1].astype(np.int64) if len(columns) > 1 else codes
    return codes


def _encoded(column: Column) -> tuple[Numbers, int]:
    """The place of each value among the different ones, NULL's after them, and how many they are."""
    if pa.types.is_integer(column.type) and column.null_count == 0 and len(column):
        return _small(column)
    encoded = contiguous(_settled(column)).dictionary_encode()
    values = len(encoded.dictionary)
    return encoded.indices.fill_null(values).to_numpy(zero_copy_only=False).astype(np.int64), values


def _small(column: Column) -> tuple[Numbers, int]:
    """Integers as their distance from the least, or their places if that may be large."""
    numbers = contiguous(column).to_numpy().astype(np.int64)
    least, most = int(numbers.min()), int(numbers.max())
    if most - least < 1 << 31:
        return numbers - least, most - least + 1
    values, found = np.unique(numbers, return_inverse=True)
    return found, len(values)


def _settled(column: Column) -> Column:
    """The column with one form for equal values: both zeros of a float are the same."""
    return pc.add(column, pa.scalar(0.0, column.type)) if pa.types.is_floating(column.type) else column


def ranks_of(column: Column, key: SortKey) -> Numbers:
    """Where each value stands among the different ones in the wanted order."""
    encoded = contiguous(_settled(column)).dictionary_encode()
    values = len(encoded.dictionary)
    ranks = np.empty(values + 1, dtype=np.int64)
    ranks[pc.array_sort_indices(encoded.dictionary).to_numpy()] = np.arange(values)
    if key.descending:
        ranks = values - 1 - ranks
    ranks[values] = -1 if key.nulls_first else values
    return np.asarray(ranks[encoded.indices.fill_null(values).to_numpy(zero_copy_only=False)])


# -- the functions -----------------------------------------------------------------------------------------------


def _results(call: HistoryCall, rows: pa.Table, ordered: Ordered) -> list[Array]:
    columns = [rows.column(name).combine_chunks() for name in call.arguments]
    if call.function == "lag_cycle":
        return [_lagged(columns[0], call.rows, ordered)]
    if call.function == "change_point":
        return [pa.array(_changed(columns, ordered))]
    total, count = _moving(columns[0], call, ordered)
    return [total, count][: len(call.results)]


def _lagged(column: Array, rows: int, ordered: Ordered) -> Array:
    missing = ordered.place < rows
    return column.take(array_of_numbers(np.where(missing, 0, np.arange(len(missing)) - rows), missing))


def _changed(columns: Sequence[Array], ordered: Ordered) -> Numbers:
    changed = np.asarray(ordered.place == 0)
    for column in columns:
        codes, _ = _encoded(column)
        changed[1:] |= codes[1:] != codes[:-1]
    return changed


def _moving(column: Array, call: HistoryCall, ordered: Ordered) -> tuple[Array, Array]:
    """The sum of the last rows' values, and how many there are; both are NULL for none."""
    known = column.is_valid().to_numpy(zero_copy_only=False)
    count = _differences(known.astype(np.int64), call.rows, ordered)
    kind = call.results[0].type.arrow
    if pa.types.is_floating(column.type):
        total = array_of_numbers(_added(_floats(column), call.rows, ordered), count == 0).cast(kind)
    else:
        total = _from_units(_differences(_units(column, call.rows), call.rows, ordered), count == 0, kind)
    return total, array_of_numbers(count, count == 0)


def _differences(values: Numbers, rows: int, ordered: Ordered) -> Numbers:
    """Sums over up to so many rows of a key, by running totals."""
    totals = np.concatenate([np.zeros(1, dtype=values.dtype), np.cumsum(values)])
    last = np.arange(1, len(values) + 1)
    return np.asarray(totals[last] - totals[last - np.minimum(ordered.place + 1, rows)])


def _floats(column: Array) -> Numbers:
    return np.asarray(column.cast(pa.float64()).fill_null(0.0))


def _added(values: Numbers, rows: int, ordered: Ordered) -> Numbers:
    """Sums of floats, the oldest first. What is infinite or no number stays within its own sums."""
    sums = np.zeros(len(values))
    longest = int(ordered.place.max()) + 1 if len(values) else 0
    with np.errstate(invalid="ignore", over="ignore"):
        for distance in range(min(rows, longest) - 1, -1, -1):
            shifted = values[: len(values) - distance]
            sums[distance:] += np.where(ordered.place[distance:] >= distance, shifted, 0.0)
    return sums


def array_of_numbers(values: Numbers, missing: Numbers) -> Array:
    return pa.array(values, mask=missing)


# -- exact numbers -----------------------------------------------------------------------------------------------


def _units(column: Array, rows: int) -> Numbers:
    """Integers, or decimals in their smallest units: as longs if sums of so many fit, else as Python's integers."""
    if not pa.types.is_decimal(column.type):
        longs = np.asarray(column.cast(pa.int64()).fill_null(0))
    else:
        halves = np.frombuffer(column.buffers()[1], dtype=np.int64).reshape(-1, 2)
        halves = halves[column.offset : column.offset + len(column)]
        known = column.is_valid().to_numpy(zero_copy_only=False)
        low, high = np.where(known, halves[:, 0], 0), np.where(known, halves[:, 1], 0)
        if (high != low >> 63).any():
            return np.asarray((high.astype(object) << 64) + low.view(np.uint64).astype(object))
        longs = low
    most = max(abs(int(longs.min())), abs(int(longs.max()))) if len(longs) else 0
    return longs if most * rows <= _LONG_MAX else longs.astype(object)


def _from_units(units: Numbers, missing: Numbers, kind: pa.DataType) -> Array:
    if not pa.types.is_decimal(kind):
        return array_of_numbers(units.astype(np.int64), missing).cast(kind)
    if units.dtype == object:
        if any(abs(one) >= 10**kind.precision for one in units):
            raise MillpondError(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format")
        data = b"".join(int(one).to_bytes(2 * _LONG_BYTES, "little", signed=True) for one in units)
    else:
        data = np.stack([units, units >> 63], axis=1).tobytes()
    valid = pa.array(~missing).buffers()[1]
    return pa.Array.from_buffers(kind, len(units), [valid, pa.py_buffer(data)])
