"""What a statement takes and gives, without running it: the types of its parameters, the columns of its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from millpond.result import ResultColumn
from millpond.sql import session_records as r
from millpond.sql import statements as s
from millpond.sql.bind import BoundQuery
from millpond.sql.dml import alias_of, delete_hits, insert_source, returning_query, update_hits
from millpond.sql.prepared import decided_types
from millpond.sql.sqlite.translate import catalog_query
from millpond.sql.subscribe import Subscribe, version_query
from millpond.statements.change import change_target
from millpond.statements.copy import copied_columns
from millpond.statements.execution import Execution
from millpond.statements.explain import EXPLAIN_COLUMNS
from millpond.statements.insert import insertable, target_columns
from millpond.statements.settings import show_columns
from millpond.statements.subscribe import bind_followed, columns_of
from millpond.statements.verify import VERIFY_COLUMNS
from millpond.types import SqlType


@dataclass(frozen=True)
class Description:
    """`columns` is None for a statement that returns no rows; `parameters` are the types of those it decides;
    `copied` is the number of columns that COPY reads or writes."""

    columns: tuple[ResultColumn, ...] | None = None
    parameters: Mapping[int, SqlType] = field(default_factory=dict)
    copied: int = 0


def describe(execution: Execution, statement: s.Statement) -> Description:
    """What the statement takes and gives; raises what is wrong with its names and types."""
    handler = _HANDLERS.get(type(statement))
    return Description() if handler is None else handler(execution, statement)


def _query(execution: Execution, statement: s.Query) -> Description:
    about_catalog = catalog_query(statement.tree)
    if about_catalog is not None:
        columns = tuple(ResultColumn(*column) for column in about_catalog.columns)
        return Description(columns, about_catalog.parameters)
    bound = execution.bind(statement.tree)
    return _described(bound, returned=bound)


def _insert(execution: Execution, statement: s.Insert) -> Description:
    relation = insertable(execution, statement.target)
    targets = None if statement.columns is None else target_columns(relation, statement.columns)
    source = insert_source(statement.source, relation, targets, execution)
    if not statement.returning:
        return _described(source)
    query = returning_query(relation, statement.target_alias, statement.returning)
    return _described(source, returned=execution.bind(query))


def _change(execution: Execution, statement: s.Update | s.Delete) -> Description:
    relation = change_target(execution, statement)
    if isinstance(statement, s.Update):
        hits = update_hits(statement.tree, relation, execution)
    else:
        hits = delete_hits(statement.tree, relation, execution)
    outputs = statement.tree.args.get("returning")
    if not outputs:
        return _described(hits)
    query = returning_query(relation, alias_of(statement.tree), outputs.expressions)
    return _described(hits, returned=execution.bind(query))


def _subscribe(execution: Execution, statement: Subscribe) -> Description:
    """A version in AS OF is decided on like a value for a bigint column."""
    bound = bind_followed(execution, statement)
    trees = [bound.tree] if statement.as_of is None else [bound.tree, execution.bind(version_query(statement)).tree]
    return Description(columns_of(bound), decided_types(trees))


def _declare(execution: Execution, statement: r.DeclareCursor) -> Description:
    if isinstance(statement.query, Subscribe):
        return replace(_subscribe(execution, statement.query), columns=None)
    return _described(execution.bind(statement.query))


def _fetch(execution: Execution, statement: r.Fetch) -> Description:
    return Description() if statement.is_move else Description(execution.state.cursors.get(statement.cursor).columns)


def _described(bound: BoundQuery, *, returned: BoundQuery | None = None) -> Description:
    columns = None if returned is None else tuple(ResultColumn(one.name, one.type) for one in returned.columns)
    trees = [bound.tree] if returned is None else [bound.tree, returned.tree]
    return Description(columns, decided_types(trees))


_HANDLERS: Mapping[type[Any], Callable[[Execution, Any], Description]] = {
    s.Query: _query,
    s.Insert: _insert,
    s.Update: _change,
    s.Delete: _change,
    s.Copy: lambda execution, statement: Description(copied=copied_columns(execution, statement)),
    Subscribe: _subscribe,
    s.Explain: lambda _execution, _statement: Description(EXPLAIN_COLUMNS),
    s.ExplainSplit: lambda _execution, _statement: Description(EXPLAIN_COLUMNS),
    s.ExplainContinuousQuery: lambda _execution, _statement: Description(EXPLAIN_COLUMNS),
    s.VerifyView: lambda _execution, _statement: Description(VERIFY_COLUMNS),
    r.ShowSetting: lambda execution, statement: Description(show_columns(execution, statement)),
    r.DeclareCursor: _declare,
    r.Fetch: _fetch,
}
