"""PostgreSQL's answers, one by one: what PostgreSQL 16 gives for an expression or a query, and what Spark gives us."""

from __future__ import annotations

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from millpond.errors import MillpondError
from millpond.sql.runtime_errors import from_spark
from millpond.types import INTERVAL
from millpond.values.intervals import interval
from millpond.values.text_output import to_text
from tests.spark.dialect_expressions import EXPRESSIONS
from tests.spark.dialect_queries import ERRORS, QUERIES, Rows
from tests.unit.sql.catalog import SPARK_NAMES, bound

_DATA = {
    "t_data": """SELECT CAST(a AS INT) a, b, CAST(n AS DECIMAL(10,2)) n, CAST(ts AS TIMESTAMP_NTZ) ts,
        CAST(d AS DATE) d, CAST(f AS DOUBLE) f, CAST(x AS BIGINT) x, CAST(n AS DECIMAL(38,18)) u
        FROM VALUES (1, 'one', 1.50, '2024-01-01 10:00:00', '2024-01-01', 1.5, 10),
        (2, 'two', 2.25, '2024-01-02 11:30:00', '2024-01-02', 2.5, 20), (2, null, null, null, null, null, null),
        (3, 'three', -3.75, '2024-02-29 23:59:59.5', '2024-02-29', -0.5, 30) AS t(a, b, n, ts, d, f, x)""",
    "p_data": """SELECT 7 id, 'seven' name, 'ab' code, true ok, TIMESTAMP '2024-01-01 12:00:00' tz, 1 `select`,
        'x' Mixed""",
    "s_data": "SELECT 1 a, 'c' c, 0L tid, TIMESTAMP '2024-01-01 00:00:00' arrival_timestamp",
}
_EXPRESSIONS_PER_JOB = 40


@pytest.fixture(scope="module")
def session(shared_spark: None) -> SparkSession:
    session = SparkSession.builder.getOrCreate().newSession()
    options = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC", "spark.sql.caseSensitive": "true"}
    for name, value in {**options, "spark.sql.shuffle.partitions": "2", "spark.sql.adaptive.enabled": "false"}.items():
        session.conf.set(name, value)
    for name, text in _DATA.items():
        session.sql(text).createOrReplaceTempView(name)
    return session


def run(session: SparkSession, sql: str) -> Rows:
    """The rows of a query in PostgreSQL's text; an error is PostgreSQL's."""
    query = bound(sql)
    text = query.to_spark(SPARK_NAMES)
    try:
        table = session.sql(text).toArrow()
    except PySparkException as error:
        parameters = error.getMessageParameters() or {}
        raise from_spark(error.getCondition() or "", error.getSqlState(), parameters, str(error)) from error
    except Py4JJavaError as error:
        raise from_spark("", None, {}, str(error)) from error
    columns = []
    for column, chunks in zip(query.columns, table.columns, strict=True):
        values = chunks.combine_chunks()
        if column.type == INTERVAL:
            parsed = [None if value is None else interval(value, INTERVAL) for value in values.to_pylist()]
            values = pa.array(parsed, INTERVAL.arrow)
        assert values.type == column.type.arrow, f"{column.name} is {values.type}, not {column.type}"
        columns.append(to_text(values, column.type).to_pylist())
    return [tuple(row) for row in zip(*columns, strict=True)]


@pytest.fixture(scope="module")
def answers(session: SparkSession) -> dict[str, str | None]:
    """All expressions, few jobs: a job that fails is taken apart by the tests that miss their answer."""
    found: dict[str, str | None] = {}
    texts = [text for text, _ in EXPRESSIONS]
    for start in range(0, len(texts), _EXPRESSIONS_PER_JOB):
        chunk = texts[start : start + _EXPRESSIONS_PER_JOB]
        try:
            row = run(session, f"SELECT {', '.join(chunk)}")[0]
        except MillpondError:
            continue
        found.update(zip(chunk, row, strict=True))
    return found


@pytest.mark.parametrize(("text", "expected"), EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
def test_expression(session: SparkSession, answers: dict[str, str | None], text: str, expected: str | None) -> None:
    answer = answers[text] if text in answers else run(session, f"SELECT {text}")[0][0]
    assert answer == expected


@pytest.mark.parametrize(("sql", "expected"), QUERIES, ids=[sql for sql, _ in QUERIES])
def test_query(session: SparkSession, sql: str, expected: Rows) -> None:
    assert run(session, sql) == expected


@pytest.mark.parametrize(("sql", "sqlstate", "message"), ERRORS, ids=[sql for sql, _, _ in ERRORS])
def test_error(session: SparkSession, sql: str, sqlstate: str, message: str) -> None:
    with pytest.raises(MillpondError) as caught:
        run(session, sql)
    assert (caught.value.sqlstate, caught.value.message) == (sqlstate, message)


# fmt: off
NASTY = (
    "it's", "a\\b", "\\", "\\\\'", '"', "`", "a\nb\tc\rd", "${env:HOME}", "$", "{}", "%s", "\\u0041", "\x08\x1a\x7f",
    "☃", "𝄞", "\u202e", " ", "", "--", "/* x */", ";", "\\'; DROP TABLE t; --", "?", ":a", "\\0", "\\%", "\\_",
)
# fmt: on


def test_any_text_comes_back_as_it_went_in(session: SparkSession) -> None:
    literals = ", ".join("'" + text.replace("'", "''") + "'" for text in NASTY)
    assert run(session, f"SELECT {literals}") == [NASTY]
