"""Subscriptions over the wire: as rows, by COPY and by cursors, of psycopg, asyncpg and psql; and how they end."""

from __future__ import annotations

import asyncio
import itertools
import os
import pty
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import asyncpg
import psycopg
import pytest

from tests.clients.conftest import Served, serving

if TYPE_CHECKING:
    from millpond import Pond

Connection = psycopg.Connection[Any]

PROMPT_S = 2.0
"""What ends a subscription ends it at once: by then, also on a busy machine."""

_numbers = itertools.count()


@pytest.fixture
def connection(shared_server: Served) -> Iterator[Connection]:
    with psycopg.connect(shared_server.url, autocommit=True) as opened:
        yield opened


@pytest.fixture
def view(connection: Connection) -> str:
    """A view with two rows; its stream has the same name with `_in` behind it."""
    name = f"seen_{next(_numbers)}"
    connection.execute(f"CREATE STREAM {name}_in (k text, x float8)")
    connection.execute(f"CREATE VIEW {name} AS SELECT k, count(*) AS n, sum(x) AS x FROM {name}_in GROUP BY k")
    connection.execute(f"INSERT INTO {name}_in VALUES ('a', 1), ('b', 2.5)")
    return name


def other(server: Served) -> Connection:
    return psycopg.connect(server.url, autocommit=True)


@contextmanager
def streamed(cursor: psycopg.Cursor[Any], text: str, values: list[Any] | None = None) -> Iterator[Iterator[Any]]:
    """The rows as they come, until the block ends."""
    rows = cursor.stream(text, values)
    try:
        yield rows
    finally:
        assert isinstance(rows, Generator)
        rows.close()


def test_rows_without_end(shared_server: Served, connection: Connection, view: str) -> None:
    with (
        other(shared_server) as writer,
        connection.cursor() as cursor,
        streamed(cursor, f"SUBSCRIBE TO {view}") as rows,
    ):
        first = sorted(next(rows)[1:] for _ in range(2))
        assert first == [("snapshot", "a", 1, 1.0), ("snapshot", "b", 1, 2.5)]
        assert cursor.description is not None
        assert [column.name for column in cursor.description] == ["version", "change", "k", "n", "x"]
        writer.execute(f"INSERT INTO {view}_in VALUES ('a', 1), ('c', NULL)")
        assert [next(rows)[1:] for _ in range(3)] == [
            ("update_old", "a", 1, 1.0),
            ("update_new", "a", 2, 2.0),
            ("insert", "c", 1, None),
        ]


@pytest.mark.parametrize(("options", "separator"), [("", "\t"), ("(FORMAT csv)", ",")])
def test_copy(shared_server: Served, connection: Connection, view: str, options: str, separator: str) -> None:
    statement = f"COPY (SUBSCRIBE TO {view} WITH (progress)) TO STDOUT {options}"
    with other(shared_server) as writer, connection.cursor() as cursor, cursor.copy(statement) as copy:
        lines = [bytes(copy.read()).decode().rstrip("\n").split(separator) for _ in range(3)]
        assert sorted(line[1:4] for line in lines[:2]) == [["snapshot", "a", "1"], ["snapshot", "b", "1"]]
        assert lines[2][1] == "progress"
        assert len({line[0] for line in lines}) == 1
        writer.execute(f"INSERT INTO {view}_in VALUES ('b', 1)")
        kinds = [bytes(copy.read()).decode().split(separator)[1] for _ in range(3)]
        assert kinds in (["update_old", "update_new", "progress"], ["progress", "update_old", "update_new"])
        connection.cancel_safe()
        with pytest.raises(psycopg.errors.QueryCanceled):
            list(copy)


def test_binary_copy(connection: Connection, view: str) -> None:
    with connection.cursor() as cursor, cursor.copy(f"COPY (SUBSCRIBE TO {view}) TO STDOUT (FORMAT binary)") as copy:
        copy.set_types(["int8", "text", "text", "int8", "float8"])
        rows = copy.rows()
        assert sorted(next(rows)[1:] for _ in range(2)) == [("snapshot", "a", 1, 1.0), ("snapshot", "b", 1, 2.5)]
        connection.cancel_safe()
        with pytest.raises(psycopg.errors.QueryCanceled):
            list(rows)


