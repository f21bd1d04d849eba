"""READ ONLY transactions: which statements they refuse, by the words that PostgreSQL has for them."""

from __future__ import annotations

from typing import Any

from millpond.errors import MillpondError, SqlState
from millpond.session_settings import SessionSettings
from millpond.sql import statements as s

_WRITING: dict[type[Any], str] = {
    s.Insert: "INSERT",
    s.InsertLiterals: "INSERT",
    s.Update: "UPDATE",
    s.Delete: "DELETE",
    s.Truncate: "TRUNCATE TABLE",
    s.CreateTable: "CREATE TABLE",
    s.CreateTableAs: "CREATE TABLE AS",
    s.CreateStream: "CREATE FOREIGN TABLE",
    s.CreateView: "CREATE VIEW",
    s.CreateFunction: "CREATE FUNCTION",
    s.DropFunction: "DROP FUNCTION",
    s.RefreshView: "ALTER VIEW",
    s.RenameView: "ALTER VIEW",
    s.CreateContinuousQuery: "CREATE CONTINUOUS QUERY",
    s.AlterContinuousQuery: "ALTER CONTINUOUS QUERY",
    s.DropContinuousQuery: "DROP CONTINUOUS QUERY",
    s.AddColumn: "ALTER TABLE",
    s.CreateRole: "CREATE ROLE",
    s.AlterRole: "ALTER ROLE",
    s.DropRole: "DROP ROLE",
    s.DropOwned: "DROP OWNED",
    s.ReassignOwned: "REASSIGN OWNED",
}

_KINDS = {
    "table": "TABLE",
    "stream": "FOREIGN TABLE",
    "view": "VIEW",
    "query": "CONTINUOUS QUERY",
    "schema": "SCHEMA",
    "database": "DATABASE",
}


def check_may_run(settings: SessionSettings, statement: s.Statement) -> None:
    """Raise if the statement writes and the transaction may not."""
    command = _command(statement)
    if command is not None:
        check_may_write(settings, command)


def _command(statement: s.Statement) -> str | None:
    """What PostgreSQL calls a statement that writes."""
    match statement:
        case s.Drop():
            return f"DROP {_KINDS[statement.kind]}"
        case s.ChangeOwner():
            return f"ALTER {_KINDS[statement.kind]}"
        case s.ChangePrivileges():
            return "REVOKE" if statement.revoke else "GRANT"
        case s.ChangeMembership():
            return "REVOKE ROLE" if statement.revoke else "GRANT ROLE"
        case s.Copy() if statement.copy.direction == "from":
            return "COPY FROM"
    return _WRITING.get(type(statement))


def check_may_write(settings: SessionSettings, command: str) -> None:
    if settings.flag("transaction_read_only"):
        message = f"cannot execute {command} in a read-only transaction"
        raise MillpondError(SqlState.READ_ONLY_SQL_TRANSACTION, message)
