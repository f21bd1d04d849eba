"""Where appends come from: a writer that must not make the same rows twice says how far it is, together with the rows.

The stream keeps the newest origin of each writer, and makes it durable in the same step as the rows: see `publication`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Origin:
    """A writer, by its oid, and how far it is, in its own words."""

    writer: int
    progress: str

    def dumps(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text: str | bytes) -> Origin:
        """The origin that `dumps` wrote.

        >>> Origin.loads(Origin(7, "three").dumps())
        Origin(writer=7, progress='three')
        """
        stored = json.loads(text)
        return cls(stored["writer"], stored["progress"])


class Origins:
    """The newest origin of each writer of one stream."""

    def __init__(self, known: Iterable[Origin] = ()) -> None:
        self._lock = threading.Lock()
        self._newest = {origin.writer: origin for origin in known}

    def note(self, origin: Origin) -> None:
        with self._lock:
            self._newest[origin.writer] = origin

    def of(self, writer: int) -> Origin | None:
        with self._lock:
            return self._newest.get(writer)

    def forget(self, writer: int) -> None:
        with self._lock:
            self._newest.pop(writer, None)
