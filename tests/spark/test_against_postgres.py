"""Millpond against PostgreSQL: the same text on both, and PostgreSQL is right.

The cases of the dialect's table, random expressions and queries, and wrong statements. `MILLPOND_FUZZ_CASES` sets the
number of random cases and `MILLPOND_FUZZ_SEED` the seed, which is printed: `make fuzz` runs many.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest

import millpond
from millpond import Pond
from millpond.types import SqlType
from tests.spark import random_tables, wrong_statements
from tests.spark.dialect_expressions import EXPRESSIONS
from tests.spark.dialect_queries import ERRORS, QUERIES
from tests.spark.judge import Failure, Judge, Rows, ask_pond, difference, judge_at, rows_difference, same_value
from tests.spark.known_differences import EXTRA_ERRORS, MISSING_ERRORS, as_known
from tests.spark.random_expressions import TYPES, expression
from tests.spark.random_queries import QueryMaker
from tests.unit.sql.catalog import bound

CASES = int(os.environ.get("MILLPOND_FUZZ_CASES", "300"))
SEED = int(os.environ.get("MILLPOND_FUZZ_SEED", "1"))

REFUSED_MAX = 0.03
"""The share of random cases that Millpond may refuse as not supported."""

_EXPRESSIONS_PER_JOB = 30
_ROWS = 12


@pytest.fixture(scope="module")
def judge(postgres: str) -> Iterator[Judge]:
    with judge_at(postgres) as found:
        yield found


@pytest.fixture(scope="module")
def tested(shared_spark: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pond]:
    """A pond for the whole module."""
    path: Path = tmp_path_factory.mktemp("tested") / "pond"
    with millpond.connect(path, master="local[2]") as opened:
        yield opened


# -- the dialect's table --------------------------------------------------------------------------------------

_DIALECT_TABLES = """
CREATE TABLE t (a int, b text, n numeric(10,2), ts timestamp, d date, f float8, x bigint, u numeric);
CREATE TABLE p (id int PRIMARY KEY, name varchar(10), code char(4), ok boolean, tz timestamptz, "select" int,
  "Mixed" text);
