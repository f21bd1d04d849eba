"""Queries over streams that flow: what is in the answer, however tuples arrive, and what cannot be answered."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest

import millpond
from millpond import MillpondError, Pond
from millpond.result import Result
from millpond.session import Session
from millpond.statements.request import Request
from millpond.stream import StreamRelation
from tests.views.support import last_job

pytestmark = pytest.mark.timeout(300)

TABLES = """
    CREATE TABLE users (id int, username text, contact_info text, rate numeric(10,2), region text);
    INSERT INTO users
    SELECT n, 'user ' || n, n || '@example.org', n % 7 + 1, CASE WHEN n % 3 = 0 THEN 'DE' ELSE 'FR' END
    FROM generate_series(0, 29) AS s(n);
    CREATE TABLE regions (name text, manager text);
    INSERT INTO regions VALUES ('DE', 'Dora'), ('FR', 'Fred');
"""
POSTS = "CREATE FOREIGN TABLE {} (uid int, username varchar, score int, content varchar) SERVER stream OPTIONS ({})"

INFLUENTIAL = """
    WITH user_impact AS (SELECT uid, avg(score) AS score FROM {posts} GROUP BY uid)
    SELECT u.username, u.contact_info, u.rate, i.score FROM users u, user_impact i
    WHERE u.id = i.uid AND i.score >= 1000 AND u.region = 'DE' ORDER BY u.rate / i.score, u.username
"""
BY_MANAGER = """
    SELECT r.manager, count(*), sum(p.score), max(p.content) FROM {posts} p
    JOIN users u ON u.id = p.uid JOIN regions r ON r.name = u.region GROUP BY r.manager ORDER BY 1
