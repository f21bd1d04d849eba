"""System relations: what the pond knows of itself, as tables that are made when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa

from millpond.config import Settings
from millpond.cursors import Cursors
from millpond.relation import Column, Relation
from millpond.run.views import ViewStore
from millpond.setting import shown
from millpond.streams import StreamStore
from millpond.transaction import Transaction
from millpond.types import BIGINT, BOOLEAN, DOUBLE, INTEGER, TEXT, TIMESTAMPTZ, SqlType

Row = tuple[object, ...]
DATABASE = "pond"


@dataclass(frozen=True)
class SystemContext:
    """What the rows are made of."""

    transaction: Transaction
    streams: StreamStore
    views: ViewStore
    settings: Settings
    cursors: Cursors

    def relations(self, *kinds: str) -> list[Relation]:
        relations = sorted(self.transaction.relations.values(), key=lambda relation: relation.name)
        return [relation for relation in relations if not kinds or relation.kind in kinds]


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


def _settings(context: SystemContext) -> Iterable[Row]:
    for setting in context.settings:
        value, default = shown(context.settings.get(setting.name)), shown(setting.default)
        yield setting.name, value, setting.unit, default, setting.scope, setting.reason


def _cursors(context: SystemContext) -> Iterable[Row]:
    for cursor in context.cursors:
        said = cursor.statement
        yield said.name, said.text, said.hold, said.binary, said.scroll, cursor.created_at


_TABLE_TYPES = {"table": "BASE TABLE", "stream": "FOREIGN", "view": "VIEW", "continuous": "VIEW"}


def _information_tables(context: SystemContext) -> Iterable[Row]:
    for relation in context.relations():
        insertable = "YES" if relation.kind in ("table", "stream") else "NO"
        yield DATABASE, relation.schema, relation.name, _TABLE_TYPES[relation.kind], insertable


def _information_columns(context: SystemContext) -> Iterable[Row]:
    for relation in context.relations():
        for position, column in enumerate(relation.visible_columns, start=1):
            yield (
                DATABASE,
                relation.schema,
                relation.name,
                column.name,
                position,
                column.default,
                "NO" if column.not_null else "YES",
                str(SqlType(column.type.name)),
                column.type.length,
                column.type.precision,
                column.type.scale,
            )


def _information_views(context: SystemContext) -> Iterable[Row]:
    for relation in context.relations("view", "continuous"):
        yield DATABASE, relation.schema, relation.name, relation.definition


def _information_constraints(context: SystemContext) -> Iterable[Row]:
    for relation in context.relations("table"):
        for key in relation.keys:
            kind = "PRIMARY KEY" if key.primary else "UNIQUE"
            yield DATABASE, relation.schema, key.name, relation.name, kind
        for check in relation.checks:
            yield DATABASE, relation.schema, check.name, relation.name, "CHECK"


def _key_columns(context: SystemContext) -> Iterable[Row]:
    for relation in context.relations("table"):
        for key in relation.keys:
            for position, column in enumerate(key.columns, start=1):
                yield DATABASE, relation.schema, key.name, relation.name, column, position


def _check_constraints(context: SystemContext) -> Iterable[Row]:
    for relation in context.relations("table"):
        for check in relation.checks:
            yield DATABASE, relation.schema, check.name, check.expression


def _stream_options(context: SystemContext) -> Iterable[Row]:
    for relation in context.relations("stream"):
        for name, value in relation.options.items():
            yield DATABASE, relation.schema, relation.name, name, value


def _schemata(_context: SystemContext) -> Iterable[Row]:
    for schema in ("information_schema", "public"):
        yield DATABASE, schema


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


_NAME = {"table_catalog": TEXT, "table_schema": TEXT, "table_name": TEXT}
_CONSTRAINT = {"constraint_catalog": TEXT, "constraint_schema": TEXT, "constraint_name": TEXT}

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
        "millpond_settings",
        _settings,
        {"name": TEXT, "value": TEXT, "unit": TEXT, "default_value": TEXT, "scope": TEXT, "description": TEXT},
    ),
    _system(
        "information_schema", "tables", _information_tables, {**_NAME, "table_type": TEXT, "is_insertable_into": TEXT}
    ),
    _system(
        "information_schema",
        "columns",
        _information_columns,
        {
            **_NAME,
            "column_name": TEXT,
            "ordinal_position": INTEGER,
            "column_default": TEXT,
            "is_nullable": TEXT,
            "data_type": TEXT,
            "character_maximum_length": INTEGER,
            "numeric_precision": INTEGER,
            "numeric_scale": INTEGER,
        },
    ),
    _system("information_schema", "views", _information_views, {**_NAME, "view_definition": TEXT}),
    _system(
        "information_schema",
        "table_constraints",
        _information_constraints,
        {**_CONSTRAINT, "table_name": TEXT, "constraint_type": TEXT},
    ),
    _system(
        "information_schema",
        "key_column_usage",
        _key_columns,
        {**_CONSTRAINT, "table_name": TEXT, "column_name": TEXT, "ordinal_position": INTEGER},
    ),
    _system("information_schema", "check_constraints", _check_constraints, {**_CONSTRAINT, "check_clause": TEXT}),
    _system(
        "information_schema",
        "foreign_table_options",
        _stream_options,
        {
            "foreign_table_catalog": TEXT,
            "foreign_table_schema": TEXT,
            "foreign_table_name": TEXT,
            "option_name": TEXT,
            "option_value": TEXT,
        },
    ),
    _system(
        "pg_catalog",
        "pg_cursors",
        _cursors,
        {
            "name": TEXT,
            "statement": TEXT,
            "is_holdable": BOOLEAN,
            "is_binary": BOOLEAN,
            "is_scrollable": BOOLEAN,
            "creation_time": TIMESTAMPTZ,
        },
    ),
    _system("information_schema", "schemata", _schemata, {"catalog_name": TEXT, "schema_name": TEXT}),
)

SYSTEM_RELATIONS: Mapping[tuple[str, str], SystemRelation] = {
    (item.relation.schema, item.relation.name): item for item in _ALL
}
"""By schema and name."""
