"""The protocol after start-up: takes a client's messages one after the other and answers each. Runs in a thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from millpond.config import SETTINGS
from millpond.errors import MillpondError, SqlState, not_supported
from millpond.server.client import Client
from millpond.server.extended_query import ExtendedQuery
from millpond.server.portal import Portal
from millpond.server.reports import as_sql_error, error_response
from millpond.server.script import known_script, read_script
from millpond.view_reads import AwaitedAnswer
from millpond.wire import frontend as f
from millpond.wire.backend import EmptyQueryResponse, NotificationResponse, ParameterStatus, ReadyForQuery
from millpond.wire.fields import violation
from millpond.wire.message import Message

_FATAL = (SqlState.PROTOCOL_VIOLATION, SqlState.CONNECTION_FAILURE, SqlState.TRANSACTION_TIMEOUT)
"""Behind these nothing that the client sends can be trusted, or nobody is there, or it is to go."""

AT_ONCE_MAX = 100
"""Messages of one client that the event loop answers before others have their turn."""


class Dialogue:
    """`ended` says that the connection is to be closed."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.ended = False
        self._extended = ExtendedQuery(client)
        self._skipping = False
        self._simple: tuple[f.Query, Portal] | None = None
        self._reported = self._report_values()
        self._handlers: Mapping[type[Message], Callable[[Any], None]] = {
            f.Query: self._query,
            f.Parse: self._extended.parse,
            f.Bind: self._extended.bind,
            f.Describe: self._extended.describe,
            f.Execute: self._extended.execute,
            f.Close: self._extended.close,
            f.Flush: lambda _message: self.client.outbox.flush(),
            f.Sync: self._sync,
            f.Terminate: self._terminate,
            # What is left of a COPY that failed is on its way still, and means nothing.
            f.CopyData: _ignore,
            f.CopyDone: _ignore,
            f.CopyFail: _ignore,
            f.FunctionCall: self._function_call,
        }

    def parameters(self) -> list[ParameterStatus]:
        """The settings that clients go by, as they are."""
        return [ParameterStatus(name, value) for name, value in self._reported.items()]

    def answer_at_once(self) -> bytes:
        """Answer what has arrived as far as that takes no time, in the event loop; the rest is for `work`."""
        inbox, outbox = self.client.inbox, self.client.outbox
        with outbox.gathering():
            for _ in range(AT_ONCE_MAX):
                message = inbox.next
                if message is None or outbox.is_full or not self._answered_at_once(message):
                    break
        return outbox.take()

    @property
    def awaited(self) -> AwaitedAnswer | None:
        """The answer that the next message waits for, after `answer_at_once`, unless only a thread can wait for it."""
        message = self.client.inbox.next
        if message is None or self._skipping or self.client.settings.integer("statement_timeout"):
            return None
        if isinstance(message, f.Query):
            return self._simple[1].awaited if self._simple is not None and self._simple[0] is message else None
        return self._extended.awaited(message)

    def refuse(self, error: MillpondError) -> bytes:
        """Answer the next message with an error, in place of what it waits for."""
        with self.client.outbox.gathering():
            message = self.client.inbox.take()
            assert message is not None
            self._fail(error, message)
        return self.client.outbox.take()

    def work(self) -> bytes:
        """Answer what has arrived; gives back what is still to be sent."""
        try:
            while not self.ended and (message := self.client.inbox.take()) is not None:
                self._answer(message)
            self._tell_notifications()
        except ConnectionError:
            self.ended = True
        except Exception as error:
            self._end(as_sql_error(error))
        if self.client.inbox.at_end:
            self.ended = True
        return self.client.outbox.take()

    def close(self) -> None:
        """Let go of what is still open."""
        self._extended.close_portals()

    # -- messages ------------------------------------------------------------------------------------------------

    def _answer(self, message: Message) -> None:
        if self._skipping and not isinstance(message, f.Sync | f.Terminate):
            return
        handler = self._handlers.get(type(message))
        if handler is None:
            raise violation(f"unexpected message type 0x{message.code.hex()}")
        self._handle(message, handler)

    def _handle(self, message: Message, handler: Callable[[Any], None]) -> None:
        try:
            handler(message)
        except ConnectionError:
            raise
        except Exception as error:
            self._fail(as_sql_error(error), message)

    def _answered_at_once(self, message: Message) -> bool:
        """Answer a message if that takes no time: what surrounds the rows of a view that has not changed."""
        if isinstance(message, f.Query):
            portal = self._ready_portal(message)
            if portal is None:
                return False
            self.client.inbox.take()
            self._handle(message, lambda _message: self._run_ready(portal))
            return True
        if not self._extended.is_ready(message):
            return False
        self.client.inbox.take()
        self._answer(message)
        return True

    def _ready_portal(self, message: f.Query) -> Portal | None:
        """A portal for a simple query that can be answered at once. Looking again, it is the one of the first time."""
        if self._simple is None or self._simple[0] is not message:
            script = known_script(message.text) or ()
            if len(script) != 1 or self._skipping:
                return None
            self._simple = (message, Portal(self.client, script[0][0], offset=script[0][1]))
        portal = self._simple[1]
        return portal if portal.take_ready() else None

    def _run_ready(self, portal: Portal) -> None:
        self._simple = None
        self._extended.forget_unnamed()
        portal.execute(alone=True, described=False)
        portal.complete()
        self._ready()

    def _query(self, message: f.Query) -> None:
        """Several statements in one text are one transaction, which ends with the last of them."""
        self._simple = None
        self._extended.forget_unnamed()
        script = read_script(message.text)
        if not script:
            self.client.outbox.add(EmptyQueryResponse())
        for number, (statement, offset) in enumerate(script, start=1):
            portal = Portal(self.client, statement, offset=offset)
            try:
                portal.execute(alone=len(script) == 1, described=False)
            finally:
                portal.close()
            if number == len(script):
                self.client.session.end_implicit(commit=True)
            portal.complete()
        self._ready()

    def _sync(self, _message: f.Sync) -> None:
        self.client.session.end_implicit(commit=not self._skipping)
        self._skipping = False
        self._ready()

    def _terminate(self, _message: f.Terminate) -> None:
        self.ended = True

    def _function_call(self, _message: f.FunctionCall) -> None:
        raise not_supported("the function call protocol", hint="Use SELECT.")

    # -- what follows --------------------------------------------------------------------------------------------

    def _ready(self) -> None:
        if self.client.session.transaction is None:
            self._extended.close_portals()
        self._report_changes()
        self._tell_notifications()
        self.client.outbox.add(ReadyForQuery(self.client.transaction_status))

    def _tell_notifications(self) -> None:
        """Pass on what has arrived, unless a transaction is open: then it waits for its end."""
        session = self.client.session
        if session.transaction is None:
            for one in session.state.mailbox.take():
                self.client.outbox.add(NotificationResponse(one.process, one.channel, one.payload))

    def _fail(self, error: MillpondError, message: Message) -> None:
        """A failed simple query is over; after a failure in a pipeline all is skipped up to its Sync."""
        session = self.client.session
        session.end_implicit(commit=False)
        if session.transaction is not None:
            session.transaction.failed = True
        if error.sqlstate in _FATAL:
            self._end(error)
            return
        self.client.outbox.add(error_response(error))
        if isinstance(message, f.Query | f.Sync | f.FunctionCall):
            self._ready()
        else:
            self._skipping = True

    def _end(self, error: MillpondError) -> None:
        self.client.outbox.add(error_response(error, fatal=True))
        self.ended = True

    def _report_values(self) -> dict[str, str]:
        reported = [setting for setting in SETTINGS.values() if setting.reported]
        values = {setting.shown_name: self.client.settings.show(setting.name) for setting in reported}
        return values | {"is_superuser": "on" if self.client.session.identity().superuser else "off"}

    def _report_changes(self) -> None:
        values = self._report_values()
        if values != self._reported:
            changed = [ParameterStatus(name, value) for name, value in values.items() if self._reported[name] != value]
            self.client.outbox.add(*changed)
            self._reported = values


def _ignore(_message: Message) -> None:
    pass