"""


@pytest.fixture(scope="module")
def pond(shared_spark: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pond]:
    with millpond.connect(tmp_path_factory.mktemp("pond"), master="local[2]") as opened:
        opened.execute(TABLES)
        yield opened


@pytest.fixture
def posts(pond: Pond) -> Iterator[str]:
    """A new stream."""
    name = f"posts_{time.monotonic_ns()}"
    pond.execute(POSTS.format(name, "durability 'memory'"))
    yield name
    pond.execute(f"DROP FOREIGN TABLE {name}")


@pytest.fixture
def live(pond: Pond) -> Iterator[Session]:
    """A session in which streams end when nothing has arrived for half a second."""
    session = pond.new_session()
    session.execute("SET session_timeout = '500ms'")
    yield session
    pond.end_session(session)


def stream_of(pond: Pond, name: str) -> StreamRelation:
    return pond.services.streams.get(pond.services.catalog.snapshot.relations[name])


def post(pond: Pond, name: str, random: Random, count: int) -> None:
    rows = [(n := random.randrange(30), f"user {n}", random.randrange(3000), f"text {n}") for _ in range(count)]
    pond.insert(name, rows)


class Asked:
    """A statement that runs beside the test, and reads its stream by the time this is made."""

    def __init__(self, pond: Pond, session: Session, name: str, sql: str) -> None:
        before = stream_of(pond, name).arrivals.waiting
        self._pool = ThreadPoolExecutor(1)
        self._future: Future[Result] = self._pool.submit(session.execute, sql)
        while stream_of(pond, name).arrivals.waiting == before and not self._future.done():
            time.sleep(0.01)

    def rows(self) -> list[tuple[Any, ...]]:
        try:
            return self._future.result().fetchall()
        finally:
            self._pool.shutdown()


@pytest.mark.parametrize("query", [INFLUENTIAL, BY_MANAGER])
def test_rows_that_arrive_while_it_runs_are_in_the_answer_and_those_after_a_pause_are_not(
    pond: Pond, live: Session, posts: str, query: str
) -> None:
    random = Random(7)
    post(pond, posts, random, 40)
    asked = Asked(pond, live, posts, query.format(posts=posts))
    writers = [threading.Thread(target=write_on, args=(pond, posts, Random(seed))) for seed in (1, 2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    end = stream_of(pond, posts).stats().end_tid
    answer = asked.rows()
    post(pond, posts, random, 40)
    pond.execute(f"CREATE TABLE seen AS SELECT * FROM {posts} WHERE tid < {end}")
    assert end == 40 + 2 * 8 * 25
    assert answer == pond.execute(query.format(posts="seen")).fetchall()
    assert answer != pond.execute(query.format(posts=posts)).fetchall()
    pond.execute("DROP TABLE seen")


def write_on(pond: Pond, name: str, random: Random) -> None:
    for _ in range(8):
        post(pond, name, random, 25)
        time.sleep(random.random() / 10)


QUERIES = (
    "SELECT count(*), min(tid), max(tid), sum(score) FROM {posts}",
    "SELECT uid, score FROM {posts} WHERE score > 1500",
    "SELECT p.tid, u.username, r.manager FROM {posts} p JOIN users u ON u.id = p.uid"
    " LEFT JOIN regions r ON r.name = u.region",
    "SELECT score FROM {posts} ORDER BY score DESC, tid LIMIT 7",
    "SELECT tid, row_number() OVER (ORDER BY score, tid) FROM {posts}",
    "SELECT username FROM users u WHERE EXISTS (SELECT * FROM {posts} p WHERE p.uid = u.id AND p.score > 2500)",
    "SELECT username FROM users WHERE id NOT IN (SELECT uid FROM {posts} WHERE score > 1000)",
    "SELECT u.username, p.score FROM users u LEFT JOIN {posts} p ON p.uid = u.id AND p.score > 2900",
    "SELECT tid FROM {posts} p WHERE score > (SELECT avg(score) FROM {posts})",
    "SELECT a.uid, a.n, b.high FROM (SELECT uid, count(*) AS n FROM {posts} GROUP BY uid) a"
    " JOIN (SELECT uid, max(score) AS high FROM {posts} GROUP BY uid) b USING (uid)",
    "SELECT DISTINCT username FROM {posts} WHERE arrival_timestamp <= now() + interval '1 hour'",
    "SELECT uid FROM {posts} UNION SELECT id FROM users WHERE region = 'DE'",
    "WITH high AS (SELECT uid, score FROM {posts} WHERE score > 2000) SELECT uid, score FROM high WHERE uid < 10",
    "SELECT count(*) FROM {posts} WHERE random() < 2 GROUP BY current_user",
)


def test_every_kind_of_query_answers_for_the_tuples_it_has_read(pond: Pond, posts: str) -> None:
    """All at once, so that they share chunks; each equals the same SQL run once over those tuples."""
    random = Random(3)
    post(pond, posts, random, 60)
    sessions = [pond.new_session() for _ in QUERIES]
    for session in sessions:
        session.execute("SET session_timeout = '2s'")
    asked = [
        Asked(pond, session, posts, query.format(posts=posts)) for session, query in zip(sessions, QUERIES, strict=True)
    ]
    for _ in range(6):
        post(pond, posts, random, 20)
        time.sleep(0.15)
    answers = [one.rows() for one in asked]
    for query, answer in zip(QUERIES, answers, strict=True):
        expected = pond.execute(query.format(posts=posts)).fetchall()
        assert sorted(map(repr, answer)) == sorted(map(repr, expected)), query
    for session in sessions:
        pond.end_session(session)


def test_a_flow_delivers_rows_before_the_stream_has_ended(pond: Pond, posts: str) -> None:
    session = pond.new_session()
    session.execute("SET session_timeout = '1h'")
    result = session.execute(f"SELECT score FROM {posts} LIMIT 5 OFFSET 2", request=Request(lazy=True))
    pieces = result.pieces(pond.scratch / "unused", memory_bytes_max=0)
    random = Random(1)
    post(pond, posts, random, 4)
    assert next(pieces).num_rows == 2
    post(pond, posts, random, 9)
    assert next(pieces).num_rows == 3
    assert next(pieces, None) is None
    assert stream_of(pond, posts).arrivals.waiting == 0
    pond.end_session(session)


def test_queries_without_a_timeout_read_what_is_there(pond: Pond, posts: str) -> None:
    post(pond, posts, Random(1), 10)
    assert pond.execute(f"SELECT count(*) FROM {posts}").fetchall() == [(10,)]
    assert pond.execute(f"SELECT count(*) FROM {posts} a JOIN {posts} b USING (tid)").fetchall() == [(10,)]
    pond.execute("SET stream_start = 'latest'")
    assert pond.execute(f"SELECT count(*) FROM {posts}").fetchall() == [(0,)]
    pond.execute("RESET stream_start")


def test_a_stream_has_a_timeout_of_its_own_and_a_session_decides(pond: Pond) -> None:
    pond.execute(POSTS.format("own", "session_timeout '400ms'"))
    session = pond.new_session()
    assert _seconds(lambda: session.execute("SELECT count(*) FROM own")) > 0.4
    session.execute("SET session_timeout = 0")
    assert session.execute("EXPLAIN SELECT count(*) FROM own").fetchall()[0][0].startswith("Stream own, snapshot")
    session.execute("RESET session_timeout; SET stream_scan = 'snapshot'")
    assert session.execute("EXPLAIN SELECT count(*) FROM own").fetchall()[0][0].startswith("Stream own, snapshot")
    pond.end_session(session)
    pond.execute("DROP FOREIGN TABLE own")


def _seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def test_limits_by_rows_time_and_watermark(pond: Pond, live: Session) -> None:
    options = "timestamp 'at', watermark '1min'"
    pond.execute(f"CREATE FOREIGN TABLE events (at timestamp, n int) SERVER stream OPTIONS ({options})")
    pond.execute(
        "INSERT INTO events SELECT timestamp '2026-01-01' + n * interval '1 minute', n FROM generate_series(0, 9) g(n)"
    )
    live.execute("RESET session_timeout")
    counts = {}
    for limit in ("4 rows", "300ms", "watermark 2026-01-01 00:05", "8 rows, watermark 2026-01-01 00:05"):
        live.execute(f"SET stream_limit = '{limit}'")
        counts[limit] = live.execute("SELECT count(*) FROM events").fetchall()[0][0]
    assert list(counts.values()) == [4, 10, 6, 6]
    with pytest.raises(MillpondError, match="invalid value for parameter") as caught:
        live.execute("SET stream_limit = 'soon'")
    assert caught.value.hint is not None
    pond.execute("DROP FOREIGN TABLE events")


def test_what_must_keep_tuples_is_bounded(pond: Pond, live: Session, posts: str) -> None:
    post(pond, posts, Random(1), 50)
    live.execute("SET stream_rows_max = 49")
    with pytest.raises(MillpondError, match="more than 49 tuples") as caught:
        live.execute(f"SELECT * FROM {posts} ORDER BY score")
    assert caught.value.sqlstate == "53400"
    assert caught.value.detail is not None
    assert "ORDER BY needs all rows" in caught.value.detail
    assert len(live.execute(f"SELECT * FROM {posts}").fetchall()) == 50
    assert live.execute(f"SELECT count(*) FROM {posts}").fetchall() == [(50,)]


def test_streams_are_joined_by_groups_or_as_snapshots(pond: Pond, live: Session, posts: str) -> None:
    post(pond, posts, Random(1), 10)
    join = f"SELECT count(*) FROM {posts} a JOIN {posts} b ON a.tid = b.tid"
    with pytest.raises(MillpondError, match="cannot be joined with the stream") as caught:
        live.execute(join)
    assert (caught.value.sqlstate, caught.value.hint is not None and "snapshot" in caught.value.hint) == ("0A000", True)
    live.execute("SET stream_scan = 'snapshot'")
    assert live.execute(join).fetchall() == [(10,)]


def test_rows_of_a_query_are_stored_where_a_statement_says(
    pond: Pond, live: Session, posts: str, tmp_path: Path
) -> None:
    post(pond, posts, Random(5), 30)
    scores = sorted(pond.execute(f"SELECT score FROM {posts}").fetchall())
    live.execute("CREATE TABLE stored (score int)")
    live.execute(f"INSERT INTO stored SELECT score FROM {posts}")
    live.execute(f"CREATE TABLE counted AS SELECT uid, count(*) AS n FROM {posts} GROUP BY uid")
    live.execute(f"COPY (SELECT score FROM {posts}) TO '{tmp_path / 'scores.csv'}' (FORMAT csv)")
    live.execute(f"UPDATE stored SET score = -1 WHERE score IN (SELECT max(score) FROM {posts})")
    assert sorted(pond.execute("SELECT score FROM stored WHERE score >= 0").fetchall()) == [
        one for one in scores if one < scores[-1]
    ]
    assert pond.execute("SELECT sum(n) FROM counted").fetchall() == [(30,)]
    assert sorted(map(int, (tmp_path / "scores.csv").read_text().split())) == [score for (score,) in scores]
    live.execute("DROP TABLE stored; DROP TABLE counted")


def test_an_overrun_query_fails_and_a_blocking_one_makes_writers_wait(pond: Pond) -> None:
    pond.execute(POSTS.format("tight", "capacity '100', durability 'memory'"))
    session = pond.new_session()
    session.execute("SET session_timeout = '600ms'; SET stream_start = 'latest'")
    query = "SELECT count(*), max(tid) - min(tid) + 1 FROM tight"
    asked = Asked(pond, session, "tight", query)
    for _ in range(20):
        post(pond, "tight", Random(1), 50)
    with pytest.raises(MillpondError, match="have been overwritten") as caught:
        asked.rows()
    assert caught.value.sqlstate == "MP001"
    session.execute("SET on_overrun = 'block'")
    blocking = Asked(pond, session, "tight", query)
    for _ in range(20):
        post(pond, "tight", Random(1), 50)
    assert blocking.rows() == [(1000, 1000)]
    assert stream_of(pond, "tight").followers.floor is None
    pond.end_session(session)
    pond.execute("DROP FOREIGN TABLE tight")


def test_who_may_only_read_holds_up_no_writer(pond: Pond, posts: str) -> None:
    pond.execute(f"CREATE ROLE reader LOGIN; GRANT SELECT ON {posts} TO reader")
    session = pond.new_session("reader", trusted=False)
    session.execute("SET session_timeout = '100ms'; SET on_overrun = 'block'")
    for query in (f"SELECT count(*) FROM {posts}", f"SELECT uid FROM {posts}"):
        with pytest.raises(MillpondError, match="permission denied to let writers") as caught:
            session.execute(query)
        assert caught.value.sqlstate == "42501"
    pond.execute("CREATE STREAM writable (uid int); GRANT SELECT, INSERT ON writable TO reader")
    both = f"SELECT (SELECT count(*) FROM writable), (SELECT count(*) FROM {posts})"
    with pytest.raises(MillpondError, match="permission denied to let writers"):
        session.execute(both)
    assert (stream_of(pond, "writable").followers.floor, stream_of(pond, "writable").arrivals.waiting) == (None, 0)
    session.execute("RESET on_overrun")
    assert session.execute(both).fetchall() == [(0, 0)]
    pond.execute("DROP STREAM writable")
    pond.end_session(session)
    pond.execute(f"REVOKE ALL ON {posts} FROM reader; DROP ROLE reader")


def test_rows_that_nobody_reads_hold_nothing(pond: Pond, live: Session, posts: str) -> None:
    post(pond, posts, Random(1), 10)
    result = live.execute(f"SELECT uid FROM {posts}", request=Request(lazy=True))
    stream = stream_of(pond, posts)
    assert stream.arrivals.waiting == 1
    del result
    pond.services.release_abandoned()
    assert stream.arrivals.waiting == 0


def test_a_query_that_waits_can_be_canceled_and_leaves_nothing(pond: Pond, posts: str) -> None:
    post(pond, posts, Random(1), 10)
    before = set(pond.scratch.iterdir())
    for query in (f"SELECT count(*) FROM {posts}", f"SELECT * FROM {posts}", f"SELECT * FROM {posts} ORDER BY 1"):
        session = pond.new_session()
        session.execute("SET session_timeout = '1h'; SET statement_timeout = '700ms'; SET on_overrun = 'block'")
        with pytest.raises(MillpondError, match="statement timeout"):
            session.execute(query)
        pond.end_session(session)
    stream = stream_of(pond, posts)
    assert (stream.arrivals.waiting, stream.followers.floor) == (0, None)
    left = {path.name for path in set(pond.scratch.iterdir()) - before}
    assert not [name for name in left if name.startswith(("query-", "flow-"))]


def test_what_has_ended_needs_one_job(pond: Pond, posts: str) -> None:
    """The last chunk, whose end is known when it is taken, becomes a partial in the job that answers."""
    post(pond, posts, Random(1), 100)
    pond.execute("SET stream_limit = '100 rows'")
    query = f"SELECT uid, count(*) FROM {posts} GROUP BY uid"
    pond.execute(query)
    before = last_job(pond)
    assert len(pond.execute(query).fetchall()) > 5
    assert last_job(pond) - before == 1
    pond.execute("RESET stream_limit")


def test_explain_says_how_it_is_run_and_analyze_where_the_time_went(pond: Pond, live: Session, posts: str) -> None:
    post(pond, posts, Random(1), 12)

    def explained(sql: str) -> list[str]:
        return [line for (line,) in live.execute(f"EXPLAIN {sql}").fetchall()]

    grouped = explained(f"SELECT uid, count(*) FROM {posts} GROUP BY uid")
    assert grouped[0] == f"Stream {posts}, live: from tid 0, 12 rows there, until nothing has arrived for 500 ms"
    assert grouped[1] == "Split: chunks become partials as they arrive"
    assert explained(f"SELECT * FROM {posts}")[1] == "Flow: each chunk's rows go out at once"
    assert explained(f"SELECT * FROM {posts} ORDER BY 1")[1].startswith("Gathered: all tuples are kept until the end")
    asked = Asked(pond, live, posts, f"EXPLAIN ANALYZE SELECT uid, count(*) FROM {posts} GROUP BY uid")
    post(pond, posts, Random(1), 5)
    lines = [line for (line,) in asked.rows()][-5:]
    assert lines[0].endswith(" 17 tuples")
    assert "on average" in lines[1]
    assert lines[2].startswith("Stream pipelines: ")
    assert lines[3].startswith("Upper pipeline: ")


def test_readers_among_writers_get_a_range_of_tids_or_an_overrun(pond: Pond) -> None:
    """Small rings, two writers, three readers of each kind: whatever an answer holds, it is all tuples from one to
    another, each once, with the values that were written."""
    random = Random(11)
    outcomes = {"range": 0, "overrun": 0}
    for number in range(3):
        name = f"ring_{number}"
        pond.execute(
            f"CREATE FOREIGN TABLE {name} (writer int, n int) SERVER stream"
            f" OPTIONS (capacity '{random.choice((200, 2000))}', durability 'memory')"
        )
        answers = _read_while_written(pond, name, random)
        for answer in answers:
            if isinstance(answer, MillpondError):
                assert answer.sqlstate == "MP001"
                outcomes["overrun"] += 1
                continue
            tids = [tid for tid, _, _ in answer]
            assert sorted(tids) == list(range(min(tids), max(tids) + 1)) if tids else True
            for writer in (0, 1):
                numbers = [n for _, who, n in sorted(answer) if who == writer]
                assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else True
            outcomes["range"] += 1
        pond.execute(f"DROP FOREIGN TABLE {name}")
    assert outcomes["range"]


def _read_while_written(pond: Pond, name: str, random: Random) -> list[list[tuple[int, int, int]] | MillpondError]:
    stop = threading.Event()

    def write(writer: int) -> None:
        own, n = Random(writer), 0
        while not stop.is_set():
            count = own.randrange(1, 120)
            pond.insert(name, [(writer, n + place) for place in range(count)])
            n += count
            time.sleep(own.random() / 50)

    def read(query: str) -> list[tuple[int, int, int]] | MillpondError:
        session = pond.new_session()
        limit = f"{random.randrange(50, 4000)} rows, 1500ms"
        session.execute(f"SET stream_limit = '{limit}'")
        try:
            return session.execute(query).fetchall()
        except MillpondError as error:
            return error
        finally:
            pond.end_session(session)

    queries = [
        f"SELECT tid, writer, n FROM {name}",
        f"SELECT tid, writer, n FROM {name} ORDER BY n",
        f"SELECT tid, max(writer), min(n) FROM {name} GROUP BY tid",
    ]
    with ThreadPoolExecutor(5) as pool:
        writers = [pool.submit(write, writer) for writer in (0, 1)]
        answers = list(pool.map(read, queries))
        stop.set()
        for one in writers:
            one.result()
    return answers
