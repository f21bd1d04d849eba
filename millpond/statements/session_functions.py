"""What the functions of a session give, and do: settings, notifications, sleep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from millpond.errors import MillpondError, SqlState
from millpond.notifications import enqueue
from millpond.privileges.examine import examined

if TYPE_CHECKING:
    from millpond.statements.execution import Execution

Arguments = Sequence[str | None]
NOTHING = ""
"""What PostgreSQL calls void."""


def call(execution: Execution, name: str, arguments: Arguments) -> str | None:
    return _FUNCTIONS[name](execution, arguments)


def _current_setting(execution: Execution, arguments: Arguments) -> str | None:
    name, missing_ok = arguments[0], len(arguments) > 1 and arguments[1] == "true"
    if name is None:
        return None
    try:
        return examined(execution.settings, name, execution.authority)
    except MillpondError as error:
        if missing_ok and error.sqlstate is SqlState.UNDEFINED_OBJECT:
            return None
        raise


def _set_config(execution: Execution, arguments: Arguments) -> str | None:
    name, value, local = arguments
    if name is None:
        raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, "SET requires parameter name")
    execution.settings.change(name, value, local=local == "true")
    return execution.settings.show(name)


def _notify(execution: Execution, arguments: Arguments) -> str:
    channel, payload = (argument or "" for argument in arguments)
    enqueue(execution.services.switchboard, execution.transaction.notifications, channel, payload)
    return NOTHING


def _sleep(execution: Execution, arguments: Arguments) -> str | None:
    if arguments[0] is None:
        return None
    execution.state.interrupt.sleep(max(float(arguments[0]), 0))
    return NOTHING


_FUNCTIONS: Mapping[str, Callable[[Execution, Arguments], str | None]] = {
    "current_setting": _current_setting,
    "set_config": _set_config,
    "pg_notify": _notify,
    "pg_sleep": _sleep,
    "pg_backend_pid": lambda execution, _arguments: str(execution.state.number),
    "txid_current": lambda execution, _arguments: str(execution.transaction.number),
    "pg_advisory_unlock_all": lambda _execution, _arguments: NOTHING,
}
