"""DuckDB beside us: the judge of answers, and what it takes to compute every query anew after each chunk."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import pyarrow as pa

from millpond.bench.peers.peer import Answers, PeerMissingError, PeerRun
from millpond.bench.stopwatch import Spent, Stopwatch

if TYPE_CHECKING:
    import duckdb


class Duck:
    """A database in memory, with as many threads as Flink has workers."""

    def __init__(self) -> None:
        if importlib.util.find_spec("duckdb") is None:
            raise PeerMissingError("duckdb is not installed")
        import duckdb

        self._connection: duckdb.DuckDBPyConnection = duckdb.connect(config={"threads": 2})

    def add_table(self, name: str, columns: str, rows: pa.Table) -> None:
        self._connection.execute(f"CREATE TABLE {name} ({columns})")
        self.insert(name, rows)

    def add_csv(self, name: str, columns: Mapping[str, str], path: Path) -> None:
        """A relation that reads a file without a header, anew for each query."""
        types = ", ".join(f"'{column}': '{kind}'" for column, kind in columns.items())
        self._connection.execute(
            f"CREATE VIEW {name} AS FROM read_csv('{path}', header = false, columns = {{{types}}})"
        )

    def write_csv(self, query: str, path: Path) -> None:
        self._connection.execute(f"COPY ({query}) TO '{path}' (FORMAT csv, HEADER false)")

    def insert(self, name: str, rows: pa.Table) -> None:
        self._connection.register("given", rows)
        self._connection.execute(f"INSERT INTO {name} SELECT * FROM given")
        self._connection.unregister("given")

    def answers(self, queries: Mapping[str, str]) -> Answers:
        return {name: self._connection.execute(query).fetchall() for name, query in queries.items()}

    def answer_each(self, queries: Mapping[str, str]) -> PeerRun:
        """One query after the other, each with its time."""
        answers: Answers = {}
        spent: dict[str, Spent] = {}
        for name, query in queries.items():
            watch = Stopwatch()
            answers |= self.answers({name: query})
            spent[name] = watch.spent()
        return PeerRun(Spent.total(spent.values()), answers, spent)

    def recompute(self, name: str, chunks: Iterable[pa.Table], queries: Mapping[str, str]) -> PeerRun:
        """Insert chunk after chunk, and after each of them run every query over all there is."""
        answers: Answers = {}
        watch = Stopwatch()
        for chunk in chunks:
            self.insert(name, chunk)
            answers = self.answers(queries)
        return PeerRun(watch.spent(), answers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
