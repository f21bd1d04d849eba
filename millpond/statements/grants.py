"""GRANT and REVOKE on tables, streams, views, schemas and the database."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from millpond.errors import MillpondError, SqlState, closest
from millpond.namespace import Namespace, NamespaceKind
from millpond.privileges import acl as acls
from millpond.privileges.acl import LETTERS, PUBLIC, Acl
from millpond.privileges.authority import Authority, Owned, acl_of, denied
from millpond.relation import Relation
from millpond.result import Notice, Result
from millpond.roles import memberships
from millpond.sql.statements import ChangePrivileges, Name, NamedPrivilege, RoleName
from millpond.statements.execution import Execution
from millpond.statements.roles import check_grantor, resolve_role


def change_privileges(execution: Execution, statement: ChangePrivileges) -> Result:
    check_grantor(execution, statement.granted_by)
    roles = [_grantee(execution, role) for role in statement.roles]
    wanted = [(_letters(privilege, statement), privilege.columns) for privilege in statement.privileges]
    for item in list(_objects(execution, statement)):
        whole = {letter for letters, columns in wanted if not columns for letter in letters}
        _ChangeOn(execution, statement, roles, item).run(whole, [pair for pair in wanted if pair[1]])
    return Result("REVOKE" if statement.revoke else "GRANT")


class _ChangeOn:
    """What a statement does to one object."""

    def __init__(self, execution: Execution, statement: ChangePrivileges, roles: list[str], item: Owned) -> None:
        self.execution, self.statement, self.roles, self.item = execution, statement, roles, item
        self.changed: Owned = item

    def run(self, whole: set[str], by_column: list[tuple[set[str], tuple[str, ...]]]) -> None:
        if whole:
            letters, grantor = self._allowed(whole, acl_of(self.item))
            if self.statement.revoke and isinstance(self.item, Relation):
                self._check_column_rights(whole, letters)
            self.changed = replace(self.changed, acl=self._new(acl_of(self.item), grantor, letters))
            if self.statement.revoke and isinstance(self.changed, Relation):
                # As in PostgreSQL, who revokes a privilege on the whole revokes it on each column too.
                for column in self.changed.column_acls:
                    self._change_column(column, grantor, letters)
        for letters, columns in by_column:
            for column in columns:
                self._check_column(column)
                both = (*acl_of(self.item), *self._column_acl(column))
                allowed, grantor = self._allowed(letters, both)
                self._change_column(column, grantor, allowed)
        if isinstance(self.changed, Relation):
            self.execution.transaction.change(self.changed)
        else:
            self.execution.transaction.change_namespace(self.changed)

    def _allowed(self, letters: set[str], acl: Acl) -> tuple[set[str], str]:
        """Those of the privileges that the user may grant or revoke here, and in whose name."""
        grantor, options = _best_grantor(self.execution.authority, self.item, acl, letters)
        allowed = letters & options
        if not allowed and not acls.held(acl, self.execution.authority.names):
            raise denied(self.item)
        if allowed != letters and not self._says_all():
            done = "revoked" if self.statement.revoke else "granted"
            verb = "could be" if self.statement.revoke else "were"
            amount = "not all" if allowed else "no"
            text = f'{amount} privileges {verb} {done} for "{self.item.name}"'
            self.execution.notices.append(Notice(text, "WARNING"))
        return allowed, grantor

    def _check_column_rights(self, wanted: set[str], allowed: set[str]) -> None:
        """Raise, as PostgreSQL does, if the user has nothing to do with the columns that a REVOKE is about too."""
        on_columns = set(acls.ALL["column"])
        held = acls.held(acl_of(self.item), self.execution.authority.names) | allowed
        if wanted & on_columns and not held & on_columns:
            raise denied(self.item)

    def _says_all(self) -> bool:
        return any(privilege.name == "all" for privilege in self.statement.privileges)

    def _new(self, acl: Acl, grantor: str, letters: Collection[str]) -> Acl:
        said, owner = self.statement, self.item.owner
        if said.option and not said.revoke and PUBLIC in self.roles:
            message = "grant options can only be granted to roles"
            raise MillpondError(SqlState.INVALID_GRANT_OPERATION, message)
        for role in self.roles if letters else ():
            if said.revoke:
                acl = acls.revoked(
                    acl,
                    owner,
                    grantor,
                    role,
                    letters,
                    option_only=said.option,
                    cascade=said.cascade,
                    holders=self._holders,
                )
                continue
            if said.option and acls.would_circle(acl, owner, grantor, role, letters, self._holders):
                message = "grant options cannot be granted back to your own grantor"
                raise MillpondError(SqlState.INVALID_GRANT_OPERATION, message)
            acl = acls.granted(acl, grantor, role, letters, option=said.option)
        return acl

    def _holders(self, role: str) -> frozenset[str]:
        """The roles whose privileges a role has; a superuser those of the owner too."""
        authority = Authority.of(role, self.execution.transaction.roles)
        return authority.names | ({self.item.owner} if authority.superuser else frozenset())

    def _column_acl(self, column: str) -> Acl:
        assert isinstance(self.changed, Relation)
        return self.changed.column_acls.get(column, ())

    def _change_column(self, column: str, grantor: str, letters: Collection[str]) -> None:
        assert isinstance(self.changed, Relation)
        new = self._new(self._column_acl(column), grantor, set(letters) & set(acls.ALL["column"]))
        lists = {**self.changed.column_acls, column: new}
        self.changed = replace(self.changed, column_acls={name: acl for name, acl in lists.items() if acl})

    def _check_column(self, column: str) -> None:
        if not isinstance(self.item, Relation):
            message = "column privileges are only valid for relations"
            raise MillpondError(SqlState.INVALID_GRANT_OPERATION, message)
        if self.item.column(column) is None:
            message = f'column "{column}" of relation "{self.item.name}" does not exist'
            hint = closest(column, [known.name for known in self.item.columns])
            raise MillpondError(SqlState.UNDEFINED_COLUMN, message, hint=hint)


def _best_grantor(user: Authority, item: Owned, acl: Acl, letters: set[str]) -> tuple[str, set[str]]:
    """In whose name a user grants: the owner's, or that of the role it is in that may grant the most."""
    if user.owns(item):
        return item.owner, set(acls.ALL["relation" if isinstance(item, Relation) else item.kind])
    candidates = [user.role, *sorted(memberships(user.roles, user.role, inherited=True) - {user.role})]
    options = {role: acls.grantable(acl, {role}) for role in candidates}
    best = max(candidates, key=lambda role: len(options[role] & letters))
    return best, options[best]


