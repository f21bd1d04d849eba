"""The engines beside `stream-tpch`: each reads `lineitem` from CSV anew for every query; nobody loads it for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pyarrow as pa
from rich.console import Console

from millpond.bench.answers import WrongAnswerError
from millpond.bench.peers.duck import Duck
from millpond.bench.peers.flink import Flink
from millpond.bench.peers.peer import Answers, PeerRun
from millpond.bench.peers.spark_sql import SparkSql
from millpond.bench.stream_tpch_data import NARROW, WARM_UP, Asked, CsvFiles, columns
from millpond.bench.tpch_answers import difference, typed
from millpond.bench.tpch_data import STREAM, TABLES, columns_of, listed, rows_of

FLINK_FILES = 6
"""Flink cannot split a CSV file, so that its workers share several."""

DIGITS = 1e-4
"""Spark and Flink keep six decimal places of a quotient."""


def duckdb(files: CsvFiles, asked: Asked) -> PeerRun:
    """DuckDB, with the tables in memory."""
    with Duck() as duck:
        for name in _tables():
            duck.add_table(name, TABLES[name], rows_of(files.directory, name))
        for name in (STREAM, NARROW):
            duck.add_csv(name, columns(name), files.path(name))
        return duck.answer_each(asked.everything)


def spark(files: CsvFiles, asked: Asked) -> PeerRun:
    """Plain Spark SQL, with the tables as Parquet files."""
    peer = SparkSql(files.directory / "spark")
    for name in _tables():
        peer.add_parquet(name, files.directory / f"{name}.parquet")
    for name in (STREAM, NARROW, WARM_UP):
        peer.add_csv(name, listed(columns(name, text="string")), files.path(name))
    return peer.run(asked.everything, asked.warm_up)


def flink(files: CsvFiles, asked: Asked, console: Console) -> PeerRun:
    """Flink SQL in batch mode, which has CSV for the tables too."""
    peer = Flink(files.directory, console)
    for name in _tables():
        rows = _writable(rows_of(files.directory, name))
        peer.add_table(name, listed(columns_of(name, text="string")), rows, rows.num_rows)
    rows = _writable(rows_of(files.directory, STREAM))
    given = {STREAM: rows, NARROW: rows.select(list(columns(NARROW))), WARM_UP: rows.slice(0, files.warm_up_rows)}
    for name, some in given.items():
        peer.add_table(name, listed(columns(name, text="string")), some, -(-some.num_rows // FLINK_FILES))
    return peer.run_each(asked.everything, asked.warm_up)


def all_peers(files: CsvFiles, asked: Asked, console: Console) -> Mapping[str, Callable[[], PeerRun]]:
    """How each peer but the judge is run, by name."""
    return {"spark": partial(spark, files, asked), "flink": partial(flink, files, asked, console)}


def verify_texts(engine: str, answers: Answers, truth: Answers) -> None:
    """Raise unless an engine that writes values as text has answered every query."""
    for name, expected in truth.items():
        if found := difference(expected, typed(expected, answers[name]), DIGITS):
            raise WrongAnswerError(f"{engine} answers {name} wrongly: {found}")


def _writable(rows: pa.Table) -> pa.Table:
    """Rows with text of the kind that can be written as CSV."""
    kinds = {pa.string_view(): pa.string()}
    return rows.cast(pa.schema([field.with_type(kinds.get(field.type, field.type)) for field in rows.schema]))


def _tables() -> list[str]:
    return [name for name in TABLES if name != STREAM]
