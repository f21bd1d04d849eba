"""Ad hoc queries over streams that flow: what a session has set decides how long they are read, the plan how.

A query whose streams are read as they are now is none: because their timeout is 0, a snapshot was asked for, or it is
over windows, of which the newest is there.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import pyarrow as pa

from millpond.errors import MillpondError, SqlState
from millpond.plan.once import Flow, Gathered, OncePlan, plan_once
from millpond.plan.pipelines import SplitPlan
from millpond.plan.trees import has_windows
from millpond.privileges.acl import INSERT
from millpond.relation import ARRIVAL_TIMESTAMP, Relation
from millpond.run.flow import FlowingQuery
from millpond.run.gathered import GatheredStreams
from millpond.run.query import StreamQuery
from millpond.run.scans import Pace, ScanCosts, Scans
from millpond.run.statics import Statics, key_of
from millpond.spark.runner import Frame, Input, changeable
from millpond.sql.bind import BoundQuery
from millpond.stream.limit import StreamLimit
from millpond.stream.scan import EventLimit, ScanEnd, StreamScan

if TYPE_CHECKING:
    from millpond.services import Held
    from millpond.statements.execution import Execution

NO_FILES: Mapping[str, Input] = {}

FLOW_PACE = Pace(rows=50_000, patience_s=0.05, quiet_s=0.05, rows_max=250_000)
"""Rows go out soon after they came, and a client that does not read keeps few of them."""

GATHER_PACE = Pace(rows=1_000_000, patience_s=0.2, quiet_s=0.2)
"""Tuples are only held, before they are overwritten."""

SPLIT_PACE = Pace(rows=4_000_000, patience_s=4.0, quiet_s=1.0)
"""A chunk that becomes a partial is worth waiting for: a job costs much the same for few tuples as for many. A pause is
the time to work, since the stream may have ended."""


@dataclass(frozen=True)
class LiveQuery:
    """A query over streams that are read until they end, and how it can be run."""

    bound: BoundQuery
    plan: OncePlan
    ends: dict[int, ScanEnd]
    streams: dict[int, Relation]


def live_query(execution: Execution, bound: BoundQuery, own: Collection[str] = ()) -> LiveQuery | None:
    """The query as one over streams that flow, if it is one. `own` are relations for which it has been given files."""
    read = (reference.relation for reference in bound.relations)
    streams = {one.oid: one for one in read if one.kind == "stream" and one.name not in own}
    ends = {oid: scan_end(execution, stream) for oid, stream in streams.items()}
    if not streams or has_windows(bound.tree) or execution.settings.text("stream_scan") == "snapshot":
        return None
    if not _starts_late(execution) and all(end.quiet_us == 0 for end in ends.values()):
        return None
    return LiveQuery(bound, plan_once(bound), ends, streams)


def scan_end(execution: Execution, stream: Relation) -> ScanEnd:
    """What ends a scan of the stream: the session says, or the stream's own options."""
    settings = execution.settings
    limit = StreamLimit.of(settings.text("stream_limit"))
    said = settings.integer("session_timeout")
    option = stream.options.get("session_timeout")
    timeout_ms = said if said >= 0 else int(option) if option is not None else None
    if timeout_ms is None and limit == StreamLimit():
        timeout_ms = 0
    return ScanEnd(
        quiet_us=None if timeout_ms is None else timeout_ms * 1000,
        rows=limit.rows,
        lasting_us=limit.lasting_us,
        event=None if limit.watermark is None else _event_limit(stream, limit),
    )


def _event_limit(stream: Relation, limit: StreamLimit) -> EventLimit:
    """The watermark is behind the newest event by as much as rows of the stream may be late."""
    assert limit.watermark is not None
    late = timedelta(milliseconds=int(stream.options.get("watermark", 0)))
    return EventLimit(stream.options.get("timestamp", ARRIVAL_TIMESTAMP.name), limit.watermark + late)


def own_files(own: Mapping[str, Input], relation: Relation) -> Input | None:
    """The files that stand for a relation in a query, if it was given any; they are not of its past."""
    return None if relation.is_past else own.get(relation.name)


def _starts_late(execution: Execution) -> bool:
    return execution.settings.text("stream_start") == "latest"


# -- running ---------------------------------------------------------------------------------------------------------


