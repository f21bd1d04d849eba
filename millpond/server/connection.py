"""One connection: bytes between a socket and the messages of `Dialogue`, in the event loop but for `_transmit`.

A task reads ahead into the inbox while a thread answers, so that a COPY's data, a cancellation by closing the
connection, and pipelined messages are seen while a statement runs.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from millpond.errors import MillpondError, SqlState
from millpond.privileges.identity import Login
from millpond.server.client import Client
from millpond.server.dialogue import Dialogue
from millpond.server.idle import idle_limit
from millpond.server.inbox import Inbox
from millpond.server.outbox import Outbox
from millpond.server.reports import as_sql_error, error_response
from millpond.server.startup import Opening, read_startup
from millpond.session import Session
from millpond.wire.backend import IDLE, Authentication, BackendKeyData, ReadyForQuery
from millpond.wire.decoder import Decoder
from millpond.wire.fields import violation
from millpond.wire.message import Message
from millpond.wire.startup import CancelRequest, GssEncRequest, SslRequest, Startup

if TYPE_CHECKING:
    from millpond.server.listener import Listener

Item = TypeVar("Item")

READ_BYTES = 256 << 10
YES, NO = b"S", b"N"


class Connection:
    """Runs from accept to close. `stop` ends it when its statement has ended, `abort` at once."""

    def __init__(self, listener: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._listener, self._reader, self._writer = listener, reader, writer
        self._settings = listener.pond.services.settings
        self._decoder = Decoder(message_bytes_max=self._settings.integer("startup_message_bytes_max"))
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self._room = asyncio.Event()
        self._session: Session | None = None
        self._dialogue: Dialogue | None = None
        self._waiting = listener.waiting_reads
        self._stopping = False
        self._working = False

    async def run(self) -> None:
        try:
            await self._run()
        except TimeoutError:
            message = "canceling authentication due to timeout"
            await self._say_goodbye(MillpondError(SqlState.INVALID_AUTHORIZATION_SPECIFICATION, message))
        except (ConnectionError, ssl.SSLError):
            pass  # nobody is there to be told
        except Exception as error:
            await self._say_goodbye(as_sql_error(error))
        finally:
            self._writer.close()
            with suppress(ConnectionError, ssl.SSLError, TimeoutError):
                await self._writer.wait_closed()

    def stop(self) -> None:
        """End when the statement that runs has ended."""
        self._stopping = True
        self._woken.set()
        if self._session is None:
            self.abort()

    def cancel(self, reason: str = "canceling statement due to user request") -> None:
        """Cancel the statement that runs, if one does."""
        if self._dialogue is not None and self._waiting.is_waiting(self):
            self._waiting.leave(self)
            self._writer.write(self._dialogue.refuse(MillpondError(SqlState.QUERY_CANCELED, reason)))
            self._hand_over(self._dialogue)
        elif self._session is not None:
            self._session.interrupt(reason)

    @property
    def process(self) -> int | None:
        """The number of its session, once it has one."""
        return None if self._session is None else self._session.state.number

    def abort(self) -> None:
        """Close the socket now."""
        self._writer.transport.abort()

    # -- one who waits for the answer of a view ------------------------------------------------------------------

    def compute(self) -> None:
        """Have a thread answer."""
        self._woken.set()

    def resume(self) -> None:
        """Look again whether that takes no time now. A client that does not read needs a thread, which waits for it."""
        assert self._dialogue is not None
        if self._writer.transport.get_write_buffer_size():
            self._woken.set()
        else:
            self._writer.write(self._dialogue.answer_at_once())
            self._hand_over(self._dialogue)

    def _hand_over(self, dialogue: Dialogue) -> None:
        """What is left to answer: a read of a view waits for its next answer, all else is for a thread."""
        if self._waiting.is_waiting(self):
            self._waiting.leave(self)
        if dialogue.client.inbox.next is None and not dialogue.ended:
            return
        awaited = None if self._working or self._woken.is_set() else dialogue.awaited
        if awaited is None:
            self._woken.set()
        else:
            self._waiting.wait(awaited.view.relation.oid, self)

    # -- the start -----------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        async with asyncio.timeout(self._settings.integer("authentication_timeout") / 1000):
            startup = await self._startup()
            if startup is None:
                return
            opening = read_startup(startup)
            if opening.negotiation is not None:
                await self._send(opening.negotiation)
            self._listener.check_accepts(self)
            login = await self._listener.authenticator.identify(opening.user, self._send, self._receive)
        self._decoder.message_bytes_max = self._settings.integer("message_bytes_max")
        await self._begin(opening, login)

    async def _startup(self) -> Startup | None:
        """The start-up message, after what may come before it; None if the client wanted something else."""
        requests: set[type[object]] = set()
        while True:
            message = await self._next(self._decoder.opening)
            if isinstance(message, Startup):
                return message
            if isinstance(message, CancelRequest):
                self._listener.cancellations.cancel(message)
                return None
            assert isinstance(message, SslRequest | GssEncRequest)
            if type(message) in requests:
                raise violation("a request for encryption was repeated")
            requests.add(type(message))
            await self._answer_encryption(message)

    async def _answer_encryption(self, request: SslRequest | GssEncRequest) -> None:
        context = self._listener.tls if isinstance(request, SslRequest) else None
        if self._decoder.waiting_bytes:
            # Sent before the encryption began, by whoever is in between: it must not count as sent under it.
            raise violation("received unencrypted data after SSL request")
        self._writer.write(NO if context is None else YES)
        await self._writer.drain()
        if context is not None:
            await self._writer.start_tls(context)

    async def _begin(self, opening: Opening, login: Login) -> None:
        pond = self._listener.pond
        self._session = session = pond.new_session(login.user, trusted=login.trusted)
        key = self._listener.cancellations.register(session.state.number, self.cancel, opening.version)
        try:
            session.settings.start_with(opening.settings)
            session.identity(strict=True)
            await self._serve(session, key)
        finally:
            self._session = None
            self._listener.cancellations.forget(key)
            await self._listener.in_thread(lambda: pond.end_session(session))

    # -- the dialogue --------------------------------------------------------------------------------------------

    async def _serve(self, session: Session, key: BackendKeyData) -> None:
        inbox = Inbox(self._settings.integer("input_buffer_bytes"), self._make_room)
        outbox = Outbox(self._transmit, self._settings.integer("output_buffer_bytes"))
        dialogue = Dialogue(Client(session, inbox, outbox, self._listener.spill, self._listener.answers))
        self._dialogue = dialogue
        ready = ReadyForQuery(IDLE)
        await self._send(Authentication(), *dialogue.parameters(), key, ready)
        reading = asyncio.create_task(self._read_ahead(inbox, dialogue))
        session.state.mailbox.on_arrival = self._wake
        try:
            while not dialogue.ended:
                await self._wait_for_client(session)
                self._working = True
                if self._waiting.is_waiting(self):
                    self._waiting.leave(self)
                await self._write(await self._listener.in_thread(dialogue.work))
                self._waiting.leave(self)
                self._working = False
        finally:
            self._waiting.leave(self)
            reading.cancel()
            dialogue.close()

    async def _wait_for_client(self, session: Session) -> None:
        """Until there is something to answer or to tell. Not for ever, if a setting says so or the server stops."""
        limit = idle_limit(session)
        try:
            async with asyncio.timeout(limit.seconds if limit else None):
                await self._woken.wait()
        except TimeoutError:
            assert limit is not None
            if not self._waiting.has(self):  # it is not the client that lets us wait
                raise limit.error from None
        if self._stopping and not self._waiting.has(self):
            message = "terminating connection due to administrator command"
            raise MillpondError(SqlState.ADMIN_SHUTDOWN, message)
        self._woken.clear()

    async def _read_ahead(self, inbox: Inbox, dialogue: Dialogue) -> None:
        """Fill the inbox until the client is gone; when it is full, wait, and let the client wait.

        What takes no time is answered here, as long as no thread is at work: that spares two hand-overs.
        """
        failure: MillpondError | None = None
        try:
            while True:
                before = self._decoder.waiting_bytes
                while (message := self._decoder.message()) is not None:
                    inbox.put(message, before - self._decoder.waiting_bytes)
                    before = self._decoder.waiting_bytes
                if not self._working and not self._woken.is_set():
                    await self._write(dialogue.answer_at_once())
                self._hand_over(dialogue)
                self._room.clear()
                if inbox.is_full:
                    await self._room.wait()
                data = await self._reader.read(READ_BYTES)
                if not data:
                    break
                self._decoder.feed(data)
        except (ConnectionError, ssl.SSLError):
            pass  # gone, like one that closed
        except Exception as error:
            failure = as_sql_error(error)
        inbox.close(failure)
        self._woken.set()
        if failure is None:
            self.cancel("canceling statement because the client closed the connection")

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop has ended, and with it all connections
            self._loop.call_soon_threadsafe(self._woken.set)

    def _make_room(self) -> None:
        self._loop.call_soon_threadsafe(self._room.set)

    # -- bytes ---------------------------------------------------------------------------------------------------

    async def _next(self, read: Callable[[], Item | None]) -> Item:
        while (message := read()) is None:
            data = await self._reader.read(READ_BYTES)
            if not data:
                raise ConnectionResetError
            self._decoder.feed(data)
        return message

    async def _receive(self) -> Message:
        return await self._next(self._decoder.message)

    async def _send(self, *messages: Message) -> None:
        await self._write(b"".join(message.encode() for message in messages))

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def _transmit(self, data: bytes) -> None:
        """Called by the dialogue's thread: returns when the client has taken most of what it was sent before."""
        asyncio.run_coroutine_threadsafe(self._transmitted(data), self._loop).result()

    async def _transmitted(self, data: bytes) -> None:
        self._waiting.leave(self)  # who has something to send has its answer: others need not wait for its client
        await self._write(data)

    async def _say_goodbye(self, error: MillpondError) -> None:
        with suppress(ConnectionError, ssl.SSLError):
            await self._send(error_response(error, fatal=True))
