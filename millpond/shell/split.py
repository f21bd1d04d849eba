r"""Cuts lines of input into statements at `;`, with regard to quotes, dollar quotes, comments and parentheses.

A backslash outside of quotes begins a command of the shell, which goes on to the end of its line. Input is read line
by line, so that a script of any size, and COPY's data within it, passes through in bounded memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
      --                                     # comment to the end of the line
    | /\*                                    # comment, may nest
    | (?<![\w$])[eE]'                        # string with backslash escapes
    | '                                      # string
    | "                                      # quoted name
    | (?<![\w$])\$(?:[^\W\d]\w*)?\$          # dollar quote; $1 is a parameter
    | [();]
    | \\
    """,
    re.VERBOSE,
)
_PLAIN = ("(", ")", ";")
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_ESCAPED_STRING_END = re.compile(r"(?:[^'\\]|\\.|'')*'(?!')", re.DOTALL)
_COPY_END = "\\."


@dataclass(frozen=True)
class Piece:
    """A statement without its `;`, or a command of the shell and the text before it on its line."""

    sql: str
    command: str | None = None
    line_number: int = 1


class Pieces:
    """The pieces of some lines, in order; `copy_data` takes the lines that follow the piece just given."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._lines_read = 0
        self._text = ""

    def __iter__(self) -> Iterator[Piece]:
        for line in self._read_lines():
            self._text += line
            # Only these can end a piece: a statement of many lines is scanned once, not once a line.
            if ";" in line or "\\" in line:
                yield from self._complete_pieces()
        if leading_code(self._text):
            yield self._piece(self._text.strip())

    def copy_data(self) -> Iterator[bytes]:
        r"""The lines up to `\.` or the end of the input, which is COPY's data within a script."""
        for line in self._read_lines():
            if line.rstrip("\r\n") == _COPY_END:
                return
            yield line.encode()

    def _read_lines(self) -> Iterator[str]:
        for line in self._lines:
            self._lines_read += 1
            yield line

    def _complete_pieces(self) -> Iterator[Piece]:
        while (end := piece_end(self._text)) is not None:
            text, is_command = self._text[:end], self._text[end] == "\\"
            rest = self._text[end:] if is_command else self._text[end + 1 :]
            command, _, rest = rest.partition("\n") if is_command else (None, "", rest)
            piece = self._piece(text.strip(), command.strip() if command else None)
            # COPY's data begin on the next line: a line's end left over from the statement's is not part of it.
            self._text = rest if leading_code(rest) else ""
            if leading_code(piece.sql) or piece.command:
                yield piece

    def _piece(self, sql: str, command: str | None = None) -> Piece:
        text = self._text.lstrip()
        return Piece(sql, command, self._lines_read - text.count("\n") + text.endswith("\n"))


def split(text: str) -> list[Piece]:
    r"""The pieces of a text; the last need not be ended.

    >>> [piece.sql for piece in split("SELECT ';'; -- no; \nSELECT $$;$$")]
    ["SELECT ';'", 'SELECT $$;$$']
    >>> [piece.sql for piece in split("CREATE ... AS (INSERT ...; INSERT ...); SELECT 1")]
    ['CREATE ... AS (INSERT ...; INSERT ...)', 'SELECT 1']
    >>> split("SELECT 1 \\watch 2")
    [Piece(sql='SELECT 1', command='\\watch 2', line_number=1)]
    """
    return list(Pieces(text.splitlines(keepends=True)))


def is_complete(text: str) -> bool:
    r"""Whether nothing is left open: the last statement has its `;`, or the text ends with a command.

    >>> is_complete("SELECT 1;"), is_complete("SELECT 1"), is_complete("\\d"), is_complete("SELECT ';")
    (True, False, True, False)
    """
    while (end := piece_end(text)) is not None:
        text = text[end:].partition("\n")[2] if text[end] == "\\" else text[end + 1 :]
    return not leading_code(text)


def piece_end(text: str) -> int | None:
    """Where the first piece ends, at a `;` outside of parentheses or a backslash; None if it holds no whole piece."""
    position = depth = 0
    while found := _TOKEN.search(text, position):
        token = found.group()
        if token == "\\" or (token == ";" and depth <= 0):
            return found.start()
        depth += (token == "(") - (token == ")")
        end = found.end() if token in _PLAIN else _token_end(text, found)
        if end is None:
            return None
        position = end
    return None


def leading_code(sql: str) -> str:
    """The text from its first word on, without the blanks and comments before it.

    >>> leading_code("  -- why\\n /* how */ SELECT 1"), leading_code("-- nothing")
    ('SELECT 1', '')
    """
    while True:
        sql = sql.lstrip()
        if not sql.startswith(("--", "/*")):
            return sql
        found = _TOKEN.match(sql)
        end = _token_end(sql, found) if found else None
        if end is None:
            return "" if sql.startswith("--") else sql
        sql = sql[end:]


def _token_end(text: str, found: re.Match[str]) -> int | None:
    """Where the quote or comment that `found` opens ends; None if it stays open."""
    opening, start = found.group(), found.end()
    if opening == "--":
        return _after(text, "\n", start)
    if opening == "/*":
        return _comment_end(text, start)
    if opening in ("e'", "E'"):
        closing = _ESCAPED_STRING_END.match(text, start)
        return closing.end() if closing else None
    # A doubled quote reads as the end of one string and the begin of the next, which comes to the same.
    return _after(text, opening, start)


def _after(text: str, closing: str, start: int) -> int | None:
    found = text.find(closing, start)
    return None if found < 0 else found + len(closing)


def _comment_end(text: str, start: int) -> int | None:
    depth = 1
    for edge in _COMMENT_EDGE.finditer(text, start):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    return None
