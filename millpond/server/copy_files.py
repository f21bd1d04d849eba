"""The client's side of COPY as files: what it sends is read, what is written is sent to it, a row a message."""

from __future__ import annotations

import io

from millpond.copy.write import RowWriter
from millpond.errors import MillpondError, SqlState
from millpond.server.client import Client
from millpond.values.arrays import Array, pc
from millpond.wire.fields import violation
from millpond.wire.frames import framed
from millpond.wire.frontend import CopyData, CopyDone, CopyFail, Flush, Sync


class CopyInput(io.RawIOBase):
    """What the client sends between CopyInResponse and CopyDone."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._data = b""
        self._done = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes; as many as came at once, since more may take long."""
        while not self._data and not self._done:
            self._receive()
        count = len(self._data) if size < 0 else size
        taken, self._data = self._data[:count], self._data[count:]
        return taken

    def skip_rest(self) -> None:
        """Read up to CopyDone what nobody wants, such as what follows an end-of-data marker."""
        while not self._done:
            self._receive()
        self._data = b""

    def _receive(self) -> None:
        session = self._client.session
        message = self._client.inbox.wait(session.check_canceled)
        session.check_canceled()
        if isinstance(message, CopyData):
            self._data = message.data
        elif isinstance(message, CopyDone):
            self._done = True
        elif isinstance(message, CopyFail):
            raise MillpondError(SqlState.QUERY_CANCELED, f"COPY from stdin failed: {message.reason}")
        elif not isinstance(message, Flush | Sync):  # a pipeline may hold them already; they mean nothing here
            raise violation(f"unexpected message type 0x{message.code.hex()} during COPY from stdin")


class CopyOutput(io.RawIOBase, RowWriter):
    """What the client is sent between CopyOutResponse and CopyDone."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        raw = bytes(data)  # type: ignore[call-overload]
        self._send(CopyData(raw).encode())
        return len(raw)

    def deliver(self) -> None:
        # Not `flush`: that is called by the collector of garbage too, in whatever thread it runs.
        self._client.outbox.flush()

    def write_rows(self, rows: Array) -> int:
        self._send(framed(CopyData.code, rows))
        return int(pc.sum(pc.binary_length(rows)).as_py() or 0)

    def _send(self, data: bytes) -> None:
        self._client.session.check_canceled()
        self._client.outbox.add_encoded(data)
