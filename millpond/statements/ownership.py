"""Who owns what: ALTER ... OWNER TO, REASSIGN OWNED and DROP OWNED."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from millpond.errors import MillpondError, SqlState
from millpond.namespace import PUBLIC_SCHEMA
from millpond.privileges import acl as acls
from millpond.privileges.authority import Authority, Owned
from millpond.privileges.reading import check_reads
from millpond.relation import Relation
from millpond.result import Notice, Result
from millpond.sql.statements import ChangeOwner, Drop, DropOwned, Name, ReassignOwned
from millpond.statements import continuous_queries
from millpond.statements.continuous_plan import check_rights, plan_again
from millpond.statements.define import drop
from millpond.statements.execution import Execution
from millpond.statements.grants import namespace
from millpond.statements.late import with_late_stream
from millpond.statements.roles import resolve_role

_WORDS = {
    "table": "TABLE",
    "stream": "FOREIGN TABLE",
    "view": "VIEW",
    "query": "CONTINUOUS QUERY",
    "schema": "SCHEMA",
    "database": "DATABASE",
}


def change_owner(execution: Execution, statement: ChangeOwner) -> Result:
    done = Result(f"ALTER {_WORDS[statement.kind]}")
    item = _item(execution, statement)
    if item is not None:
        owner = resolve_role(execution, statement.owner)
        _check_change(execution, item, owner)
        for one in _together(execution, item):
            _give(execution, one, owner)
    return done


def reassign(execution: Execution, statement: ReassignOwned) -> Result:
    olds = {_own_role(execution, resolve_role(execution, role)) for role in statement.roles}
    new = _own_role(execution, resolve_role(execution, statement.owner))
    for item in _items(execution):
        if item.owner in olds:
            _give(execution, item, new)
    return Result("REASSIGN OWNED")


def drop_owned(execution: Execution, statement: DropOwned) -> Result:
    """Drop what roles own, and revoke what they were granted."""
    roles = {_own_role(execution, resolve_role(execution, role)) for role in statement.roles}
    owned = [one for one in execution.transaction.relations.values() if one.owner in roles]
    for query in [one for one in owned if one.kind == "query"]:
        continuous_queries.drop_one(execution, query)
    for kind, kinds in _DROPPED.items():
        names = tuple(Name(relation.name) for relation in owned if relation.kind in kinds)
        drop(execution, Drop(kind, names, if_exists=True, cascade=statement.cascade))
    for item in _items(execution):
        for role in roles:
            _revoke_all(execution, item, role)
    return Result("DROP OWNED")


_DROPPED: Mapping[Literal["view", "stream", "table"], tuple[str, ...]] = {
    "view": ("view", "continuous"),
    "stream": ("stream",),
    "table": ("table",),
}
"""What is dropped after what, by the words of DROP: views read the others."""


def _item(execution: Execution, statement: ChangeOwner) -> Owned | None:
    name = statement.name
    if statement.kind == "schema" or statement.kind == "database":
        return namespace(execution, statement.kind, name)
    if statement.kind == "query":
        return _query(execution, statement)
    if statement.if_exists and execution.relation(name.schema, name.name) is None:
        execution.notices.append(Notice(f'relation "{name.name}" does not exist, skipping'))
        return None
    relation = execution.find(name)
    # As in PostgreSQL, ALTER TABLE may be said of anything like a table.
    fits = relation.kind != "system" if statement.kind == "table" else relation.kind in _DROPPED[statement.kind]
    if not fits:
        message = f'"{relation.name}" is not a {_WORDS[statement.kind].lower()}'
        raise MillpondError(SqlState.WRONG_OBJECT_TYPE, message, position=name.position)
    return relation


def _query(execution: Execution, statement: ChangeOwner) -> Relation | None:
    if statement.if_exists and continuous_queries.find(execution, statement.name) is None:
        execution.notices.append(Notice(f'continuous query "{statement.name.name}" does not exist, skipping'))
        return None
    return continuous_queries.existing(execution, statement.name)


def _together(execution: Execution, item: Owned) -> list[Owned]:
    """What gets another owner with an item: the stream of a stream's late rows, unless somebody else has it."""
    found = with_late_stream(execution, item) if isinstance(item, Relation) else [item]
    return [one for one in found if one.owner == item.owner]


def _items(execution: Execution) -> Iterator[Owned]:
    yield from list(execution.transaction.relations.values())
    yield from list(execution.transaction.namespaces.values())


def _check_change(execution: Execution, item: Owned, owner: str) -> None:
    """As in PostgreSQL: own it, be able to become the new owner, who could have created it."""
    user = execution.authority
    user.require_ownership(item)
    if not user.may_become(owner):
        raise MillpondError(SqlState.INSUFFICIENT_PRIVILEGE, f'must be able to SET ROLE "{owner}"')
    if isinstance(item, Relation) and not user.superuser:
        schema = execution.transaction.namespaces[PUBLIC_SCHEMA]
        Authority.of(owner, execution.transaction.roles).require(acls.CREATE, schema)


def _give(execution: Execution, item: Owned, owner: str) -> None:
    acl = None if item.acl is None else acls.with_owner(item.acl, item.owner, owner)
    if not isinstance(item, Relation):
        execution.transaction.change_namespace(replace(item, owner=owner, acl=acl))
        return
    columns = {name: acls.with_owner(one, item.owner, owner) for name, one in item.column_acls.items()}
    given = replace(item, owner=owner, acl=acl, column_acls=columns)
    if item.kind == "continuous":
        # It is kept up from now on with the new owner's rights.
        given = replace(given, reads=execution.bind_view(item).reads)
        check_reads(execution.transaction, Authority.of(owner, execution.transaction.roles), given.reads)
    if item.kind == "query":
        authority = Authority.of(owner, execution.transaction.roles)
        check_rights(execution.transaction, authority, plan_again(execution, item))
    execution.transaction.change(given)


def _own_role(execution: Execution, name: str) -> str:
    if not execution.authority.has_role(name):
        message = "permission denied to drop or reassign objects"
        detail = f'Only roles with privileges of role "{name}" may do that with objects owned by it.'
        raise MillpondError(SqlState.INSUFFICIENT_PRIVILEGE, message, detail=detail)
    return name


def _revoke_all(execution: Execution, item: Owned, role: str) -> None:
    if item.owner == role:
        return
    acl = None if item.acl is None else acls.without_role(item.acl, role, item.owner)
    if not isinstance(item, Relation):
        if acl != item.acl:
            execution.transaction.change_namespace(replace(item, acl=acl))
        return
    columns = {name: acls.without_role(one, role, item.owner) for name, one in item.column_acls.items()}
    columns = {name: one for name, one in columns.items() if one}
    if (acl, columns) != (item.acl, item.column_acls):
        execution.transaction.change(replace(item, acl=acl, column_acls=columns))
