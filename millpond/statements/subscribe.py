"""SUBSCRIBE: the rows of a view or a query, then their changes, as long as somebody reads them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.plan.rules import check_no_session, check_rows
from millpond.plan.trees import is_raw
from millpond.privileges.authority import Authority
from millpond.privileges.identity import identify
from millpond.privileges.reading import check_reads
from millpond.relation import Relation
from millpond.result import Result, ResultColumn
from millpond.run.feed import Source
from millpond.run.subscriber import Pace, Subscriber, Wishes
from millpond.sql.bind import BoundQuery
from millpond.sql.dml import whole_relation
from millpond.sql.sqlite.translate import catalog_query
from millpond.sql.subscribe import Subscribe
from millpond.statements.continuous import start_unnamed
from millpond.statements.execution import Execution, base_relations
from millpond.statements.sources import QuerySource, StreamSource, ViewSource
from millpond.types import BIGINT, TEXT

CHANGE_COLUMNS = (ResultColumn("version", BIGINT), ResultColumn("change", TEXT))
"""What comes before the columns of the view or the query."""


@dataclass(frozen=True)
class Followed:
    """What a subscription is about: `about` is the same for those that can share a feed."""

    bound: BoundQuery
    about: Hashable
    source: Callable[[], Source]
    freshness_s: float | None = None


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
    followed = _followed(execution, statement, bound)
    settings = execution.services.settings
    interval_s = settings.integer("subscription_interval") / 1000 if not followed.freshness_s else followed.freshness_s
    pace = Pace(interval_s, settings.integer("subscription_progress_interval") / 1000)
    every_s = None if statement.every_ms is None else statement.every_ms / 1000
    wishes = Wishes(every_s, statement.version, statement.snapshot, statement.progress)
    who = (execution.state.number, execution.user)
    subscriber = execution.services.feeds.subscribe(
        followed.about, followed.source, wishes, pace, who, Authorization(execution, bound).check
    )
    return subscriber, columns_of(bound)


def bind_followed(execution: Execution, statement: Subscribe) -> BoundQuery:
    """The query, if it is one that can be followed."""
    if catalog_query(statement.query) is not None:
        raise not_supported("a subscription to system relations")
    bound = execution.bind(statement.query)
    if any(relation.kind == "system" for relation in base_relations(bound).values()):
        raise not_supported("a subscription to system relations")
    return bound


def columns_of(bound: BoundQuery) -> tuple[ResultColumn, ...]:
    return (*CHANGE_COLUMNS, *(ResultColumn(column.name, column.type) for column in bound.columns))


class Authorization:
    """Whether a subscriber may still read: asked again whenever the catalog has changed."""

    def __init__(self, execution: Execution, bound: BoundQuery) -> None:
        self._catalog, self._reads = execution.services.catalog, bound.reads
        self._login, self._settings = execution.login, execution.settings
        self._checked = execution.transaction.base.number

    def check(self) -> None:
        snapshot = self._catalog.snapshot
        if snapshot.number != self._checked:
            identity = identify(self._login, snapshot.roles, self._settings)
            check_reads(snapshot, Authority(identity.user, identity.superuser, snapshot.roles), self._reads)
            self._checked = snapshot.number


def _followed(execution: Execution, statement: Subscribe, bound: BoundQuery) -> Followed:
    """Which way a query is followed, by what it reads."""
    services, query, shown = execution.services, statement.query, statement.shown
    relations = tuple(base_relations(bound).values())
    about = (query, tuple(relation.oid for relation in relations))
    view = whole_relation(query, execution)
    if view is not None and view.kind == "continuous":
        opened = execution.open_view(view)
        freshness_s = int(view.options.get("freshness", 0)) / 1000
        shown = f'view "{view.name}"'
        return Followed(bound, view.oid, lambda: ViewSource(services, shown, opened, [view], None), freshness_s)
    shown = f'relation "{shown}"' if view is not None else "the query"
    if not any(relation.kind == "stream" for relation in relations):
        for relation in relations:
            if relation.kind == "continuous":
                execution.open_view(relation)
        bound.check_same_for_all()
        return Followed(bound, about, lambda: QuerySource(services, shown, query, bound))
    if is_raw(bound.tree):
        check_no_session(bound.tree)
        check_rows(bound.tree, kept=True)
        bound.check_same_for_all()
        return Followed(bound, about, lambda: StreamSource(services, shown, query, bound))
    return Followed(bound, about, partial(_unnamed, execution, shown, bound, relations))


def _unnamed(execution: Execution, shown: str, bound: BoundQuery, relations: tuple[Relation, ...]) -> Source:
    """A continuous view of the feed's own, for a query that groups a stream."""
    views = execution.services.views
    view = start_unnamed(execution, bound)
    return ViewSource(execution.services, shown, view, relations, partial(views.drop, view.relation.oid))
