"""One round of the fuzzer: views on a pond and the same tables on PostgreSQL, fed alike, cut, restarted and compared.

Sizes that decide how a view is kept are small in some rounds, so that few rows take every way: read along or by a tick,
in one part or in several.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from random import Random
from unittest.mock import patch

import millpond
from millpond import MillpondError, Pond
from millpond.run import kept, merge, views
from millpond.run.scans import Pace
from millpond.statements import stream_queries
from tests.spark.judge import Answer, Failure, Judge, Rows, ask_pond
from tests.views.random_relations import STREAMS, RandomSchema, random_rows, random_schema
from tests.views.random_views import ViewMaker

CHUNKS = 3
CHUNK_ROWS_MAX = 40
TABLE_ROWS = 6
LATE_VIEWS = 5
RESTARTS = 0.4
EARLY_READS = 0.15
"""The chance of a restart after a chunk, and that of a view to be read there."""

LIVE_QUERIES = 4
LIVE_TIMEOUT_MS = 3000
"""Queries that are asked while the streams flow, and how long these must have paused."""

_ORDER_DEPENDENT = ("string_agg(DISTINCT", "stddev", "var", "corr", "regr_", "avg", "OVER (")
"""What makes a view's last digits, or the order of its values, depend on how its rows came."""

_TID = ", tid bigint GENERATED ALWAYS AS IDENTITY (START 0 MINVALUE 0)"

_POSTGRES_AGGREGATES = """
    CREATE FUNCTION added(int[], int) RETURNS int[] LANGUAGE sql AS
        $$ SELECT CASE WHEN $2 IS NULL OR $2 = ANY ($1) THEN $1 ELSE $1 || $2 END $$;
    CREATE FUNCTION size_of(int[]) RETURNS bigint LANGUAGE sql AS $$ SELECT cardinality($1) $$;
    CREATE AGGREGATE approx_count_distinct(int) (SFUNC = added, STYPE = int[], FINALFUNC = size_of, INITCOND = '{}');
    CREATE FUNCTION lower_of(int[], int, int) RETURNS int[] LANGUAGE sql AS
        $$ SELECT CASE WHEN $3 IS NULL OR $3 >= $1[1] THEN $1 ELSE ARRAY[$3, $2] END $$;
    CREATE FUNCTION higher_of(int[], int, int) RETURNS int[] LANGUAGE sql AS
        $$ SELECT CASE WHEN $3 IS NULL OR $3 <= $1[1] THEN $1 ELSE ARRAY[$3, $2] END $$;
    CREATE FUNCTION value_of(int[]) RETURNS int LANGUAGE sql AS $$ SELECT $1[2] $$;
    CREATE AGGREGATE min_by(int, int) (SFUNC = lower_of, STYPE = int[], FINALFUNC = value_of);
    CREATE AGGREGATE max_by(int, int) (SFUNC = higher_of, STYPE = int[], FINALFUNC = value_of);
"""
"""Aggregates that PostgreSQL does not have; of few values an approximate count is exact."""


