"""VACUUM: removes files that no version within the retention reads; FULL rewrites a table into few files first."""

from __future__ import annotations

from millpond.errors import not_supported
from millpond.namespace import DATABASE
from millpond.relation import Relation
from millpond.result import Notice, Result
from millpond.sql.statements import Vacuum
from millpond.statements.execution import Execution
from millpond.statements.rewrite import compact


def vacuum(execution: Execution, statement: Vacuum) -> Result:
    if not execution.autocommit:
        raise not_supported("VACUUM inside a transaction block")
    if statement.name is not None:
        tables = [execution.find(statement.name, "table")]
    else:
        tables = [relation for relation in execution.transaction.relations.values() if relation.kind == "table"]
    tables = [relation for relation in tables if _may_vacuum(execution, relation)]
    # An hour more, for those who have just begun to read the oldest version that is retained.
    retained_ms = execution.settings.integer("history_retention") + 3_600_000
    retention_ms = max(execution.settings.integer("table_retention"), retained_ms)
    for relation in tables:
        if statement.full:
            compact(execution, relation)
        views = execution.transaction.relations.values()
        pinned = {view.pinned[relation.name] for view in views if relation.name in view.pinned}
        execution.services.tables.vacuum(relation.oid, retention_ms, sorted(pinned))
    return Result("VACUUM")


def _may_vacuum(execution: Execution, relation: Relation) -> bool:
    """Whether the user owns the table, or the database; else it is left out with a warning, as in PostgreSQL."""
    user = execution.authority
    if user.owns(relation) or user.owns(execution.transaction.namespaces[DATABASE]):
        return True
    execution.notices.append(Notice(f'permission denied to vacuum "{relation.name}", skipping it', "WARNING"))
    return False
