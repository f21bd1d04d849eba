"""SET, SHOW and RESET."""

from __future__ import annotations

import pyarrow as pa

from millpond.config import find
from millpond.errors import MillpondError, SqlState
from millpond.privileges.identity import ROLE, SESSION_AUTHORIZATION, identify
from millpond.result import Result, ResultColumn
from millpond.sql.statements import Deallocate, DiscardAll, ResetSetting, SetSetting, ShowSetting
from millpond.statements.execution import Execution
from millpond.types import TEXT


def set_setting(execution: Execution, statement: SetSetting) -> Result:
    if statement.value is None:
        execution.settings.reset(statement.name)
        return Result("SET")
    before = execution.settings.text(find(statement.name).name)
    execution.settings.set(statement.name, statement.value)
    if statement.name in (ROLE, SESSION_AUTHORIZATION):
        try:
            identify(execution.login, execution.transaction.roles, execution.settings, strict=True)
        except MillpondError:
            execution.settings.set(statement.name, before)
            raise
    return Result("SET")


def reset(execution: Execution, statement: ResetSetting) -> Result:
    if statement.name == "all":
        execution.settings.reset_all()
    else:
        execution.settings.reset(statement.name)
    return Result("RESET")


def deallocate(execution: Execution, statement: Deallocate) -> Result:
    """Prepared statements belong to clients: whoever keeps them hands over what forgets them."""
    execution.request.deallocate(statement.name)
    return Result("DEALLOCATE ALL" if statement.name is None else "DEALLOCATE")


def discard_all(execution: Execution, _statement: DiscardAll) -> Result:
    execution.request.deallocate(None)
    execution.settings.reset_all()
    return Result("DISCARD ALL")


def show_columns(statement: ShowSetting) -> tuple[ResultColumn, ...]:
    """What SHOW returns."""
    names = ["name", "setting", "description"] if statement.name == "all" else [find(statement.name).shown_name]
    return tuple(ResultColumn(name, TEXT) for name in names)


def show(execution: Execution, statement: ShowSetting) -> Result:
    settings, columns = execution.settings, show_columns(statement)
    if statement.name == "all":
        shown = [setting for setting in settings if execution.superuser or setting.unit != "path"]
        rows = [[setting.name, settings.show(setting.name), setting.reason] for setting in shown]
    else:
        if find(statement.name).unit == "path" and not execution.superuser:
            message = f'permission denied to examine "{statement.name}"'
            raise MillpondError(SqlState.INSUFFICIENT_PRIVILEGE, message, detail="Only superusers may see directories.")
        rows = [[settings.show(statement.name)]]
    arrays = [pa.array([row[index] for row in rows], pa.string()) for index in range(len(columns))]
    result = execution.rows("SHOW", columns, pa.table(arrays, names=[f"c{i}" for i in range(len(columns))]))
    result.rows_changed = -1
    return result