def _letters(privilege: NamedPrivilege, statement: ChangePrivileges) -> set[str]:
    kind: acls.Securable = "column" if privilege.columns else statement.kind
    if privilege.name == "all":
        return set(acls.ALL[kind])
    letter = LETTERS.get(privilege.name.upper())
    if letter is None:
        if privilege.name in _MISSING:
            message = f"privilege {privilege.name.upper()} is not supported"
            raise MillpondError(SqlState.FEATURE_NOT_SUPPORTED, message, position=privilege.position)
        message = f'unrecognized privilege type "{privilege.name}"'
        raise MillpondError(SqlState.SYNTAX_ERROR, message, position=privilege.position)
    if letter not in acls.ALL[kind]:
        message = f"invalid privilege type {privilege.name.upper()} for {kind}"
        raise MillpondError(SqlState.INVALID_GRANT_OPERATION, message, position=privilege.position)
    return {letter}


_MISSING = ("references", "trigger", "execute", "temporary", "temp", "set", "maintain")
"""Privileges of PostgreSQL on things that do not exist here."""


def _grantee(execution: Execution, role: RoleName) -> str:
    return PUBLIC if role == RoleName("public") else resolve_role(execution, role)


# -- objects --------------------------------------------------------------------------------------------------------


def _objects(execution: Execution, statement: ChangePrivileges) -> Iterator[Owned]:
    for name in statement.names:
        if statement.kind != "relation":
            yield namespace(execution, statement.kind, name)
        elif statement.within:
            namespace(execution, "schema", name)
            known = (one for one in execution.transaction.relations.values() if one.kind != "query")
            yield from sorted(known, key=lambda one: one.name)
        else:
            yield _relation(execution, name)


def _relation(execution: Execution, name: Name) -> Relation:
    relation = execution.find(name)
    if relation.kind == "system":
        message = f'cannot change the privileges of system relation "{relation.name}"'
        raise MillpondError(SqlState.INSUFFICIENT_PRIVILEGE, message, position=name.position)
    return relation


def namespace(execution: Execution, kind: NamespaceKind, name: Name) -> Namespace:
    """The schema or the database of that name."""
    found = execution.transaction.namespaces.get((kind, name.name))
    if found is None or name.schema is not None:
        state = SqlState.UNDEFINED_SCHEMA if kind == "schema" else SqlState.INVALID_CATALOG_NAME
        raise MillpondError(state, f'{kind} "{name.name}" does not exist', position=name.position)
    return found
