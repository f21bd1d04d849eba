"""A split query answers what the query itself answers: chunks cut at random, parts merged in any order, on Spark."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import millpond
from millpond import MillpondError, Pond
from millpond.plan.pipelines import Grouping, SplitPlan
from millpond.plan.split import split
from millpond.relation import Relation
from millpond.run.statics import key_of
from millpond.spark.runner import Input, StateInput
from millpond.sql.bind import bind
from millpond.sql.dialect import parse_query
from millpond.sql.scope import Moment
from tests.plans import catalog
from tests.plans.test_plans import read_tpch

SCHEMA = """
CREATE FOREIGN TABLE s (k int, g text, i int, b bigint, n numeric(12,2), f double precision, r real, o boolean,
                        d date, ts timestamp) SERVER stream;
CREATE FOREIGN TABLE s2 (k int, v int) SERVER stream;
CREATE TABLE t (k int PRIMARY KEY, name text, w int);
INSERT INTO t VALUES (0, 'zero', 10), (1, 'one', 20), (2, NULL, 30), (7, 'seven', NULL);
"""
ROWS = 60


def _value(rng: random.Random, values: Sequence[Any], nulls: float = 0.2) -> Any:
    return None if rng.random() < nulls else rng.choice(values)


def _rows(rng: random.Random, count: int) -> pa.Table:
    """Rows with NULLs, NaN, infinities, both zeros and the extremes of every type."""
    doubles = [0.0, -0.0, 0.5, -2.25, 1e6, 3.0, math.nan, math.inf]
    columns = {
        "k": [_value(rng, [0, 1, 2, 3]) for _ in range(count)],
        "g": [_value(rng, ["a", "b", "", "ü"]) for _ in range(count)],
        "i": [_value(rng, [0, 1, -5, 7, 2**31 - 1, -(2**31)]) for _ in range(count)],
        "b": [_value(rng, [0, 1, -1, 2**32, -(2**32) - 1, 2**63 - 1, -(2**63)]) for _ in range(count)],
        "n": [_value(rng, [Decimal("0.01"), Decimal("-12.34"), Decimal("9999999999.99")]) for _ in range(count)],
        "f": [_value(rng, doubles[: rng.choice([6, 6, 8])]) for _ in range(count)],
        "r": [_value(rng, [0.5, -2.25, 1024.0]) for _ in range(count)],
        "o": [_value(rng, [True, False]) for _ in range(count)],
        "d": [_value(rng, [date(2024, 1, 1), date(1970, 1, 1), date(9999, 12, 31)]) for _ in range(count)],
        "ts": [datetime(2024, 1, 1) + timedelta(minutes=rng.randrange(300)) for _ in range(count)],
    }
    types = dict(zip(columns, [pa.int32(), pa.string(), pa.int32(), pa.int64(), pa.decimal128(12, 2)], strict=False))
    types |= {"f": pa.float64(), "r": pa.float32(), "o": pa.bool_(), "d": pa.date32(), "ts": pa.timestamp("us")}
    return pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})


class Names:
    """The relations of a pond, for binding."""

    def __init__(self, pond: Pond) -> None:
        self.relations = pond.services.catalog.snapshot.relations

    def relation(self, schema: str | None, name: str) -> Relation | None:
        return self.relations.get(name)

    def relation_names(self) -> list[str]:
        return list(self.relations)

    def constant(self, name: str) -> datetime | str:
        return datetime(2024, 5, 6, tzinfo=UTC) if name == "now" else name

    def function(self, name: str) -> None:
        return None

    def call(self, name: str, arguments: Sequence[str | None]) -> str | None:
        return f"{name}({', '.join(str(argument) for argument in arguments)})"

    def past(self, table: Relation, moment: Moment) -> Relation:
        return table.as_of(7)


class Rig:
    """A pond with rows in its streams, and the same rows as files to cut into chunks."""

    def __init__(self, pond: Pond, directory: Path, rng: random.Random) -> None:
        self.pond, self.directory, self.rng = pond, directory, rng
        self.names = Names(pond)
        self.streams: dict[str, pa.Table] = {}
        self.tables: dict[str, StateInput] = {}
        for name, relation in self.names.relations.items():
            if relation.kind == "stream":
                query = f"SELECT *, tid, arrival_timestamp FROM {name} ORDER BY tid"
                self.streams[name] = pond.execute(query).arrow()
            else:
                self.tables[name] = self._input(pond.execute(f"SELECT * FROM {name}").arrow(), _schema(relation))

    def plan(self, sql: str) -> SplitPlan:
        return split(bind(parse_query(sql), self.names))

    def answer(self, sql: str) -> pa.Table:
        """The answer by way of the split."""
        plan = self.plan(sql)
        given = dict(self.tables)
        static = dict(self.tables)
        for one in plan.statics:
            rows = self._run(one.to_spark(_names(self.tables)), self.tables)
            static[key_of(one.relation)] = self._input(rows, _schema(one.relation))
        for grouping in plan.groupings:
            merged = self._merged(grouping, self._parts(grouping, static))
            given[grouping.key] = self._input(merged, _state_schema(grouping))
        return self._run(plan.upper.to_spark(_names(given)), given)

    def whole(self, sql: str) -> pa.Table:
        """The answer of the query itself over the same rows."""
        given = {name: self._input(rows, _schema(self.names.relations[name])) for name, rows in self.streams.items()}
        given |= self.tables
        return self._run(bind(parse_query(sql), self.names).to_spark(_names(given)), given)

    def _run(self, text: str, given: Mapping[str, StateInput]) -> pa.Table:
        inputs: dict[str, Input] = {_names(given)[key]: files for key, files in given.items()}
        return self.pond.services.runner.frame(text, inputs, "test").collect()

    def _input(self, rows: pa.Table, schema: str) -> StateInput:
        path = self.directory / f"{next(_numbers)}.parquet"
        pq.write_table(rows, path)
        return StateInput((str(path),), schema)

    def _parts(self, grouping: Grouping, static: Mapping[str, StateInput]) -> list[pa.Table]:
        """A partial of each chunk of each stream; one job makes them all."""
        given: dict[str, StateInput] = {}
        texts: list[str] = []
        for pipeline in grouping.pipelines:
            given |= {key_of(one): static[key_of(one)] for one in pipeline.statics}
            for chunk in self._chunks(self.streams[pipeline.stream.name]):
                name = f"chunk_{len(texts)}"
                given[name] = self._input(chunk, _schema(pipeline.stream))
                text = pipeline.to_spark({**_names(given), pipeline.stream.name: name})
                texts.append(f"SELECT {len(texts)} AS part, * FROM ({text})")
        rows = self._run(" UNION ALL ".join(texts), given)
        numbers = rows.column("part").to_numpy()
        return [rows.filter(pa.array(numbers == place)).drop_columns(["part"]) for place in range(len(texts))]

    def _chunks(self, rows: pa.Table) -> Iterator[pa.Table]:
        """Random cuts; some chunks are empty."""
        cuts = sorted(self.rng.randrange(len(rows) + 1) for _ in range(3))
        for first, end in zip([0, *cuts], [*cuts, len(rows)], strict=True):
            yield rows.slice(first, end - first)

    def _merged(self, grouping: Grouping, parts: Sequence[pa.Table]) -> pa.Table:
        """Any few parts merged, and merged with others again, in any order, until one is left."""
        given = {f"part_{place}": self._input(part, _state_schema(grouping)) for place, part in enumerate(parts)}
        texts = [f"SELECT * FROM {name}" for name in given]
        while len(texts) > 1:
            self.rng.shuffle(texts)
            size = self.rng.randint(2, 3)
            merged = grouping.merge_text(f"({' UNION ALL '.join(texts[:size])})")
            texts = [f"SELECT * FROM ({merged})", *texts[size:]]
        return self._run(texts[0], given)


_numbers = itertools.count()


def _schema(relation: Relation) -> str:
    return ", ".join(f"{column.name} {column.type.spark}" for column in relation.columns)


def _state_schema(grouping: Grouping) -> str:
    return ", ".join(f"{column.name} {column.type}" for column in grouping.columns)


def _names(given: Mapping[str, object]) -> dict[str, str]:
    return {key: key.replace("millpond.", "") for key in given}


@pytest.fixture(scope="module")
def rig(shared_spark: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    rng = random.Random(7)
    directory = tmp_path_factory.mktemp("split")
    with millpond.connect(directory / "pond", master="local[2]") as pond:
        pond.execute(SCHEMA)
        pond.insert("s", _rows(rng, ROWS))
        pond.insert("s2", [(rng.randrange(5), rng.randrange(100)) for _ in range(ROWS)])
        yield Rig(pond, directory, rng)


EXACT = [
    # aggregates, grouped and not
    "SELECT count(*), count(i), sum(i), sum(b), sum(n), avg(i), avg(b), avg(n) FROM s",
    "SELECT k, count(*), count(i), sum(i), sum(b), sum(n), avg(i), avg(b), avg(n) FROM s GROUP BY k",
    "SELECT g, min(i), max(b), min(n), max(f), min(f), min(g), max(d), min(ts), max(r) FROM s GROUP BY g",
    "SELECT k, bool_and(o), bool_or(o), every(o), bit_and(i), bit_or(b), bit_xor(i) FROM s GROUP BY k",
    "SELECT k, sum(i) FILTER (WHERE o), count(*) FILTER (WHERE g = 'a'), avg(n) FILTER (WHERE i > 0) FROM s GROUP BY k",
    "SELECT k, count(DISTINCT i), sum(DISTINCT i), sum(DISTINCT b), sum(DISTINCT n) FROM s GROUP BY k",
    "SELECT g, bit_xor(DISTINCT i), bool_or(DISTINCT o), max(DISTINCT n) FROM s GROUP BY g",
    "SELECT count(DISTINCT g), count(DISTINCT f), count(DISTINCT d), avg(DISTINCT b), avg(DISTINCT n) FROM s",
    "SELECT k, min_by(i, tid), max_by(g, tid) FROM s GROUP BY k",
    "SELECT count(*), sum(i), min(g), count(DISTINCT g), string_agg(g, ',') FROM s WHERE i = 12345",
    "SELECT k, string_agg(g, ', ' ORDER BY tid DESC), string_agg(DISTINCT g, '' ORDER BY g) FROM s GROUP BY k",
    "SELECT k, percentile_cont(0.3) WITHIN GROUP (ORDER BY i) FROM s GROUP BY k",
    "SELECT k, percentile_disc(0.5) WITHIN GROUP (ORDER BY b) FROM s GROUP BY k",
    "SELECT k, percentile_disc(0.9) WITHIN GROUP (ORDER BY i DESC), mode() WITHIN GROUP (ORDER BY g) FROM s GROUP BY k",
    "SELECT k, regr_count(f, r), count(r) FROM s GROUP BY k",
    "SELECT k, sum(make_interval(days => i % 100, hours => i % 7))::text FROM s GROUP BY k",
    "SELECT k, avg(make_interval(days => i % 100))::text FROM s WHERE i IS NOT NULL GROUP BY k",
    "SELECT k, min(make_interval(days => i % 100))::text, max(make_interval(hours => i % 70))::text FROM s GROUP BY k",
    # keys
    "SELECT date_trunc('hour', ts), count(*) FROM s GROUP BY 1",
    "SELECT k % 2, upper(g) || 'x', sum(i) + 1 FROM s GROUP BY k % 2, upper(g)",
    "SELECT f, count(*) FROM s GROUP BY f",
    "SELECT DISTINCT g, o FROM s",
    "SELECT DISTINCT count(*) FROM s GROUP BY k",
    "SELECT count(*) FROM s GROUP BY ()",
    "SELECT 1 FROM s HAVING true",
    "SELECT 'x', count(*) FROM s GROUP BY 'x'::text",
    "SELECT k, g, count(*), sum(b), grouping(k) FROM s GROUP BY ROLLUP (k, g)",
    "SELECT k, g, avg(i), count(DISTINCT i) FROM s GROUP BY GROUPING SETS ((k), (g), ())",
    "SELECT o, k, max(n) FROM s GROUP BY CUBE (o, k) HAVING count(*) > 3",
    # below the grouping
    "SELECT t.name, sum(s.i) FROM s JOIN t ON t.k = s.k GROUP BY t.name",
    "SELECT t.name, count(*), sum(t.w) FROM s LEFT JOIN t USING (k) GROUP BY t.name",
    "SELECT t.k, t.name, count(*) FROM s JOIN t ON t.k = s.k GROUP BY t.k, t.name",
    "SELECT s.k, count(*) FROM t RIGHT JOIN s ON t.k = s.k AND t.w > s.i GROUP BY s.k",
    "SELECT k, count(*) FROM s WHERE k IN (SELECT k FROM t) GROUP BY k",
    "SELECT k, count(*) FROM s WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.k = s.k) GROUP BY k",
    "SELECT k, sum(i) FROM s WHERE i > (SELECT min(w) FROM t) OR o GROUP BY k",
    "SELECT u.k, sum(u.x) FROM (SELECT k, i::bigint * 2 AS x FROM s WHERE o) u GROUP BY u.k",
    "SELECT c, count(*) FROM (SELECT CASE WHEN i > 0 THEN 'up' ELSE 'down' END AS c FROM s ORDER BY i) u GROUP BY c",
    "SELECT k, sum(v) FROM (SELECT k, i % 10 AS v FROM s UNION ALL SELECT k, v FROM s2) u GROUP BY k",
    "SELECT x, count(*) FROM (SELECT k AS x FROM s UNION ALL SELECT v FROM s2 UNION ALL SELECT i FROM s) u GROUP BY x",
    "SELECT l.n, count(*) FROM s, LATERAL (SELECT count(*) AS n FROM t WHERE t.k < s.k) l GROUP BY l.n",
    "SELECT count(*), sum(s.i % 5 + t.w) FROM s CROSS JOIN t",
    "SELECT t.k, count(*) FROM s, t WHERE s.i < t.w GROUP BY t.k",
    "SELECT count(*), max(tid) FROM s WHERE arrival_timestamp > '2020-01-01'",
    # above the grouping
    "SELECT k, sum(i) AS n FROM s GROUP BY k HAVING sum(i) > 0 ORDER BY n DESC LIMIT 2",
    "SELECT max(n), count(*) FROM (SELECT k, count(*) AS n FROM s GROUP BY k) u",
    "SELECT t.name, u.n FROM t LEFT JOIN (SELECT k, count(*) AS n FROM s GROUP BY k) u ON u.k = t.k",
    "SELECT t.name, u.n FROM t FULL JOIN (SELECT k, count(*) AS n FROM s GROUP BY k) u ON u.k = t.k",
    "SELECT k, n, rank() OVER (ORDER BY n, k) FROM (SELECT k, count(*) AS n FROM s GROUP BY k) u",
    "SELECT k, count(*), sum(count(*)) OVER () FROM s GROUP BY k",
    "SELECT a.k, a.n, b.m FROM (SELECT k, count(*) AS n FROM s GROUP BY k) a"
    " JOIN (SELECT k, sum(v) AS m FROM s2 GROUP BY k) b ON a.k = b.k",
    "WITH w AS (SELECT k, sum(i) AS n FROM s GROUP BY k) SELECT * FROM w WHERE n = (SELECT max(n) FROM w)",
    "SELECT k FROM s GROUP BY k EXCEPT SELECT k FROM t",
    "SELECT k, count(*) FROM s GROUP BY k UNION ALL SELECT k, w FROM t",
    "SELECT name FROM t WHERE k IN (SELECT DISTINCT k FROM s)",
    "SELECT name, (SELECT count(*) FROM s WHERE s.k = t.k AND s.o) FROM t",
    "SELECT name FROM t WHERE w > (SELECT 0.5 * sum(v) FROM s2 WHERE s2.k = t.k)",
    "WITH w AS (SELECT k FROM t WHERE w > 10) SELECT s.k, count(*) FROM s JOIN w ON w.k = s.k GROUP BY s.k",
]

CLOSE = [
    "SELECT k, sum(f), avg(f), sum(r), avg(r) FROM s GROUP BY k",
    "SELECT k, var_pop(i), var_samp(i), variance(n), stddev_pop(b), stddev_samp(i), stddev(r) FROM s GROUP BY k",
    "SELECT var_pop(f), stddev(f) FROM s WHERE f < 100000000",
    "SELECT k, stddev(f) FROM s GROUP BY k",
    "SELECT k, var_pop(DISTINCT i), stddev(DISTINCT n), sum(DISTINCT r), avg(DISTINCT r) FROM s GROUP BY k",
    "SELECT k, corr(r, k), covar_pop(r, i), covar_samp(r, i) FROM s GROUP BY k",
    "SELECT o, corr(r, i), regr_slope(r, i), regr_intercept(r, i), regr_r2(r, i) FROM s GROUP BY o",
    "SELECT o, regr_avgx(r, i), regr_avgy(r, i), regr_sxx(r, i), regr_sxy(r, i), regr_syy(r, i) FROM s GROUP BY o",
    "SELECT k, percentile_cont(0.25) WITHIN GROUP (ORDER BY r DESC) FROM s GROUP BY k",
]
"""Queries whose answers depend on the order of additions in their last digits."""


def _sorted(table: pa.Table, digits: float) -> list[tuple[Any, ...]]:
    """The rows in an order that does not depend on the digits that may differ."""

    def key(row: tuple[Any, ...]) -> list[str]:
        return [str(value) for value in row if not (digits and isinstance(value, (float, Decimal)))]

    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True), key=key)


def _alike(one: Any, other: Any, digits: float) -> bool:
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    if digits and isinstance(one, (float, Decimal)) and other is not None:
        return math.isclose(float(one), float(other), rel_tol=digits, abs_tol=digits)
    return bool(one == other)


def _assert_same(whole: pa.Table, parts: pa.Table, digits: float) -> None:
    assert parts.schema.types == whole.schema.types
    expected, given = _sorted(whole, digits), _sorted(parts, digits)
    assert len(given) == len(expected)
    for row, other in zip(given, expected, strict=True):
        assert all(_alike(*pair, digits) for pair in zip(row, other, strict=True)), (row, other)


@pytest.mark.parametrize("sql", EXACT)
def test_the_split_gives_the_answer(rig: Rig, sql: str) -> None:
    _assert_same(rig.pond.execute(sql).arrow(), rig.answer(sql), 0)


@pytest.mark.parametrize("sql", CLOSE)
def test_the_split_gives_the_answer_but_for_rounding(rig: Rig, sql: str) -> None:
    _assert_same(rig.pond.execute(sql).arrow(), rig.answer(sql), 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_any_rows(rig: Rig, seed: int) -> None:
    rng = random.Random(seed)
    rows = _rows(rng, rng.choice([0, 1, 40]))
    arrivals = pa.array([datetime(2024, 1, 1, tzinfo=UTC)] * len(rows), pa.timestamp("us", "UTC"))
    rows = rows.append_column("tid", pa.array(range(len(rows)), pa.int64()))
    other = Rig(rig.pond, rig.directory, rng)
    other.streams["s"] = rows.append_column("arrival_timestamp", arrivals)
    for sql in (EXACT[0], EXACT[1], EXACT[5]):
        _assert_same(other.whole(sql), other.answer(sql), 0)


def test_estimates_are_near(rig: Rig) -> None:
    (answer,) = rig.answer("SELECT approx_count_distinct(tid) FROM s").column(0).to_pylist()
    assert answer == pytest.approx(ROWS, rel=0.05)


def test_any_value_is_one_of_them(rig: Rig) -> None:
    pairs = rig.pond.execute("SELECT k, i FROM s WHERE i IS NOT NULL").fetchall()
    answer = rig.answer("SELECT k, any_value(i) FROM s WHERE i IS NOT NULL GROUP BY k")
    assert all(pair in pairs for pair in _sorted(answer, 0))


def test_a_subquery_over_a_table_looks_up_the_group(rig: Rig) -> None:
    names = dict(rig.pond.execute("SELECT k, name FROM t").fetchall())
    answer = rig.answer("SELECT k, (SELECT t.name FROM t WHERE t.k = s.k) FROM s GROUP BY k")
    assert dict(_sorted(answer, 0)) == {k: names.get(k) for k in (None, 0, 1, 2, 3)}


def test_a_primary_key_determines_the_other_columns(rig: Rig) -> None:
    answer = rig.answer("SELECT t.k, t.name, count(*) FROM s JOIN t ON t.k = s.k GROUP BY t.k")
    expected = rig.pond.execute("SELECT t.k, t.name, count(*) FROM s JOIN t ON t.k = s.k GROUP BY t.k, t.name")
    assert _sorted(answer, 0) == sorted(expected.fetchall(), key=lambda row: [str(value) for value in row])


def test_a_sum_that_overflows_is_an_error(rig: Rig) -> None:
    sql = f"SELECT sum(CAST('{'9' * 38}' AS numeric(38,0))) FROM s"
    with pytest.raises(MillpondError) as whole:
        rig.pond.execute(sql)
    with pytest.raises(MillpondError) as parts:
        rig.answer(sql)
    assert parts.value.sqlstate == whole.value.sqlstate == "22003"


# -- TPC-H, lineitem being a stream ---------------------------------------------------------------------------

_POOLS: dict[str, Sequence[Any]] = {
    "c_mktsegment": ["BUILDING", "MACHINERY"],
    "l_shipmode": ["MAIL", "SHIP", "AIR"],
    "l_shipinstruct": ["DELIVER IN PERSON", "NONE"],
    "n_name": ["FRANCE", "GERMANY", "BRAZIL", "CANADA", "CANADA"],
    "o_orderpriority": ["1-URGENT", "2-HIGH", "5-LOW"],
    "p_brand": ["Brand#12", "Brand#23"],
    "p_container": ["SM BOX", "MED BAG"],
    "p_name": ["forest green", "red", "forest blue"],
    "p_type": ["ECONOMY ANODIZED STEEL", "PROMO BRASS"],
    "r_name": ["ASIA", "AMERICA"],
    "l_returnflag": ["R", "A"],
    "l_shipdate": [date(1994, 2, 15), date(1995, 4, 1), date(1995, 9, 15), date(1996, 2, 15)],
    "l_commitdate": [date(1994, 3, 1), date(1995, 10, 1)],
    "l_receiptdate": [date(1994, 4, 1), date(1995, 11, 1)],
    "l_orderkey": range(40),
    "o_orderdate": [date(1993, 10, 20), date(1994, 3, 1), date(1995, 3, 1), date(1995, 6, 1)],
    "ps_availqty": [1, 1000],
    "s_nationkey": [0, 1],
    "l_discount": [Decimal("0.05"), Decimal("0.06"), Decimal("0.10")],
    "l_quantity": [Decimal(number) for number in (1, 5, 11, 20, 40)],
    "p_size": [1, 3, 8],
}
"""Values that the queries ask for, among others."""

_BY_TYPE: dict[str, Sequence[Any]] = {
    "integer": range(6),
    "numeric": [Decimal("12.34"), Decimal("900.00"), Decimal("0.07")],
    "text": ["x", "y"],
}


_SEED = 148
"""With the rows that this makes, every query finds some."""


def _tpch_rows(relation: Relation, rng: random.Random, count: int) -> pa.Table:
    """Few distinct keys, so that joins find partners; primary keys count up."""
    columns = {}
    primary = {column for key in relation.keys for column in key.columns}
    for column in relation.visible_columns:
        kind = "text" if column.type.is_string else column.type.name
        pool = _POOLS[column.name] if column.name in _POOLS else _BY_TYPE[kind]
        values = [place if column.name in primary else rng.choice(pool) for place in range(count)]
        columns[column.name] = pa.array(values, column.type.arrow)
    return pa.table(columns)


@pytest.fixture(scope="module")
def tpch(shared_spark: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    rng, directory = random.Random(_SEED), tmp_path_factory.mktemp("tpch")
    with millpond.connect(directory / "pond", master="local[2]") as pond:
        for relation in catalog.Names().relations.values():
            if relation.name not in catalog.TPCH:
                continue
            columns = ", ".join(f"{column.name} {column.type}" for column in relation.visible_columns)
            kind, server = ("FOREIGN TABLE", " SERVER stream") if relation.kind == "stream" else ("TABLE", "")
            pond.execute(f"CREATE {kind} {relation.name} ({columns}){server}")
            count = {"lineitem": 300, "partsupp": 30, "orders": 40}.get(relation.name, 6)
            pond.insert(relation.name, _tpch_rows(relation, rng, count))
        yield Rig(pond, directory, rng)


@pytest.mark.parametrize("number", [1, 3, 5, 6, 7, 8, 9, 10, 12, 14, 15, 19, 20])
def test_tpch(tpch: Rig, number: int) -> None:
    query = next(one.query for one in read_tpch() if one.comments == (f"-- TPC-H {number}",)).rstrip(";")
    whole = tpch.pond.execute(query).arrow()
    assert any(value is not None for value in whole.column(0).to_pylist())
    _assert_same(whole, tpch.answer(query), 0)
