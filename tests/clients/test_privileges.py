"""Privileges over the wire: checked for each execution, for whoever the session is by then."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

from millpond import MillpondError, Pond
from tests.clients.conftest import Served

Connection = psycopg.Connection[tuple[object, ...]]


def connect(served: Served, user: str, options: str = "") -> Connection:
    address = {"host": served.host, "port": served.port, "dbname": "pond", "user": user, "options": options}
    return psycopg.connect(**address, autocommit=True)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def owner(shared_server: Served) -> Iterator[Connection]:
    """A superuser, who made a table, a stream and a view, and two ordinary roles."""
    with connect(shared_server, "somebody") as connection:
        for statement in (
            "CREATE ROLE clerk LOGIN",
            "CREATE ROLE boss LOGIN SUPERUSER",
            "CREATE ROLE another LOGIN SUPERUSER",
            "CREATE TABLE t (a int)",
            "INSERT INTO t VALUES (1)",
            "CREATE STREAM s (k text)",
            "CREATE VIEW kept AS SELECT k, count(*) AS n FROM s GROUP BY k",
            "INSERT INTO s VALUES ('x')",
        ):
            connection.execute(statement)
        yield connection


@pytest.fixture
def clerk(shared_server: Served, owner: Connection) -> Iterator[Connection]:
    with connect(shared_server, "clerk") as connection:
        yield connection


def test_an_answer_that_is_at_hand_is_not_for_everyone(owner: Connection, clerk: Connection) -> None:
    assert owner.execute("SELECT * FROM kept").fetchall() == [("x", 1)]
    with pytest.raises(InsufficientPrivilege, match="permission denied for view kept"):
        clerk.execute("SELECT * FROM kept")
    owner.execute("GRANT SELECT ON kept TO clerk")
    assert clerk.execute("SELECT * FROM kept").fetchall() == [("x", 1)]
    owner.execute("REVOKE SELECT ON kept FROM clerk")
    with pytest.raises(InsufficientPrivilege):
        clerk.execute("SELECT * FROM kept")


def test_a_prepared_statement_is_checked_each_time(owner: Connection, clerk: Connection) -> None:
    owner.execute("GRANT SELECT, INSERT ON t TO clerk")
    for statement, values in (("SELECT a FROM t WHERE a = %s", [1]), ("INSERT INTO t VALUES (%s)", [2])):
        clerk.execute(statement, values, prepare=True)
        owner.execute("REVOKE ALL ON t FROM clerk")
        with pytest.raises(InsufficientPrivilege, match="permission denied for table t"):
            clerk.execute(statement, values, prepare=True)
        owner.execute("GRANT SELECT, INSERT ON t TO clerk")
        clerk.execute(statement, values, prepare=True)
    owner.execute("REVOKE ALL ON t FROM clerk")


def test_copy_is_refused_before_data_flows(clerk: Connection) -> None:
    for statement in ("COPY t FROM STDIN", "COPY s FROM STDIN", "COPY t TO STDOUT", "COPY (SELECT a FROM t) TO STDOUT"):
        with pytest.raises(InsufficientPrivilege), clerk.cursor().copy(statement):
            pass
    assert clerk.execute("SELECT 1").fetchone() == (1,)


def test_what_a_role_may_not_use_is_not_listed(owner: Connection, clerk: Connection) -> None:
    listed = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
    assert {("t",), ("s",), ("kept",)} <= set(owner.execute(listed).fetchall())
    assert clerk.execute(listed).fetchall() == []
    for relation in ("millpond_tables", "millpond_streams", "millpond_views"):
        assert clerk.execute(f"SELECT name FROM {relation}").fetchall() == []
    with pytest.raises(psycopg.errors.UndefinedTable) as caught:
        clerk.execute("SELECT * FROM kepd")
    assert caught.value.diag.message_hint is None


def test_who_one_is_counts_at_once(shared_server: Served, owner: Connection) -> None:
    with connect(shared_server, "boss") as boss:
        assert boss.info.parameter_status("is_superuser") == "on"
        boss.execute("SET ROLE clerk")
        assert boss.execute("SELECT current_user, session_user").fetchone() == ("clerk", "boss")
        assert boss.info.parameter_status("is_superuser") == "off"
        with pytest.raises(InsufficientPrivilege):
            boss.execute("SELECT a FROM t")
        boss.execute("RESET ROLE")
        boss.execute("SELECT a FROM t")
        owner.execute("ALTER ROLE boss NOSUPERUSER")
        with pytest.raises(InsufficientPrivilege):
            boss.execute("SELECT a FROM t")
        owner.execute("ALTER ROLE boss SUPERUSER")


def test_a_role_in_the_startup_message_is_checked(shared_server: Served, owner: Connection) -> None:
    for option in ("-c role=boss", "-c session_authorization=boss"):
        with pytest.raises(psycopg.OperationalError, match="permission denied to set"):
            connect(shared_server, "clerk", option)
    with connect(shared_server, "boss", "-c role=clerk") as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("clerk",)


def test_connecting_is_a_privilege(shared_server: Served, owner: Connection) -> None:
    owner.execute("REVOKE CONNECT ON DATABASE pond FROM PUBLIC")
    with pytest.raises(psycopg.OperationalError, match='permission denied for database "pond"'):
        connect(shared_server, "clerk")
    owner.execute("GRANT CONNECT ON DATABASE pond TO clerk")
    connect(shared_server, "clerk").close()
    owner.execute("GRANT CONNECT ON DATABASE pond TO PUBLIC")


def test_the_schema_can_be_closed(owner: Connection, clerk: Connection) -> None:
    owner.execute("GRANT SELECT ON t TO clerk")
    owner.execute("REVOKE USAGE ON SCHEMA public FROM PUBLIC")
    with pytest.raises(InsufficientPrivilege, match="permission denied for schema public"):
        clerk.execute("SELECT a FROM t")
    owner.execute("GRANT USAGE ON SCHEMA public TO PUBLIC")
    clerk.execute("SELECT a FROM t")
    owner.execute("REVOKE SELECT ON t FROM clerk")


def test_a_role_that_goes_is_not_granted_anything_meanwhile(pond: Pond) -> None:
    pond.execute("CREATE ROLE leaver; CREATE TABLE own (a int)")
    one, other = pond.new_session(), pond.new_session()
    one.execute("BEGIN")
    one.execute("GRANT SELECT ON own TO leaver")
    other.execute("DROP ROLE leaver")
    with pytest.raises(MillpondError, match="could not serialize access"):
        one.execute("COMMIT")
    pond.execute("CREATE ROLE leaver")
    one.execute("BEGIN")
    one.execute("DROP ROLE leaver")
    other.execute("GRANT SELECT ON own TO leaver")
    with pytest.raises(MillpondError, match="could not serialize access"):
        one.execute("COMMIT")
