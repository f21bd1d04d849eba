"""The listener: accepts connections, knows those that are open, and ends them in good order."""

from __future__ import annotations

import asyncio
import shutil
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from millpond.errors import MillpondError, SqlState
from millpond.pond import Pond
from millpond.server.authentication import Authenticator
from millpond.server.cancellation import Cancellations
from millpond.server.connection import Connection
from millpond.server.encoded_answers import EncodedAnswers
from millpond.server.waiting_reads import WaitingReads

DRAIN_S = 4.0
"""How long statements that run when the server stops may go on."""

CANCEL_S = 3.0
"""How long they then have to notice that they are canceled."""

HALF_OPEN_MAX = 100
"""Connections beyond the limit that may be telling who they are, so that one that cancels gets through."""

Done = TypeVar("Done")


class Listener:
    """A server for one pond. There are as many threads as connections: none waits for another's client."""

    def __init__(self, pond: Pond, tls: ssl.SSLContext | None = None) -> None:
        self.pond, self.tls = pond, tls
        self.authenticator = Authenticator(pond.services.catalog)
        self.cancellations = Cancellations()
        self.answers = EncodedAnswers()
        self.waiting_reads = WaitingReads()
        self.spill = pond.path / "results"
        self._connections_max = pond.services.settings.integer("max_connections")
        self._threads = ThreadPoolExecutor(self._connections_max + HALF_OPEN_MAX, thread_name_prefix="statement")
        self._connections: dict[Connection, asyncio.Task[None]] = {}
        self._accepted: set[Connection] = set()
        self._server: asyncio.Server | None = None
        shutil.rmtree(self.spill, ignore_errors=True)
        self.spill.mkdir()

    async def start(self, host: str, port: int) -> int:
        """Listen; gives back the port, which the system chooses if 0 was asked for."""
        self._server = await asyncio.start_server(self._connected, host, port, backlog=self._connections_max)
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    async def stop(self) -> None:
        """Accept nobody any more, let statements end, then cancel them, then close what is left."""
        if self._server is not None:
            self._server.close()
        for connection in self._connections:
            connection.stop()
        self._end_subscriptions()
        await self._wait(DRAIN_S)
        for connection in self._connections:
            connection.cancel("canceling statement because the server stops")
        await self._wait(CANCEL_S)
        for connection in self._connections:
            connection.abort()
        await self._wait(1.0)
        self._threads.shutdown(wait=False, cancel_futures=True)
        shutil.rmtree(self.spill, ignore_errors=True)

    def _end_subscriptions(self) -> None:
        """Other statements may end by themselves; these would not."""
        own = {connection.process for connection in self._connections}
        message = "terminating connection due to administrator command"
        for subscriber in self.pond.services.feeds.subscribers():
            if subscriber.who[0] in own:
                subscriber.end(MillpondError(SqlState.ADMIN_SHUTDOWN, message))

    def check_accepts(self, connection: Connection) -> None:
        """Take a connection in, or raise if there are too many."""
        if len(self._accepted) >= self._connections_max:
            message = "sorry, too many clients already"
            hint = "Raise max_connections, or use fewer connections."
            raise MillpondError(SqlState.TOO_MANY_CONNECTIONS, message, hint=hint)
        self._accepted.add(connection)

    async def in_thread(self, work: Callable[[], Done]) -> Done:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(self, reader, writer)
        if len(self._connections) >= self._connections_max + HALF_OPEN_MAX:
            connection.abort()
            return
        task = asyncio.current_task()
        assert task is not None
        self._connections[connection] = task
        try:
            await connection.run()
        finally:
            del self._connections[connection]
            self._accepted.discard(connection)

    async def _wait(self, seconds: float) -> None:
        if self._connections:
            await asyncio.wait(self._connections.values(), timeout=seconds)
