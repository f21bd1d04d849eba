"""Continuous views: created from a split plan, taken up when the pond opens, refreshed and verified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

import pyarrow as pa

from millpond.config import Setting
from millpond.errors import MillpondError, SqlState, closest
from millpond.plan.pipelines import SplitPlan
from millpond.plan.split import split
from millpond.relation import Column, Relation
from millpond.result import Notice, Result, ResultColumn
from millpond.run.view import ContinuousView, key_of
from millpond.run.views import streams_of
from millpond.services import Services
from millpond.spark.runner import FileInput
from millpond.sql.bind import BoundQuery
from millpond.sql.statements import CreateView, RefreshView, VerifyView
from millpond.statements.execution import Execution, Request
from millpond.types import BIGINT

VERIFY_COLUMNS = (ResultColumn("rows", BIGINT), ResultColumn("missing", BIGINT), ResultColumn("unexpected", BIGINT))
"""What VERIFY VIEW returns."""


def create(execution: Execution, statement: CreateView, bound: BoundQuery, columns: tuple[Column, ...]) -> None:
    """CREATE [OR REPLACE] VIEW on a stream: it sees the tuples that arrive after its creation, or all that are held."""
    plan = split(bound)
    execution.notices += [Notice(text) for text in plan.notices]
    options = checked_options(statement.options)
    relation = Relation(
        execution.services.catalog.new_oid(),
        statement.name.name,
        "continuous",
        columns,
        definition=statement.text,
        sees=execution.visible_to(statement.query),
        pinned={table.name: table.version for table in plan.pinned},
        options=options,
    )
    old = execution.relation(None, relation.name)
    starts = _held(execution, plan) if options.get("backfill") == "True" else {}
    put(execution, relation, old, plan, starts)


def put(
    execution: Execution, relation: Relation, old: Relation | None, plan: SplitPlan, starts: Mapping[int, int]
) -> None:
    """Make a view visible when the transaction commits; the one it replaces is there until then."""
    services, transaction = execution.services, execution.transaction
    transaction.create(relation)
    transaction.after_commit.append(
        lambda: services.views.create(relation, plan, _statics(services, relation, plan), starts)
    )
    if old is not None:
        transaction.after_commit.append(partial(services.views.drop, old.oid))


def reopen(services: Services) -> None:
    """Take up the views of a pond that is being opened, each where its committed state ends."""
    states = services.catalog.states()
    transaction = services.begin(read_only=True)
    execution = Execution(services, services.settings, transaction, "millpond-open", True, Request())
    for relation in transaction.relations.values():
        if relation.kind == "continuous":
            plan = split(execution.bind_view(relation))
            statics = _statics(services, relation, plan)
            if relation.oid in states:
                services.views.reopen(relation, plan, statics, states[relation.oid])
            else:  # the process ended after the view was committed and before it was started
                services.views.create(relation, plan, statics, {})
    transaction.rollback()


def refresh(execution: Execution, statement: RefreshView) -> Result:
    """ALTER VIEW ... REFRESH: the view anew from all it has read, with the tables as they are now."""
    relation = execution.find(statement.name, "continuous")
    view = execution.services.views.get(relation)
    _check_held(execution, view, "refresh")
    plan = split(execution.bind_view(relation))
    pinned = {table.name: table.version for table in plan.pinned}
    renewed = replace(relation, oid=execution.services.catalog.new_oid(), pinned=pinned)
    put(execution, renewed, relation, plan, view.state.starts)
    return Result("ALTER VIEW")


def verify(execution: Execution, statement: VerifyView) -> Result:
    """VERIFY VIEW: compute the view in one shot from the stream, and compare."""
    relation = execution.find(statement.name, "continuous")
    view = execution.services.views.get(relation)
    _check_held(execution, view, "verify")
    answer = execution.view_answer(relation)
    kept = answer.rows
    with ExitStack() as held:
        own: dict[str, FileInput] = {}
        for oid, stream in streams_of(view.plan).items():
            opened = execution.services.streams.get(stream)
            chunk = held.enter_context(opened.hold(view.state.starts[oid], answer.ends[oid]))
            paths = tuple(str(file.path) for file in chunk.files)
            own[stream.name] = FileInput(paths, stream.columns, is_stream=True, tids=(chunk.first, chunk.end))
        for table in view.plan.pinned:
            own[table.name] = view.statics[key_of(table)]
        computed = execution.frame(execution.bind_view(relation), own=own).collect()
    missing, extra = _difference(computed, kept), _difference(kept, computed)
    counts = [pa.array([count], pa.int64()) for count in (computed.num_rows, missing, extra)]
    result = execution.rows("VERIFY VIEW", VERIFY_COLUMNS, pa.table(counts, names=["c0", "c1", "c2"]))
    result.rows_changed = -1
    return result


def checked_options(options: Mapping[str, str]) -> dict[str, str]:
    """The WITH options of a view, each known and valid."""
    known = {
        "backfill": Setting("backfill", False, "boolean", "Starts with the tuples that the stream holds."),
        "freshness": Setting("freshness", 0, "ms", "How old an answer may be."),
    }
    checked = {}
    for name, given in options.items():
        if name not in known:
            hint = closest(name, known) or f"Valid options are: {', '.join(known)}."
            raise MillpondError(SqlState.UNDEFINED_OBJECT, f'unrecognized parameter "{name}"', hint=hint)
        checked[name] = str(known[name].parse(given))
    return checked


def _held(execution: Execution, plan: SplitPlan) -> dict[int, int]:
    """The first tuples that the streams hold."""
    streams = execution.services.streams
    return {oid: int(streams.get(stream).stats().first_tid) for oid, stream in streams_of(plan).items()}


def _check_held(execution: Execution, view: ContinuousView, verb: str) -> None:
    """Whether the streams still hold all that a view has read."""
    for oid, first in _held(execution, view.plan).items():
        start = view.state.starts[oid]
        if first > start:
            stream = streams_of(view.plan)[oid]
            raise MillpondError(
                SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                f'cannot {verb} view "{view.relation.name}"',
                detail=f'Stream "{stream.name}" no longer holds tuples {start} to {first - 1}.',
                hint="Give the stream a larger capacity, or drop and create the view.",
            )


def _difference(left: pa.Table, right: pa.Table) -> int:
    """How many rows of one table are not in the other, counting duplicates."""
    rows = Counter(zip(*(map(str, column.to_pylist()) for column in left.columns), strict=True))
    rows.subtract(Counter(zip(*(map(str, column.to_pylist()) for column in right.columns), strict=True)))
    return sum(count for count in rows.values() if count > 0)


def _statics(services: Services, relation: Relation, plan: SplitPlan) -> dict[str, FileInput]:
    """The pinned tables at the version that the view was created with."""
    inputs = {}
    for table in plan.pinned:
        files = services.tables.files_at(table.oid, relation.pinned[table.name])
        inputs[key_of(table)] = FileInput(tuple(services.tables.paths(table.oid, files)), table.columns)
    return inputs
