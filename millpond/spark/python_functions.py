"""Python functions as Spark knows them: each registered once, when a query first mentions it, under its own oid.

They get columns as Arrow, a batch at a time, in Python processes of Spark's workers.
"""

from __future__ import annotations

import base64
import sys
import threading
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyspark.cloudpickle
import pyspark.sql.functions
from pyspark.sql import SparkSession

from millpond.python_function import PythonFunction
from millpond.spark.worker_functions import Code, by_key, by_row, this_module

# Neither has types that mypy could check.
cloudpickle: Any = pyspark.cloudpickle
arrow_udf: Any = pyspark.sql.functions.arrow_udf  # type: ignore[attr-defined]

# What workers run is sent to them: they need not have Millpond.
cloudpickle.register_pickle_by_value(this_module)

MADE, KEPT = "made", "state"
"""What a call of a stateful function returns: the values, and the state."""


class PythonFunctions:
    """Those that some sessions of Spark know; safe to use from several threads."""

    def __init__(self, sessions: Sequence[SparkSession]) -> None:
        self._sessions = sessions
        self._lock = threading.Lock()
        self._known: set[str] = set()

    def define(self, function: PythonFunction) -> None:
        """Let queries call a function from now on."""
        with self._lock:
            if function.spark_name not in self._known:
                for session in self._sessions:
                    session.udf.register(function.spark_name, _udf(function))
                self._known.add(function.spark_name)


def _udf(function: PythonFunction) -> Any:
    pickled = None if function.pickled is None else base64.b64decode(function.pickled)
    code = Code(function.name, function.python_parameters, function.body, pickled)
    kind = function.result.arrow
    if not function.keys:
        return arrow_udf(by_row(code, kind), function.result.spark)
    returned = pa.struct([pa.field(MADE, pa.list_(kind)), pa.field(KEPT, pa.binary())])
    spark_type = f"STRUCT<{MADE}: ARRAY<{function.result.spark}>, {KEPT}: BINARY>"
    return arrow_udf(by_key(code, kind, returned), spark_type)


def pickled(function: object) -> str:
    """A callable as text: by value, so that workers and later processes need not have its module."""
    module = getattr(function, "__module__", None)
    own = sys.modules.get(module or "")
    by_value = own is not None and module != "__main__"
    if by_value:
        cloudpickle.register_pickle_by_value(own)
    try:
        return base64.b64encode(cloudpickle.dumps(function)).decode()
    finally:
        if by_value:
            cloudpickle.unregister_pickle_by_value(own)
