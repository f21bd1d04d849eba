"""CREATE, ALTER and DROP ROLE. A password is turned into its verifier here and kept nowhere."""

from __future__ import annotations

from dataclasses import replace

from millpond.errors import MillpondError, SqlState, closest
from millpond.result import Notice, Result
from millpond.roles import Role
from millpond.scram import Verifier
from millpond.sql.statements import AlterRole, CreateRole, DropRole, RoleOptions
from millpond.statements.execution import Execution


def create(execution: Execution, statement: CreateRole) -> Result:
    _check_superuser(execution, "create role")
    if execution.transaction.role(statement.name) is not None:
        raise MillpondError(SqlState.DUPLICATE_OBJECT, f'role "{statement.name}" already exists')
    role = _changed(Role(statement.name, login=False), statement.options)
    execution.transaction.change_role(role.name, role)
    return Result("CREATE ROLE")


def alter(execution: Execution, statement: AlterRole) -> Result:
    """A superuser may change any role; anyone else their own password."""
    role = _find(execution, statement.name)
    own_password = RoleOptions(password=statement.options.password)
    if statement.name != execution.user or statement.options != own_password:
        _check_superuser(execution, "alter role")
    changed = _changed(role, statement.options)
    _check_one_superuser(execution, replaced=changed)
    execution.transaction.change_role(role.name, changed)
    return Result("ALTER ROLE")


def drop(execution: Execution, statement: DropRole) -> Result:
    _check_superuser(execution, "drop role")
    for name in statement.names:
        if statement.if_exists and execution.transaction.role(name) is None:
            execution.notices.append(Notice(f'role "{name}" does not exist, skipping'))
            continue
        role = _find(execution, name)
        if name == execution.user:
            raise MillpondError(SqlState.OBJECT_IN_USE, "current user cannot be dropped")
        _check_one_superuser(execution, replaced=replace(role, superuser=False))
        execution.transaction.change_role(name, None)
    return Result("DROP ROLE")


def _find(execution: Execution, name: str) -> Role:
    role = execution.transaction.role(name)
    if role is None:
        message = f'role "{name}" does not exist'
        raise MillpondError(SqlState.UNDEFINED_OBJECT, message, hint=closest(name, execution.transaction.roles))
    return role


def _changed(role: Role, options: RoleOptions) -> Role:
    if options.superuser is not None:
        role = replace(role, superuser=options.superuser)
    if options.login is not None:
        role = replace(role, login=options.login)
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
