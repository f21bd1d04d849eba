"""What PostgreSQL's has_table_privilege and its like answer, for whoever offers them as SQL functions.

Arguments are as in SQL: an optional role first, then the object by its name or oid, perhaps a column, then the
privileges, of which any one suffices: `has_table_privilege('alice', 'public.t', 'SELECT, INSERT WITH GRANT OPTION')`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from millpond.errors import MillpondError, SqlState
from millpond.namespace import Namespace, NamespaceKind
from millpond.privileges import acl as acls
from millpond.privileges.acl import LETTERS, PUBLIC
from millpond.privileges.authority import Authority, CatalogState, Owned, acl_of
from millpond.relation import Relation
from millpond.roles import memberships

Argument = str | int | None

_MEMBERSHIPS = ("USAGE", "MEMBER", "SET")
_FOREIGN = ("REFERENCES", "TRIGGER", "RULE", "MAINTAIN", "TEMPORARY", "TEMP")
"""Privileges of PostgreSQL that nobody has here, because there is nothing to do with them."""

_OPTION = " WITH GRANT OPTION"


def answer(state: CatalogState, asker: Authority, function: str, arguments: Sequence[Argument]) -> bool | None:
    """What a function of `FUNCTIONS` answers; NULL for a NULL, and for an oid that nothing has."""
    if None in arguments:
        return None
    wanted = FUNCTIONS[function][0]
    who, rest = asker, list(arguments)
    if len(rest) > wanted:
        who, rest = _role(state, rest[0]), rest[1:]
    return FUNCTIONS[function][1](state, who, *rest)


def _table(state: CatalogState, who: Authority, table: Argument, words: Argument) -> bool | None:
    relation = _relation(state, table)
    return None if relation is None else _any(who, relation, "relation", words)


def _column(state: CatalogState, who: Authority, table: Argument, column: Argument, words: Argument) -> bool | None:
    relation = _relation(state, table)
    if relation is None:
        return None
    name = relation.visible_columns[column - 1].name if isinstance(column, int) else str(column)
    if relation.column(name) is None:
        message = f'column "{name}" of relation "{relation.name}" does not exist'
        raise MillpondError(SqlState.UNDEFINED_COLUMN, message)
    return _any(who, relation, "column", words, column=name)


def _any_column(state: CatalogState, who: Authority, table: Argument, words: Argument) -> bool | None:
    relation = _relation(state, table)
    if relation is None:
        return None
    names = [column.name for column in relation.visible_columns]
    return any(_any(who, relation, "column", words, column=name) for name in names)


def _within(kind: NamespaceKind) -> Callable[..., bool]:
    def check(state: CatalogState, who: Authority, name: Argument, words: Argument) -> bool:
        found = state.namespaces.get((kind, str(name)))
        if found is None and kind == "schema" and name in ("pg_catalog", "information_schema"):
            found = Namespace(kind, str(name))  # of the system: everyone may use it
        if found is None:
            undefined = SqlState.UNDEFINED_SCHEMA if kind == "schema" else SqlState.INVALID_CATALOG_NAME
            raise MillpondError(undefined, f'{kind} "{name}" does not exist')
        return _any(who, found, kind, words)

    return check


def _has_role(state: CatalogState, who: Authority, role: Argument, words: Argument) -> bool:
    asked = _role(state, role).role
    given = [word.strip().upper() for word in str(words).split(",")]
    for word in given:
        if word.partition(" WITH ")[0] not in _MEMBERSHIPS:
            raise _unrecognized(word)
    if who.superuser:
        return True
    if any(" WITH " in word for word in given):
        return who.may_administer(asked)
    return asked in (who.names if given == ["USAGE"] else memberships(who.roles, who.role))


def _any(who: Authority, item: Owned, kind: acls.Securable, words: Argument, column: str | None = None) -> bool:
    """Whether a role has any of the privileges that words name."""
    return any(_one(who, item, kind, word, column) for word in str(words).upper().split(","))


def _one(who: Authority, item: Owned, kind: acls.Securable, word: str, column: str | None) -> bool:
    name = " ".join(word.split())
    with_option = name.endswith(_OPTION)
    name = name.removesuffix(_OPTION)
    if name in _FOREIGN:
        return False
    letter = LETTERS.get(name, "")
    if not letter or letter not in acls.ALL[kind]:
        raise _unrecognized(name)
    if not with_option:
        return letter in who.holds(item) if column is None else who.may(letter, item, (column,))
    lists = (*acl_of(item), *(item.column_acls.get(column or "", ()) if isinstance(item, Relation) else ()))
    return who.owns(item) or letter in acls.grantable(lists, who.names)


def _relation(state: CatalogState, written: Argument) -> Relation | None:
    if isinstance(written, int):
        return next((one for one in state.relations.values() if one.oid == written), None)
    parts = re.findall(r'"((?:[^"]|"")*)"|([^".]+)', str(written))
    names = [quoted.replace('""', '"') if quoted else plain.lower() for quoted, plain in parts]
    found = state.relation(names[-1]) if names and names[:-1] in ([], ["public"]) else None
    if found is None:
        raise MillpondError(SqlState.UNDEFINED_TABLE, f'relation "{written}" does not exist')
    return found


def _role(state: CatalogState, name: Argument) -> Authority:
    if name == "public":
        return Authority(PUBLIC, superuser=False, roles=state.roles)
    if name not in state.roles:
        raise MillpondError(SqlState.UNDEFINED_OBJECT, f'role "{name}" does not exist')
    return Authority.of(str(name), state.roles)


def _unrecognized(word: str) -> MillpondError:
    return MillpondError(SqlState.INVALID_PARAMETER_VALUE, f'unrecognized privilege type: "{word}"')


FUNCTIONS: Mapping[str, tuple[int, Callable[..., bool | None]]] = {
    "has_table_privilege": (2, _table),
    "has_column_privilege": (3, _column),
    "has_any_column_privilege": (2, _any_column),
    "has_schema_privilege": (2, _within("schema")),
    "has_database_privilege": (2, _within("database")),
    "pg_has_role": (2, _has_role),
}
"""Each with how many arguments it has without the role."""
