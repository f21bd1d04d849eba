"""Many clients at once, doing what they like: nobody waits for ever, and nothing fails that should not.

MILLPOND_SOAK_SECONDS sets for how long (10; `make soak` takes a minute).
"""

from __future__ import annotations

import os
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

import millpond
from tests.clients.conftest import Served, serving
from tests.clients.raw_client import RawClient

CLIENTS = 20
IDLE = 200
HALF_OPEN = 50
SECONDS = float(os.environ.get("MILLPOND_SOAK_SECONDS", "10"))

EXPECTED = {"42P01", "42P07", "40001", "57014", "25P02", "2BP01", "42P16"}
"""What may happen to statements that meddle with one another's tables."""


def act(served: Served, seed: int, until: float, failures: list[str]) -> None:
    """One client: statements at random, until the time is up."""
    choose = random.Random(seed)
    with psycopg.connect(served.url, autocommit=True) as connection:
        while time.monotonic() < until:
            name = f"crowd_{choose.randrange(3)}"
            number = choose.randrange(100)
            try:
                _do(connection, choose.randrange(12), name, number)
            except psycopg.Error as error:
                if error.sqlstate not in EXPECTED:
                    failures.append(f"{error.sqlstate} {error}")
                    return
                connection.rollback()


def _do(connection: psycopg.Connection[tuple[object, ...]], action: int, name: str, number: int) -> None:
    if action == 0:
        connection.execute(f"CREATE TABLE IF NOT EXISTS {name} (a int)")
    elif action == 1:
        connection.execute(f"DROP TABLE IF EXISTS {name}")
    elif action in (2, 3):
        connection.execute(f"INSERT INTO {name} VALUES (%s)", [number])
    elif action == 4:
        connection.execute(f"SELECT count(*) FROM {name} WHERE a < %s", [number]).fetchall()
    elif action == 5:
        connection.execute("INSERT INTO crowd_stream VALUES (%s)", [number])
    elif action == 6:
        connection.execute("SELECT * FROM crowd_view").fetchall()
    elif action == 7:
        with connection.transaction():
            connection.execute(f"UPDATE {name} SET a = a + 1 WHERE a = %s", [number])
    elif action == 8:
        connection.execute(f"CREATE VIEW {name}_seen AS SELECT count(*) AS n FROM crowd_stream")
    elif action == 9:
        connection.execute(f"DROP VIEW IF EXISTS {name}_seen")
    elif action == 10:
        connection.execute(f"SELECT * FROM {name}_seen").fetchall()
    else:
        timer = threading.Timer(0.02, connection.cancel_safe)
        timer.start()
        connection.execute("SELECT count(*) FROM generate_series(1, 100000)").fetchall()
        timer.join()


@pytest.fixture
def roomy_server(shared_spark: None, tmp_path: Path) -> Iterator[Served]:
    """A server that takes in the whole crowd."""
    with (
        millpond.connect(tmp_path / "pond", master="local[2]", max_connections=IDLE + CLIENTS + 10) as pond,
        serving(pond) as served,
    ):
        yield served


def test_a_crowd(roomy_server: Served) -> None:
    server = roomy_server
    server.pond.execute("CREATE STREAM crowd_stream (a int)")
    server.pond.execute("CREATE VIEW crowd_view AS SELECT a % 10 AS a, count(*) AS n FROM crowd_stream GROUP BY a % 10")
    failures: list[str] = []
    with ExitStack() as bystanders:
        for _ in range(HALF_OPEN):
            bystanders.enter_context(socket.create_connection((server.host, server.port)))
        for _ in range(IDLE):
            bystanders.enter_context(RawClient.started(server.port))
        until = time.monotonic() + SECONDS
        clients = [threading.Thread(target=act, args=(server, seed, until, failures)) for seed in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join(timeout=SECONDS + 60)
            assert not client.is_alive(), "a client waits for ever"
    assert failures == []
    with psycopg.connect(server.url) as connection:
        counted = connection.execute("SELECT count(*) FROM crowd_stream").fetchone()
        shown = connection.execute("SELECT sum(n) FROM crowd_view").fetchone()
    assert counted is not None
    assert shown == (counted[0] or None,)
