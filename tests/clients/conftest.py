"""A server in this process, on a free port of loopback, that clients connect to."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from millpond import Pond


@dataclass(frozen=True)
class Served:
    """A pond and where it is served."""

    pond: Pond
    host: str
    port: int

    @property
    def url(self) -> str:
        return f"postgresql://tester@{self.host}:{self.port}/pond"


@contextmanager
def serving(pond: Pond, tls: ssl.SSLContext | None = None) -> Iterator[Served]:
    """Serve a pond as long as the block runs."""
    from millpond.server.listener import Listener

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    listener = Listener(pond, tls)
    port = asyncio.run_coroutine_threadsafe(listener.start("127.0.0.1", 0), loop).result()
    try:
        yield Served(pond, "127.0.0.1", port)
    finally:
        asyncio.run_coroutine_threadsafe(listener.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def server(pond: Pond) -> Iterator[Served]:
    """A server of the test's own, with an empty pond."""
    with serving(pond) as served:
        yield served


@pytest.fixture(scope="module")
def shared_server(shared_spark: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server for the tests of a file, which use names of their own."""
    import millpond

    with (
        millpond.connect(tmp_path_factory.mktemp("clients") / "pond", master="local[2]") as pond,
        serving(pond) as served,
    ):
        yield served
