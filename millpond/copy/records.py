"""The exact reading of delimited text, record by record, by the rules of PostgreSQL's COPY.

It is the reference that the fast way in `delimited.py` must agree with, and what runs wherever that way is unsure:
odd quoting, escapes, mixed line ends, and every error, which only this one can name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from millpond.copy.blocks import Block
from millpond.copy.failure import bad_encoding, bad_file
from millpond.copy.options import CopyOptions
from millpond.errors import MillpondError

END_MARKER = "\\."
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.)|\Z)", re.DOTALL)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@dataclass(frozen=True)
class Field:
    """A field's text; a quoted one is never NULL."""

    text: str
    raw: str
    quoted: bool = False


@dataclass(frozen=True)
class Record:
    """A record's fields and the number of its last line; `raw` is the line as written, `end` the offset behind it."""

    fields: list[Field]
    line: int
    raw: str
    end: int


class RecordError(Exception):
    """What keeps the next record from being read, with the line that shows it."""

    def __init__(self, cause: MillpondError, line: int, raw: str) -> None:
        super().__init__(cause.message)
        self.cause = cause
        self.line = line
        self.raw = raw


def read_records(block: Block, options: CopyOptions) -> Iterator[Record]:
    """The block's records, up to the end-of-data marker `\\.` on a line of its own; raises `RecordError`."""
    text = _decoded(block)
    records = _csv_records(text, block, options) if options.format == "csv" else _text_records(text, block, options)
    for record in records:
        if record.raw == END_MARKER and (options.format == "text" or text[record.end - 1] in "\r\n"):
            return
        yield record


def ends_early(block: Block) -> bool:
    """Whether the block holds the end-of-data marker: nothing behind it is read."""
    line = END_MARKER.encode() + block.line_end
    return b"\\" in block.data and (block.data.startswith(line) or block.line_end + line in block.data)


def _decoded(block: Block) -> str:
    try:
        text = block.data.decode()
    except UnicodeDecodeError as error:
        raise _encoding_error(block, error.start) from None
    if "\0" in text:
        raise _encoding_error(block, block.data.index(b"\0"))
    return text


def _encoding_error(block: Block, at: int) -> RecordError:
    line = block.line + block.data.count(b"\n", 0, at)
    start = block.data.rfind(b"\n", 0, at) + 1
    return RecordError(bad_encoding(block.data[at]), line, block.data[start:at].decode(errors="replace"))


class _CsvScanner:
    """Where the next interesting character is, outside and inside quotes."""

    def __init__(self, text: str, options: CopyOptions) -> None:
        self.text = text
        self.delimiter, self.quote, self.escape = options.delimiter, options.quote, options.escape
        self.outside = re.compile(f"[{re.escape(self.delimiter + self.quote)}\r\n]")
        self.inside = re.compile(f"[{re.escape(self.quote + self.escape)}]")

    def skip_quoted(self, start: int, parts: list[str]) -> int:
        """Collects what is quoted from `start` on; the offset behind the closing quote, or -1 without one."""
        while match := self.inside.search(self.text, start):
            parts.append(self.text[start : match.start()])
            following = self.text[match.end() : match.end() + 1]
            if match[0] == self.escape and following in (self.quote, self.escape) and following:
                parts.append(following)
                start = match.end() + 1
            elif match[0] == self.quote:
                return match.end()
            else:
                parts.append(match[0])
                start = match.end()
        return -1


def _csv_records(text: str, block: Block, options: CopyOptions) -> Iterator[Record]:
    scanner = _CsvScanner(text, options)
    start, line = 0, block.line
    while start < len(text):
        record = _csv_record(scanner, start, line, block.line_end.decode())
        yield record
        start, line = record.end, record.line + 1


