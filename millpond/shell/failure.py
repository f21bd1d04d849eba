"""Errors and notices as psql prints them, with the line and a caret where the position is known."""

from __future__ import annotations

from rich.cells import cell_len

from millpond.shell.backend import Notice, StatementError

_LINE_WIDTH_MAX = 60
"""As in psql: a long line, shortened around its mistake, fits a terminal of 80 columns."""


def render_error(error: StatementError, sql: str | None = None) -> str:
    """The report of an error; `sql` is the statement that its position points into.

    >>> print(render_error(StatementError('column "x" does not exist', position=8), "SELECT x"))
    ERROR:  column "x" does not exist
    LINE 1: SELECT x
                   ^
    """
    lines = [f"ERROR:  {error.message}"]
    if sql is not None and error.position is not None and 1 <= error.position <= len(sql) + 1:
        lines.extend(_pointer(sql, error.position - 1))
    return "\n".join(lines + _more(error.detail, error.hint))


def render_notice(notice: Notice) -> str:
    """A notice with its detail and hint."""
    return "\n".join([f"{notice.severity}:  {notice.message}", *_more(notice.detail, notice.hint)])


def _more(detail: str | None, hint: str | None) -> list[str]:
    fields = (("DETAIL", detail), ("HINT", hint))
    return [f"{name}:  {text}" for name, text in fields if text]


def _pointer(sql: str, offset: int) -> tuple[str, str]:
    line_start = sql.rfind("\n", 0, offset) + 1
    line = sql[line_start:].partition("\n")[0].replace("\t", " ")
    line, column = _shorten(line, offset - line_start)
    prefix = f"LINE {sql.count(chr(10), 0, offset) + 1}: "
    return prefix + line, " " * (len(prefix) + cell_len(line[:column])) + "^"


def _shorten(line: str, column: int) -> tuple[str, int]:
    """The part of a long line around `column`, and where that is in it."""
    if len(line) <= _LINE_WIDTH_MAX:
        return line, column
    start = max(0, min(column - _LINE_WIDTH_MAX // 2, len(line) - _LINE_WIDTH_MAX))
    end = start + _LINE_WIDTH_MAX
    before, after = "..." if start else "", "..." if end < len(line) else ""
    return before + line[start:end] + after, column - start + len(before)
