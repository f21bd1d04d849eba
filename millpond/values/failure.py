"""The error of one value in a column, which knows its row so that COPY can name the line and INSERT the position."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from millpond.errors import MillpondError, SqlState
from millpond.types import SqlType


class ConversionError(MillpondError):
    """A value that its column cannot take; `row` counts from 0 within the converted array."""

    def __init__(self, cause: MillpondError, row: int, column: str | None) -> None:
        super().__init__(cause.sqlstate, cause.message, detail=cause.detail, hint=cause.hint, position=cause.position)
        self.row = row
        self.column = column


@contextmanager
def at_row(row: int, column: str | None) -> Iterator[None]:
    """Adds the row and the column to an error raised inside."""
    try:
        yield
    except ConversionError:
        raise
    except MillpondError as error:
        raise ConversionError(error, row, column) from None


def invalid_syntax(type: SqlType, text: str) -> MillpondError:
    return MillpondError(
        SqlState.INVALID_TEXT_REPRESENTATION, f'invalid input syntax for type {base_name(type)}: "{text}"'
    )


def out_of_range(type: SqlType) -> MillpondError:
    """A number that a narrower type cannot hold, found while casting."""
    return MillpondError(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, f"{base_name(type)} out of range")


def mismatch(column: str | None, wanted: SqlType, given: str) -> MillpondError:
    """An expression that PostgreSQL would not assign to the column."""
    return MillpondError(
        SqlState.DATATYPE_MISMATCH,
        f'column "{column or "?"}" is of type {wanted} but expression is of type {given}',
        hint="You will need to rewrite or cast the expression.",
    )


def base_name(type: SqlType) -> str:
    """The type's name without precision or length, as PostgreSQL's input functions print it."""
    return "timestamp" if type.name == "timestamp" else str(SqlType(type.name))
