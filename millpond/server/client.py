"""One client, as the code that answers it sees it: its session, what it sent, what it is sent, and where rows wait."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from pathlib import Path

from millpond.result import Notice
from millpond.server.encoded_answers import EncodedAnswers
from millpond.server.inbox import Inbox
from millpond.server.outbox import Outbox
from millpond.server.prepared import Prepared
from millpond.server.reports import is_wanted, notice_response
from millpond.session import Session
from millpond.session_settings import SessionSettings
from millpond.sql.statements import Statement
from millpond.statements.request import no_prepared_statement
from millpond.wire.backend import FAILED, IDLE, IN_TRANSACTION


@dataclass(frozen=True)
class Client:
    """`spill` is the directory for results too large for memory, `answers` is what all clients share of views' rows,
    `prepared` are its prepared statements by name."""

    session: Session
    inbox: Inbox
    outbox: Outbox
    spill: Path
    answers: EncodedAnswers
    prepared: dict[str, Prepared] = field(default_factory=dict)

    @property
    def settings(self) -> SessionSettings:
        return self.session.settings

    @property
    def transaction_status(self) -> bytes:
        """The state of the transaction, as ReadyForQuery tells it."""
        transaction = self.session.transaction
        if transaction is None:
            return IDLE
        return FAILED if transaction.failed else IN_TRANSACTION

    def check_transaction(self, statement: Statement | None) -> None:
        """In a transaction that failed, nothing but its end or a way back is accepted."""
        self.session.block.check_accepts(statement)

    def spill_directory(self) -> Path:
        """A path that is free, for one result."""
        return self.spill / uuid.uuid4().hex

    def deallocate(self, name: str | None) -> None:
        """Forget a prepared statement, or (None) all of them."""
        if name is None:
            self.prepared.clear()
        elif self.prepared.pop(name, None) is None:
            no_prepared_statement(name)

    def notify(self, notices: list[Notice]) -> None:
        level = self.settings.text("client_min_messages")
        self.outbox.add(*(notice_response(notice) for notice in notices if is_wanted(notice, level)))
