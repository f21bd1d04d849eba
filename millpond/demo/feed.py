"""The two threads of the demo: one feeds the streams at an even pace, one asks questions about them in SQL.

Both only write to `Seen`, from which the screen draws.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import millpond
from millpond.demo.plant import Plant

TICK_SECONDS = 0.1
QUESTION_SECONDS = 2.0
"""A question is asked this often, or as fast as answers come if they take longer."""

DEFINITIONS = (
    "CREATE TABLE station (id int PRIMARY KEY, plant text, location text, supplier text)",
    "CREATE FOREIGN TABLE part_usage (part_id int, part text, station int, worker int)\n"
    "  SERVER stream OPTIONS (capacity '{capacity}')",
    "CREATE FOREIGN TABLE part_restock (part_id int, part text, station int, worker int)\n"
    "  SERVER stream OPTIONS (capacity '{capacity}')",
    """\
CREATE VIEW running_low AS
WITH used AS (
  SELECT part, station, count(*) FROM part_usage GROUP BY part, station
), restocked AS (
  SELECT part, station, count(*) FROM part_restock GROUP BY part, station
)
SELECT r.part, s.plant, s.location, s.supplier
FROM station s, used u, restocked r
WHERE s.id = u.station AND u.station = r.station AND u.part = r.part AND r.count - u.count < 5""",
)

RUNNING_LOW = """\
SELECT part, plant, location, supplier
FROM running_low -- a continuous view
ORDER BY part, plant, location"""

MOST_USED = """\
SELECT u.part, count(*) AS used, count(DISTINCT u.station) AS stations
FROM part_usage u GROUP BY u.part ORDER BY used DESC LIMIT 5"""

BY_PLANT = """\
SELECT s.plant, count(*) AS used, count(DISTINCT u.worker) AS workers
FROM part_usage u JOIN station s ON s.id = u.station GROUP BY s.plant ORDER BY used DESC"""


@dataclass(frozen=True)
class Question:
    """Something to ask."""

    title: str
    sql: str


RUNNING_LOW_QUESTION = Question("parts running low", RUNNING_LOW)
QUESTIONS = (
    RUNNING_LOW_QUESTION,
    Question("parts used most", MOST_USED),
    RUNNING_LOW_QUESTION,
    Question("use by plant", BY_PLANT),
)


@dataclass(frozen=True)
class Reply:
    """A question with its answer."""

    question: Question
    columns: tuple[str, ...]
    rows: list[list[str | None]]
    seconds: float


@dataclass(frozen=True)
class StreamState:
    """What `millpond_streams` says of a stream."""

    name: str
    rows_in: int
    rows_held: int
    capacity_rows: int
    bytes_held: int
    segments: int


@dataclass
class Seen:
    """All that the screen shows. Each field is replaced as a whole, so readers need no lock."""

    rows_in: dict[str, int] = field(default_factory=lambda: {"part_usage": 0, "part_restock": 0})
    streams: tuple[StreamState, ...] = ()
    reply: Reply | None = None
    running_low: Reply | None = None
    reply_seconds: list[float] = field(default_factory=list)


class Worker(threading.Thread):
    """A thread whose failure is kept, for the main thread to raise, and stops the others."""

    def __init__(self, name: str, stop: threading.Event, work: Callable[[], None]) -> None:
        super().__init__(name=name, daemon=True)
        self._stop_all = stop
        self._work = work
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            self._work()
        except Exception as failure:
            # A question that is cancelled because the demo ends has not failed.
            self.failure = None if self._stop_all.is_set() else failure
            self._stop_all.set()


def define(pond: millpond.Pond, plant: Plant, capacity_rows: int) -> None:
    """Create the table with its rows, the two streams and the view, and stock the stations."""
    for definition in DEFINITIONS:
        pond.execute(definition.format(capacity=capacity_rows))
    pond.insert("station", [(s.id, s.plant, s.location, s.supplier) for s in plant.stations])
    pond.insert("part_restock", plant.stock().restock)


def feed(pond: millpond.Pond, plant: Plant, seen: Seen, stop: threading.Event) -> None:
    """Insert what happens in the plant, tick by tick, until told to stop."""
    worked_until = time.monotonic()
    while not stop.wait(max(0.0, worked_until + TICK_SECONDS - time.monotonic())):
        worked_until += TICK_SECONDS
        work = plant.work(TICK_SECONDS)
        # Restock first: what is used was there before.
        pond.insert("part_restock", work.restock)
        pond.insert("part_usage", work.usage)
        seen.rows_in = {
            "part_usage": seen.rows_in["part_usage"] + work.usage.num_rows,
            "part_restock": seen.rows_in["part_restock"] + work.restock.num_rows,
        }


def ask(pond: millpond.Pond, seen: Seen, stop: threading.Event, questions: Sequence[Question] = QUESTIONS) -> None:
    """Ask the questions in turn until told to stop."""
    turn = 0
    while not stop.is_set():
        started = time.monotonic()
        seen.streams = _stream_states(pond)
        reply = _reply(pond, questions[turn % len(questions)])
        seen.reply = reply
        seen.reply_seconds.append(reply.seconds)
        if reply.question is RUNNING_LOW_QUESTION:
            seen.running_low = reply
        turn += 1
        stop.wait(max(0.0, started + QUESTION_SECONDS - time.monotonic()))


def _reply(pond: millpond.Pond, question: Question) -> Reply:
    started = time.monotonic()
    result = pond.execute(question.sql)
    rows = result.text_rows()
    return Reply(question, tuple(column.name for column in result.columns), rows, time.monotonic() - started)


def _stream_states(pond: millpond.Pond) -> tuple[StreamState, ...]:
    sql = "SELECT name, rows_in, rows_held, capacity, bytes, segments FROM millpond_streams ORDER BY name"
    return tuple(StreamState(str(row[0]), *map(int, row[1:])) for row in pond.execute(sql).fetchall())
