"""What all messages share: a type byte, a length, and a body that each kind reads and writes by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from millpond.wire.fields import Reader, int32, violation

KINDS = (b"S", b"P")
"""What Describe and Close are about: a prepared statement or a portal."""


@dataclass(frozen=True)
class Message:
    """A message with a type byte. Kinds without fields need no more than their byte."""

    code: ClassVar[bytes]

    @classmethod
    def read(cls, reader: Reader) -> Self:
        """The message whose body this is; the caller checks that all of it was read."""
        del reader
        return cls()

    def body(self) -> bytes:
        return b""

    def encode(self) -> bytes:
        body = self.body()
        return self.code + int32(len(body) + 4) + body


def decoded(kinds: dict[bytes, type[Message]], code: bytes, body: bytes) -> Message:
    """The message of one of the kinds, all of its body read."""
    kind = kinds.get(code)
    if kind is None:
        raise violation(f"invalid frontend message type {code[0]}")
    reader = Reader(body)
    message = kind.read(reader)
    reader.end()
    return message