CREATE TABLE s (a int, c text);
CREATE VIEW v AS SELECT a, count(*) AS total FROM t GROUP BY a;
INSERT INTO t VALUES (1, 'one', 1.50, '2024-01-01 10:00:00', '2024-01-01', 1.5, 10, 1.5),
  (2, 'two', 2.25, '2024-01-02 11:30:00', '2024-01-02', 2.5, 20, 2.25),
  (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (3, 'three', -3.75, '2024-02-29 23:59:59.5', '2024-02-29', -0.5, 30, -3.75);
INSERT INTO p VALUES (7, 'seven', 'ab', true, '2024-01-01 12:00:00+00', 1, 'x');
INSERT INTO s VALUES (1, 'c');
"""


@pytest.fixture(scope="module")
def dialect_judge(judge: Judge) -> Judge:
    """PostgreSQL with the relations that the dialect's cases are about."""
    assert isinstance(judge.ask(_DIALECT_TABLES), Rows)
    return judge


@pytest.mark.parametrize(("text", "expected"), as_known(EXPRESSIONS))
def test_expected_value(dialect_judge: Judge, text: str, expected: str | None) -> None:
    _check_expectation(dialect_judge, f"SELECT {text}", [(expected,)])


@pytest.mark.parametrize(("sql", "expected"), as_known(QUERIES))
def test_expected_rows(dialect_judge: Judge, sql: str, expected: Sequence[Sequence[str | None]]) -> None:
    _check_expectation(dialect_judge, sql, expected)


def _check_expectation(judge: Judge, sql: str, expected: Sequence[Sequence[str | None]]) -> None:
    answer = judge.ask(sql)
    assert isinstance(answer, Rows), answer
    assert rows_difference(answer.rows, expected, answer.types, ordered=" order by " in sql) is None
    columns = bound(sql).columns
    assert tuple(column.name for column in columns) == answer.names
    assert tuple(str(SqlType(column.type.name)) for column in columns) == answer.types


@pytest.mark.parametrize(("sql", "sqlstate", "message"), as_known(ERRORS))
def test_expected_error(dialect_judge: Judge, sql: str, sqlstate: str, message: str) -> None:
    answer = dialect_judge.ask(sql)
    assert isinstance(answer, Failure)
    assert (answer.sqlstate, answer.message) == (sqlstate, message)


# -- random cases ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def random(judge: Judge, tested: Pond) -> Random:
    """The source of chance; the tables it fills are on both sides."""
    print(f"MILLPOND_FUZZ_SEED={SEED}")
    source = Random(SEED)
    for statement in random_tables.statements(source, _ROWS):
        assert isinstance(judge.ask(statement), Rows), statement
        tested.execute(statement)
    return source


@pytest.mark.timeout(0)
@pytest.mark.parametrize("table", ["usual", "extreme"])
def test_random_expressions(judge: Judge, tested: Pond, random: Random, table: str) -> None:
    count = CASES // 2 if table == "usual" else CASES // 8
    columns = random_tables.columns_of("")
    good: list[str] = []
    bad: list[str] = []
    for _ in range(count):
        text = expression(random, random.choice(TYPES), columns, depth=random.choice((1, 2)))
        fails = isinstance(judge.ask(f"SELECT {text} FROM {table}"), Failure)
        (bad if fails else good).append(text)
    checker = ExpressionChecker(judge, tested, table)
    for start in range(0, len(good), _EXPRESSIONS_PER_JOB):
        checker.check_values(good[start : start + _EXPRESSIONS_PER_JOB])
    for text in bad[: count // 10]:
        checker.check_error(text)
    assert not checker.differences, "\n".join(checker.differences)
    assert checker.refused <= REFUSED_MAX * count


class ExpressionChecker:
    """Compares expressions, many in a query, and collects what differs."""

    def __init__(self, judge: Judge, pond: Pond, table: str) -> None:
        self.judge, self.pond, self.table = judge, pond, table
        self.differences: list[str] = []
        self.refused = 0

    def check_values(self, texts: Sequence[str]) -> None:
        """Expressions that have values; where the query with all of them fails, each half by itself."""
        outputs = ", ".join(f"{text} AS c{place}" for place, text in enumerate(texts))
        sql = f"SELECT {outputs} FROM {self.table} ORDER BY id"
        expected, given = self.judge.ask(sql), ask_pond(self.pond, sql)
        assert isinstance(expected, Rows), expected
        if isinstance(given, Rows):
            self._compare(texts, expected, given)
        elif len(texts) > 1:
            self.check_values(texts[: len(texts) // 2])
            self.check_values(texts[len(texts) // 2 :])
        elif given.sqlstate == "0A000":
            self.refused += 1
        elif not any(known in given.message for known in EXTRA_ERRORS):
            self.differences.append(f"{texts[0]} FROM {self.table}: {given}")

    def _compare(self, texts: Sequence[str], expected: Rows, given: Rows) -> None:
        for place, text in enumerate(texts):
            kind = expected.types[place]
            if given.types[place] != kind:
                self.differences.append(f"{text} FROM {self.table} is {kind}, not {given.types[place]}")
                continue
            pairs = [(one[place], other[place]) for one, other in zip(expected.rows, given.rows, strict=True)]
            odd = [pair for pair in pairs if not same_value(*pair, kind)]
            if odd:
                self.differences.append(f"{text} FROM {self.table} has (expected, given) {odd[:3]}")

    def check_error(self, text: str) -> None:
        """An expression without a value: the same SQLSTATE, or a value that does not need what failed."""
        sql = f"SELECT {text} FROM {self.table}"
        expected, given = self.judge.ask(sql), ask_pond(self.pond, sql)
        if isinstance(given, Failure) and given.sqlstate == "0A000":
            self.refused += 1
            return
        different = difference(expected, given, ordered=False)
        if different and not _may_differ(expected, given):
            self.differences.append(f"{sql}: {different}")


def _may_differ(expected: Rows | Failure, given: Rows | Failure) -> bool:
    """Whether `known_differences` explains that only one of the two fails, or that they fail differently."""
    if isinstance(expected, Failure) and isinstance(given, Failure):
        # Of several errors in one query either may come first.
        return expected.sqlstate[:2] == given.sqlstate[:2] == "22"
    if isinstance(given, Failure):
        return any(known in given.message for known in EXTRA_ERRORS)
    # What stands next to a NULL need not be computed.
    is_null = all(value is None for row in given.rows for value in row)
    return isinstance(expected, Failure) and (is_null or any(known in expected.message for known in MISSING_ERRORS))


@pytest.mark.timeout(0)
def test_random_queries(judge: Judge, tested: Pond, random: Random) -> None:
    count, refused, differences = CASES * 3 // 8, 0, []
    maker = QueryMaker(random)
    for _ in range(count):
        query = maker.query()
        expected, given = judge.ask(query.sql), ask_pond(tested, query.sql)
        if isinstance(given, Failure) and given.sqlstate == "0A000":
            refused += 1
            continue
        different = difference(expected, given, ordered=query.ordered)
        if different and not _may_differ(expected, given):
            differences.append(f"{query.sql}: {different}")
    assert not differences, "\n".join(differences)
    assert refused <= REFUSED_MAX * count


# -- wrong statements -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wrong(judge: Judge, tested: Pond) -> None:
    """The tables of the wrong statements, on both sides."""
    for statement in wrong_statements.SCHEMA:
        assert isinstance(judge.ask(statement), Rows)
        tested.execute(statement)


@pytest.mark.parametrize("sql", as_known((sql,) for sql in wrong_statements.statements()))
def test_wrong_statement(judge: Judge, tested: Pond, wrong: None, sql: str) -> None:
    """The same SQLSTATE, the same message, and the same position where PostgreSQL gives one."""
    expected, given = judge.ask(sql), ask_pond(tested, sql)
    assert isinstance(expected, Failure)
    assert isinstance(given, Failure), given
    assert (given.sqlstate, given.message) == (expected.sqlstate, expected.message)
    assert expected.position in (None, given.position)
