"""Tables that are joined before a stream is: random queries answer the same as when nothing is split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from random import Random

import pytest

import millpond
from millpond import Pond
from millpond.session import Session

pytestmark = pytest.mark.timeout(300)

QUERIES = 16
ROWS = 200
TABLES = """
    CREATE TABLE place (id int PRIMARY KEY, kind int, name text);
    CREATE TABLE owner (id int PRIMARY KEY, place int, kind int, name text);
    CREATE TABLE stock (place int, owner int, kind int, name text, PRIMARY KEY (place, owner));
    INSERT INTO place SELECT n, n % 3, 'p' || n % 4 FROM generate_series(0, 5) AS s(n);
    INSERT INTO owner
    SELECT n, CASE WHEN n % 4 > 0 THEN n % 8 END, n % 3, 'o' || n % 4 FROM generate_series(0, 7) AS s(n);
    INSERT INTO stock SELECT p, o, p + o, 's' || o FROM generate_series(0, 5) AS a(p), generate_series(0, 3) AS b(o);
    CREATE STREAM sale (place int, owner int, kind int, name text);
"""
INTEGERS = {
    "place": ("id", "kind"),
    "owner": ("id", "place", "kind"),
    "stock": ("place", "owner", "kind"),
    "sale": ("place", "owner", "kind"),
}


@pytest.fixture(scope="module")
def pond(shared_spark: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pond]:
    with millpond.connect(tmp_path_factory.mktemp("pond"), master="local[2]") as opened:
        random = Random(7)
        opened.execute(TABLES)
        rows = [(random.randrange(7), random.randrange(9), random.choice((0, 1, 2, None)), "p1") for _ in range(ROWS)]
        opened.insert("sale", rows)
        yield opened


@pytest.fixture
def split(pond: Pond) -> Iterator[Session]:
    session = pond.new_session()
    session.execute(f"SET stream_limit = '{ROWS} rows'")
    yield session
    pond.end_session(session)


class RandomJoin:
    """A grouping of a stream that is joined with tables: by columns that are often keys, in any order and spelling."""

    def __init__(self, random: Random) -> None:
        self._random = random
        tables = random.choices(("place", "owner", "stock"), k=random.randint(2, 3))
        self._items = {"s": "sale", **{f"t{place}": table for place, table in enumerate(tables)}}

    def sql(self) -> str:
        random, aliases = self._random, list(self._items)
        random.shuffle(aliases)
        equalities = [self._equality(one, other) for one, other in pairwise(aliases)]
        equalities += [self._equality(*random.sample(aliases, 2)) for _ in range(random.randint(0, 2))]
        conditions = [self._condition() for _ in range(random.randint(0, 3))]
        keys = ", ".join(random.sample([f"{alias}.name" for alias in aliases], random.randint(1, 2)))
        outputs = f"{keys}, count(*), sum({self._integer(random.choice(aliases))}), min({self._integer('s')})"
        random.shuffle(aliases)
        if random.random() < 0.3:
            first, *others = [f"{self._items[alias]} {alias}" for alias in aliases]
            asked = " AND ".join([*equalities, *conditions])
            return f"SELECT {outputs} FROM {' CROSS JOIN '.join([first, *others])} WHERE {asked} GROUP BY {keys}"
        from_ = ", ".join(f"{self._items[alias]} {alias}" for alias in aliases)
        return f"SELECT {outputs} FROM {from_} WHERE {' AND '.join([*conditions, *equalities])} GROUP BY {keys}"

    def _integer(self, alias: str) -> str:
        return f"{alias}.{self._random.choice(INTEGERS[self._items[alias]])}"

    def _key(self, alias: str) -> str:
        """A column of a key, as a rule."""
        return f"{alias}.{INTEGERS[self._items[alias]][0 if self._random.random() < 0.6 else -2]}"

    def _equality(self, one: str, other: str) -> str:
        return f"{self._key(one)} = {self._key(other)}"

    def _condition(self) -> str:
        random, aliases = self._random, list(self._items)
        simple = [f"{self._integer(random.choice(aliases))} < {random.randint(1, 5)}" for _ in range(4)]
        both = f"({simple[0]} AND {simple[1]} OR {simple[2]} AND {simple[3]})"
        return random.choice((simple[0], both, f"({simple[0]} OR {simple[1]})"))


@pytest.mark.parametrize("seed", range(2))
def test_random_joins_answer_as_unsplit_ones(seed: int, pond: Pond, split: Session) -> None:
    random = Random(seed)
    joined_before = 0
    for _ in range(QUERIES // 2):
        query = RandomJoin(random).sql()
        plan = "\n".join(row[0] for row in split.execute(f"EXPLAIN {query}"))
        assert "Split" in plan, plan
        joined_before += "+t" in plan
        assert Counter(split.execute(query)) == Counter(pond.execute(query)), query
    assert joined_before


def test_explicit_joins_with_conditions_of_their_own(pond: Pond, split: Session) -> None:
    query = """
        SELECT p.name, o.name, count(*), sum(s.kind) FROM sale s JOIN owner o ON o.id = s.owner AND s.kind < 2
        JOIN place p ON p.id = o.place AND p.kind = 1 AND p.id = s.place WHERE o.id > 0 GROUP BY p.name, o.name
    """
    plan = "\n".join(row[0] for row in split.execute(f"EXPLAIN {query}"))
    assert "`o+p`" in plan, plan
    assert Counter(split.execute(query)) == Counter(pond.execute(query))
    assert list(split.execute(query))


def test_what_is_random_is_asked_of_each_row(split: Session) -> None:
    query = (
        "SELECT p.name, count(*) FROM sale s, owner o, place p WHERE o.id = s.owner AND p.id = o.place"
        " AND o.kind < random() * 10 GROUP BY p.name"
    )
    plan = "\n".join(row[0] for row in split.execute(f"EXPLAIN {query}"))
    assert "static pipeline" not in plan, plan


def test_nothing_is_joined_before_where_rows_would_become_more(split: Session) -> None:
    """Two tables that are compared by no key of theirs, and a join with an optional side."""
    for query in (
        "SELECT o.name, count(*) FROM sale s, owner o, stock k WHERE s.owner = o.id AND o.kind = k.kind"
        " AND k.place = s.place AND o.kind = 1 GROUP BY o.name",
        "SELECT p.name, count(*) FROM sale s JOIN owner o ON o.id = s.owner LEFT JOIN place p ON p.id = o.place"
        " WHERE o.kind = 1 GROUP BY p.name",
    ):
        plan = "\n".join(row[0] for row in split.execute(f"EXPLAIN {query}"))
        assert "`o+" not in plan, plan
