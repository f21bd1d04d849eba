"""Whether a view computes its windows from partials, or from their rows: for windows of few rows, what measures faster.

A window of few rows that the stream still holds can be evaluated from them alone, with neither panes to read nor a tick
after each slide. Both ways give the same answer, so that a view may change at any time: it tries both in turn, and then
stays with the faster.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from millpond.stream_window import StreamWindow

Mode = Literal["incremental", "reevaluate"]

FEW_ROWS = 20_000
"""Windows of more rows are not even tried: reading these anew takes longer than a job's fixed cost."""

SLIDES = 5
"""Answers by which a way is judged."""

ROUNDS: tuple[Mode, ...] = ("incremental", "reevaluate", "incremental", "reevaluate")
"""What is tried in turn; the first two warm up, the last two are compared."""

_BETTER = 0.95
"""Partials stay unless rows are clearly faster: they do not need the stream to hold the window."""


def can_measure(mode: str, windows: Iterable[StreamWindow]) -> bool:
    """Whether a view with that option may evaluate windows from their rows. Only tids tell which rows a window has."""
    return mode == "auto" and all(one.by_rows and one.size <= FEW_ROWS for one in windows)


@dataclass
class MeasuredMode:
    """The way of one view. If it is `settled`, it was chosen before, or there is no choice."""

    mode: Mode = "incremental"
    settled: bool = True
    _medians: list[float] = field(default_factory=list)
    _responses: list[float] = field(default_factory=list)

    def slid(self, response_s: float) -> bool:
        """A slide was answered in that time; whether this settled the choice."""
        if self.settled:
            return False
        self._responses.append(response_s)
        if len(self._responses) < SLIDES:
            return False
        self._medians.append(median(self._responses))
        self._responses = []
        self.settled = len(self._medians) == len(ROUNDS)
        self.mode = self._faster() if self.settled else ROUNDS[len(self._medians)]
        return self.settled

    def _faster(self) -> Mode:
        partials, rows = self._medians[-2:]
        return "reevaluate" if rows < partials * _BETTER else "incremental"
