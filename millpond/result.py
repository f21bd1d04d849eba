"""The result of a statement: rows as Arrow, pandas, tuples or a Spark DataFrame, and what was done."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from millpond.types import INTERVAL, SqlType, from_arrow
from millpond.values import from_text, to_text
from millpond.values.arrays import Column, pc

if TYPE_CHECKING:
    import pandas as pd

REPR_ROWS_MAX = 20
"""Rows that a repr shows: enough to recognise a result, few enough for a terminal."""


@dataclass(frozen=True)
class ResultColumn:
    """A column as the client sees it; names may repeat."""

    name: str
    type: SqlType


@dataclass(frozen=True)
class Notice:
    """What the client should know and need not mend."""

    message: str
    severity: str = "NOTICE"
    sqlstate: str | None = None


class Frame(Protocol):
    """A query that is analysed and pinned to its snapshot, not yet run; see `millpond.spark.runner`."""

    dataframe: Any

    def collect(self) -> pa.Table: ...

    def size_estimate(self) -> int: ...

    def pieces(self, directory: Path) -> Iterator[pa.Table]: ...


@dataclass
class Result:
    """What a statement gave back. The rows of a query made by `Pond.sql` are computed when they are first read.

    Those of a cursor, or of a stream, come in pieces: iterating gives rows as they come. `shared` says that other
    results have the very same table of rows, as long as a view does not change.
    """

    verb: str
    columns: tuple[ResultColumn, ...] = ()
    notices: list[Notice] = field(default_factory=list)
    rows_changed: int | None = None
    shared: bool = False
    _frame: Frame | None = None
    _table: pa.Table | None = None
    _to_dataframe: Callable[[pa.Table], Any] | None = None
    _rest: Iterator[pa.Table] | None = None
    _read: list[pa.Table] = field(default_factory=list)

    @classmethod
    def flowing(
        cls,
        verb: str,
        columns: tuple[ResultColumn, ...],
        pieces: Iterator[pa.Table],
        to_dataframe: Callable[[pa.Table], Any],
    ) -> Result:
        """A result whose rows come in pieces, each as it is computed."""
        rest = (_conformed(piece, columns)[0] for piece in pieces)
        return cls(verb, columns, _to_dataframe=to_dataframe, _rest=rest)

    @property
    def tag(self) -> str:
        """The command tag, as psql shows it."""
        return command_tag(self.verb, self.rowcount)

    @property
    def rowcount(self) -> int:
        """Rows returned or changed; -1 where that means nothing."""
        if self.rows_changed is not None:
            return self.rows_changed
        return len(self._rows()) if self.columns else -1

    def arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return self._rows().rename_columns([column.name for column in self.columns])

    def pandas(self) -> pd.DataFrame:
        """The rows as a pandas frame."""
        return self.arrow().to_pandas()

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows as tuples of Python values."""
        return list(_tuples(self._rows()))

    def fetchone(self) -> tuple[Any, ...] | None:
        """The first row, or None."""
        rows = self._rows().slice(0, 1)
        return tuple(column[0].as_py() for column in rows.columns) if len(rows) else None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """The rows as tuples; those that come in pieces, as they come."""
        place = 0
        while self._rest is not None and self._table is None:
            if place == len(self._read) and not self._read_on():
                break
            yield from _tuples(self._read[place])
            place += 1
        seen = sum(len(piece) for piece in self._read[:place])
        yield from _tuples(self._rows().slice(seen))

    def spark(self) -> Any:
        """The rows as a Spark DataFrame, pinned to the snapshot that the statement saw."""
        names = [column.name for column in self.columns]
        if self._frame is not None:
            return self._frame.dataframe.toDF(*names)
        assert self._to_dataframe is not None
        return self._to_dataframe(self.arrow())

    def text_rows(self) -> list[list[str | None]]:
        """The rows in PostgreSQL's text form, NULL as None."""
        table = self._rows()
        texts = [
            to_text(column, described.type).to_pylist()
            for column, described in zip(table.columns, self.columns, strict=True)
        ]
        return [list(row) for row in zip(*texts, strict=True)]

    def __repr__(self) -> str:
        if not self.columns:
            return self.tag
        table = self._rows()
        shown = Result("", self.columns, _table=table.slice(0, REPR_ROWS_MAX)).text_rows()
        grid = [
            [column.name for column in self.columns],
            *[["" if cell is None else cell for cell in row] for row in shown],
        ]
        more = len(table) - len(shown)
        count = f"({len(table)} row{'' if len(table) == 1 else 's'})"
        return "\n".join([*_aligned(grid), *([f"... {more} more"] if more else []), count])

    @property
    def table(self) -> pa.Table | None:
        """The rows, their columns without names, if they have been computed."""
        return self._table

    def pieces(self, directory: Path, *, memory_bytes_max: int) -> Iterator[pa.Table]:
        """The rows in pieces. What may be larger than the memory goes by way of files in a new directory."""
        if self._rest is not None and self._table is None:
            yield from self._rest
            return
        frame = self._frame
        if self._table is not None or frame is None or frame.size_estimate() <= memory_bytes_max:
            yield self._rows()
            return
        for piece in frame.pieces(directory):
            yield self._conform(piece)

    def close(self) -> None:
        """Let go of rows that nobody will read."""
        if isinstance(self._rest, Generator):
            self._rest.close()

    def materialise(self) -> None:
        """Compute the rows now."""
        self._rows()

    def _rows(self) -> pa.Table:
        if self._table is None:
            if self._rest is not None:
                while self._read_on():
                    pass
                self._table = pa.concat_tables(self._read) if self._read else self._no_rows()
            elif self._frame is not None:
                self._table = self._conform(self._frame.collect())
            else:
                return pa.table({})
        return self._table

    def _read_on(self) -> bool:
        """Wait for the next piece; whether there is one."""
        assert self._rest is not None
        piece = next(self._rest, None)
        if piece is not None:
            self._read.append(piece)
        return piece is not None

    def _no_rows(self) -> pa.Table:
        fields = [(f"c{index}", column.type.arrow) for index, column in enumerate(self.columns)]
        return pa.schema(fields).empty_table()

    def _conform(self, table: pa.Table) -> pa.Table:
        rows, self.columns = _conformed(table, self.columns)
        return rows


