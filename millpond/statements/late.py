"""Streams of late rows: made with the first view that needs one, found again by the next, dropped with their stream."""

from __future__ import annotations

from collections.abc import Mapping

from millpond.late_streams import keeps_late, late_stream, new_late_stream, source_of
from millpond.plan.pipelines import SplitPlan
from millpond.relation import ARRIVAL_TIMESTAMP, TID, Relation
from millpond.statements.execution import Execution
from millpond.stream_window import AsOfNow


def create_late_streams(execution: Execution, plan: SplitPlan) -> None:
    """Make the streams for late rows that a view over windows needs and that are not there yet."""
    transaction, services = execution.transaction, execution.services
    for stream in _streams_with_late_rows(plan):
        if late_stream(transaction.relations, stream) is None:
            made = new_late_stream(services.catalog.new_oid(), stream, transaction.relations)
            transaction.create(made)
            services.streams.get(made)


def late_streams(relations: Mapping[str, Relation], plan: SplitPlan) -> dict[int, Relation]:
    """The streams for the late rows of the streams, by oid, over which a view has windows."""
    found = {stream.oid: late_stream(relations, stream) for stream in _streams_with_late_rows(plan)}
    return {oid: late for oid, late in found.items() if late is not None}


def with_late_stream(execution: Execution, relation: Relation) -> list[Relation]:
    """A relation and, if it is a stream that has one, the stream of its late rows: they go together."""
    late = late_stream(execution.transaction.relations, relation) if relation.kind == "stream" else None
    return [relation] if late is None else [relation, late]


def writers_of(execution: Execution, relation: Relation) -> list[Relation]:
    """The views whose late rows go to a stream."""
    relations = execution.transaction.relations
    if relation.kind != "stream" or source_of(relations, relation) is None:
        return []
    oids = execution.services.views.late.writers_of(relation.oid)
    return [one for one in relations.values() if one.oid in oids]


def _streams_with_late_rows(plan: SplitPlan) -> list[Relation]:
    """Streams that have windows of events, unless they want no late rows."""
    lines = [line for grouping in plan.groupings for line in grouping.pipelines]
    found = {
        line.stream.oid: line.stream
        for line in lines
        if line.window is not None
        and not isinstance(line.window, AsOfNow)
        and line.window.column not in (TID.name, ARRIVAL_TIMESTAMP.name)
    }
    return [stream for stream in found.values() if keeps_late(stream)]
