"""Aggregates that keep values: a continuous view gives the same as one query, however the stream is cut."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from millpond import MillpondError, Pond
from millpond.plan import aggregates
from millpond.run import views

CALLS = (
    "array_agg(v)",
    "array_agg(v ORDER BY v DESC)",
    "array_agg(word ORDER BY v % 3, word NULLS FIRST)",
    "array_agg(DISTINCT v % 4)",
    "array_agg(DISTINCT word ORDER BY word DESC)",
    "array_agg(v) FILTER (WHERE v > 20)",
    "array_agg(v::numeric(6,2))",
    "array_agg(at)",
    "array_agg(v > 10)",
    "(array_agg(v))[2]",
    "cardinality(array_agg(v)) + array_length(array_agg(DISTINCT v), 1)",
    "array_agg(v)::text",
    "first(v)",
    "last(v)",
    "first(word)",
    "last(word) FILTER (WHERE v % 2 = 0)",
    "first(at)",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY word)",
    "percentile_disc(0.3) WITHIN GROUP (ORDER BY at DESC)",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY at::date)",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY v > 10)",
    "percentile_disc(0.7) WITHIN GROUP (ORDER BY v)",
    "mode() WITHIN GROUP (ORDER BY word)",
    "mode() WITHIN GROUP (ORDER BY at)",
    "approx_count_distinct(v)",
)


@pytest.fixture(scope="module")
def fed(shared_spark: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pond]:
    """A pond with a view of all calls, whose stream came in five chunks."""
    import millpond

    outputs = ", ".join(f"{call} AS c{place}" for place, call in enumerate(CALLS))
    path = tmp_path_factory.mktemp("aggregates") / "pond"
    with pytest.MonkeyPatch.context() as patched, millpond.connect(path, master="local[2]") as pond:
        patched.setattr(views, "READ_ALONG_ROWS_MAX", 0)
        pond.execute("CREATE STREAM s (k int, v int, word text, at timestamp)")
        pond.execute(f"CREATE VIEW kept AS SELECT k, {outputs} FROM s GROUP BY k")
        pond.execute("CREATE VIEW total AS SELECT array_agg(v) AS all_v, first(k) AS k FROM s")
        for chunk in range(5):
            numbers = [(n * 7) % 40 for n in range(chunk * 8, chunk * 8 + 8)]
            rows = [(n % 3, None if n % 5 == 0 else n, None if n % 4 == 0 else f"w{n % 6}") for n in numbers]
            cells = ", ".join(
                f"({k}, {'NULL' if v is None else v}, {'NULL' if w is None else repr(w)}, '2024-01-0{1 + k} 10:00')"
                for k, v, w in rows
            )
            pond.execute(f"INSERT INTO s VALUES {cells}")
            pond.execute("SELECT * FROM kept")
        yield pond


@pytest.mark.parametrize("place", range(len(CALLS)), ids=CALLS)
def test_a_view_keeps_what_one_query_computes(fed: Pond, place: int) -> None:
    kept = fed.execute(f"SELECT k, c{place} FROM kept ORDER BY k")
    computed = fed.execute(f"SELECT k, {CALLS[place]} AS c{place} FROM s GROUP BY k ORDER BY k")
    assert kept.text_rows() == computed.text_rows()
    assert [column.type for column in kept.columns] == [column.type for column in computed.columns]


def test_the_view_verifies(fed: Pond) -> None:
    assert fed.execute("VERIFY VIEW kept").fetchall() == [(3, 0, 0)]
    assert fed.execute("SELECT * FROM kept").rowcount == 3


def test_an_array_is_in_the_order_of_arrival(fed: Pond) -> None:
    expected = [value for (value,) in fed.execute("SELECT v FROM s ORDER BY tid")]
    assert fed.execute("SELECT all_v, k FROM total").fetchall() == [(expected, 0)]
    assert None in expected


def test_first_and_last_count_nulls(fed: Pond) -> None:
    rows = fed.execute("SELECT k, v FROM s ORDER BY tid").fetchall()
    expected = {k: [v for other, v in rows if other == k] for k in (0, 1, 2)}
    found = fed.execute("SELECT k, first(v), last(v) FROM s GROUP BY k ORDER BY k").fetchall()
    assert found == [(k, values[0], values[-1]) for k, values in expected.items()]
    assert found[0][1] is None, "the first value of the first group is NULL"


def test_an_estimate_is_the_same_however_the_values_came(pond: Pond, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "READ_ALONG_ROWS_MAX", 0)
    pond.execute("CREATE STREAM s (v int)")
    pond.execute("CREATE VIEW kept AS SELECT approx_count_distinct(v) AS n FROM s")
    for first in range(0, 6000, 1500):
        pond.insert("s", pa.table({"v": pa.array(range(first, first + 1600), pa.int32())}))
        pond.execute("SELECT * FROM kept")
    kept = pond.execute("SELECT n FROM kept").fetchone()
    assert kept == pond.execute("SELECT approx_count_distinct(v) FROM s").fetchone()
    assert kept is not None
    assert 5800 < kept[0] < 6400


def test_arrays_are_lists_to_python_and_arrow(pond: Pond) -> None:
    result = pond.execute("SELECT array_agg(v ORDER BY v) AS all_v FROM (VALUES (2), (NULL), (1)) q (v)")
    assert result.fetchall() == [([1, 2, None],)]
    assert result.arrow().schema.field("all_v").type == pa.list_(pa.int32())
    assert str(result.columns[0].type) == "integer[]"


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE lists (a int[])",
        "CREATE TABLE lists AS SELECT array_agg(v) AS a FROM numbers",
        "CREATE STREAM lists (a int[])",
        "INSERT INTO numbers SELECT array_agg(v) FROM numbers",
    ],
)
def test_arrays_are_not_stored(pond: Pond, sql: str) -> None:
    pond.execute("CREATE TABLE numbers (v int)")
    with pytest.raises(MillpondError) as caught:
        pond.execute(sql)
    assert caught.value.sqlstate in ("0A000", "42804")
    assert pond.execute("SELECT table_name FROM information_schema.tables WHERE table_name = 'lists'").rowcount == 0


def _calls_of_every_aggregate() -> list[str]:
    two = {"min_by", "max_by", "corr"} | {
        one.name for one in aggregates.TABLE if one.name.startswith(("regr", "covar"))
    }
    argument = {"bool_and": "v > 10", "bool_or": "v > 10", "every": "v > 10", "any_value": "k"}
    ordered = {"mode": "", "percentile_cont": "0.5", "percentile_disc": "0.5"}
    calls = []
    for name in dict.fromkeys(one.name for one in aggregates.TABLE):
        if name in ordered:
            calls.append(f"{name}({ordered[name]}) WITHIN GROUP (ORDER BY v)")
        else:
            calls.append(f"{name}({'v, tid' if name in two else argument.get(name, 'v')})")
    calls += [f"{one.name}(DISTINCT v)" for one in aggregates.DISTINCT_TABLE]
    calls += ["array_agg(v ORDER BY v)", "string_agg(word, ',' ORDER BY word)", "count(*)", "avg(v::float8)"]
    return list(dict.fromkeys(calls))


def test_every_aggregate_of_a_view_that_joins_a_state_later(pond: Pond, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups that were there before have nothing of the new columns, which must count as nothing."""
    monkeypatch.setattr(views, "READ_ALONG_ROWS_MAX", 0)
    calls = _calls_of_every_aggregate()
    outputs = ", ".join(f"{call} AS c{place}" for place, call in enumerate(calls))
    pond.execute("CREATE STREAM s (k int, v int, word text)")
    pond.execute("CREATE VIEW early AS SELECT k, min(word) AS low FROM s GROUP BY k")
    pond.execute("INSERT INTO s VALUES (1, 5, 'a'), (1, 7, 'b'), (2, 1, 'a'), (3, NULL, NULL)")
    pond.execute("SELECT * FROM early")
    pond.execute(f"CREATE VIEW late AS SELECT k, {outputs} FROM s GROUP BY k")
    for rows in ("(1, 10, 'c'), (2, 4, NULL)", "(1, 13, 'd'), (1, 4, 'e'), (2, 9, 'x'), (4, 2, 'y')"):
        pond.execute(f"INSERT INTO s VALUES {rows}")
        pond.execute("SELECT * FROM late")
    assert ["early"] in pond.services.views.sharing(pond.services.views.all()[1]).values()
    found = pond.execute("SELECT * FROM late ORDER BY k").fetchall()
    assert [row[0] for row in found] == [1, 2, 4]
    for place, call in enumerate(calls):
        query = f"SELECT {call} FROM s WHERE tid >= 4 GROUP BY k ORDER BY k"
        for row, (expected,) in zip(found, pond.execute(query), strict=True):
            assert row[1 + place] == (pytest.approx(expected) if isinstance(expected, float) else expected), call
