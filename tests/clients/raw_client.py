"""A client that speaks the protocol message by message, for what drivers do not let one do."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from millpond.wire.backend import BACKEND, BackendKeyData, ErrorResponse, ReadyForQuery
from millpond.wire.decoder import Decoder
from millpond.wire.frontend import Query
from millpond.wire.message import Message
from millpond.wire.startup import PROTOCOL_3_0, Startup

TIMEOUT_S = 30.0


class RawClient:
    """A connection to a server, closed at the end of a `with` block."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)
        self._decoder = Decoder(BACKEND)
        self.key: BackendKeyData | None = None

    @classmethod
    def started(cls, port: int, version: int = PROTOCOL_3_0, **parameters: str) -> Self:
        """A client that is ready for queries."""
        client = cls(port)
        client.socket.sendall(Startup(version, {"user": "tester", "database": "pond", **parameters}).encode())
        for message in client.until(ReadyForQuery):
            if isinstance(message, BackendKeyData):
                client.key = message
        return client

    def send(self, *messages: Message) -> None:
        self.socket.sendall(b"".join(message.encode() for message in messages))

    def receive(self) -> Message | None:
        """The next message; None when the server has closed the connection."""
        while (message := self._decoder.message()) is None:
            data = self.socket.recv(65_536)
            if not data:
                return None
            self._decoder.feed(data)
        return message

    def until(self, *kinds: type[Message]) -> list[Message]:
        """All messages up to one of the kinds, or to the end of the connection."""
        found: list[Message] = []
        while (message := self.receive()) is not None:
            found.append(message)
            if isinstance(message, kinds):
                break
        return found

    def query(self, text: str) -> list[Message]:
        """What a simple query is answered."""
        self.send(Query(text))
        return self.until(ReadyForQuery)

    def exchange(self, *messages: Message) -> list[Message]:
        """What messages that end with a Sync are answered."""
        self.send(*messages)
        return self.until(ReadyForQuery)

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def errors(messages: Sequence[Message]) -> list[str]:
    """The SQLSTATEs of the errors among messages."""
    return [message.report["C"] for message in messages if isinstance(message, ErrorResponse)]


def names(messages: Sequence[Message]) -> list[str]:
    """The kinds of messages, in short."""
    return [type(message).__name__ for message in messages]
