"""The guard: nothing that a client sends reads or writes a file, runs a program or opens a connection.

Each attempt is refused with a clean error that tells nothing of the server, for superusers and for ordinary roles, by
the simple and by the extended protocol; after each the session answers as before.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import pq

import millpond
from tests.clients.conftest import Served, serving
from tests.clients.guard_attempts import EXPRESSIONS, FILES, OF_SUPERUSERS, RELATIONS, STATEMENTS

CONTENT = "the content of the canary"

AROUND_EXPRESSIONS = (
    "SELECT {}",
    "SELECT a FROM t WHERE ({}) IS NULL",
    "SELECT a FROM t ORDER BY {}",
    "INSERT INTO t VALUES (({}), 1)",
    "UPDATE t SET a = ({})",
    "COPY (SELECT {}) TO STDOUT",
    "EXPLAIN SELECT {}",
    "PREPARE attempt AS SELECT {}",
    "CREATE VIEW attempt AS SELECT {} AS x",
    "CREATE VIEW attempt AS SELECT {} AS x, count(*) AS n FROM s GROUP BY 1",
    "CREATE TABLE attempt AS SELECT {} AS x",
    "CREATE TABLE attempt (a text DEFAULT {})",
    "CREATE TABLE attempt (a text CHECK (({}) IS NULL))",
    "CREATE STREAM attempt (a text DEFAULT {})",
)

AROUND_RELATIONS = (
    "SELECT * FROM {}",
    "SELECT a FROM t WHERE a IN (SELECT 1 FROM {})",
    "WITH x AS (SELECT * FROM {}) SELECT * FROM x",
    "INSERT INTO t SELECT 1, 1 FROM {}",
    "COPY (SELECT 1 FROM {}) TO STDOUT",
    "EXPLAIN SELECT * FROM {}",
    "CREATE VIEW attempt AS SELECT 1 AS x FROM {}",
    "CREATE VIEW attempt AS SELECT count(*) AS n FROM s, {}",
    "CREATE TABLE attempt AS SELECT 1 AS x FROM {}",
)

CLEAN = {"08P01", "0A000", "22021", "22023", "25P01", "26000", "3D000", "3F000", "42501", "42601", "42602", "42703"} | {
    *(
        "42704",
        "42809",
        "42883",
        "42P01",
        "42P02",
        "42P18",
        "22P02",
        "55P02",
        "58P01",
        "42804",
        "42803",
        "54000",
        "42846",
    ),
    *("42P10", "42712", "42P16", "2BP01"),
}
"""What refuses: no internal error, no error of a Spark job that had begun."""

NEEDLES = (CONTENT, "exception", "java.", "py4j", "org.apache", "traceback", "spark", "/dev/shm", "jvm")
"""What a message must not say, unless the client said it."""


@dataclass(frozen=True)
class Trap:
    """A server, and what must not happen to its machine."""

    served: Served
    directory: Path
    listener: socket.socket

    @property
    def places(self) -> dict[str, str]:
        port = self.listener.getsockname()[1]
        return {
            "secret": str(self.directory / "secret.txt"),
            "made": str(self.directory / "made"),
            "url": f"http://127.0.0.1:{port}/x",
            "jdbc": f"jdbc:postgresql://127.0.0.1:{port}/x",
        }

    def filled(self, text: str) -> str:
        for name, place in self.places.items():
            text = text.replace(f"{{{name}}}", place)
        return text

    def connect(self, user: str) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(host="127.0.0.1", port=self.served.port, user=user, dbname="pond", autocommit=True)

    def is_untouched(self) -> bool:
        """Nobody connected, nothing was written, the secret is as it was."""
        self.listener.settimeout(0)
        try:
            self.listener.accept()
            return False
        except BlockingIOError:
            pass
        written = {path.name for path in self.directory.iterdir()}
        return written == {"secret.txt", "copy"} and (self.directory / "secret.txt").read_text() == CONTENT


@pytest.fixture(scope="module")
def trap(shared_spark: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trap]:
    directory = tmp_path_factory.mktemp("guard")
    (directory / "secret.txt").write_text(CONTENT)
    copy_directory = directory / "copy"
    (copy_directory / "inside").mkdir(parents=True)
    (copy_directory / "link.txt").symlink_to(directory / "secret.txt")
    (copy_directory / "linked").symlink_to(directory)
    place = tmp_path_factory.mktemp("guarded") / "pond"
    with (
        millpond.connect(place, master="local[2]", copy_directory=str(copy_directory)) as pond,
        serving(pond) as served,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        pond.execute("CREATE ROLE worker LOGIN")
        pond.execute("GRANT CREATE ON SCHEMA public TO worker")
        pond.execute("CREATE TABLE t (a int, b int)")
        pond.execute("INSERT INTO t VALUES (1, 2)")
        pond.execute("CREATE STREAM s (k text, n int)")
        pond.execute("CREATE VIEW healthy AS SELECT count(*) AS n FROM s")
        pond.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO worker")
        yield Trap(served, directory, listener)


def run(connection: pq.abc.PGconn, text: str, *, extended: bool) -> pq.abc.PGresult:
    """The result of a statement; what COPY wants to send is taken, what it wants to read is not there."""
    result = connection.exec_params(text.encode(), None) if extended else connection.exec_(text.encode())
    if result.status == pq.ExecStatus.COPY_IN:
        connection.put_copy_end(b"nothing to read")
        result = connection.get_result() or result
    while result.status == pq.ExecStatus.COPY_OUT:
        if connection.get_copy_data(0)[0] < 0:
            result = connection.get_result() or result
    while connection.get_result() is not None:
        pass
    return result


def complaint(trap: Trap, connection: pq.abc.PGconn, text: str, *, extended: bool) -> str | None:
    """What is wrong with the answer to an attempt, if anything is."""
    result = run(connection, text, extended=extended)
    if result.status != pq.ExecStatus.FATAL_ERROR:
        return f"{text!r} was not refused: {pq.ExecStatus(result.status).name}"
    state = (result.error_field(pq.DiagnosticField.SQLSTATE) or b"").decode()
    if state not in CLEAN:
        return f"{text!r} got {state}: {result.error_message.decode()}"
    said = result.error_message.decode().lower()
    needles = [*NEEDLES, str(trap.served.pond.path), str(trap.served.pond.scratch)]
    told = [needle for needle in needles if needle.lower() in said and needle.lower() not in text.lower()]
    if told:
        return f"{text!r} tells of {told}: {result.error_message.decode()}"
    healthy = run(connection, "SELECT * FROM healthy", extended=extended)
    return None if healthy.get_value(0, 0) == b"0" else f"after {text!r} the session is not healthy"


def complaints(trap: Trap, user: str, texts: Iterable[str], *, extended: bool) -> list[str]:
    with trap.connect(user) as connection:
        found = [complaint(trap, connection.pgconn, trap.filled(text), extended=extended) for text in texts]
    return [one for one in found if one is not None]


@pytest.fixture(params=["worker", "somebody"], ids=["ordinary", "superuser"])
def user(request: pytest.FixtureRequest) -> str:
    """An ordinary role, and one who has none and so is a superuser."""
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["simple", "extended"])
def extended(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def some(attempts: Sequence[str], around: Sequence[str], *, extended: bool) -> Iterator[str]:
    """Each attempt in two of the places where it may stand, in turn: others for each protocol."""
    first = len(around) // 2 if extended else 0
    for number, attempt in enumerate(attempts):
        for place in (first + number, first + number + len(around) // 4):
            yield around[place % len(around)].format(attempt)


def test_expressions(trap: Trap, user: str, extended: bool) -> None:
    texts = some(EXPRESSIONS, AROUND_EXPRESSIONS, extended=extended)
    assert complaints(trap, user, texts, extended=extended) == []
    assert trap.is_untouched()


def test_relations(trap: Trap, user: str, extended: bool) -> None:
    texts = some(RELATIONS, AROUND_RELATIONS, extended=extended)
    assert complaints(trap, user, texts, extended=extended) == []
    assert trap.is_untouched()


def test_statements(trap: Trap, user: str, extended: bool) -> None:
    texts = (*STATEMENTS, *OF_SUPERUSERS) if user == "worker" else STATEMENTS
    assert complaints(trap, user, texts, extended=extended) == []
    assert trap.is_untouched()


def test_files(trap: Trap, user: str, extended: bool) -> None:
    texts = (
        f"COPY {what} '{name}'" for name in FILES for what in ("t FROM", "t TO", "(SELECT 1) TO", "s FROM", "s TO")
    )
    assert complaints(trap, user, texts, extended=extended) == []
    assert trap.is_untouched()


def test_whether_a_file_exists_is_not_told(trap: Trap) -> None:
    with trap.connect("somebody") as connection:
        found = []
        for name in ("secret.txt", "nothing.txt"):
            with pytest.raises(psycopg.Error) as caught:
                connection.execute(f"COPY t FROM '../{name}'")
            found.append((caught.value.sqlstate, str(caught.value).replace(name, "?")))
    assert found[0] == found[1]
    assert found[0][0] == "42501"


def test_a_superuser_copies_within_the_directory(trap: Trap) -> None:
    with trap.connect("somebody") as connection:
        connection.execute("COPY (SELECT 1, 2) TO 'inside/rows.csv' CSV")
    assert (trap.directory / "copy/inside/rows.csv").read_text() == "1,2\n"
    with trap.connect("worker") as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("COPY t FROM 'inside/rows.csv' CSV")


def test_words_in_comments_and_texts_are_only_words(trap: Trap) -> None:
    """What looks like an attempt and is none is answered, and Spark takes no hint."""
    with trap.connect("worker") as connection:
        answered = connection.execute("SELECT /*+ BROADCAST(t), reflect('x') */ a, 'ADD JAR x', '${env:PATH}' FROM t")
        assert answered.fetchone() == (1, "ADD JAR x", "${env:PATH}")
        assert connection.execute('SELECT 1 AS "reflect(); DROP TABLE t"').fetchone() == (1,)
        assert connection.execute("SELECT E'\\\\' || '`' || $$'$$ || U&'\\0041'").fetchone() == ("\\`'A",)
        assert "Java" not in str(connection.execute("SELECT version()").fetchall())


def test_plans_and_settings_name_no_place(trap: Trap) -> None:
    places = (str(trap.served.pond.path), str(trap.directory), str(trap.served.pond.scratch))
    with trap.connect("worker") as connection:
        told = [
            *connection.execute("EXPLAIN SELECT a FROM t, s WHERE b > 1 AND n = a").fetchall(),
            *connection.execute("SHOW ALL").fetchall(),
            *connection.execute("SELECT * FROM millpond_settings").fetchall(),
        ]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SHOW copy_directory")
    assert [row for row in told if any(place in str(row) for place in places)] == []
