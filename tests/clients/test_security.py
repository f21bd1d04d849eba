"""Passwords, roles, TLS and limits: who gets in, and who does not."""

from __future__ import annotations

import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

import millpond
from millpond import Pond
from millpond.server.security import Security, check_host, create_first_role, tls_context
from millpond.wire.backend import Authentication, ReadyForQuery
from millpond.wire.frontend import Password, Query
from millpond.wire.startup import SslRequest, Startup
from tests.clients.conftest import Served, serving
from tests.clients.raw_client import RawClient, errors

PASSWORD = "correct horse"


@pytest.fixture
def guarded(server: Served) -> Served:
    """A server whose superuser has a password."""
    server.pond.execute(f"CREATE ROLE millpond SUPERUSER LOGIN PASSWORD '{PASSWORD}'")
    return server


def connect(
    served: Served, user: str, password: str | None, *, sslmode: str = "prefer", sslrootcert: str | None = None
) -> psycopg.Connection[tuple[object, ...]]:
    address = {"host": served.host, "port": str(served.port), "dbname": "pond"}
    text = make_conninfo(**address, user=user, password=password, sslmode=sslmode, sslrootcert=sslrootcert)
    return psycopg.connect(text, autocommit=True)


def refusal(served: Served, user: str, password: str | None) -> str:
    with pytest.raises(psycopg.OperationalError) as caught:
        connect(served, user, password)
    return str(caught.value)


def test_without_a_password_anyone_on_this_machine_is_a_superuser(server: Served) -> None:
    with connect(server, "anyone", None) as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("anyone",)
        assert connection.info.parameter_status("is_superuser") == "on"


def test_the_right_password_gets_in(guarded: Served) -> None:
    with connect(guarded, "millpond", PASSWORD) as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("millpond",)
        connection.execute("CREATE ROLE reader LOGIN PASSWORD 'other'")
    with connect(guarded, "reader", "other") as connection:
        assert connection.info.parameter_status("is_superuser") == "off"


def test_unknown_users_and_wrong_passwords_look_the_same(guarded: Served) -> None:
    wrong, unknown = refusal(guarded, "millpond", "wrong"), refusal(guarded, "nobody", "wrong")
    assert wrong.replace("millpond", "?") == unknown.replace("nobody", "?")
    assert 'password authentication failed for user "nobody"' in unknown
    assert [exchange_start(guarded, user)[0] for user in ("millpond", "nobody")] == [10, 10]
    assert exchange_start(guarded, "nobody")[1] == exchange_start(guarded, "nobody")[1]


def exchange_start(served: Served, user: str) -> tuple[int, bytes]:
    """The first request, and the salt and iterations that a user is told."""
    with RawClient(served.port) as client:
        client.socket.sendall(Startup(parameters={"user": user, "database": "pond"}).encode())
        first = client.receive()
        data = b"n,,n=,r=abc"
        client.send(Password(b"SCRAM-SHA-256\0" + len(data).to_bytes(4, "big") + data))
        second = client.receive()
    assert isinstance(first, Authentication)
    assert isinstance(second, Authentication)
    return first.request, second.data.partition(b",")[2]


def test_failures_are_answered_later_each_time(guarded: Served) -> None:
    times = []
    for _ in range(3):
        started = time.monotonic()
        refusal(guarded, "millpond", "wrong")
        times.append(time.monotonic() - started)
    assert times[2] >= 0.4
    with connect(guarded, "millpond", PASSWORD):
        pass


