"""Runs Flink SQL. A script of its own: it runs in Flink's virtual environment, which has no Millpond.

Standard input is JSON: the statements that make `tables`, the queries to be `checked`, and the `queries` to be timed:
in the `mode` streaming as one job, in the `mode` batch one after the other, with their answers; in the `mode` until
each ends with the row that has its value of `until` first, which `finished` lines tell one by one.
Standard output has a line with all answers, and one each when what is timed starts and finishes.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

CONFIGURATION = {
    "parallelism.default": "2",
    # Flink's own advice for aggregations: gather rows, aggregate before the shuffle, then touch the state once.
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "1 s",
    "table.exec.mini-batch.size": "100000",
    "table.optimizer.agg-phase-strategy": "TWO_PHASE",
    # No copies of rows between chained operators, and nothing written for recovery: the fastest it goes.
    "pipeline.object-reuse": "true",
    "rest.bind-port": "0",
    "table.local-time-zone": "UTC",
}

BATCH_CONFIGURATION = {
    # Joins in the order that suits the sizes of the tables, not in that of the text.
    "table.optimizer.join-reorder-enabled": "true",
}


def main() -> None:
    job: dict[str, Any] = json.load(sys.stdin)
    environment = _environment(job["mode"])
    for statement in job["tables"]:
        environment.execute_sql(statement)
    answers: dict[str, Any] = {name: _answer(environment, query) for name, query in job["checked"].items()}
    if job["mode"] == "streaming":
        _run(environment, job["queries"])
    elif job["mode"] == "until":
        for query in job["queries"].values():
            answers |= _until(environment, query, job["until"])
    else:
        answers |= {name: _timed_answer(environment, name, query) for name, query in job["queries"].items()}
    print("answers", json.dumps(answers), flush=True)


def _environment(mode: str) -> Any:
    # Imported by name: where this file is type-checked there is no Flink.
    table = importlib.import_module("pyflink.table")
    settings = table.EnvironmentSettings.new_instance()
    settings = settings.in_batch_mode() if mode == "batch" else settings.in_streaming_mode()
    environment = table.TableEnvironment.create(settings.build())
    for name, value in {**CONFIGURATION, **(BATCH_CONFIGURATION if mode == "batch" else {})}.items():
        environment.get_config().set(name, value)
    return environment


def _answer(environment: Any, query: str) -> list[list[str | None]]:
    """What a query over bounded input holds at its end: the changes it emits, applied one after the other."""
    rows: dict[tuple[str | None, ...], int] = {}
    with environment.execute_sql(query).collect() as changes:
        for change in changes:
            row = tuple(None if value is None else str(value) for value in change)
            gone = change.get_row_kind().name in ("DELETE", "UPDATE_BEFORE")
            rows[row] = rows.get(row, 0) + (-1 if gone else 1)
    return [list(row) for row, count in rows.items() for _ in range(count)]


def _timed_answer(environment: Any, name: str, query: str) -> list[list[str | None]]:
    print("started", name, flush=True)
    answer = _answer(environment, query)
    print("finished", name, flush=True)
    return answer


def _until(environment: Any, query: str, marks: dict[str, str]) -> dict[str, list[list[str]]]:
    """A query over windows, in their order, until all rows whose first values are marked have come: these rows."""
    found: dict[str, list[list[str]]] = {}
    print("started", flush=True)
    with environment.execute_sql(query).collect() as rows:
        for row in rows:
            name = marks.get(str(row[0]))
            if name is not None:
                print("finished", name, flush=True)
                found[name] = [[str(value) for value in list(row)[1:]]]
            if len(found) == len(marks):
                return found
    return found


def _run(environment: Any, queries: dict[str, str]) -> None:
    """All queries as one job, until their last row is out; the rows themselves go nowhere."""
    statements = environment.create_statement_set()
    for name, query in queries.items():
        listed = ", ".join(_columns(environment.sql_query(query)))
        environment.execute_sql(f"CREATE TABLE sink_{name} ({listed}) WITH ('connector' = 'blackhole')")
        statements.add_insert_sql(f"INSERT INTO sink_{name} {query}")
    print("started", flush=True)
    statements.execute().wait()
    print("finished", flush=True)


def _columns(table: Any) -> list[str]:
    """The columns of a query's result, as CREATE TABLE wants them. Only the Java side knows their exact types."""
    columns = table._j_table.getResolvedSchema().getColumns()
    return [f"`{one.getName()}` {one.getDataType().getLogicalType().asSerializableString()}" for one in columns]


if __name__ == "__main__":
    main()
