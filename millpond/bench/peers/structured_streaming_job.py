"""Runs queries of Structured Streaming. A script of its own: Millpond's Spark, and its options, are not involved.

Standard input is JSON: a `directory` to work in, the folders of `tables`, `warm_up` and `events`, how many files make
a chunk, and the `queries`.
Standard output has a line each when the queries over all events start and finish, and one with their answers.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

OPTIONS = {
    "spark.master": "local[2]",
    "spark.driver.memory": "4g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    # The queries run side by side, with a partition of their state for each core.
    "spark.scheduler.mode": "FAIR",
    "spark.sql.shuffle.partitions": "2",
    # The table of customers is sent to the stream, instead of sorting both for each chunk.
    "spark.sql.autoBroadcastJoinThreshold": "100MB",
    # No last chunk without rows.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}

Chunk = Callable[[Any, int], None]


def main() -> None:
    job: dict[str, Any] = json.load(sys.stdin)
    spark = _session(Path(job["directory"]))
    for name, path in job["tables"].items():
        table = spark.read.parquet(path).cache()
        table.count()
        table.createOrReplaceTempView(name)
    _run(spark, job, "warm_up")
    print("started", flush=True)
    answers = _run(spark, job, "events")
    print("finished", flush=True)
    print("answers", json.dumps({name: _rows(table) for name, table in answers.items()}, default=str), flush=True)
    spark.stop()


def _session(directory: Path) -> Any:
    # Imported by name: in Millpond itself one folder alone knows Spark.
    builder = importlib.import_module("pyspark.sql").SparkSession.builder
    files = {"spark.local.dir": directory / "local", "spark.sql.warehouse.dir": directory / "warehouse"}
    for name, value in {**OPTIONS, **files}.items():
        builder = builder.config(name, str(value))
    return builder.getOrCreate()


def _run(spark: Any, job: dict[str, Any], events: str) -> dict[str, Any]:
    """Every query over the events in a folder, side by side; returns the last answers as Arrow tables."""
    schema = spark.read.parquet(job[events]).schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", job["chunk_files"]).parquet(job[events])
    stream.createOrReplaceTempView("events")
    answers: dict[str, Any] = {}
    running = [
        spark.sql(query["grouping"])
        .writeStream.outputMode("complete")
        .foreachBatch(_answering(query["answers"], answers))
        .option("checkpointLocation", str(Path(job["directory"], "checkpoints", events, str(number))))
        .trigger(availableNow=True)
        .start()
        for number, query in enumerate(job["queries"])
    ]
    for query in running:
        query.awaitTermination()
    return answers


def _answering(queries: dict[str, str], answers: dict[str, Any]) -> Chunk:
    """After each chunk, read all groups and compute the answers, which the driver keeps for whoever asks."""

    def answer(grouped: Any, _: int) -> None:
        # Without this each answer would compute the chunk again.
        if len(queries) > 1:
            grouped.persist()
        grouped.createOrReplaceTempView("grouped")
        for name, query in queries.items():
            answers[name] = grouped.sparkSession.sql(query).toArrow()
        grouped.unpersist()

    return answer


def _rows(table: Any) -> list[list[Any]]:
    return [list(row) for row in zip(*(column.to_pylist() for column in table.columns), strict=True)]


if __name__ == "__main__":
    main()
