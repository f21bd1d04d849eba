"""SET, SHOW and RESET."""

from __future__ import annotations

import pyarrow as pa

from millpond.config import find
from millpond.result import Result, ResultColumn
from millpond.sql.statements import ResetSetting, SetSetting, ShowSetting
from millpond.statements.execution import Execution
from millpond.types import TEXT


def set_setting(execution: Execution, statement: SetSetting) -> Result:
    if statement.value is None:
        execution.settings.reset(statement.name)
    else:
        execution.settings.set(statement.name, statement.value)
    return Result("SET")


def reset(execution: Execution, statement: ResetSetting) -> Result:
    if statement.name == "all":
        execution.settings.reset_all()
    else:
        execution.settings.reset(statement.name)
    return Result("RESET")


def show(execution: Execution, statement: ShowSetting) -> Result:
    settings = execution.settings
    if statement.name == "all":
        names = ["name", "setting", "description"]
        rows = [[setting.name, settings.show(setting.name), setting.reason] for setting in settings]
    else:
        names = [find(statement.name).name]
        rows = [[settings.show(statement.name)]]
    columns = [ResultColumn(name, TEXT) for name in names]
    arrays = [pa.array([row[index] for row in rows], pa.string()) for index in range(len(names))]
    result = execution.rows("SHOW", columns, pa.table(arrays, names=[f"c{i}" for i in range(len(names))]))
    result.rows_changed = -1
    return result
