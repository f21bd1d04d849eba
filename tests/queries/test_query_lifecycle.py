"""Continuous queries from CREATE to DROP: failures, rest, restarts, transactions, rights and what depends on what."""

from __future__ import annotations

import pytest

from millpond import MillpondError, Pond
from millpond.catalog import Catalog
from millpond.state.records import QueryRecord
from tests.queries.support import caught_up, set_aside, shown, wait_until
from tests.views.support import OpenPond, error_of, numbers, rows

pytestmark = pytest.mark.timeout(300)


def create(pond: Pond, target: str = "CREATE TABLE t (k int, v int)", query: str = "SELECT k, v FROM s") -> None:
    pond.execute("CREATE STREAM s (k int, v int)")
    pond.execute(target)
    pond.execute(f"CREATE CONTINUOUS QUERY q AS INSERT INTO t {query}")


# -- failures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "query", "error"),
    [
        (
            "CREATE TABLE t (k int, v int NOT NULL)",
            "SELECT k, nullif(v, 7) FROM s",
            ("23502", 'null value in column "v" of relation "t" violates not-null constraint'),
        ),
        (
            "CREATE STREAM t (k int, v int NOT NULL)",
            "SELECT k, nullif(v, 7) FROM s",
            ("23502", 'null value in column "v" of relation "t" violates not-null constraint'),
        ),
        (
            "CREATE TABLE t (k int, v int, CHECK (v <> 7))",
            "SELECT k, v FROM s",
            ("23514", 'new row for relation "t" violates check constraint "t_check"'),
        ),
        ("CREATE TABLE t (k int, v int)", "SELECT k, 1 / (v - 7) FROM s", ("22012", "division by zero")),
        ("CREATE TABLE t (k smallint, v int)", "SELECT v * 10000, v FROM s", ("22003", "smallint out of range")),
    ],
)
def test_a_query_that_fails_is_set_aside(open_pond: OpenPond, target: str, query: str, error: tuple[str, str]) -> None:
    pond = open_pond()
    create(pond, target, query)
    pond.insert("s", numbers(0, 2))
    caught_up(pond, "q")
    pond.insert("s", numbers(5, 9))
    assert set_aside(pond, "q") == error
    assert rows(pond, "SELECT count(*) FROM t") == [(2,)], "of a chunk that fails nothing is there"
    assert shown(pond, "q", "state", "next_tid", "lag", "error") == ("failed", 2, 4, error[1])
    pond = open_pond()
    assert shown(pond, "q", "state", "next_tid", "error") == ("failed", 2, error[1])
    pond.execute("ALTER CONTINUOUS QUERY q RESUME")
    assert set_aside(pond, "q") == error, "it is tried again, to no avail"
    pond.execute("CREATE OR REPLACE CONTINUOUS QUERY q AS INSERT INTO t SELECT k, v FROM s WHERE v <> 7")
    caught_up(pond, "q")
    assert rows(pond, "SELECT count(*) FROM t") == [(5,)], "another definition goes on in the same place"
    assert shown(pond, "q", "state", "error") == ("running", None)


