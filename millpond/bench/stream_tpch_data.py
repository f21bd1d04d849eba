"""What `stream-tpch` loads and asks: `lineitem` as CSV files, and TPC-H's queries that read it once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from millpond.bench.peers.duck import Duck
from millpond.bench.tpch_data import STREAM, columns_of
from millpond.bench.tpch_queries import QUERIES

TWELVE = tuple(f"q{number}" for number in (1, 3, 4, 6, 7, 9, 10, 12, 14, 15, 19, 20))
"""The queries that scan `lineitem` once, and that all engines of the original experiment could run."""

FOURTEEN: Mapping[str, str] = {name: QUERIES[int(name[1:])] for name in (*TWELVE, "q5", "q8")}

NARROW = "lineitem_narrow"
NARROW_COLUMNS = ("l_quantity", "l_extendedprice", "l_discount", "l_shipdate")
"""A stream of just the columns that query 6 reads."""

WARM_UP = "lineitem_warm_up"
WARM_UP_ROWS = 300_000
"""More than what is done in one task, so that the code that is compiled is that of the whole file."""


def of_stream(query: str, name: str) -> str:
    """A query over another stream in place of `lineitem`.

    >>> of_stream("SELECT count(*) FROM lineitem", NARROW)
    'SELECT count(*) FROM lineitem_narrow'
    """
    return query.replace(STREAM, name)


NARROW_QUERY = "q6, four columns"


@dataclass(frozen=True)
class Asked:
    """The queries of a run, for Millpond and for its peers: by name, those to be asked at once, and query 6 of four
    columns, if query 6 is among them."""

    each: Mapping[str, str]
    at_once: tuple[str, ...]

    @classmethod
    def of(cls, names: Sequence[str] | None = None) -> Asked:
        """All fourteen, of which twelve at once, or some of them.

        >>> len(Asked.of().at_once), Asked.of(["q6", "q5"]).at_once
        (12, ('q6', 'q5'))
        """
        if names is None:
            return cls(FOURTEEN, TWELVE)
        chosen = tuple(name for name in FOURTEEN if name in names)
        return cls({name: FOURTEEN[name] for name in chosen}, chosen)

    @property
    def narrow(self) -> Mapping[str, str]:
        return {NARROW_QUERY: of_stream(self.each["q6"], NARROW)} if "q6" in self.each else {}

    @property
    def warm_up(self) -> Mapping[str, str]:
        return {name: of_stream(query, WARM_UP) for name, query in self.each.items()}

    @property
    def everything(self) -> Mapping[str, str]:
        return {**self.each, **self.narrow}


def columns(name: str, text: str | None = None) -> dict[str, str]:
    """The columns of one of the three streams; `text` as with `columns_of`."""
    everything = columns_of(STREAM, text)
    return {column: everything[column] for column in NARROW_COLUMNS} if name == NARROW else everything


@dataclass(frozen=True)
class CsvFiles:
    """The rows of `lineitem` beside TPC-H's other tables: all of them, those of four columns, and few to warm up."""

    directory: Path
    rows: int
    warm_up_rows: int

    @classmethod
    def written(cls, directory: Path) -> CsvFiles:
        """Write the files of a directory that has the Parquet files of the generator."""
        rows = pq.read_metadata(directory / f"{STREAM}.parquet").num_rows
        made = cls(directory, rows, min(WARM_UP_ROWS, rows))
        source = f"FROM '{directory / STREAM}.parquet'"
        with Duck() as duck:
            duck.write_csv(f"SELECT * {source}", made.path(STREAM))
            duck.write_csv(f"SELECT {', '.join(NARROW_COLUMNS)} {source}", made.path(NARROW))
            duck.write_csv(f"SELECT * {source} LIMIT {made.warm_up_rows}", made.path(WARM_UP))
        return made

    def path(self, name: str) -> Path:
        return self.directory / f"{name}.csv"