@dataclass
class Round:
    """The state of a round; `script` is what was done so far, as SQL."""

    pond: Pond
    judge: Judge
    random: Random
    schema: RandomSchema
    views: dict[str, str] = field(default_factory=dict)
    script: list[str] = field(default_factory=list)
    late: dict[str, str] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)

    def create(self, cases: int) -> None:
        self._ask(f"DROP SCHEMA public CASCADE; CREATE SCHEMA public; {_POSTGRES_AGGREGATES}")
        for stream in self.schema.streams:
            self._run(stream.create("STREAM"), on_postgres=stream.create("TABLE", _TID))
        for table in self.schema.tables:
            self._run(table.create("TABLE"))
            self._run(table.insert(random_rows(self.random, table, 0, TABLE_ROWS)))
        maker = ViewMaker(self.random, self.schema)
        for number in range(cases):
            self._create_view(f"view_{number}", maker.view())

    def _create_view(self, name: str, sql: str) -> None:
        try:
            self.pond.execute(f"CREATE VIEW {name} AS {sql}")
            self.views[name] = sql
        except MillpondError as error:
            self.found.append(f"CREATE VIEW {name} AS {sql};\n-- refused: {error}")

    def create_late(self) -> None:
        """Views of the same queries as others, which see only what comes from now on."""
        for stream in STREAMS:
            arrived = f"SELECT count(*) FROM {stream}"
            self._ask(f"CREATE VIEW {_late(stream)} AS SELECT * FROM {stream} WHERE tid >= {self._number(arrived)}")
        known = list(self.views.values())
        for number, sql in enumerate(self.random.sample(known, min(LATE_VIEWS, len(known)))):
            self.late[f"late_{number}"] = sql
            self.script.append(f"CREATE VIEW late_{number} AS {sql};")
            self.pond.execute(f"CREATE VIEW late_{number} AS {sql}")

    def check_late(self) -> None:
        """Compare the late views with what their queries answer over the tuples that each has seen: on PostgreSQL, and
        by VERIFY, which has no patience with last digits, so that it is for answers that are the same in any order."""
        for name, sql in self.late.items():
            problem = self._apart(name, sql, _over(sql, {stream: _late(stream) for stream in STREAMS}))
            if problem is not None:
                self.found.append("\n".join([*self.script, f"SELECT * FROM {name}; -- {problem}", f"-- {sql}"]))
            if any(word in sql for word in _ORDER_DEPENDENT):
                continue
            done = ask_pond(self.pond, f"VERIFY VIEW {name}")
            if isinstance(done, Failure) and done.sqlstate[:2] == "22":
                continue  # the query fails for some rows, and so does the view
            if isinstance(done, Failure) or done.rows[0][1:] != ("0", "0"):
                self.found.append("\n".join([*self.script, f"VERIFY VIEW {name}; -- {done}", f"-- {sql}"]))

    def ask_live(self) -> None:
        """Ask queries of some views once, while the streams flow, of what arrives from now on."""
        for stream in STREAMS:
            first = self._number(f"SELECT count(*) FROM {stream}")
            self._ask(f"CREATE VIEW {_live(stream)} AS SELECT * FROM {stream} WHERE tid >= {first}")
        queries = self.random.sample(list(self.views.values()), min(LIVE_QUERIES, len(self.views)))
        with ThreadPoolExecutor(LIVE_QUERIES) as pool:
            answers = [pool.submit(self._answer_live, sql) for sql in queries]
            self._wait_for_scans(sum(f" {stream} " in f"{sql} " for sql in queries for stream in STREAMS), answers)
            for _ in range(2):
                self.feed()
        for sql, answer in zip(queries, answers, strict=True):
            expected = self.judge.ask(_over(sql, {stream: _live(stream) for stream in STREAMS}))
            problem = None if _is_empty_set(sql, expected, answer.result()) else difference(expected, answer.result())
            if problem is not None:
                self.found.append("\n".join([*self.script, f"{sql}; -- asked live, {problem}"]))

    def _answer_live(self, sql: str) -> Answer:
        self.pond.execute(f"SET session_timeout = '{LIVE_TIMEOUT_MS}ms'; SET stream_start = 'latest'")
        return ask_pond(self.pond, sql)

    def _wait_for_scans(self, expected: int, answers: Sequence[Future[Answer]]) -> None:
        relations = self.pond.services.catalog.snapshot.relations
        streams = [self.pond.services.streams.get(relations[name]) for name in STREAMS]
        while sum(stream.arrivals.waiting for stream in streams) < expected:
            if all(answer.done() for answer in answers):
                break
            time.sleep(0.01)

    def feed(self) -> None:
        """A chunk of each stream, by one statement or two."""
        for number, stream in enumerate(self.schema.streams):
            first = (len(self.script) * 2 + number) * CHUNK_ROWS_MAX
            rows = random_rows(self.random, stream, first, self.random.randint(0, CHUNK_ROWS_MAX))
            cut = self.random.randrange(len(rows) + 1)
            for part in (rows[:cut], rows[cut:]):
                if part:
                    self._run(stream.insert(part))

    def restart(self) -> None:
        self.script.append("-- restart")
        path = self.pond.path
        self.pond.close()
        self.pond = millpond.connect(path, master="local[2]")

    def check(self, names: Sequence[str]) -> None:
        """Compare views with PostgreSQL; each that is wrong is reported once."""
        for name in names:
            if name in self.views:
                problem = self._problem(name)
                if problem is not None:
                    self.found.append(self._replayable(name, problem))
                    del self.views[name]

    def _problem(self, name: str) -> str | None:
        problem = self._apart(name, self.views[name], self.views[name])
        if problem is None:
            return None
        apart = difference(self._in_one_shot(name), ask_pond(self.pond, f"SELECT * FROM {name}"))
        return f"{problem}\n-- {f'wrong by the split: {apart}' if apart else 'the query over a table answers the same'}"

    def _apart(self, name: str, sql: str, on_postgres: str) -> str | None:
        """How a view differs from what PostgreSQL answers."""
        given = ask_pond(self.pond, f"SELECT * FROM {name}")
        expected = self.judge.ask(on_postgres)
        return None if _is_empty_set(sql, expected, given) else difference(expected, given)

    def _in_one_shot(self, name: str) -> Answer:
        """The query over tables that hold what the streams delivered."""
        sql = self.views[name].replace(".tid", ".row_tid")
        for stream in STREAMS:
            rows = stream.replace("stream", "rows")
            self.pond.execute(f"DROP TABLE IF EXISTS {rows}")
            self.pond.execute(f"CREATE TABLE {rows} AS SELECT *, tid AS row_tid FROM {stream}")
        return ask_pond(self.pond, _over(sql, {stream: stream.replace("stream", "rows") for stream in STREAMS}))

    def _run(self, sql: str, *, on_postgres: str | None = None) -> None:
        self.script.append(f"{sql};")
        self.pond.execute(sql)
        self._ask(on_postgres or sql)

    def _ask(self, sql: str) -> None:
        done = self.judge.ask(sql)
        assert not isinstance(done, Failure), f"{sql}: {done}"

    def _number(self, sql: str) -> int:
        done = self.judge.ask(sql)
        assert isinstance(done, Rows), f"{sql}: {done}"
        return int(done.rows[0][0] or 0)

    def _replayable(self, name: str, problem: str) -> str:
        """What it takes to see the problem again: the view, and what happened to the relations that it reads."""
        sql = self.views[name]
        relations = [one.name for one in (*self.schema.streams, *self.schema.tables)]
        others = [f" {relation} " for relation in relations if relation not in sql]
        wanted = [line for line in self.script if not any(other in line[:40] for other in others)]
        created = [line for line in wanted if line.startswith("CREATE") or " INTO table" in line]
        later = [line for line in wanted if line not in created]
        definition = f"CREATE VIEW {name} AS {sql};"
        return "\n".join([*created, definition, *later, f"SELECT * FROM {name};", f"-- {problem}"])


