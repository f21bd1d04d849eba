"""GRANT and REVOKE of roles: who is in which role, and may let others in."""

from __future__ import annotations

from dataclasses import replace

from millpond.errors import MillpondError, SqlState
from millpond.result import Notice, Result
from millpond.roles import Membership, Role, memberships
from millpond.sql.statements import ChangeMembership, RoleName
from millpond.statements.execution import Execution
from millpond.statements.roles import check_grantor, find_role, resolve_role


def change_membership(execution: Execution, statement: ChangeMembership) -> Result:
    check_grantor(execution, statement.granted_by)
    for role in [resolve_role(execution, one) for one in statement.roles]:
        _check_admin(execution, role, "revoke" if statement.revoke else "grant")
        for name in statement.members:
            member = _member(execution, name)
            if statement.revoke:
                _leave(execution, member, role, statement)
            else:
                join(execution, member, role, admin=statement.option)
    return Result("REVOKE ROLE" if statement.revoke else "GRANT ROLE")


def join(execution: Execution, member: Role, role: str, *, admin: bool = False) -> None:
    """Put a role into another one; a second time only adds the option."""
    if member.name in memberships(execution.transaction.roles, role):
        message = f'role "{role}" is a member of role "{member.name}"'
        raise MillpondError(SqlState.INVALID_GRANT_OPERATION, message)
    old = _membership(member, role)
    if old is not None and (old.admin or not admin):
        text = f'role "{member.name}" has already been granted membership in role "{role}"'
        execution.notices.append(Notice(text))
        return
    new = Membership(role, execution.authority.owner_name, admin)
    others = tuple(one for one in member.member_of if one.role != role)
    execution.transaction.change_role(member.name, replace(member, member_of=(*others, new)))


def _leave(execution: Execution, member: Role, role: str, statement: ChangeMembership) -> None:
    old = _membership(member, role)
    if old is None:
        text = f'role "{member.name}" has not been granted membership in role "{role}"'
        execution.notices.append(Notice(text, "WARNING"))
        return
    others = tuple(one for one in member.member_of if one.role != role)
    kept = (*others, replace(old, admin=False)) if statement.option else others
    execution.transaction.change_role(member.name, replace(member, member_of=kept))
    if old.admin:
        _check_dependents(execution, member, role, statement)


def _check_dependents(execution: Execution, member: Role, role: str, statement: ChangeMembership) -> None:
    """Those whom the member let in go with it, or are an error."""
    for other in list(execution.transaction.roles.values()):
        membership = _membership(other, role)
        if membership is None or membership.grantor != member.name:
            continue
        if not statement.cascade:
            raise MillpondError(
                SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                "dependent privileges exist",
                hint="Use CASCADE to revoke them too.",
            )
        _leave(execution, other, role, replace(statement, option=False))


def _membership(member: Role, role: str) -> Membership | None:
    return next((one for one in member.member_of if one.role == role), None)


def _member(execution: Execution, name: RoleName) -> Role:
    if name == RoleName("public"):
        raise MillpondError(SqlState.UNDEFINED_OBJECT, 'role "public" does not exist')
    return find_role(execution, resolve_role(execution, name))


def _check_admin(execution: Execution, role: str, verb: str) -> None:
    roles = execution.transaction.roles
    if role in roles and roles[role].superuser and not execution.superuser:
        raise _denied(role, verb, "Only roles with the SUPERUSER attribute may do that with such a role.")
    if not execution.authority.may_administer(role):
        raise _denied(role, verb, f'Only roles with the ADMIN option on role "{role}" may {verb} this role.')


def _denied(role: str, verb: str, detail: str) -> MillpondError:
    message = f'permission denied to {verb} role "{role}"'
    return MillpondError(SqlState.INSUFFICIENT_PRIVILEGE, message, detail=detail)
