"""How long a connection may wait for its client: inside a transaction, which holds a snapshot, and outside of one."""

from __future__ import annotations

from dataclasses import dataclass

from millpond.errors import MillpondError, SqlState
from millpond.session import Session, transaction_timeout


@dataclass(frozen=True)
class IdleLimit:
    """After so many seconds the connection ends with the error."""

    seconds: float
    error: MillpondError


def idle_limit(session: Session) -> IdleLimit | None:
    """The limit that ends first, if there is one."""
    limits = _limits(session)
    return min(limits, key=lambda limit: limit.seconds) if limits else None


def _limits(session: Session) -> list[IdleLimit]:
    settings = session.settings
    if session.transaction is None:
        idle_ms = settings.integer("idle_session_timeout")
        message = "terminating connection due to idle-session timeout"
        return [IdleLimit(idle_ms / 1000, MillpondError(SqlState.IDLE_SESSION_TIMEOUT, message))] if idle_ms else []
    limits: list[IdleLimit] = []
    idle_ms = settings.integer("idle_in_transaction_session_timeout")
    if idle_ms:
        message = "terminating connection due to idle-in-transaction timeout"
        error = MillpondError(SqlState.IDLE_IN_TRANSACTION_SESSION_TIMEOUT, message)
        limits.append(IdleLimit(idle_ms / 1000, error))
    transaction_ms = settings.integer("transaction_timeout")
    if transaction_ms:
        limits.append(IdleLimit(max(session.block.seconds_left(transaction_ms), 0), transaction_timeout()))
    return limits
