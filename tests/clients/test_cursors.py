"""Server-side cursors: DECLARE, FETCH, MOVE and CLOSE, and the cursors of psycopg and SQLAlchemy made of them."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from tests.clients.conftest import Served

Connection = psycopg.Connection[Any]

SERIES = "SELECT n FROM generate_series(1, 5) AS n ORDER BY n"


@pytest.fixture
def connection(shared_server: Served) -> Iterator[Connection]:
    with psycopg.connect(shared_server.url, autocommit=True) as opened:
        yield opened


def fetched(connection: Connection, text: str) -> list[int]:
    return [row[0] for row in connection.execute(text)]


def test_every_direction(connection: Connection) -> None:
    connection.execute(f"BEGIN; DECLARE c SCROLL CURSOR FOR {SERIES}")
    steps: list[tuple[str, list[int]]] = [
        ("FETCH c", [1]),
        ("FETCH FORWARD 2 FROM c", [2, 3]),
        ("FETCH RELATIVE 0 c", [3]),
        ("FETCH PRIOR IN c", [2]),
        ("FETCH ALL FROM c", [3, 4, 5]),
        ("FETCH NEXT c", []),
        ("FETCH BACKWARD 2 c", [5, 4]),
        ("FETCH ABSOLUTE 2 c", [2]),
        ("FETCH ABSOLUTE -2 c", [4]),
        ("FETCH RELATIVE -3 c", [1]),
        ("FETCH BACKWARD c", []),
        ("FETCH 0 c", []),
        ("FETCH LAST c", [5]),
        ("FETCH BACKWARD ALL c", [4, 3, 2, 1]),
        ("FETCH FIRST c", [1]),
        ("FETCH RELATIVE 3 c", [4]),
        ("FETCH ABSOLUTE 0 c", []),
        ("FETCH FORWARD c", [1]),
        ("FETCH -1 c", []),
        ("FETCH ABSOLUTE 9 c", []),
        ("FETCH PRIOR c", [5]),
        ("FETCH ABSOLUTE -9 c", []),
        ("FETCH 2 c", [1, 2]),
    ]
    assert [(text, fetched(connection, text)) for text, _ in steps] == steps
    moves = [connection.execute(text).statusmessage for text in ("MOVE 2 c", "MOVE ALL c", "MOVE BACKWARD 2 c")]
    assert moves == ["MOVE 2", "MOVE 1", "MOVE 2"]
    assert connection.execute("FETCH 1 c").statusmessage == "FETCH 1"
    assert connection.execute("CLOSE c").statusmessage == "CLOSE CURSOR"
    connection.execute("ROLLBACK")


def test_a_cursor_goes_only_forward_unless_it_scrolls(connection: Connection) -> None:
    for back in ("FETCH PRIOR c", "FETCH ABSOLUTE 1 c", "FETCH BACKWARD ALL c", "FETCH LAST c", "FETCH 0 c"):
        connection.execute(f"BEGIN; DECLARE c NO SCROLL CURSOR FOR {SERIES}")
        assert fetched(connection, "FETCH RELATIVE 2 c") == [2]
        assert fetched(connection, "FETCH ABSOLUTE 3 c") == [3]
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="can only scan forward"):
            connection.execute(back)
        connection.execute("ROLLBACK")


def test_errors(connection: Connection) -> None:
    with pytest.raises(psycopg.errors.NoActiveSqlTransaction, match="DECLARE CURSOR can only be used in transaction"):
        connection.execute("DECLARE c CURSOR FOR SELECT 1")
    for text in ("FETCH c", "CLOSE c", "MOVE c"):
        with pytest.raises(psycopg.errors.InvalidCursorName, match='cursor "c" does not exist'):
            connection.execute(text)
    with pytest.raises(psycopg.errors.DuplicateCursor, match='cursor "c" already exists'):
        connection.execute("BEGIN; DECLARE c CURSOR FOR SELECT 1; DECLARE c CURSOR FOR SELECT 2")
    connection.execute("ROLLBACK")
    with pytest.raises(psycopg.errors.UndefinedColumn) as caught:
        connection.execute("BEGIN; DECLARE c CURSOR FOR SELECT nothing")
    assert caught.value.diag.statement_position == "36"
    connection.execute("ROLLBACK")


def test_a_cursor_sees_what_was_there_when_it_was_declared(connection: Connection) -> None:
    connection.execute("CREATE TABLE watched (id int)")
    connection.execute("BEGIN; INSERT INTO watched VALUES (1), (2); DECLARE c CURSOR FOR SELECT id FROM watched")
    connection.execute("DECLARE held CURSOR WITH HOLD FOR SELECT id FROM watched ORDER BY id")
    connection.execute("UPDATE watched SET id = id + 10")
    assert sorted(fetched(connection, "FETCH ALL c")) == [1, 2]
    connection.execute("DELETE FROM watched; COMMIT")
    with pytest.raises(psycopg.errors.InvalidCursorName):
        connection.execute("FETCH c")
    assert fetched(connection, "FETCH held") == [1]
    connection.execute("BEGIN; SELECT 1; ROLLBACK")
    assert fetched(connection, "FETCH held") == [2]
    connection.execute("CLOSE ALL")
    connection.execute("BEGIN; DECLARE held CURSOR WITH HOLD FOR SELECT 1; ROLLBACK")
    with pytest.raises(psycopg.errors.InvalidCursorName):
        connection.execute("FETCH held")


def test_cursors_are_listed(connection: Connection) -> None:
    connection.execute("DECLARE listed BINARY SCROLL CURSOR WITH HOLD FOR SELECT 1")
    text = "SELECT name, is_holdable, is_binary, is_scrollable FROM pg_catalog.pg_cursors"
    assert connection.execute(text).fetchall() == [("listed", True, True, True)]
    rows = connection.pgconn.exec_(b"FETCH listed")
    assert (rows.fformat(0), rows.get_value(0, 0)) == (1, b"\0\0\0\1")
    connection.execute("CLOSE listed")
    assert connection.execute(text).fetchall() == []


def test_psycopg_server_cursors(connection: Connection) -> None:
    with connection.transaction(), connection.cursor("named", scrollable=True) as cursor:
        cursor.execute("SELECT n, n::text AS t FROM generate_series(1, %s) AS n ORDER BY n", [250])
        assert cursor.description is not None
        assert [column.name for column in cursor.description] == ["n", "t"]
        assert cursor.fetchone() == (1, "1")
        assert [row[0] for row in cursor.fetchmany(3)] == [2, 3, 4]
        cursor.scroll(-2)
        assert cursor.fetchone() == (3, "3")
        cursor.scroll(248, mode="absolute")
        assert cursor.fetchall() == [(249, "249"), (250, "250")]
    with connection.cursor("held", withhold=True, binary=True) as held:
        held.execute("SELECT n FROM generate_series(1, 250) AS n")
        held.itersize = 100
        assert sorted(row[0] for row in held) == list(range(1, 251))


def test_a_large_result_streams(connection: Connection) -> None:
    """Five million rows, some 200 MB: they go by way of files, and little of them is in memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with connection.transaction(), connection.cursor("large") as cursor:
        cursor.execute("SELECT n, 'row number ' || n AS t FROM generate_series(1, 5000000) AS n")
        rows = cursor.fetchmany(1000)
        rows += cursor.fetchmany(1000)
        assert len({row[0] for row in rows}) == 2000
        assert connection.execute("MOVE 500000 large").statusmessage == "MOVE 500000"
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kb < 300_000


def test_sqlalchemy_streams(shared_server: Served) -> None:
    url = shared_server.url.replace("postgresql://", "postgresql+psycopg://")
    engine = sa.create_engine(url, use_native_hstore=False)
    numbers = sa.select(sa.func.generate_series(1, 1000).table_valued("n", name="numbers").render_derived().c.n)
    with engine.connect() as connection:
        streamed = connection.execution_options(stream_results=True).execute(numbers)
        assert len(list(streamed.partitions(300))) == 4
        result = connection.execution_options(yield_per=100).execute(numbers)
        assert sum(row.n for row in result) == 500_500
    engine.dispose()


def test_a_cursor_over_a_view_whose_columns_are_never_null(connection: Connection) -> None:
    connection.execute("CREATE STREAM counted (k int)")
    connection.execute("CREATE VIEW counts AS SELECT k, count(*) AS n FROM counted GROUP BY k")
    connection.execute("INSERT INTO counted VALUES (1), (1), (2)")
    with connection.transaction():
        connection.execute("DECLARE few CURSOR FOR SELECT * FROM counts")
        assert sorted(connection.execute("FETCH 5 FROM few").fetchall()) == [(1, 2), (2, 1)]
        assert connection.execute("FETCH 5 FROM few").fetchall() == []
