"""CREATE, ALTER and DROP ROLE. A password is turned into its verifier here and kept nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from millpond.errors import MillpondError, SqlState, closest, not_supported
from millpond.privileges.acl import roles_in
from millpond.privileges.authority import Owned, kind_words
from millpond.result import Notice, Result
from millpond.roles import FIRST_ROLE, Membership, Role
from millpond.scram import Verifier
from millpond.sql.statements import AlterRole, CreateRole, DropRole, RoleName, RoleOptions
from millpond.statements.execution import Execution


def create(execution: Execution, statement: CreateRole) -> Result:
    _check_superuser(execution, "create role")
    _check_name(statement.name)
    if execution.transaction.role(statement.name) is not None:
        raise MillpondError(SqlState.DUPLICATE_OBJECT, f'role "{statement.name}" already exists')
    grantor = execution.authority.owner_name
    groups = [find_role(execution, name).name for name in statement.options.member_of]
    member_of = tuple(Membership(name, grantor) for name in dict.fromkeys(groups))
    role = _changed(Role(statement.name, login=False, member_of=member_of), statement.options)
    _check_first_role(role)
    execution.transaction.change_role(role.name, role)
    return Result("CREATE ROLE")


def alter(execution: Execution, statement: AlterRole) -> Result:
    """A superuser may change any role; anyone else their own password."""
    role = find_role(execution, statement.name)
    own_password = RoleOptions(password=statement.options.password)
    if statement.name != execution.user or statement.options != own_password:
        _check_superuser(execution, "alter role")
    changed = _changed(role, statement.options)
    _check_first_role(changed)
    _check_one_superuser(execution, replaced=changed)
    execution.transaction.change_role(role.name, changed)
    return Result("ALTER ROLE")


def drop(execution: Execution, statement: DropRole) -> Result:
    _check_superuser(execution, "drop role")
    for name in statement.names:
        if statement.if_exists and execution.transaction.role(name) is None:
            execution.notices.append(Notice(f'role "{name}" does not exist, skipping'))
            continue
        role = find_role(execution, name)
        if name in (execution.user, execution.identity.session_user):
            who = "current" if name == execution.user else "session"
            raise MillpondError(SqlState.OBJECT_IN_USE, f"{who} user cannot be dropped")
        _check_one_superuser(execution, replaced=replace(role, superuser=False))
        _check_unused(execution, name)
        _leave_members(execution, name)
        execution.transaction.change_role(name, None)
    return Result("DROP ROLE")


# -- names of roles in other statements -----------------------------------------------------------------------------


def find_role(execution: Execution, name: str) -> Role:
    role = execution.transaction.role(name)
    if role is None:
        message = f'role "{name}" does not exist'
        raise MillpondError(SqlState.UNDEFINED_OBJECT, message, hint=closest(name, execution.transaction.roles))
    return role


def resolve_role(execution: Execution, role: RoleName) -> str:
    """The name that a role in a statement means."""
    if not role.keyword:
        return find_role(execution, role.name).name
    name = execution.identity.session_user if role.name == "session_user" else execution.user
    return name if execution.transaction.role(name) is not None else FIRST_ROLE


def check_grantor(execution: Execution, granted_by: RoleName | None) -> None:
    """GRANTED BY is there for the standard's sake: it can only say what is so."""
    if granted_by is not None and resolve_role(execution, granted_by) != execution.authority.owner_name:
        raise MillpondError(SqlState.FEATURE_NOT_SUPPORTED, "grantor must be current user")


# -- rules ----------------------------------------------------------------------------------------------------------


def _check_name(name: str) -> None:
    if name in ("public", "none"):
        raise MillpondError(SqlState.RESERVED_NAME, f'role name "{name}" is reserved')
    if name.startswith("pg_"):
        detail = 'Role names starting with "pg_" are reserved.'
        raise MillpondError(SqlState.RESERVED_NAME, f'role name "{name}" is reserved', detail=detail)


def _check_first_role(role: Role) -> None:
    """It owns what nobody else does, so it stays what it is."""
    if role.name == FIRST_ROLE and not role.superuser:
        raise not_supported(f'role "{FIRST_ROLE}" without SUPERUSER')


def _check_unused(execution: Execution, name: str) -> None:
    uses = list(_uses(execution, name))
    if name == FIRST_ROLE:
        message = f"cannot drop role {name} because it is required by the database system"
        raise MillpondError(SqlState.DEPENDENT_OBJECTS_STILL_EXIST, message)
    if uses:
        message = f'role "{name}" cannot be dropped because some objects depend on it'
        raise MillpondError(SqlState.DEPENDENT_OBJECTS_STILL_EXIST, message, detail="\n".join(uses))


def _uses(execution: Execution, name: str) -> Iterator[str]:
    """What a role owns and is granted, in PostgreSQL's words."""
    transaction = execution.transaction
    relations = sorted(transaction.relations.values(), key=lambda relation: relation.name)
    items: list[Owned] = [*transaction.namespaces.values(), *relations]
    for item in items:
        what = f"{kind_words(item)} {item.name}"
        if item.owner == name:
            yield f"owner of {what}"
        elif name in roles_in(item.acl or ()):
            yield f"privileges for {what}"
    for relation in relations:
        for column, acl in relation.column_acls.items():
            if name in roles_in(acl) and relation.owner != name:
                yield f"privileges for column {column} of {kind_words(relation)} {relation.name}"
    for member in transaction.roles.values():
        for membership in member.member_of:
            if membership.grantor == name and name not in (member.name, membership.role):
                yield f"privileges for membership of role {member.name} in role {membership.role}"


def _leave_members(execution: Execution, name: str) -> None:
    """Nobody is in a role that is gone."""
    for member in list(execution.transaction.roles.values()):
        kept = tuple(one for one in member.member_of if one.role != name)
        if kept != member.member_of and member.name != name:
            execution.transaction.change_role(member.name, replace(member, member_of=kept))


def _changed(role: Role, options: RoleOptions) -> Role:
    if options.superuser is not None:
        role = replace(role, superuser=options.superuser)
    if options.login is not None:
        role = replace(role, login=options.login)
    if options.inherit is not None:
        role = replace(role, inherit=options.inherit)
    return role if options.password is None else replace(role, verifier=_verifier(options.password))


def _verifier(password: str) -> str | None:
    """A password's verifier; a verifier made elsewhere is taken as it is, as in PostgreSQL."""
    if not password:
        return None
    return password if Verifier.loads(password) is not None else Verifier.of(password).dumps()


def _check_superuser(execution: Execution, what: str) -> None:
    if not execution.superuser:
        message = f"permission denied to {what}"
        raise MillpondError(SqlState.INSUFFICIENT_PRIVILEGE, message, detail="Only superusers may do that.")


def _check_one_superuser(execution: Execution, *, replaced: Role) -> None:
    """Somebody has to be able to get in and mend things."""
    after = {**execution.transaction.roles, replaced.name: replaced}
    had = any(_can_administrate(role) for role in execution.transaction.roles.values())
    if had and not any(_can_administrate(role) for role in after.values()):
        message = f'role "{replaced.name}" is the last superuser who can log in'
        raise MillpondError(SqlState.DEPENDENT_OBJECTS_STILL_EXIST, message, hint="Create another one first.")


def _can_administrate(role: Role) -> bool:
    return role.superuser and role.login
