"""What a chunk or a cycle of a continuous query made becomes visible, exactly once.

Steps for tables, however many; a process may die between any two of them:

1. the rows of each table are staged as files (nobody knows of them)
2. each table's new version is logged in its Delta log (nobody looks at it)
3. one catalog transaction records the versions of all tables and how far the query is: the chunk is visible
4. the query's followers advance, so that the streams may overwrite what was read

After a death before step 3 the pond undoes the first two when it opens, and the query does the chunk again; after it,
the query goes on with the next.

For a stream, which is the only target then, the rows are published with their origin, so that they tell themselves how
far the query is; the catalog learns of it afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from millpond.relation import Relation
from millpond.services import Services
from millpond.state.records import QueryRecord
from millpond.statements.continuous_plan import Planned
from millpond.statements.execution import Execution
from millpond.statements.insert import store
from millpond.stream import Origin
from millpond.values import check_not_null


def commit(execution: Execution, query: Relation, plan: Planned, rows: Sequence[pa.Table], done: QueryRecord) -> None:
    """Make visible what each branch made, together with the record of the query after it; subscribers are told of the
    rows when the query knows that this has happened."""
    if plan.emit is None:
        execution.services.queries.rows(query.oid).hold(done.chunks, rows[0])
    if plan.targets[0].kind == "stream":
        _publish(execution.services, plan.targets[0], rows[0], Origin(query.oid, done.dumps()))
        execution.services.catalog.commit_query(query.oid, done)
        return
    for target, made in zip(plan.targets, rows, strict=True):
        store(execution, target, made)
    execution.transaction.advance(query, done, plan.targets)
    execution.transaction.commit()


def _publish(services: Services, target: Relation, rows: pa.Table, origin: Origin) -> None:
    """Publish rows in a stream together with where they come from."""
    check_not_null(rows, target)
    if rows.num_rows:
        with services.streams.get(target).stage() as staged:
            staged.write(rows)
            staged.wait_for_room()
            staged.publish(origin)
