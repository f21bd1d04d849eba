"""EXPLAIN of a query over streams that flow: how it is run, until when, and with ANALYZE where the time went."""

from __future__ import annotations

import time
from collections.abc import Iterator

from millpond.plan.explain import describe
from millpond.plan.once import Flow, Gathered
from millpond.run.scans import ScanCosts
from millpond.statements import stream_queries
from millpond.statements.execution import Execution, base_relations
from millpond.statements.stream_queries import LiveQuery
from millpond.stream.scan import ScanEnd


def explain_live(execution: Execution, live: LiveQuery, *, analyze: bool) -> list[str]:
    """One line of text each."""
    lines = [*_scanned(execution, live), *_planned(live)]
    return [*lines, *_analyzed(execution, live)] if analyze else lines


def _scanned(execution: Execution, live: LiveQuery) -> Iterator[str]:
    for oid, relation in live.streams.items():
        stats = execution.services.streams.get(relation).stats()
        late = execution.settings.text("stream_start") == "latest"
        first = stats.end_tid if late else stats.first_tid
        there = f"from tid {first}, {stats.end_tid - first} rows there"
        yield f"Stream {relation.name}, live: {there}, {_until(live.ends[oid])}"


def _until(end: ScanEnd) -> str:
    """
    >>> _until(ScanEnd(quiet_us=2_000_000, rows=10))
    'until nothing has arrived for 2000 ms, or after 10 rows'
    """
    ends = [] if end.quiet_us is None else [f"until nothing has arrived for {end.quiet_us // 1000} ms"]
    ends += [] if end.rows is None else [f"after {end.rows} rows"]
    ends += [] if end.lasting_us is None else [f"after {end.lasting_us // 1000} ms"]
    ends += [] if end.event is None else [f"before {end.event.column} {end.event.at}"]
    return ", or ".join(ends)


def _planned(live: LiveQuery) -> list[str]:
    names = {key: relation.name for key, relation in base_relations(live.bound).items()}
    if isinstance(live.plan, Flow):
        return ["Flow: each chunk's rows go out at once", f"  {live.plan.query.to_spark(names)}"]
    if isinstance(live.plan, Gathered):
        kept = f"Gathered: all tuples are kept until the end, because {live.plan.reason}"
        return [kept, f"  {live.bound.to_spark(names)}"]
    return ["Split: chunks become partials as they arrive", *(f"  {line}" for line in describe(live.plan))]


def _analyzed(execution: Execution, live: LiveQuery) -> list[str]:
    costs = ScanCosts(measure_lag=True)
    started = time.perf_counter()
    if isinstance(live.plan, Flow):
        rows, upper_s = sum(one.num_rows for one in stream_queries.rows(execution, live, live.plan, costs)), 0.0
    else:
        frame = stream_queries.frame(execution, live, costs=costs)
        ended = time.perf_counter()
        rows, upper_s = frame.collect().num_rows, time.perf_counter() - ended
    total_s = time.perf_counter() - started
    return [
        f"Scan: {costs.chunks} chunks, {costs.shared_chunks} of them shared, {costs.tuples} tuples",
        f"Insert-to-scan lag: {_lag(costs)}",
        f"Stream pipelines: {_ms(costs.stream_s)}",
        f"Upper pipeline: {_ms(upper_s)}",
        f"Executed in {_ms(total_s)}, {rows} rows",
    ]


def _lag(costs: ScanCosts) -> str:
    if not costs.lag_tuples:
        return "nothing arrived meanwhile"
    mean_us = costs.lag_us_sum / costs.lag_tuples
    return f"{_ms(mean_us / 1e6)} on average, {_ms(costs.lag_us_max / 1e6)} at most"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
