"""SET, SHOW, RESET, DEALLOCATE and DISCARD."""

from __future__ import annotations

import pyarrow as pa

from millpond.errors import MillpondError, SqlState
from millpond.privileges.identity import ROLE, SESSION_AUTHORIZATION, identify
from millpond.result import Notice, Result, ResultColumn
from millpond.sql.session_records import Deallocate, Discard, ResetSetting, SetSetting, ShowSetting
from millpond.statements.execution import Execution
from millpond.types import TEXT


def set_setting(execution: Execution, statement: SetSetting) -> Result:
    if statement.local and execution.autocommit:
        execution.notices.append(Notice("SET LOCAL can only be used in transaction blocks", "WARNING", "25P01"))
    before = execution.settings.mark()
    execution.settings.change(statement.name, statement.value, local=statement.local)
    if statement.name in (ROLE, SESSION_AUTHORIZATION):
        try:
            identify(execution.login, execution.transaction.roles, execution.settings, strict=True)
        except MillpondError:
            execution.settings.return_to(before)
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


def discard(execution: Execution, statement: Discard) -> Result:
    """DISCARD ALL makes the session as it was when it began; of what else it can name there is nothing."""
    if statement.what == "ALL":
        if not execution.autocommit:
            message = "DISCARD ALL cannot run inside a transaction block"
            raise MillpondError(SqlState.ACTIVE_SQL_TRANSACTION, message)
        execution.request.deallocate(None)
        execution.settings.reset_all()
        execution.state.cursors.close_all()
        execution.services.switchboard.unlisten(execution.state.mailbox)
    return Result(f"DISCARD {statement.what}")


def show_columns(execution: Execution, statement: ShowSetting) -> tuple[ResultColumn, ...]:
    """What SHOW returns."""
    names = ["name", "setting", "description"]
    if statement.name != "all":
        names = [execution.settings.find(statement.name).shown_name]
    return tuple(ResultColumn(name, TEXT) for name in names)


def show(execution: Execution, statement: ShowSetting) -> Result:
    settings, columns = execution.settings, show_columns(execution, statement)
    if statement.name == "all":
        rows = [[setting.name, settings.show(setting.name), setting.reason] for setting in settings]
    else:
        rows = [[settings.show(statement.name)]]
    arrays = [pa.array([row[index] for row in rows], pa.string()) for index in range(len(columns))]
    result = execution.rows("SHOW", columns, pa.table(arrays, names=[f"c{i}" for i in range(len(columns))]))
    result.rows_changed = -1
    return result
