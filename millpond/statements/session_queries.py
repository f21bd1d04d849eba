"""Sessions in a query that is not a view: what a view without options would show, had it seen all that a stream holds.

That is the newest complete session of each key, without rows that came too late for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pyarrow as pa

from millpond.plan.pipelines import SplitPlan
from millpond.plan.sessions_once import sessions_once
from millpond.result import Result, ResultColumn
from millpond.run.axis import Axis, Span, new_axis
from millpond.run.sessions import Keeps, Key, Session
from millpond.run.sessions_once import SessionsOnce, sessions_in
from millpond.run.statics import Statics, key_of
from millpond.spark.runner import ArrowInput, Frame, Input, changeable, renamed
from millpond.sql.bind import BoundQuery
from millpond.statements.stream_queries import input_of, own_files
from millpond.stream import Chunk, StreamRelation
from millpond.stream_window import FOREVER

if TYPE_CHECKING:
    from millpond.statements.execution import Execution


def result(execution: Execution, bound: BoundQuery, columns: Sequence[ResultColumn]) -> Result:
    """The result of a query over sessions."""
    rows, order = _evaluated(execution, bound, {})
    if order:
        return Result("SELECT", tuple(columns), _frame=_ordered(execution, bound, rows, order, None))
    return execution.rows("SELECT", columns, rows)


def frame(execution: Execution, bound: BoundQuery, own: Mapping[str, Input], names: Sequence[str] | None) -> Frame:
    """The same as a frame, its columns c0, c1, ... or as named; `own` are files that stand for relations."""
    return _ordered(execution, bound, *_evaluated(execution, bound, own), names)


def _ordered(
    execution: Execution, bound: BoundQuery, rows: pa.Table, order: Sequence[str], names: Sequence[str] | None
) -> Frame:
    columns = ", ".join(f"c{place}" for place in range(len(bound.columns)))
    sorted_by = f" ORDER BY {', '.join(order)}" if order else ""
    name = execution.services.runner.new_name()
    text = renamed(f"SELECT {columns} FROM {name}{sorted_by}", names)
    return execution.services.runner.frame(text, {name: ArrowInput(rows)}, execution.tag)


def _evaluated(execution: Execution, bound: BoundQuery, own: Mapping[str, Input]) -> tuple[pa.Table, Sequence[str]]:
    """The rows of all sessions, and the order that is wanted of them."""
    once, services = sessions_once(bound), execution.services
    plan = once.plan
    with ExitStack() as used:
        read = (*plan.pinned, *plan.live)
        given = {key_of(one): own_files(own, one) or input_of(execution, one, used) for one in read}
        statics = Statics(
            {key: changeable(one) for key, one in given.items()}, plan.statics, services.runner, services.scratch
        )
        stream = services.streams.get(plan.groupings[0].pipelines[0].stream)
        chunk = used.enter_context(stream.hold())
        query = SessionsOnce(plan, statics, {}, chunk, _current(plan, stream, chunk))
        return rows_of(execution, query), once.order


def _current(plan: SplitPlan, stream: StreamRelation, chunk: Chunk) -> list[tuple[Key, Session]]:
    """The newest complete sessions of what a stream holds."""
    axis = axis_of(plan, stream, chunk.end)
    found = sessions_in(plan, chunk, axis.delay_us, Keeps())
    axis.span = Span(found.high, found.high) if found.high > -FOREVER else None
    position = axis.position()
    return [] if position is None else list(found.shown(position, early=False))


def axis_of(plan: SplitPlan, stream: StreamRelation, end: int) -> Axis:
    """The axis of the stream of a plan over sessions, from a tuple on."""
    line = plan.groupings[0].pipelines[0]
    assert line.window is not None
    return new_axis(stream, line.stream, line.window.column, end)


def rows_of(execution: Execution, query: SessionsOnce) -> pa.Table:
    """The rows of some sessions."""
    with execution.services.temporary_directory() as directory:
        return query.rows(execution.services.runner, execution.tag, directory)
