"""Continuous views: created from a split plan, taken up when the pond opens, refreshed and verified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from millpond.config import Setting
from millpond.errors import MillpondError, SqlState, closest
from millpond.plan.pipelines import SplitPlan
from millpond.plan.split import Choices, split
from millpond.privileges.authority import with_rights_of
from millpond.privileges.reading import check_view
from millpond.relation import Column, Relation
from millpond.result import Notice, Result
from millpond.run.statics import Statics, key_of
from millpond.run.view import ContinuousView
from millpond.run.view_plan import ViewPlan, streams_of
from millpond.services import Services
from millpond.session_state import SessionState
from millpond.spark.runner import FileInput
from millpond.sql.bind import BoundQuery
from millpond.sql.statements import CreateView, RefreshView
from millpond.state.records import ViewRecord
from millpond.statements.execution import Execution
from millpond.statements.late import create_late_streams, late_streams
from millpond.statements.request import Request
from millpond.stream_window import AgeWindow, AsOfNow

OPTIONS = {
    "backfill": Setting("backfill", False, "boolean", "Starts with the tuples that the stream holds."),
    "freshness": Setting("freshness", 0, "ms", "How old an answer may be."),
}
"""What WITH may say of any continuous view."""

WINDOW_OPTIONS = {
    "retain": Setting("retain", 1, "windows", "Complete windows that the view shows.", minimum=1),
    "max_age": Setting("max_age", 0, "ms", "The same by age: windows that begin within it.", minimum=1, intervals=True),
    "early": Setting("early", False, "boolean", "Shows the open window too, as it is so far."),
    "window_mode": Setting(
        "window_mode",
        "auto",
        "choice",
        "Whether partials of basic windows are kept, or rows; auto reads few rows anew, if that measures faster.",
        choices=("auto", "incremental", "reevaluate"),
    ),
}
"""What WITH may say of one over windows besides."""

AGE_OPTIONS = {
    "max_age": Setting(
        "max_age", 0, "ms", "How old rows may be, by the time column of their stream.", minimum=1, intervals=True
    ),
    "step": Setting("step", 0, "ms", "How often rows that are too old leave.", minimum=1, intervals=True),
}
"""What WITH may say of one whose rows grow too old."""


def choices_of(options: Mapping[str, str]) -> Choices:
    """What a view's options choose for its plan."""
    step, mode = options.get("step"), options.get("window_mode", "auto")
    step_us = None if step is None else int(AGE_OPTIONS["step"].parse(step)) * 1000
    return Choices(step_us, WINDOW_OPTIONS["window_mode"].parse(mode) == "reevaluate")


def create(execution: Execution, statement: CreateView, bound: BoundQuery, columns: tuple[Column, ...]) -> None:
    """CREATE [OR REPLACE] VIEW on a stream: it sees the tuples that arrive after its creation, or all that are held."""
    bound.check_same_for_all()
    plan = split(bound, choices=choices_of(statement.options))
    execution.notices += [Notice(text) for text in plan.notices]
    options = checked_options(statement.options, plan)
    relation = Relation(
        execution.services.catalog.new_oid(),
        statement.name.name,
        "continuous",
        columns,
        definition=statement.text,
        sees=execution.visible_to(statement.query),
        pinned={table.name: table.version for table in plan.pinned},
        options=options,
        owner=execution.authority.owner_name,
        reads=bound.reads,
    )
    old = execution.relation(None, relation.name)
    if old is not None:
        relation = with_rights_of(old, relation)
    check_view(execution.transaction, relation)
    starts = _held(execution, plan) if options.get("backfill") == "True" else {}
    put(execution, relation, old, plan, starts)


def put(
    execution: Execution, relation: Relation, old: Relation | None, plan: SplitPlan, starts: Mapping[int, int]
) -> None:
    """Make a view visible when the transaction commits; the one it replaces is there until then."""
    services, transaction = execution.services, execution.transaction
    create_late_streams(execution, plan)
    late = late_streams(transaction.relations, plan)
    transaction.create(relation)
    transaction.after_commit.append(
        lambda: services.views.create(ViewPlan(relation, plan, _statics(services, relation, plan), late), starts)
    )
    if old is not None:
        transaction.after_commit.append(partial(services.views.drop, old.oid))


