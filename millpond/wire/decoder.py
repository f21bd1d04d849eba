"""Bytes as they arrive, cut anywhere, into messages. A length that cannot be is refused before its bytes come."""

from __future__ import annotations

from functools import lru_cache

from millpond.wire.fields import violation
from millpond.wire.frontend import FRONTEND, Describe, Execute, Sync
from millpond.wire.message import Message, decoded
from millpond.wire.startup import Opening, decode_opening

MESSAGE_BYTES_MAX = (1 << 30) - 1
"""PostgreSQL's own limit."""

_LENGTH_BYTES = 4

_REPEATED = frozenset(kind.code for kind in (Describe, Execute, Sync))
"""Messages that drivers send again and again, the very same for each row of many: they are decoded once."""

_REPEATED_BYTES_MAX = 64


class Decoder:
    """What a peer sent and nobody has read yet.

    `message_bytes_max` may be raised while it is used: a client that has not said who it is may send little.
    """

    def __init__(
        self, kinds: dict[bytes, type[Message]] = FRONTEND, *, message_bytes_max: int = MESSAGE_BYTES_MAX
    ) -> None:
        self.message_bytes_max = message_bytes_max
        self._kinds = kinds
        self._buffer = bytearray()
        self._at = 0

    def feed(self, data: bytes) -> None:
        # What was read goes when more comes, and not with each message: many small ones cost one move.
        if self._at:
            del self._buffer[: self._at]
            self._at = 0
        self._buffer += data

    @property
    def waiting_bytes(self) -> int:
        """Bytes fed and not yet read."""
        return len(self._buffer) - self._at

    def opening(self) -> Opening | None:
        """The next message of a connection that has yet to start, or None until all of it is here."""
        body = self._body(self._at, least=_LENGTH_BYTES + 4, what="startup packet")
        return None if body is None else decode_opening(body)

    def message(self) -> Message | None:
        """The next message, or None until all of it is here."""
        if not self.waiting_bytes:
            return None
        code = bytes(self._buffer[self._at : self._at + 1])
        if code not in self._kinds:
            raise violation(f"invalid frontend message type {code[0]}")
        body = self._body(self._at + 1, least=_LENGTH_BYTES, what="message")
        if body is None:
            return None
        if self._kinds is FRONTEND and code in _REPEATED and len(body) <= _REPEATED_BYTES_MAX:
            return _decoded_once(code, body)
        return decoded(self._kinds, code, body)

    def _body(self, start: int, *, least: int, what: str) -> bytes | None:
        """The bytes behind a length, which counts itself."""
        behind = start + _LENGTH_BYTES
        if len(self._buffer) < behind:
            return None
        length = int.from_bytes(self._buffer[start:behind], "big", signed=True)
        if not least <= length <= self.message_bytes_max:
            raise violation(f"invalid length of {what}")
        if len(self._buffer) < start + length:
            return None
        self._at = start + length
        return bytes(memoryview(self._buffer)[behind : self._at])


@lru_cache(maxsize=256)
def _decoded_once(code: bytes, body: bytes) -> Message:
    return decoded(FRONTEND, code, body)
