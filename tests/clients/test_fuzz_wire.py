"""Malformed sessions against a server: it does not crash, hang, grow or fail internally, and others work meanwhile.

MILLPOND_FUZZ_MESSAGES sets how many messages are sent (10,000; `make fuzz-wire` sends 1,000,000), MILLPOND_FUZZ_SEED
which ones: attack number n of a seed is always the same.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import psycopg
import pytest

from millpond.errors import MillpondError
from millpond.wire.backend import BACKEND, ErrorResponse
from millpond.wire.decoder import Decoder
from tests.clients.program import Program, running
from tests.clients.wire_mutations import SETUP, Attack, attack

MESSAGES = int(os.environ.get("MILLPOND_FUZZ_MESSAGES", "10000"))
SEED = int(os.environ.get("MILLPOND_FUZZ_SEED", "1"))

AT_ONCE = 8
HANG_S = 5.0
GROWTH_BYTES_MAX = 200 << 20
"""How much the server may grow: buffers of several connections, Python's and Arrow's pools; not with each message."""


@dataclass
class Outcome:
    """What came of all attacks."""

    messages: int = 0
    sqlstates: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


@dataclass
class Healthy:
    """A client that does nothing wrong; `longest_s` is what it waited at most."""

    queries: int = 0
    longest_s: float = 0.0


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with running("--pond", str(tmp_path / "pond"), log=tmp_path / "log") as opened:
        yield opened


def test_malformed_sessions(program: Program, tmp_path: Path) -> None:
    print(f"MILLPOND_FUZZ_SEED={SEED}")
    with psycopg.connect(program.url, autocommit=True) as connection:
        for statement in SETUP:
            connection.execute(statement.encode())
    asyncio.run(_attacks(program.port, range(100), Outcome(), MESSAGES))
    before = program.memory_bytes
    outcome = Outcome()
    with _healthy(program.url) as healthy:
        asyncio.run(_attacks(program.port, range(100, 100 + MESSAGES), outcome, MESSAGES))
    grown = program.memory_bytes - before
    shown = f"with MILLPOND_FUZZ_SEED={SEED}; the log says {(tmp_path / 'log').read_text()[-3000:]}"
    print(f"{outcome.messages} messages, {dict(outcome.sqlstates)}, grown by {grown >> 20} MB, {healthy}")
    assert outcome.wrong == [], shown
    assert "XX000" not in outcome.sqlstates, shown
    assert outcome.messages >= MESSAGES
    assert program.process.poll() is None, shown
    assert healthy.queries > 10
    assert healthy.longest_s < HANG_S
    assert grown < GROWTH_BYTES_MAX


async def _attacks(port: int, numbers: range, outcome: Outcome, messages_max: int) -> None:
    """Several clients that take the next attack, until enough was sent."""
    left = iter(numbers)

    async def client() -> None:
        for number in left:
            if outcome.messages >= messages_max or outcome.wrong:
                return
            given = attack(Random(f"{SEED}-{number}"))
            outcome.messages += given.messages
            try:
                await _send(port, given, outcome)
            except Exception as error:
                outcome.wrong.append(f"attack {number}: {error!r}")

    await asyncio.gather(*(client() for _ in range(AT_ONCE)))


async def _send(port: int, given: Attack, outcome: Outcome) -> None:
    """Send all, say that nothing follows, and see the server close the connection. It may do so earlier."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        answers = asyncio.create_task(_answers(reader, outcome) if given.reads else asyncio.sleep(0))
        try:
            for piece in given.pieces:
                writer.write(piece)
                await asyncio.sleep(given.pace_s)
            if given.reads:
                writer.write_eof()
        except OSError:
            pass  # closed by the server, whose answer says why
        await answers
    finally:
        writer.transport.abort()


async def _answers(reader: asyncio.StreamReader, outcome: Outcome) -> None:
    decoder = Decoder(BACKEND)
    first = True
    while True:
        try:
            data = await asyncio.wait_for(reader.read(1 << 16), HANG_S)
        except ConnectionError:
            return
        if not data:
            return
        # Requests for encryption are answered by single bytes, which no message begins with.
        decoder.feed(data.lstrip(b"N") if first and data[:1] == b"N" else data)
        first = first and not data.strip(b"N")
        try:
            while (message := decoder.message()) is not None:
                if isinstance(message, ErrorResponse):
                    outcome.sqlstates[message.report["C"]] += 1
        except MillpondError as error:
            raise AssertionError(f"the server sent what is no message: {data[:100]!r}") from error


@contextmanager
def _healthy(url: str) -> Iterator[Healthy]:
    """Somebody who works all the time."""
    healthy, ended = Healthy(), threading.Event()

    def work() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            while not ended.wait(0.02):
                started = time.monotonic()
                connection.execute("INSERT INTO fuzzed VALUES (%s, 'healthy')", [healthy.queries])
                assert len(connection.execute("SELECT * FROM fuzz_view").fetchall()) == 3
                healthy.longest_s = max(healthy.longest_s, time.monotonic() - started)
                healthy.queries += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield healthy
    finally:
        ended.set()
        thread.join(timeout=60)