def _csv_record(scanner: _CsvScanner, start: int, line: int, line_end: str) -> Record:
    """Quotes may open and close anywhere in a field, as in PostgreSQL."""
    text = scanner.text
    fields: list[Field] = []
    parts: list[str] = []
    field_start = at = start
    quoted = False
    while True:
        match = scanner.outside.search(text, at)
        stop = match.start() if match else len(text)
        parts.append(text[at:stop])
        mark = match[0] if match else ""
        if mark == scanner.quote:
            quoted = True
            at = scanner.skip_quoted(stop + 1, parts)
            if at < 0:
                raise RecordError(
                    bad_file("unterminated CSV quoted field"), line + text.count("\n", start), text[start:]
                )
            line += text.count(line_end[-1], stop, at)
            continue
        fields.append(Field("".join(parts), text[field_start:stop], quoted))
        if mark != scanner.delimiter:
            return Record(fields, line, text[start:stop], _behind_line_end(text, stop, line_end, line, start))
        parts, quoted, field_start = [], False, stop + 1
        at = field_start


def _behind_line_end(text: str, stop: int, line_end: str, line: int, start: int, *, csv: bool = True) -> int:
    """The offset behind the line end, which must be of the file's kind."""
    if stop == len(text):
        return stop
    if text.startswith(line_end, stop) and not (line_end == "\r" and text.startswith("\r\n", stop)):
        return stop + len(line_end)
    name, letter = ("newline", "n") if text[stop] == "\n" else ("carriage return", "r")
    hint = f"Use quoted CSV field to represent {name}." if csv else f'Use "\\{letter}" to represent {name}.'
    error = bad_file(f"{'unquoted' if csv else 'literal'} {name} found in data", hint=hint)
    raise RecordError(error, line, text[start:stop])


_TEXT_STOP = re.compile(r"\\.|[\r\n]", re.DOTALL)


def _text_records(text: str, block: Block, options: CopyOptions) -> Iterator[Record]:
    line_end = block.line_end.decode()
    start, line = 0, block.line
    while start < len(text):
        stop = _text_line_stop(text, start, line)
        raw = text[start:stop]
        end = _behind_line_end(text, stop, line_end, line, start, csv=False)
        fields = [Field(unescaped(field, line, raw), field) for field in _split(raw, options.delimiter)]
        yield Record(fields, line, raw, end)
        start, line = end, line + 1 + raw.count(line_end[-1])


def _text_line_stop(text: str, start: int, line: int) -> int:
    """The offset of the line's end; an end-of-data marker may only be a line of its own."""
    marker = False
    for match in _TEXT_STOP.finditer(text, start):
        if match[0][0] != "\\":
            stop = match.start()
            break
        marker = marker or match[0] == END_MARKER
    else:
        stop = len(text)
    if marker and text[start:stop] != END_MARKER:
        raise RecordError(bad_file("end-of-copy marker is not on its own line"), line, text[start:stop])
    return stop


def _split(line: str, delimiter: str) -> list[str]:
    """Splits at delimiters that are not escaped."""
    pieces = line.split(delimiter)
    if "\\" not in line:
        return pieces
    fields = [pieces[0]]
    for piece in pieces[1:]:
        last = fields[-1]
        if (len(last) - len(last.rstrip("\\"))) % 2:
            fields[-1] = last + delimiter + piece
        else:
            fields.append(piece)
    return fields


def unescaped(field: str, line: int = 0, raw: str = "") -> str:
    """The field without the text format's backslash escapes."""
    if "\\" not in field:
        return field
    plain = _ESCAPE.sub(_escaped_character, field)
    if "\0" in plain:
        raise RecordError(bad_encoding(0), line, raw)
    try:
        # Bytes given by number travel as lone surrogates until all of a character's bytes are together.
        return plain.encode("utf-8", "surrogateescape").decode()
    except UnicodeDecodeError as error:
        raise RecordError(bad_encoding(error.object[error.start]), line, raw) from None


def _escaped_character(match: re.Match[str]) -> str:
    octal, hexadecimal, other = match.groups()
    if other is not None:
        return _LETTERS.get(other, str(other))
    if octal is None and hexadecimal is None:
        return ""  # A backslash that ends the data stands for nothing.
    byte = int(octal, 8) & 0xFF if octal else int(hexadecimal, 16)
    return chr(byte) if byte < 0x80 else chr(0xDC00 + byte)
