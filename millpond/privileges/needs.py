"""What each statement needs: one table, asked once for every statement that runs.

What a query reads is asked for where it meets its data (`reading.py`); here is what a statement does besides. A name
that does not exist, or is of the wrong kind, is left for the statement itself to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from millpond.errors import InternalError, MillpondError, SqlState
from millpond.namespace import PUBLIC_SCHEMA, Namespace
from millpond.privileges.acl import CREATE, DELETE, INSERT, SELECT, TRUNCATE, UPDATE, USAGE
from millpond.privileges.reading import check_view
from millpond.relation import Relation
from millpond.sql import session_records as r
from millpond.sql import statements as s
from millpond.sql.dml import assigned_columns
from millpond.sql.subscribe import Subscribe

if TYPE_CHECKING:
    from millpond.statements.execution import Execution

Check = Callable[["Execution", Any], None]


def check(execution: Execution, statement: s.Statement) -> None:
    """Raise unless the user may do what a statement says."""
    needed = NEEDS.get(type(statement))
    if needed is None:
        raise InternalError(f"nobody said what {type(statement).__name__} needs")
    if not execution.superuser:
        needed(execution, statement)


def require(execution: Execution, letter: str, name: s.Name, columns: Collection[str] | None = ()) -> None:
    """Raise unless the user has a privilege on a relation, or on the columns; None are all that it has."""
    relation = _find(execution, name)
    if relation is None:
        return
    wanted = [column.name for column in relation.visible_columns] if columns is None else columns
    execution.authority.require(USAGE, _schema(execution))
    execution.authority.require(letter, relation, wanted)


def _find(execution: Execution, name: s.Name) -> Relation | None:
    """The relation, unless it is one of the system, on which nobody has such privileges."""
    relation = execution.relation(name.schema, name.name)
    return None if relation is None or relation.kind == "system" else relation


def _schema(execution: Execution) -> Namespace:
    return execution.transaction.namespaces[PUBLIC_SCHEMA]


# -- kinds of needs -------------------------------------------------------------------------------------------------


def _nothing(_execution: Execution, _statement: object) -> None:
    """Anyone may; what a query reads is checked where it meets its data."""


def _by_itself(_execution: Execution, _statement: object) -> None:
    """The statement is about rights, and checks its own rules."""


def _create(execution: Execution, _statement: object) -> None:
    execution.authority.require(CREATE, _schema(execution))


def _superuser(_execution: Execution, statement: s.CreateFunction | s.DropFunction) -> None:
    """What a function does, it does with the rights of the server's own process."""
    verb = "create or replace" if isinstance(statement, s.CreateFunction) else "drop"
    message = f"permission denied to {verb} function {statement.name.name}"
    detail = "Only superusers may define functions in Python."
    raise MillpondError(SqlState.INSUFFICIENT_PRIVILEGE, message, detail=detail, position=statement.name.position)


def _create_view(execution: Execution, statement: s.CreateView) -> None:
    _create(execution, statement)
    existing = _find(execution, statement.name)
    if existing is not None and statement.or_replace:
        execution.authority.require_ownership(existing)


def _create_query(execution: Execution, statement: s.CreateContinuousQuery) -> None:
    """Who creates a query inserts by it; what it reads is checked when its INSERTs are known."""
    _create(execution, statement)
    for insert in statement.defined.inserts:
        require(execution, INSERT, insert.target, insert.columns)
    if statement.or_replace:
        _own_query(execution, statement.name)


def _own_query(execution: Execution, name: s.Name) -> None:
    query = execution.transaction.relation(name.name)
    if query is not None and query.kind == "query":
        execution.authority.require_ownership(query)


def _alter_query(execution: Execution, statement: s.AlterContinuousQuery) -> None:
    _own_query(execution, statement.name)
    if statement.action == "rename":
        _create(execution, statement)


def _drop_query(execution: Execution, statement: s.DropContinuousQuery) -> None:
    if not execution.authority.owns(_schema(execution)):
        for name in statement.names:
            _own_query(execution, name)


def _own(execution: Execution, name: s.Name) -> None:
    relation = _find(execution, name)
    if relation is not None:
        execution.authority.require_ownership(relation)


def _rename(execution: Execution, statement: s.RenameView) -> None:
    _own(execution, statement.name)
    _create(execution, statement)


def _drop(execution: Execution, statement: s.Drop) -> None:
    """The owner of a relation may drop it, and so may the owner of the schema."""
    if not execution.authority.owns(_schema(execution)):
        for name in statement.names:
            _own(execution, name)


def _copy(execution: Execution, statement: s.Copy) -> None:
    """COPY ... TO is a query."""
    said = statement.copy
    if said.direction == "from":
        assert said.table is not None
        require(execution, INSERT, s.Name(said.table, said.schema), said.columns)


def _truncate(execution: Execution, statement: s.Truncate) -> None:
    for name in statement.names:
        require(execution, TRUNCATE, name)


def _kept(execution: Execution, name: s.Name) -> None:
    """To look into a view one has to be allowed to read it."""
    require(execution, SELECT, name)
    relation = _find(execution, name)
    if relation is not None:
        check_view(execution.transaction, relation)


def _explain_split(execution: Execution, statement: s.ExplainSplit) -> None:
    if statement.view is not None:
        _kept(execution, statement.view)


NEEDS: Mapping[type[Any], Check] = {
    s.Query: _nothing,
    s.Explain: _nothing,
    Subscribe: _nothing,
    s.ExplainSplit: _explain_split,
    s.Insert: lambda execution, said: require(execution, INSERT, said.target, said.columns),
    s.InsertLiterals: lambda execution, said: require(execution, INSERT, said.target, said.values.columns),
    s.Update: lambda execution, said: require(execution, UPDATE, said.target, assigned_columns(said.tree)),
    s.Delete: lambda execution, said: require(execution, DELETE, said.target),
    s.Truncate: _truncate,
    s.Copy: _copy,
    s.CreateTable: _create,
    s.CreateTableAs: _create,
    s.CreateStream: _create,
    s.CreateView: _create_view,
    s.CreateFunction: _superuser,
    s.DropFunction: _superuser,
    s.AddColumn: lambda execution, said: _own(execution, said.table),
    s.RenameView: _rename,
    s.CreateContinuousQuery: _create_query,
    s.AlterContinuousQuery: _alter_query,
    s.DropContinuousQuery: _drop_query,
    s.ExplainContinuousQuery: lambda execution, said: _own_query(execution, said.name),
    s.RefreshView: lambda execution, said: _own(execution, said.name),
    s.VerifyView: lambda execution, said: _kept(execution, said.name),
    s.Drop: _drop,
    s.Vacuum: _by_itself,
    s.CreateRole: _by_itself,
    s.AlterRole: _by_itself,
    s.DropRole: _by_itself,
    s.ChangePrivileges: _by_itself,
    s.ChangeMembership: _by_itself,
    s.ChangeOwner: _by_itself,
    s.DropOwned: _by_itself,
    s.ReassignOwned: _by_itself,
    r.SetSetting: _by_itself,
    r.ShowSetting: _nothing,
    r.ResetSetting: _nothing,
    r.Deallocate: _nothing,
    r.Discard: _nothing,
    r.DeclareCursor: _nothing,
    r.Fetch: _nothing,
    r.CloseCursor: _nothing,
    r.Listen: _nothing,
    r.Unlisten: _nothing,
    r.Notify: _nothing,
}
"""What each kind of statement needs."""
