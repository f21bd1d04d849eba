"""What the tests of continuous queries share: waiting for a query, and what it says of itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from millpond import Pond
from millpond.run.continuous_query import ContinuousQuery

DEADLINE_S = 60.0
LOOK_S = 0.005


def query_of(pond: Pond, name: str) -> ContinuousQuery:
    query = pond.services.queries.find(pond.services.catalog.snapshot.relations[name].oid)
    assert query is not None
    return query


def wait_until(true: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(LOOK_S)


def caught_up(pond: Pond, *names: str) -> None:
    """Wait until queries, each after the one that feeds it, have taken all that has arrived."""
    for name in names:
        query = query_of(pond, name)
        wait_until(partial(has_ended, query), f"{name} does not catch up")
        assert query.record.failure is None, query.record.failure


def has_ended(query: ContinuousQuery) -> bool:
    return query.lag == 0 or query.record.failure is not None


def set_aside(pond: Pond, name: str) -> tuple[str, str]:
    """Wait until a query was set aside; its error."""
    query = query_of(pond, name)
    wait_until(lambda: query.record.failure is not None, f"{name} goes on")
    failure = query.record.failure
    assert failure is not None
    return failure.sqlstate, failure.message


def shown(pond: Pond, name: str, *columns: str) -> tuple[Any, ...]:
    """Columns of millpond_queries."""
    found = pond.execute(f"SELECT {', '.join(columns)} FROM millpond_queries WHERE name = '{name}'").fetchall()
    assert len(found) == 1
    return tuple(found[0])
