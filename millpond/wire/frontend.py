"""Messages that a client sends once the connection has started."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from millpond.wire import fields
from millpond.wire.fields import Reader, violation
from millpond.wire.message import KINDS, Message


@dataclass(frozen=True)
class Query(Message):
    """Statements to run, each with its result: the simple protocol."""

    code: ClassVar[bytes] = b"Q"
    text: str

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.string())

    def body(self) -> bytes:
        return fields.string(self.text)


@dataclass(frozen=True)
class Parse(Message):
    """Prepare a statement; a type of 0 is for the server to find out."""

    code: ClassVar[bytes] = b"P"
    name: str
    text: str
    types: tuple[int, ...] = ()

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.string(), reader.string(), reader.many(reader.uint32))

    def body(self) -> bytes:
        return fields.string(self.name) + fields.string(self.text) + fields.many(self.types, fields.uint32)


@dataclass(frozen=True)
class Bind(Message):
    """Make a portal of a prepared statement and values; formats are 0 for text and 1 for binary."""

    code: ClassVar[bytes] = b"B"
    portal: str
    statement: str
    formats: tuple[int, ...] = ()
    values: tuple[bytes | None, ...] = ()
    result_formats: tuple[int, ...] = ()

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(
            reader.string(),
            reader.string(),
            reader.int16s(),
            reader.values(),
            reader.int16s(),
        )

    def body(self) -> bytes:
        return (
            fields.string(self.portal)
            + fields.string(self.statement)
            + fields.many(self.formats, fields.int16)
            + fields.many(self.values, fields.value)
            + fields.many(self.result_formats, fields.int16)
        )


@dataclass(frozen=True)
class _Named(Message):
    """About a prepared statement (S) or a portal (P)."""

    kind: bytes
    name: str = ""

    @classmethod
    def read(cls, reader: Reader) -> Self:
        kind = reader.take(1)
        if kind not in KINDS:
            raise violation(f"invalid {cls.__name__.upper()} message subtype {kind[0]}")
        return cls(kind, reader.string())

    def body(self) -> bytes:
        return self.kind + fields.string(self.name)


@dataclass(frozen=True)
class Describe(_Named):
    """Ask for the columns, and for a statement's parameters."""

    code: ClassVar[bytes] = b"D"


@dataclass(frozen=True)
class Close(_Named):
    """Forget a statement or a portal."""

    code: ClassVar[bytes] = b"C"


@dataclass(frozen=True)
class Execute(Message):
    """Run a portal, or run it on; `rows_max` 0 means all rows."""

    code: ClassVar[bytes] = b"E"
    portal: str = ""
    rows_max: int = 0

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.string(), reader.int32())

    def body(self) -> bytes:
        return fields.string(self.portal) + fields.int32(self.rows_max)


@dataclass(frozen=True)
class Flush(Message):
    """Send what there is."""

    code: ClassVar[bytes] = b"H"


@dataclass(frozen=True)
class Sync(Message):
    """The end of a pipeline: commit, unless something failed, and tell that the server is ready."""

    code: ClassVar[bytes] = b"S"


@dataclass(frozen=True)
class Terminate(Message):
    """The client says goodbye."""

    code: ClassVar[bytes] = b"X"


@dataclass(frozen=True)
class _Bytes(Message):
    """A body without structure."""

    data: bytes

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.rest())

    def body(self) -> bytes:
        return self.data


@dataclass(frozen=True)
class CopyData(_Bytes):
    """A piece of COPY's data, cut anywhere; both sides send it."""

    code: ClassVar[bytes] = b"d"


@dataclass(frozen=True)
class CopyDone(Message):
    """All data was sent; both sides send it."""

    code: ClassVar[bytes] = b"c"


@dataclass(frozen=True)
class CopyFail(Message):
    """The client gives up."""

    code: ClassVar[bytes] = b"f"
    reason: str = ""

    @classmethod
    def read(cls, reader: Reader) -> Self:
        return cls(reader.string())

    def body(self) -> bytes:
        return fields.string(self.reason)


@dataclass(frozen=True)
class Password(_Bytes):
    """An answer to an authentication request; what is in it depends on the request."""

    code: ClassVar[bytes] = b"p"


@dataclass(frozen=True)
class FunctionCall(_Bytes):
    """A call by oid, which nothing sends any more; known so that it is refused by name."""

    code: ClassVar[bytes] = b"F"


FRONTEND: dict[bytes, type[Message]] = {
    kind.code: kind
    for kind in (
        *(Query, Parse, Bind, Describe, Close, Execute, Flush, Sync, Terminate),
        *(CopyData, CopyDone, CopyFail, Password, FunctionCall),
    )
}
