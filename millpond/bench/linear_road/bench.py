"""Measures Linear Road: tolls with and without persisting them, then everything; at full speed and in real time.

1. Stress: the tolls alone, their rows thrown away and persisted; then with what each car is told, and its questions.
2. Real time, sped up, over the busiest half hour: how long after its end a minute is there, and after which time a
   subscriber is told what a car has to pay that reports.

All answers are compared with those expected.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from rich.console import Console

import millpond
from millpond.bench.bars import Bar, plot
from millpond.bench.linear_road.history import history
from millpond.bench.linear_road.listener import Listener
from millpond.bench.linear_road.queries import told_query, toll_query, whole_query
from millpond.bench.linear_road.road import HOURS_S
from millpond.bench.linear_road.run import Driven, RoadRun
from millpond.bench.linear_road.traffic import Traffic
from millpond.bench.linear_road.validator import expected_of, verify_answers, verify_told, verify_tolls
from millpond.bench.report import Measurement, report

FACTOR = 10.0
"""How much faster than real time."""

RATE, ADDED, MEDIAN_MS, MOST_MS = 300_000.0, 1.15, 200.0, 600.0
"""Targets: reports a second, what persisting may add, and the time after a cut, in the median and at most."""

TOLD_P99_MS, TOLD_MOST_MS = 500.0, 5_000.0
"""From the insert of a report to what its car is told."""

REAL_TIME_MINUTES = 30
"""The last of them, which are the busiest: in real time all three hours would take long even so."""

_WARM_UP_MINUTES = 12
_PLACES = 18
"""Bars of a plot over all minutes."""


def measure(scale: float) -> None:
    """Run, report and draw; a scale of 1 is three hours, or 180 cycles."""
    console = Console(stderr=True, width=None if sys.stderr.isatty() else 110)
    minutes = list(Traffic().minutes(max(2, round(HOURS_S // 60 * scale))))
    # One pond stays open all the time, so that Spark, which all ponds share, does too.
    with millpond.connect():
        bench = Bench(minutes, console)
        found = list(bench.measure())
    console.print("\n\n".join(bench.plots), highlight=False)
    report("linear-road", found, console)


class Bench:
    """The measurements of one run, and their plots."""

    def __init__(self, minutes: Sequence[pa.Table], console: Console) -> None:
        self._minutes, self._console = minutes, console
        self._history = history(minutes)
        self.plots: list[str] = []

    def measure(self) -> Iterator[Measurement]:
        self._say("what is expected")
        self._expected = expected_of(self._minutes)
        self._say("warming up")
        few = self._minutes[-_WARM_UP_MINUTES:]
        for query in (toll_query(len(few)), whole_query(len(few))):
            with RoadRun(few, query, self._history) as run:
                run.stress()
        yield from self._tolls()
        yield from self._everything()
        yield from self._in_real_time()

    # -- at full speed -----------------------------------------------------------------------------------------------

    def _tolls(self) -> Iterator[Measurement]:
        count = len(self._minutes)
        self._say("tolls, thrown away")
        with RoadRun(self._minutes, toll_query(count, persisted=False)) as run:
            thrown = run.stress()
        self._say("tolls")
        with RoadRun(self._minutes, toll_query(count)) as run:
            kept = run.stress()
            verify_tolls(run.pond, self._expected)
        yield from _rates("tolls, thrown away", thrown)
        yield from _rates("tolls", kept, RATE)
        added = kept.spent.seconds / thrown.spent.seconds
        yield Measurement("persisting, over throwing away", added, "x", target=ADDED, lower_is_better=True)
        yield from _post_cut("tolls", kept)
        self._plot("reports", "rows", {"a minute": [one.rows_in for one in kept.cycles]}, statistics.mean)
        shown = {"querying only": thrown.post_cut_ms, "with persisting": kept.post_cut_ms}
        self._plot("tolls, a cycle", "ms", shown, statistics.mean)

    def _everything(self) -> Iterator[Measurement]:
        self._say("tolls, notifications and balances")
        with RoadRun(self._minutes, whole_query(len(self._minutes)), self._history) as run:
            driven = run.stress()
            verify_tolls(run.pond, self._expected)
            verified = verify_answers(run.pond, self._expected, self._history)
        yield from _rates("everything", driven)
        yield from _post_cut("everything", driven, targets=False)
        yield Measurement("answers that were right", verified, "rows")

    # -- in real time ------------------------------------------------------------------------------------------------

    def _in_real_time(self) -> Iterator[Measurement]:
        busiest = self._minutes[-REAL_TIME_MINUTES:]
        expected = expected_of(busiest)
        self._say(f"tolls at {FACTOR:g} times real time")
        with RoadRun(busiest, toll_query(len(busiest))) as run:
            driven = run.real_time(FACTOR)
            verify_tolls(run.pond, expected)
        yield from _post_cut("real time", driven)
        self._plot_work("real time, a cycle", driven)
        self._say(f"what cars are told, at {FACTOR:g} times real time")
        with RoadRun(busiest, told_query(len(busiest))) as run, Listener(run.pond) as listener:
            driven = run.real_time(FACTOR)
            listener.wait_for(len(expected.notifications))
            verify_tolls(run.pond, expected)
            verify_told(listener.told, expected)
            responses_ms = 1000 * listener.responses_s(run.sent)
            minutes = listener.told.column("time").to_numpy() // 60
        yield from _post_cut("with what cars are told", driven)
        p99, most = float(np.percentile(responses_ms, 99)), float(responses_ms.max())
        yield Measurement("told, median", float(np.median(responses_ms)), "ms")
        yield Measurement("told, p99", p99, "ms", target=TOLD_P99_MS, lower_is_better=True)
        yield Measurement("told, most", most, "ms", target=TOLD_MOST_MS, lower_is_better=True)
        slowest = [float(responses_ms[minutes == one].max()) for one in np.unique(minutes)]
        self._plot("told, the slowest of a minute", "ms", {"response": slowest}, max)

    def _plot_work(self, title: str, driven: Driven) -> None:
        self._plot(title, "ms", {"all work": driven.work_ms, "after the cut": driven.post_cut_ms}, max)

    def _plot(
        self, title: str, unit: str, series: Mapping[str, Sequence[float]], shown: Callable[[Sequence[float]], float]
    ) -> None:
        """One bar for several minutes."""
        bars: list[Bar] = []
        count = min(map(len, series.values()))
        step = max(1, count // _PLACES)
        for first in range(0, count, step):
            bars += [
                Bar(f"minute {first}", name, shown(values[first : first + step])) for name, values in series.items()
            ]
        self.plots.append(plot(title, unit, bars))

    def _say(self, what: str) -> None:
        self._console.print(f"{what} ...", style="dim")


def _rates(name: str, driven: Driven, target: float | None = None) -> Iterator[Measurement]:
    yield Measurement(name, driven.rows / driven.spent.seconds, "rows/s", target=target)
    if driven.spent.core_seconds:
        yield Measurement(f"{name}, by core", driven.rows / driven.spent.core_seconds, "rows/core-s")
    yield Measurement(f"{name}, all minutes", driven.spent.seconds, "s")
    yield Measurement(f"{name}, Spark jobs a cycle", driven.jobs_a_cycle, "jobs")


def _post_cut(name: str, driven: Driven, *, targets: bool = True) -> Iterator[Measurement]:
    found = driven.post_cut_ms
    median, most = (MEDIAN_MS, MOST_MS) if targets else (None, None)
    yield Measurement(
        f"{name}, after the cut, median", statistics.median(found), "ms", target=median, lower_is_better=True
    )
    yield Measurement(f"{name}, after the cut, most", max(found), "ms", target=most, lower_is_better=True)
