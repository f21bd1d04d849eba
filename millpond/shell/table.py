"""Answers as text: aligned and expanded as psql prints them, CSV, and JSON with one object a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Literal

from rich.cells import cell_len

from millpond.shell.backend import Answer, AnswerColumn

Format = Literal["aligned", "csv", "json"]

_CSV_SPECIAL = re.compile(r'[",\r\n]')


def render(answer: Answer, format_: Format = "aligned", *, expanded: bool = False, title: str | None = None) -> str:
    """The rows of an answer as text that ends with a line's end."""
    if format_ == "csv":
        return render_csv(answer)
    if format_ == "json":
        return render_json(answer)
    return render_expanded(answer) if expanded else render_aligned(answer, title)


def render_aligned(answer: Answer, title: str | None = None) -> str:
    """A table with a row for each row: numbers to the right, NULL empty, `+` where a value goes on in the next line.

    >>> answer = Answer("SELECT 1", (AnswerColumn("n", "number"), AnswerColumn("part")), [["10", "Seat"]])
    >>> render_aligned(answer).splitlines()
    [' n  | part ', '----+------', ' 10 | Seat', '(1 row)', '']
    """
    columns = answer.columns
    body = [[(value or "").split("\n") for value in row] for row in answer.rows]
    widths = [_width(column, [row[i] for row in body]) for i, column in enumerate(columns)]
    lines = []
    if title:
        lines.append(_center(title, sum(widths) + 3 * len(widths) - 1).rstrip())
    lines.append("|".join(f" {_center(column.name, width)} " for column, width in zip(columns, widths, strict=True)))
    lines.append("+".join("-" * (width + 2) for width in widths))
    for row in body:
        lines.extend(_row_lines(row, columns, widths))
    return "\n".join([*lines, _row_count(len(body)), "", ""])


def render_expanded(answer: Answer) -> str:
    """A block for each row with a line for each column, for rows that are wider than the screen."""
    if not answer.rows:
        return "(0 rows)\n\n"
    body = [[(value or "").split("\n") for value in row] for row in answer.rows]
    names_width = max(cell_len(column.name) for column in answer.columns)
    values_width = max(cell_len(line) for row in body for cell in row for line in cell)
    rule = "-" * (names_width + 1) + "+" + "-" * (values_width + 1)
    lines = []
    for number, row in enumerate(body, start=1):
        label = f"-[ RECORD {number} ]"
        lines.append(label + rule[len(label) :])
        for column, cell in zip(answer.columns, row, strict=True):
            names = [column.name] + [""] * (len(cell) - 1)
            marked = [_pad(line, values_width) + "+" for line in cell[:-1]] + cell[-1:]
            lines.extend(f"{_pad(n, names_width)} | {v}".rstrip() for n, v in zip(names, marked, strict=True))
    return "\n".join([*lines, "", ""])


def render_csv(answer: Answer) -> str:
    """A header and the rows, in the form COPY reads: NULL is empty, an empty string is quoted."""
    header: list[str | None] = [column.name for column in answer.columns]
    return "".join(",".join(map(_csv_value, row)) + "\n" for row in [header, *answer.rows])


def render_json(answer: Answer) -> str:
    """One object a row and line; numbers and booleans are JSON's own, all else is text."""
    names = _unique([column.name for column in answer.columns])
    lines = []
    for row in answer.rows:
        values = (_json_value(value, column) for value, column in zip(row, answer.columns, strict=True))
        lines.append("{" + ", ".join(f"{json.dumps(n)}: {v}" for n, v in zip(names, values, strict=True)) + "}\n")
    return "".join(lines)


def _csv_value(value: str | None) -> str:
    if value is None:
        return ""
    if value == "" or _CSV_SPECIAL.search(value):
        return '"' + value.replace('"', '""') + '"'
    return value


def _json_value(value: str | None, column: AnswerColumn) -> str:
    if value is None:
        return "null"
    if column.kind == "boolean":
        return "true" if value == "t" else "false"
    # The digits as they are: neither a bigint nor a numeric fits into a float. NaN and Infinity are no JSON numbers.
    if column.kind == "number" and value.lstrip("-")[:1].isdigit():
        return value
    return json.dumps(value, ensure_ascii=False)


def _unique(names: Sequence[str]) -> list[str]:
    """The names, numbered from the second occurrence on, since an object holds each key once."""
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return unique


def _width(column: AnswerColumn, cells: Sequence[list[str]]) -> int:
    return max(cell_len(column.name), *(cell_len(line) for cell in cells for line in cell), 0)


def _row_lines(row: list[list[str]], columns: Sequence[AnswerColumn], widths: Sequence[int]) -> Iterator[str]:
    for depth in range(max(map(len, row), default=1)):
        cells = []
        for cell, column, width in zip(row, columns, widths, strict=True):
            line = cell[depth] if depth < len(cell) else ""
            mark = "+" if depth + 1 < len(cell) else " "
            cells.append(" " + _pad(line, width, right=column.kind == "number") + mark)
        yield "|".join(cells).rstrip(" ")


def _pad(text: str, width: int, *, right: bool = False) -> str:
    blanks = " " * (width - cell_len(text))
    return blanks + text if right else text + blanks


def _center(text: str, width: int) -> str:
    blanks = max(0, width - cell_len(text))
    return " " * (blanks // 2) + text + " " * (blanks - blanks // 2)


def _row_count(count: int) -> str:
    return f"({count} row{'' if count == 1 else 's'})"
