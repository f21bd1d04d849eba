"""The extended protocol: statements are parsed, bound to values, described and executed by messages of their own.

All between two Syncs is one transaction unless the client opened one itself. A single statement right before its
Sync is alone in it, and runs as if it had come by the simple protocol.
"""

from __future__ import annotations

from millpond.errors import MillpondError, SqlState
from millpond.server.bulk_insert import Repetition, insert_together, repetitions
from millpond.server.client import Client
from millpond.server.portal import Portal
from millpond.server.prepared import Prepared, prepare
from millpond.server.script import known_script
from millpond.server.types import BINARY_FORMAT, TEXT_FORMAT, field_of
from millpond.sql.statements import Query
from millpond.view_reads import AwaitedAnswer
from millpond.wire.backend import (
    BindComplete,
    CloseComplete,
    EmptyQueryResponse,
    NoData,
    ParameterDescription,
    ParseComplete,
    RowDescription,
)
from millpond.wire.frontend import Bind, Close, Describe, Execute, Parse, Sync
from millpond.wire.message import Message

UNNAMED = ""


class ExtendedQuery:
    """A client's prepared statements and portals; a portal of None is one of an empty statement."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._statements = client.prepared
        self._portals: dict[str, Portal | None] = {}
        self._inserts: dict[str, Bind] = {}
        self._cursors = client.session.state.cursors
        self._cursors.portals = self._portals

    # -- one method for each message -----------------------------------------------------------------------------

    def parse(self, message: Parse) -> None:
        if message.name != UNNAMED and message.name in self._statements:
            text = f'prepared statement "{message.name}" already exists'
            raise MillpondError(SqlState.DUPLICATE_PREPARED_STATEMENT, text)
        self._statements.pop(message.name, None)
        with self._client.session.statement():
            prepared = prepare(message.name, message.text, message.types)
            self._client.check_transaction(prepared.statement)
        self._statements[message.name] = prepared
        self._client.outbox.add(ParseComplete())

    def bind(self, message: Bind) -> None:
        prepared = self._statement(message.statement)
        if message.portal != UNNAMED:
            self._cursors.check_free(message.portal)
        self._close_portal(message.portal)
        with self._client.session.statement(prepared.offset):
            self._client.check_transaction(prepared.statement)
            statement = prepared.with_values(message.values, message.formats, self._client.session)
        portal = None
        if statement is not None:
            portal = Portal(self._client, statement, message.result_formats, prepared.offset)
        self._portals[message.portal] = portal
        if prepared.template is not None:
            self._inserts[message.portal] = message
        self._client.outbox.add(BindComplete())

    def describe(self, message: Describe) -> None:
        if message.kind == b"S":
            self._describe_statement(self._statement(message.name))
            return
        if message.name in self._cursors:
            cursor = self._cursors.get(message.name)
            format = BINARY_FORMAT if cursor.statement.binary else TEXT_FORMAT
            self._client.outbox.add(RowDescription(tuple(field_of(column, format) for column in cursor.columns)))
            return
        portal = self._portal(message.name)
        if portal is None:
            self._client.outbox.add(NoData())
        else:
            portal.describe()

    def execute(self, message: Execute) -> None:
        portal = self._portal(message.portal)
        if portal is None:
            self._client.outbox.add(EmptyQueryResponse())
            return
        bind = self._inserts.pop(message.portal, None)
        if bind is not None and self._insert_together(bind):
            return
        portal.execute(message.rows_max, alone=self._ends_pipeline())
        portal.complete()

    def close(self, message: Close) -> None:
        if message.kind == b"S":
            self._statements.pop(message.name, None)
        elif message.name in self._cursors:
            self._cursors.close(message.name)
        else:
            self._close_portal(message.name)
        self._client.outbox.add(CloseComplete())

    def is_ready(self, message: Message) -> bool:
        """Whether a message can be answered without any work or waiting."""
        match message:
            case Sync():
                return self._client.session.transaction is None
            case Parse(text=text, types=()):
                return known_script(text) is not None
            case Bind(statement=name, values=()):
                prepared = self._statements.get(name)
                return prepared is not None and not prepared.oids and isinstance(prepared.statement, Query)
            case Describe(kind=b"P", name=name) | Execute(portal=name, rows_max=0):
                portal = self._portals.get(name)
                return portal is not None and portal.take_ready()
        return False

    def awaited(self, message: Message) -> AwaitedAnswer | None:
        """What a message that is not ready waits for, if it is a view's next answer."""
        match message:
            case Describe(kind=b"P", name=name) | Execute(portal=name, rows_max=0):
                portal = self._portals.get(name)
                return None if portal is None else portal.awaited
        return None

    # -- the rest ------------------------------------------------------------------------------------------------

    def forget_unnamed(self) -> None:
        """A simple query makes the unnamed statement and portal invalid."""
        self._statements.pop(UNNAMED, None)
        self._close_portal(UNNAMED)

    def close_portals(self) -> None:
        """Portals live as long as their transaction."""
        for name in list(self._portals):
            self._close_portal(name)

    def _describe_statement(self, prepared: Prepared) -> None:
        session = self._client.session
        with session.statement(prepared.offset):
            self._client.check_transaction(prepared.statement)
            oids, columns = prepared.describe(session)
        self._client.outbox.add(ParameterDescription(oids))
        if columns is None:
            self._client.outbox.add(NoData())
        else:
            self._client.outbox.add(RowDescription(tuple(field_of(column, TEXT_FORMAT) for column in columns)))

    def _statement(self, name: str) -> Prepared:
        prepared = self._statements.get(name)
        if prepared is None:
            shown = f'prepared statement "{name}"' if name else "unnamed prepared statement"
            raise MillpondError(SqlState.INVALID_SQL_STATEMENT_NAME, f"{shown} does not exist")
        return prepared

    def _portal(self, name: str) -> Portal | None:
        if name not in self._portals:
            raise MillpondError(SqlState.INVALID_CURSOR_NAME, f'portal "{name}" does not exist')
        return self._portals[name]

    def _insert_together(self, bind: Bind) -> bool:
        """Run an INSERT and its repetitions as one, if there are any."""
        repeated = repetitions(self._client.inbox, bind)
        inserts = [Repetition(bind), *repeated]
        return bool(repeated) and insert_together(self._client, self._statement(bind.statement), inserts)

    def _ends_pipeline(self) -> bool:
        return any(isinstance(message, Sync) for message in self._client.inbox.ahead(1))

    def _close_portal(self, name: str) -> None:
        self._inserts.pop(name, None)
        portal = self._portals.pop(name, None)
        if portal is not None:
            portal.close()
