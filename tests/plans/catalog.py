"""The relations of the plan tests: a factory with streams, and TPC-H with lineitem as a stream."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from millpond.relation import STREAM_COLUMNS, Column, Key, Kind, Relation
from millpond.sql.scope import Moment
from millpond.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    TEXT,
    TIMESTAMP,
    SqlType,
    char,
    numeric,
    varchar,
)

_TYPES: dict[str, SqlType] = {
    "int": INTEGER,
    "bigint": BIGINT,
    "text": TEXT,
    "bool": BOOLEAN,
    "date": DATE,
    "timestamp": TIMESTAMP,
    "double": DOUBLE,
    "interval": INTERVAL,
    "money": numeric(12, 2),
    "flag": char(1),
    "name": varchar(25),
}

_FACTORY: dict[str, tuple[Kind, str]] = {
    "part_usage": (
        "stream",
        "part_id int, part text, station int, worker int, weight double, cost money, at timestamp",
    ),
    "deliveries": ("stream", "part text, station int, amount bigint, late bool, delay interval"),
    "station": ("table", "id int*, plant text, location text, supplier text"),
    "worker": ("table", "id int*, name text, shift int"),
}

TPCH: dict[str, tuple[Kind, str]] = {
    "lineitem": (
        "stream",
        "l_orderkey int, l_partkey int, l_suppkey int, l_linenumber int, l_quantity money, l_extendedprice money,"
        " l_discount money, l_tax money, l_returnflag flag, l_linestatus flag, l_shipdate date, l_commitdate date,"
        " l_receiptdate date, l_shipinstruct name, l_shipmode name, l_comment text",
    ),
    "orders": (
        "table",
        "o_orderkey int*, o_custkey int, o_orderstatus flag, o_totalprice money, o_orderdate date,"
        " o_orderpriority name, o_clerk name, o_shippriority int, o_comment text",
    ),
    "customer": (
        "table",
        "c_custkey int*, c_name name, c_address text, c_nationkey int, c_phone name, c_acctbal money,"
        " c_mktsegment name, c_comment text",
    ),
    "part": (
        "table",
        "p_partkey int*, p_name text, p_mfgr name, p_brand name, p_type name, p_size int, p_container name,"
        " p_retailprice money, p_comment text",
    ),
    "supplier": (
        "table",
        "s_suppkey int*, s_name name, s_address text, s_nationkey int, s_phone name, s_acctbal money, s_comment text",
    ),
    "partsupp": (
        "table",
        "ps_partkey int, ps_suppkey int, ps_availqty int, ps_supplycost money, ps_comment text",
    ),
    "nation": ("table", "n_nationkey int*, n_name name, n_regionkey int, n_comment text"),
    "region": ("table", "r_regionkey int*, r_name name, r_comment text"),
}


def _relation(oid: int, name: str, kind: Kind, columns: str) -> Relation:
    """A relation from its columns in short; a star marks the primary key."""
    pairs = [column.split() for column in columns.split(",")]
    made = tuple(Column(column, _TYPES[kind.rstrip("*")]) for column, kind in pairs)
    keys = tuple(Key(f"{name}_pkey", (column,), primary=True) for column, kind in pairs if kind.endswith("*"))
    return Relation(oid, name, kind, (*made, *STREAM_COLUMNS) if kind == "stream" else made, keys)


class Names:
    """The relations above, in a statement that runs at a known moment."""

    def __init__(self) -> None:
        relations = {**_FACTORY, **TPCH}
        self.relations = {name: _relation(100 + place, name, *relations[name]) for place, name in enumerate(relations)}

    def relation(self, schema: str | None, name: str) -> Relation | None:
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
