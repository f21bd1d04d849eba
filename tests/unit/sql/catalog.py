"""A small catalog for the tests of binding and translation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from millpond.relation import STREAM_COLUMNS, Column, Key, Relation
from millpond.sql.bind import BoundQuery, bind
from millpond.sql.dialect import parse_query
from millpond.sql.scope import Moment
from millpond.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    NUMERIC,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    char,
    numeric,
    varchar,
)

T = Relation(
    1,
    "t",
    "table",
    (
        Column("a", INTEGER),
        Column("b", TEXT),
        Column("n", numeric(10, 2)),
        Column("ts", TIMESTAMP),
        Column("d", DATE),
        Column("f", DOUBLE),
        Column("x", BIGINT),
        Column("u", NUMERIC),
    ),
)
S = Relation(2, "s", "stream", (Column("a", INTEGER), Column("c", TEXT), *STREAM_COLUMNS))
V = Relation(
    3, "v", "view", (Column("a", INTEGER), Column("total", BIGINT)), definition="SELECT a, count(*) FROM t GROUP BY a"
)
P = Relation(
    4,
    "p",
    "table",
    (
        Column("id", INTEGER),
        Column("name", varchar(10)),
        Column("code", char(4)),
        Column("ok", BOOLEAN),
        Column("tz", TIMESTAMPTZ),
        Column("select", INTEGER),
        Column("Mixed", TEXT),
    ),
    keys=(Key("p_pkey", ("id",), primary=True),),
)
C = Relation(5, "columns", "system", (Column("table_name", TEXT),), schema="information_schema")

SPARK_NAMES = {"t": "t_data", "s": "s_data", "p": "p_data", "information_schema.columns": "columns_data"}


class Names:
    """The relations above, in a statement that runs at a known moment."""

    relations: Mapping[str, Relation] = {"t": T, "s": S, "v": V, "p": P}

    def relation(self, schema: str | None, name: str) -> Relation | None:
        if schema == "information_schema":
            return C if name == "columns" else None
        return self.relations.get(name) if schema in (None, "public") else None

    def relation_names(self) -> list[str]:
        return list(self.relations)

    def constant(self, name: str) -> datetime | str:
        return datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC) if name == "now" else name

    def function(self, name: str) -> None:
        return None

    def call(self, name: str, arguments: Sequence[str | None]) -> str | None:
        return f"{name}({', '.join(str(argument) for argument in arguments)})"

    def past(self, table: Relation, moment: Moment) -> Relation:
        return table.as_of(7)


def bound(sql: str) -> BoundQuery:
    return bind(parse_query(sql), Names())


def spark(sql: str) -> str:
    """The Spark SQL of a query over the catalog."""
    return bound(sql).to_spark(SPARK_NAMES)
