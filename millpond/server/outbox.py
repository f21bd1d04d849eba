"""What is on its way to a client: gathered by a thread, sent in pieces; a slow client makes the thread wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from millpond.wire.message import Message


class Outbox:
    """`transmit` returns when the connection has taken the bytes, and raises when the client is gone."""

    def __init__(self, transmit: Callable[[bytes], None], piece_bytes: int) -> None:
        self._transmit, self._piece_bytes = transmit, piece_bytes
        self._data = bytearray()
        self._gathering = False

    def add(self, *messages: Message) -> None:
        for message in messages:
            self._data += message.encode()
        self._send_if_large()

    def add_encoded(self, data: bytes) -> None:
        self._data += data
        self._send_if_large()

    def flush(self) -> None:
        """Send everything now, or when what is being gathered is complete."""
        if self._data and not self._gathering:
            self._transmit(self.take())

    @property
    def is_full(self) -> bool:
        """Whether there is enough to be sent."""
        return len(self._data) >= self._piece_bytes

    @contextmanager
    def gathering(self) -> Iterator[None]:
        """Send nothing meanwhile: for the event loop, which cannot wait for itself."""
        self._gathering = True
        try:
            yield
        finally:
            self._gathering = False

    def take(self) -> bytes:
        """What is left to send; the caller sends it."""
        data = bytes(self._data)
        self._data.clear()
        return data

    def _send_if_large(self) -> None:
        if self.is_full:
            self.flush()
