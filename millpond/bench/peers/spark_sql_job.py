"""Runs Spark SQL over files. A script of its own: Millpond's Spark, and its options, are not involved.

Standard input is JSON: a `directory` to work in, the `tables` with format, schema and path, queries to `warm_up` with,
and the `queries` to be timed.
Standard output has a line each when one of these starts and finishes, and one with all their answers.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

OPTIONS = {
    "spark.master": "local[2]",
    "spark.driver.memory": "4g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    # A partition for each core, as Millpond has them; the default of 200 is for a cluster.
    "spark.sql.shuffle.partitions": "2",
}


def main() -> None:
    job: dict[str, Any] = json.load(sys.stdin)
    spark = _session(Path(job["directory"]))
    for table in job["tables"]:
        files = spark.read.load(table["path"], format=table["format"], schema=table["schema"])
        files.createOrReplaceTempView(table["name"])
    for query in job["warm_up"]:
        spark.sql(query).toArrow()
    answers = {name: _timed_answer(spark, name, query) for name, query in job["queries"].items()}
    print("answers", json.dumps(answers, default=str), flush=True)
    spark.stop()


def _session(directory: Path) -> Any:
    # Imported by name: in Millpond itself one folder alone knows Spark.
    builder = importlib.import_module("pyspark.sql").SparkSession.builder
    files = {"spark.local.dir": directory / "local", "spark.sql.warehouse.dir": directory / "warehouse"}
    for name, value in {**OPTIONS, **files}.items():
        builder = builder.config(name, str(value))
    return builder.getOrCreate()


def _timed_answer(spark: Any, name: str, query: str) -> list[list[Any]]:
    print("started", name, flush=True)
    table = spark.sql(query).toArrow()
    print("finished", name, flush=True)
    return [list(row) for row in zip(*(column.to_pylist() for column in table.columns), strict=True)]


if __name__ == "__main__":
    main()
