"""Subscriptions in Python: at random, against a model of what was inserted; the ways of a query; how they end."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from millpond import MillpondError, Pond
from millpond.bench.jobs import jobs_started
from millpond.errors import SqlState
from millpond.subscription import Change, Subscription

WAIT_S = 60.0
KEYS = ["a", "b", None]
NUMBERS = [0.0, 0.5, -2.25, float("inf"), None]

Row = tuple[Any, ...]
Rows = list[tuple[str | None, float | None]]

SIMPLE = "SELECT k, count(*) AS n, sum(x) AS total, max(x) AS most FROM s GROUP BY k"
GROUPED = "SELECT k, count(*) AS n FROM s GROUP BY k"
JOINED = f"SELECT g.k, g.n, w.word FROM ({GROUPED}) g LEFT JOIN words w ON w.k = g.k WHERE g.n > 1"
"""Its key, k, is none as soon as there are two words for it."""


@dataclass
class Model:
    """What was inserted, and the rows of both views after each step."""

    rows: Rows = field(default_factory=list)
    words: list[tuple[str, str]] = field(default_factory=list)
    simple: list[Counter[Row]] = field(default_factory=lambda: [Counter()])
    joined: list[Counter[Row]] = field(default_factory=lambda: [Counter()])

    def note(self) -> None:
        groups: dict[str | None, list[float | None]] = {}
        for k, x in self.rows:
            groups.setdefault(k, []).append(x)
        known = {k: [x for x in xs if x is not None] for k, xs in groups.items()}
        totals = {k: (sum(xs) if xs else None, max(xs, default=None)) for k, xs in known.items()}
        self.simple.append(Counter((k, len(xs), *totals[k]) for k, xs in groups.items()))
        words: dict[str | None, list[str | None]]
        words = {k: [word for key, word in self.words if key == k] or [None] for k in groups}
        many = {k: len(xs) for k, xs in groups.items() if len(xs) > 1}
        self.joined.append(Counter((k, n, word) for k, n in many.items() for word in words[k]))


class Client:
    """A subscription and the rows that it has."""

    def __init__(self, subscription: Subscription, rows: Counter[Row] | None = None, version: int = 0) -> None:
        self.subscription, self.version = subscription, version
        self.rows: Counter[Row] = Counter() if rows is None else rows

    def read(self, timeout_s: float) -> list[Change]:
        changes = self.subscription.fetch(timeout_s)
        for change in changes:
            assert change.version >= self.version
            self.version = change.version
            gone = change.old if change.change == "update" else change.row if change.change == "delete" else None
            if gone is not None:
                assert self.rows[gone] > 0, change
                self.rows[gone] -= 1
            if change.change in ("snapshot", "insert", "update"):
                assert change.row is not None
                self.rows[change.row] += 1
        self.rows = +self.rows
        return changes


@pytest.fixture
def views(pond: Pond) -> Iterator[Pond]:
    pond.execute("CREATE STREAM s (k text, x float8)")
    pond.execute("CREATE TABLE t (k text PRIMARY KEY, word text)")
    pond.execute("CREATE TABLE words (k text, word text)")
    pond.execute(f"CREATE VIEW simple AS {SIMPLE}")
    pond.execute(f"CREATE VIEW joined AS {JOINED}")
    yield pond
    assert not pond.services.feeds.subscribers()


@pytest.mark.parametrize("seed", [1, 2])
def test_at_random(views: Pond, seed: int) -> None:
    chance, model = random.Random(seed), Model()
    clients = {name: [Client(views.subscribe(name)) for _ in range(2)] for name in ("simple", "joined")}
    expected = {"simple": model.simple, "joined": model.joined}
    for _ in range(15):
        _change(views, model, chance)
        for name, ones in clients.items():
            for place, client in enumerate(ones):
                if chance.random() < 0.4:
                    client.read(0.2)
                    assert client.rows in expected[name]
                elif chance.random() < 0.15:
                    ones[place] = _resumed(views, name, client)
    for name, ones in clients.items():
        for client in ones:
            while client.rows != expected[name][-1]:
                assert client.read(WAIT_S), "it ends with what the view has"
                assert client.rows in expected[name]
            client.subscription.close()


def _change(pond: Pond, model: Model, chance: random.Random) -> None:
    if chance.random() < 0.8:
        rows = [(chance.choice(KEYS), chance.choice(NUMBERS)) for _ in range(chance.randrange(1, 5))]
        model.rows += rows
        pond.insert("s", rows)
    else:
        key, word = chance.choice("ab"), chance.choice(["one", "two"])
        pond.execute(f"INSERT INTO words VALUES ('{key}', '{word}')")
        model.words.append((key, word))
    model.note()


def _resumed(pond: Pond, name: str, client: Client) -> Client:
    """The client after it left and came back with what it had."""
    client.subscription.close()
    if not client.version:
        return Client(pond.subscribe(name))
    return Client(pond.subscribe(name, as_of=client.version), client.rows, client.version)


def kinds(changes: list[Change]) -> list[Row]:
    return sorted((change.change, *(change.row or ())) for change in changes)


def test_a_query_over_views_and_tables(views: Pond) -> None:
    query = "SELECT t.k, t.word, v.n FROM t LEFT JOIN simple v ON v.k = t.k WHERE t.word <> %s"
    views.execute("INSERT INTO t VALUES ('a', 'one'), ('b', 'two')")
    with views.subscribe(query, ["two"]) as subscription:
        assert subscription.columns == ("k", "word", "n")
        assert kinds(subscription.fetch(WAIT_S)) == [("snapshot", "a", "one", None)]
        views.execute("INSERT INTO s VALUES ('a', 1), ('b', 1)")
        assert kinds(subscription.fetch(WAIT_S)) == [("delete", "a", "one", None), ("insert", "a", "one", 1)]
        views.execute("UPDATE t SET word = 'three' WHERE k = 'b'")
        assert ("b", "three", 1) in [change.row for change in subscription.fetch(WAIT_S)]
        before = jobs_started(views)
        views.execute("CREATE TABLE other (id int)")
        assert subscription.fetch(0.3) == []
        assert jobs_started(views) == before, "what it does not read makes no work"
        views.execute("ALTER TABLE t ADD COLUMN more int")
        assert subscription.fetch(0.3) == []
    with views.subscribe("t") as subscription:
        subscription.fetch(WAIT_S)
        views.execute("ALTER TABLE t ADD COLUMN most int")
        with pytest.raises(MillpondError, match="have changed"):
            subscription.fetch(WAIT_S)


def test_rows_of_a_stream_as_they_come(views: Pond) -> None:
    views.execute("INSERT INTO s VALUES ('before', 1)")
    views.execute("INSERT INTO t VALUES ('a', 'one')")
    with views.subscribe("SELECT s.k, x * 2 AS y, word FROM s LEFT JOIN t ON t.k = s.k WHERE x > 0") as subscription:
        views.execute("INSERT INTO s VALUES ('a', 1), ('b', -1), ('c', 2)")
        assert kinds(subscription.fetch(WAIT_S)) == [("insert", "a", 2.0, "one"), ("insert", "c", 4.0, None)]
        views.execute("INSERT INTO s VALUES ('b', -1)")
        views.execute("INSERT INTO s VALUES ('c', 3)")
        assert kinds(subscription.fetch(WAIT_S)) == [("insert", "c", 6.0, None)]


def test_a_grouping_of_a_stream_is_a_view_of_its_own(views: Pond) -> None:
    opened = len(views.services.views.all())
    views.execute("INSERT INTO s VALUES ('before', 1)")
    with views.subscribe("SELECT count(*) AS n, sum(x) FROM s WHERE x > 0") as subscription:
        assert kinds(subscription.fetch(WAIT_S)) == [("snapshot", 0, None)]
        views.execute("INSERT INTO s VALUES ('a', 1), ('b', -1)")
        assert subscription.fetch(WAIT_S) == [Change(subscription.version, "update", (1, 1.0), (0, None))]
        assert len(views.services.views.all()) == opened + 1
        assert views.execute("SELECT name FROM millpond_views ORDER BY name").fetchall() == [("joined",), ("simple",)]
    views.execute("DROP VIEW simple, joined; DROP STREAM s")
    deadline = time.monotonic() + WAIT_S
    while views.services.views.all():
        assert time.monotonic() < deadline, "it goes with its stream, also while nobody is subscribed"
        time.sleep(0.01)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, row_number() OVER () FROM s",
        "SELECT k FROM s LIMIT 3",
        "SELECT current_user, count(*) FROM simple",
        "SELECT a.k FROM s a JOIN s b ON a.k = b.k",
        "SELECT relname FROM pg_class",
        "millpond_streams",
    ],
)
def test_what_cannot_be_followed(views: Pond, query: str) -> None:
    with pytest.raises(MillpondError) as caught:
        views.subscribe(query)
    assert caught.value.sqlstate is SqlState.FEATURE_NOT_SUPPORTED


def test_a_version_costs_one_job_for_all(views: Pond) -> None:
    views.execute("INSERT INTO s VALUES ('a', 1)")
    subscriptions = [views.subscribe("simple") for _ in range(5)]
    for subscription in subscriptions:
        assert kinds(subscription.fetch(WAIT_S)) == [("snapshot", "a", 1, 1.0, 1.0)]
    before = jobs_started(views)
    views.execute("INSERT INTO s VALUES ('a', 2)")
    for subscription in subscriptions:
        (change,) = subscription.fetch(WAIT_S)
        assert (change.old, change.row) == (("a", 1, 1.0, 1.0), ("a", 2, 3.0, 2.0))
        subscription.close()
    assert jobs_started(views) == before + 1


def test_async_iteration(views: Pond) -> None:
    async def read() -> list[Change]:
        found: list[Change] = []
        with views.subscribe("simple", progress=True) as subscription:
            async for change in subscription:
                found.append(change)
                if len(found) == 1:
                    await asyncio.to_thread(views.execute, "INSERT INTO s VALUES ('a', 1)")
                if change.change == "insert":
                    return found
        return found

    changes = asyncio.run(read())
    assert changes[0].change == "progress", "a snapshot without rows has an end as well"
    assert changes[-1].row == ("a", 1, 1.0, 1.0)


def test_tables_and_the_end(views: Pond) -> None:
    views.execute("INSERT INTO s VALUES ('a', 1)")
    subscription = views.subscribe("simple", every=0.05)
    table = next(subscription.tables())
    assert table.column_names == ["version", "change", "k", "n", "total", "most"]
    views.execute("ALTER VIEW simple RENAME TO plain")
    views.execute("INSERT INTO s VALUES ('a', 1)")
    assert [change.change for change in subscription.fetch(WAIT_S)] == ["update"]
    views.execute("DROP VIEW plain")
    with pytest.raises(MillpondError) as caught:
        subscription.fetch(WAIT_S)
    assert caught.value.sqlstate is SqlState.UNDEFINED_TABLE
    subscription.close()


def test_a_version_of_another_process(views: Pond) -> None:
    with pytest.raises(MillpondError) as caught:
        views.subscribe("simple", as_of=1)
    assert (caught.value.sqlstate, caught.value.hint) == (
        SqlState.VERSION_NOT_RETAINED,
        "Subscribe anew, without AS OF.",
    )
