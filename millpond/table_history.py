"""Which versions tables have had, when each was committed, and by which cycle of which query.

The catalog writes this in the transaction in which a version becomes visible. A version is retained until a while after
the next one took its place; how long, and how many at most, is a setting. What is no longer retained is forgotten when
the next version comes, and its files are left to VACUUM.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from millpond.stream import Clock

_metadata = sa.MetaData()

_history = sa.Table(
    "millpond_history",
    _metadata,
    sa.Column("oid", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("committed_us", sa.BigInteger, nullable=False),
    sa.Column("query", sa.BigInteger),
    sa.Column("query_name", sa.Text),
    sa.Column("cycle", sa.BigInteger),
)
"""`number` is that of the catalog's snapshot: a cycle that left a table as it was has an entry too."""


@dataclass(frozen=True)
class Retention:
    """How long a version is kept after another took its place, and how many entries a table has; what is too much is
    removed after so many commits."""

    time_us: int = 3_600_000_000
    entries_max: int = 10_000
    prune_every: int = 100


@dataclass(frozen=True)
class Writer:
    """A continuous query that wrote tables, by their oids, in its cycle of a number, if it runs in cycles."""

    query: int
    name: str
    cycle: int | None
    tables: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Entry:
    """A table, by its oid, as a commit left it."""

    oid: int
    version: int
    committed_us: int
    query: int | None
    query_name: str | None
    cycle: int | None


class TableHistory:
    """The history in the catalog's database; safe to use from several threads."""

    def __init__(self, engine: sa.Engine, clock: Clock, retention: Retention) -> None:
        self._engine, self._clock, self.retention = engine, clock, retention
        self._last_us = 0
        self._recorded: Counter[int] = Counter()
        _metadata.create_all(engine)

    # -- for the catalog, inside its transaction -----------------------------------------------------------------

    def record(
        self, connection: sa.Connection, number: int, versions: Mapping[int, int], writer: Writer | None
    ) -> None:
        """Write down the versions that tables, by oid, have with the snapshot of that number."""
        now_us = self._now_us()
        made = {} if writer is None else {"query": writer.query, "query_name": writer.name, "cycle": writer.cycle}
        for oid, version in versions.items():
            entry = {"oid": oid, "number": number, "version": version, "committed_us": now_us}
            connection.execute(sa.insert(_history).values(**entry, **made))
            self._recorded[oid] += 1
            if self._recorded[oid] % self.retention.prune_every == 0:
                self._prune(connection, oid, now_us)

    def forget(self, connection: sa.Connection, oids: Collection[int]) -> None:
        """Tables were dropped."""
        if oids:
            connection.execute(sa.delete(_history).where(_history.c.oid.in_(oids)))

    def _prune(self, connection: sa.Connection, oid: int, now_us: int) -> None:
        own = _history.c.oid == oid
        replaced = sa.select(sa.func.max(_history.c.version)).where(own, self._is_old(now_us)).scalar_subquery()
        newest = sa.select(_history.c.number).where(own).order_by(_history.c.number.desc())
        surplus = newest.limit(1).offset(self.retention.entries_max).scalar_subquery()
        gone = sa.or_(_history.c.version < replaced, _history.c.number <= surplus)
        connection.execute(sa.delete(_history).where(own, gone))

    def _is_old(self, now_us: int) -> sa.ColumnElement[bool]:
        """The newest entry before the horizon is of the first version that is retained."""
        return _history.c.committed_us <= now_us - self.retention.time_us

    def _now_us(self) -> int:
        """The time, which never goes back: the entries of a table are in order."""
        if not self._last_us:
            with self._engine.connect() as connection:
                self._last_us = connection.scalar(sa.select(sa.func.max(_history.c.committed_us))) or 0
        self._last_us = max(self._last_us, self._clock())
        return self._last_us

    # -- for readers ---------------------------------------------------------------------------------------------

    def at(self, oid: int, version: int, time_us: int) -> Entry | None:
        """A table, whose newest version is one that the reader sees, as it was at a time, if that is retained."""
        return self._newest(oid, version, _history.c.committed_us <= time_us)

    def after(self, oid: int, version: int, query: int, cycle: int) -> Entry | None:
        """The table as it was after a cycle of a query, if that is retained."""
        return self._newest(oid, version, _history.c.query == query, _history.c.cycle == cycle)

    def newest_cycle(self, oid: int, version: int, query: int) -> Entry | None:
        """The table as it was after the last cycle of a query, if that is retained."""
        return self._newest(oid, version, _history.c.query == query, _history.c.cycle.is_not(None))

    def writers(self, oid: int) -> dict[int, str]:
        """The queries whose cycles wrote a table, by oid, with the names that they had; the newest come last."""
        columns = (_history.c.query, _history.c.query_name, sa.func.max(_history.c.number).label("last"))
        wrote = sa.select(*columns).where(_history.c.oid == oid, _history.c.cycle.is_not(None))
        with self._engine.connect() as connection:
            found = connection.execute(wrote.group_by(*columns[:2]).order_by("last"))
            return {row.query: row.query_name for row in found}

    def entries(self, oid: int, version: int) -> Iterable[Entry]:
        """All that is retained of a table up to a version, the oldest first."""
        own = sa.and_(_history.c.oid == oid, _history.c.version <= version)
        wanted = sa.select(_history).where(own, _history.c.version >= self._first(oid)).order_by(_history.c.number)
        with self._engine.connect() as connection:
            return [_entry(row) for row in connection.execute(wanted)]

    def _newest(self, oid: int, version: int, *conditions: sa.ColumnElement[bool]) -> Entry | None:
        own = (_history.c.oid == oid, _history.c.version <= version, _history.c.version >= self._first(oid))
        wanted = sa.select(_history).where(*own, *conditions).order_by(_history.c.number.desc()).limit(1)
        with self._engine.connect() as connection:
            row = connection.execute(wanted).first()
        return None if row is None else _entry(row)

    def _first(self, oid: int) -> sa.ColumnElement[int]:
        """The first version of a table that is retained."""
        own = (_history.c.oid == oid, self._is_old(self._clock()))
        return sa.func.coalesce(sa.select(sa.func.max(_history.c.version)).where(*own).scalar_subquery(), 0)


def _entry(row: sa.Row[tuple[object, ...]]) -> Entry:
    return Entry(row.oid, row.version, row.committed_us, row.query, row.query_name, row.cycle)