def test_what_fails_for_another_reason_is_tried_again(pond: Pond, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the catalog, after the rows were published: they must not come again."""
    create(pond, "CREATE STREAM t (k int, v int)")
    commit, failures = Catalog.commit_query, [OSError("no space left"), OSError("no space left")]

    def failing(catalog: Catalog, oid: int, record: QueryRecord) -> None:
        if failures:
            raise failures.pop()
        commit(catalog, oid, record)

    monkeypatch.setattr(Catalog, "commit_query", failing)
    for first in range(0, 40, 10):
        pond.insert("s", numbers(first, first + 10))
        caught_up(pond, "q")  # so that there are several chunks, of which two fail
    assert not failures
    assert pond.execute("SELECT v FROM t ORDER BY tid").fetchall() == [(v,) for v in range(40)]


# -- rest and restarts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["TABLE", "STREAM"])
def test_a_query_that_rests_keeps_its_place(open_pond: OpenPond, kind: str) -> None:
    pond = open_pond()
    create(pond, f"CREATE {kind} t (k int, v int)")
    pond.insert("s", numbers(0, 3))
    caught_up(pond, "q")
    pond.execute("ALTER CONTINUOUS QUERY q PAUSE")
    pond.insert("s", numbers(3, 6))
    pond = open_pond()
    assert shown(pond, "q", "state", "lag", "rows_out") == ("paused", 3, 3)
    pond.insert("s", numbers(6, 8))
    pond.execute("ALTER CONTINUOUS QUERY q RENAME TO r")
    pond.execute("ALTER CONTINUOUS QUERY r RESUME")
    caught_up(pond, "r")
    assert rows(pond, "SELECT v FROM t") == [(v,) for v in range(8)]
    pond = open_pond()
    pond.insert("s", numbers(8, 9))
    caught_up(pond, "r")
    assert rows(pond, "SELECT v FROM t") == [(v,) for v in range(9)]
    assert shown(pond, "r", "state", "rows_in") == ("running", 9)


def test_streams_in_memory_start_anew_and_so_does_who_reads_them(open_pond: OpenPond) -> None:
    pond = open_pond()
    pond.execute("CREATE STREAM s (k int, v int) WITH (durability = memory)")
    pond.execute("CREATE STREAM t (v int)")
    pond.execute("CREATE STREAM gone (v int) WITH (durability = memory)")
    pond.execute("CREATE CONTINUOUS QUERY q AS INSERT INTO t SELECT v FROM s")
    pond.execute("CREATE CONTINUOUS QUERY r AS INSERT INTO gone SELECT v FROM t")
    for first in (0, 5):
        pond.insert("s", numbers(first, first + 5))
        caught_up(pond, "q", "r")
        pond = open_pond()
    assert rows(pond, "SELECT v FROM t") == [(v,) for v in range(10)]
    assert rows(pond, "SELECT v FROM gone") == [], "what was in memory is not made again"
    pond.insert("s", numbers(10, 11))
    caught_up(pond, "q", "r")
    assert rows(pond, "SELECT v FROM gone") == [(10,)]


def test_a_query_starts_with_what_the_stream_holds_if_it_shall(pond: Pond) -> None:
    pond.execute("CREATE FOREIGN TABLE s (k int, v int) SERVER stream OPTIONS (capacity '16')")
    pond.execute("CREATE TABLE t (v int)")
    for first in range(0, 100, 10):
        pond.insert("s", numbers(first, first + 10))
    held = rows(pond, "SELECT v FROM s")
    assert 16 <= len(held) < 100
    pond.execute("CREATE CONTINUOUS QUERY q WITH (start = 'earliest') AS INSERT INTO t SELECT v FROM s")
    caught_up(pond, "q")
    assert rows(pond, "SELECT v FROM t") == held
    assert (
        error_of(pond, "CREATE CONTINUOUS QUERY r WITH (start = 'today') AS INSERT INTO t SELECT v FROM s")[0]
        == "22023"
    )
    assert error_of(pond, "CREATE CONTINUOUS QUERY r WITH (begin = 1) AS INSERT INTO t SELECT v FROM s")[0] == "42704"


# -- transactions --------------------------------------------------------------------------------------------------


def test_a_query_begins_when_its_transaction_commits(pond: Pond) -> None:
    pond.execute("CREATE STREAM s (k int, v int)")
    pond.execute("BEGIN")
    pond.execute("CREATE TABLE t (v int)")
    pond.execute("CREATE CONTINUOUS QUERY q AS INSERT INTO t SELECT v FROM s")
    assert pond.execute("SELECT * FROM millpond_queries").fetchall() == []
    pond.execute("ROLLBACK")
    assert error_of(pond, "DROP CONTINUOUS QUERY q")[0] == "42704"
    assert pond.services.catalog.queries() == {}
    pond.execute("BEGIN")
    pond.execute("CREATE TABLE t (v int)")
    pond.execute("CREATE CONTINUOUS QUERY q AS INSERT INTO t SELECT v FROM s")
    pond.execute("COMMIT")
    pond.insert("s", numbers(0, 3))
    caught_up(pond, "q")
    pond.execute("BEGIN")
    pond.execute("DROP CONTINUOUS QUERY q")
    pond.execute("DROP TABLE t")
    pond.execute("ROLLBACK")
    pond.insert("s", numbers(3, 5))
    caught_up(pond, "q")
    assert rows(pond, "SELECT v FROM t") == [(v,) for v in range(5)]
    pond.execute("BEGIN READ ONLY")
    assert error_of(pond, "ALTER CONTINUOUS QUERY q PAUSE") == (
        "25006",
        "cannot execute ALTER CONTINUOUS QUERY in a read-only transaction",
    )
    pond.execute("ROLLBACK")


# -- names and dependencies ----------------------------------------------------------------------------------------


def test_names_are_shared_with_relations(pond: Pond) -> None:
    create(pond)
    insert = "AS INSERT INTO t SELECT k, v FROM s"
    assert error_of(pond, f"CREATE CONTINUOUS QUERY q {insert}") == ("42710", 'continuous query "q" already exists')
    assert error_of(pond, f"CREATE CONTINUOUS QUERY t {insert}") == ("42P07", 'relation "t" already exists')
    assert error_of(pond, "CREATE TABLE q (i int)") == ("42P07", 'relation "q" already exists')
    assert error_of(pond, "SELECT * FROM q") == ("42P01", 'relation "q" does not exist')
    assert error_of(pond, "ALTER CONTINUOUS QUERY q RENAME TO t") == ("42P07", 'relation "t" already exists')
    notices = pond.execute(f"CREATE CONTINUOUS QUERY IF NOT EXISTS q {insert}").notices
    assert [notice.message for notice in notices] == ['continuous query "q" already exists, skipping']
    notices = pond.execute("DROP CONTINUOUS QUERY IF EXISTS nothing, q").notices
    assert [notice.message for notice in notices] == ['continuous query "nothing" does not exist, skipping']
    assert rows(pond, "SELECT * FROM millpond_queries") == []
    assert rows(pond, "SELECT relname FROM pg_class WHERE relname = 'q'") == []


def test_what_a_query_uses_stays(pond: Pond) -> None:
    pond.execute("CREATE TABLE names (k int, name text)")
    pond.execute("CREATE VIEW named AS SELECT * FROM names")
    create(pond, "CREATE TABLE t (v int, name text)", "SELECT v, n.name FROM s JOIN named AS n ON n.k = s.k")
    for drop, kind in (("TABLE t", "table t"), ("STREAM s", "foreign table s"), ("VIEW named", "view named")):
        with pytest.raises(MillpondError) as caught:
            pond.execute(f"DROP {drop}")
        assert caught.value.sqlstate == "2BP01"
        assert caught.value.detail == f"continuous query q depends on {kind}"
    pond.execute("TRUNCATE t")
    notices = pond.execute("DROP TABLE names CASCADE").notices
    assert {notice.message for notice in notices} == {
        "drop cascades to view named",
        "drop cascades to continuous query q",
    }
    assert rows(pond, "SELECT * FROM millpond_queries") == []
    pond.insert("s", numbers(0, 5))
    pond.execute("DROP TABLE t")


def test_rows_do_not_flow_in_a_circle(pond: Pond) -> None:
    for name in ("a", "b", "c"):
        pond.execute(f"CREATE STREAM {name} (v int)")
    pond.execute("CREATE CONTINUOUS QUERY ab AS INSERT INTO b SELECT v FROM a")
    pond.execute("CREATE CONTINUOUS QUERY bc AS INSERT INTO c SELECT v FROM b")
    for source, path in (("c", "a -> b -> c -> a"), ("a", "a -> a"), ("b", "a -> b -> a")):
        with pytest.raises(MillpondError) as caught:
            pond.execute(f"CREATE CONTINUOUS QUERY bad AS INSERT INTO a SELECT v FROM {source}")
        assert caught.value.sqlstate == "42P17"
        assert caught.value.detail == f"Rows would flow in a circle: {path}."
    pond.execute("CREATE OR REPLACE CONTINUOUS QUERY bc AS INSERT INTO c SELECT -v FROM b")


# -- rights --------------------------------------------------------------------------------------------------------


def test_a_query_has_the_rights_of_its_owner_at_every_chunk(pond: Pond) -> None:
    create(pond)
    pond.execute("DROP CONTINUOUS QUERY q")
    pond.execute("CREATE ROLE ada")
    pond.execute("CREATE ROLE bob")
    pond.execute("GRANT CREATE ON SCHEMA public TO ada, bob")
    statement = "CREATE CONTINUOUS QUERY q AS INSERT INTO t (v) SELECT v FROM s"
    for grant, denied in (
        ("SELECT (k) ON s", "permission denied for table t"),
        ("INSERT (v) ON t", "permission denied for foreign table s"),
        ("SELECT (v) ON s", None),
    ):
        pond.execute(f"GRANT {grant} TO ada")
        pond.execute("SET ROLE ada")
        if denied is None:
            pond.execute(statement)
        else:
            assert error_of(pond, statement) == ("42501", denied)
        pond.execute("RESET ROLE")
    pond.insert("s", numbers(0, 2))
    caught_up(pond, "q")
    pond.execute("REVOKE INSERT (v) ON t FROM ada")
    pond.insert("s", numbers(2, 4))
    assert set_aside(pond, "q") == ("42501", "permission denied for table t")
    pond.execute("SET ROLE bob")
    for action in ("PAUSE", "RESUME", "RENAME TO r"):
        assert error_of(pond, f"ALTER CONTINUOUS QUERY q {action}") == ("42501", "must be owner of continuous query q")
    assert error_of(pond, "DROP CONTINUOUS QUERY q")[0] == "42501"
    assert error_of(pond, "EXPLAIN CONTINUOUS QUERY q")[0] == "42501"
    assert rows(pond, "SELECT * FROM millpond_queries") == [], "nobody else's business"
    pond.execute("RESET ROLE")
    assert error_of(pond, "ALTER CONTINUOUS QUERY q OWNER TO bob") == ("42501", "permission denied for table t")
    assert error_of(pond, "DROP ROLE ada")[0] == "2BP01"
    pond.execute("GRANT INSERT ON t TO bob")
    pond.execute("GRANT SELECT ON s TO bob")
    pond.execute("ALTER CONTINUOUS QUERY q OWNER TO bob")
    pond.execute("ALTER CONTINUOUS QUERY q RESUME")
    caught_up(pond, "q")
    assert rows(pond, "SELECT v FROM t") == [(v,) for v in range(4)]
    pond.execute("DROP OWNED BY bob")
    assert rows(pond, "SELECT * FROM millpond_queries") == []


def test_explain_says_where_a_query_stands(pond: Pond) -> None:
    create(pond, query="SELECT k, v + 1 FROM s")
    pond.execute("ALTER CONTINUOUS QUERY q PAUSE")
    pond.insert("s", numbers(0, 3))
    lines = [line for (line,) in pond.execute("EXPLAIN CONTINUOUS QUERY q").fetchall()]
    assert lines[:3] == ["Stream s: next tid 0, 3 tuples to take", "Inserts into table t", "Spark SQL for each chunk"]
    assert "`s`.`v` + 1" in lines[3]


def test_explain_of_a_query_that_is_not_created_says_what_would_run(pond: Pond) -> None:
    create(pond, query="SELECT k, v FROM s WHERE v < 0")
    pond.insert("s", numbers(0, 3))
    for start, tid in (("latest", 3), ("earliest", 0)):
        query = f"CREATE CONTINUOUS QUERY r WITH (start = '{start}') AS INSERT INTO t SELECT k, v + 1 FROM s"
        lines = [line for (line,) in pond.execute(f"EXPLAIN {query}").fetchall()]
        assert lines[:2] == [f"Stream s: next tid {tid}, {3 - tid} tuples to take", "Inserts into table t"]
        assert "`s`.`v` + 1" in lines[3]
    assert rows(pond, "SELECT name FROM millpond_queries") == [("q",)]
    circle = "EXPLAIN CREATE CONTINUOUS QUERY r AS INSERT INTO s SELECT * FROM s"
    assert error_of(pond, circle)[0] == "42P17"


def test_closing_a_pond_abandons_a_chunk_that_takes_long(open_pond: OpenPond) -> None:
    pond = open_pond()
    create(
        pond,
        query="SELECT a.n, b.n FROM s, generate_series(1, 100000) AS a (n), generate_series(1, 100000) AS b (n)"
        " WHERE a.n + b.n = v",
    )
    pond.insert("s", numbers(0, 3))
    tracker = pond.services.runner.session.sparkContext.statusTracker()
    wait_until(lambda: bool(tracker.getActiveJobsIds()), "no chunk is at work")
    pond = open_pond()
    assert shown(pond, "q", "rows_in", "lag") == (0, 3)
    pond.execute("CREATE OR REPLACE CONTINUOUS QUERY q AS INSERT INTO t SELECT k, v FROM s")
    caught_up(pond, "q")
    assert rows(pond, "SELECT v FROM t") == [(0,), (1,), (2,)]