def test_cursor(shared_server: Served, connection: Connection, view: str) -> None:
    connection.execute(f"DECLARE c CURSOR WITH HOLD FOR SUBSCRIBE TO {view}")
    assert connection.execute("FETCH 1 FROM c").rowcount == 1
    assert connection.execute("FETCH 100 FROM c").rowcount == 1
    started = time.monotonic()
    assert connection.execute("FETCH ALL FROM c WITH (timeout = '100ms')").fetchall() == []
    connection.execute("SET fetch_timeout = '100ms'")
    assert connection.execute("FETCH ALL FROM c").fetchall() == []
    assert 0.2 <= time.monotonic() - started < PROMPT_S
    connection.execute("SET fetch_timeout = 0; SET statement_timeout = '100ms'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        connection.execute("FETCH 1 FROM c")
    connection.execute("SET statement_timeout = 0")
    with other(shared_server) as writer:
        threading.Timer(0.2, writer.execute, [f"INSERT INTO {view}_in VALUES ('a', 1)"]).start()
        assert [row[1] for row in connection.execute("FETCH 100 FROM c").fetchall()] == ["update_old", "update_new"]
        writer.execute(f"INSERT INTO {view}_in VALUES ('c', 1)")
        assert connection.execute("MOVE 1 FROM c").statusmessage == "MOVE 1"
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        connection.execute("FETCH PRIOR FROM c")
    connection.execute("CLOSE c")
    assert connection.execute("SELECT * FROM millpond_subscriptions").fetchall() == []


def test_server_side_cursor_of_psycopg(connection: Connection, view: str) -> None:
    with connection.transaction(), connection.cursor(name="mine") as cursor:
        cursor.execute(f"SUBSCRIBE TO {view}")
        assert len(cursor.fetchmany(10)) == 2


def test_resume_by_a_parameter(shared_server: Served, connection: Connection, view: str) -> None:
    with other(shared_server) as writer:
        with writer.cursor() as cursor, streamed(cursor, f"SUBSCRIBE TO {view}") as rows:
            version = next(rows)[0]
        connection.execute(f"INSERT INTO {view}_in VALUES ('b', 1)")
        with writer.cursor() as cursor, streamed(cursor, f"SUBSCRIBE TO {view} AS OF %s", [version]) as rows:
            assert [next(rows)[1:4] for _ in range(2)] == [("update_old", "b", 1), ("update_new", "b", 2)]
        with pytest.raises(psycopg.Error) as caught:
            writer.execute(f"SUBSCRIBE TO {view} AS OF 7")
        assert caught.value.sqlstate == "MP002"


def test_asyncpg(shared_server: Served, view: str) -> None:
    async def read() -> list[tuple[Any, ...]]:
        client = await asyncpg.connect(shared_server.url)
        try:
            async with client.transaction():
                cursor = await client.cursor(f"SUBSCRIBE TO {view} WITH (progress)")
                return [tuple(await cursor.fetchrow())[1:] for _ in range(3)]  # type: ignore[arg-type]
        finally:
            await client.close()

    rows = asyncio.run(read())
    assert sorted(rows[:2]) == [("snapshot", "a", 1, 1.0), ("snapshot", "b", 1, 2.5)]
    assert rows[2] == ("progress", None, None, None)


@pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not installed")
def test_psql(shared_server: Served, connection: Connection, view: str) -> None:
    command = ["psql", "-X", "--no-password", shared_server.url, "-c", f"COPY (SUBSCRIBE TO {view}) TO STDOUT"]
    terminal, its_end = pty.openpty()  # to a pipe, psql would write when it has some thousand bytes
    with (
        subprocess.Popen(command, stdout=its_end, stderr=subprocess.PIPE, text=True) as psql,
        os.fdopen(terminal) as printed,
    ):
        try:
            first = sorted(printed.readline().split()[1:3] for _ in range(2))
            assert first == [["snapshot", "a"], ["snapshot", "b"]]
            connection.execute(f"INSERT INTO {view}_in VALUES ('c', 1)")
            assert printed.readline().split()[1:] == ["insert", "c", "1", "1"]
            psql.send_signal(signal.SIGINT)
            assert "canceling statement due to user request" in psql.communicate(timeout=20)[1]
        finally:
            psql.kill()
            os.close(its_end)


def subscribed(connection: Connection) -> int:
    row = connection.execute("SELECT count(*) FROM millpond_subscriptions").fetchone()
    assert row is not None
    return int(row[0])


def test_a_client_that_leaves_is_forgotten(shared_server: Served, connection: Connection, view: str) -> None:
    leaving = other(shared_server)
    rows = leaving.cursor().stream(f"SUBSCRIBE TO {view}")
    next(rows)
    assert subscribed(connection) == 1
    leaving.pgconn.finish()
    deadline = time.monotonic() + PROMPT_S
    while subscribed(connection):
        assert time.monotonic() < deadline


def test_it_is_a_query_in_a_transaction(connection: Connection, view: str) -> None:
    connection.execute("BEGIN READ ONLY")
    connection.execute(f"DECLARE c CURSOR FOR SUBSCRIBE TO {view}")
    assert connection.execute("FETCH 10 FROM c").rowcount == 2
    connection.execute("COMMIT")
    assert subscribed(connection) == 0
    with pytest.raises(psycopg.errors.NoActiveSqlTransaction):
        connection.execute(f"DECLARE c CURSOR FOR SUBSCRIBE TO {view}")


def test_rights_end_it(shared_server: Served, connection: Connection, view: str) -> None:
    connection.execute(f"CREATE ROLE reader_{view}; GRANT SELECT ON {view} TO reader_{view}")
    with other(shared_server) as reader, reader.cursor() as cursor:
        reader.execute(f"SET ROLE reader_{view}")
        rows = cursor.stream(f"SUBSCRIBE TO {view}")
        assert {next(rows)[1] for _ in range(2)} == {"snapshot"}
        connection.execute(f"REVOKE SELECT ON {view} FROM reader_{view}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            list(rows)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            list(cursor.stream(f"SUBSCRIBE TO {view}"))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute(f"COPY (SUBSCRIBE TO (SELECT * FROM {view}_in)) TO STDOUT")


def test_a_dropped_view_ends_it(shared_server: Served, connection: Connection, view: str) -> None:
    with other(shared_server) as reader, reader.cursor() as cursor:
        rows = cursor.stream(f"SUBSCRIBE TO {view}")
        next(rows)
        connection.execute(f"DROP VIEW {view}")
        with pytest.raises(psycopg.errors.UndefinedTable, match="was dropped"):
            list(rows)


def test_a_server_that_stops_ends_it(pond: Pond) -> None:
    pond.execute("CREATE TABLE t (id int)")
    pond.execute("INSERT INTO t VALUES (1)")
    with ThreadPoolExecutor(1) as thread:
        with serving(pond) as server:
            reader = other(server)
            rows = reader.cursor().stream("SUBSCRIBE TO t")
            next(rows)
            waiting = thread.submit(list, rows)
            started = time.monotonic()
        assert time.monotonic() - started < PROMPT_S
        with reader, pytest.raises(psycopg.errors.AdminShutdown):
            waiting.result()
