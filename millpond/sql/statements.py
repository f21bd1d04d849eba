"""What a statement says, as plain records: the output of `parse`, the input of `millpond.statements`.

Trees of queries and expressions are sqlglot's and are opaque outside `millpond.sql`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from millpond.python_function import Parameter
from millpond.relation import Check, Column, Key
from millpond.sql.copy import CopyStatement
from millpond.sql.session_records import SessionStatement
from millpond.sql.subscribe import Subscribe
from millpond.sql.values_parser import InsertValues
from millpond.types import SqlType

QueryTree = exp.Query
"""The tree of a query, for those who only pass it on."""


@dataclass(frozen=True)
class Name:
    """A relation's name as it was written, identifiers folded; `position` is where it stands in the text."""

    name: str
    schema: str | None = None
    position: int | None = None


@dataclass(frozen=True)
class Query:
    tree: exp.Query


@dataclass(frozen=True)
class Insert:
    """`source` is None for DEFAULT VALUES; `column_positions` are the places of the columns in the statement."""

    target: Name
    columns: tuple[str, ...] | None
    source: exp.Query | None
    returning: tuple[exp.Expr, ...]
    target_alias: str | None = None
    column_positions: tuple[int | None, ...] = ()


@dataclass(frozen=True)
class InsertLiterals:
    """An INSERT of plain literals, which does not pass through the general parser."""

    target: Name
    values: InsertValues


@dataclass(frozen=True)
class Update:
    target: Name
    tree: exp.Update


@dataclass(frozen=True)
class Delete:
    target: Name
    tree: exp.Delete


@dataclass(frozen=True)
class CreateTable:
    name: Name
    if_not_exists: bool
    columns: tuple[Column, ...]
    keys: tuple[Key, ...]
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class CreateTableAs:
    name: Name
    if_not_exists: bool
    column_names: tuple[str, ...]
    query: exp.Query
    with_data: bool


@dataclass(frozen=True)
class CreateStream:
    name: Name
    if_not_exists: bool
    columns: tuple[Column, ...]
    options: Mapping[str, str]


@dataclass(frozen=True)
class CreateView:
    name: Name
    or_replace: bool
    column_names: tuple[str, ...]
    query: exp.Query
    text: str
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CreateFunction:
    """A function in Python; `pickled` is a callable of the program in the place of the text."""

    name: Name
    or_replace: bool
    parameters: tuple[Parameter, ...]
    result: SqlType
    body: str
    keys: tuple[str, ...] = ()
    pickled: str | None = None


@dataclass(frozen=True)
class DropFunction:
    name: Name
    if_exists: bool
    types: tuple[SqlType, ...] | None
    cascade: bool


@dataclass(frozen=True)
class RefreshView:
    name: Name


@dataclass(frozen=True)
class VerifyView:
    name: Name


@dataclass(frozen=True)
class RenameView:
    name: Name
    new_name: str


@dataclass(frozen=True)
class QueryDefinition:
    """The INSERTs of a continuous query, and the query whose rows it emits as its tuples arrive."""

    inserts: tuple[Insert, ...]
    emit: QueryTree | None = None

    @property
    def sources(self) -> tuple[QueryTree, ...]:
        """The queries that it runs."""
        sources = (*(insert.source for insert in self.inserts), self.emit)
        return tuple(one for one in sources if one is not None)


@dataclass(frozen=True)
class CreateContinuousQuery:
    """`text` is the definition as it was written; its positions are those in the whole statement."""

    name: Name
    or_replace: bool
    if_not_exists: bool
    defined: QueryDefinition
    text: str
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class AlterContinuousQuery:
    """PAUSE, RESUME, or (`new_name`) RENAME TO."""

    name: Name
    action: Literal["pause", "resume", "rename"]
    new_name: str = ""
    if_exists: bool = False


@dataclass(frozen=True)
class DropContinuousQuery:
    names: tuple[Name, ...]
    if_exists: bool


@dataclass(frozen=True)
class ExplainContinuousQuery:
    """A query that there is, or (`new`) one as it would be created."""

    name: Name
    new: CreateContinuousQuery | None = None


