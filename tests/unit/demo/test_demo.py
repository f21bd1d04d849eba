"""The demo's plant is believable, and its program runs, shows and ends well, here with a pond that only counts."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pyarrow as pa
import pytest
from rich.console import Console

import millpond
from millpond import demo
from millpond.demo import screen
from millpond.demo.feed import QUESTIONS, RUNNING_LOW_QUESTION, Question, Reply, Seen, StreamState
from millpond.demo.plant import STATIONS, Plant
from millpond.errors import MillpondError, SqlState


class FakePond:
    """Counts what is inserted and answers every question with one row."""

    def __init__(self, *, failing: bool = False) -> None:
        self.inserted: Counter[str] = Counter()
        self.failing = failing
        self.asked = threading.Event()

    def execute(self, sql: str) -> Any:
        if self.failing:
            raise MillpondError(SqlState.DUPLICATE_TABLE, 'relation "station" already exists', hint="Choose another.")
        if "FROM millpond_streams" in sql:
            return SimpleNamespace(
                fetchall=lambda: [("part_usage", 9, 5, 10, 100, 1), ("part_restock", 9, 5, 10, 100, 1)]
            )
        if "FROM running_low" in sql:
            self.asked.set()
        columns = [SimpleNamespace(name="part"), SimpleNamespace(name="plant")]
        return SimpleNamespace(columns=columns, text_rows=lambda: [["Wheel", "Regensburg"]])

    def insert(self, name: str, rows: pa.Table | list[tuple[object, ...]]) -> int:
        self.inserted[name] += len(rows)
        return len(rows)

    def interrupt(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture
def pond(monkeypatch: pytest.MonkeyPatch) -> FakePond:
    fake = FakePond()
    # Into the dictionary: to look at what is there now would import Spark.
    monkeypatch.setitem(vars(millpond), "connect", lambda *_, **__: fake)
    return fake


def column(table: pa.Table, name: str) -> list[Any]:
    return table[name].to_pylist()


def run_demo(seconds: float, svg_path: Path | None = None) -> int:
    return demo.run(
        directory=None, master="local[1]", seconds=seconds, rate=2000, svg_path=str(svg_path) if svg_path else None
    )


def test_what_is_used_was_restocked_before_and_is_used_once() -> None:
    plant = Plant(rate=4000)
    there = set(column(plant.stock().restock, "part_id"))
    for _ in range(100):
        work = plant.work(0.1)
        there.update(column(work.restock, "part_id"))
        used = column(work.usage, "part_id")
        assert len(set(used)) == len(used)
        assert there.issuperset(used)
        there.difference_update(used)


def test_the_plant_keeps_its_rate_and_sometimes_runs_low() -> None:
    plant, stock, uses, low_seen = Plant(rate=10_000), Counter[tuple[str, int]](), 0, 0
    first = plant.stock().restock
    stock.update(zip(column(first, "part"), column(first, "station"), strict=True))
    for _ in range(300):
        work = plant.work(0.1)
        stock.update(zip(column(work.restock, "part"), column(work.restock, "station"), strict=True))
        stock.subtract(zip(column(work.usage, "part"), column(work.usage, "station"), strict=True))
        uses += len(work.usage)
        low_seen += sum(count < 5 for count in stock.values()) > 0
    assert uses == pytest.approx(5000 * 30, rel=0.1)
    assert 10 < low_seen < 300


def test_the_same_seed_gives_the_same_plant() -> None:
    assert Plant(1000, seed=1).stock() == Plant(1000, seed=1).stock()
    assert Plant(1000, seed=1).stock() != Plant(1000, seed=2).stock()


def test_run_ends_by_itself_with_a_summary(pond: FakePond, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run_demo(0.8, tmp_path / "demo.svg") == 0
    assert pond.inserted["station"] == STATIONS
    assert pond.inserted["part_usage"] > 100
    out = capsys.readouterr().out
    assert "running low: 1" in out
    assert "Questions answered meanwhile" in out
    svg = (tmp_path / "demo.svg").read_text(encoding="utf-8")
    assert "Regensburg" in svg
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "").replace("https://www.textualize.io", "")


def test_ctrl_c_ends_it_well(pond: FakePond, capsys: pytest.CaptureFixture[str]) -> None:
    def press() -> None:
        assert pond.asked.wait(10)
        signal.pthread_kill(waiting, signal.SIGINT)

    waiting = threading.get_ident()
    threading.Thread(target=press).start()
    assert run_demo(60) == 0
    assert "rows/s." in capsys.readouterr().out


def test_an_error_is_told_and_gives_exit_code_1(pond: FakePond, capsys: pytest.CaptureFixture[str]) -> None:
    pond.failing = True
    assert run_demo(60) == 1
    assert capsys.readouterr().err == 'ERROR:  relation "station" already exists\nHINT:  Choose another.\n'


def test_rates() -> None:
    rates = screen.Rates()
    for second in range(5):
        rates.note(second, second * 100)
    assert rates.history() == [100.0] * 4
    assert rates.now() == 100.0


def test_the_picture_keeps_its_height() -> None:
    def height(rows: int, question: Question = RUNNING_LOW_QUESTION) -> int:
        answer: list[list[str | None]] = [["Wheel"]] * rows
        reply = Reply(question, ("part",), answer, 0.1)
        states = tuple(StreamState(name, 9, 5, 10, 100, 1) for name in ("part_usage", "part_restock"))
        console = Console(width=120)
        with console.capture() as text:
            console.print(screen.picture(Seen(streams=states, reply=reply), screen.Rates(), 1, 60))
        return text.get().count("\n")

    assert height(0) == height(3) == height(100)
    assert len({height(1, question) for question in QUESTIONS}) == 1
