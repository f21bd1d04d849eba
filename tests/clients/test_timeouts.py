"""Limits of time: of statements of every kind, of transactions, of silence; and cancellation of those that wait."""

from __future__ import annotations

import select
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from tests.clients.conftest import Served

Connection = psycopg.Connection[Any]

CANCELED = "canceling statement due to statement timeout"
PROMPT_S = 2.0
"""A statement with a limit of a tenth of a second has ended by then, also on a busy machine."""


def connect(server: Served, **settings: str) -> Connection:
    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    return psycopg.connect(server.url, autocommit=True, options=options)


@contextmanager
def in_time() -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < PROMPT_S


def test_statement_timeout(shared_server: Served) -> None:
    long_query = (
        "SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 100000) b WHERE a.a % 7 = b.b"
    )
    with connect(shared_server) as connection:
        connection.execute("SELECT count(*) FROM generate_series(1, 10)")  # Spark takes its time with the first one
        connection.execute("SET statement_timeout = 200")
        for text in ("SELECT pg_sleep(60)", long_query, f"CREATE TABLE slow AS {long_query}"):
            with in_time(), pytest.raises(psycopg.errors.QueryCanceled, match=CANCELED):
                connection.execute(text)
        connection.execute("BEGIN; SET LOCAL statement_timeout = 0; SELECT pg_sleep(0.3); COMMIT")


def test_waiting_for_a_tick_or_a_lock_ends_in_time(server: Served) -> None:
    with connect(server) as connection:
        connection.execute("CREATE STREAM s (id int)")
        connection.execute("CREATE VIEW v AS SELECT id % 10 AS d, count(*) AS n FROM s GROUP BY id % 10")
        connection.execute("INSERT INTO s SELECT n FROM generate_series(1, 200000) AS n")
        relations = server.pond.services.catalog.snapshot.relations
        maintainer = server.pond.services.views._maintainers[relations["s"].oid]
        connection.execute("SET statement_timeout = 100")
        with (
            held(maintainer.lock),
            in_time(),
            pytest.raises(psycopg.errors.QueryCanceled, match=CANCELED),
        ):
            connection.execute("SELECT * FROM v")
        connection.execute("RESET ALL")
        assert connection.execute("SELECT sum(n) FROM v").fetchone() == (200_000,)
        connection.execute("INSERT INTO s VALUES (1)")  # so that the last answer will not do
        connection.execute("SET lock_timeout = 100")
        with (
            held(server.pond.services.views.get(relations["v"]).lock),
            in_time(),
            pytest.raises(psycopg.errors.LockNotAvailable, match="canceling statement due to lock timeout"),
        ):
            connection.execute("SELECT * FROM v")


def test_a_writer_that_waits_for_room_ends_in_time(server: Served) -> None:
    rows = "INSERT INTO s VALUES " + ", ".join(f"({number})" for number in range(1000))
    with connect(server) as connection:
        connection.execute("CREATE STREAM s (id int) WITH (capacity = 1000); CREATE TABLE t (id int)")
        connection.execute("CREATE VIEW v AS SELECT count(*) AS n FROM s")
        relations = server.pond.services.catalog.snapshot.relations
        maintainer = server.pond.services.views._maintainers[relations["s"].oid]
        with held(maintainer.lock):
            connection.execute(rows)
            connection.execute("SET statement_timeout = 150")
            with in_time(), pytest.raises(psycopg.errors.QueryCanceled, match=CANCELED):
                connection.execute(rows)
            connection.execute("BEGIN; INSERT INTO t VALUES (1); INSERT INTO s VALUES (1)")
            with in_time(), pytest.raises(psycopg.errors.QueryCanceled, match=CANCELED):
                connection.execute("COMMIT")
        connection.execute("RESET ALL")
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)
        assert connection.execute("SELECT n FROM v").fetchone() == (1000,)


def test_a_transaction_that_takes_too_long_ends_its_connection(shared_server: Served) -> None:
    with connect(shared_server, transaction_timeout="200") as connection:
        with in_time(), pytest.raises(psycopg.errors.TransactionTimeout):
            connection.execute("BEGIN; SELECT pg_sleep(60)")
        assert connection.closed
    with connect(shared_server, transaction_timeout="100") as idle:
        idle.execute("BEGIN")
        expect_end(idle, "terminating connection due to transaction timeout")


def test_a_silent_session_ends(shared_server: Served) -> None:
    with connect(shared_server, idle_session_timeout="100") as idle:
        expect_end(idle, "terminating connection due to idle-session timeout")


def expect_end(connection: Connection, message: str) -> None:
    """Wait until the server says something, and see that it was goodbye."""
    with in_time():
        select.select([connection.fileno()], [], [], 10)
    with pytest.raises(psycopg.Error, match=message):
        connection.execute("SELECT 1")


@contextmanager
def held(lock: threading.RLock) -> Iterator[None]:
    """Another thread has the lock."""
    taken, released = threading.Event(), threading.Event()

    def keep() -> None:
        with lock:
            taken.set()
            released.wait(30)

    keeper = threading.Thread(target=keep)
    keeper.start()
    taken.wait()
    try:
        yield
    finally:
        released.set()
        keeper.join()
