"""A query that Spark planned once, to be run again over what its files hold then.

Most of a small job's time goes into planning: rules, code to generate, closures to look through. What comes out is an
RDD, which can be run as often as one likes. It reads the files of the paths that were there when it was planned, up to
the length that they had, so that whoever keeps it puts files there that are not longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import pyarrow as pa
from py4j.java_gateway import JavaObject
from pyspark.serializers import NoOpSerializer
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.util import _load_from_socket

from millpond.spark.runner import Frame, Runner, of_nullable

_SHORT = 4096
"""Bytes that a call answers at once. Longer answers are sent in parts, and wait for their receipt; what takes them is a
socket of its own."""


class KeptJob:
    """One query of a runner for one stage. What it makes are rows of a schema of Arrow."""

    def __init__(self, runner: Runner, dataset: JavaObject, batches: JavaObject, schema: pa.Schema) -> None:
        self._runner, self._schema = runner, schema
        # As long as the dataset lives, so do the counters that its tasks report to.
        self._dataset, self._batches = dataset, batches
        self._properties = _properties(runner)
        assert runner.session._jvm is not None
        self._python = runner.session._jvm.org.apache.spark.api.python
        self._is_short = False

    @classmethod
    def planned(
        cls, runner: Runner, frame: Frame, tag: str, lengthened: AbstractContextManager[None]
    ) -> KeptJob | None:
        """The job of a query that was analysed for one stage; None if it is more than one. A stage that others read, as
        a shuffle or a broadcast, is run once: they would read again what it made of the files of that time.

        Spark's choices are those for the files of now; the lengths up to which they are read later are those that they
        have while they are `lengthened`.
        """
        jvm, session = runner.session._jvm, runner.session._jsparkSession
        assert jvm is not None
        analysed = frame.refreshed_plan(tag)
        with runner.job(tag):
            # What is generated looks for the options of the session that is active.
            jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(session)
            dataset = jvm.org.apache.spark.sql.classic.Dataset.ofRows(session, analysed)
            plan = dataset.queryExecution().executedPlan()
            if "Exchange" in plan.toString() or plan.subqueriesAll().size():
                return None
        with lengthened:
            frame.refreshed_plan(tag)
            with runner.job(tag):
                batches = dataset.toArrowBatchRdd()
        if "Shuffle" in batches.toDebugString():
            return None
        schema = to_arrow_schema(frame.dataframe.schema, error_on_duplicated_field_names_in_struct=True, timezone="UTC")
        return cls(runner, dataset, batches.toJavaRDD(), of_nullable(schema))

    def collect(self, tag: str) -> pa.Table:
        """All rows, as Arrow."""
        with self._with_options(), self._runner.job(tag):
            messages = self._messages()
        batches = (pa.ipc.read_record_batch(pa.py_buffer(message), self._schema) for message in messages)
        return pa.Table.from_batches(batches, self._schema)

    def _messages(self) -> list[bytes]:
        """What the tasks made. Before a job, Spark reads through the class of its function for what that refers to; of
        those that collect, only the one to be waited for is in a short class."""
        made = self._batches.collectAsync().get()
        if self._is_short:
            messages = [made.get(place) for place in range(made.size())]
        else:
            served = self._python.PythonRDD.serveIterator(self._python.PythonUtils.toSeq(made).iterator(), "batches")
            with _load_from_socket(served, NoOpSerializer()) as stream:
                messages = list(stream)
        self._is_short = sum(map(len, messages)) <= _SHORT
        return messages

    @contextmanager
    def _with_options(self) -> Iterator[None]:
        """Tasks ask the job's properties for the session's options."""
        context = self._runner.session.sparkContext._jsc.sc()
        before = context.getLocalProperties()
        context.setLocalProperties(self._properties)
        try:
            yield
        finally:
            context.setLocalProperties(before)


def _properties(runner: Runner) -> JavaObject:
    """A session's options as those of a job."""
    jvm = runner.session._jvm
    assert jvm is not None
    properties = jvm.java.util.Properties()
    properties.putAll(runner.session._jsparkSession.sessionState().conf().settings())
    return properties
