"""TPC-H's queries asked of `lineitem` while it arrives: a COPY of its CSV file feeds the stream, history is in tables.

1. The COPY alone.
2. Each query by itself: it waits for tuples when the COPY starts, and the time ends with its answer. Then each twice
   more: the median is compared with the COPY alone, of which there are as many.
3. The twelve queries of the original experiment at once, over one COPY, whose chunks they share.
4. A stream of just the four columns that query 6 reads, against all sixteen.

A query ends with the last row of the file, which it is told by `stream_limit`. A session's timeout would have to be
subtracted again, and with it the work that is done meanwhile. Every answer is compared with DuckDB's.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

import millpond
from millpond import Pond
from millpond.bench.answers import WrongAnswerError
from millpond.bench.flowing import Flowed, FlowingStream
from millpond.bench.peers.peer import Answers, PeerMissingError, PeerRun
from millpond.bench.report import Measurement, report
from millpond.bench.stopwatch import Spent
from millpond.bench.stream_tpch_data import NARROW, NARROW_QUERY, TWELVE, WARM_UP, Asked, CsvFiles, columns
from millpond.bench.stream_tpch_peers import all_peers, duckdb, verify_texts
from millpond.bench.tpch import create_tables
from millpond.bench.tpch_answers import difference
from millpond.bench.tpch_data import STREAM, GeneratorMissingError, generate, listed

RUNS = 3
WARM_UPS = 2
PIECES = 12
PEERS = ("spark", "flink", "duckdb")
OVERHEAD_BELOW = 1.5
OF_SPARK_BELOW = 0.5
GIVE_UP = "60s"
"""Queries end after such a pause if the COPY has failed."""


def run(scale: float = 1.0, peers: Sequence[str] | None = None, queries: Sequence[str] | None = None) -> None:
    """Measure and report; the scale is TPC-H's: 1 has 6,000,000 rows in the stream. `queries` are the numbers of those
    to be asked, of Millpond and of its peers."""
    asked = Asked.of(None if queries is None else [f"q{number}" for number in queries])
    if not asked.each:
        raise SystemExit(f"no such queries; there are {', '.join(name[1:] for name in Asked.of().each)}")
    console = Console(stderr=True, width=None if sys.stderr.isatty() else 110)
    with TemporaryDirectory(prefix="millpond-bench-") as directory:
        try:
            generate(Path(directory), scale)
        except GeneratorMissingError as error:
            raise SystemExit(str(error)) from None
        files = CsvFiles.written(Path(directory))
        report("stream-tpch", Bench(files, asked, PEERS if peers is None else peers, console).measure(), console)


@dataclass(frozen=True)
class Narrow:
    """What the narrow stream took: its load alone, and with query 6."""

    load: Spent
    query: Spent


@dataclass(frozen=True)
class Own:
    """What Millpond took: for the load alone and with each query, for the twelve at once, and for the narrow stream.
    Of the load and of `repeated` queries it is the median."""

    load: Spent
    queries: Mapping[str, Spent]
    repeated: Mapping[str, Spent]
    at_once: Spent
    narrow: Narrow | None


class Bench:
    """The engines of one run, one after the other. DuckDB runs in any case, since it is the judge."""

    def __init__(self, files: CsvFiles, asked: Asked, peers: Sequence[str], console: Console) -> None:
        self._files, self._asked, self._peers, self._console = files, asked, peers, console

    def measure(self) -> list[Measurement]:
        self._console.print(f"duckdb, {self._files.rows:,} rows ...", style="dim")
        judge = duckdb(self._files, self._asked)
        beside = {"duckdb": judge} if "duckdb" in self._peers else {}
        own = self._millpond(judge.answers)
        for name, peer in all_peers(self._files, self._asked, self._console).items():
            if name in self._peers:
                self._console.print(f"{name} ...", style="dim")
                try:
                    beside[name] = peer()
                except PeerMissingError as error:
                    self._console.print(f"without {name}: {error}")
                    continue
                verify_texts(name, beside[name].answers, judge.answers)
        return measurements(own, self._asked, beside, self._files.rows)

    def _millpond(self, truth: Answers) -> Own:
        with millpond.connect(self._files.directory / "pond") as pond:
            options = f"OPTIONS (durability 'memory', capacity '{2 * self._files.rows}')"
            create_tables(pond, self._files.directory, options)
            for name in (NARROW, WARM_UP):
                pond.execute(f"CREATE FOREIGN TABLE {name} ({listed(columns(name))}) SERVER stream {options}")
            self._warm_up(pond)
            stream, each = self._stream(pond, STREAM), self._asked.each
            load = self._load(stream)
            runs = [
                {name: self._ask(stream, {name: query}, truth) for name, query in each.items()} for _ in range(RUNS)
            ]
            return Own(
                load=load,
                queries=runs[0],
                repeated={name: _median([run[name] for run in runs]) for name in each},
                at_once=self._ask(stream, {name: each[name] for name in self._asked.at_once}, truth),
                narrow=self._narrow(self._stream(pond, NARROW), truth) if self._asked.narrow else None,
            )

    def _narrow(self, stream: FlowingStream, truth: Answers) -> Narrow:
        return Narrow(self._load(stream), self._ask(stream, self._asked.narrow, truth))

    def _warm_up(self, pond: Pond) -> None:
        self._console.print("millpond, warming up ...", style="dim")
        stream = self._stream(pond, WARM_UP)
        for _ in range(WARM_UPS):
            stream.ask(self._asked.warm_up, self._files.path(WARM_UP))

    def _stream(self, pond: Pond, name: str) -> FlowingStream:
        rows = self._files.warm_up_rows if name == WARM_UP else self._files.rows
        end = f"SET session_timeout = '{GIVE_UP}'; SET stream_limit = '{rows} rows'"
        return FlowingStream(pond, name, end, piece_rows=max(1, rows // PIECES))

    def _load(self, stream: FlowingStream) -> Spent:
        """The median of several loads."""
        self._console.print(f"millpond, {stream.name} alone ...", style="dim")
        return _median([stream.load(self._files.path(stream.name)) for _ in range(RUNS)])

    def _ask(self, stream: FlowingStream, queries: Mapping[str, str], truth: Answers) -> Spent:
        self._console.print(f"millpond, {', '.join(queries)} ...", style="dim")
        flowed = stream.ask(queries, self._files.path(stream.name))
        _verify(flowed, truth)
        return flowed.spent


def _median(runs: Sequence[Spent]) -> Spent:
    return sorted(runs, key=lambda run: run.seconds)[len(runs) // 2]


def _verify(flowed: Flowed, truth: Answers) -> None:
    for name, answer in flowed.answers.items():
        if found := difference(truth[name], answer):
            raise WrongAnswerError(f"the answer of {name} is wrong: {found}")


# -- what is reported ------------------------------------------------------------------------------------------------


def measurements(own: Own, asked: Asked, beside: Mapping[str, PeerRun], rows: int) -> list[Measurement]:
    """The numbers of a run, with those of the peers that took part."""
    each = {name: {peer: run.by_query[name] for peer, run in beside.items()} for name in own.queries}
    return [
        Measurement("load alone", rows / own.load.seconds, "rows/s"),
        Measurement("load alone, median", own.load.seconds, "s", lower_is_better=True),
        *(_seconds(name, spent, each[name]) for name, spent in own.queries.items()),
        *_totals(own, asked.at_once, beside),
        *_overheads(own),
        *(_speedups(own, own.narrow, beside) if own.narrow else []),
    ]


def _seconds(metric: str, spent: Spent, beside: Mapping[str, Spent], target: float | None = None) -> Measurement:
    seconds = {peer: one.seconds for peer, one in beside.items()}
    return Measurement(metric, spent.seconds, "s", seconds, target, "spark" if target else None, lower_is_better=True)


def _totals(own: Own, names: Sequence[str], beside: Mapping[str, PeerRun]) -> list[Measurement]:
    """The twelve queries, one after the other and at once; peers have them one after the other in both cases."""
    by_itself = Spent.total([own.queries[name] for name in names])
    peers = {peer: Spent.total([run.by_query[name] for name in names]) for peer, run in beside.items()}
    all_of_them, target = ("the twelve", OF_SPARK_BELOW) if len(names) == len(TWELVE) else (", ".join(names), None)
    totals = {"one after the other": by_itself, "at once": own.at_once}
    found = [
        _seconds(f"{all_of_them}, one after the other", by_itself, peers),
        _seconds(f"{all_of_them}, at once over one load", own.at_once, peers, target),
    ]
    cores = {peer: spent.core_seconds for peer, spent in peers.items() if spent.core_seconds is not None}
    return found + [
        Measurement(f"{all_of_them}, {how}, by core", spent.core_seconds, "core-s", cores, lower_is_better=True)
        for how, spent in totals.items()
        if spent.core_seconds is not None
    ]


def _overheads(own: Own) -> list[Measurement]:
    """What the queries take over the load alone, by the clock and by core; and when they are new to the JVM, whose
    compiler works then too."""
    load, repeated = own.load, own.repeated.values()
    by_core = [one.core_seconds / load.core_seconds for one in repeated if one.core_seconds and load.core_seconds]
    new = [one.seconds / load.seconds for one in own.queries.values()]
    return [
        *_factors("query over load", [one.seconds / load.seconds for one in repeated], OVERHEAD_BELOW),
        *_factors("query over load, by core", by_core, None),
        *_factors("query over load, first run", new, None),
    ]


def _factors(metric: str, factors: Sequence[float], target: float | None) -> list[Measurement]:
    found = {"median": statistics.median(factors), "highest": max(factors)} if factors else {}
    return [
        Measurement(f"{metric}, {which}", value, "x", target=target, lower_is_better=True)
        for which, value in found.items()
    ]


def _speedups(own: Own, narrow: Narrow, beside: Mapping[str, PeerRun]) -> list[Measurement]:
    """How much faster a stream of the columns that are needed is."""
    peers = {peer: run.by_query["q6"].seconds / run.by_query[NARROW_QUERY].seconds for peer, run in beside.items()}
    return [
        Measurement("load of 4 columns, speedup", own.load.seconds / narrow.load.seconds, "x"),
        Measurement("q6 of 4 columns, speedup", own.queries["q6"].seconds / narrow.query.seconds, "x", peers),
    ]
