"""TPC-H's queries as views that are there before the first row of `lineitem`, the stream, which comes in random chunks.

The time is from the first insert until all views have been read; every answer is compared with DuckDB's, which gets
`lineitem` at once and runs each query once, as it is written. docs/TPCH.md says which queries are views and why.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow as pa
from rich.console import Console

import millpond
from millpond import Pond
from millpond.bench.answers import WrongAnswerError
from millpond.bench.peers.duck import Duck
from millpond.bench.peers.peer import Answers
from millpond.bench.rates import rates
from millpond.bench.report import Measurement, report
from millpond.bench.stopwatch import Spent, Stopwatch
from millpond.bench.tpch_answers import difference, unpadded
from millpond.bench.tpch_data import PRIMARY_KEYS, STREAM, TABLES, GeneratorMissingError, generate, rows_of
from millpond.bench.tpch_queries import CONTINUOUS, original

CHUNKS = 6
CHUNK_ROWS_MAX = 1_000_000
WARM_UP_ROWS = 10_000
SEED = 1
PEERS = ("duckdb",)


def run(scale: float = 1.0, peers: Sequence[str] | None = None) -> None:
    """Measure and report; the scale is TPC-H's: 1 has 6,000,000 rows in the stream."""
    console = Console(stderr=True, width=None if sys.stderr.isatty() else 110)
    with TemporaryDirectory(prefix="millpond-bench-") as directory:
        try:
            generate(Path(directory), scale)
        except GeneratorMissingError as error:
            raise SystemExit(str(error)) from None
        report("tpch", measure(Path(directory), PEERS if peers is None else peers, console), console)


def measure(data: Path, peers: Sequence[str], console: Console) -> list[Measurement]:
    """Both engines, one after the other. DuckDB runs in any case, since it is the judge."""
    rows = rows_of(data, STREAM)
    console.print(f"duckdb, {rows.num_rows:,} rows ...", style="dim")
    beside, truth = _duckdb(data, rows)
    console.print(f"millpond, {len(CONTINUOUS)} views ...", style="dim")
    own = _millpond(data, rows, truth)
    spent = {"millpond": own, **({"duckdb": beside} if "duckdb" in peers else {})}
    seconds = {"duckdb": beside.seconds} if "duckdb" in peers else {}
    return [
        *rates(f"{len(CONTINUOUS)} views", rows.num_rows, spent, None, noun="rows"),
        Measurement("from the first row to all answers", own.seconds, "s", seconds, lower_is_better=True),
    ]


def create_tables(pond: Pond, data: Path, options: str = "") -> None:
    """The seven tables with their rows, and the stream without."""
    for name, columns in TABLES.items():
        if name == STREAM:
            pond.execute(f"CREATE FOREIGN TABLE {name} ({columns}) SERVER stream {options}")
        else:
            key = f", PRIMARY KEY ({PRIMARY_KEYS[name]})" if name in PRIMARY_KEYS else ""
            pond.execute(f"CREATE TABLE {name} ({columns}{key})")
            pond.insert(name, rows_of(data, name))


def create_views(pond: Pond, views: Mapping[str, str]) -> None:
    for name, query in views.items():
        pond.execute(f"CREATE VIEW {name} AS {query}")


def random_chunks(rows: pa.Table, count: int, random: Random) -> Iterator[pa.Table]:
    """The rows in chunks of random size, some of which may be empty."""
    cuts = sorted(random.randrange(rows.num_rows + 1) for _ in range(count - 1))
    for first, end in zip([0, *cuts], [*cuts, rows.num_rows], strict=True):
        yield rows.slice(first, end - first)


def _millpond(data: Path, rows: pa.Table, truth: Answers) -> Spent:
    chunk_rows = max(1, min(CHUNK_ROWS_MAX, rows.num_rows // CHUNKS))
    with millpond.connect(data / "pond", view_chunk_rows=chunk_rows) as pond:
        create_tables(pond, data, f"OPTIONS (durability 'memory', capacity '{2 * rows.num_rows}')")
        create_views(pond, CONTINUOUS)
        _feed(pond, [rows.slice(0, WARM_UP_ROWS)])
        pond.execute(f"DROP VIEW {', '.join(CONTINUOUS)}")
        create_views(pond, CONTINUOUS)
        watch = Stopwatch()
        answers = _feed(pond, random_chunks(rows, CHUNKS, Random(SEED)))
        spent = watch.spent()
    for name in CONTINUOUS:
        if found := difference(truth[name], answers[name]):
            raise WrongAnswerError(f"the view {name} is wrong: {found}")
    return spent


def _feed(pond: Pond, chunks: Iterator[pa.Table] | Sequence[pa.Table]) -> Answers:
    for chunk in chunks:
        pond.insert(STREAM, chunk)
    return {name: unpadded(pond.execute(f"SELECT * FROM {name}")) for name in CONTINUOUS}


def _duckdb(data: Path, rows: pa.Table) -> tuple[Spent, Answers]:
    with Duck() as duck:
        for name, columns in TABLES.items():
            duck.add_table(name, columns, rows_of(data, name) if name != STREAM else rows.schema.empty_table())
        watch = Stopwatch()
        duck.insert(STREAM, rows)
        answers = duck.answers({name: original(name) for name in CONTINUOUS})
        return watch.spent(), answers
