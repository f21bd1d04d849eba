"""What the catalog knows of a relation: immutable records, the same for tables, streams, views and system relations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import pyarrow as pa

from millpond.privileges.acl import Acl
from millpond.roles import FIRST_ROLE
from millpond.types import BIGINT, TIMESTAMPTZ, SqlType

Kind = Literal["table", "stream", "view", "continuous", "query", "system"]
"""A view without a stream is a plain view, unfolded where it is used; one with a stream is continuous. A continuous
query shares the names of relations and is none: nobody can read it."""


@dataclass(frozen=True)
class Column:
    """A column: `default` is an expression in PostgreSQL's SQL; a hidden column is usable by name, not part of `*`."""

    name: str
    type: SqlType
    not_null: bool = False
    default: str | None = None
    hidden: bool = False


@dataclass(frozen=True)
class Key:
    """A PRIMARY KEY or UNIQUE constraint."""

    name: str
    columns: tuple[str, ...]
    primary: bool = False


@dataclass(frozen=True)
class Check:
    """A CHECK constraint; `expression` is PostgreSQL's SQL."""

    name: str
    expression: str


@dataclass(frozen=True)
class Read:
    """Columns of a relation that a query reads, itself or, with its owner's rights, `through` a plain view."""

    relation: str
    columns: tuple[str, ...]
    through: str | None = None


TID = Column("tid", BIGINT, not_null=True, hidden=True)
ARRIVAL_TIMESTAMP = Column("arrival_timestamp", TIMESTAMPTZ, not_null=True, hidden=True)
STREAM_COLUMNS = (TID, ARRIVAL_TIMESTAMP)
"""The two hidden columns of every stream."""


_PAST = "version "
"""How the schema begins in which a table as it was stands; nobody else can name such a schema."""


@dataclass(frozen=True)
class Relation:
    """A named relation.

    `version` is the visible version of a table's Delta log; `options` are those of a stream. `definition` is the
    query of a view, or the INSERT of a continuous query, `sees` are the columns that `*` stood for, by relation, when
    it was created, `pinned` are the versions of the tables that a continuous view joins with its stream, and `reads`
    is what its owner has to be allowed to read. `acl` is None as long as nobody granted anything on it; see
    `millpond.privileges.acl`.
    """

    oid: int
    name: str
    kind: Kind
    columns: tuple[Column, ...]
    keys: tuple[Key, ...] = ()
    checks: tuple[Check, ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    definition: str | None = None
    sees: dict[str, tuple[str, ...]] = field(default_factory=dict)
    pinned: dict[str, int] = field(default_factory=dict)
    version: int = 0
    schema: str = "public"
    owner: str = FIRST_ROLE
    acl: Acl | None = None
    column_acls: dict[str, Acl] = field(default_factory=dict)
    reads: tuple[Read, ...] = ()

    def as_of(self, version: int) -> Relation:
        """A table as it was at another version, which may stand in a query beside the table as it is.

        Its columns are those of now: one that was added since is NULL, whatever is declared of it.
        """
        columns = tuple(replace(column, not_null=False) for column in self.columns)
        return replace(self, version=version, schema=f"{_PAST}{version}", columns=columns)

    @property
    def is_past(self) -> bool:
        """Whether this is a table as it was."""
        return self.schema.startswith(_PAST)

    @property
    def visible_columns(self) -> tuple[Column, ...]:
        """The columns that `*` stands for."""
        return tuple(column for column in self.columns if not column.hidden)

    @property
    def arrow_schema(self) -> pa.Schema:
        """The visible columns as an Arrow schema."""
        return pa.schema([pa.field(column.name, column.type.arrow) for column in self.visible_columns])

    def column(self, name: str) -> Column | None:
        return next((column for column in self.columns if column.name == name), None)
