"""A session: settings and a transaction of its own, and the way of a statement from text to result."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from millpond import interrupt, statements
from millpond.errors import MillpondError, SqlState
from millpond.notifications import Notification
from millpond.privileges.identity import SESSION_AUTHORIZATION, Identity, Login, identify
from millpond.result import Result
from millpond.services import Services
from millpond.session_settings import SessionSettings
from millpond.session_state import SessionState
from millpond.sql.parameters import Parameters, Values
from millpond.sql.parse import parse
from millpond.sql.session_records import SessionStatement, SetTransaction
from millpond.sql.split import split
from millpond.sql.statements import (
    ChangeMembership,
    ChangeOwner,
    ChangePrivileges,
    Delete,
    Insert,
    InsertLiterals,
    Query,
    Statement,
    Truncate,
    Update,
)
from millpond.statements.describe import Description, describe
from millpond.statements.execution import DEFAULT_USER, Execution
from millpond.statements.read_only import check_may_run, check_may_write
from millpond.statements.request import Request
from millpond.statements.system_catalog import SystemCatalog
from millpond.transaction import Transaction
from millpond.transaction_block import Control, TransactionBlock
from millpond.view_reads import AwaitedAnswer

RETRIES_MAX = 20
"""Times that a statement outside a transaction is run again after it lost a conflict; the losers take turns."""

CANCEL_INTERVAL_S = 0.1
"""A statement runs one Spark job after the other, and a cancellation reaches only those that run."""

RETRIED = (Insert, InsertLiterals, Update, Delete, Truncate, ChangePrivileges, ChangeMembership, ChangeOwner)
"""Statements that are run again: they mean the same on what the winner of the conflict left."""

Done = TypeVar("Done")

DEFAULT_REQUEST = Request()
_numbers = itertools.count(1)


class Session:
    """One client's state. A session serves one thread at a time; a pond has as many as are needed."""

    def __init__(self, services: Services, user: str = DEFAULT_USER, *, trusted: bool = True) -> None:
        self._services = services
        self.login = Login(user, trusted)
        self.state = SessionState.of_pond(services.settings, next(_numbers))
        self.settings.start_with({SESSION_AUTHORIZATION: user})
        self.block = TransactionBlock(services.begin, self.state, services.switchboard)
        self.tag = f"millpond-session-{self.state.number}"
        self._system_catalog = SystemCatalog(self.state.number, self.check_canceled)
        self._running: object | None = None

    @property
    def settings(self) -> SessionSettings:
        return self.state.settings

    @property
    def transaction(self) -> Transaction | None:
        """The transaction that is open, if one is."""
        return self.block.transaction

    def execute(
        self,
        text: str,
        parameters: Values | None = None,
        *,
        request: Request = DEFAULT_REQUEST,
    ) -> Result:
        """Run the statements of a text, several as one transaction, and give back the last one's result."""
        bound: Parameters | None = None
        if parameters is not None:
            text, bound = Parameters.of(text, parameters)
        sources = split(text)
        result = Result("")
        try:
            for source in sources:
                with self.statement(source.offset):
                    result = self.run(parse(source.text, bound), request, alone=len(sources) == 1)
        except BaseException:
            self.end_implicit(commit=False)
            raise
        self.end_implicit(commit=True)
        return result

    # -- statement by statement: what `execute` and the server are made of ---------------------------------------

    @contextmanager
    def statement(self, offset: int = 0) -> Iterator[None]:
        """Around one statement, from its text to its last row: the limit of its time, who canceled it, where in the
        whole text its errors are; and a transaction in which one fails has failed."""
        with self._located(offset), self._limited():
            try:
                yield
            except BaseException:
                if self.transaction is not None:
                    self.transaction.failed = True
                raise

    def run(self, statement: Statement, request: Request, *, alone: bool) -> Result:
        """Run a statement. If it is not alone it joins the implicit transaction of those around it."""
        if not alone and self.transaction is None and not _controls(statement):
            self.block.start(implicit=True)
        if isinstance(statement, Control):
            return self.block.control(statement)
        self.block.check_accepts(statement)
        if self.transaction is not None:
            return self._dispatch(statement, self.transaction, request, autocommit=False)
        return self._autocommit(statement, request)

    def ready(self, statement: Statement, awaited: AwaitedAnswer | None = None) -> Result | AwaitedAnswer | None:
        """The result of a statement outside a transaction that is there without any work; or the answer that a read of
        a view has to wait for, and then is `awaited`; None for any other statement."""
        if self.transaction is not None or not isinstance(statement, Query):
            return None
        transaction = self._services.begin()
        try:
            return self._execution(transaction, DEFAULT_REQUEST, autocommit=True).ready(statement.tree, awaited)
        finally:
            transaction.rollback()

    def end_implicit(self, *, commit: bool) -> None:
        """End the transaction that several statements shared without asking for it, if there is one."""
        if self.block.implicit and self.transaction is not None:
            with self._limited():
                self.block.end(commit=commit and not self.transaction.failed)

    def identity(self, *, strict: bool = False) -> Identity:
        """Who the session is now; with `strict`, an error if its settings name a role that it may not take."""
        return identify(self.login, self._services.catalog.snapshot.roles, self.settings, strict=strict)

    def describe(self, statement: Statement) -> Description:
        """What a statement takes and gives, as the open transaction would see it."""
        transaction = self.transaction or self._services.begin()
        try:
            return describe(self._execution(transaction, DEFAULT_REQUEST, autocommit=True), statement)
        finally:
            if transaction is not self.transaction:
                transaction.rollback()

    def check_canceled(self) -> None:
        """Raise if somebody canceled the statement that runs; for work that Spark has no part in."""
        self.state.interrupt.check()

    def notifications(self, timeout_s: float | None = None) -> Iterator[Notification]:
        """What arrives on the channels that the session listens to, until nothing has for so long."""
        return self.state.mailbox.wait(timeout_s)

    def look(self, action: Callable[[Execution], Done]) -> Done:
        """Run what is no SQL statement and only reads, by the newest state."""
        transaction = self._services.begin()
        try:
            with self.statement():
                return action(self._execution(transaction, DEFAULT_REQUEST, autocommit=True))
        finally:
            transaction.rollback()

    def run_directly(self, action: Callable[[Execution], int], command: str) -> int:
        """Run what is no SQL statement but writes like one, in the open transaction or in one of its own."""
        check_may_write(self.settings, command)
        if self.transaction is not None:
            return action(self._execution(self.transaction, Request(), autocommit=False))
        return self._in_own_transaction(lambda own: action(self._execution(own, Request(), autocommit=True)))

    def interrupt(self, reason: str = "canceling statement due to user request") -> None:
        """Cancel the statement that runs now, if one does; safe to call from another thread."""
        self._stop(MillpondError(SqlState.QUERY_CANCELED, reason))

    def _stop(self, error: MillpondError) -> None:
        running = self._running
        if running is not None:
            self.state.interrupt.ask(error)
            threading.Thread(target=self._cancel_jobs, args=[running], daemon=True).start()

    def _cancel_jobs(self, running: object) -> None:
        """Cancel the Spark jobs of a statement, also those that it has yet to start, until it ends."""
        while self._running is running:
            self._services.runner.interrupt(self.tag)
            time.sleep(CANCEL_INTERVAL_S)

    def close(self) -> None:
        self.block.end(commit=False)
        self.state.cursors.close_all()
        self._services.switchboard.unlisten(self.state.mailbox)
        self._system_catalog.close()

    # -- transactions --------------------------------------------------------------------------------------

    def _autocommit(self, statement: Statement, request: Request) -> Result:
        """A transaction for one statement. It sees the newest state, so after a lost conflict it runs again."""
        try:
            return self._attempt(statement, request)
        except MillpondError as error:
            if error.sqlstate is not SqlState.SERIALIZATION_FAILURE or not isinstance(statement, RETRIED):
                raise
        with interrupt.holding(self._services.retry_turn):
            for attempt in range(RETRIES_MAX):
                try:
                    return self._attempt(statement, request)
                except MillpondError as error:
                    if error.sqlstate is not SqlState.SERIALIZATION_FAILURE or attempt == RETRIES_MAX - 1:
                        raise
        raise AssertionError("the loop above returns or raises")

    def _attempt(self, statement: Statement, request: Request) -> Result:
        return self._in_own_transaction(lambda own: self._dispatch(statement, own, request, autocommit=True))

    def _in_own_transaction(self, action: Callable[[Transaction], Done]) -> Done:
        """Do something in a transaction that ends with it."""
        transaction, settings_before = self._services.begin(), self.settings.mark()
        try:
            done = action(transaction)
        except BaseException:
            transaction.rollback()
            self.settings.return_to(settings_before)
            raise
        finally:
            self.settings.end_transaction()
        self.block.commit(transaction)
        return done

    def _dispatch(
        self, statement: Statement, transaction: Transaction, request: Request, *, autocommit: bool
    ) -> Result:
        self._services.release_abandoned()
        check_may_run(self.settings, statement)
        self.settings.modes_decided |= not isinstance(statement, SessionStatement)
        execution = self._execution(transaction, request, autocommit=autocommit)
        result = statements.run(execution, statement)
        if not request.lazy:
            result.materialise()
        result.notices.extend(execution.notices)
        return result

    def _execution(self, transaction: Transaction, request: Request, *, autocommit: bool) -> Execution:
        made = Execution(self._services, self.state, transaction, self.tag, autocommit, request, self.login)
        made.system_catalog = self._system_catalog
        return made

    # -- errors --------------------------------------------------------------------------------------------

    @contextmanager
    def _located(self, offset: int) -> Iterator[None]:
        """Positions count from the start of the whole text."""
        try:
            yield
        except MillpondError as error:
            if error.position is not None:
                error.position += offset
            raise

    @contextmanager
    def _limited(self) -> Iterator[None]:
        """Cancel the statement when its time is up, and name the one who canceled it."""
        with self.state.interrupt.running(self.settings.integer("lock_timeout")):
            self._running, timer = object(), self._timer()
            try:
                yield
            except MillpondError as error:
                asked = self.state.interrupt.error
                if error.sqlstate is SqlState.QUERY_CANCELED and asked not in (None, error):
                    raise asked from error
                raise
            finally:
                self._running = None
                if timer is not None:
                    timer.cancel()

    def _timer(self) -> threading.Timer | None:
        """What ends the statement when its time is up, or that of its transaction."""
        limits: list[tuple[float, MillpondError]] = []
        statement_ms, transaction_ms = (self.settings.integer(name) for name in _TIMEOUTS)
        if statement_ms:
            message = "canceling statement due to statement timeout"
            limits.append((statement_ms / 1000, MillpondError(SqlState.QUERY_CANCELED, message)))
        if transaction_ms and self.transaction is not None:
            limits.append((self.block.seconds_left(transaction_ms), transaction_timeout()))
        if not limits:
            return None
        seconds, error = min(limits, key=lambda limit: limit[0])
        timer = threading.Timer(max(seconds, 0), self._stop, [error])
        timer.start()
        return timer


_TIMEOUTS = ("statement_timeout", "transaction_timeout")


def transaction_timeout() -> MillpondError:
    return MillpondError(SqlState.TRANSACTION_TIMEOUT, "terminating connection due to transaction timeout")


def _controls(statement: Statement) -> bool:
    """Whether a statement begins or ends a transaction, so that it needs none around it."""
    return isinstance(statement, Control) and not isinstance(statement, SetTransaction)
