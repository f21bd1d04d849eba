"""Messages that the server sends. They are read too: by tests, and by whoever speaks to another server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

from millpond.wire import fields
from millpond.wire.fields import Reader
from millpond.wire.frontend import CopyData, CopyDone
from millpond.wire.message import Message

IDLE, IN_TRANSACTION, FAILED = b"I", b"T", b"E"
"""What ReadyForQuery says of the transaction."""


@dataclass(frozen=True)
class Authentication(Message):
    """A request to prove who one is; 0 says that this is done. SASL's are 10, 11 and 12."""

    code: ClassVar[bytes] = b"R"
    request: int = 0
    data: bytes = b""

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.int32(), reader.rest())

    def body(self) -> bytes:
        return fields.int32(self.request) + self.data


@dataclass(frozen=True)
class ParameterStatus(Message):
    """The value of a setting that clients go by."""

    code: ClassVar[bytes] = b"S"
    name: str
    value: str

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.string(), reader.string())

    def body(self) -> bytes:
        return fields.string(self.name) + fields.string(self.value)


@dataclass(frozen=True)
class BackendKeyData(Message):
    """What a CancelRequest has to name."""

    code: ClassVar[bytes] = b"K"
    process: int
    secret: bytes

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.int32(), reader.rest())

    def body(self) -> bytes:
        return fields.int32(self.process) + self.secret


@dataclass(frozen=True)
class NegotiateProtocolVersion(Message):
    """The newest version that both know, and the options that the server does not."""

    code: ClassVar[bytes] = b"v"
    version: int
    unknown: tuple[str, ...] = ()

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.int32(), tuple(reader.string() for _ in range(reader.int32())))

    def body(self) -> bytes:
        names = b"".join(map(fields.string, self.unknown))
        return fields.int32(self.version) + fields.int32(len(self.unknown)) + names


@dataclass(frozen=True)
class ReadyForQuery(Message):
    """The server waits, in this state of transaction."""

    code: ClassVar[bytes] = b"Z"
    status: bytes = IDLE

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.take(1))

    def body(self) -> bytes:
        return self.status


@dataclass(frozen=True)
class Field:
    """A column of a result: its type by oid, the size that values of the type have, its modifier and format."""

    name: str
    type: int
    size: int = -1
    modifier: int = -1
    format: int = 0
    table: int = 0
    column: int = 0

    def encode(self) -> bytes:
        origin = fields.uint32(self.table) + fields.int16(self.column)
        kind = fields.uint32(self.type) + fields.int16(self.size) + fields.int32(self.modifier)
        return fields.string(self.name) + origin + kind + fields.int16(self.format)


def _read_field(reader: Reader) -> Field:
    name, table, column = reader.string(), reader.uint32(), reader.int16()
    return Field(name, reader.uint32(), reader.int16(), reader.int32(), reader.int16(), table, column)


@dataclass(frozen=True)
class RowDescription(Message):
    """The columns of the rows that follow."""

    code: ClassVar[bytes] = b"T"
    columns: tuple[Field, ...]

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.many(lambda: _read_field(reader)))

    def body(self) -> bytes:
        return fields.many(self.columns, Field.encode)


@dataclass(frozen=True)
class DataRow(Message):
    """A row. Results are encoded many rows at a time, by `millpond.server.rows`."""

    code: ClassVar[bytes] = b"D"
    values: tuple[bytes | None, ...]

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.values())

    def body(self) -> bytes:
        return fields.many(self.values, fields.value)


@dataclass(frozen=True)
class ParameterDescription(Message):
    """The types of a prepared statement's parameters."""

    code: ClassVar[bytes] = b"t"
    types: tuple[int, ...] = ()

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.many(reader.uint32))

    def body(self) -> bytes:
        return fields.many(self.types, fields.uint32)


@dataclass(frozen=True)
class CommandComplete(Message):
    """A statement ended; the tag says which, and how many rows."""

    code: ClassVar[bytes] = b"C"
    tag: str

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.string())

    def body(self) -> bytes:
        return fields.string(self.tag)


@dataclass(frozen=True)
class _Report(Message):
    """Fields by their letters, as PostgreSQL's documentation lists them."""

    report: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        report: dict[str, str] = {}
        while (letter := reader.take(1)) != b"\0":
            report[letter.decode("latin-1")] = reader.string()
        return cls(report)

    def body(self) -> bytes:
        pairs = (letter.encode("latin-1") + fields.string(text) for letter, text in self.report.items())
        return b"".join(pairs) + b"\0"


@dataclass(frozen=True)
class ErrorResponse(_Report):
    """A statement, or the connection, failed."""

    code: ClassVar[bytes] = b"E"


@dataclass(frozen=True)
class NoticeResponse(_Report):
    """What the client should know and need not mend."""

    code: ClassVar[bytes] = b"N"


@dataclass(frozen=True)
class NotificationResponse(Message):
    """Somebody notified a channel that the client listens to."""

    code: ClassVar[bytes] = b"A"
    process: int
    channel: str
    payload: str

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.int32(), reader.string(), reader.string())

    def body(self) -> bytes:
        return fields.int32(self.process) + fields.string(self.channel) + fields.string(self.payload)


@dataclass(frozen=True)
class _CopyResponse(Message):
    """COPY begins; `format` is 1 for binary, and so is that of each column."""

    format: int = 0
    columns: int = 0

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.take(1)[0], len(reader.many(reader.int16)))

    def body(self) -> bytes:
        return bytes([self.format]) + fields.many([self.format] * self.columns, fields.int16)


@dataclass(frozen=True)
class CopyInResponse(_CopyResponse):
    """The client may send."""

    code: ClassVar[bytes] = b"G"


@dataclass(frozen=True)
class CopyOutResponse(_CopyResponse):
    """The server will send."""

    code: ClassVar[bytes] = b"H"


@dataclass(frozen=True)
class ParseComplete(Message):
    code: ClassVar[bytes] = b"1"


@dataclass(frozen=True)
class BindComplete(Message):
    code: ClassVar[bytes] = b"2"


@dataclass(frozen=True)
class CloseComplete(Message):
    code: ClassVar[bytes] = b"3"


@dataclass(frozen=True)
class NoData(Message):
    """The statement returns no rows."""

    code: ClassVar[bytes] = b"n"


@dataclass(frozen=True)
class PortalSuspended(Message):
    """The row limit was reached; there may be more."""

    code: ClassVar[bytes] = b"s"


@dataclass(frozen=True)
class EmptyQueryResponse(Message):
    """Instead of CommandComplete, where the text holds no statement."""

    code: ClassVar[bytes] = b"I"


BACKEND: dict[bytes, type[Message]] = {
    kind.code: kind
    for kind in (
        *(Authentication, ParameterStatus, BackendKeyData, NegotiateProtocolVersion, ReadyForQuery, RowDescription),
        *(DataRow, ParameterDescription, CommandComplete, ErrorResponse, NoticeResponse, CopyInResponse),
        *(CopyOutResponse, CopyData, CopyDone, ParseComplete, BindComplete, CloseComplete, NoData),
        *(PortalSuspended, EmptyQueryResponse, NotificationResponse),
    )
}
