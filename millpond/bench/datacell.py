"""DataCell's experiments with windows: how long a slide's answer takes, beside evaluating the window anew on Spark.

1. Q1, a grouping over 10,240,000 rows in 512 basic windows: from the first row to the hundredth slide at full speed,
   when somebody who follows the view has the answer of each; and the response of slides, each of which comes when the
   view has taken the one before; beside Flink and DuckDB.
2. Q2, a join of two streams' windows of 102,400 rows in 64 basic windows: the response of slides, and slides at full
   speed.
3. Q1 with other selectivities, other sizes in 512 basic windows, and the same size in 2 to 2048 basic windows, where
   an answer after the view took all rows tells what merging takes by itself. Q3 over a landmark window.
4. How the number of chunks in which a slide is worked on adapts while rows flow in.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

import millpond
from millpond.bench import datacell_peers
from millpond.bench.bars import Bar, plot
from millpond.bench.datacell_peers import Filled
from millpond.bench.datacell_queries import Q1, Q2, Q3, WindowQuery
from millpond.bench.peers.peer import PeerMissingError
from millpond.bench.rates import rates
from millpond.bench.report import Measurement, report
from millpond.bench.sliding_view import Responses, SlidingView, milliseconds
from millpond.bench.stopwatch import Stopwatch

PEERS = ("flink", "duckdb")
ANEW = "re-evaluated"

BASIC_WINDOWS = 512
STEPS = (2, 8, 64, 512, 2048)
SELECTIVITIES_PERCENT = (10, 30, 50, 70, 90)
JOINED_VALUES = (10_000_000, 1_000_000, 10_000)
"""Values of the joined column: a pair of rows joins with one in so many."""

INSERTS_OF_SLIDE = 64
SLIDE_S = 1.0
"""How rows flow in while chunks adapt: a slide takes so long, in so many inserts."""


@dataclass(frozen=True)
class Counts:
    """How many slides are measured, of which experiment."""

    full_speed: int = 100
    warm_up: int = 20
    basic: int = 40
    varied: int = 15
    landmark: int = 10
    adapted: int = 40
    anew: int = 5


COUNTS = Counts()


@dataclass(frozen=True)
class Sizes:
    """How many rows a scale means."""

    window: int
    joined_slide: int
    landmark_step: int

    @classmethod
    def of_scale(cls, scale: float) -> Sizes:
        step = max(1, round(5_000 * scale))
        return cls(2048 * step, max(1, round(1_600 * scale)), max(1, round(2_500_000 * scale)))

    def q1(self, basic_windows: int = BASIC_WINDOWS, parts: int = 1, selectivity_percent: int = 20) -> WindowQuery:
        """Q1 over a window, or one that is so many times smaller."""
        size = max(basic_windows, self.window // parts)
        return WindowQuery(Q1, ("s1",), size // basic_windows, size, selectivity_percent)

    @property
    def q2(self) -> WindowQuery:
        return WindowQuery(Q2, ("s1", "s2"), self.joined_slide, 64 * self.joined_slide)


def run(scale: float = 1.0, peers: Sequence[str] | None = None) -> None:
    """Measure, report and draw; a scale of 1 is a window of 10,240,000 rows."""
    console = Console(stderr=True, width=None if sys.stderr.isatty() else 110)
    # One pond stays open all the time, so that Spark, which all ponds share, does too.
    with TemporaryDirectory(prefix="millpond-bench-") as directory, millpond.connect():
        bench = Bench(Sizes.of_scale(scale), Path(directory), PEERS if peers is None else peers, console)
        found = list(bench.measure())
    console.print("\n\n".join(bench.plots), highlight=False)
    report("datacell", found, console)


class Bench:
    """The measurements of one run, and their plots."""

    def __init__(self, sizes: Sizes, directory: Path, peers: Sequence[str], console: Console) -> None:
        self._sizes, self._directory, self._peers, self._console = sizes, directory, peers, console
        self.plots: list[str] = []

    def measure(self) -> Iterator[Measurement]:
        self._say("warming up")
        self._filled(self._sizes.q1(parts=8))
        yield from self._basic("Q1", self._sizes.q1(), answers_target=5.0, median_below_ms=120.0)
        yield from self._first_windows()
        yield from self._basic("Q2", self._sizes.q2, answers_target=10.0)
        yield from self._joined_at_full_speed()
        yield from self._steps()
        yield from self._varied(
            "selectivity", {f"{one}%": self._sizes.q1(selectivity_percent=one) for one in SELECTIVITIES_PERCENT}
        )
        yield from self._varied(
            "window", {f"{self._sizes.q1(parts=one).size:,} rows": self._sizes.q1(parts=one) for one in (4, 2, 1)}
        )
        yield from self._join_selectivity()
        yield from self._landmark()
        yield from self._adaptation()

    # -- at full speed -----------------------------------------------------------------------------------------------

    def _first_windows(self) -> Iterator[Measurement]:
        query = self._sizes.q1()
        self._say("Q1 at full speed")
        own = self._filled(query)
        found = {"millpond": own}
        if "flink" in self._peers:
            self._say("flink")
            try:
                found["flink"] = datacell_peers.flink(query, COUNTS.full_speed, self._directory, self._console)
            except PeerMissingError as error:
                self._console.print(f"without flink: {error}")
        peers = {name: one.first.seconds for name, one in found.items() if name != "millpond"}
        yield Measurement("Q1, first window full", own.first.seconds, "s", peers, 10.0, lower_is_better=True)
        assert query.size is not None
        rows = query.size + COUNTS.full_speed * query.slide
        yield from rates(
            f"Q1 to slide {COUNTS.full_speed}", rows, {name: one.last for name, one in found.items()}, 5.0, "rows"
        )
        peers = {name: one.slide_ms for name, one in found.items() if name != "millpond"}
        yield Measurement("Q1, slide at full speed", own.slide_ms, "ms", peers)

    def _joined_at_full_speed(self) -> Iterator[Measurement]:
        query = self._sizes.q2
        self._say("Q2 at full speed")
        self._filled(query)
        own = self._filled(query)
        with SlidingView(query, 0) as view:
            view.fill()
            anew = view.reevaluated(COUNTS.anew)
        rate = {ANEW: 1_000 / anew.median}
        yield Measurement("Q2, slides a second at full speed", 1_000 / own.slide_ms, "1/s", rate, 10.0, ANEW)

    def _filled(self, query: WindowQuery) -> Filled:
        with SlidingView(replace(query, tells=True), COUNTS.full_speed) as view:
            watch = Stopwatch()
            first, *_, last = (watch.spent() for _ in view.follow(COUNTS.full_speed))
            view.reevaluated(0)
        return Filled(first, last, COUNTS.full_speed)

    # -- responses ---------------------------------------------------------------------------------------------------

    def _basic(
        self, name: str, query: WindowQuery, *, answers_target: float, median_below_ms: float | None = None
    ) -> Iterator[Measurement]:
        self._say(f"{name}, response of slides")
        own, anew = self._responses(query, COUNTS.basic)
        peers = {ANEW: anew.median}
        if "duckdb" in self._peers and name == "Q1":
            peers["duckdb"] = datacell_peers.duckdb(query, COUNTS.varied).median
        yield Measurement(f"{name}, slide, median", own.median, "ms", peers, median_below_ms, lower_is_better=True)
        yield Measurement(f"{name}, slide, p90", own.p90, "ms", {ANEW: anew.p90})
        rate = {ANEW: 1_000 / anew.median}
        yield Measurement(f"{name}, answers a second", 1_000 / own.median, "1/s", rate, answers_target, ANEW)
        shown = [Bar(str(place), "slide", ms) for place, ms in enumerate(own.ms[-20:], 1)]
        self._plot(f"{name}, 20 slides", [*shown, Bar("", ANEW, anew.median)])

    def _responses(self, query: WindowQuery, slides: int) -> tuple[Responses, Responses]:
        with SlidingView(query, COUNTS.warm_up + slides) as view:
            view.fill()
            view.slides(COUNTS.warm_up)
            own = view.slides(slides)
            return own, view.reevaluated(COUNTS.anew)

    def _varied(self, what: str, queries: dict[str, WindowQuery]) -> Iterator[Measurement]:
        bars = []
        for place, query in queries.items():
            self._say(f"Q1, {what} {place}")
            own, anew = self._responses(query, COUNTS.varied)
            yield Measurement(f"Q1, {what} {place}, slide, median", own.median, "ms", {ANEW: anew.median})
            bars += [Bar(place, "slide", own.median), Bar(place, ANEW, anew.median)]
        self._plot(f"Q1, {what}", bars)

    def _steps(self) -> Iterator[Measurement]:
        bars, medians = [], {}
        for basic_windows in STEPS:
            self._say(f"Q1, {basic_windows} basic windows")
            query = self._sizes.q1(basic_windows)
            # A slide of millions of rows tells enough when it comes a few times.
            few = COUNTS.warm_up if basic_windows >= 64 else COUNTS.anew
            with SlidingView(query, 4 * few) as view:
                view.fill()
                view.slides(few)
                own, merge = view.slides(2 * few), view.slides(few, settled=True)
                anew = view.reevaluated(COUNTS.anew)
            medians[basic_windows] = own.median
            name = f"Q1, {basic_windows} basic windows"
            yield Measurement(f"{name}, slide, median", own.median, "ms", {ANEW: anew.median})
            yield Measurement(f"{name}, merge alone, median", merge.median, "ms")
            bars += [
                Bar(str(basic_windows), series, one.median)
                for series, one in (("slide", own), ("merge", merge), (ANEW, anew))
            ]
        self._plot("Q1, basic windows", bars)
        many = [medians[one] for one in STEPS if one >= 64]
        yield Measurement(
            "slide of 64 to 2048 basic windows, highest to lowest",
            max(many) / min(many),
            "x",
            target=1.2,
            lower_is_better=True,
        )

    def _join_selectivity(self) -> Iterator[Measurement]:
        for values in JOINED_VALUES:
            self._say(f"Q2, joined with one in {values:,}")
            with SlidingView(self._sizes.q2, 2 * COUNTS.varied, values) as view:
                view.fill()
                view.slides(COUNTS.varied)
                own, anew = view.slides(COUNTS.varied), view.reevaluated(COUNTS.anew)
            yield Measurement(f"Q2, one in {values:,}, slide, median", own.median, "ms", {ANEW: anew.median})

    def _landmark(self) -> Iterator[Measurement]:
        query = WindowQuery(Q3, ("s1",), self._sizes.landmark_step)
        self._say("Q3, landmark")
        bars, found = [], {}
        with SlidingView(query, COUNTS.landmark) as view:
            for step in range(1, COUNTS.landmark + 1):
                view.settle()
                view.insert(query.slide)
                found[step] = milliseconds(view.read)
                bars.append(Bar(str(step), "step", found[step]))
            anew = view.reevaluated(COUNTS.anew)
        later = Responses([found[step] for step in found if step > 1] or list(found.values()))
        yield Measurement("Q3, first step", found[1], "ms")
        yield Measurement(f"Q3, steps to {COUNTS.landmark}, median", later.median, "ms", {ANEW: anew.median})
        self._plot("Q3, steps of a landmark window", [*bars, Bar("", ANEW, anew.median)])

    # -- chunks of a slide -------------------------------------------------------------------------------------------

    def _adaptation(self) -> Iterator[Measurement]:
        """Rows of long slides that arrive over a second each, in many inserts."""
        query = self._sizes.q1(basic_windows=16)
        self._say("Q1, chunks of a slide")
        found, bars = [], []
        with SlidingView(query, COUNTS.adapted) as view:
            view.fill()
            for slide in range(1, COUNTS.adapted + 1):
                chunks = view.chunks
                self._flow(view)
                found.append((chunks, milliseconds(view.read)))
                bars.append(Bar(f"{slide}: {chunks} chunks", "slide", found[-1][1]))
        first, last = Responses([ms for _, ms in found[:5]]), Responses([ms for _, ms in found[-5:]])
        yield Measurement("chunks of a slide, in the end", found[-1][0], "chunks")
        yield Measurement("slide in so many chunks, median", last.median, "ms", {"one chunk": first.median})
        self._plot("Q1, 16 basic windows, a second each", bars)

    def _flow(self, view: SlidingView) -> None:
        pieces = min(INSERTS_OF_SLIDE, view.query.slide)
        for place in range(pieces):
            due = time.perf_counter() + SLIDE_S / pieces
            view.insert(view.query.slide * (place + 1) // pieces - view.query.slide * place // pieces)
            time.sleep(max(0.0, due - time.perf_counter()) if place + 1 < pieces else 0.0)

    def _plot(self, title: str, bars: Sequence[Bar]) -> None:
        self.plots.append(plot(title, "ms", bars))

    def _say(self, what: str) -> None:
        self._console.print(f"{what} ...", style="dim")
