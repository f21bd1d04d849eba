"""Queries over pg_catalog and information_schema: answered by a session's SQLite database, without Spark.

Queries that SQLite is not asked, such as joins with tables, read the same relations through Spark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import pyarrow as pa

from millpond.pgcatalog.database import CatalogDatabase
from millpond.pgcatalog.declarations import find
from millpond.pgcatalog.objects import Objects, SessionFacts
from millpond.pgcatalog.types import is_list
from millpond.relation import Column, Relation
from millpond.sql.dialect import parse_query
from millpond.sql.sqlite.translate import CatalogQuery, catalog_query
from millpond.system import SYSTEM_RELATIONS, SystemContext
from millpond.types import BIGINT, SMALLINT, TEXT, SqlType, array_of

if TYPE_CHECKING:
    from millpond.statements.execution import Execution


@dataclass(frozen=True)
class SystemCatalog:
    """A session's view of the system catalogs; `process` is its number, `check_canceled` raises if its statement is to
    end."""

    process: int = 0
    check_canceled: Callable[[], None] = lambda: None
    _database: CatalogDatabase = field(default_factory=CatalogDatabase)

    def close(self) -> None:
        self._database.close()

    def rows(self, query: CatalogQuery, execution: Execution) -> pa.Table:
        """The rows of a query as the statement's transaction sees the catalog."""
        transaction = execution.transaction
        named = (transaction.relations, transaction.namespaces)
        objects = Objects(*named, execution.authority, transaction.functions)
        version, size = str(execution.constant("version")), partial(_size, execution)
        own = (execution.settings, transaction.now, version, self.process, execution.state.cursors)
        facts = SessionFacts(*own, size)
        return self._database.query(query.text, query.columns, query.relations, objects, facts, self.check_canceled)

    def table(self, relation: Relation, execution: Execution) -> pa.Table:
        """All rows of a system relation, for Spark."""
        own = SYSTEM_RELATIONS.get((relation.schema, relation.name))
        if own is not None:
            return own.table(_context(execution))
        query = catalog_query(parse_query(f'SELECT * FROM {relation.schema}."{relation.name}"'))
        assert query is not None, "every system relation can be read"
        made = self.rows(query, execution).rename_columns([column.name for column in relation.columns])
        return made.cast(relation.arrow_schema)


def _context(execution: Execution) -> SystemContext:
    services = execution.services
    stores = (services.streams, services.views, services.queries, services.feeds, services.catalog.history)
    return SystemContext(execution.transaction, execution.settings, execution.authority, *stores)


def _size(execution: Execution, relation: Relation) -> int:
    """The bytes that a relation takes: files of a table, segments of a stream, the states of a view."""
    if relation.kind == "table":
        return sum(file.bytes for file in execution.transaction.files(relation))
    if relation.kind == "stream":
        return execution.services.streams.get(relation).stats().bytes_held
    views = (view for view in execution.services.views.all() if view.relation.oid == relation.oid)
    return sum(part.bytes for view in views for state in view.states.values() for part in state.record.parts)


def system_relation(schema: str | None, name: str) -> Relation | None:
    """A relation of pg_catalog or information_schema as Spark sees it, with types that Spark knows."""
    declared = find(schema, name)
    return None if declared is None else _relation(declared.schema, declared.name)


@lru_cache(None)
def _relation(schema: str, name: str) -> Relation:
    declared = find(schema, name)
    assert declared is not None
    columns = tuple(Column(column, _plain(kind)) for column, kind in declared.columns.items())
    return Relation(declared.oid, name, "system", columns, schema=schema)


def _plain(kind: SqlType) -> SqlType:
    if is_list(kind):
        return array_of(_plain(SMALLINT if kind.name == "int2vector" else kind.element if kind.is_array else BIGINT))
    return BIGINT if kind.name == "oid" else kind if kind.name in _KNOWN else TEXT


_KNOWN = frozenset("boolean smallint integer bigint real timestamptz interval numeric".split()) | {"double precision"}