def start_unnamed(execution: Execution, bound: BoundQuery) -> ContinuousView:
    """A view that no catalog knows of, from now on, until it is dropped from the store of views or the pond closes."""
    bound.check_same_for_all()
    plan, services = split(bound), execution.services
    columns = tuple(Column(column.name, column.type) for column in bound.columns)
    pinned = {table.name: table.version for table in plan.pinned}
    relation = Relation(services.catalog.new_oid(), "a subscription", "continuous", columns, pinned=pinned)
    return services.views.create(ViewPlan(relation, plan, _statics(services, relation, plan)), {})


def reopen(services: Services) -> None:
    """Take up the views of a pond that is being opened, each where its committed state ends."""
    records = services.catalog.views()
    transaction = services.begin()
    state = SessionState.of_pond(services.settings)
    execution = Execution(services, state, transaction, "millpond-open", True, Request())
    known: list[tuple[ViewPlan, ViewRecord]] = []
    unstarted: list[ViewPlan] = []
    for relation in transaction.relations.values():
        if relation.kind == "continuous":
            plan = split(execution.bind_view(relation), choices=choices_of(relation.options))
            late = late_streams(transaction.relations, plan)
            made = ViewPlan(relation, plan, _statics(services, relation, plan), late)
            if relation.oid in records:
                known.append((made, records[relation.oid]))
            else:  # the process ended after the view was committed and before it was started
                unstarted.append(made)
    transaction.rollback()
    services.views.reopen(known)
    for made in unstarted:
        services.views.create(made, {})


def refresh(execution: Execution, statement: RefreshView) -> Result:
    """ALTER VIEW ... REFRESH: the view anew from all it has read, with the tables as they are now."""
    relation = execution.find(statement.name, "continuous")
    check_view(execution.transaction, relation)
    view = execution.services.views.get(relation)
    starts = held_starts(execution, view, "refresh")
    plan = split(execution.bind_view(relation), choices=choices_of(relation.options))
    pinned = {table.name: table.version for table in plan.pinned}
    renewed = replace(relation, oid=execution.services.catalog.new_oid(), pinned=pinned)
    put(execution, renewed, relation, plan, starts)
    return Result("ALTER VIEW")


def checked_options(options: Mapping[str, str], plan: SplitPlan) -> dict[str, str]:
    """The WITH options of a view, each known and valid."""
    known = dict(OPTIONS)
    if any(not isinstance(window, AsOfNow) for window in plan.windows.values()):
        known |= WINDOW_OPTIONS
        if any(window.by_rows for window in plan.windows.values()):
            del known["max_age"]
    if any(isinstance(window, AgeWindow) for window in plan.windows.values()):
        known |= AGE_OPTIONS
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


def held_starts(execution: Execution, view: ContinuousView, verb: str) -> dict[int, int]:
    """The first tuples that a view read, which the streams must still hold."""
    starts: dict[int, int] = {}
    for oid, first in _held(execution, view.plan).items():
        start = view.record.starts[oid]
        if start is None or first > start:
            gone = "what arrived before the pond was opened" if start is None else f"tuples {start} to {first - 1}"
            raise MillpondError(
                SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                f'cannot {verb} view "{view.relation.name}"',
                detail=f'Stream "{streams_of(view.plan)[oid].name}" no longer holds {gone}.',
                hint="Give the stream a larger capacity, or drop and create the view.",
            )
        starts[oid] = start
    return starts


def _statics(services: Services, relation: Relation, plan: SplitPlan) -> Statics:
    """What a view reads below its groupings, from the tables at the version that it was created with."""
    pinned = {}
    for table in plan.pinned:
        files = services.tables.files_at(table.oid, relation.pinned[table.name])
        pinned[key_of(table)] = FileInput(tuple(services.tables.paths(table.oid, files)), table.columns)
    return Statics(pinned, plan.statics, services.runner, services.scratch)
