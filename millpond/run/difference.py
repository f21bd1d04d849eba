"""What changed from one answer to the next: rows inserted, deleted and updated, found by column and by counting.

1. Both answers are put below one another, and equal rows are counted: +1 for each in the new one, -1 in the old one.
2. What does not come out at zero was inserted or deleted, as often as the number says.
3. Where the answers have a key, a row that is deleted and another that is inserted with the same key are an update.

Two rows are equal if a client could not tell them apart: NULL is NULL, NaN is NaN, and -0 is not 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millpond.types import from_arrow
from millpond.values import to_text
from millpond.values.arrays import Column, pc

Kind = Literal["snapshot", "insert", "delete", "update_old", "update_new", "progress", "skipped"]

Key = Sequence[int]
"""The places of the columns that tell rows apart; none if there is at most one row."""

_Rows = npt.NDArray[np.int64]

_CHANGE, _SIGN, _ROW = "change", "sign", "row"


@dataclass(frozen=True)
class _Changed:
    """Row numbers in the old answer and the new one below it: deletions and insertions, row by row."""

    deleted: _Rows
    inserted: _Rows


@dataclass(frozen=True)
class _Groups:
    """For each group of equal rows: the sum of its signs, how many they are, and the numbers of the first and last."""

    net: _Rows
    count: _Rows
    first: _Rows
    last: _Rows


def difference(old: pa.Table, new: pa.Table, key: Key | None) -> pa.Table:
    """The changes that make one answer of another: a column `change`, then those of the answers.

    Deletions come first, then the two rows of each update next to each other, then insertions.
    """
    both = pa.concat_tables([old, new])
    changed = _changed(both, old.num_rows)
    updated_old, updated_new = _updated(both, changed, key)
    deleted = changed.deleted[~np.isin(changed.deleted, updated_old)]
    inserted = changed.inserted[~np.isin(changed.inserted, updated_new)]
    pairs = np.column_stack([updated_old, updated_new]).ravel()
    rows = both.take(pa.array(np.concatenate([deleted, pairs, inserted])))
    kinds = [*_repeated("delete", deleted), *["update_old", "update_new"] * len(updated_old)]
    return with_kinds(rows, [*kinds, *_repeated("insert", inserted)])


def with_kinds(rows: pa.Table, kinds: Sequence[str]) -> pa.Table:
    """Rows with the kinds of their changes before them."""
    return rows.add_column(0, _CHANGE, pa.array(kinds, pa.string()))


def all_of(rows: pa.Table, kind: Kind) -> pa.Table:
    """Rows with one kind of change."""
    return rows.add_column(0, _CHANGE, pa.repeat(kind, rows.num_rows))


def _repeated(kind: Kind, rows: _Rows) -> list[str]:
    return [kind] * len(rows)


def _changed(both: pa.Table, old_rows: int) -> _Changed:
    """Steps 1 and 2. Of equal rows in the old answer the first stand for all, of those in the new one the last."""
    signs = np.ones(both.num_rows, np.int64)
    signs[:old_rows] = -1
    groups = _grouped(both.columns, signs)
    gone, come = groups.net < 0, groups.net > 0
    deleted = np.repeat(groups.first[gone], -groups.net[gone])
    return _Changed(deleted, np.repeat(groups.last[come], groups.net[come]))


def _updated(both: pa.Table, changed: _Changed, key: Key | None) -> tuple[_Rows, _Rows]:
    """Step 3: the old and the new rows of updates. A key that one answer has twice tells nothing."""
    rows = np.concatenate([changed.deleted, changed.inserted])
    if key is None or not len(rows):
        return rows[:0], rows[:0]
    signs = np.ones(len(rows), np.int64)
    signs[: len(changed.deleted)] = -1
    columns = [_without_negative_zero(both.column(place)) for place in key]
    keyed = pa.table(columns, names=_names(columns)).take(pa.array(rows)).columns
    groups = _grouped(keyed, signs)
    paired = (groups.count == 2) & (groups.net == 0)
    return rows[groups.first[paired]], rows[groups.last[paired]]


def _grouped(columns: Sequence[Column], signs: _Rows) -> _Groups:
    """Rows that are equal in the columns."""
    names = _names(columns)
    numbers = {_SIGN: pa.array(signs), _ROW: pa.array(np.arange(len(signs)))}
    table = pa.table({**dict(zip(names, map(_comparable, columns), strict=True)), **numbers})
    found = table.group_by(names, use_threads=False).aggregate(
        [(_SIGN, "sum"), (_SIGN, "count"), (_ROW, "min"), (_ROW, "max")]
    )
    wanted = (f"{_SIGN}_sum", f"{_SIGN}_count", f"{_ROW}_min", f"{_ROW}_max")
    return _Groups(*(found[name].to_numpy() for name in wanted))


def _names(columns: Sequence[Column]) -> list[str]:
    return [f"c{place}" for place in range(len(columns))]


def _comparable(column: Column) -> Column:
    """Values of which equal ones are the same for grouping, which knows no arrays and tells one NaN from another."""
    if pa.types.is_nested(column.type):
        return to_text(column, from_arrow(column.type))
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.is_nan(column), pa.scalar(float("nan"), column.type), column)
    return column


def _without_negative_zero(column: Column) -> Column:
    """A key's values: SQL groups -0 with 0."""
    if not pa.types.is_floating(column.type):
        return column
    zero = pa.scalar(0.0, column.type)
    return pc.if_else(pc.equal(column, zero), zero, column)
