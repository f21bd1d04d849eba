"""Spark's failures as SQL errors: finds the cause in what Spark throws, whatever it is wrapped in."""

from __future__ import annotations

import re

from py4j.java_gateway import JavaObject, is_instance_of
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from millpond.errors import MillpondError, SqlState
from millpond.sql.runtime_errors import from_spark

SparkFailure = (PySparkException, Py4JError, ConnectionError)


def sql_error(error: BaseException) -> MillpondError:
    """The SQL error of a failure."""
    if isinstance(error, PySparkException):
        condition, message = error.getCondition() or "", str(error)
        sqlstate, parameters = error.getSqlState(), error.getMessageParameters() or {}
    elif not isinstance(error, Py4JJavaError):
        return MillpondError(
            SqlState.SYSTEM_ERROR,
            "the connection to Spark is lost",
            detail=f"{type(error).__name__}: {error}",
            hint="Spark may have run out of memory: raise spark_driver_memory, and open the pond again.",
        )
    else:
        message, parameters = _root_message(error)
        condition, sqlstate = _bracketed(message), None
    if "SPARK_JOB_CANCELLED" in (condition, _bracketed(message)) or "SPARK_JOB_CANCELLED" in message:
        return MillpondError(SqlState.QUERY_CANCELED, "canceling statement due to user request")
    return from_spark(condition, sqlstate, parameters, message)


def _root_message(error: Py4JJavaError) -> tuple[str, dict[str, str]]:
    """The message of the innermost cause that names its condition, and its parameters; threads that waited wrap it."""
    cause, message, parameters = error.java_exception, str(error), dict[str, str]()
    while cause is not None:
        found = cause.getMessage() or ""
        if _bracketed(found):
            message, parameters = found, _parameters(cause)
        elif not _bracketed(message):
            message = found
        cause = cause.getCause()
    return message, parameters


def _parameters(cause: JavaObject) -> dict[str, str]:
    """What a message of Spark's is about."""
    gateway = SparkContext._gateway
    if gateway is None or not is_instance_of(gateway, cause, "org.apache.spark.SparkThrowable"):
        return {}
    return {str(name): str(value) for name, value in cause.getMessageParameters().items()}


def _bracketed(message: str) -> str:
    """`[CONDITION]` at the start of a message."""
    found = re.match(r"\[([A-Z0-9_.]+)\]", message)
    return found[1] if found else ""
