"""The upper pipeline of a view for several windows at once, as one query: see `plan/each_session.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from millpond.plan.each_session import SESSION_ALIAS
from millpond.plan.pipelines import Grouping
from millpond.spark.runner import Input, QueryInput, quote
from millpond.sql.bind import BoundQuery

Constant = Callable[[str], datetime | date | str | int | None]

_ALL = "_of_all"
"""What follows the name of a state with the rows of all windows."""


@dataclass(frozen=True)
class EachUpper:
    """Windows are told apart by the column `number`, which the list of them has, and the state of each grouping that
    the pipeline reads."""

    groupings: Sequence[Grouping]
    upper: BoundQuery
    names: Mapping[str, str]
    number: str

    def query(self, listed: str, states: Mapping[str, QueryInput], constant: Constant) -> tuple[str, dict[str, Input]]:
        """Spark SQL over a list of windows, and the states of all of them by the names of groupings. The text has the
        number of a window in front of each row's columns."""
        window, own = quote(SESSION_ALIAS), []
        inputs: dict[str, Input] = {}
        for grouping in self.groupings:
            name = self.names[grouping.key]
            inputs[name + _ALL] = states[grouping.name]
            columns = ", ".join(column.name for column in grouping.columns) or "1"
            own.append(f"{name} AS (SELECT {columns} FROM {name}{_ALL} WHERE {self.number} = {window}.{self.number})")
        upper = f"WITH {', '.join(own)} SELECT * FROM ({self.upper.to_spark(self.names, constant)})"
        return f"SELECT {window}.{self.number}, r.* FROM {listed} AS {window}, LATERAL ({upper}) AS r", inputs
