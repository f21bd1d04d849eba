"""Continuous queries from psycopg: created, fed, watched, rested and dropped by clients of a server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.clients.conftest import Served

DEADLINE_S = 60.0
LOOK_S = 0.02


@pytest.fixture
def connection(shared_server: Served) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(shared_server.url, autocommit=True) as connected:
        yield connected


def caught_up(connection: psycopg.Connection[Any], name: str) -> tuple[Any, ...]:
    """Wait until a query has taken all that has arrived; its state and what it has made."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        query = "SELECT lag, state, rows_out FROM millpond_queries WHERE name = %s"
        found = connection.execute(query, [name]).fetchone()
        assert found is not None
        if found[0] == 0:
            return tuple(found[1:])
        assert time.monotonic() < deadline
        time.sleep(LOOK_S)


def test_a_client_creates_a_query_and_another_sees_what_it_makes(
    shared_server: Served, connection: psycopg.Connection[Any]
) -> None:
    connection.execute("CREATE STREAM reading (sensor int, value double precision)")
    connection.execute("CREATE TABLE hot (sensor int, value double precision, seen timestamptz)")
    created = connection.execute(
        "CREATE CONTINUOUS QUERY watch AS INSERT INTO hot SELECT sensor, value, now() FROM reading WHERE value > 50"
    )
    assert created.statusmessage == "CREATE CONTINUOUS QUERY"
    with psycopg.connect(shared_server.url, autocommit=True) as other:
        with other.cursor() as cursor:
            cursor.executemany("INSERT INTO reading VALUES (%s, %s)", [(n, n * 10.0) for n in range(10)])
        assert caught_up(other, "watch") == ("running", 4)
        assert other.execute("SELECT sensor FROM hot ORDER BY 1").fetchall() == [(6,), (7,), (8,), (9,)]
        assert other.execute("ALTER CONTINUOUS QUERY watch PAUSE").statusmessage == "ALTER CONTINUOUS QUERY"
        lines = other.execute("EXPLAIN CONTINUOUS QUERY watch").fetchall()
        assert ("Stream reading: next tid 10, 0 tuples to take",) in lines
    with pytest.raises(psycopg.errors.DependentObjectsStillExist, match="other objects depend on it"):
        connection.execute("DROP TABLE hot")
    notices: list[str | None] = []
    connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
    connection.execute("DROP FOREIGN TABLE reading CASCADE")
    assert notices == ["drop cascades to continuous query watch"]
    connection.execute("DROP TABLE hot")


def test_errors_have_a_place_and_a_hint(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE STREAM s (v int)")
    connection.execute("CREATE TABLE t (v int)")
    statement = "CREATE CONTINUOUS QUERY q AS INSERT INTO t SELECT count(*) FROM s"
    with pytest.raises(psycopg.errors.FeatureNotSupported) as caught:
        connection.execute(statement)
    assert caught.value.diag.statement_position == str(statement.index("count") + 1)
    assert caught.value.diag.message_hint is not None
    assert "CREATE VIEW" in caught.value.diag.message_hint
    with connection.transaction(force_rollback=True):
        connection.execute("CREATE CONTINUOUS QUERY q AS INSERT INTO t SELECT v FROM s")
    assert connection.execute("SELECT count(*) FROM millpond_queries").fetchall() == [(0,)]
