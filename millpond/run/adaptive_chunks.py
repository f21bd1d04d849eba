"""In how many chunks a basic window is worked on while its rows arrive: more of them leave less to do after the last.

Nobody can say beforehand how many are best, so they are doubled as long as that makes answers faster, and then left at
the best. When answers become much slower than they were then, the search begins again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

SLIDES = 5
"""Answers by which a number of chunks is judged."""

ROWS_MIN = 2_000
"""A chunk of fewer rows is not worth a job."""

_BETTER = 0.95
_WORSE = 2.0


@dataclass
class AdaptiveChunks:
    """The number of `chunks` of a slide of so many `rows`."""

    chunks: int = 1
    rows: int = 0
    best_s: float = float("inf")
    best: int = 1
    settled: bool = False
    _responses: list[float] = field(default_factory=list)

    @property
    def rows_per_chunk(self) -> int | None:
        """How many rows make a chunk; None as long as a slide is one."""
        return None if self.chunks == 1 or not self.rows else max(ROWS_MIN, self.rows // self.chunks)

    def slid(self, rows: int, response_s: float) -> None:
        """A slide of so many rows was answered in that time."""
        self.rows = rows
        self._responses.append(response_s)
        if len(self._responses) < SLIDES:
            return
        measured, self._responses = median(self._responses), []
        if self.settled:
            self.settled = measured < self.best_s * _WORSE
            if not self.settled:
                self.chunks, self.best, self.best_s = 1, 1, float("inf")
        elif measured < self.best_s * _BETTER:
            self.best_s, self.best = measured, self.chunks
            self._double()
        else:
            self.chunks, self.settled = self.best, True

    def _double(self) -> None:
        if self.rows // (self.chunks * 2) >= ROWS_MIN:
            self.chunks *= 2
        else:
            self.settled = True