def test_roles_are_for_superusers(guarded: Served) -> None:
    with connect(guarded, "millpond", PASSWORD) as connection:
        connection.execute("CREATE USER writer PASSWORD 'one'; CREATE ROLE nobody")
        connection.execute("ALTER ROLE nobody PASSWORD 'x'")
    with connect(guarded, "writer", "one") as connection:
        connection.execute("ALTER ROLE writer PASSWORD 'two'")
        for text in (
            "CREATE ROLE x",
            "ALTER ROLE writer SUPERUSER",
            "ALTER ROLE millpond PASSWORD 'x'",
            "DROP ROLE nobody",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(text)
    assert "failed" in refusal(guarded, "writer", "one")
    with connect(guarded, "writer", "two"):
        pass
    assert "not permitted to log in" in refusal(guarded, "nobody", "x")


def test_role_statements(server: Served) -> None:
    with connect(server, "anyone", None) as connection:
        connection.execute("CREATE ROLE a LOGIN SUPERUSER")
        with pytest.raises(psycopg.errors.DuplicateObject):
            connection.execute("CREATE ROLE a")
        with pytest.raises(psycopg.errors.UndefinedObject):
            connection.execute("ALTER ROLE missing PASSWORD 'x'")
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            connection.execute("CREATE ROLE b CREATEDB")
        with pytest.raises(psycopg.errors.DependentObjectsStillExist):
            connection.execute("DROP ROLE a")
        connection.execute("BEGIN; CREATE ROLE b PASSWORD 'x'; ROLLBACK")
        connection.execute("CREATE ROLE b")
        connection.execute("DROP ROLE IF EXISTS b, c")
    assert sorted(server.pond.services.catalog.snapshot.roles) == ["a"]


def test_passwords_are_kept_nowhere(shared_spark: None, tmp_path: Path) -> None:
    with millpond.connect(tmp_path / "pond", master="local[2]") as pond:
        pond.execute("CREATE ROLE r LOGIN PASSWORD 'unmistakable'")
    stored = b"".join(path.read_bytes() for path in (tmp_path / "pond").rglob("*") if path.is_file())
    assert b"unmistakable" not in stored
    assert b"SCRAM-SHA-256$4096:" in stored


# -- the first superuser and the address -----------------------------------------------------------------------------


def test_the_first_superuser(pond: Pond, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text(PASSWORD + "\n")
    assert create_first_role(pond, Security()) is None
    assert create_first_role(pond, Security(password_file=str(file))) is None
    with serving(pond) as served:
        connect(served, "millpond", PASSWORD).close()
    assert create_first_role(pond, Security(generate_password=True)) is None


def test_a_made_up_password_is_told_once(pond: Pond) -> None:
    password = create_first_role(pond, Security(generate_password=True))
    assert password
    with serving(pond) as served:
        connect(served, "millpond", password).close()


@pytest.mark.parametrize(
    ("host", "insecure", "wants_passwords", "message"),
    [
        ("127.0.0.1", False, False, None),
        ("::1", False, False, None),
        ("0.0.0.0", True, False, "loopback only"),
        ("0.0.0.0", False, True, "needs TLS"),
        ("0.0.0.0", True, True, None),
    ],
)
def test_where_a_server_may_listen(host: str, insecure: bool, wants_passwords: bool, message: str | None) -> None:
    security = Security(insecure=insecure)
    if message is None:
        check_host(host, security, None, wants_passwords=wants_passwords)
        return
    with pytest.raises(millpond.MillpondError, match=message):
        check_host(host, security, None, wants_passwords=wants_passwords)


# -- TLS -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Security:
    directory = tmp_path_factory.mktemp("tls")
    cert, key = str(directory / "cert.pem"), str(directory / "key.pem")
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert]
    subprocess.run([*command, *subject], check=True, capture_output=True)
    return Security(tls_cert=cert, tls_key=key)


@pytest.fixture
def encrypted(pond: Pond, certificate: Security) -> Iterator[Served]:
    with serving(pond, tls_context(certificate)) as served:
        yield served


def test_clients_may_use_tls(encrypted: Served, certificate: Security) -> None:
    encrypted.pond.execute(f"CREATE ROLE millpond SUPERUSER LOGIN PASSWORD '{PASSWORD}'")
    root = certificate.tls_cert or ""
    with connect(encrypted, "millpond", PASSWORD, sslmode="verify-full", sslrootcert=root) as connection:
        assert connection.pgconn.ssl_in_use
        assert connection.execute("SELECT repeat('x', 100000)").fetchone() == ("x" * 100_000,)


def test_bytes_before_the_encryption_are_refused(encrypted: Served) -> None:
    with RawClient(encrypted.port) as client:
        client.socket.sendall(SslRequest().encode() + Startup(parameters={"user": "x", "database": "pond"}).encode())
        assert errors(client.until()) == ["08P01"]


def test_half_a_certificate_is_refused(certificate: Security) -> None:
    with pytest.raises(millpond.MillpondError, match="needs both"):
        tls_context(Security(tls_cert=certificate.tls_cert))
    with pytest.raises(millpond.MillpondError, match="could not load"):
        tls_context(Security(tls_cert=certificate.tls_cert, tls_key=certificate.tls_cert))
    assert isinstance(tls_context(certificate), ssl.SSLContext)


# -- limits ----------------------------------------------------------------------------------------------------------


def test_too_many_connections_are_turned_away(shared_spark: None, tmp_path: Path) -> None:
    with (
        millpond.connect(tmp_path / "pond", master="local[2]", max_connections=2) as pond,
        serving(pond) as served,
        RawClient.started(served.port),
    ):
        with RawClient.started(served.port), pytest.raises(psycopg.OperationalError, match="too many clients already"):
            connect(served, "x", None)
        time.sleep(0.5)
        connect(served, "x", None).close()


def test_strangers_have_little_time(shared_spark: None, tmp_path: Path) -> None:
    with (
        millpond.connect(tmp_path / "pond", master="local[2]", authentication_timeout="1s") as pond,
        serving(pond) as served,
        RawClient(served.port) as client,
    ):
        started = time.monotonic()
        assert errors(client.until()) == ["28000"]
        assert 0.9 < time.monotonic() - started < 5


def test_waiting_inside_a_transaction_is_limited(server: Served) -> None:
    with RawClient.started(server.port, idle_in_transaction_session_timeout="300") as client:
        client.query("BEGIN")
        assert errors(client.until()) == ["25P03"]
    with RawClient.started(server.port, idle_in_transaction_session_timeout="300") as client:
        client.query("SELECT 1")
        time.sleep(0.6)
        client.send(Query("SELECT 1"))
        assert errors(client.until(ReadyForQuery)) == []
