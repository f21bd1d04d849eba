"""psycopg 3: queries, parameters of every type, transactions, pipelines, COPY, cancel, and errors with their fields."""

from __future__ import annotations

import asyncio
import datetime
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.pq import TransactionStatus

from tests.clients.conftest import Served

NOW = datetime.datetime(2024, 1, 31, 12, 30, 15, 250000)
VALUES: list[tuple[str, Any]] = [
    ("smallint", 7),
    ("integer", -70_000),
    ("bigint", 2**40),
    ("real", 1.5),
    ("double precision", -1e300),
    ("numeric(20,5)", Decimal("12345.67890")),
    ("boolean", True),
    ("text", "it's \\ é"),
    ("varchar(10)", "x y"),
    ("bytea", b"\x00\xff'"),
    ("date", datetime.date(1999, 12, 31)),
    ("timestamp", NOW),
    ("timestamptz", NOW.replace(tzinfo=datetime.UTC)),
    ("interval", datetime.timedelta(days=3, hours=4, microseconds=5)),
]


@pytest.fixture
def connection(shared_server: Served) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(shared_server.url, autocommit=True) as opened:
        yield opened


def test_rows_and_description(connection: psycopg.Connection[Any]) -> None:
    cursor = connection.execute("SELECT 1 AS a, 'x' AS b, NULL::int AS c")
    assert cursor.fetchall() == [(1, "x", None)]
    assert cursor.description is not None
    assert [(column.name, column.type_code) for column in cursor.description] == [("a", 23), ("b", 25), ("c", 23)]
    assert cursor.statusmessage == "SELECT 1"
    assert connection.info.parameter_status("server_encoding") == "UTF8"
    assert connection.info.parameter_status("TimeZone") == "UTC"


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
@pytest.mark.parametrize(("kind", "value"), VALUES, ids=[kind for kind, _ in VALUES])
def test_values_of_every_type(connection: psycopg.Connection[Any], kind: str, value: object, binary: bool) -> None:
    mark = "b" if binary else "t"
    cursor = connection.cursor(binary=binary)
    cursor.execute(f"SELECT CAST(%{mark} AS {kind}) AS v", [value])
    assert cursor.fetchone() == (value,)


@pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])
def test_arrays_come_as_lists(connection: psycopg.Connection[Any], binary: bool) -> None:
    text = "SELECT array_agg(a), array_agg(b) FROM (VALUES (1, 'x'), (NULL, 'y,\"z')) t(a, b)"
    cursor = connection.cursor(binary=binary).execute(text)
    numbers, texts = cursor.fetchone() or ([], [])
    assert sorted(zip(texts, numbers, strict=True)) == [("x", 1), ('y,"z', None)]
    assert cursor.description is not None
    assert [column.type_code for column in cursor.description] == [1007, 1009]


