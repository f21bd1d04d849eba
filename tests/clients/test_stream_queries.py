"""Queries on streams that flow, over the wire: rows come as they arrive, and a waiting query can be canceled."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest

from tests.clients.conftest import Served


@pytest.fixture
def stream(shared_server: Served) -> str:
    name = f"s_{time.monotonic_ns()}"
    shared_server.pond.execute(f"CREATE STREAM {name} (n int) WITH (durability = memory)")
    return name


def test_rows_of_a_flow_come_while_the_stream_goes_on(shared_server: Served, stream: str) -> None:
    with psycopg.connect(shared_server.url, autocommit=True) as connection:
        connection.execute("SET session_timeout = '1h'")
        rows = connection.cursor().stream(f"SELECT n * 2 FROM {stream} WHERE n % 2 = 1 LIMIT 3")
        shared_server.pond.insert(stream, [(1,), (2,)])
        assert next(rows) == (2,)
        shared_server.pond.insert(stream, [(3,), (4,), (5,), (7,)])
        assert list(rows) == [(6,), (10,)]


def test_an_aggregate_has_what_another_client_copied_meanwhile(shared_server: Served, stream: str) -> None:
    copied = "".join(f"{n}\n" for n in range(1000))

    def copy() -> None:
        with (
            psycopg.connect(shared_server.url, autocommit=True) as writer,
            writer.cursor().copy(f"COPY {stream} FROM STDIN (COMMIT_ROWS 100)") as into,
        ):
            into.write(copied)

    with psycopg.connect(shared_server.url, autocommit=True) as connection:
        connection.execute("SET session_timeout = '2s'; SET stream_start = 'latest'")
        writer = threading.Timer(0.5, copy)
        writer.start()
        assert connection.execute(f"SELECT count(*), sum(n) FROM {stream}").fetchall() == [(1000, 499_500)]
        writer.join()


@pytest.mark.parametrize(
    ("target", "sqlstate"),
    [("{stream} FROM STDIN (COMMIT_ROWS 100)", "25001"), ("{stream} FROM STDIN (COMMIT_ROWS 0)", "22023")],
)
def test_what_copies_cannot_come_in_pieces(shared_server: Served, stream: str, target: str, sqlstate: str) -> None:
    with psycopg.connect(shared_server.url) as connection:
        connection.execute("SELECT 1")
        with pytest.raises(psycopg.Error) as caught, connection.cursor().copy("COPY " + target.format(stream=stream)):
            pass
        assert caught.value.sqlstate == sqlstate


def test_a_query_that_waits_for_its_stream_can_be_canceled(shared_server: Served, stream: str) -> None:
    with psycopg.connect(shared_server.url, autocommit=True) as connection:
        connection.execute("SET session_timeout = '1h'")
        timer = threading.Timer(0.5, connection.cancel_safe)
        timer.start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute(f"SELECT count(*) FROM {stream}")
        timer.join()
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_the_rows_of_each_cycle_come_when_it_has_committed(shared_server: Served, stream: str) -> None:
    pond = shared_server.pond
    pond.execute(f"CREATE TABLE of_{stream} (n int)")
    insert = f"INSERT INTO of_{stream} SELECT n FROM CYCLE({stream}, 2)"
    with psycopg.connect(shared_server.url, autocommit=True) as connection:
        cursor = connection.cursor()
        returned = cursor.stream(f"{insert} RETURNING *")
        pond.insert(stream, [(1,), (2,), (3,)])
        assert sorted([next(returned), next(returned)]) == [(1,), (2,)]
        assert pond.execute(f"SELECT sum(n) FROM of_{stream}").fetchall() == [(3,)], "it goes on, and they are there"
        connection.cancel_safe()
        with pytest.raises(psycopg.errors.QueryCanceled):
            next(returned)
        done = connection.execute(insert.replace(", 2)", ", 2, cycles => 1)"))
        assert done.statusmessage == "INSERT 0 2"
        with pytest.raises(psycopg.errors.ActiveSqlTransaction), connection.transaction():
            connection.execute(insert)
        assert connection.execute(f"SELECT count(*) FROM of_{stream}").fetchall() == [(4,)]


def test_a_cursor_over_a_flow_fetches_what_has_come(shared_server: Served, stream: str) -> None:
    with psycopg.connect(shared_server.url) as connection:
        connection.execute("SET session_timeout = '3s'")
        connection.execute(f"DECLARE c CURSOR FOR SELECT n FROM {stream}")
        shared_server.pond.insert(stream, [(n,) for n in range(5)])
        assert connection.execute("FETCH 2 FROM c").fetchall() == [(0,), (1,)]
        assert connection.execute("FETCH ALL FROM c").fetchall() == [(2,), (3,), (4,)]
        assert connection.execute("FETCH ALL FROM c").fetchall() == []