def play(directory: Path, judge: Judge, seed: int, cases: int) -> list[str]:
    """A round with a seed; what went wrong, each as a script."""
    random = Random(seed)
    with (
        patch.object(views, "READ_ALONG_ROWS_MAX", random.choice((0, 30, 100_000))),
        patch.object(kept, "COLLECTED_ROWS_MAX", random.choice((0, 10, 100_000))),
        patch.object(merge, "SMALL_ROWS_MAX", random.choice((0, 50, 200_000))),
        patch.object(kept, "PARTS_MAX", random.choice((2, 8))),
        patch.object(stream_queries, "SPLIT_PACE", Pace(rows=20, patience_s=0.05, quiet_s=0.05)),
    ):
        return _play(directory, judge, random, cases)


def _play(directory: Path, judge: Judge, random: Random, cases: int) -> list[str]:
    played = Round(millpond.connect(directory, master="local[2]"), judge, random, random_schema(random))
    try:
        played.create(cases)
        for number in range(CHUNKS):
            played.feed()
            if number == 0:
                played.create_late()
            if random.random() < RESTARTS:
                played.restart()
            played.check([name for name in played.views if random.random() < EARLY_READS])
        played.ask_live()
        played.check(list(played.views))
        played.check_late()
    finally:
        played.pond.close()
    return played.found