def test_parameters_take_their_type_from_their_place(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE TABLE placed (id int, name text, at timestamptz, price numeric(10,2))")
    row = (1, "a", NOW.replace(tzinfo=datetime.UTC), Decimal("9.99"))
    connection.execute("INSERT INTO placed VALUES (%s, %s, %s, %s)", row)
    connection.execute("INSERT INTO placed (name, id) VALUES (%b, %b)", ("b", 2))
    assert connection.execute("SELECT * FROM placed WHERE id = %s", [1]).fetchall() == [row]
    found = connection.execute("SELECT id FROM placed WHERE name IN (%s, %s) ORDER BY id LIMIT %s", ("a", "b", 5))
    assert found.fetchall() == [(1,), (2,)]
    changed = connection.execute("UPDATE placed SET name = %s WHERE id = %s RETURNING name", ("c", 2))
    assert (changed.fetchall(), changed.rowcount) == ([("c",)], 1)
    assert connection.execute("DELETE FROM placed WHERE id = %s", [1]).rowcount == 1


def test_prepared_statements(connection: psycopg.Connection[Any]) -> None:
    for number in range(3):
        cursor = connection.execute("SELECT %s::int + 1", [number], prepare=True)
        assert cursor.fetchone() == (number + 1,)


def test_transactions_commit_fail_and_roll_back(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE TABLE account (id int)")
    status = []
    with connection.transaction():
        connection.execute("INSERT INTO account VALUES (1)")
        status.append(connection.info.transaction_status)
    with pytest.raises(psycopg.errors.UndefinedColumn), connection.transaction():
        connection.execute("INSERT INTO account VALUES (2); SELECT nothing FROM account")
    connection.execute("BEGIN")
    with pytest.raises(psycopg.errors.SyntaxError):
        connection.execute("SELEC")
    status.append(connection.info.transaction_status)
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        connection.execute("SELECT 1")
    assert connection.execute("COMMIT").statusmessage == "ROLLBACK"
    status.append(connection.info.transaction_status)
    assert status == [TransactionStatus.INTRANS, TransactionStatus.INERROR, TransactionStatus.IDLE]
    assert connection.execute("SELECT * FROM account").fetchall() == [(1,)]


def test_errors_have_all_fields(connection: psycopg.Connection[Any]) -> None:
    with pytest.raises(psycopg.errors.UndefinedTable) as caught:
        connection.execute("SELECT * FROM millpond_setings")
    diagnostics = caught.value.diag
    assert diagnostics.sqlstate == "42P01"
    assert diagnostics.severity == diagnostics.severity_nonlocalized == "ERROR"
    assert diagnostics.message_primary == 'relation "millpond_setings" does not exist'
    assert diagnostics.message_hint == 'Perhaps you meant "millpond_settings".'
    assert diagnostics.statement_position == "15"


def test_notices_reach_the_client(connection: psycopg.Connection[Any]) -> None:
    notices: list[str | None] = []
    connection.add_notice_handler(lambda diagnostics: notices.append(diagnostics.message_primary))
    connection.execute("CREATE TABLE noticed (a int)")
    connection.execute("CREATE TABLE IF NOT EXISTS noticed (a int)")
    connection.execute("SET client_min_messages = error")
    connection.execute("CREATE TABLE IF NOT EXISTS noticed (a int)")
    assert notices == ['relation "noticed" already exists, skipping']


def test_settings_are_reported(connection: psycopg.Connection[Any]) -> None:
    connection.execute("SET application_name = 'tester'")
    assert connection.info.parameter_status("application_name") == "tester"
    assert connection.execute("SHOW application_name").fetchone() == ("tester",)


def test_pipelines_are_one_transaction(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE TABLE piped (a int)")
    with connection.pipeline() as pipeline:
        cursors = [connection.execute("INSERT INTO piped VALUES (%s)", [number]) for number in range(20)]
        pipeline.sync()
        assert [cursor.rowcount for cursor in cursors] == [1] * 20
        connection.execute("INSERT INTO piped VALUES (100)")
        connection.execute("SELECT * FROM no_such_table")
        with pytest.raises(psycopg.errors.UndefinedTable):
            pipeline.sync()
    assert connection.execute("SELECT count(*), max(a) FROM piped").fetchone() == (20, 19)


def test_executemany_into_a_stream(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE STREAM measured (station int, value double precision)")
    cursor = connection.cursor()
    cursor.executemany("INSERT INTO measured VALUES (%s, %s)", [(number % 3, number / 2) for number in range(50)])
    assert connection.execute("SELECT count(*), sum(value) FROM measured").fetchone() == (50, 612.5)


@pytest.mark.parametrize("options", ["", "(FORMAT csv)", "(FORMAT binary)"])
def test_copy_in_and_out(connection: psycopg.Connection[Any], options: str) -> None:
    name = sql.Identifier("copied" + options[8:-1])
    connection.execute(sql.SQL("CREATE TABLE {} (id int, name text, price numeric(8,2))").format(name))
    rows = [(1, "a\tb\n", Decimal("1.50")), (2, None, None), (3, "é,\"'", Decimal("-3.25"))]
    cursor = connection.cursor()
    into = sql.SQL("COPY {} FROM STDIN " + ("" if "csv" in options else options)).format(name)
    with cursor.copy(into) as copy:
        copy.set_types(["int4", "text", "numeric"])
        for row in rows:
            copy.write_row(row)
    assert cursor.rowcount == 3
    out = sql.SQL("COPY (SELECT * FROM {} ORDER BY id) TO STDOUT " + options).format(name)
    with cursor.copy(out) as copy:
        if "csv" in options:
            assert b"".join(copy) == '1,"a\tb\n",1.50\n2,,\n3,"é,""\'",-3.25\n'.encode()
        else:
            copy.set_types(["int4", "text", "numeric"])
            assert list(copy.rows()) == rows
    assert cursor.rowcount == 3


def test_copy_that_fails_changes_nothing(connection: psycopg.Connection[Any]) -> None:
    connection.execute("CREATE TABLE strict_copy (a int)")
    with (
        pytest.raises(psycopg.errors.InvalidTextRepresentation) as caught,
        connection.cursor().copy("COPY strict_copy FROM STDIN") as copy,
    ):
        copy.write("1\nx\n" + "3\n" * 100_000)
    assert "line 2, column a" in str(caught.value)
    with pytest.raises(TypeError), connection.cursor().copy("COPY strict_copy FROM STDIN") as copy:
        copy.write(1)  # type: ignore[arg-type]
    with pytest.raises(psycopg.errors.UndefinedTable), connection.cursor().copy("COPY no_table FROM STDIN"):
        pass
    assert connection.execute("SELECT count(*) FROM strict_copy").fetchone() == (0,)


def test_cancel_frees_the_statement(connection: psycopg.Connection[Any]) -> None:
    endless = "SELECT count(*) FROM generate_series(1, 3000000) a, generate_series(1, 3000000) b"
    timer = threading.Timer(1.5, connection.cancel_safe)
    timer.start()
    started = time.monotonic()
    with pytest.raises(psycopg.errors.QueryCanceled, match="canceling statement due to user request"):
        connection.execute(endless)
    assert time.monotonic() - started < 1.5 + 2
    timer.join()
    assert connection.execute("SELECT 1").fetchone() == (1,)


def test_statement_timeout(connection: psycopg.Connection[Any]) -> None:
    connection.execute("SET statement_timeout = '500ms'")
    with pytest.raises(psycopg.errors.QueryCanceled, match="canceling statement due to statement timeout"):
        connection.execute("SELECT count(*) FROM generate_series(1, 3000000) a, generate_series(1, 3000000) b")


def test_large_results_stream(connection: psycopg.Connection[Any]) -> None:
    rows = 300_000
    connection.execute("CREATE TABLE large AS SELECT i AS id, 'row ' || i AS name FROM generate_series(1, 300000) t(i)")
    cursor = connection.execute("SELECT id, name FROM large ORDER BY id")
    fetched = cursor.fetchall()
    assert len(fetched) == rows
    assert fetched[-1] == (rows, f"row {rows}")


def test_async_connections(shared_server: Served) -> None:
    async def one(number: int) -> Any:
        async with await psycopg.AsyncConnection.connect(shared_server.url) as connection:
            cursor = await connection.execute("SELECT %s::int", [number])
            return await cursor.fetchone()

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(one(number) for number in range(8)))

    assert asyncio.run(all_of_them()) == [(number,) for number in range(8)]
