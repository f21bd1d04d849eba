"""A small table's rows at hand, of the version that was read last: the next one is read by what is new in it.

A table that gets some rows at a time has many files, and Spark takes longer to open one than to read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from millpond.relation import Column
from millpond.values.arrays import nulls

_BYTES_MAX = 4 << 20
"""Tables of up to so many bytes are copied."""


def is_worth_copying(paths: Sequence[str]) -> bool:
    """Whether a table with these files has more than one, and is small."""
    return len(paths) > 1 and sum(Path(path).stat().st_size for path in paths) <= _BYTES_MAX


class TableCopy:
    """The rows of one table, file by file; a file never changes."""

    def __init__(self) -> None:
        self._files: dict[str, pa.Table] = {}
        self._columns: Sequence[Column] = ()

    @property
    def rows(self) -> pa.Table:
        return pa.concat_tables(self._files.values())

    def read(self, paths: Sequence[str], columns: Sequence[Column]) -> bool:
        """Read the files that are new; whether there is any difference."""
        known = self._files if tuple(columns) == tuple(self._columns) else {}
        if tuple(known) == tuple(paths):
            return False
        self._columns = columns
        self._files = {path: known[path] if path in known else _read(path, columns) for path in paths}
        return True


def _read(path: str, columns: Sequence[Column]) -> pa.Table:
    """Columns of a file; it was written before there was one that it does not have."""
    with pq.ParquetFile(path) as file:
        rows = file.metadata.num_rows
        stored = file.read([one.name for one in columns if one.name in file.schema_arrow.names])
    schema = pa.schema([(one.name, one.type.arrow) for one in columns])
    made = [
        stored.column(one.name) if one.name in stored.column_names else nulls(rows, one.type.arrow) for one in columns
    ]
    return pa.table(made, names=schema.names).cast(schema)
