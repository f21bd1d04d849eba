"""COPY's errors: what is wrong with the file, and where, as PostgreSQL's CONTEXT line has it."""

from __future__ import annotations

from millpond.errors import MillpondError, SqlState

_SHOWN_CHARACTERS_MAX = 100
"""Longer values and lines are cut where an error shows them, as in PostgreSQL."""


def bad_file(message: str, *, hint: str | None = None) -> MillpondError:
    return MillpondError(SqlState.BAD_COPY_FILE_FORMAT, message, hint=hint)


def bad_encoding(wrong: int) -> MillpondError:
    return bad_file(f'invalid byte sequence for encoding "UTF8": 0x{wrong:02x}')


def in_line(error: MillpondError, relation: str, line: int, text: str) -> MillpondError:
    """The error with the line it was found in."""
    return _with_context(error, f'COPY {relation}, line {line}: "{_cut(text)}"')


def in_column(error: MillpondError, relation: str, line: int, column: str, text: str) -> MillpondError:
    """The error with the value it was found in."""
    return _with_context(error, f'COPY {relation}, line {line}, column {column}: "{_cut(text)}"')


def in_row(error: MillpondError, relation: str, row: int, column: str) -> MillpondError:
    """The error with the place of a value that cannot be shown."""
    return _with_context(error, f"COPY {relation}, line {row}, column {column}")


def _with_context(error: MillpondError, context: str) -> MillpondError:
    detail = f"{error.detail}\n{context}" if error.detail else context
    return MillpondError(error.sqlstate, error.message, detail=detail, hint=error.hint)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS_MAX else text[:_SHOWN_CHARACTERS_MAX] + "..."
