"""Reading the statements that begin, end and shape transactions."""

from __future__ import annotations

from collections.abc import Callable

from millpond.errors import not_supported
from millpond.sql.session_records import Begin, Commit, Release, Rollback, RollbackTo, Savepoint, SetTransaction
from millpond.sql.statements import Statement
from millpond.sql.tokens import TokenCursor

_ISOLATION_LEVELS = (("REPEATABLE", "READ"), ("READ", "COMMITTED"), ("READ", "UNCOMMITTED"))

_FLAGS = (
    (("READ", "ONLY"), "read_only", "on"),
    (("READ", "WRITE"), "read_only", "off"),
    (("NOT", "DEFERRABLE"), "deferrable", "off"),
    (("DEFERRABLE",), "deferrable", "on"),
)


def set_transaction(cursor: TokenCursor, *, for_session: bool) -> SetTransaction:
    """What follows SET TRANSACTION, or SET SESSION CHARACTERISTICS AS TRANSACTION."""
    if cursor.accept("SNAPSHOT"):
        raise not_supported("SET TRANSACTION SNAPSHOT")
    if cursor.at_end:
        raise cursor.error()
    return SetTransaction(_modes(cursor, "default_transaction_" if for_session else "transaction_"), for_session)


def _begin(cursor: TokenCursor) -> Statement:
    _skip_noise(cursor)
    return Begin(_modes(cursor, "transaction_"))


def _modes(cursor: TokenCursor, prefix: str) -> dict[str, str]:
    """Modes as settings: `READ ONLY` is `transaction_read_only = on`. Commas between them may be left out."""
    modes: dict[str, str] = {}
    while not cursor.at_end:
        if cursor.accept("ISOLATION", "LEVEL"):
            modes[f"{prefix}isolation"] = _isolation_level(cursor)
        else:
            found = next(((name, value) for words, name, value in _FLAGS if cursor.accept(*words)), None)
            if found is None:
                raise cursor.error()
            modes[prefix + found[0]] = found[1]
        if cursor.accept(",") and cursor.at_end:
            raise cursor.error()
    return modes


def _isolation_level(cursor: TokenCursor) -> str:
    if cursor.accept("SERIALIZABLE"):
        raise not_supported("isolation level serializable", hint="Transactions have snapshot isolation.")
    for words in _ISOLATION_LEVELS:
        if cursor.accept(*words):
            return " ".join(words).lower()
    raise cursor.error()


def _commit(cursor: TokenCursor) -> Statement:
    _skip_noise(cursor)
    return Commit(_chain(cursor))


def _rollback(cursor: TokenCursor) -> Statement:
    _skip_noise(cursor)
    if cursor.accept("TO"):
        return RollbackTo(_savepoint_name(cursor))
    return Rollback(_chain(cursor))


def _abort(cursor: TokenCursor) -> Statement:
    _skip_noise(cursor)
    return Rollback(_chain(cursor))


def _chain(cursor: TokenCursor) -> bool:
    """`AND [NO] CHAIN` at the end."""
    chain = False
    if cursor.accept("AND"):
        chain = not cursor.accept("NO")
        cursor.expect("CHAIN")
    cursor.end()
    return chain


def _savepoint(cursor: TokenCursor) -> Statement:
    name = cursor.identifier()
    cursor.end()
    return Savepoint(name)


def _release(cursor: TokenCursor) -> Statement:
    return Release(_savepoint_name(cursor))


def _savepoint_name(cursor: TokenCursor) -> str:
    cursor.accept("SAVEPOINT")
    name = cursor.identifier()
    cursor.end()
    return name


def _skip_noise(cursor: TokenCursor) -> None:
    cursor.accept("WORK") or cursor.accept("TRANSACTION")


HANDLERS: tuple[tuple[tuple[str, ...], Callable[[TokenCursor], Statement]], ...] = (
    (("BEGIN",), _begin),
    (("START", "TRANSACTION"), _begin),
    (("COMMIT",), _commit),
    (("END",), _commit),
    (("ROLLBACK",), _rollback),
    (("ABORT",), _abort),
    (("SAVEPOINT",), _savepoint),
    (("RELEASE",), _release),
)
