"""A stream that a COPY of a CSV file fills while ad hoc queries read it, and what both take together."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from millpond import Pond
from millpond.bench.peers.peer import Answers
from millpond.bench.stopwatch import Spent, Stopwatch
from millpond.bench.tpch_answers import Row, unpadded

_LOOK_INTERVAL_S = 0.002


@dataclass(frozen=True)
class Flowed:
    """From the start of the COPY to the last answer, and the answers."""

    spent: Spent
    answers: Answers


@dataclass(frozen=True)
class FlowingStream:
    """A stream of a pond. `end` are settings that say when a query takes it for ended, `piece_rows` how many rows of a
    COPY become visible at a time."""

    pond: Pond
    name: str
    end: str
    piece_rows: int

    def load(self, csv: Path) -> Spent:
        """Copy a file into the stream."""
        watch = Stopwatch()
        self.pond.execute(f"COPY {self.name} FROM '{csv}' WITH (FORMAT csv, COMMIT_ROWS {self.piece_rows})")
        return watch.spent()

    def ask(self, queries: Mapping[str, str], csv: Path) -> Flowed:
        """Start the queries, each in a session of its own, and when all of them wait for tuples copy the file."""
        with ThreadPoolExecutor(len(queries)) as pool:
            asked = {name: pool.submit(self._answer, query) for name, query in queries.items()}
            self._wait_for_scans(list(asked.values()))
            watch = Stopwatch()
            self.load(csv)
            answers: Answers = {name: [*future.result()] for name, future in asked.items()}
            return Flowed(watch.spent(), answers)

    def _answer(self, query: str) -> list[Row]:
        session = self.pond.new_session()
        try:
            session.execute(f"SET stream_start = 'latest'; {self.end}")
            return unpadded(session.execute(query))
        finally:
            self.pond.end_session(session)

    def _wait_for_scans(self, asked: list[Future[list[Row]]]) -> None:
        """Until all queries have begun to scan the stream; raises what one failed with before."""
        stream = self.pond.services.streams.get(self.pond.services.catalog.snapshot.relations[self.name])
        while stream.arrivals.waiting < len(asked):
            for ended in (future for future in asked if future.done()):
                raise ended.exception() or ValueError(f'a query does not wait for tuples of "{self.name}"')
            time.sleep(_LOOK_INTERVAL_S)
