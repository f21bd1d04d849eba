"""SET in all its forms, what undoes it, and what clients are told of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.clients.conftest import Served

Connection = psycopg.Connection[Any]


@pytest.fixture
def connection(shared_server: Served) -> Iterator[Connection]:
    options = "-c statement_timeout=1min -c application_name=started"
    with psycopg.connect(shared_server.url, autocommit=True, options=options) as opened:
        yield opened


def show(connection: Connection, name: str) -> str:
    row = connection.execute(f"SHOW {name}").fetchone()
    assert row is not None
    return str(row[0])


def test_transactions_undo_settings(connection: Connection) -> None:
    connection.execute("BEGIN; SET application_name = 'a'; ROLLBACK")
    assert show(connection, "application_name") == "started"
    connection.execute("BEGIN; SET application_name = 'a'; SET LOCAL application_name = 'b'")
    assert connection.info.parameter_status("application_name") == "b"
    connection.execute("COMMIT")
    assert connection.info.parameter_status("application_name") == "a"
    with pytest.raises(psycopg.errors.DivisionByZero):
        connection.execute("SET application_name = 'c'; SELECT 1 / 0")
    assert show(connection, "application_name") == "a"
    connection.execute("RESET ALL")
    assert (show(connection, "application_name"), show(connection, "statement_timeout")) == ("started", "1min")


def test_set_local_outside_a_transaction_warns(connection: Connection) -> None:
    warnings: list[str | None] = []
    connection.add_notice_handler(lambda diagnostics: warnings.append(diagnostics.message_primary))
    connection.execute("SET LOCAL application_name = 'x'")
    connection.execute("SET TRANSACTION READ ONLY")
    assert warnings == [f"SET {what} can only be used in transaction blocks" for what in ("LOCAL", "TRANSACTION")]
    assert show(connection, "application_name") == "started"


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("SET SESSION statement_timeout TO 2500", "statement_timeout", "2500ms"),
        ("SET TIME ZONE 'Etc/UTC'", "TimeZone", "UTC"),
        ("SET TIME ZONE LOCAL", "timezone", "UTC"),
        ("SET NAMES 'utf8'", "client_encoding", "UTF8"),
        ("SET datestyle TO ISO, MDY", "DateStyle", "ISO, MDY"),
        ("SET search_path TO public, other", "search_path", "public, other"),
        ("SET extra_float_digits = 3", "extra_float_digits", "3"),
        ("SET client_min_messages = debug1", "client_min_messages", "debug1"),
        ("SET bytea_output = 'hex'", "bytea_output", "hex"),
        ("SET lock_timeout = '2s'", "lock_timeout", "2s"),
        ("SET default_transaction_isolation = 'read committed'", "transaction_isolation", "read committed"),
        ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "transaction_read_only", "on"),
        ("SELECT set_config('statement_timeout', '3s', false)", "statement_timeout", "3s"),
        ("SET my.own = 'value'", "my.own", "value"),
    ],
)
def test_accepted(connection: Connection, text: str, name: str, value: str) -> None:
    connection.execute(text)
    assert show(connection, name) == value


@pytest.mark.parametrize(
    "text",
    [
        "SET timezone = 'Europe/Berlin'",
        "SET client_encoding = 'LATIN1'",
        "SET standard_conforming_strings = off",
        "SET bytea_output = 'escape'",
        "SET datestyle = 'German'",
        "SET default_transaction_isolation = 'serializable'",
        "SET statement_timeout = 'soon'",
    ],
)
def test_values_that_we_could_not_honour_are_refused(connection: Connection, text: str) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        connection.execute(text)


def test_current_setting(connection: Connection) -> None:
    query = "SELECT current_setting('application_name'), current_setting('no.such', true), current_setting(%s, true)"
    assert connection.execute(query, ["Statement_Timeout"]).fetchone() == ("started", None, "1min")
    with pytest.raises(psycopg.errors.UndefinedObject, match=r'unrecognized configuration parameter "no\.such"'):
        connection.execute("SELECT current_setting('no.such')")
    connection.execute("BEGIN")
    connection.execute("SELECT set_config('my.user', 'ada', true)")
    assert connection.execute("SELECT current_setting('my.user')").fetchone() == ("ada",)
    connection.execute("COMMIT")
    assert connection.execute("SELECT current_setting('my.user')").fetchone() == ("",)


def test_read_only_transactions(connection: Connection) -> None:
    connection.execute("CREATE TABLE set_once (id int); CREATE STREAM set_in (id int)")
    writes = {
        "INSERT INTO set_once VALUES (1)": "INSERT",
        "INSERT INTO set_in VALUES (1)": "INSERT",
        "UPDATE set_once SET id = 2": "UPDATE",
        "DELETE FROM set_once": "DELETE",
        "CREATE TABLE set_twice (id int)": "CREATE TABLE",
        "DROP TABLE set_once": "DROP TABLE",
        "COPY set_once FROM STDIN": "COPY FROM",
    }
    for text, command in writes.items():
        message = f"cannot execute {command} in a read-only transaction"
        connection.execute("BEGIN READ ONLY")
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction, match=message):
            connection.execute(text)
        connection.execute("ROLLBACK")
    connection.execute("BEGIN; SET TRANSACTION READ ONLY; SELECT 1; SET TRANSACTION READ ONLY")
    with pytest.raises(psycopg.errors.ActiveSqlTransaction, match="read-write mode must be set before any query"):
        connection.execute("SET TRANSACTION READ WRITE")
    connection.execute("ROLLBACK; SET default_transaction_read_only = on")
    assert connection.info.parameter_status("default_transaction_read_only") == "on"
    connection.execute("BEGIN READ WRITE; INSERT INTO set_once VALUES (1); COMMIT")
    with pytest.raises(psycopg.errors.ActiveSqlTransaction, match="must be called before any query"):
        connection.execute("BEGIN; SELECT 1; SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
    connection.execute("ROLLBACK")


def test_discard_all(connection: Connection) -> None:
    connection.execute("LISTEN discarded; SET application_name = 'x'")
    connection.execute("DECLARE c CURSOR WITH HOLD FOR SELECT 1")
    connection.execute("DISCARD ALL")
    heard: list[object] = []
    connection.add_notify_handler(heard.append)
    connection.execute("NOTIFY discarded")
    assert (heard, show(connection, "application_name")) == ([], "started")
    with pytest.raises(psycopg.errors.InvalidCursorName):
        connection.execute("FETCH c")
    with pytest.raises(psycopg.errors.ActiveSqlTransaction):
        connection.execute("BEGIN; DISCARD ALL")
    connection.execute("ROLLBACK")


def test_show_all_and_the_session_itself(connection: Connection) -> None:
    shown = {row[0]: row[1] for row in connection.execute("SHOW ALL")}
    assert (shown["application_name"], shown["server_version"]) == ("started", "16.0")
    query = "SELECT pg_backend_pid(), current_database(), current_schema(), txid_current() > 0"
    assert connection.execute(query).fetchone() == (connection.info.backend_pid, "pond", "public", True)


def test_errors_name_what_they_are_about(connection: Connection) -> None:
    connection.execute("CREATE TABLE strict (id int PRIMARY KEY, n int NOT NULL CHECK (n > 0))")
    connection.execute("INSERT INTO strict VALUES (1, 1)")
    wrong: list[tuple[str, str | None, str | None]] = [
        ("INSERT INTO strict VALUES (1, 2)", None, "strict_pkey"),
        ("INSERT INTO strict VALUES (2, NULL)", "n", None),
        ("INSERT INTO strict VALUES (2, -1)", None, "strict_n_check"),
        ("UPDATE strict SET n = NULL", "n", None),
    ]
    for text, column, constraint in wrong:
        with pytest.raises(psycopg.errors.IntegrityError) as caught:
            connection.execute(text)
        diagnostics = caught.value.diag
        assert (diagnostics.schema_name, diagnostics.table_name) == ("public", "strict")
        assert (diagnostics.column_name, diagnostics.constraint_name) == (column, constraint)
        assert diagnostics.source_function is not None
