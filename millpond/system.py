"""System relations of our own: what the pond knows of itself, as tables that are made when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa

from millpond.config import Settings
from millpond.privileges.authority import Authority
from millpond.privileges.examine import may_examine
from millpond.relation import Column, Relation
from millpond.run.continuous_queries import QueryStore, is_paused
from millpond.run.continuous_query import ContinuousQuery
from millpond.run.feeds import Feeds
from millpond.run.session_view import SessionView
from millpond.run.views import ViewStore
from millpond.run.windowed_view import WindowedView
from millpond.setting import shown
from millpond.sql.parse import parse_definition
from millpond.stream_window import moment, shown_length
from millpond.streams import StreamStore
from millpond.table_history import TableHistory
from millpond.transaction import Transaction
from millpond.types import BIGINT, BOOLEAN, DOUBLE, INTEGER, TEXT, TIMESTAMPTZ, SqlType

Row = tuple[object, ...]


@dataclass(frozen=True)
class SystemContext:
    """What the rows are made of, and for whom: a role is shown only what it may use."""

    transaction: Transaction
    settings: Settings
    authority: Authority
    streams: StreamStore
    views: ViewStore
    queries: QueryStore
    feeds: Feeds
    history: TableHistory

    def relations(self, *kinds: str) -> list[Relation]:
        relations = sorted(self.transaction.relations.values(), key=lambda relation: relation.name)
        wanted = [relation for relation in relations if not kinds or relation.kind in kinds]
        return [relation for relation in wanted if self.authority.may_see(relation)]


def _streams(context: SystemContext) -> Iterable[Row]:
    for relation in context.relations("stream"):
        stats = context.streams.get(relation).stats()
        last = stats.end_tid - 1 if stats.end_tid else None
        yield (
            relation.name,
            stats.rows_in,
            stats.rate,
            stats.first_tid if stats.rows_held else None,
            last,
            stats.rows_held,
            stats.bytes_held,
            stats.segments,
            stats.durability,
            stats.capacity_rows,
            context.streams.get(relation).followers.waits,
        )


def _tables(context: SystemContext) -> Iterable[Row]:
    for relation in context.relations("table"):
        files = context.transaction.files(relation)
        rows, size = sum(file.rows for file in files), sum(file.bytes for file in files)
        yield relation.name, relation.version, len(files), rows, size


def _views(context: SystemContext) -> Iterable[Row]:
    views = {view.relation.oid: view for view in context.views.all()}
    for relation in context.relations("continuous"):
        view = views.get(relation.oid)
        if view is None:
            continue
        states = list({state.oid: state for state in view.states.values()}.values())
        parts = [part for state in states for part in state.record.parts]
        ticked = max((state.costs.last_at for state in states if state.costs.last_at), default=None)
        yield (
            relation.name,
            view.tuples_in,
            view.lag,
            sum(part.rows for part in parts),
            sum(part.bytes for part in parts),
            len(parts),
            None if ticked is None else datetime.fromtimestamp(ticked, UTC),
            sum(state.costs.runs for state in states),
            sum(state.costs.seconds for state in states) * 1000,
            view.costs.runs,
            view.costs.seconds * 1000,
            int(relation.options.get("freshness", 0)),
            None if view.error is None else view.error.message,
        )


def _windows(context: SystemContext) -> Iterable[Row]:
    views = {view.relation.oid: view for view in context.views.all() if isinstance(view, (WindowedView, SessionView))}
    for relation in context.relations("continuous"):
        view = views.get(relation.oid)
        for one in view.described() if view is not None else ():
            yield (
                relation.name,
                one.stream,
                one.window.kind,
                shown_length(one.window.size, by_rows=one.window.by_rows),
                shown_length(one.window.slide, by_rows=one.window.by_rows),
                one.window.size // one.window.step,
                one.panes,
                one.rows,
                one.bytes,
                None if one.position is None else str(one.window.value(one.position)),
                one.late_rows,
                one.evaluations,
                one.response_ms,
                one.chunks,
                one.mode,
            )


def _state(relation: Relation, query: ContinuousQuery) -> str:
    if query.record.failure:
        return "failed"
    return "ended" if query.is_over else "paused" if is_paused(relation) else "running"


def _queries(context: SystemContext) -> Iterable[Row]:
    names = {one.oid: one.name for one in context.transaction.relations.values()}
    for relation in context.relations("query"):
        query = context.queries.find(relation.oid)
        if query is None:
            continue
        record = query.record
        error = query.error or record.failure
        (place,) = record.offsets.values() if len(record.offsets) == 1 else (None,)
        yield (
            relation.name,
            _state(relation, query),
            ", ".join(sorted(names[oid] for oid in record.offsets if oid in names)),
            _targets(relation),
            place,
            query.lag,
            record.rows_in,
            record.rows_out,
            record.chunks,
            None if record.cycle is None else record.cycle.late,
            sum(part.rows for part in record.functions.values()),
            sum(part.bytes for part in record.functions.values()),
            None if error is None else error.message,
            relation.definition,
        )


def _targets(query: Relation) -> str:
    assert query.definition is not None
    return ", ".join(dict.fromkeys(insert.target.name for insert in parse_definition(query.definition).inserts))


def _cycles(context: SystemContext) -> Iterable[Row]:
    for relation in context.relations("query"):
        query = context.queries.find(relation.oid)
        for one in list(query.cycles) if query is not None else ():
            yield (
                relation.name,
                one.number,
                one.starts,
                one.ends,
                one.rows_in,
                one.rows_out,
                one.post_cut_s * 1000,
                one.early_s * 1000,
            )


def _history(context: SystemContext) -> Iterable[Row]:
    known = {one.oid: one for one in context.transaction.relations.values() if one.kind == "query"}
    seen = {oid: one.name for oid, one in known.items() if context.authority.may_see(one)}
    for relation in context.relations("table"):
        for one in context.history.entries(relation.oid, relation.version):
            query = seen.get(one.query) if one.query in known else one.query_name
            yield relation.name, one.version, moment(one.committed_us), query, one.cycle


def _subscriptions(context: SystemContext) -> Iterable[Row]:
    """Everyone sees their own, and those of the roles that they are in."""
    for one in context.feeds.subscribers():
        process, role = one.who
        if context.authority.has_role(role):
            every_ms = None if one.wishes.every_s is None else int(one.wishes.every_s * 1000)
            version = one.seen_number or None
            yield process, role, one.feed.shown, version, one.lag, one.skipped, every_ms, one.wishes.progress


def _settings(context: SystemContext) -> Iterable[Row]:
    for setting in context.settings:
        if may_examine(setting, context.authority):
            value, default = shown(context.settings.get(setting.name)), shown(setting.default)
            yield setting.name, value, setting.unit, default, setting.scope, setting.reason


@dataclass(frozen=True)
class SystemRelation:
    """A relation and the function that makes its rows."""

    relation: Relation
    rows: Callable[[SystemContext], Iterable[Row]]

    def table(self, context: SystemContext) -> pa.Table:
        """The rows as they are now."""
        rows = list(self.rows(context))
        arrays = [
            pa.array([row[index] for row in rows], column.type.arrow)
            for index, column in enumerate(self.relation.columns)
        ]
        return pa.table(arrays, schema=self.relation.arrow_schema)


def _system(
    schema: str, name: str, rows: Callable[[SystemContext], Iterable[Row]], columns: Mapping[str, SqlType]
) -> SystemRelation:
    described = tuple(Column(column, kind) for column, kind in columns.items())
    return SystemRelation(Relation(0, name, "system", described, schema=schema), rows)


_ALL = (
    _system(
        "public",
        "millpond_streams",
        _streams,
        {
            "name": TEXT,
            "rows_in": BIGINT,
            "rate": DOUBLE,
            "first_tid": BIGINT,
            "last_tid": BIGINT,
            "rows_held": BIGINT,
            "bytes": BIGINT,
            "segments": INTEGER,
            "durability": TEXT,
            "capacity": BIGINT,
            "waits": BIGINT,
        },
    ),
    _system(
        "public",
        "millpond_tables",
        _tables,
        {"name": TEXT, "version": BIGINT, "files": INTEGER, "rows": BIGINT, "bytes": BIGINT},
    ),
    _system(
        "public",
        "millpond_views",
        _views,
        {
            "name": TEXT,
            "tuples_in": BIGINT,
            "lag": BIGINT,
            "groups": BIGINT,
            "bytes": BIGINT,
            "parts": INTEGER,
            "last_tick": TIMESTAMPTZ,
            "ticks": BIGINT,
            "insert_ms": DOUBLE,
            "reads": BIGINT,
            "read_ms": DOUBLE,
            "freshness_ms": BIGINT,
            "error": TEXT,
        },
    ),
    _system(
        "public",
        "millpond_windows",
        _windows,
        {
            "view": TEXT,
            "stream": TEXT,
            "kind": TEXT,
            "size": TEXT,
            "slide": TEXT,
            "basic_windows": BIGINT,
            "kept": BIGINT,
            "groups": BIGINT,
            "bytes": BIGINT,
            "complete_to": TEXT,
            "late_rows": BIGINT,
            "evaluations": BIGINT,
            "response_ms": DOUBLE,
            "chunks": INTEGER,
            "mode": TEXT,
        },
    ),
    _system(
        "public",
        "millpond_queries",
        _queries,
        {
            "name": TEXT,
            "state": TEXT,
            "source": TEXT,
            "target": TEXT,
            "next_tid": BIGINT,
            "lag": BIGINT,
            "rows_in": BIGINT,
            "rows_out": BIGINT,
            "chunks": BIGINT,
            "late_rows": BIGINT,
            "state_rows": BIGINT,
            "state_bytes": BIGINT,
            "error": TEXT,
            "definition": TEXT,
        },
    ),
    _system(
        "public",
        "millpond_cycles",
        _cycles,
        {
            "query": TEXT,
            "cycle": BIGINT,
            "starts": TEXT,
            "ends": TEXT,
            "rows_in": BIGINT,
            "rows_out": BIGINT,
            "post_cut_ms": DOUBLE,
            "early_ms": DOUBLE,
        },
    ),
    _system(
        "public",
        "millpond_history",
        _history,
        {"name": TEXT, "version": BIGINT, "committed_at": TIMESTAMPTZ, "query": TEXT, "cycle": BIGINT},
    ),
    _system(
        "public",
        "millpond_subscriptions",
        _subscriptions,
        {
            "process": INTEGER,
            "role": TEXT,
            "subject": TEXT,
            "version": BIGINT,
            "lag": BIGINT,
            "skipped": BIGINT,
            "every_ms": BIGINT,
            "progress": BOOLEAN,
        },
    ),
    _system(
        "public",
        "millpond_settings",
        _settings,
        {"name": TEXT, "value": TEXT, "unit": TEXT, "default_value": TEXT, "scope": TEXT, "description": TEXT},
    ),
)

SYSTEM_RELATIONS: Mapping[tuple[str, str], SystemRelation] = {
    (item.relation.schema, item.relation.name): item for item in _ALL
}
"""By schema and name."""
