"""asyncpg, which prepares everything and sends and takes binary values: types, transactions, cursors, COPY, LISTEN."""

from __future__ import annotations

import asyncio
import datetime
import io
from collections.abc import Callable, Coroutine
from decimal import Decimal
from typing import Any

import asyncpg
import pytest

from tests.clients.conftest import Served

NOW = datetime.datetime(2024, 1, 31, 12, 30, 15, 250000)
VALUES: list[tuple[str, Any]] = [
    ("smallint", 7),
    ("bigint", 2**40),
    ("real", 1.5),
    ("double precision", -1e300),
    ("numeric", Decimal("12345.6789")),
    ("boolean", True),
    ("text", "it's \\ é"),
    ("bytea", b"\x00\xff'"),
    ("date", datetime.date(1999, 12, 31)),
    ("timestamp", NOW),
    ("timestamptz", NOW.replace(tzinfo=datetime.UTC)),
    ("interval", datetime.timedelta(days=3, hours=4, microseconds=5)),
    ("integer[]", [1, None, 3]),
    ("text[]", ["a", 'b,"c"', None]),
    ("timestamptz[]", [NOW.replace(tzinfo=datetime.UTC)]),
    ("integer", None),
]

Work = Callable[[asyncpg.Connection], Coroutine[Any, Any, None]]


def run(server: Served, work: Work) -> None:
    async def connected() -> None:
        connection = await asyncpg.connect(server.url, timeout=20, command_timeout=20)
        try:
            await work(connection)
        finally:
            await connection.close()

    asyncio.run(connected())


async def in_transaction(connection: asyncpg.Connection, text: str, *, readonly: bool = False) -> None:
    async with connection.transaction(readonly=readonly):
        await connection.execute(text)


def test_values_of_every_type(shared_server: Served) -> None:
    async def work(connection: asyncpg.Connection) -> None:
        for kind, value in VALUES:
            assert await connection.fetchval(f"SELECT $1::{kind}", value) == value, kind

    run(shared_server, work)


def test_parameters_without_types_take_them_from_their_place(shared_server: Served) -> None:
    async def work(connection: asyncpg.Connection) -> None:
        query = "SELECT n FROM generate_series(1, 9) AS n WHERE n = ANY($1) OR n IN ($2, $3) ORDER BY n"
        prepared = await connection.prepare(query)
        assert [(one.name, one.kind) for one in prepared.get_parameters()] == [
            ("int4[]", "array"),
            ("int4", "scalar"),
            ("int4", "scalar"),
        ]
        assert [row["n"] for row in await prepared.fetch([2, 3], 5, None)] == [2, 3, 5]

    run(shared_server, work)


def test_transactions_and_savepoints(shared_server: Served) -> None:
    async def work(connection: asyncpg.Connection) -> None:
        await connection.execute("CREATE TABLE async_account (id int)")
        async with connection.transaction(isolation="repeatable_read"):
            await connection.execute("INSERT INTO async_account VALUES ($1)", 1)
            with pytest.raises(asyncpg.DivisionByZeroError):
                await in_transaction(connection, "INSERT INTO async_account VALUES (2); SELECT 1 / 0")
        with pytest.raises(asyncpg.ReadOnlySQLTransactionError, match="cannot execute INSERT in a read-only"):
            await in_transaction(connection, "INSERT INTO async_account VALUES (3)", readonly=True)
        assert [row["id"] for row in await connection.fetch("SELECT id FROM async_account")] == [1]

    run(shared_server, work)


def test_cursors_and_many_rows(shared_server: Served) -> None:
    async def work(connection: asyncpg.Connection) -> None:
        async with connection.transaction():
            cursor = await connection.cursor("SELECT n FROM generate_series(1, $1) AS n", 1000)
            assert len(await cursor.fetch(10)) == 10
            assert await cursor.forward(980) == 980
            assert len(await cursor.fetch(100)) == 10
            counted = 0
            async for _ in connection.cursor("SELECT n FROM generate_series(1, 500) AS n", prefetch=100):
                counted += 1
            assert counted == 500
        await connection.execute("CREATE STREAM async_events (id int, name text)")
        await connection.executemany(
            "INSERT INTO async_events VALUES ($1, $2)", [(n, f"event {n}") for n in range(100)]
        )
        assert await connection.fetchval("SELECT count(*) FROM async_events") == 100

    run(shared_server, work)


def test_copy(shared_server: Served) -> None:
    async def work(connection: asyncpg.Connection) -> None:
        await connection.execute("CREATE TABLE async_copied (id int, name text, at timestamptz)")
        rows = [(1, "a", NOW.replace(tzinfo=datetime.UTC)), (2, None, None)]
        assert await connection.copy_records_to_table("async_copied", records=rows) == "COPY 2"
        await connection.copy_to_table("async_copied", source=io.BytesIO(b"3,c,\n"), format="csv")
        written = io.BytesIO()
        await connection.copy_from_query("SELECT id, name FROM async_copied ORDER BY id", output=written, format="csv")
        assert written.getvalue() == b"1,a\n2,\n3,c\n"

    run(shared_server, work)


def test_listeners(shared_server: Served) -> None:
    async def work(connection: asyncpg.Connection) -> None:
        heard: asyncio.Queue[tuple[int, str, object]] = asyncio.Queue()
        await connection.add_listener(
            "async_news", lambda _, pid, channel, payload: heard.put_nowait((pid, channel, payload))
        )
        await connection.execute("NOTIFY async_news, 'hot'")
        pid = connection.get_server_pid()
        assert await asyncio.wait_for(heard.get(), 10) == (pid, "async_news", "hot")
        assert await connection.fetchval("SELECT pg_backend_pid()") == pid

    run(shared_server, work)


def test_a_pool_resets_its_connections(shared_server: Served) -> None:
    async def pooled() -> None:
        async with asyncpg.create_pool(shared_server.url, min_size=1, max_size=1) as pool:
            async with pool.acquire() as connection:
                await connection.execute("SET application_name = 'pooled'")
            async with pool.acquire() as connection:
                assert await connection.fetchval("SHOW application_name") == ""
                assert connection.get_settings().client_encoding == "UTF8"

    asyncio.run(pooled())


def test_errors_and_cancellation(shared_server: Served) -> None:
    async def work(connection: asyncpg.Connection) -> None:
        with pytest.raises(asyncpg.UndefinedTableError) as caught:
            await connection.fetch("SELECT * FROM nowhere")
        assert caught.value.as_dict()["position"] == "15"
        with pytest.raises(asyncio.TimeoutError):
            await connection.fetch("SELECT pg_sleep(60)", timeout=0.2)
        assert await connection.fetchval("SELECT 1") == 1

    run(shared_server, work)