def _late(stream: str) -> str:
    return stream.replace("stream", "late")


def _live(stream: str) -> str:
    return stream.replace("stream", "live")


def _over(sql: str, names: Mapping[str, str]) -> str:
    """A query with other relations in place of some."""
    for old, new in names.items():
        for before in ("FROM ", "JOIN ", "("):
            sql = sql.replace(f"{before}{old} ", f"{before}{new} ")
    return sql


def _is_empty_set(sql: str, expected: Answer, given: Answer) -> bool:
    """A known difference: of no rows, the empty grouping set is one group to PostgreSQL and none to Spark."""
    has_sets = any(word in sql for word in ("ROLLUP", "CUBE", "GROUPING SETS"))
    return (
        has_sets
        and isinstance(expected, Rows)
        and isinstance(given, Rows)
        and (len(expected.rows), len(given.rows)) == (1, 0)
    )


# -- comparing ------------------------------------------------------------------------------------------------


def difference(expected: Answer, given: Answer) -> str | None:
    """How an answer differs from the expected one, the order of rows apart."""
    if isinstance(expected, Failure) or isinstance(given, Failure):
        return None if expected == given else f"expected {_brief(expected)}, got {_brief(given)}"
    left, right = _sorted(expected, expected.types), _sorted(given, expected.types)
    if len(left) == len(right) and all(_same_row(*pair, expected.types) for pair in zip(left, right, strict=True)):
        return None
    # Rows that agree in so many digits may stand in another order on the other side.
    missing, extra = [], list(right)
    for row in left:
        match = next((other for other in extra if _same_row(row, other, expected.types)), None)
        if match is None:
            missing.append(row)
        else:
            extra.remove(match)
    if not missing and not extra:
        return None
    return f"expected {len(left)} rows, got {len(right)}; missing {missing[:3]}, too many {extra[:3]}"


def _brief(answer: Answer) -> str:
    return str(answer)[:300]


def _sorted(answer: Rows, types: Sequence[str]) -> list[tuple[str | None, ...]]:
    """By what is exact, then by numbers in few digits."""

    def key(row: Sequence[str | None]) -> list[tuple[bool, str]]:
        cells = zip(row, types, strict=True)
        exact = [(value is None, value or "") for value, kind in cells if not _is_rough(kind)]
        rough = [
            (value is None, f"{float(value or 0):.4e}")
            for value, kind in zip(row, types, strict=True)
            if _is_rough(kind)
        ]
        return exact + rough

    return sorted(answer.rows, key=key)


def _is_rough(kind: str) -> bool:
    return kind in ("numeric", "double precision", "real")


def _same_row(left: Sequence[str | None], right: Sequence[str | None], types: Sequence[str]) -> bool:
    return len(left) == len(right) and all(_same(*cells) for cells in zip(left, right, types, strict=True))


def _same(expected: str | None, given: str | None, kind: str) -> bool:
    """Numbers with few decimal places are exact; others are averages and the like, rounded at different places."""
    if expected is None or given is None or expected == given or not _is_rough(kind):
        return expected == given
    if kind == "numeric":
        left, right = Decimal(expected), Decimal(given)
        if left == right:
            return True
        if max(len(value.partition(".")[2]) for value in (expected, given)) <= 6:
            return False
    return math.isclose(float(expected), float(given), rel_tol=1e-5 if kind == "real" else 1e-9, abs_tol=1e-9)
