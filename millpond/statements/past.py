"""Tables as they were: which version a moment of the past means to a statement, if it is retained."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pyarrow as pa

from millpond.errors import MillpondError, SqlState, closest
from millpond.relation import Relation
from millpond.sql.as_of import literal_of, spark_text_of
from millpond.sql.scope import Moment
from millpond.stream_window import micros
from millpond.types import BIGINT, TIMESTAMPTZ
from millpond.values import from_text

if TYPE_CHECKING:
    from millpond.statements.execution import Execution


def as_of(execution: Execution, table: Relation, moment: Moment) -> Relation:
    """The table as it was at a moment. What the transaction has done itself is not part of the past."""
    value = _value(execution, moment)
    if value is None:
        raise _refused("AS OF must not be NULL", moment)
    if moment.cycle:
        assert isinstance(value, int)
        return table.as_of(_after_cycle(execution, table, value, moment))
    assert isinstance(value, datetime)
    return table.as_of(_at_time(execution, table, value, moment))


def _value(execution: Execution, moment: Moment) -> object:
    """The number or the time: by Spark, unless it is written as it is."""
    literal = literal_of(moment)
    if literal is None:
        text = f"SELECT {spark_text_of(moment, execution)} AS c0"
        return execution.services.runner.frame(text, {}, execution.tag).collect().column(0)[0].as_py()
    return from_text(pa.array([literal]), BIGINT if moment.cycle else TIMESTAMPTZ)[0].as_py()


def _at_time(execution: Execution, table: Relation, time: datetime, moment: Moment) -> int:
    now = execution.transaction.now
    if time > now:
        raise _refused(f"{time} is in the future", moment, detail=f"The transaction began at {now}.")
    history = execution.services.catalog.history
    found = history.at(table.oid, table.version, micros(time))
    if found is None:
        raise _not_retained(f'table "{table.name}" as of {time}', moment)
    return found.version


# -- cycles ------------------------------------------------------------------------------------------------------


def _after_cycle(execution: Execution, table: Relation, cycle: int, moment: Moment) -> int:
    history = execution.services.catalog.history
    query, name = _query(execution, table, moment)
    found = history.after(table.oid, table.version, query, cycle)
    if found is not None:
        return found.version
    newest = history.newest_cycle(table.oid, table.version, query)
    if newest is not None and newest.cycle is not None and cycle > newest.cycle:
        detail = f"Its last cycle is {newest.cycle}."
        raise _refused(f'cycle {cycle} of continuous query "{name}" has not been committed', moment, detail=detail)
    raise _not_retained(f'table "{table.name}" as of cycle {cycle} of continuous query "{name}"', moment)


def _query(execution: Execution, table: Relation, moment: Moment) -> tuple[int, str]:
    """The query whose cycles are meant, by oid and name: the one that OF names, or the only one."""
    queries = {one.oid: one.name for one in execution.transaction.relations.values() if one.kind == "query"}
    wrote = execution.services.catalog.history.writers(table.oid)
    # One that was dropped is known by the name that it had; one that took its name since comes after it.
    by_name = {queries.get(oid, name): oid for oid, name in wrote.items()}
    if moment.query is not None:
        return _named(table, by_name, moment), moment.query
    if len(by_name) > 1:
        message = f'cycles of several continuous queries wrote table "{table.name}": {", ".join(sorted(by_name))}'
        raise _refused(message, moment, hint="Name one of them: AS OF CYCLE n OF query.")
    if not by_name:
        raise _not_retained(f'a cycle that wrote table "{table.name}"', moment)
    ((name, oid),) = by_name.items()
    return oid, name


def _named(table: Relation, by_name: dict[str, int], moment: Moment) -> int:
    assert moment.query is not None
    if moment.query not in by_name:
        message = f'no cycle of a continuous query "{moment.query}" that wrote table "{table.name}" is retained'
        hint = closest(moment.query, by_name)
        raise MillpondError(SqlState.UNDEFINED_OBJECT, message, hint=hint, position=moment.position)
    return by_name[moment.query]


# -- errors ------------------------------------------------------------------------------------------------------


def _refused(message: str, moment: Moment, *, detail: str | None = None, hint: str | None = None) -> MillpondError:
    state = SqlState.INVALID_PARAMETER_VALUE
    return MillpondError(state, message, detail=detail, hint=hint, position=moment.position)


def _not_retained(what: str, moment: Moment) -> MillpondError:
    return MillpondError(
        SqlState.VERSION_NOT_RETAINED,
        f"{what} is not retained",
        detail='A version is kept for a while after the next one replaced it: "history_retention".',
        hint="See millpond_history for what there is.",
        position=moment.position,
    )
