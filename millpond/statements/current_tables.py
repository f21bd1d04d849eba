"""Tables as a cycle of a query finds them: in folders whose paths stay, so that Spark repeats a query over the next
version."""

from __future__ import annotations

from dataclasses import replace

from millpond.relation import Relation
from millpond.run.repeated_query import RepeatedQuery
from millpond.services import Held
from millpond.spark.runner import FileInput, Input, changeable
from millpond.statements.execution import Execution

FEW_ROWS_MAX = 50_000
"""Tables of up to so many rows are read by one task: what joins or sorts them needs no shuffle then."""


def current(execution: Execution, relation: Relation) -> Relation:
    """A relation as the transaction sees it: the cycle before may have written into it."""
    return execution.transaction.relation(relation.name) or relation


def current_input(execution: Execution, repeated: RepeatedQuery, relation: Relation, held: list[Held]) -> Input:
    """The rows of a relation as the transaction sees it, and what to let go of when they have been read."""
    now = current(execution, relation)
    given = changeable(execution.input(now, held))
    if now.kind == "table" and isinstance(given, FileInput):
        rows = sum(file.rows for file in execution.transaction.files(now))
        given = replace(given, single=rows <= FEW_ROWS_MAX)
    return repeated.table(str(now.oid), given)
