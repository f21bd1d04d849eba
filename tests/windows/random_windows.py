"""Random views over windows: what Millpond is asked, and what an independent judge asks of exactly a window's rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Literal

Unit = Literal["rows", "event", "arrival"]
Kind = Literal["tumble", "hop", "landmark", "age", "last"]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

KEYS = 4
"""Keys of the rows: 0, 1 and so on."""

DELAY_S = 20
"""How late a row of the streams may be."""

QUERIES = (
    "SELECT {start} AS b, {end} AS e, k, count(*), sum(v), min(v), max(v) FROM {w} GROUP BY k",
    "SELECT count(*), sum(v), avg(v)::double precision, sum(d) AS ds FROM {w} WHERE v % 3 = 1",
    "SELECT k, count(DISTINCT v), max(d), {end} FROM {w} GROUP BY k HAVING count(*) > 1",
    "SELECT {end}, k, sum(v) AS t FROM {w} GROUP BY {end}, k ORDER BY t DESC, k LIMIT 2",
    "SELECT n.name, sum(w.v), min(w.d) FROM {w} JOIN kind n ON n.k = w.k WHERE w.v > 5 GROUP BY n.name",
    "SELECT max(t), count(*), min(b) FROM (SELECT k, sum(v) AS t, {start} AS b FROM {w} GROUP BY k) x",
    "SELECT DISTINCT k, {start} FROM {w} WHERE v > 30",
    "SELECT {start}, count(*) FILTER (WHERE v > 50), min(d) FROM {w} GROUP BY {start}",
    "SELECT k, rank() OVER (ORDER BY sum(v), k), sum(v) FROM {w} GROUP BY k",
    "SELECT k, count(*), sum(d) FROM {w} GROUP BY ROLLUP (k)",
    "SELECT g.k, g.n, h.n AS m FROM (SELECT k, count(*) AS n FROM {w} GROUP BY k) g"
    " JOIN (SELECT k, count(*) AS n FROM {u} GROUP BY k) h ON h.k = g.k",
    "SELECT {end} AS e, k, v, d FROM {w} WHERE v > 40",
    "SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v, d) AS n FROM {w} ORDER BY v, d, k LIMIT 5",
    "SELECT k, sum(v) FROM (SELECT k, v FROM {w} WHERE v > 10 UNION ALL SELECT k, -v FROM {u}) x GROUP BY k",
)

JOINS = (
    "SELECT max(w.v), sum(u.v), count(*) FROM {w}, {u} WHERE w.k = u.k AND w.d > -2",
    "SELECT w.k, count(*), sum(u.v), min(w.d), max(u.d), count(DISTINCT u.v) AS n FROM {w} JOIN {u} ON w.k = u.k"
    " GROUP BY w.k HAVING count(*) > 1",
    "SELECT u.v % 3 AS g, avg(w.v)::double precision, bool_or(w.v > u.v), sum(w.d * u.d) AS p FROM {w}"
    " JOIN {u} ON w.v < u.v WHERE u.v > 10 GROUP BY u.v % 3",
    "SELECT w.k, count(*), max(t.v - w.v), sum(t.d) FROM {w}, {t} WHERE w.k = t.k AND w.tid < t.tid GROUP BY w.k",
    "SELECT DISTINCT w.k, u.k AS l FROM {w}, {u} WHERE w.v = u.v",
    "SELECT max(n), count(*) FROM (SELECT w.v, count(*) AS n FROM {w} JOIN {u} ON w.v = u.v GROUP BY w.v) x",
    "SELECT w.k, w.v, u.v AS x FROM {w} LEFT JOIN {u} ON w.k = u.k AND w.v < u.v",
)
"""Windows that are joined: `u` may be another window than `w`, `t` is the same one."""


UNBOUND = tuple(one for one in QUERIES if "{start}" not in one and "{end}" not in one)
"""Those that do not ask for a window's bounds."""

GROUPED = tuple(one for one in UNBOUND if "GROUP BY" in one or "count" in one)
"""Of these, what a view without windows can have, whose rows grow too old."""


@dataclass(frozen=True)
class Row:
    """A tuple of a stream as the judge knows it."""

    tid: int
    k: int
    v: int
    d: float
    at: datetime | None
    arrival: datetime


@dataclass(frozen=True)
class Evaluation:
    """A query over the relations `win_s` and `win_r`, and the rows of the streams `s` and `r` that are in them."""

    query: str
    rows: dict[str, list[Row]]


