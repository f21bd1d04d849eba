"""The AIM workload: calls of customers as a stream, customers as a table, and six of its seven queries as views.

The queries and their parameters (alpha = 2, beta = 2, gamma = 4, delta = 25, t = 2, cat = 1, v = 2) are those of
"Meet me halfway", table 2; its query 6 is no single view. A week is a column, so that the data is the same whenever it
is made, and every call but a few is of the current one. The texts are PostgreSQL's and mean the same in DuckDB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from millpond import Pond

CUSTOMERS = 1_000_000
CURRENT_WEEK = 46
_OLD_CALLS = 0.05
"""The share of calls that come from the week before, which every view leaves out."""

EVENT_COLUMNS = "entity_id int, duration int, cost numeric(10,2), week int, long_distance boolean"
CUSTOMER_COLUMNS = "id int, city_zip int, region_id int, type int, category int, value_type int"

_EVENT_TYPES: dict[str, pa.DataType] = {
    "entity_id": pa.int32(),
    "duration": pa.int32(),
    "cost": pa.decimal128(10, 2),
    "week": pa.int32(),
    "long_distance": pa.bool_(),
}
EVENT_SCHEMA = pa.schema(_EVENT_TYPES)

_CUSTOMER_KINDS = {"city_zip": 1_000, "region_id": 20, "type": 4, "category": 3, "value_type": 4}
"""How many different values a column of a customer has, from 0 on."""

VIEWS: dict[str, str] = {
    "q1": f"""
        SELECT avg(t_duration) AS avg_duration FROM (
          SELECT sum(duration) AS t_duration FROM events WHERE week = {CURRENT_WEEK} GROUP BY entity_id
          HAVING count(*) FILTER (WHERE NOT long_distance) > 2) AS e""",
    "q2": f"""
        SELECT max(max_cost) AS max_cost FROM (
          SELECT max(cost) AS max_cost FROM events WHERE week = {CURRENT_WEEK} GROUP BY entity_id
          HAVING count(*) > 2) AS e""",
    "q3": f"""
        SELECT sum(t_cost) / sum(t_duration) AS cost_ratio FROM (
          SELECT sum(cost) AS t_cost, sum(duration) AS t_duration, count(*) AS num_calls FROM events
          WHERE week = {CURRENT_WEEK} GROUP BY entity_id) AS e
        GROUP BY num_calls LIMIT 100""",
    "q4": f"""
        SELECT city_zip, avg(num_calls) AS avg_calls, sum(duration_calls) AS duration_calls FROM (
          SELECT entity_id, count(*) AS num_calls, sum(duration) AS duration_calls FROM events
          WHERE NOT long_distance AND week = {CURRENT_WEEK} GROUP BY entity_id
          HAVING count(*) > 4 AND sum(duration) > 25) AS e, customers AS c
        WHERE e.entity_id = c.id GROUP BY city_zip""",
    "q5": f"""
        SELECT c.region_id, sum(e.cost) FILTER (WHERE e.long_distance) AS cost_long,
          sum(e.cost) FILTER (WHERE NOT e.long_distance) AS cost_local
        FROM events AS e, customers AS c
        WHERE e.entity_id = c.id AND e.week = {CURRENT_WEEK} AND c.type = 2 AND c.category = 1
        GROUP BY c.region_id""",
    "q7": f"""
        SELECT sum(e.cost) / sum(e.duration) AS cost_ratio FROM events AS e, customers AS c
        WHERE e.entity_id = c.id AND e.week = {CURRENT_WEEK} AND c.value_type = 2""",
}

FLINK_VIEWS = {name: re.sub(r"avg\((\w+)\)", r"avg(CAST(\1 AS DOUBLE))", query) for name, query in VIEWS.items()}
"""The same for Flink, where the average of integers is an integer."""


def events(rows: int, customers: int = CUSTOMERS, seed: int = 1) -> pa.Table:
    """Calls, the same for the same seed."""
    random = np.random.default_rng(seed)
    weeks = np.where(random.random(rows) < _OLD_CALLS, CURRENT_WEEK - 1, CURRENT_WEEK).astype(np.int32)
    return pa.table(
        [
            pa.array(random.integers(0, customers, rows, dtype=np.int32)),
            pa.array(random.integers(1, 3_600, rows, dtype=np.int32)),
            pa.array(random.integers(0, 100_000, rows) / 100).cast(pa.decimal128(10, 2)),
            pa.array(weeks),
            pa.array(random.random(rows) < 0.2),
        ],
        schema=EVENT_SCHEMA,
    )


def customers(rows: int = CUSTOMERS, seed: int = 2) -> pa.Table:
    """Customers, their ids dense from 0."""
    random = np.random.default_rng(seed)
    columns = {"id": pa.array(np.arange(rows, dtype=np.int32))}
    for name, count in _CUSTOMER_KINDS.items():
        columns[name] = pa.array(random.integers(0, count, rows, dtype=np.int32))
    return pa.table(columns)


def chunks(rows: pa.Table, chunk_rows: int) -> Iterator[pa.Table]:
    """The rows in inserts of so many."""
    for start in range(0, rows.num_rows, chunk_rows):
        yield rows.slice(start, chunk_rows)


def create(pond: Pond, people: pa.Table, *, capacity_rows: int) -> None:
    """The stream, the table with its rows, and the six views."""
    pond.execute(f"CREATE TABLE customers ({CUSTOMER_COLUMNS})")
    pond.insert("customers", people)
    pond.execute(
        f"CREATE FOREIGN TABLE events ({EVENT_COLUMNS}) SERVER stream "
        f"OPTIONS (durability 'memory', capacity '{capacity_rows}')"
    )
    _create_views(pond)


def recreate_views(pond: Pond) -> None:
    """The six views anew, which have seen no call yet."""
    for name in VIEWS:
        pond.execute(f"DROP VIEW {name}")
    _create_views(pond)


def _create_views(pond: Pond) -> None:
    for name, query in VIEWS.items():
        pond.execute(f"CREATE VIEW {name} AS {query}")
