"""The clients of the benchmark of subscriptions: those who read what they are sent, and one who does not."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field

import psycopg

from millpond.bench.answers import WrongAnswerError

STUCK_BUFFER_BYTES = 8 << 10
READING_BUFFER_BYTES = 4 << 20
"""What the system takes in for a client: by default that would be megabytes also for one that does not read."""


@dataclass
class ReadingClient:
    """Applies the changes of a view to what it has, and remembers each version by a sum that tells states apart."""

    url: str
    view: str
    states: dict[int, int] = field(default_factory=dict)
    delays_s: list[float] = field(default_factory=list)
    skipped: int = 0
    error: BaseException | None = None
    rows: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._connection = psycopg.connect(self.url, autocommit=True)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the subscription and wait until it has ended."""
        self._connection.cancel_safe()
        self._thread.join()
        self._connection.close()
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        try:
            with self._connection.cursor() as cursor, cursor.copy(self._statement()) as copy:
                for line in copy:
                    self._apply(bytes(line).decode().rstrip("\n"))
        except psycopg.errors.QueryCanceled:
            pass  # that is how it ends
        except Exception as error:
            self.error = error

    def _statement(self) -> str:
        return f"COPY (SUBSCRIBE TO {self.view} WITH (progress)) TO STDOUT"

    def _apply(self, line: str) -> None:
        version, change, row = line.split("\t", 2)
        if change == "progress":
            self._complete(int(version))
        elif change == "skipped":
            self.skipped += 1
        elif change in ("snapshot", "insert", "update_new"):
            self.rows[row] += 1
        else:
            self.rows[row] -= 1
            if self.rows[row] < 0:
                raise WrongAnswerError(f"a row was deleted that was not there: {row}")

    def _complete(self, version: int) -> None:
        if self.states and version <= max(self.states):
            raise WrongAnswerError(f"version {version} came after {max(self.states)}")
        self.rows = +self.rows
        self.states[version] = hash(frozenset(self.rows.items()))
        self.delays_s.append(time.time() - version / 1e6)


class StuckClient:
    """Subscribes and reads the first row only; of the rest its system takes in little."""

    def __init__(self, url: str, view: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        self._take_in(STUCK_BUFFER_BYTES)
        received = self._connection.cursor().stream(f"SUBSCRIBE TO {view} WITH (progress)")
        assert isinstance(received, Generator), "so that it can be ended"
        self._received = received
        self.rows: Counter[tuple[object, ...]] = Counter()
        self.skips = 0
        self._apply(next(self._received))

    def _take_in(self, size: int) -> None:
        with socket.fromfd(self._connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as endpoint:
            endpoint.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)

    def read_on(self, wanted: Counter[tuple[object, ...]], patience_s: float) -> bool:
        """Read what has been on its way all the time, and what follows, until it has what is wanted."""
        self._take_in(READING_BUFFER_BYTES)
        timer = threading.Timer(patience_s, self._connection.cancel_safe)
        timer.start()
        try:
            return any(self._apply(received) and +self.rows == wanted for received in self._received)
        except psycopg.errors.QueryCanceled:
            return False
        finally:
            timer.cancel()
            self._received.close()
            self._connection.close()

    def _apply(self, received: tuple[object, ...]) -> bool:
        """Apply a change; whether it was the last one of its version."""
        _version, change, *row = received
        if change == "skipped":
            self.skips += 1
        elif change != "progress":
            self.rows[tuple(row)] += 1 if change in ("snapshot", "insert", "update_new") else -1
        return change == "progress"
