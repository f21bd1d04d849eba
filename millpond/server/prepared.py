"""Prepared statements: a text with parameters, their types, and the statement that values make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from millpond.errors import MillpondError, SqlState
from millpond.oids import oid_of
from millpond.result import ResultColumn
from millpond.server.script import known_script, read_script
from millpond.server.types import (
    BINARY_FORMAT,
    READ_AS_TEXT,
    TEXT_FORMAT,
    text_of_binary,
    text_of_text,
    type_of_parameter,
)
from millpond.session import Session
from millpond.sql.parameters import Parameters, TypedText
from millpond.sql.parse import parse
from millpond.sql.prepared import PARAMETERS_MAX, InsertTemplate, insert_template, open_parameters, parameter_count
from millpond.sql.split import split
from millpond.sql.statements import Statement
from millpond.statements.describe import Description
from millpond.types import TEXT, SqlType
from millpond.values import to_text
from millpond.values.binary_input import from_binary
from millpond.wire.fields import violation


@dataclass
class Prepared:
    """`statement` is None for a text without one; `oids` has an entry for each parameter, 0 where none was given.

    `template` is there for an INSERT of parameters alone.
    """

    name: str
    text: str
    statement: Statement | None
    oids: tuple[int, ...]
    offset: int = 0
    template: InsertTemplate | None = None
    _decided: Mapping[int, SqlType] | None = None

    def describe(self, session: Session) -> tuple[tuple[int, ...], tuple[ResultColumn, ...] | None]:
        """The types of its parameters, which stay as they were found first, and its columns as of now."""
        description = Description() if self.statement is None else self._described(session)
        if self._decided is None:
            self._decided = description.parameters
        oids = tuple(oid or oid_of(self._type(number, session)) for number, oid in enumerate(self.oids, start=1))
        return oids, description.columns

    def with_values(self, values: Sequence[bytes | None], formats: Sequence[int], session: Session) -> Statement | None:
        """The statement with values in the places of its parameters."""
        (texts,) = self.texts_of([values], formats, session)
        if self.statement is None or not texts:
            return self.statement
        plain = self.template.statement([texts]) if self.template else None
        return plain or parse(self.text, Parameters(texts))

    def texts_of(
        self, rows: Sequence[Sequence[bytes | None]], formats: Sequence[int], session: Session
    ) -> list[tuple[TypedText, ...]]:
        """The values of one binding or many, in the same formats, as texts with their types; a parameter at a time."""
        for values in rows:
            if len(values) != len(self.oids):
                shown = f'bind message supplies {len(values)} parameters, but prepared statement "{self.name}"'
                raise violation(f"{shown} requires {len(self.oids)}")
        each = _each(formats, len(self.oids))
        if not self.oids:
            return [()] * len(rows)
        columns = zip(*rows, strict=True)
        texts = [self._column(number, *pair, session) for number, pair in enumerate(zip(columns, each, strict=True), 1)]
        return list(zip(*texts, strict=True))

    def _described(self, session: Session) -> Description:
        assert self.statement is not None
        try:
            return session.describe(self.statement)
        except MillpondError:
            # Some places need to see the value, such as the field of date_trunc: with texts they may do.
            if not self.oids:
                raise
            texts = [TypedText(None, type_of_parameter(oid)) for oid in self.oids]
            return session.describe(parse(self.text, Parameters(texts)))

    def _type(self, number: int, session: Session) -> SqlType:
        """The type of a parameter, without a length or a precision."""
        declared = type_of_parameter(self.oids[number - 1])
        if declared is None and self._decided is None:
            self._decided = self._described(session).parameters
        found = declared or (self._decided or {}).get(number, TEXT)
        return TEXT if found.is_string else SqlType(found.name)

    def _column(
        self, number: int, values: Sequence[bytes | None], format: int, session: Session
    ) -> Sequence[TypedText]:
        """The values of one parameter."""
        oid = self.oids[number - 1]
        declared = type_of_parameter(oid)
        if format == TEXT_FORMAT or not any(value is not None for value in values):
            return [
                TypedText(None if value is None else text_of_text(oid, _decoded(value)), declared) for value in values
            ]
        if format != BINARY_FORMAT:
            raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, f"unsupported format code: {format}")
        sql_type = self._type(number, session)
        sent = oid_of(sql_type) if declared is None else oid
        if sent in READ_AS_TEXT:
            return [TypedText(None if value is None else text_of_binary(sent, value), declared) for value in values]
        shown = to_text(from_binary(values, sql_type), sql_type).to_pylist()
        return [TypedText(text, declared if text is None else sql_type) for text in shown]


def prepare(name: str, text: str, oids: Sequence[int]) -> Prepared:
    """A statement prepared from its text; what is wrong with its syntax is found here."""
    known = None if oids else known_script(text)
    if known is not None and len(known) == 1:
        return Prepared(name, text, known[0][0], (), known[0][1])
    sources = split(text)
    if len(sources) > 1:
        raise MillpondError(SqlState.SYNTAX_ERROR, "cannot insert multiple commands into a prepared statement")
    if not sources:
        return Prepared(name, "", None, tuple(oids))
    count = max(parameter_count(sources[0].text), len(oids))
    if count > PARAMETERS_MAX:
        raise MillpondError(SqlState.UNDEFINED_PARAMETER, f"there is no parameter ${count}")
    declared = [*oids, *[0] * (count - len(oids))]
    if not count:
        ((statement, offset),) = read_script(text)
        return Prepared(name, text, statement, (), offset)
    statement = parse(sources[0].text, open_parameters([type_of_parameter(oid) for oid in declared]))
    template = insert_template(sources[0].text)
    return Prepared(name, sources[0].text, statement, tuple(declared), sources[0].offset, template)


def _decoded(value: bytes) -> str:
    try:
        text = value.decode()
    except UnicodeDecodeError as error:
        raise _bad_byte(value[error.start]) from None
    if "\0" in text:
        raise _bad_byte(0)
    return text


def _bad_byte(byte: int) -> MillpondError:
    message = f'invalid byte sequence for encoding "UTF8": 0x{byte:02x}'
    return MillpondError(SqlState.CHARACTER_NOT_IN_REPERTOIRE, message)


def _each(formats: Sequence[int], count: int) -> Sequence[int]:
    if len(formats) <= 1:
        return [formats[0] if formats else TEXT_FORMAT] * count
    if len(formats) != count:
        raise violation(f"bind message has {len(formats)} parameter formats but {count} parameters")
    return formats
