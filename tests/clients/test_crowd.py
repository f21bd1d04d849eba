"""Many clients at once, doing what they like: nobody waits for ever, and nothing fails that should not."""

from __future__ import annotations

import random
import socket
import threading
import time
from contextlib import ExitStack

import psycopg

from tests.clients.conftest import Served
from tests.clients.raw_client import RawClient

CLIENTS = 8
IDLE = 40
HALF_OPEN = 10
SECONDS = 10

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
                _do(connection, choose.randrange(9), name, number)
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
    else:
        timer = threading.Timer(0.02, connection.cancel_safe)
        timer.start()
        connection.execute("SELECT count(*) FROM generate_series(1, 100000)").fetchall()
        timer.join()


def test_a_crowd(server: Served) -> None:
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
