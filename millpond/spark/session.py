"""The Spark session of a pond: every option in one place, each with its reason."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from millpond.config import Settings

_lock = threading.Lock()
_users: dict[int, int] = {}

_ONE_STAGE = {
    # Nothing is so little that it is broadcast; what is hashed may be so many times as much as there are partitions.
    "spark.sql.autoBroadcastJoinThreshold": "1",
    "spark.sql.shuffle.partitions": str(1 << 28),
    "spark.sql.join.preferSortMergeJoin": "false",
    "spark.sql.shuffledHashJoinFactor": "1",
    # A file is read by one task and opened once, however long it seems; in few rows nothing can be skipped.
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.files.maxPartitionBytes": str(1 << 50),
    "spark.sql.parquet.filterPushdown": "false",
}


def options(settings: Settings, scratch: Path) -> dict[str, str]:
    """Spark's options for a pond."""
    return {
        # Answers are PostgreSQL's: errors instead of NULLs, one time zone, names that differ in case differ.
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.caseSensitive": "true",
        "spark.sql.timestampType": "TIMESTAMP_LTZ",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        # A literal that holds `${` is data, not a variable.
        "spark.sql.variable.substitute": "false",
        # Results travel as Arrow; a decimal or a timestamp must not pass through pickled rows.
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Fixed cost per job is the enemy: few partitions, no adaptive re-planning, no listing job for files.
        "spark.sql.shuffle.partitions": str(settings.integer("spark_shuffle_partitions")),
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
        "spark.sql.files.openCostInBytes": "65536",
        # Code that was generated once is found again, by all queries that need the same, until a pond has very many:
        # to the JVM's compiler it would be new.
        "spark.sql.codegen.cache.maxEntries": "2000",
        "spark.sql.codegen.useIdInClassName": "false",
        # Sets of values are kept for more than 128 groups before Spark begins to sort.
        "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "10000",
        # Short statements are not queued behind long ones.
        "spark.scheduler.mode": "FAIR",
        # Behind the guard, Spark refuses by itself what no text of ours needs: Java by reflection and TRANSFORM, files
        # as relations, scripts.
        "spark.sql.restrictedMode.enabled": "true",
        "spark.sql.runSQLOnFiles": "false",
        "spark.sql.scripting.enabled": "false",
        # Nothing listens beyond loopback, and nothing is written outside the pond.
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.local.dir": str(scratch / "spark"),
        "spark.driver.memory": settings.text("spark_driver_memory"),
        # A wide schema must not fill a log line or an error message.
        "spark.sql.debug.maxToStringFields": "100",
        "spark.ui.showConsoleProgress": "false",
    }


def start(master: str, settings: Settings, scratch: Path) -> SparkSession:
    """A session for one pond. The JVM and its context are shared by the ponds of a process."""
    with _lock:
        context = SparkContext._active_spark_context or _start_context(master, settings, scratch)
        session = SparkSession(context).newSession()
        for name, value in options(settings, scratch).items():
            if session.conf.isModifiable(name):
                session.conf.set(name, value)
        _users[id(context)] = _users.get(id(context), 0) + 1
    return session


def for_one_stage(session: SparkSession) -> SparkSession:
    """A session like another one, which plans queries over few rows as one stage if it can: rows that are joined are
    hashed where they are, instead of being sent to all tasks by a job before."""
    made = session.newSession()
    for name, value in {**session.conf.getAll, **_ONE_STAGE}.items():
        if made.conf.isModifiable(name):
            made.conf.set(name, value)
    return made


def stop(session: SparkSession) -> None:
    """Give the session back; the last one to do so stops the context."""
    with _lock:
        context = session.sparkContext
        _users[id(context)] -= 1
        if _users[id(context)] == 0:
            del _users[id(context)]
            context.stop()


def _local_options(master: str) -> dict[str, str]:
    """What goes for Spark in this process; a cluster has its own.

    >>> _local_options("local[2]")["spark.master"], _local_options("spark://host:7077")
    ('local[4]', {})
    """
    found = re.fullmatch(r"local(?:\[(\d+|\*)\])?", master)
    if found is None:
        return {}
    cores = (os.cpu_count() or 1) if found[1] == "*" else int(found[1] or 1)
    return {
        # Tasks are not interrupted for others. A query is cut into as many as there are cores; there is room for twice
        # as many, so that one that takes long does not hold up the short ones.
        "spark.master": f"local[{2 * cores}]",
        "spark.default.parallelism": str(cores),
        # Others on this machine cannot talk to Spark's ports: it makes up a secret.
        "spark.authenticate": "true",
    }


def _start_context(master: str, settings: Settings, scratch: Path) -> SparkContext:
    """Start Spark with its own output silenced: errors reach the user as SQL errors, the rest is noise."""
    for logger in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    configuration = SparkConf().setAppName("millpond").setMaster(master)
    configuration.setAll([*options(settings, scratch).items(), *_local_options(master).items()])
    level = settings.text("spark_log_level")
    gateway = None
    if SparkContext._gateway is None:
        quiet = {"stderr": subprocess.DEVNULL} if level == "OFF" else {}
        gateway = launch_gateway(configuration, popen_kwargs=quiet)  # type: ignore[no-untyped-call]
    context = SparkContext(conf=configuration, gateway=gateway)
    context.setLogLevel(level)
    return context
