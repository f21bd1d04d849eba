"""A catalog without a pond: the relations of `tests.clients.plant`, and queries over the system catalogs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pyarrow as pa

from millpond.config import Settings
from millpond.cursors import Cursors
from millpond.namespace import NAMESPACES
from millpond.pgcatalog.database import CatalogDatabase
from millpond.pgcatalog.objects import Objects, SessionFacts
from millpond.privileges.authority import Authority
from millpond.relation import STREAM_COLUMNS, Check, Column, Key, Relation
from millpond.roles import Role
from millpond.session_settings import SessionSettings
from millpond.sql.parameters import Parameters, TypedText
from millpond.sql.parse import parse
from millpond.sql.sqlite.translate import CatalogQuery, catalog_query
from millpond.sql.statements import Query
from millpond.types import BIGINT, INTEGER, TEXT, TIMESTAMPTZ, numeric, varchar

STATION = Relation(
    16384,
    "station",
    "table",
    (
        Column("id", INTEGER, not_null=True),
        Column("plant", TEXT, not_null=True),
        Column("location", TEXT, default="'unknown'"),
        Column("supplier", varchar(20)),
        Column("weight", numeric(10, 2)),
    ),
    keys=(Key("station_pkey", ("id",), primary=True), Key("station_plant_location_key", ("plant", "location"))),
    checks=(Check("station_check", "id > 0"),),
)
PART_USAGE = Relation(
    16385,
    "part_usage",
    "stream",
    (
        Column("part_id", INTEGER, not_null=True),
        Column("part", TEXT),
        Column("station", INTEGER),
        Column("at", TIMESTAMPTZ),
        *STREAM_COLUMNS,
    ),
    options={"capacity": "1000", "durability": "log"},
)
SPARTA = Relation(
    16386,
    "sparta",
    "view",
    (Column("id", INTEGER), Column("location", TEXT)),
    definition="SELECT id, location FROM station WHERE plant = 'Sparta'",
)
USED = Relation(
    16387,
    "used",
    "continuous",
    (Column("part", TEXT), Column("n", BIGINT)),
    definition="SELECT part, count(*) AS n FROM part_usage GROUP BY part",
)
RELATIONS = {relation.name: relation for relation in (STATION, PART_USAGE, SPARTA, USED)}


def objects(relations: dict[str, Relation] = RELATIONS) -> Objects:
    return Objects(relations, NAMESPACES, Authority("tester", True, {"clerk": Role("clerk", login=False)}))


class Asked:
    """A session that asks about the catalog."""

    def __init__(self) -> None:
        self.database = CatalogDatabase()
        self.objects = objects()
        now = datetime(2024, 2, 29, tzinfo=UTC)
        self.facts = SessionFacts(SessionSettings(Settings()), now, "PostgreSQL 16.0 (Millpond)", 7, Cursors())
        self.check_canceled: Callable[[], None] = lambda: None

    def table(self, text: str, values: Sequence[str | None] = ()) -> tuple[CatalogQuery, pa.Table]:
        """The query for SQLite and its rows."""
        statement = parse(text, Parameters([TypedText(value) for value in values]) if values else None)
        assert isinstance(statement, Query)
        query = catalog_query(statement.tree)
        assert query is not None, "SQLite is not asked"
        given = (query.text, query.columns, query.relations, self.objects, self.facts, self.check_canceled)
        return query, self.database.query(*given)

    def __call__(self, text: str, values: Sequence[str | None] = ()) -> list[tuple[object, ...]]:
        _, table = self.table(text, values)
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def types(self, text: str) -> list[str]:
        query, _ = self.table(text)
        return [str(kind) for _, kind in query.columns]
