"""Who may do what, as the catalogs tell it: rows of grants, aclexplode(), has_table_privilege() and its like."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from millpond.errors import MillpondError, SqlState
from millpond.pgcatalog.objects import DATABASE, DATABASE_OID, SCHEMAS, CatalogRelation, Objects, SessionFacts
from millpond.pgcatalog.rows import Row, RowsOf
from millpond.privileges.acl import LETTERS, PUBLIC, Acl, AclItem, parse_item
from millpond.privileges.authority import acl_of
from millpond.privileges.inquiry import FUNCTIONS, answer

_WORDS = {letter: word for word, letter in LETTERS.items()}
_OF_COLUMNS = "arw"


# -- information_schema ------------------------------------------------------------------------------------------------


def _table_privileges(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for one in objects.own:
        assert one.relation is not None
        for item, letter in _concerning(objects, acl_of(one.relation)):
            yield _grant(one, item, letter) | {"with_hierarchy": "YES" if letter == "r" else "NO"}


def _column_privileges(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    """What was granted on a table is granted on each of its columns."""
    for one in objects.own:
        relation = one.relation
        assert relation is not None
        of_table = [(item, letter) for item, letter in _concerning(objects, acl_of(relation)) if letter in _OF_COLUMNS]
        for column in one.columns:
            of_column = _concerning(objects, relation.column_acls.get(column.name, ()))
            for item, letter in dict.fromkeys([*of_table, *of_column]):
                yield _grant(one, item, letter) | {"column_name": column.name}


def _concerning(objects: Objects, acl: Acl) -> Iterator[tuple[AclItem, str]]:
    """The grants of a list that the role gave or got, each privilege by itself."""
    names = objects.authority.names
    for item in acl:
        if objects.superuser or item.grantee == PUBLIC or item.grantee in names or item.grantor in names:
            yield from ((item, letter) for letter in item.privileges)


def _grant(one: CatalogRelation, item: AclItem, letter: str) -> dict[str, Any]:
    owner = one.relation is not None and item.grantee == one.relation.owner
    return {
        "grantor": item.grantor,
        "grantee": item.grantee or "PUBLIC",
        "table_catalog": DATABASE,
        "table_schema": one.schema,
        "table_name": one.name,
        "privilege_type": _WORDS[letter],
        "is_grantable": "YES" if owner or letter in item.grantable else "NO",
    }


def _enabled_roles(objects: Objects, _facts: SessionFacts) -> Iterator[Row]:
    for name in objects.role_oids:
        if objects.authority.has_role(name):
            yield {"role_name": name}


PRIVILEGE_ROWS: Mapping[str, RowsOf] = {
    "table_privileges": _table_privileges,
    "role_table_grants": _table_privileges,
    "column_privileges": _column_privileges,
    "role_column_grants": _column_privileges,
    "enabled_roles": _enabled_roles,
}


# -- functions ---------------------------------------------------------------------------------------------------------


class PrivilegeFunctions:
    """has_..._privilege(), pg_has_role() and aclexplode(); `find` is the relation that a name or an oid means."""

    def __init__(self, objects: Objects, find: Callable[[object], CatalogRelation | None]) -> None:
        self._objects, self._find = objects, find

    def all(self) -> Mapping[str, Callable[..., object]]:
        inquiries: dict[str, Callable[..., object]] = {name: partial(self._inquired, name) for name in FUNCTIONS}
        return {**inquiries, "mp_acl": self._exploded}

    def _inquired(self, function: str, *given: Any) -> bool | None:
        """What a function answers. The catalogs know things by oids and know the system's own relations as well."""
        count = FUNCTIONS[function][0]
        who = [self._role_name(role) for role in given[:-count]]
        item, *rest = given[-count:]
        if function == "pg_has_role":
            item = self._role_name(item)
        elif function in _OF_NAMESPACES:
            item = _OF_NAMESPACES[function].get(item, item)
        else:
            found = self._find(item)
            if found is None:
                return None
            if found.relation is None:
                return self._objects.superuser or "SELECT" in str(rest[-1]).upper()
            item = found.oid
        asked = who if who != [self._objects.user] else []
        return answer(self._objects, self._objects.authority, function, [*asked, item, *rest])

    def _role_name(self, given: object) -> str:
        for name, oid in self._objects.role_oids.items():
            if given in (name, oid):
                return name
        raise MillpondError(SqlState.UNDEFINED_OBJECT, f'role "{given}" does not exist')

    def _exploded(self, acl: str) -> str:
        oids = self._objects.role_oids
        rows = [
            {
                "grantor": oids.get(item.grantor, 0),
                "grantee": oids.get(item.grantee, 0),
                "privilege_type": _WORDS[letter],
                "is_grantable": letter in item.grantable,
            }
            for item in map(parse_item, json.loads(acl))
            for letter in item.privileges
        ]
        return json.dumps(rows)


_OF_NAMESPACES: Mapping[str, Mapping[object, str]] = {
    "has_schema_privilege": {oid: name for name, oid in SCHEMAS.items()},
    "has_database_privilege": {DATABASE_OID: DATABASE},
}
"""Functions that take a schema or the database, and their oids."""
