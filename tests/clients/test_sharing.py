"""Clients share one server: a large result does not fill its memory, a long query holds up only Spark, and what is
canceled is gone. MILLPOND_LARGE_ROWS sets how large (2,000,000 rows; memory is the same with 10,000,000)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from millpond.wire.backend import CommandComplete
from millpond.wire.frontend import Query
from millpond.wire.startup import CancelRequest
from tests.clients.conftest import Served
from tests.clients.program import Program, running
from tests.clients.raw_client import RawClient
from tests.queries.support import wait_until

LARGE_ROWS = int(os.environ.get("MILLPOND_LARGE_ROWS", "2000000"))
GROWTH_BYTES_MAX = 200 << 20
"""What a large result may take: the pieces on their way, and what Arrow and Python keep for the next ones."""

ENDLESS = "SELECT sum(a % b) FROM generate_series(1, 2000000000) a, generate_series(1, 1000) b"
"""As many tasks as there are cores, and each goes on for hours."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the server says of errors."""
    return tmp_path_factory.mktemp("sharing") / "log"


@pytest.fixture(scope="module")
def program(log: Path) -> Iterator[Program]:
    """A server by itself, whose memory can be measured."""
    with running("--pond", str(log.parent / "pond"), log=log) as opened:
        yield opened


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT i, repeat('x', 100) AS filler FROM generate_series(1, {LARGE_ROWS}) t(i)",
        f"COPY (SELECT i, repeat('x', 100) AS filler FROM generate_series(1, {LARGE_ROWS}) t(i)) TO STDOUT",
    ],
    ids=["SELECT", "COPY"],
)
def test_a_large_result_does_not_fit_itself_into_memory(program: Program, log: Path, query: str) -> None:
    with RawClient.started(program.port) as client:
        client.query(query.replace(str(LARGE_ROWS), "10000"))
        before = most = program.memory_bytes
        client.send(Query(query))
        received = 0
        # The rows are counted by their bytes: telling messages apart would take longer than sending them.
        ended = CommandComplete(f"{query.split()[0]} {LARGE_ROWS}").encode()
        last = b""
        while ended not in last:
            data = client.socket.recv(1 << 20)
            assert data, log.read_text()[-2000:]
            last = last[-100:] + data
            received += len(data)
            most = max(most, program.memory_bytes)
    assert received > LARGE_ROWS * 100
    print(f"{received >> 20} MB received, the server grew by {(most - before) >> 20} MB")
    assert most - before < GROWTH_BYTES_MAX


def test_a_long_query_does_not_hold_up_short_ones(shared_server: Served) -> None:
    """It has all cores. Others insert, read views and run queries meanwhile, and once it is canceled it is gone."""
    with RawClient.started(shared_server.port) as long, psycopg.connect(shared_server.url, autocommit=True) as short:
        short.execute("CREATE STREAM briefly (a int)")
        short.execute("CREATE VIEW brief AS SELECT count(*) AS n FROM briefly")
        assert short.execute("SELECT n + 1 FROM brief").fetchall() == [(1,)]
        long.send(Query(ENDLESS))
        tracker = shared_server.pond.services.runner.session.sparkContext.statusTracker()
        wait_until(lambda: bool(tracker.getActiveJobsIds()), "the long query runs")
        for number in range(5):
            short.execute("INSERT INTO briefly VALUES (%s)", [number])
            assert short.execute("SELECT n + 1 FROM brief").fetchall() == [(number + 2,)]
        assert tracker.getActiveJobsIds(), "the long query goes on"
        assert long.key is not None
        with RawClient(shared_server.port) as canceling:
            canceling.socket.sendall(CancelRequest(long.key.process, long.key.secret).encode())
        wait_until(lambda: not tracker.getActiveJobsIds(), "what is canceled is gone")
