"""The benchmarks of continuous views at a tiny scale: answers are right, and the report says what it has to."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from millpond.bench import aim, aim_structured, aim_views, datacell, serve, simple_view, stream_tpch, subscribe, tpch
from millpond.bench.answers import WrongAnswerError, verify
from millpond.bench.peers.duck import Duck
from millpond.bench.peers.peer import PeerMissingError
from millpond.bench.peers.script import run_script
from millpond.bench.peers.spark_sql import SparkSql
from millpond.bench.peers.structured_streaming import KeptGrouping, StructuredStreaming
from millpond.bench.rates import rates
from millpond.bench.stopwatch import Spent, Stopwatch, core_seconds
from millpond.bench.stream_tpch_peers import verify_texts
from millpond.bench.tpch_queries import CONTINUOUS
from millpond.cli import bench_names

# Benchmarks that start Spark: on a busy machine they take their time.
pytestmark = pytest.mark.timeout(400)

Run = Callable[..., None]


def reported(
    run: Run, peers: Sequence[str], capsys: pytest.CaptureFixture[str], scale: float = 0.0005
) -> dict[str, Any]:
    """The JSON line of a run, with its results by metric."""
    run(scale=scale, peers=peers)
    line = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert {"bench", "version", "machine", "results"} <= line.keys()
    fields = {"metric", "value", "unit", "peer", "ratio", "target", "target_of", "lower_is_better", "met"}
    assert all(result.keys() == fields for result in line["results"])
    return {"bench": line["bench"], **{result["metric"]: result for result in line["results"]}}


def test_aim_views_beside_duckdb(shared_spark: None, capsys: pytest.CaptureFixture[str]) -> None:
    line = reported(aim_views.run, ["duckdb"], capsys)
    assert line["bench"] == "aim-views"
    rate = line["six views"]
    assert rate["value"] > 0
    assert rate["peer"].keys() == rate["ratio"].keys() == {"duckdb"}
    assert rate["target"] is None, "there is no target without the peer that it is a multiple of"
    assert line["Spark jobs of a chunk, six views"]["value"] >= 1
    assert line["Spark jobs of a read after an insert"]["value"] >= 1


def test_subscribe(capsys: pytest.CaptureFixture[str]) -> None:
    line = reported(subscribe.run, [], capsys, scale=0.05)
    assert line["bench"] == "subscribe"
    assert line["rows that arrived"]["value"] > 0
    assert line["versions skipped by readers"]["value"] == 0
    assert line["memory of the server, growth"]["met"]


def test_serve(capsys: pytest.CaptureFixture[str]) -> None:
    line = reported(serve.run, [], capsys)
    assert line["bench"] == "serve"
    assert line["reads, prepared, 16 clients"]["value"] > 0
    assert line["COPY FROM STDIN by psql"]["value"] > 0
    assert line["executemany by psycopg"]["value"] > 0
    assert line["strict reads meanwhile"]["value"] > 0
    assert line["rows that arrived meanwhile"]["value"] > 0


def test_simple_view(shared_spark: None, capsys: pytest.CaptureFixture[str]) -> None:
    line = reported(simple_view.run, ["spark"], capsys)
    assert line["bench"] == "simple-view"
    assert line["chunks of 500 rows"]["value"] > 0
    assert line["unchanged read, median"]["peer"].keys() == {"spark"}
    assert line["unchanged read, median"]["lower_is_better"]
    assert line["Spark jobs of a chunk, 500 groups"]["value"] >= 1
    assert line["events a second with 4 readers"]["peer"].keys() == {"without readers"}
    assert line["answers a second to them"]["value"] > 0
    assert line["Spark jobs of an unchanged read"]["value"] == 0
    assert line["Spark jobs of a read after an insert"]["value"] >= 1
    assert 0 < line["age of an answer, median"]["value"] <= line["age of an answer, p99"]["value"]


def test_datacell_beside_duckdb(
    shared_spark: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datacell, "COUNTS", datacell.Counts(2, 2, 2, 1, 2, 2, 1))
    monkeypatch.setattr(datacell, "STEPS", (2, 64))
    monkeypatch.setattr(datacell, "SELECTIVITIES_PERCENT", (90,))
    monkeypatch.setattr(datacell, "JOINED_VALUES", (100,))
    monkeypatch.setattr(datacell, "SLIDE_S", 0.0)
    line = reported(datacell.run, ["duckdb"], capsys)
    assert line["bench"] == "datacell"
    assert line["Q1, slide, median"]["peer"].keys() == {"re-evaluated", "duckdb"}
    assert line["Q1, slide, median"]["target"] == 120
    assert line["Q2, answers a second"]["target_of"] == "re-evaluated"
    assert line["Q1 to slide 2"]["target"] is None, "there is no target without the peer that it is a multiple of"
    for metric in ("Q1, 64 basic windows, merge alone, median", "Q1, selectivity 90%, slide, median", "Q3, first step"):
        assert line[metric]["value"] > 0
    assert line["slide of 64 to 2048 basic windows, highest to lowest"]["value"] == 1, "there is only one of them"
    assert line["chunks of a slide, in the end"]["value"] == 1


def test_tpch_beside_duckdb(
    shared_spark: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tpch, "CONTINUOUS", {name: CONTINUOUS[name] for name in ("q3", "q6", "q18_grouped_first")})
    line = reported(tpch.run, ["duckdb"], capsys, scale=0.001)
    assert line["bench"] == "tpch"
    assert line["3 views"]["unit"] == "rows/s"
    assert line["3 views"]["peer"].keys() == line["from the first row to all answers"]["peer"].keys() == {"duckdb"}


def test_stream_tpch_beside_duckdb(
    shared_spark: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_tpch, "WARM_UPS", 1)
    line = reported(partial(stream_tpch.run, queries=["3", "6"]), ["duckdb"], capsys, scale=0.001)
    assert line["bench"] == "stream-tpch"
    assert line["load alone"]["unit"] == "rows/s"
    together = line["q3, q6, at once over one load"]
    assert line["q3"]["peer"].keys() == line["q6"]["peer"].keys() == together["peer"].keys() == {"duckdb"}
    assert together["target"] is None, "the target is of the twelve"
    assert 0 < line["query over load, median"]["value"] <= line["query over load, highest"]["value"]
    assert line["load of 4 columns, speedup"]["value"] > 0
    assert line["q6 of 4 columns, speedup"]["peer"].keys() == {"duckdb"}


def test_spark_answers_queries_over_a_csv_and_a_parquet_file(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("1,2026-01-31,1.50\n2,2026-02-01,2.25\n2,2026-02-02,0.25\n")
    pq.write_table(pa.table({"id": [1, 2], "name": ["north", None]}), tmp_path / "regions.parquet")
    peer = SparkSql(tmp_path / "spark")
    peer.add_csv("sales", "region_id int, day date, price decimal(9,2)", tmp_path / "sales.csv")
    peer.add_parquet("regions", tmp_path / "regions.parquet")
    query = "SELECT name, max(day), sum(price) FROM sales JOIN regions ON id = region_id GROUP BY name"
    done = peer.run({"q": query}, {"q": query})
    assert done.by_query["q"].seconds == done.spent.seconds > 0
    truth: dict[str, list[tuple[object, ...]]] = {
        "q": [("north", date(2026, 1, 31), Decimal("1.50")), (None, date(2026, 2, 2), Decimal("2.50"))]
    }
    verify_texts("spark", done.answers, truth)
    with pytest.raises(WrongAnswerError, match="spark answers q wrongly: expected 1 rows, got 2"):
        verify_texts("spark", done.answers, {"q": truth["q"][:1]})


def test_tpch_says_how_to_get_its_generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(SystemExit, match="pip install tpchgen-cli"):
        tpch.run(scale=0.001)


def test_structured_streaming_answers_queries_as_written_and_by_hand(tmp_path: Path) -> None:
    events, customers = aim.events(4_000, 300), aim.customers(300)
    peer = StructuredStreaming(tmp_path)
    peer.add_table("customers", customers)
    by_hand = KeptGrouping(aim_structured.BY_HAND.grouping, {"q4": aim_structured.BY_HAND.answers["q4"]})
    queries = [aim_structured.kept_grouping("q1"), by_hand]
    done = peer.run(queries, events, events.slice(0, 10), chunk_rows=2_000, file_rows=1_000)
    with Duck() as duck:
        duck.add_table("customers", aim.CUSTOMER_COLUMNS, customers)
        duck.add_table("events", aim.EVENT_COLUMNS, events)
        verify("structured streaming", done.answers, duck.answers({name: aim.VIEWS[name] for name in ("q1", "q4")}))
    assert done.spent.seconds > 0


def test_a_peer_that_fails_is_left_out_with_its_reason(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys; print('started'); print('finished', flush=True); sys.exit('no room')")
    with pytest.raises(PeerMissingError, match="the peer failed: no room"):
        run_script("the peer", Path(sys.executable), script, {}, tmp_path / "log")


def test_benchmarks_are_named_with_dashes() -> None:
    names = {
        "ingest",
        "aim-views",
        "datacell",
        "linear-road",
        "simple-view",
        "serve",
        "stream-tpch",
        "subscribe",
        "tpch",
    }
    assert names == set(bench_names())


def test_aim_rows_are_the_same_every_time_and_the_old_week_is_there() -> None:
    events = aim.events(2_000, 50)
    assert events.equals(aim.events(2_000, 50))
    assert set(events.column("week").to_pylist()) == {aim.CURRENT_WEEK, aim.CURRENT_WEEK - 1}
    assert aim.customers(50).column("id").to_pylist() == list(range(50))


def test_a_wrong_answer_fails_the_run() -> None:
    truth: dict[str, list[tuple[object, ...]]] = {"q": [(1, Decimal("0.5")), (2, None)]}
    verify("one", {"q": [(2, None), (1, 0.5)]}, truth)
    for wrong in ([(1, 0.5)], [(1, 0.5), (2, 0)], [(1, 0.51), (2, None)]):
        with pytest.raises(WrongAnswerError, match="one answers q with"):
            verify("one", {"q": list(wrong)}, truth)


def test_rates_compare_with_flink_where_it_ran() -> None:
    beside = rates("m", 100, {"millpond": Spent(1.0, 2.0), "flink": Spent(10.0, None)}, 5.0)
    assert [(one.unit, one.value, one.met) for one in beside] == [
        ("events/s", 100.0, True),
        ("events/core-s", 50.0, None),
    ]
    assert rates("m", 100, {"millpond": Spent(1.0, None)}, 5.0)[0].target is None


def test_the_stopwatch_sees_this_process_work() -> None:
    watch = Stopwatch()
    sum(range(3_000_000))
    spent = watch.spent()
    assert spent.seconds > 0
    if core_seconds(os.getpid()) is not None:
        assert spent.core_seconds is not None
        assert 0 < spent.core_seconds <= spent.seconds * (os.cpu_count() or 1) + 0.1
