"""SQL scripts with their expected results: the format, the runner, and the completion mode.

    statement ok                      the next lines, up to a blank one, run without an error
    statement error 42P01 relation "x" does not exist
                                      they fail with this SQLSTATE and a message that contains this text
    query                             they give rows; expected ones follow after a line ----
    restart                           the pond is closed and opened again
    # ...                             a comment

Cells are joined by ` | ` in PostgreSQL's text form, NULL is written as NULL, an empty text as (empty). `query sort`
sorts the rows first. MILLPOND_SLT_COMPLETE=1 writes what came out in place of what was expected, to be reviewed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from millpond import MillpondError, Pond, Result

Open = Callable[[], Pond]


@dataclass
class Record:
    """One entry of a script."""

    head: str
    line: int
    sql: str = ""
    expected: list[str] = field(default_factory=list)
    has_expected: bool = False


def read(text: str) -> list[Record]:
    """The records of a script; comments and blank lines are records without a head."""
    records: list[Record] = []
    block: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if line.strip():
            block.append(line)
            continue
        if block:
            records.append(_record(block, number - len(block)))
        block = []
    return records


def _record(block: list[str], line: int) -> Record:
    comments = [text for text in block if text.startswith("#")]
    rest = [text for text in block if not text.startswith("#")]
    if not rest:
        return Record("", line, "\n".join(comments))
    record = Record(rest[0], line)
    body = rest[1:]
    if "----" in body:
        cut = body.index("----")
        record.expected, record.has_expected, body = body[cut + 1 :], True, body[:cut]
    record.sql = "\n".join(body)
    return record


def rows_of(result: Result, *, sort: bool) -> list[str]:
    """The rows of a result as the script writes them."""
    rows = [" | ".join(_cell(cell) for cell in row) for row in result.text_rows()]
    return sorted(rows) if sort else rows


def _cell(cell: str | None) -> str:
    return "NULL" if cell is None else cell.replace("\n", "\\n") or "(empty)"


class Runner:
    """Runs the records of a script one after the other on a pond that `reopen` gives anew."""

    def __init__(self, reopen: Open) -> None:
        self._reopen = reopen
        self._pond = reopen()

    def run(self, record: Record) -> list[str] | None:
        """Run one record; returns the rows of a query, raises AssertionError where it is not as expected."""
        words = record.head.split()
        if not words:
            return None
        if words[0] == "restart":
            self._pond.close()
            self._pond = self._reopen()
            return None
        if words[:2] == ["statement", "error"]:
            self._expect_error(record, words[2], record.head.split(words[2], 1)[1].strip())
            return None
        result = self._pond.execute(record.sql)
        return rows_of(result, sort="sort" in words) if words[0] == "query" else None

    def _expect_error(self, record: Record, sqlstate: str, message: str) -> None:
        with pytest.raises(MillpondError) as caught:
            self._pond.execute(record.sql)
        assert caught.value.sqlstate == sqlstate, f"line {record.line}: {caught.value.sqlstate} {caught.value}"
        assert message in str(caught.value), f"line {record.line}: {caught.value}"

    def close(self) -> None:
        self._pond.close()


def completed(text: str, outputs: dict[int, list[str]]) -> str:
    """The script with the expected rows of each query (by its line) replaced."""
    lines = text.split("\n")
    for start, rows in sorted(outputs.items(), reverse=True):
        end = start - 1
        while end < len(lines) and lines[end].strip():
            end += 1
        block = lines[start - 1 : end]
        block = block[: block.index("----")] if "----" in block else block
        lines[start - 1 : end] = [*block, "----", *rows]
    return "\n".join(lines)
