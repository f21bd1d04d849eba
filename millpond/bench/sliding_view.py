"""A view over windows that slides: rows come in, and the time counts from the insert of a slide's last row to its
answer."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import pyarrow as pa

import millpond
from millpond.bench import datacell_queries
from millpond.bench.answers import verify
from millpond.bench.datacell_queries import WindowQuery

_INSERT_ROWS = 1_000_000
_SLIDES_KEPT = 2


@dataclass(frozen=True)
class Responses:
    """How long the answers to slides took, in the order of the slides."""

    ms: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.ms)

    @property
    def p90(self) -> float:
        """What one answer in ten exceeds; of few answers the slowest.

        >>> Responses([float(one) for one in range(1, 21)]).p90
        19.0
        """
        return sorted(self.ms)[min(len(self.ms) - 1, int(0.9 * len(self.ms)))]


class SlidingView:
    """A pond with the streams of a query and its view. Streams keep the rows of a window and of few slides, so that it
    can be evaluated anew from them."""

    def __init__(self, query: WindowQuery, slides_max: int, x2_values: int = datacell_queries.X2_VALUES) -> None:
        self.query, self.end = query, 0
        total = (query.size or 0) + slides_max * query.slide
        capacity = total if query.size is None else query.size + _SLIDES_KEPT * query.slide
        self._rows = {
            stream: datacell_queries.rows(min(total, 2 * (query.size or query.slide)), seed, x2_values)
            for seed, stream in enumerate(query.streams)
        }
        self._pond = millpond.connect()
        for stream in query.streams:
            self._pond.execute(
                f"CREATE FOREIGN TABLE {stream} ({datacell_queries.COLUMNS}) SERVER stream "
                f"OPTIONS (durability 'memory', capacity '{capacity}')"
            )
        self._pond.execute(f"CREATE VIEW answer AS {query.view}")

    def fill(self) -> None:
        """The rows of the first window."""
        self.insert(self.query.size or self.query.slide)

    def insert(self, count: int) -> None:
        """More rows into each stream; those that there are come again and again."""
        for stream, rows in self._rows.items():
            left, at = count, self.end % rows.num_rows
            while left:
                piece = rows.slice(at, min(left, _INSERT_ROWS))
                self._pond.insert(stream, piece)
                left, at = left - piece.num_rows, (at + piece.num_rows) % rows.num_rows
        self.end += count

    def read(self) -> pa.Table:
        return self._pond.execute("SELECT * FROM answer").arrow()

    def follow(self, slides: int) -> Iterator[None]:
        """Rows as fast as they go in, up to so many slides after the first window is full; gives control back whenever
        a follower has the answer of a window more."""
        assert self.query.size is not None
        with self._pond.subscribe("answer") as answers, ThreadPoolExecutor(1) as writer:
            written = writer.submit(self._insert_slides, slides)
            for _ in zip(range(slides + 1), answers.tables(), strict=False):
                yield
            written.result()
            if answers.skipped:
                raise RuntimeError(f"{answers.skipped} windows were skipped")

    def _insert_slides(self, count: int) -> None:
        self.fill()
        for _ in range(count):
            self.insert(self.query.slide)

    def settle(self) -> None:
        """Let the view take all rows, as it does in the background when there is time."""
        services = self._pond.services
        for stream in self.query.streams:
            services.views.catch_up(services.catalog.snapshot.relations[stream].oid)
        services.views.pair_up()

    def slides(self, count: int, *, settled: bool = False) -> Responses:
        """So many slides, each when the view has taken the one before. If `settled`, it has taken the new one too
        before it is asked, so that all that is left is to merge."""
        found = []
        for _ in range(count):
            self.settle()
            self.insert(self.query.slide)
            if settled:
                self.settle()
            found.append(milliseconds(self.read))
        return Responses(found)

    def reevaluated(self, count: int) -> Responses:
        """The newest window computed from its rows by Spark, so many times; its answer has to be the view's."""
        self.settle()
        anew = self.query.anew(self.end)
        self.verify(self._pond.execute(anew).fetchall())
        return Responses([milliseconds(lambda: self._pond.execute(anew).arrow()) for _ in range(count)])

    def verify(self, truth: list[tuple[object, ...]]) -> None:
        """Raise unless the view has these rows."""
        verify("millpond", {"answer": self._pond.execute("SELECT * FROM answer").fetchall()}, {"answer": truth})

    @property
    def chunks(self) -> int:
        """In how many chunks the view wants to work on a slide."""
        ((chunks,),) = set(self._pond.execute("SELECT chunks FROM millpond_windows").fetchall())
        return int(chunks)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pond.close()


def milliseconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1_000
