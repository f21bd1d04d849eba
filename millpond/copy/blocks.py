"""A file of lines cut into blocks of whole records, so that blocks can be parsed side by side.

A record ends at a line end that is not inside quotes (CSV) or behind a backslash (text). Since a block starts with a
record, the number of quotes before a line end tells whether it is inside: odd is inside.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from millpond.copy.failure import bad_encoding
from millpond.copy.options import CopyOptions
from millpond.errors import MillpondError, SqlState

BLOCK_BYTES = 8 << 20
"""Large enough that a block's fixed costs vanish, small enough that several fit into a processor's cache and memory."""

RECORD_BYTES_MAX = 256 << 20
"""A record longer than this is a missing quote, most likely."""

_BOM = codecs.BOM_UTF8
_LINE_ENDS = {b"\n": b"\n", b"\r\n": b"\n", b"\r": b"\r"}
"""The last byte of each kind of line end, which is what a block is cut behind."""


@dataclass(frozen=True)
class Block:
    """Whole records of a file in UTF-8; `line` is the number of the first line, `line_end` that of the whole file."""

    data: bytes
    line: int
    line_end: bytes


def read_blocks(
    source: BinaryIO,
    options: CopyOptions,
    *,
    block_bytes: int = BLOCK_BYTES,
    record_bytes_max: int = RECORD_BYTES_MAX,
) -> Iterator[Block]:
    """The file's blocks in order; a byte order mark is skipped."""
    line, line_end = 1, b""
    rest = b""
    pieces = _utf8_pieces(source, options.encoding, block_bytes)
    for data in pieces:
        data = (rest + data) if line_end else data.removeprefix(_BOM)
        line_end = line_end or first_line_end(data, options)
        end = _last_record_end(data, _LINE_ENDS[line_end], options)
        if end:
            yield Block(data[:end], line, line_end)
            line += data.count(_LINE_ENDS[line_end], 0, end)
        rest = data[end:]
        check_record_size(len(rest), record_bytes_max)
    if rest:
        yield Block(rest, line, line_end)


def check_record_size(size_bytes: int, size_bytes_max: int) -> None:
    """Refuse what would take too much memory."""
    if size_bytes > size_bytes_max:
        raise MillpondError(
            SqlState.PROGRAM_LIMIT_EXCEEDED,
            f"a record is longer than {size_bytes_max} bytes",
            hint='Perhaps a quote is not closed; the setting "copy_record_bytes_max" is the limit.',
        )


def _utf8_pieces(source: BinaryIO, encoding: str, size: int) -> Iterator[bytes]:
    """Pieces of about the wanted size: sockets and pipes hand over less at a time."""
    if encoding == "utf-8":
        yield from _pieces(source, size)
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for piece in _pieces(source, size):
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeDecodeError as error:
        raise bad_encoding(error.object[error.start]) from None


def _pieces(source: BinaryIO, size: int) -> Iterator[bytes]:
    while piece := source.read(size):
        parts, length = [piece], len(piece)
        while length < size and (piece := source.read(size - length)):
            parts.append(piece)
            length += len(piece)
        yield b"".join(parts) if len(parts) > 1 else parts[0]


def first_line_end(data: bytes, options: CopyOptions) -> bytes:
    """The kind of line end that the file's first line has; PostgreSQL wants all lines to have it."""
    inside = False
    quote = options.quote.encode() if options.format == "csv" else b""
    for match in re.finditer(b"\r\n|[\r\n" + re.escape(quote) + b"]", data):
        if match[0] == quote:
            inside = not inside
        elif not inside:
            return match[0]
    return b"\n"


def _last_record_end(data: bytes, end: bytes, options: CopyOptions) -> int:
    """The offset behind the last whole record; 0 without one."""
    if options.format == "text":
        return _last_unescaped(data, end)
    if options.format == "csv" and options.quote != options.escape and options.quote.encode() in data:
        return _last_outside_escaped_quotes(data, end, options)
    if options.format == "csv":
        return _last_outside_quotes(data, end, options.quote.encode())
    return data.rfind(end) + 1


def _last_unescaped(data: bytes, end: bytes) -> int:
    at = data.rfind(end)
    while at >= 0:
        start = at - 1 if end == b"\n" and data[at - 1 : at] == b"\r" else at
        if _backslashes_before(data, start) % 2 == 0:
            return at + 1
        at = data.rfind(end, 0, at)
    return 0


def _backslashes_before(data: bytes, at: int) -> int:
    start = at
    while start > 0 and data[start - 1] == ord("\\"):
        start -= 1
    return at - start


def _last_outside_quotes(data: bytes, end: bytes, quote: bytes) -> int:
    """From the end backwards, from one quote to the one before it."""
    quotes_before = data.count(quote)
    upper = len(data)
    while True:
        last_quote = data.rfind(quote, 0, upper)
        if quotes_before % 2 == 0:
            at = data.rfind(end, last_quote + 1, upper)
            if at >= 0:
                return at + 1
        if last_quote < 0:
            return 0
        upper = last_quote
        quotes_before -= 1


def _last_outside_escaped_quotes(data: bytes, end: bytes, options: CopyOptions) -> int:
    """With an escape character of its own only reading forwards tells what is inside."""
    quote, escape = options.quote.encode(), options.escape.encode()
    outside = re.compile(b"[" + re.escape(quote) + end + b"]")
    inside = re.compile(re.escape(escape) + b".|" + re.escape(quote), re.DOTALL)
    at, found, in_quotes = 0, 0, False
    while match := (inside if in_quotes else outside).search(data, at):
        at = match.end()
        if match[0] == quote:
            in_quotes = not in_quotes
        elif not in_quotes:
            found = at
    return found
