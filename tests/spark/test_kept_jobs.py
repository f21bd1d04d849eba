"""Queries that Spark planned once and runs again: their rows are those of the files of now, whatever came before."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from millpond import Pond
from millpond.bench.jobs import jobs_started
from millpond.errors import MillpondError
from millpond.run.repeated_query import RepeatedQuery
from millpond.spark.kept_job import KeptJob
from millpond.spark.runner import FileInput, Input, Runner, StateInput

SCHEMA = "k int, v bigint, d decimal(12,3), s string, t timestamp"
FIELDS: dict[str, pa.DataType] = {
    "k": pa.int32(),
    "v": pa.int64(),
    "d": pa.decimal128(12, 3),
    "s": pa.string(),
    "t": pa.timestamp("us", "UTC"),
}
TYPES = pa.schema(FIELDS)


def rows(count: int, seed: int = 0) -> pa.Table:
    random = np.random.default_rng(seed)
    values = random.integers(-1000, 1000, count).tolist()
    return pa.table(
        {
            "k": [None if one % 17 == 0 else one % 50 for one in values],
            "v": values,
            "d": [Decimal(one) / 8 for one in values],
            "s": [None if one % 5 == 0 else f"text {one % 7}" for one in values],
            "t": values,
        },
        schema=TYPES,
    )


@pytest.fixture
def runner(pond: Pond) -> Runner:
    return pond.services.runner


@pytest.fixture
def repeated(tmp_path: Path) -> RepeatedQuery:
    return RepeatedQuery(tmp_path)


def of_rows(repeated: RepeatedQuery, name: str, table: pa.Table, *, single: bool = True) -> StateInput:
    return StateInput((repeated.rows(name, table),), SCHEMA, single=single)


def anew(runner: Runner, text: str, inputs: Mapping[str, Input]) -> pa.Table:
    return runner.frame(text, inputs, "anew").collect()


def ordered(table: pa.Table) -> list[tuple[object, ...]]:
    return sorted(map(tuple, (one.values() for one in table.to_pylist())), key=repr)


def planned(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the queries that were planned from now on can be run again."""
    found: list[bool] = []
    original = KeptJob.planned

    def noting(*given: object) -> KeptJob | None:
        job = original(*given)  # type: ignore[arg-type]
        found.append(job is not None)
        return job

    monkeypatch.setattr(KeptJob, "planned", noting)
    return found


KEPT = [
    "SELECT * FROM one",
    "SELECT k, sum(v) AS total, max(d) AS most, collect_set(s) AS texts FROM one GROUP BY k",
    "SELECT count(*) AS n, sum(d) AS total, min(t) AS first FROM one WHERE v > 0",
    "SELECT s, v, row_number() OVER (PARTITION BY s ORDER BY v, k, d) AS place FROM one",
    "SELECT v, k FROM one ORDER BY v, k LIMIT 7",
    "SELECT k FROM one WHERE v > 500 UNION ALL SELECT CAST(v AS int) FROM one WHERE s IS NULL",
]

JOINED = [
    "SELECT a.k, a.v, b.v AS w FROM one a JOIN two b ON a.k = b.k",
    "SELECT a.k, count(b.v) AS n, sum(b.d) AS total FROM one a LEFT JOIN two b ON a.k = b.k AND a.s = b.s GROUP BY a.k",
    "SELECT a.v, b.s FROM one a FULL JOIN two b ON a.v = b.v",
    "SELECT a.v, b.v AS w FROM one a JOIN two b ON a.v < b.v - 900",
]

NOT_KEPT = [
    "SELECT v FROM one WHERE v = (SELECT max(v) FROM two)",
    "SELECT a.v, b.v AS w FROM one a LEFT JOIN two b ON a.v < b.v",
    "SELECT v FROM one a WHERE EXISTS (SELECT 1 FROM two b WHERE b.k = a.k AND b.v < 0)",
]


