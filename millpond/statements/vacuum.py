"""VACUUM: removes files that no version within the retention reads; FULL rewrites a table into few files first."""

from __future__ import annotations

from millpond.errors import not_supported
from millpond.result import Result
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
    retention_ms = execution.settings.integer("table_retention")
    for relation in tables:
        if statement.full:
            compact(execution, relation)
        views = execution.transaction.relations.values()
        pinned = {view.pinned[relation.name] for view in views if relation.name in view.pinned}
        execution.services.tables.vacuum(relation.oid, retention_ms, sorted(pinned))
    return Result("VACUUM")
