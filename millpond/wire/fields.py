"""The fields that messages are made of: read from a body with every bound checked, written to bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TypeVar

from millpond.errors import MillpondError, SqlState

Item = TypeVar("Item")

_INT16 = struct.Struct("!h")
_UINT16 = struct.Struct("!H")
_INT32 = struct.Struct("!i")
_UINT32 = struct.Struct("!I")


def violation(message: str) -> MillpondError:
    """An error for bytes that no client should send."""
    return MillpondError(SqlState.PROTOCOL_VIOLATION, message)


class Reader:
    """The body of one message, read from front to back; asking for more than there is raises."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._at = 0

    @property
    def left(self) -> int:
        """Bytes not read yet."""
        return len(self._body) - self._at

    def take(self, count: int) -> bytes:
        start, end = self._at, self._at + count
        if count < 0 or end > len(self._body):
            raise violation("insufficient data left in message")
        self._at = end
        return self._body[start:end]

    def rest(self) -> bytes:
        return self.take(self.left)

    def int16(self) -> int:
        value: int = _INT16.unpack(self.take(2))[0]
        return value

    def uint16(self) -> int:
        value: int = _UINT16.unpack(self.take(2))[0]
        return value

    def int32(self) -> int:
        value: int = _INT32.unpack(self.take(4))[0]
        return value

    def uint32(self) -> int:
        value: int = _UINT32.unpack(self.take(4))[0]
        return value

    def string(self) -> str:
        """A text up to its zero byte."""
        end = self._body.find(b"\0", self._at)
        if end < 0:
            raise violation("invalid string in message")
        raw = self.take(end - self._at)
        self._at += 1
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            shown = f"0x{raw[error.start]:02x}"
            message = f'invalid byte sequence for encoding "UTF8": {shown}'
            raise MillpondError(SqlState.CHARACTER_NOT_IN_REPERTOIRE, message) from None

    def value(self) -> bytes | None:
        """A length and so many bytes; -1 is NULL."""
        length = self.int32()
        if length == -1:
            return None
        return self.take(length)

    def values(self) -> tuple[bytes | None, ...]:
        """A count and so many values, read in one go: rows of a driver are full of them."""
        found: list[bytes | None] = []
        count, body, end = self.uint16(), self._body, self._at
        for _ in range(count):
            start = end + 4
            length = int.from_bytes(body[end:start], "big", signed=True)
            end = start + max(length, 0)
            if length < -1 or end > len(body):
                raise violation("insufficient data left in message")
            found.append(None if length == -1 else body[start:end])
        self._at = end
        return tuple(found)

    def many(self, read: Callable[[], Item]) -> tuple[Item, ...]:
        """A count and so many items."""
        return tuple([read() for _ in range(self.uint16())])

    def int16s(self) -> tuple[int, ...]:
        """A count and so many numbers, read at once."""
        count = self.uint16()
        return struct.unpack(f"!{count}h", self.take(2 * count))

    def end(self) -> None:
        """Nothing may follow."""
        if self.left:
            raise violation("invalid message format")


def int16(value: int) -> bytes:
    return _INT16.pack(value)


def int32(value: int) -> bytes:
    return _INT32.pack(value)


def uint32(value: int) -> bytes:
    return _UINT32.pack(value)


def string(text: str) -> bytes:
    return text.encode() + b"\0"


def value(given: bytes | None) -> bytes:
    return _INT32.pack(-1) if given is None else _INT32.pack(len(given)) + given


def many(items: Sequence[Item], write: Callable[[Item], bytes]) -> bytes:
    return _UINT16.pack(len(items)) + b"".join(map(write, items))
