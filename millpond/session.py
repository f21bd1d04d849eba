"""A session: settings and a transaction of its own, and the way of a statement from text to result."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from millpond import statements
from millpond.config import Settings
from millpond.errors import MillpondError, SqlState
from millpond.result import Notice, Result
from millpond.services import Services
from millpond.sql.parameters import Parameters, Values
from millpond.sql.parse import parse, split
from millpond.sql.statements import (
    Begin,
    Commit,
    Delete,
    Insert,
    InsertLiterals,
    Rollback,
    Statement,
    Truncate,
    Update,
)
from millpond.statements.describe import Description, describe
from millpond.statements.execution import DEFAULT_USER, Execution, Request
from millpond.statements.system_catalog import SystemCatalog
from millpond.transaction import Transaction

RETRIES_MAX = 20
"""Times that a statement outside a transaction is run again after it lost a conflict; the losers take turns."""

CANCEL_INTERVAL_S = 0.1
"""A statement runs one Spark job after the other, and a cancellation reaches only those that run."""

DEFAULT_REQUEST = Request()
_numbers = itertools.count(1)


class Session:
    """One client's state. A session serves one thread at a time; a pond has as many as are needed."""

    def __init__(self, services: Services, user: str = DEFAULT_USER, *, superuser: bool = True) -> None:
        self._services = services
        self.user, self.superuser = user, superuser
        self.settings = Settings(services.settings)
        self.transaction: Transaction | None = None
        number = next(_numbers)
        self.tag = f"millpond-session-{number}"
        self._system_catalog = SystemCatalog(number, self.check_canceled)
        self._implicit = False
        self._canceled: MillpondError | None = None
        self._running: object | None = None

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
        if isinstance(statement, Begin | Commit | Rollback):
            was_implicit, self._implicit = self._implicit, False
            if isinstance(statement, Begin) and was_implicit:
                return Result("BEGIN")  # the transaction that there is, from now on by name
        elif not alone and self.transaction is None:
            self.transaction, self._implicit = self._services.begin(), True
        return self._run(statement, request)

    def end_implicit(self, *, commit: bool) -> None:
        """End the transaction that several statements shared without asking for it, if there is one."""
        if self._implicit and self.transaction is not None:
            self._end(commit=commit and not self.transaction.failed)
        self._implicit = False

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
        if self._canceled is not None:
            raise self._canceled

    def run_directly(self, action: Callable[[Execution], int]) -> int:
        """Run what is no SQL statement, in the open transaction or in one of its own."""
        if self.transaction is not None:
            return action(self._execution(self.transaction, Request(), autocommit=False))
        transaction = self._services.begin()
        try:
            done = action(self._execution(transaction, Request(), autocommit=True))
        except BaseException:
            transaction.rollback()
            raise
        transaction.commit()
        return done

    def interrupt(self, reason: str = "canceling statement due to user request") -> None:
        """Cancel the statement that runs now, if one does; safe to call from another thread."""
        running = self._running
        if running is not None:
            self._canceled = MillpondError(SqlState.QUERY_CANCELED, reason)
            threading.Thread(target=self._cancel_jobs, args=[running], daemon=True).start()

    def _cancel_jobs(self, running: object) -> None:
        """Cancel the Spark jobs of a statement, also those that it has yet to start, until it ends."""
        while self._running is running:
            self._services.runner.interrupt(self.tag)
            time.sleep(CANCEL_INTERVAL_S)

    def close(self) -> None:
        if self.transaction is not None:
            self._end(commit=False)
        self._system_catalog.close()

    # -- transactions --------------------------------------------------------------------------------------

    def _run(self, statement: Statement, request: Request) -> Result:
        if isinstance(statement, Begin | Commit | Rollback):
            return self._control(statement)
        if self.transaction is not None:
            if self.transaction.failed:
                message = "current transaction is aborted, commands ignored until end of transaction block"
                raise MillpondError(SqlState.IN_FAILED_SQL_TRANSACTION, message)
            return self._dispatch(statement, self.transaction, request, autocommit=False)
        return self._autocommit(statement, request)

    def _autocommit(self, statement: Statement, request: Request) -> Result:
        """A transaction for one statement. It sees the newest state, so after a lost conflict it runs again."""
        try:
            return self._attempt(statement, request)
        except MillpondError as error:
            again = isinstance(statement, Insert | InsertLiterals | Update | Delete | Truncate)
            if error.sqlstate is not SqlState.SERIALIZATION_FAILURE or not again:
                raise
        with self._services.retry_turn:
            for attempt in range(RETRIES_MAX):
                try:
                    return self._attempt(statement, request)
                except MillpondError as error:
                    if error.sqlstate is not SqlState.SERIALIZATION_FAILURE or attempt == RETRIES_MAX - 1:
                        raise
        raise AssertionError("the loop above returns or raises")

    def _attempt(self, statement: Statement, request: Request) -> Result:
        transaction = self._services.begin()
        try:
            result = self._dispatch(statement, transaction, request, autocommit=True)
        except BaseException:
            transaction.rollback()
            raise
        transaction.commit()
        return result

    def _dispatch(
        self, statement: Statement, transaction: Transaction, request: Request, *, autocommit: bool
    ) -> Result:
        self._services.release_abandoned()
        execution = self._execution(transaction, request, autocommit=autocommit)
        result = statements.run(execution, statement)
        if not request.lazy:
            result.materialise()
        result.notices.extend(execution.notices)
        return result

    def _execution(self, transaction: Transaction, request: Request, *, autocommit: bool) -> Execution:
        who = (self.user, self.superuser)
        made = Execution(self._services, self.settings, transaction, self.tag, autocommit, request, *who)
        made.system_catalog = self._system_catalog
        return made

    def _control(self, statement: Begin | Commit | Rollback) -> Result:
        if isinstance(statement, Begin):
            if self.transaction is not None:
                return Result("BEGIN", notices=[Notice("there is already a transaction in progress", "WARNING")])
            self.transaction = self._services.begin(read_only=statement.read_only)
            return Result("BEGIN")
        tag = "COMMIT" if isinstance(statement, Commit) else "ROLLBACK"
        if self.transaction is None:
            return Result(tag, notices=[Notice("there is no transaction in progress", "WARNING")])
        if isinstance(statement, Commit) and self.transaction.failed:
            tag = "ROLLBACK"
        self._end(commit=tag == "COMMIT")
        return Result(tag)

    def _end(self, *, commit: bool) -> None:
        assert self.transaction is not None
        transaction, self.transaction = self.transaction, None
        if commit:
            transaction.commit()
        else:
            transaction.rollback()

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
        self._canceled, self._running = None, object()
        timeout_ms = self.settings.integer("statement_timeout")
        timer = None
        if timeout_ms:
            reason = "canceling statement due to statement timeout"
            timer = threading.Timer(timeout_ms / 1000, self.interrupt, [reason])
            timer.start()
        try:
            yield
        except MillpondError as error:
            if error.sqlstate is SqlState.QUERY_CANCELED and self._canceled is not None:
                raise self._canceled from error
            raise
        finally:
            self._running = None
            if timer is not None:
                timer.cancel()
