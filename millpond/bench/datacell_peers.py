"""What other engines take for the windows of DataCell's first query: Flink, which slides, and DuckDB, which keeps all
rows and computes each window anew."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from rich.console import Console

from millpond.bench import datacell_queries
from millpond.bench.answers import verify
from millpond.bench.datacell_queries import WindowQuery
from millpond.bench.peers.duck import Duck
from millpond.bench.peers.flink import Flink
from millpond.bench.sliding_view import Responses, milliseconds
from millpond.bench.stopwatch import Spent

_STEP_S = 1
"""Flink's windows are of event time: rows come at such a rate that a slide is a second."""

_EPOCH = datetime(1970, 1, 1)
_WARM_UP_SLIDES = 20

_FLINK_COLUMNS = (
    f"{datacell_queries.COLUMNS}, arrived_s BIGINT, "
    "ts AS TO_TIMESTAMP(FROM_UNIXTIME(arrived_s)), WATERMARK FOR ts AS ts"
)


@dataclass(frozen=True)
class Filled:
    """What an engine took until its first window was full, and until so many slides later."""

    first: Spent
    last: Spent
    slides: int

    @property
    def slide_ms(self) -> float:
        """What a slide takes while rows are always there."""
        return (self.last.seconds - self.first.seconds) / self.slides * 1_000


def flink(query: WindowQuery, slides: int, directory: Path, console: Console) -> Filled:
    """Flink's HOP windows over the same rows, until as many slides after the first full window are out."""
    assert query.size is not None
    # One slide more: a window ends with the first row after it.
    given = datacell_queries.rows(query.size + (slides + 2) * query.slide, seed=0)
    peer = Flink(directory, console)
    seconds = np.arange(given.num_rows, dtype=np.int64) // query.slide * _STEP_S
    given = given.append_column("arrived_s", pa.array(seconds))
    peer.add_table("s1", _FLINK_COLUMNS, given, given.num_rows)
    few = given.slice(0, _WARM_UP_SLIDES * query.slide)
    peer.add_table("few", _FLINK_COLUMNS, few, few.num_rows)
    basic_windows = query.size // query.slide
    ends = {"first": basic_windows, "last": basic_windows + slides}
    until = {name: str(_EPOCH + timedelta(seconds=count * _STEP_S)) for name, count in ends.items()}
    text = query.in_flink(_STEP_S)
    done = peer.run_until(text, until, text.replace("TABLE s1", "TABLE few"))
    for name, count in ends.items():
        _verify(query, given, count * query.slide, done.answers[name])
    return Filled(done.by_query["first"], done.by_query["last"], slides)


def _verify(query: WindowQuery, given: pa.Table, end: int, answer: list[tuple[object, ...]]) -> None:
    """Flink counts the groups of a window, and sums them."""
    with Duck() as duck:
        _add(duck, given.select(["x1", "x2"]), 0)
        truth = duck.answers({"q": f"SELECT count(*), sum(total) FROM ({query.anew(end)})"})
    verify("flink", {"q": answer}, truth)


def duckdb(query: WindowQuery, slides: int) -> Responses:
    """DuckDB, whose table gets slide after slide; the time of an insert does not count."""
    assert query.size is not None
    found = []
    with Duck() as duck:
        given = datacell_queries.rows(query.size + slides * query.slide, seed=0)
        _add(duck, given.slice(0, query.size), 0)
        for end in range(query.size + query.slide, given.num_rows + 1, query.slide):
            duck.insert("s1", _numbered(given.slice(end - query.slide, query.slide), end - query.slide))
            found.append(milliseconds(partial(duck.answers, {"q": query.anew(end)})))
    return Responses(found)


def _add(duck: Duck, rows: pa.Table, first: int) -> None:
    duck.add_table("s1", f"{datacell_queries.COLUMNS}, tid bigint", _numbered(rows, first))


def _numbered(rows: pa.Table, first: int) -> pa.Table:
    return rows.append_column("tid", pa.array(np.arange(first, first + rows.num_rows)))
