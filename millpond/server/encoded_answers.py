"""Rows that client after client asks for, as bytes: those of a view are encoded once for each of its answers."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import pyarrow as pa

from millpond.result import ResultColumn
from millpond.server.rows import encode_rows

ANSWER_BYTES_MAX = 64 << 10
"""A larger answer takes so long to send that encoding it again hardly counts."""

ANSWERS_BYTES_MAX = 16 << 20
"""All that is kept, for all clients of a server."""


class EncodedAnswers:
    """Encoded rows by the table that they come from, which is kept, so that no other table can have its identity."""

    def __init__(self, bytes_max: int = ANSWERS_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._known: OrderedDict[tuple[int, tuple[int, ...]], tuple[pa.Table, bytes]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def find(self, rows: pa.Table, formats: Sequence[int]) -> bytes | None:
        """The rows as messages in these formats, if they have been encoded before."""
        found = self._known.get((id(rows), tuple(formats)))
        return None if found is None else found[1]

    def encode(self, rows: pa.Table, columns: Sequence[ResultColumn], formats: Sequence[int]) -> bytes | None:
        """The rows as messages, kept for the next; None if there are too many for that."""
        if rows.nbytes > ANSWER_BYTES_MAX:
            return None
        data = self.find(rows, formats)
        if data is None:
            data = b"".join(encode_rows(rows, columns, formats))
            self._keep((id(rows), tuple(formats)), rows, data)
        return data

    def _keep(self, key: tuple[int, tuple[int, ...]], rows: pa.Table, data: bytes) -> None:
        size = len(data) + rows.nbytes
        with self._lock:
            if key in self._known or len(data) > ANSWER_BYTES_MAX:
                return
            self._known[key] = (rows, data)
            self._bytes += size
            while self._bytes > self._bytes_max:
                _, (old_rows, old_data) = self._known.popitem(last=False)
                self._bytes -= len(old_data) + old_rows.nbytes
