"""TPC-H asked of `lineitem` while a COPY loads it: the answers are DuckDB's on the whole file.

Fourteen queries scan `lineitem` once; all of them read the same load, so that they also share its chunks.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import millpond
from millpond import MillpondError, Pond
from millpond.bench.flowing import Flowed, FlowingStream
from millpond.bench.peers.duck import Duck
from millpond.bench.peers.peer import Answers
from millpond.bench.stream_tpch_data import FOURTEEN, CsvFiles
from millpond.bench.tpch import create_tables
from millpond.bench.tpch_answers import difference
from millpond.bench.tpch_data import STREAM, TABLES, generate, rows_of
from millpond.run import units

SCALE = 0.01
PIECE_ROWS = 10_000
# On a busy machine two pieces of the COPY may be seconds apart.
UNTIL_QUIET = "SET session_timeout = '5s'"
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> CsvFiles:
    directory = tmp_path_factory.mktemp("stream-tpch")
    generate(directory, SCALE)
    return CsvFiles.written(directory)


@pytest.fixture(scope="module")
def truth(files: CsvFiles) -> Answers:
    with Duck() as duck:
        for name, columns in TABLES.items():
            duck.add_table(name, columns, rows_of(files.directory, name))
        return duck.answers(FOURTEEN)


@pytest.fixture(scope="module")
def tables(shared_spark: None, files: CsvFiles, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pond]:
    with millpond.connect(tmp_path_factory.mktemp("pond"), master="local[2]") as pond:
        create_tables(pond, files.directory, f"OPTIONS (durability 'memory', capacity '{3 * files.rows}')")
        # What was there before is not what the queries are about.
        FlowingStream(pond, STREAM, UNTIL_QUIET, PIECE_ROWS).load(files.path(STREAM))
        yield pond


@pytest.fixture(scope="module")
def flowed(tables: Pond, files: CsvFiles) -> Flowed:
    """All queries over one load, with numerics in units as in larger ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(units, "ROWS_MIN", 1)
        return FlowingStream(tables, STREAM, UNTIL_QUIET, PIECE_ROWS).ask(FOURTEEN, files.path(STREAM))


@pytest.mark.parametrize("name", FOURTEEN)
def test_query_during_the_load_answers_as_duckdb_does_after_it(flowed: Flowed, truth: Answers, name: str) -> None:
    assert difference(truth[name], flowed.answers[name]) is None


def test_query_that_ends_with_the_last_row(tables: Pond, files: CsvFiles, truth: Answers) -> None:
    end = f"SET stream_limit = '{files.rows} rows'"
    answers = FlowingStream(tables, STREAM, end, PIECE_ROWS).ask({"q6": FOURTEEN["q6"]}, files.path(STREAM)).answers
    assert answers == {"q6": truth["q6"]}


def test_query_that_cannot_run_is_reported_without_a_load(tables: Pond, files: CsvFiles) -> None:
    stream = FlowingStream(tables, STREAM, UNTIL_QUIET, PIECE_ROWS)
    with pytest.raises(MillpondError, match='column "l_price" does not exist'):
        stream.ask({"wrong": "SELECT sum(l_price) FROM lineitem"}, files.path(STREAM))
    assert tables.services.streams.get(tables.services.catalog.snapshot.relations[STREAM]).arrivals.waiting == 0
