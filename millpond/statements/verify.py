"""VERIFY VIEW: the view computed in one shot from the tuples that it has read, compared with what it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pyarrow as pa

from millpond.plan.split import split
from millpond.plan.window_once import put_ranges, with_ages
from millpond.privileges.authority import Authority
from millpond.relation import Relation
from millpond.result import Result, ResultColumn
from millpond.run.session_view import SessionView
from millpond.run.sessions import Keeps
from millpond.run.sessions_once import SessionsOnce, sessions_in
from millpond.run.statics import key_of
from millpond.run.view import Answer, ContinuousView
from millpond.run.view_plan import streams_of
from millpond.run.windowed_view import WindowedView
from millpond.spark.runner import FileInput, Input
from millpond.sql.bind import BoundQuery
from millpond.sql.statements import VerifyView
from millpond.statements.continuous import choices_of, held_starts
from millpond.statements.execution import Execution
from millpond.statements.session_queries import axis_of, rows_of
from millpond.statements.stream_queries import input_of
from millpond.types import BIGINT

VERIFY_COLUMNS = (ResultColumn("rows", BIGINT), ResultColumn("missing", BIGINT), ResultColumn("unexpected", BIGINT))
"""What VERIFY VIEW returns."""

QUOTIENT_SCALE = 16
"""Numerics with so many decimals, or more, come from a division or a root."""


def verify(execution: Execution, statement: VerifyView) -> Result:
    """VERIFY VIEW."""
    relation = execution.find(statement.name, "continuous")
    view = execution.services.views.get(relation)
    starts = held_starts(execution, view, "verify")
    answer = execution.view_answer(relation)
    owner = Authority.of(relation.owner, execution.transaction.roles)
    with ExitStack() as held:
        own = _read_by(execution, view, starts, answer, held)
        bound = execution.bind_view(relation)
        if isinstance(view, SessionView):
            execution.check_reads(bound, own, reader=owner)
            computed = _sessions(execution, bound, view, starts, answer)
        else:
            queries = _queries(bound, relation, view, answer)
            computed = pa.concat_tables([execution.frame(query, own=own, reader=owner).collect() for query in queries])
    missing, extra = _difference(computed, answer.rows), _difference(answer.rows, computed)
    counts = [pa.array([count], pa.int64()) for count in (computed.num_rows, missing, extra)]
    result = execution.rows("VERIFY VIEW", VERIFY_COLUMNS, pa.table(counts, names=["c0", "c1", "c2"]))
    result.rows_changed = -1
    return result


def _read_by(
    execution: Execution, view: ContinuousView, starts: dict[int, int], answer: Answer, held: ExitStack
) -> dict[str, Input]:
    """The tuples that an answer is made of, and the tables that they were joined with."""
    own: dict[str, Input] = {}
    for oid, stream in streams_of(view.plan).items():
        chunk = held.enter_context(execution.services.streams.get(stream).hold(starts[oid], answer.ends[oid]))
        paths = tuple(str(file.path) for file in chunk.files)
        own[stream.name] = FileInput(paths, stream.columns, is_stream=True, tids=(chunk.first, chunk.end))
    for table in view.plan.pinned:
        own[table.name] = view.statics.pinned[key_of(table)]
    return own


def _queries(bound: BoundQuery, relation: Relation, view: ContinuousView, answer: Answer) -> list[BoundQuery]:
    """The query of a view; of one over windows, a query for each window that its answer shows."""
    if not isinstance(view, WindowedView):
        return [bound]
    of_windows = with_ages(bound, choices_of(relation.options).step_us)
    return [put_ranges(of_windows, ranges) for ranges in view.ranges_of(answer)] or [put_ranges(of_windows, None)]


def _sessions(
    execution: Execution, bound: BoundQuery, view: SessionView, starts: dict[int, int], answer: Answer
) -> pa.Table:
    """A view over sessions, which are found anew, and evaluated without what it keeps."""
    options = view.relation.options
    plan = split(bound, choices=choices_of(options))
    ((oid, relation),) = streams_of(plan).items()
    with ExitStack() as used:
        live = {key_of(one): input_of(execution, one, used) for one in plan.live}
        stream = execution.services.streams.get(relation)
        chunk = used.enter_context(stream.hold(starts[oid], answer.ends[oid]))
        found = sessions_in(plan, chunk, axis_of(plan, stream, chunk.end).delay_us, Keeps.of(options))
        shown = view.shown_of(found, view.position_of(answer))
        return rows_of(execution, SessionsOnce(plan, view.statics, live, chunk, shown))


def _difference(left: pa.Table, right: pa.Table) -> int:
    """How many rows of one table are not in the other, counting duplicates."""
    rows = Counter(_comparable(left))
    rows.subtract(Counter(_comparable(right)))
    return sum(count for count in rows.values() if count > 0)


def _comparable(rows: pa.Table) -> Iterator[tuple[str, ...]]:
    """Rows as texts. The last digits of floats, and of numerics that were divided, depend on the order of the terms."""
    return zip(*(map(_shown_by(column.type), column.to_pylist()) for column in rows.columns), strict=True)


def _shown_by(kind: pa.DataType) -> Callable[[Any], str]:
    if pa.types.is_floating(kind):
        # Rounded, so that what cancels out is zero, and added to zero, so that it is not minus zero.
        return lambda value: str(value) if value is None else f"{round(value, 12) + 0.0:.9g}"
    if pa.types.is_decimal(kind) and kind.scale >= QUOTIENT_SCALE:
        return lambda value: str(value) if value is None else f"{value:.9g}"
    return str