@pytest.mark.parametrize("text", [*KEPT, *JOINED])
def test_a_kept_job_answers_from_the_files_of_now(
    runner: Runner, repeated: RepeatedQuery, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    kept = planned(monkeypatch)
    # The third length is longer than those before, so that it is planned for again.
    for turn, count in enumerate((40, 0, 60_000 if text in KEPT else 9_000, 1, 300)):
        inputs = {"one": of_rows(repeated, "one", rows(count, turn)), "two": of_rows(repeated, "two", rows(30, turn))}
        found = repeated.collect(runner, text, inputs, "kept")
        expected = anew(runner, text, inputs)
        assert found.schema.equals(expected.schema)
        assert ordered(found) == ordered(expected)
    assert kept
    assert all(kept)
    assert len(kept) <= 2


@pytest.mark.parametrize("text", NOT_KEPT)
def test_what_one_stage_cannot_do_is_planned_each_time(
    runner: Runner, repeated: RepeatedQuery, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    kept = planned(monkeypatch)
    for turn in range(3):
        inputs = {"one": of_rows(repeated, "one", rows(50, turn)), "two": of_rows(repeated, "two", rows(20, turn + 9))}
        assert ordered(repeated.collect(runner, text, inputs, "kept")) == ordered(anew(runner, text, inputs))
    assert kept == [False]


def test_what_several_tasks_read_is_not_kept(
    runner: Runner, repeated: RepeatedQuery, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = planned(monkeypatch)
    for text in ("SELECT k, sum(v) AS total FROM one GROUP BY k", "SELECT v FROM one ORDER BY v, k LIMIT 7"):
        for turn in range(4):
            paths = []
            for number in range(3):
                path = repeated._directory.parent / f"{turn}-{number}.parquet"
                pq.write_table(rows(100, 10 * turn + number), path)
                paths.append(path)
            inputs: dict[str, Input] = {"one": StateInput((repeated.files("one", paths),), SCHEMA)}
            assert ordered(repeated.collect(runner, text, inputs, "kept")) == ordered(anew(runner, text, inputs))
    assert not kept


def test_as_many_files_as_before_need_no_plan(
    runner: Runner, repeated: RepeatedQuery, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept, text = planned(monkeypatch), "SELECT k, sum(v) AS total FROM one GROUP BY k"
    for turn, count in enumerate((2, 2, 2, 3, 2, 3, 3, 1, 2)):
        paths = [tmp_path / f"{turn}-{number}.parquet" for number in range(count)]
        for number, path in enumerate(paths):
            pq.write_table(rows(20 * (number + 1), 10 * turn + number), path)
        inputs: dict[str, Input] = {"one": StateInput((repeated.files("one", paths),), SCHEMA, single=True)}
        assert ordered(repeated.collect(runner, text, inputs, "kept")) == ordered(anew(runner, text, inputs))
    # Two files when they came for the second time, and three likewise.
    assert kept == [True, True]


def test_it_is_one_job_each_time(pond: Pond, runner: Runner, repeated: RepeatedQuery) -> None:
    inputs = {"one": of_rows(repeated, "one", rows(50)), "two": of_rows(repeated, "two", rows(50, 1))}
    repeated.collect(runner, JOINED[1], inputs, "kept")
    before = jobs_started(pond)
    for _ in range(3):
        repeated.collect(runner, JOINED[1], inputs, "kept")
    assert jobs_started(pond) - before == 3


def test_many_rows_come_in_their_order(runner: Runner, repeated: RepeatedQuery) -> None:
    text = "SELECT v, s FROM one"
    for count in (5, 45_000, 100_001, 20_000):
        table = rows(count, count)
        found = repeated.collect(runner, text, {"one": of_rows(repeated, "one", table)}, "kept")
        assert found.equals(table.select(["v", "s"]))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(counts=st.lists(st.integers(0, 3000), min_size=2, max_size=5), text=st.sampled_from([*KEPT, *JOINED]))
def test_any_lengths_in_any_order(pond: Pond, tmp_path: Path, counts: Sequence[int], text: str) -> None:
    runner, repeated = pond.services.runner, RepeatedQuery(tmp_path)
    for turn, count in enumerate(counts):
        inputs = {"one": of_rows(repeated, "one", rows(count, turn)), "two": of_rows(repeated, "two", rows(count // 9))}
        assert ordered(repeated.collect(runner, text, inputs, "kept")) == ordered(anew(runner, text, inputs))


def test_an_error_is_that_of_the_rows_and_passes_with_them(runner: Runner, repeated: RepeatedQuery) -> None:
    text = "SELECT 10 div v AS c FROM one WHERE v IS NOT NULL"

    def collect(values: Sequence[int]) -> list[object]:
        table = pa.table({"v": pa.array(values, pa.int64())})
        given = StateInput((repeated.rows("one", table),), "v bigint", single=True)
        return repeated.collect(runner, text, {"one": given}, "kept").column(0).to_pylist()

    assert collect([5]) == [2]
    for _ in range(2):
        with pytest.raises(MillpondError, match="division by zero") as caught:
            collect([5, 0])
        assert caught.value.sqlstate == "22012"
        assert collect([2, 1]) == [5, 10]


def test_tasks_know_the_options_of_the_session(runner: Runner, repeated: RepeatedQuery) -> None:
    table = pa.table({"v": pa.array([2**62], pa.int64()), "s": ["2020-01-01 12:00:00"]})
    given: dict[str, Input] = {"one": StateInput((repeated.rows("one", table),), "v bigint, s string", single=True)}
    text = "SELECT CAST(s AS timestamp) AS t, date_format(CAST(s AS timestamp), 'HH:mm z') AS f FROM one"
    for _ in range(2):
        ((moment, shown),) = map(
            tuple, (one.values() for one in repeated.collect(runner, text, given, "k").to_pylist())
        )
        assert (str(moment), shown) == ("2020-01-01 12:00:00+00:00", "12:00 UTC")
    for _ in range(2):
        with pytest.raises(MillpondError) as caught:
            repeated.collect(runner, "SELECT v + v AS c FROM one", given, "kept")
        assert caught.value.sqlstate == "22003"


def test_random_numbers_are_drawn_each_time(runner: Runner, repeated: RepeatedQuery) -> None:
    inputs = {"one": of_rows(repeated, "one", rows(3))}
    drawn = [repeated.collect(runner, "SELECT RAND() AS r FROM one", inputs, "kept").column(0) for _ in range(3)]
    assert len({str(one) for one in drawn}) == 3


def test_it_can_be_cancelled(runner: Runner, repeated: RepeatedQuery) -> None:
    text = (
        "SELECT count(*) AS n FROM one a JOIN one b ON a.k = b.k JOIN one c ON a.k = c.k WHERE a.v + b.v + c.v < -9999"
    )
    small, large = rows(10), rows(30_000, 1)
    assert repeated.collect(runner, text, {"one": of_rows(repeated, "one", small)}, "kept").column(0).to_pylist() == [0]
    caught: list[MillpondError] = []

    def run() -> None:
        try:
            repeated.collect(runner, text, {"one": of_rows(repeated, "one", large)}, "to-cancel")
        except MillpondError as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    wait_until(lambda: bool(runner.session.sparkContext.statusTracker().getActiveJobsIds()))
    runner.interrupt("to-cancel")
    thread.join(60)
    assert not thread.is_alive()
    assert [one.sqlstate for one in caught] == ["57014"]
    # What others run is as before.
    assert repeated.collect(runner, text, {"one": of_rows(repeated, "one", small)}, "kept").column(0).to_pylist() == [0]


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_schema_is_that_of_spark(runner: Runner, repeated: RepeatedQuery) -> None:
    text = "SELECT named_struct('a', k, 'b', array(s)) AS r, map('x', d) AS m, t, DATE '2020-01-01' AS day FROM one"
    inputs = {"one": of_rows(repeated, "one", rows(4))}
    frame = runner.frame(text, inputs, "anew")
    found = repeated.collect(runner, text, inputs, "kept")
    assert found.schema.types == frame.dataframe.toArrow().schema.types
    assert all(field.nullable for field in found.schema)
    assert found.equals(frame.collect())


def test_tids_are_not_kept(pond: Pond, repeated: RepeatedQuery, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tids come from the names of files, which are other ones each time."""
    kept, runner = planned(monkeypatch), pond.services.runner
    pond.execute("CREATE STREAM s (v bigint) WITH (capacity = 1000000)")
    relation = pond.services.catalog.snapshot.relations["s"]
    stream = pond.services.streams.get(relation)
    for turn in range(3):
        pond.insert("s", pa.table({"v": pa.array(range(60_000), pa.int64())}))
        with stream.hold(60_000 * turn, 60_000 * (turn + 1)) as chunk:
            given = repeated.new_tuples("s", chunk, relation.columns, single=True)
            assert isinstance(given, FileInput)
            found = repeated.collect(runner, "SELECT min(tid) AS a, max(tid) AS b FROM s", {"s": given}, "kept")
            assert found.to_pylist() == [{"a": 60_000 * turn, "b": 60_000 * (turn + 1) - 1}]
    assert kept == []
