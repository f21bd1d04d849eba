"""The history of tables: what a reader finds of the past is what was committed then, and nothing that is too old."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from millpond.catalog import Catalog
from millpond.relation import Column, Relation
from millpond.table_history import Retention, Writer
from millpond.types import INTEGER

RETENTION = Retention(time_us=50, entries_max=12, prune_every=1)
START_US = 1000


class Model:
    """Tables with random commits, and all that ever was, by what the catalog said at the time."""

    def __init__(self, directory: Path, random: Random) -> None:
        self.now_us, self.random, self._url = START_US, random, f"sqlite:///{directory / 'catalog.db'}"
        self.catalog = Catalog(self._url, lambda: self.now_us, RETENTION)
        self.tables = [Relation(self.catalog.new_oid(), name, "table", (Column("a", INTEGER),)) for name in "tu"]
        self.commits: dict[int, list[tuple[int, int, int | None, int | None]]] = {one.oid: [] for one in self.tables}
        self.cycles = {7: 0, 8: 0}
        for place, table in enumerate(self.tables):
            self.change(place, table, None)

    def reopen(self) -> None:
        self.catalog.close()
        self.catalog = Catalog(self._url, lambda: self.now_us, RETENTION)

    def step(self) -> None:
        """Time passes; a table gets a new version, or a cycle ends, which may leave it as it was."""
        self.now_us += self.random.choice((0, 1, 5, 30))
        place, query = self.random.randrange(2), self.random.choice((None, 7, 8))
        table = self.tables[place]
        if query is None or self.random.random() < 0.7:
            table = replace(table, version=table.version + self.random.choice((1, 2)))
        self.change(place, table, query)

    def change(self, place: int, table: Relation, query: int | None) -> None:
        writer = None
        if query is not None:
            self.cycles[query] += 1
            writer = Writer(query, f"q{query}", self.cycles[query], frozenset({table.oid}))
        self.catalog.commit({table.name: table} if table != self.tables[place] or not writer else {}, writer=writer)
        cycle = None if query is None else self.cycles[query]
        self.commits[table.oid].append((self.now_us, table.version, query, cycle))
        self.tables[place] = table

    def retained(self, oid: int) -> list[tuple[int, int, int | None, int | None]]:
        """The commits whose version was replaced not too long ago, as far as they are the newest."""
        commits = self.commits[oid]

        def replaced_us(version: int) -> int:
            return min((us for us, other, _, _ in commits if other > version), default=self.now_us)

        recent = [one for one in commits if replaced_us(one[1]) > self.now_us - RETENTION.time_us]
        return [one for one in recent if one in commits[-RETENTION.entries_max :]]


@pytest.mark.parametrize("seed", range(3))
def test_the_past_is_what_was_committed(tmp_path: Path, seed: int) -> None:
    model = Model(tmp_path, Random(seed))
    for _ in range(40):
        model.step()
        if model.random.random() < 0.05:
            model.reopen()
        for table in model.tables:
            compare(model, table)


def compare(model: Model, table: Relation) -> None:
    history, retained = model.catalog.history, model.retained(table.oid)
    found = [(one.committed_us, one.version, one.query, one.cycle) for one in history.entries(table.oid, table.version)]
    assert found == retained
    asked_us = model.now_us - model.random.randrange(80)
    expected = [one for one in retained if one[0] <= asked_us]
    at = history.at(table.oid, table.version, asked_us)
    assert (at and at.version) == (expected[-1][1] if expected else None)
    for query, last in model.cycles.items():
        cycle = model.random.randrange(last + 2)
        wanted = [version for _, version, *which in retained if which == [query, cycle]]
        after = history.after(table.oid, table.version, query, cycle)
        assert (after and after.version) == (wanted[0] if wanted else None)
        assert all(name == f"q{oid}" for oid, name in history.writers(table.oid).items())


def test_what_a_reader_does_not_see_yet_is_not_its_past(tmp_path: Path) -> None:
    model = Model(tmp_path, Random(1))
    table = model.tables[0]
    model.now_us += 1
    model.change(0, replace(table, version=1), 7)
    seen = model.catalog.history.at(table.oid, table.version, model.now_us)
    assert seen is not None
    assert seen.version == table.version
    assert model.catalog.history.after(table.oid, table.version, 7, 1) is None


def test_the_past_of_a_dropped_table_is_forgotten(tmp_path: Path) -> None:
    model = Model(tmp_path, Random(1))
    oid = model.tables[0].oid
    model.catalog.commit({"t": None})
    assert list(model.catalog.history.entries(oid, 99)) == []