@dataclass(frozen=True)
class RandomWindow:
    """A window, in rows or microseconds. One of an age has what is younger than its size, and goes on by its slide; the
    last kind has so many rows of each key."""

    kind: Kind
    unit: Unit
    slide: int
    size: int

    def call(self, stream: str, alias: str) -> str:
        """The window in FROM."""
        if self.kind == "age":
            return f"{stream} {alias}"
        if self.kind == "last":
            return f"LAST({stream}, {self.size} PARTITION BY k) {alias}"
        sizes = [self.size] if self.kind != "hop" else [self.slide, self.size]
        written = [str(one) if self.unit == "rows" else f"INTERVAL '{one} microseconds'" for one in sizes]
        column = ["arrival_timestamp"] if self.unit == "arrival" else []
        return f"{self.kind.upper()}({', '.join([stream, *column, *written])}) {alias}"

    def shown(
        self, streams: Sequence[Sequence[Row]], now: datetime, retain: int, *, early: bool, own: int = 0
    ) -> list[tuple[int, int]]:
        """The bounds of the windows that a view shows, by the words of the documentation. Those of several streams are
        complete when they are in each, and begin with the first row of their `own` one."""
        if self.kind == "age":
            start = micros(now) // self.slide * self.slide - -(-self.size // self.slide) * self.slide
            return [(start, micros(now) + 1)]
        axes = [[one for one in (self.place(row) for row in rows) if one is not None] for rows in streams]
        if not all(axes):
            return []
        rows = streams[0]
        reached = {"rows": len(rows), "event": min(map(max, axes)), "arrival": micros(now)}[self.unit]
        if self.kind == "landmark":
            newest = reached - 1 if self.unit == "rows" else reached
            start = newest // self.size * self.size
            return [(start, start + self.size)]
        position = reached - DELAY_S * 1_000_000 if self.unit == "event" else reached
        low = 0 if self.unit == "rows" else min(axes[own])
        first = (low - self.size) // self.slide
        windows = [
            (number * self.slide, number * self.slide + self.size) for number in range(first, reached // self.slide + 2)
        ]
        seen = [one for one in windows if (one[0] >= 0 if self.unit == "rows" else one[1] > low)]
        complete = [one for one in seen if one[1] <= position]
        following = [one for one in windows if one[1] > position][:1] if early else []
        newest = len(rows) - 1 if self.unit == "rows" else reached
        return complete[-retain:] + [one for one in following if one[0] <= newest and one in seen]

    def place(self, row: Row) -> int | None:
        return place_of(row, self.unit)


@dataclass(frozen=True)
class RandomView:
    """A view over one window of the stream `s`, or windows of the streams `s` and `r`: the same, or an `other` one of
    `r`. With `apart`, one of an age is over a view that has all rows."""

    name: str
    window: RandomWindow
    query: str
    retain: int
    early: bool
    mode: str = "incremental"
    other: RandomWindow | None = None
    apart: bool = False

    @property
    def two_streams(self) -> bool:
        return "{u}" in self.query

    @property
    def is_default(self) -> bool:
        """Whether the query alone shows the same."""
        return self.retain == 1 and not self.early and self.window.kind not in ("age", "last")

    @property
    def statement(self) -> str:
        given = {"start": "window_start", "end": "window_end", "w": self.window.call("s", "w")}
        text = self.query.format(**given, u=(self.other or self.window).call("r", "u"), t=self.window.call("s", "t"))
        if self.window.kind == "age":
            return self._of_an_age(text)
        if self.window.kind == "last":
            return f"CREATE VIEW {self.name} AS {text}"
        early = ", early" if self.early else ""
        return f"CREATE VIEW {self.name} WITH (retain = {self.retain}{early}, window_mode = {self.mode}) AS {text}"

    def _of_an_age(self, text: str) -> str:
        """The statements that make a view of a query over its streams."""
        age, step = (f"{one // 1000}ms" for one in (self.window.size, self.window.slide))
        made = f"CREATE VIEW {self.name} WITH (max_age = '{age}', step = '{step}') AS"
        if not self.apart:
            return f"{made} {text}"
        return f"CREATE VIEW {self.name}_all AS {text}; {made} SELECT * FROM {self.name}_all"

    def evaluations(self, streams: dict[str, list[Row]], now: datetime) -> list[Evaluation]:
        """The windows that the view shows."""
        own = {name: streams[name] for name in (("s", "r") if self.two_streams else ("s",))}
        if self.window.kind == "last":
            newest = {
                row.tid for key in range(KEYS) for row in [one for one in own["s"] if one.k == key][-self.window.size :]
            }
            return [Evaluation(self.query.format(w="win_s w"), {"s": [row for row in own["s"] if row.tid in newest]})]
        place = list(own).index("r") if self.most_frequent is self.other else 0
        shown = self.most_frequent.shown(list(own.values()), now, self.retain, early=self.early, own=place)
        return [self._evaluation(own, bounds) for bounds in shown]

    @property
    def most_frequent(self) -> RandomWindow:
        """The window that slides most often."""
        return self.other if self.other is not None and self.other.slide < self.window.slide else self.window

    def bounds(self, stream: str, end: int) -> tuple[int, int]:
        """Those of the window of a stream that ends last when the most frequent one ends."""
        window = self.other if self.other is not None and stream == "r" else self.window
        start = (end - window.size) // window.slide * window.slide
        return start, start + window.size

    def _evaluation(self, streams: dict[str, list[Row]], bounds: tuple[int, int]) -> Evaluation:
        start, end = (literal(one, self.window.unit) for one in bounds)
        inside = {}
        for name, rows in streams.items():
            low, high = bounds if self.other is None else self.bounds(name, bounds[1])
            inside[name] = [row for row in rows if self._is_in(row, low, high)]
        return Evaluation(self.query.format(start=start, end=end, w="win_s w", u="win_r u", t="win_s t"), inside)

    def late(self, rows: Sequence[Row]) -> list[int]:
        """The tids of those rows of `s` all of whose windows were not shown any more when they came."""
        found: list[int] = []
        high: int | None = None
        for row in rows if self.window.kind not in ("age", "last") else ():
            place = self.window.place(row)
            if place is None or self.window.unit != "event":
                continue
            if high is not None:
                ended = (high - DELAY_S * 1_000_000 - self.window.size) // self.window.slide
                if place // self.window.slide <= ended - self.retain:
                    found.append(row.tid)
            high = place if high is None else max(high, place)
        return found

    def _is_in(self, row: Row, start: int, end: int) -> bool:
        place = self.window.place(row)
        return place is not None and start <= place < end


def place_of(row: Row, unit: Unit) -> int | None:
    """Where a row is on the axis of windows; None if it is nowhere."""
    if unit == "rows":
        return row.tid
    moment = row.at if unit == "event" else row.arrival
    return None if moment is None else micros(moment)


def literal(place: int, unit: Unit) -> str:
    """A place as DuckDB's SQL."""
    if unit == "rows":
        return f"CAST({place} AS BIGINT)"
    return f"CAST('{(EPOCH + timedelta(microseconds=place)).isoformat(sep=' ')}' AS TIMESTAMPTZ)"


def micros(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


def random_view(random: Random, number: int) -> RandomView:
    unit: Unit = random.choice(["rows", "event", "arrival"])
    kind: Kind = random.choice(["tumble", "hop", "hop", "landmark", "age", "last"])
    length = 1 if unit == "rows" else 1_000_000
    size = random.choice([7, 10, 24, 60]) * length
    slide = random.choice([1, 3, 5, 12, 40]) * length if kind == "hop" else size
    window = RandomWindow(kind, unit, slide, size)
    query = random.choice(JOINS if random.random() < 0.25 else QUERIES)
    if "{u}" in query and (unit == "rows" or kind == "landmark"):
        query = QUERIES[0]  # rows of two streams are numbered apart, and landmarks are reached apart
    if kind == "landmark":
        return RandomView(f"w{number}", window, query, 1, early=False)
    if kind == "last":
        query = random.choice([one for one in UNBOUND if "{u}" not in one])
        return RandomView(f"w{number}", RandomWindow(kind, "rows", 1, random.choice([1, 3, 10])), query, 1, early=False)
    if kind == "age":
        window = RandomWindow(
            kind, "event", random.choice([1, 3, 5]) * 1_000_000, random.choice([7, 20, 60]) * 1_000_000
        )
        query, apart = random.choice(GROUPED), random.random() < 0.5
        return RandomView(f"w{number}", window, query, 1, early=False, apart=apart)
    early = "{u}" not in query and random.random() < 0.3
    mode = random.choice(["auto", "auto", "incremental", "reevaluate"])
    other = None
    if "{u}" in query and query in JOINS and random.random() < 0.5:
        slide, size = random.choice([3, 5, 12]) * length, random.choice([7, 10, 24]) * length
        other = RandomWindow("hop", unit, slide, size)
    return RandomView(f"w{number}", window, query, random.choice([1, 1, 2, 5]), early, mode, other)
