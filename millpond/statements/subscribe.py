"""SUBSCRIBE: the rows of a view or a query, then their changes, as long as somebody reads them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.plan.rules import check_no_session, check_rows
from millpond.plan.trees import has_windows, is_raw
from millpond.privileges.authority import Authority
from millpond.privileges.identity import identify
from millpond.privileges.reading import check_reads
from millpond.relation import Relation
from millpond.result import Result, ResultColumn
from millpond.run.feed import Source
from millpond.run.feeds import Subject
from millpond.run.subscriber import Pace, Subscriber, Wishes
from millpond.sql.bind import BoundQuery, bind_definition
from millpond.sql.dml import columns_query, whole_name, whole_relation
from millpond.sql.sqlite.translate import catalog_query
from millpond.sql.subscribe import Subscribe
from millpond.statements.continuous import start_unnamed
from millpond.statements.continuous_plan import plan_again
from millpond.statements.continuous_queries import find
from millpond.statements.execution import Execution, base_relations
from millpond.statements.sources import QueryRowsSource, QuerySource, StreamSource, ViewSource
from millpond.types import BIGINT, TEXT

CHANGE_COLUMNS = (ResultColumn("version", BIGINT), ResultColumn("change", TEXT))
"""What comes before the columns of the view or the query."""


def subscribe(execution: Execution, statement: Subscribe) -> Result:
    """The rows as they come, for a client that reads them so."""
    if not execution.request.remote:
        message = "SUBSCRIBE has no end, so that its result cannot be returned"
        hint = "Use Pond.subscribe(), a cursor, or COPY (SUBSCRIBE ...) TO STDOUT."
        raise MillpondError(SqlState.FEATURE_NOT_SUPPORTED, message, hint=hint)
    subscriber, columns = open_subscription(execution, statement)
    return Result("SUBSCRIBE", columns, _rest=subscriber.pieces())


def open_subscription(execution: Execution, statement: Subscribe) -> tuple[Subscriber, tuple[ResultColumn, ...]]:
    """A subscriber that its caller has to close, and the columns of what it gives."""
    bound = bind_followed(execution, statement)
    execution.check_reads(bound)
    subject = _subject(execution, statement, bound)
    every_s = None if statement.every_ms is None else statement.every_ms / 1000
    wishes = Wishes(every_s, statement.version, statement.snapshot, statement.progress)
    who = (execution.state.number, execution.user)
    authorize = Authorization(execution, bound).check
    subscriber = execution.services.feeds.subscribe(subject, wishes, _pace(execution, statement), who, authorize)
    return subscriber, columns_of(bound)


def bind_followed(execution: Execution, statement: Subscribe) -> BoundQuery:
    """The query, if it is one that can be followed. The rows of a continuous query are those that it makes."""
    made_by = _continuous_query(execution, statement)
    if made_by is not None:
        return _made(execution, made_by).bound
    if catalog_query(statement.query) is not None:
        raise not_supported("a subscription to system relations")
    bound = bind_definition(statement.query, execution)
    if any(relation.kind == "system" for relation in base_relations(bound).values()):
        raise not_supported("a subscription to system relations")
    return bound


def columns_of(bound: BoundQuery) -> tuple[ResultColumn, ...]:
    return (*CHANGE_COLUMNS, *(ResultColumn(column.name, column.type) for column in bound.columns))


class Authorization:
    """Whether a subscriber may still read: asked again whenever the catalog has changed. What is read is known by its
    oid, since it may get another name."""

    def __init__(self, execution: Execution, bound: BoundQuery) -> None:
        self._catalog, self._reads = execution.services.catalog, bound.reads
        self._login, self._settings = execution.login, execution.settings
        self._oids = {relation.name: relation.oid for relation in execution.transaction.relations.values()}
        self._checked = execution.transaction.base.number

    def check(self) -> None:
        snapshot = self._catalog.snapshot
        if snapshot.number == self._checked:
            return
        names = {relation.oid: relation.name for relation in snapshot.relations.values()}
        reads = [replace(read, relation=names.get(self._oids[read.relation], "")) for read in self._reads]
        identity = identify(self._login, snapshot.roles, self._settings)
        check_reads(snapshot, Authority(identity.user, identity.superuser, snapshot.roles), reads)
        self._checked = snapshot.number


def _pace(execution: Execution, statement: Subscribe) -> Pace:
    """A view of a certain freshness is as fresh for its subscribers."""
    settings = execution.services.settings
    view = whole_relation(statement.query, execution)
    interval_ms = int(view.options.get("freshness", 0)) if view is not None else 0
    interval_ms = interval_ms or settings.integer("subscription_interval")
    return Pace(interval_ms / 1000, settings.integer("subscription_progress_interval") / 1000)


def _subject(execution: Execution, statement: Subscribe, bound: BoundQuery) -> Subject:
    """Which way a query is followed, by what it reads."""
    services, query = execution.services, statement.query
    made_by = _continuous_query(execution, statement)
    if made_by is not None:
        made, shown = _made(execution, made_by), f'continuous query "{made_by.name}"'
        source = partial(QueryRowsSource, services, made_by, made.columns, made.target)
        return Subject((made_by.oid, made_by.definition), shown, source)
    whole = whole_relation(query, execution)
    shown = "the query" if whole is None else f'{whole.kind.replace("continuous", "view")} "{whole.name}"'
    relations = tuple(base_relations(bound).values())
    opened = {relation.oid: execution.open_view(relation) for relation in relations if relation.kind == "continuous"}
    if whole is not None and whole.kind == "continuous":
        return Subject(whole.oid, shown, lambda: ViewSource(services, opened[whole.oid], relations))
    bound.check_same_for_all()
    about = (query, tuple(relation.oid for relation in relations))
    if not any(relation.kind == "stream" for relation in relations):
        return Subject(about, shown, lambda: QuerySource(services, query, bound))
    if is_raw(bound.tree) and not has_windows(bound.tree):
        check_no_session(bound.tree)
        check_rows(bound.tree, kept=True)
        return Subject(about, shown, lambda: StreamSource(services, query, bound))
    return Subject(about, shown, partial(_unnamed, execution, bound, relations))


def _continuous_query(execution: Execution, statement: Subscribe) -> Relation | None:
    """The continuous query that is subscribed to, if it is one."""
    name = whole_name(statement.query)
    return None if name is None else find(execution, name)


@dataclass(frozen=True)
class _Made:
    """The rows that a continuous query makes for subscribers: what it emits, or else what its only target gets."""

    bound: BoundQuery
    columns: pa.Schema
    target: Relation | None


def _made(execution: Execution, query: Relation) -> _Made:
    plan = plan_again(execution, query)
    if plan.emit is not None:
        return _Made(plan.emit.written, plan.emit.schema, None)
    if len(plan.targets) > 1:
        what = f'a subscription to continuous query "{query.name}", which writes several tables and emits nothing,'
        raise not_supported(what, hint="Subscribe to one of its tables, or let it EMIT rows.")
    (target,) = plan.targets
    bound = execution.bind(columns_query(target, target.visible_columns))
    return _Made(bound, target.arrow_schema, target)


def _unnamed(execution: Execution, bound: BoundQuery, relations: tuple[Relation, ...]) -> Source:
    """A continuous view of the feed's own, for a query that groups a stream."""
    views = execution.services.views
    view = start_unnamed(execution, bound)
    return ViewSource(execution.services, view, relations, partial(views.drop, view.relation.oid))
