"""Who may do what, as the catalogs tell it: rows of grants, aclexplode(), has_table_privilege() and its like."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from millpond import namespace
from millpond.errors import MillpondError, SqlState
from millpond.pgcatalog.objects import DATABASE, CatalogRelation, Objects, SessionFacts
from millpond.pgcatalog.rows import Row, RowsOf
from millpond.privileges.acl import LETTERS, PUBLIC, Acl, AclItem, parse_item
from millpond.privileges.authority import Authority, Owned, acl_of
from millpond.relation import Relation

_WORDS = {letter: word for word, letter in LETTERS.items()}
_OF_COLUMNS = "arw"
_OPTION = " WITH GRANT OPTION"


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
        return {
            "has_table_privilege": self._has_table_privilege,
            "has_any_column_privilege": self._has_any_column_privilege,
            "has_column_privilege": self._has_column_privilege,
            "has_schema_privilege": self._has_schema_privilege,
            "has_database_privilege": self._has_database_privilege,
            "pg_has_role": self._has_role,
            "mp_acl": self._exploded,
        }

    def _has_table_privilege(self, *given: object) -> bool | None:
        authority, (table, wanted) = self._asked(given, 2)
        return self._has(authority, self._find(table), wanted, ())

    def _has_any_column_privilege(self, *given: object) -> bool | None:
        authority, (table, wanted) = self._asked(given, 2)
        return self._has(authority, self._find(table), wanted, None)

    def _has_column_privilege(self, *given: object) -> bool | None:
        authority, (table, column, wanted) = self._asked(given, 3)
        found = self._find(table)
        if found is None:
            return None
        name = found.columns[column - 1].name if isinstance(column, int) else str(column)
        return self._has(authority, found, wanted, (name,))

    def _has(
        self, authority: Authority, found: CatalogRelation | None, wanted: object, columns: tuple[str, ...] | None
    ) -> bool | None:
        """Whether one of the privileges is held; those of no column are of the whole, None is any column."""
        if found is None:
            return None
        if found.relation is None:
            return any(letter == "r" for letter, _ in _letters(wanted)) or authority.superuser
        return any(_holds(authority, found.relation, letter, option, columns) for letter, option in _letters(wanted))

    def _has_schema_privilege(self, *given: object) -> bool:
        authority, (schema, wanted) = self._asked(given, 2)
        is_public = schema in ("public", 2200)
        if not is_public:
            return authority.superuser or any(letter == "U" for letter, _ in _letters(wanted))
        return self._holds_namespace(authority, namespace.PUBLIC_SCHEMA, wanted)

    def _has_database_privilege(self, *given: object) -> bool:
        authority, (_, wanted) = self._asked(given, 2)
        return self._holds_namespace(authority, namespace.DATABASE, wanted)

    def _holds_namespace(self, authority: Authority, key: namespace.NamespaceKey, wanted: object) -> bool:
        item = self._objects.namespaces[key]
        return any(_holds(authority, item, letter, option, ()) for letter, option in _letters(wanted))

    def _has_role(self, *given: object) -> bool:
        authority, (role, wanted) = self._asked(given, 2)
        name = self._role_name(role)
        words = {word.strip().upper() for word in str(wanted).split(",")}
        return authority.has_role(name) if words <= {"USAGE"} else authority.may_become(name)

    def _asked(self, given: tuple[object, ...], count: int) -> tuple[Authority, tuple[Any, ...]]:
        """Of whom the question is: of the one that the first argument names, or of who asks."""
        if len(given) == count:
            return self._objects.authority, given
        role = self._role_name(given[0])
        own = self._objects.authority
        return own if role == own.role else Authority.of(role, own.roles), given[1:]

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


def _letters(wanted: object) -> list[tuple[str, bool]]:
    """The privileges of a list such as "SELECT, INSERT WITH GRANT OPTION"; whether each is wanted with the option."""
    found = []
    for word in str(wanted).split(","):
        text = word.strip().upper()
        name = text.removesuffix(_OPTION)
        if name in ("REFERENCES", "TRIGGER", "MAINTAIN", "TEMP", "TEMPORARY"):
            name = "TRUNCATE"  # nothing here needs them: who may empty a table may have them
        if name not in LETTERS:
            raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, f'unrecognized privilege type: "{word.strip()}"')
        found.append((LETTERS[name], text.endswith(_OPTION)))
    return found


def _holds(authority: Authority, item: Owned, letter: str, option: bool, columns: tuple[str, ...] | None) -> bool:
    if option:
        grants = (one for one in acl_of(item) if one.grantee in authority.names)
        return authority.owns(item) or any(letter in one.grantable for one in grants)
    if columns is None:
        return authority.may(letter, item)
    if columns and isinstance(item, Relation):
        return authority.may(letter, item, columns)
    return letter in authority.holds(item)
