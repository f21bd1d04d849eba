"""The function table, put together from its rows."""

from __future__ import annotations

from millpond.sql import aggregate_functions, history_functions, scalar_functions, session_functions, time_functions
from millpond.sql.functions import collect

TABLE = collect(
    (
        *scalar_functions.ROWS,
        *time_functions.ROWS,
        *session_functions.ROWS,
        *aggregate_functions.ROWS,
        *history_functions.ROWS,
    )
)
