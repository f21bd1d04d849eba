"""AIM's six views for Structured Streaming: each as a query of its own, and all on one grouping made by hand."""

from __future__ import annotations

import re

from millpond.bench.aim import CURRENT_WEEK, VIEWS
from millpond.bench.peers.structured_streaming import KeptGrouping

_INNER_GROUPING = re.compile(r"\(\s*(SELECT .*)\) AS e", re.DOTALL)


def kept_grouping(name: str) -> KeptGrouping:
    """A view as it is written, whose first grouping is kept; what comes above it is computed from all groups.

    >>> kept_grouping("q2").answers
    {'q2': 'SELECT max(max_cost) AS max_cost FROM grouped AS e'}
    """
    query = VIEWS[name].strip()
    inner = _INNER_GROUPING.search(query)
    if inner is None:
        return KeptGrouping(query, {name: "SELECT * FROM grouped"})
    return KeptGrouping(inner[1], {name: query.replace(inner[0], "grouped AS e")})


SIX_QUERIES = [kept_grouping(name) for name in VIEWS]

_WITH_CUSTOMERS = "FROM grouped JOIN customers ON entity_id = id"

BY_HAND = KeptGrouping(
    f"""
        SELECT entity_id, count(*) AS num_calls, sum(duration) AS t_duration, sum(cost) AS t_cost,
          max(cost) AS max_cost, count(*) FILTER (WHERE NOT long_distance) AS local_calls,
          sum(duration) FILTER (WHERE NOT long_distance) AS local_duration,
          sum(cost) FILTER (WHERE long_distance) AS cost_long,
          sum(cost) FILTER (WHERE NOT long_distance) AS cost_local
        FROM events WHERE week = {CURRENT_WEEK} GROUP BY entity_id""",
    {
        "q1": "SELECT avg(t_duration) FROM grouped WHERE local_calls > 2",
        "q2": "SELECT max(max_cost) FROM grouped WHERE num_calls > 2",
        "q3": "SELECT sum(t_cost) / sum(t_duration) FROM grouped GROUP BY num_calls LIMIT 100",
        "q4": f"""
            SELECT city_zip, avg(local_calls), sum(local_duration) {_WITH_CUSTOMERS}
            WHERE local_calls > 4 AND local_duration > 25 GROUP BY city_zip""",
        "q5": f"""
            SELECT region_id, sum(cost_long), sum(cost_local) {_WITH_CUSTOMERS}
            WHERE type = 2 AND category = 1 GROUP BY region_id""",
        "q7": f"SELECT sum(t_cost) / sum(t_duration) {_WITH_CUSTOMERS} WHERE value_type = 2",
    },
)
"""What somebody writes who knows that all six are about customers: one state, as few aggregates as possible."""