def frame(
    execution: Execution,
    live: LiveQuery,
    own: Mapping[str, Input] = NO_FILES,
    names: Sequence[str] | None = None,
    costs: ScanCosts | None = None,
) -> Frame:
    """The answer, not computed yet, of a query whose streams have ended: this waits until they have. `own` and `names`
    are as for any query."""
    if isinstance(live.plan, SplitPlan):
        return _split_frame(execution, live, live.plan, own, names, costs)
    plan = live.plan if isinstance(live.plan, Gathered) else _gathering(live)
    with ExitStack() as used:
        scans = _scans(execution, live, GATHER_PACE, costs)
        used.callback(scans.close)
        gathered = GatheredStreams(plan, scans, execution.settings.integer("stream_rows_max"))
        used.callback(gathered.close)
        gathered.read()
        made = execution.frame_now(live.bound, {**own, **gathered.files()}, names)
        execution.services.hold_while_alive(made, [used.pop_all().close])
    scans.close()
    return made


def rows(execution: Execution, live: LiveQuery, plan: Flow, costs: ScanCosts | None = None) -> Iterator[pa.Table]:
    """The rows of a query without a grouping, as they come. The scan begins now, whenever they are read."""
    services = execution.services
    with ExitStack() as used:
        given = _given(execution, plan.query, used)
        scans = _scans(execution, live, FLOW_PACE, costs)
        used.callback(scans.close)
        directory = services.scratch / f"flow-{uuid.uuid4().hex}"
        query = FlowingQuery(plan, scans, given, services.runner, execution.tag, directory)
        used.callback(query.close)
        kept = used.pop_all()
    pieces = _pieces(query, kept)
    services.hold_while_alive(pieces, [kept.close])  # for rows that nobody begins to read
    return pieces


def _pieces(query: FlowingQuery, used: ExitStack) -> Iterator[pa.Table]:
    with used:
        yield from query.pieces()


def _gathering(live: LiveQuery) -> Gathered:
    """A flow whose rows have to be there all at once, as for storing them."""
    return Gathered(live.bound, tuple(live.streams.values()), "its rows are needed all at once")


def _split_frame(
    execution: Execution,
    live: LiveQuery,
    plan: SplitPlan,
    own: Mapping[str, Input],
    names: Sequence[str] | None,
    costs: ScanCosts | None,
) -> Frame:
    services = execution.services
    with ExitStack() as used:
        read = (*plan.pinned, *plan.live)
        pinned = {key_of(one): own_files(own, one) or input_of(execution, one, used) for one in read}
        statics = Statics(
            {key: changeable(given) for key, given in pinned.items()}, plan.statics, services.runner, services.scratch
        )
        scans = _scans(execution, live, SPLIT_PACE, costs)
        used.callback(scans.close)
        directory = services.scratch / f"query-{uuid.uuid4().hex}"
        query = StreamQuery(plan, scans, statics, services.runner, execution.tag, directory)
        used.callback(query.close)
        query.read()
        made = query.frame(names)
        services.hold_while_alive(made, [used.pop_all().close])
    scans.close()
    return made


def _scans(execution: Execution, live: LiveQuery, pace: Pace, costs: ScanCosts | None) -> Scans:
    """Begin to read all streams, or none."""
    block, from_start = execution.settings.text("on_overrun") == "block", not _starts_late(execution)
    by_stream: dict[int, StreamScan] = {}
    with ExitStack() as begun:
        for oid, relation in live.streams.items():
            if block:
                _require_writer(execution, relation)
            stream = execution.services.streams.get(relation)
            by_stream[oid] = StreamScan(stream, live.ends[oid], from_start=from_start, block=block)
            begun.callback(by_stream[oid].close)
        scans = Scans(by_stream, pace, costs or ScanCosts())
        begun.pop_all()
    return scans


def _require_writer(execution: Execution, stream: Relation) -> None:
    """Who may only read a stream must not hold up those who write into it."""
    if not execution.authority.may(INSERT, stream):
        raise MillpondError(
            SqlState.INSUFFICIENT_PRIVILEGE,
            f'permission denied to let writers of stream "{stream.name}" wait',
            detail="Only those who may insert into a stream may read it with on_overrun = 'block'.",
            hint="SET on_overrun = 'error'.",
        )


def _given(execution: Execution, bound: BoundQuery, used: ExitStack) -> dict[str, Input]:
    """Everything that a query reads but its streams, as it is now."""
    others = {one.key: one.relation for one in bound.relations if one.relation.kind != "stream"}
    return {key: changeable(input_of(execution, relation, used)) for key, relation in others.items()}


def input_of(execution: Execution, relation: Relation, used: ExitStack) -> Input:
    """A relation as it is now, until it is no longer used."""
    held: list[Held] = []
    given = execution.input(relation, held)
    for release in held:
        used.callback(release)
    return given
