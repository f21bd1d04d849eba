"""Savepoints: back to where a transaction was, with its tables, streams, definitions, settings and cursors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from tests.clients.conftest import Served

Connection = psycopg.Connection[Any]


@pytest.fixture
def connection(shared_server: Served) -> Iterator[Connection]:
    with psycopg.connect(shared_server.url, autocommit=True) as opened:
        yield opened


def test_nested_transactions_of_psycopg(connection: Connection) -> None:
    connection.execute("CREATE TABLE nested (id int); CREATE STREAM nested_in (id int)")
    with connection.transaction():
        connection.execute("INSERT INTO nested VALUES (1); INSERT INTO nested_in VALUES (1)")
        with pytest.raises(psycopg.errors.DivisionByZero), connection.transaction():
            connection.execute("INSERT INTO nested VALUES (2); INSERT INTO nested_in VALUES (2); SELECT 1 / 0")
        assert connection.info.transaction_status == TransactionStatus.INTRANS
        with connection.transaction():
            connection.execute("INSERT INTO nested VALUES (3); INSERT INTO nested_in VALUES (3)")
            with connection.transaction(force_rollback=True):
                connection.execute("UPDATE nested SET id = 9")
                assert connection.execute("SELECT DISTINCT id FROM nested").fetchall() == [(9,)]
    assert connection.execute("SELECT id FROM nested ORDER BY id").fetchall() == [(1,), (3,)]
    assert connection.execute("SELECT tid, id FROM nested_in ORDER BY tid").fetchall() == [(0, 1), (1, 3)]


def test_what_a_savepoint_brings_back(connection: Connection) -> None:
    connection.execute("CREATE TABLE kept (id int); INSERT INTO kept VALUES (1)")
    connection.execute("BEGIN; SET statement_timeout = '1min'; UPDATE kept SET id = 2; SAVEPOINT a")
    connection.execute("DROP TABLE kept; CREATE TABLE made (id int); INSERT INTO made VALUES (1)")
    connection.execute("SET LOCAL statement_timeout = '2min'; SET application_name = 'changed'")
    connection.execute("DECLARE c CURSOR FOR SELECT 1")
    with pytest.raises(psycopg.errors.UndefinedTable):
        connection.execute("SELECT * FROM kept")
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        connection.execute("SELECT 1")
    for _ in range(2):
        connection.execute("ROLLBACK TO SAVEPOINT a")
        assert connection.execute("SELECT id FROM kept").fetchall() == [(2,)]
        assert connection.execute("SHOW statement_timeout").fetchone() == ("1min",)
        assert connection.info.parameter_status("application_name") == ""
        connection.execute("UPDATE kept SET id = 3")
    connection.execute("ROLLBACK TO a")
    with pytest.raises(psycopg.errors.InvalidCursorName):
        connection.execute("FETCH c")
    connection.execute("ROLLBACK TO a; COMMIT")
    assert connection.execute("SELECT id FROM kept").fetchall() == [(2,)]
    assert connection.execute("SHOW statement_timeout").fetchone() == ("1min",)
    with pytest.raises(psycopg.errors.UndefinedTable):
        connection.execute("SELECT * FROM made")


def test_names_of_savepoints(connection: Connection) -> None:
    for wrong in ("SAVEPOINT a", "ROLLBACK TO a", "RELEASE a", "SELECT 1; SAVEPOINT a"):
        with pytest.raises(psycopg.errors.NoActiveSqlTransaction, match="can only be used in transaction blocks"):
            connection.execute(wrong)
    connection.execute("CREATE TABLE named (id int)")
    connection.execute("BEGIN; SAVEPOINT a; INSERT INTO named VALUES (1); SAVEPOINT a; INSERT INTO named VALUES (2)")
    connection.execute("ROLLBACK TO a; RELEASE a; INSERT INTO named VALUES (3); SAVEPOINT b; RELEASE SAVEPOINT a")
    with pytest.raises(psycopg.errors.InvalidSavepointSpecification, match='savepoint "b" does not exist'):
        connection.execute("ROLLBACK TO b")
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        connection.execute("RELEASE a")
    assert connection.execute("COMMIT").statusmessage == "ROLLBACK"
    connection.execute("BEGIN; SAVEPOINT a; INSERT INTO named VALUES (1); SAVEPOINT a; INSERT INTO named VALUES (2)")
    connection.execute(
        "ROLLBACK TO a; RELEASE a; COMMIT AND CHAIN; INSERT INTO named VALUES (3); ROLLBACK AND NO CHAIN"
    )
    assert connection.execute("SELECT id FROM named").fetchall() == [(1,)]
    assert connection.info.transaction_status == TransactionStatus.IDLE