@dataclass(frozen=True)
class ExplainSplit:
    """The split of a query, or (`view`) of a continuous view."""

    query: exp.Query | None
    view: Name | None


@dataclass(frozen=True)
class AddColumn:
    table: Name
    if_exists: bool
    if_not_exists: bool
    column: Column
    keys: tuple[Key, ...]
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class Drop:
    kind: Literal["table", "stream", "view"]
    names: tuple[Name, ...]
    if_exists: bool
    cascade: bool


@dataclass(frozen=True)
class Truncate:
    names: tuple[Name, ...]


@dataclass(frozen=True)
class RoleOptions:
    """What CREATE and ALTER ROLE say of a role; None where they say nothing. `password` is text, or "" for none."""

    superuser: bool | None = None
    login: bool | None = None
    password: str | None = None
    inherit: bool | None = None
    member_of: tuple[str, ...] = ()


@dataclass(frozen=True)
class CreateRole:
    name: str
    options: RoleOptions


@dataclass(frozen=True)
class AlterRole:
    name: str
    options: RoleOptions


@dataclass(frozen=True)
class DropRole:
    names: tuple[str, ...]
    if_exists: bool


@dataclass(frozen=True)
class RoleName:
    """A role as it was written; `keyword` for CURRENT_USER and its like, which are known when the statement runs."""

    name: str
    keyword: bool = False


@dataclass(frozen=True)
class NamedPrivilege:
    """A privilege in a GRANT, perhaps for some columns only; "ALL" is all that the object has."""

    name: str
    columns: tuple[str, ...] = ()
    position: int | None = None


@dataclass(frozen=True)
class ChangePrivileges:
    """GRANT and REVOKE on objects. `option` is WITH GRANT OPTION, or GRANT OPTION FOR; `within` says that the names
    are schemas of which all tables are meant."""

    revoke: bool
    privileges: tuple[NamedPrivilege, ...]
    kind: Literal["relation", "schema", "database"]
    names: tuple[Name, ...]
    roles: tuple[RoleName, ...]
    within: bool = False
    option: bool = False
    cascade: bool = False
    granted_by: RoleName | None = None


@dataclass(frozen=True)
class ChangeMembership:
    """GRANT and REVOKE of roles. `option` is WITH ADMIN OPTION, or ADMIN OPTION FOR."""

    revoke: bool
    roles: tuple[RoleName, ...]
    members: tuple[RoleName, ...]
    option: bool = False
    cascade: bool = False
    granted_by: RoleName | None = None


@dataclass(frozen=True)
class ChangeOwner:
    """ALTER ... OWNER TO; `kind` is the word that was written, in lower case."""

    kind: Literal["table", "stream", "view", "query", "schema", "database"]
    name: Name
    owner: RoleName
    if_exists: bool = False


@dataclass(frozen=True)
class DropOwned:
    roles: tuple[RoleName, ...]
    cascade: bool = False


@dataclass(frozen=True)
class ReassignOwned:
    roles: tuple[RoleName, ...]
    owner: RoleName


@dataclass(frozen=True)
class Explain:
    query: exp.Query
    analyze: bool


@dataclass(frozen=True)
class Vacuum:
    name: Name | None
    full: bool


@dataclass(frozen=True)
class Copy:
    """`subscription` is what a COPY follows that has no end."""

    copy: CopyStatement
    query: exp.Query | None
    subscription: Subscribe | None = None


Statement = (
    Query
    | Insert
    | InsertLiterals
    | Update
    | Delete
    | CreateTable
    | CreateTableAs
    | CreateStream
    | CreateView
    | CreateFunction
    | DropFunction
    | AddColumn
    | RefreshView
    | VerifyView
    | RenameView
    | CreateContinuousQuery
    | AlterContinuousQuery
    | DropContinuousQuery
    | ExplainContinuousQuery
    | ExplainSplit
    | Drop
    | Truncate
    | CreateRole
    | AlterRole
    | DropRole
    | ChangePrivileges
    | ChangeMembership
    | ChangeOwner
    | DropOwned
    | ReassignOwned
    | Explain
    | Vacuum
    | Copy
    | Subscribe
    | SessionStatement
)
