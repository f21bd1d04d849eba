"""The relations of pg_catalog and information_schema and their columns, as PostgreSQL 16 declares them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources

from millpond.pgcatalog.types import named
from millpond.types import SqlType

PG_CATALOG = "pg_catalog"
INFORMATION_SCHEMA = "information_schema"


@dataclass(frozen=True)
class Declared:
    """A relation: `kind` is "r" for a table, "v" for a view."""

    schema: str
    name: str
    kind: str
    oid: int
    columns: Mapping[str, SqlType]

    @property
    def key(self) -> tuple[str, str]:
        return self.schema, self.name


def _read() -> Iterator[Declared]:
    """A relation's line is followed by indented ones with its columns."""
    text = resources.files("millpond.pgcatalog").joinpath("relations.txt").read_text(encoding="utf-8")
    for block in text.replace("\n    ", " ").splitlines():
        head, kind, oid, body = block.split(" ", 3)
        schema, _, name = head.partition(".")
        columns = (column.split(" ", 1) for column in body.split(", "))
        yield Declared(schema, name, kind, int(oid), {column: named(kind) for column, kind in columns})


DECLARED: Mapping[tuple[str, str], Declared] = {declared.key: declared for declared in _read()}
"""By schema and name."""

BY_OID: Mapping[int, Declared] = {declared.oid: declared for declared in DECLARED.values()}


def find(schema: str | None, name: str) -> Declared | None:
    """The relation that a name means; without a schema it is looked up in pg_catalog only, as in PostgreSQL."""
    return DECLARED.get((schema or PG_CATALOG, name))
