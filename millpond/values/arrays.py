"""Small Arrow helpers shared by the conversions: one contiguous array in, one contiguous array out.

The stubs of pyarrow choose among overloads by an array's exact type, which a database knows only at run time;
so arrays and compute functions are typed here, once, by names that read well and check little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute

Array: TypeAlias = Any
"""A `pa.Array` of whatever type."""

Column: TypeAlias = Any
"""A `pa.Array` or a `pa.ChunkedArray` of whatever type."""

pc: Any = pyarrow.compute


def arrow_array(values: Sequence[object], type: pa.DataType) -> Array:
    """Python values as an Arrow array; `ArrowInvalid` where one does not fit."""
    make: Any = pa.array
    return make(values, type)


def nulls(count: int, type: pa.DataType) -> Array:
    make: Any = pa.nulls
    return make(count, type)


def contiguous(values: Column) -> Array:
    """The values as one array, without copying where they are one already."""
    if not isinstance(values, pa.ChunkedArray):
        return values
    if values.num_chunks == 1:
        return values.chunk(0)
    return pa.concat_arrays(values.chunks) if values.num_chunks else nulls(0, values.type)


def as_strings(values: Column) -> Array:
    """Texts of any Arrow string type as one `string` array."""
    found = contiguous(values)
    return found if found.type.equals(pa.string()) else found.cast(pa.string())


def any_true(mask: Array) -> bool:
    return bool(pc.any(mask, min_count=0).as_py())


def first_true(mask: Array) -> int:
    """The row of the first true value; -1 without one."""
    return int(pc.index(mask, True).as_py())


def true_rows(mask: Array) -> list[int]:
    rows: list[int] = pc.indices_nonzero(mask).to_pylist()
    return rows


def with_values(values: Array, rows: Sequence[int], replacements: Array) -> Array:
    """The array with the values of the given rows (ascending) replaced."""
    mask = [False] * len(values)
    for row in rows:
        mask[row] = True
    return contiguous(pc.replace_with_mask(values, arrow_array(mask, pa.bool_()), replacements))
