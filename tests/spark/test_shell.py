"""The shell on a pond."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from millpond.shell.backend import AnswerColumn, StatementError
from millpond.shell.complete import read_columns
from millpond.shell.pond import PondBackend
from millpond.shell.session import Shell
from millpond.shell.split import Pieces

SCRIPT = """
CREATE TABLE station (id int PRIMARY KEY, plant varchar(20) NOT NULL, weight numeric(6,2) DEFAULT 1);
CREATE FOREIGN TABLE part_usage (part_id int, part text, station int) SERVER stream OPTIONS (capacity '50');
COPY part_usage FROM STDIN CSV;
1,Wheel,5
2,Seat;,2
\\.
INSERT INTO station VALUES (2, 'Sparta', 2.5);
SELECT u.part, s.plant, s.weight, u.tid > 0 AS later FROM part_usage u JOIN station s ON s.id = u.station;
COPY station TO STDOUT CSV HEADER;
\\d
\\d station
\\d part_usage
SELECT nme FROM station;
"""


@pytest.fixture
def backend(shared_spark: None, tmp_path: Path) -> Iterator[PondBackend]:
    made = PondBackend(str(tmp_path / "pond"), "local[2]")
    yield made
    made.close()


def test_a_script(backend: PondBackend) -> None:
    out, err, out_bytes = io.StringIO(), io.StringIO(), io.BytesIO()
    shell = Shell(backend, out, err, out_bytes=out_bytes)
    shell.run(Pieces(SCRIPT.splitlines(keepends=True)), source="s.sql")
    shell.close()
    assert shell.failed
    assert err.getvalue().startswith('s.sql:14: ERROR:  column "nme" does not exist\nLINE 1: SELECT nme FROM station\n')
    assert out_bytes.getvalue() == b"id,plant,weight\n2,Sparta,2.50\n"
    text = out.getvalue()
    assert text.startswith("CREATE TABLE\nCREATE FOREIGN TABLE\nCOPY 2\nINSERT 0 1\n")
    assert " Seat; | Sparta |   2.50 | t\n(1 row)\n" in text
    assert " public | part_usage | stream\n public | station    | table\n" in text
    assert " plant  | character varying(20) | not null |\n" in text
    assert " weight | numeric(6,2)          |          | 1\n" in text
    assert '    "station_pkey" PRIMARY KEY (id)\n' in text
    assert "Hidden columns: tid bigint" in text
    assert "Options: (capacity '50')\n" in text


def test_kinds_errors_and_names(backend: PondBackend) -> None:
    backend.execute("CREATE TABLE t (a int, b boolean)")
    answer = backend.execute("SELECT a, b, 'x' AS c FROM t")
    assert answer.columns == (AnswerColumn("a", "number"), AnswerColumn("b", "boolean"), AnswerColumn("c"))
    assert read_columns(backend) == {"t": ["a", "b"]}
    with pytest.raises(StatementError) as caught:
        backend.execute("CREATE TABLE t (a int)")
    assert caught.value.sqlstate == "42P07"