def _conformed(table: pa.Table, announced: tuple[ResultColumn, ...]) -> tuple[pa.Table, tuple[ResultColumn, ...]]:
    """Rows with the types that were announced, and the columns: of Spark's own type where binding could not know it
    better."""
    columns, described = [], []
    for given, column in zip(table.columns, announced, strict=True):
        # Spark cannot hand out a calendar interval, so it comes as text.
        values = from_text(given, INTERVAL) if column.type == INTERVAL else given
        exact = column.type.arrow == values.type
        described.append(column if exact else ResultColumn(column.name, from_arrow(values.type)))
        columns.append(_padded(values, column.type))
    return pa.table(columns, names=[f"c{index}" for index in range(len(columns))]), tuple(described)


def _tuples(rows: pa.Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in rows.columns), strict=True)


def command_tag(verb: str, rows: int) -> str:
    """The command tag of a statement that returned or changed so many rows; -1 where that means nothing."""
    if verb == "INSERT":
        return f"INSERT 0 {rows}"
    return verb if rows < 0 else f"{verb} {rows}"


def _padded(column: Column, sql_type: SqlType) -> Column:
    """char(n) is stored without its blanks and shown with them."""
    return pc.utf8_rpad(column, sql_type.length) if sql_type.name == "char" and sql_type.length else column


def _aligned(grid: list[list[str]]) -> list[str]:
    widths = [max(len(row[index]) for row in grid) for index in range(len(grid[0]))]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in grid]
    return [lines[0], "-+-".join("-" * width for width in widths), *lines[1:]]
