"""The transaction that a session has open, if any: how it begins and ends, its savepoints, and what ends with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from millpond.errors import MillpondError, SqlState
from millpond.notifications import Notification, Switchboard
from millpond.result import Notice, Result
from millpond.session_settings import SettingsMark
from millpond.session_state import SessionState
from millpond.sql.session_records import (
    Begin,
    Commit,
    Release,
    Rollback,
    RollbackTo,
    Savepoint,
    SetTransaction,
)
from millpond.sql.statements import Statement
from millpond.transaction import Mark, Transaction

Control = Begin | Commit | Rollback | Savepoint | Release | RollbackTo | SetTransaction
"""The statements that are about the transaction itself."""


@dataclass(frozen=True)
class _Savepoint:
    name: str
    mark: Mark
    settings: SettingsMark
    cursors: set[str]


class TransactionBlock:
    """`transaction` is None outside of one. An implicit one is that of several statements sent together."""

    def __init__(self, begin: Callable[[], Transaction], state: SessionState, switchboard: Switchboard) -> None:
        self._begin, self._state, self._switchboard = begin, state, switchboard
        self.transaction: Transaction | None = None
        self.implicit = False
        self._began_at = 0.0
        self._savepoints: list[_Savepoint] = []
        self._settings_before = state.settings.mark()

    # -- statements --------------------------------------------------------------------------------------------

    def check_accepts(self, statement: Statement | None) -> None:
        """In a transaction that failed, nothing but its end or a way back is accepted."""
        failed = self.transaction is not None and self.transaction.failed
        if failed and statement is not None and not isinstance(statement, Commit | Rollback | RollbackTo):
            message = "current transaction is aborted, commands ignored until end of transaction block"
            raise MillpondError(SqlState.IN_FAILED_SQL_TRANSACTION, message)

    def control(self, statement: Control) -> Result:
        """Do what a statement says about the transaction."""
        self.check_accepts(statement)
        match statement:
            case Begin(modes):
                return self._begin_block(modes)
            case SetTransaction():
                return self._set_modes(statement)
            case Commit(chain) | Rollback(chain):
                return self._end_block(statement, chain=chain)
            case Savepoint(name):
                self._require_block("SAVEPOINT")
                self._savepoints.append(self._marked(name))
                return Result("SAVEPOINT")
            case Release(name):
                self._require_block("RELEASE SAVEPOINT")
                del self._savepoints[self._place_of(name) :]
                return Result("RELEASE")
            case RollbackTo(name):
                self._require_block("ROLLBACK TO SAVEPOINT")
                self._roll_back_to(self._place_of(name))
                return Result("ROLLBACK")

    # -- beginning and ending ----------------------------------------------------------------------------------

    def start(self, *, implicit: bool = False) -> Transaction:
        """Open a transaction."""
        self._settings_before = self._state.settings.mark()
        self.transaction, self.implicit = self._begin(), implicit
        self._began_at = time.monotonic()
        return self.transaction

    def seconds_left(self, limit_ms: int) -> float:
        """How much of a limit for transactions the open one has left."""
        return self._began_at + limit_ms / 1000 - time.monotonic()

    def end(self, *, commit: bool) -> None:
        """End the open transaction, if there is one; if the commit fails it is rolled back."""
        transaction, self.transaction, self.implicit = self.transaction, None, False
        if transaction is None:
            return
        committed = False
        try:
            if commit:
                self._state.cursors.keep_held()
                self.commit(transaction)
                committed = True
        finally:
            if not committed:
                transaction.rollback()
            self._forget(commit=committed)

    def commit(self, transaction: Transaction) -> None:
        """Commit, then tell those who listen."""
        sent = [Notification(channel, payload, self._state.number) for channel, payload in transaction.notifications]
        transaction.commit()
        if sent:
            self._switchboard.send(sent)

    def _forget(self, *, commit: bool) -> None:
        self._savepoints.clear()
        self._state.cursors.end_transaction(commit=commit)
        if not commit:
            self._state.settings.return_to(self._settings_before)
        self._state.settings.end_transaction()

    def _begin_block(self, modes: Mapping[str, str]) -> Result:
        notices: list[Notice] = []
        if self.transaction is None:
            self.start()
        elif self.implicit:
            self.implicit = False  # the transaction that there is, from now on by name
        else:
            notices.append(Notice("there is already a transaction in progress", "WARNING", "25001"))
        self._apply(modes)
        return Result("BEGIN", notices=notices)

    def _end_block(self, statement: Commit | Rollback, *, chain: bool) -> Result:
        tag = "COMMIT" if isinstance(statement, Commit) else "ROLLBACK"
        if self.transaction is None or (chain and self.implicit):
            if chain:
                message = f"{tag} AND CHAIN can only be used in transaction blocks"
                raise MillpondError(SqlState.NO_ACTIVE_SQL_TRANSACTION, message)
            return Result(tag, notices=[Notice("there is no transaction in progress", "WARNING", "25P01")])
        tag = "ROLLBACK" if self.transaction.failed else tag
        modes = {name: self._state.settings.show(name) for name in _MODES}
        self.end(commit=tag == "COMMIT")
        if chain:
            self.start()
            self._apply(modes)
        return Result(tag)

    # -- modes -------------------------------------------------------------------------------------------------

    def _set_modes(self, statement: SetTransaction) -> Result:
        if statement.for_session:
            for name, value in statement.modes.items():
                self._state.settings.set(name, value)
        elif self.transaction is None:
            notice = Notice("SET TRANSACTION can only be used in transaction blocks", "WARNING", "25P01")
            return Result("SET", notices=[notice])
        else:
            self._apply(statement.modes)
        return Result("SET")

    def _apply(self, modes: Mapping[str, str]) -> None:
        for name, value in modes.items():
            self._state.settings.set_local(name, value)

    # -- savepoints --------------------------------------------------------------------------------------------

    def _require_block(self, what: str) -> None:
        if self.transaction is None or self.implicit:
            message = f"{what} can only be used in transaction blocks"
            raise MillpondError(SqlState.NO_ACTIVE_SQL_TRANSACTION, message)

    def _marked(self, name: str) -> _Savepoint:
        assert self.transaction is not None
        return _Savepoint(name, self.transaction.mark(), self._state.settings.mark(), self._state.cursors.names())

    def _place_of(self, name: str) -> int:
        """The place of the newest savepoint of that name."""
        for place in range(len(self._savepoints) - 1, -1, -1):
            if self._savepoints[place].name == name:
                return place
        message = f'savepoint "{name}" does not exist'
        raise MillpondError(SqlState.INVALID_SAVEPOINT_SPECIFICATION, message)

    def _roll_back_to(self, place: int) -> None:
        """Back to a savepoint, which stays; those set after it are gone."""
        assert self.transaction is not None
        savepoint = self._savepoints[place]
        del self._savepoints[place + 1 :]
        self.transaction.return_to(savepoint.mark)
        self._state.settings.return_to(savepoint.settings)
        self._state.cursors.return_to(savepoint.cursors)


_MODES = ("transaction_isolation", "transaction_read_only", "transaction_deferrable")
