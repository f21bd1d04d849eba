"""LISTEN and NOTIFY: sent at commit, each message once, to those who listen, also while they wait."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest

from tests.clients.conftest import Served

Connection = psycopg.Connection[Any]


def connect(server: Served) -> Connection:
    return psycopg.connect(server.url, autocommit=True)


def received(connection: Connection, count: int) -> list[tuple[str, str, int]]:
    found = connection.notifies(timeout=10, stop_after=count)
    return [(notify.channel, notify.payload, notify.pid) for notify in found]


def test_a_waiting_client_is_told(shared_server: Served) -> None:
    with connect(shared_server) as listener, connect(shared_server) as sender:
        listener.execute("LISTEN news")
        teller = threading.Timer(0.2, lambda: sender.execute("NOTIFY news, 'hot'; SELECT pg_notify('news', 'hotter')"))
        teller.start()
        sent_by = sender.info.backend_pid
        assert received(listener, 2) == [("news", "hot", sent_by), ("news", "hotter", sent_by)]
        teller.join()


def test_notifications_belong_to_transactions(shared_server: Served) -> None:
    with connect(shared_server) as listener, connect(shared_server) as sender:
        listener.execute("LISTEN deal; LISTEN other; UNLISTEN other")
        sender.execute("BEGIN; NOTIFY deal, 'a'; NOTIFY deal; NOTIFY deal, 'a'; SAVEPOINT s; NOTIFY deal, 'undone'")
        sender.execute("ROLLBACK TO s; NOTIFY other, 'unheard'; NOTIFY deal, 'b'; COMMIT; BEGIN; NOTIFY deal; ROLLBACK")
        assert [payload for _, payload, _ in received(listener, 3)] == ["a", "", "b"]
        listener.execute("BEGIN; LISTEN late; ROLLBACK; BEGIN")
        sender.execute("NOTIFY late, 'no'; NOTIFY deal, 'yes'")
        heard: list[str] = []
        listener.add_notify_handler(lambda notify: heard.append(notify.payload))
        listener.execute("SELECT 1")
        assert heard == []
        listener.execute("COMMIT")
        assert heard == ["yes"]


def test_a_client_hears_itself_before_it_is_ready(shared_server: Served) -> None:
    with connect(shared_server) as connection:
        heard: list[tuple[str, int]] = []
        connection.add_notify_handler(lambda notify: heard.append((notify.payload, notify.pid)))
        connection.execute('LISTEN "My Channel"')
        connection.execute("NOTIFY \"My Channel\", 'to myself'")
        assert heard == [("to myself", connection.info.backend_pid)]
        connection.execute("SELECT pg_notify(%s, %s)", ["My Channel", "by parameters"])
        connection.execute('UNLISTEN *; NOTIFY "My Channel"')
        assert [payload for payload, _ in heard] == ["to myself", "by parameters"]


def test_limits(shared_server: Served) -> None:
    with connect(shared_server) as connection:
        connection.execute(f"NOTIFY c, '{'x' * 7999}'")
        for text in (f"NOTIFY c, '{'x' * 8000}'", f"SELECT pg_notify('c', '{'é' * 4000}')"):
            with pytest.raises(psycopg.errors.InvalidParameterValue, match="payload string too long"):
                connection.execute(text)
        for channel, message in (("", "channel name cannot be empty"), ("x" * 64, "channel name too long")):
            with pytest.raises(psycopg.errors.InvalidParameterValue, match=message):
                connection.execute("SELECT pg_notify(%s, '')", [channel])


def test_sessions_in_this_process_listen_too(shared_server: Served) -> None:
    session = shared_server.pond.new_session()
    session.execute("LISTEN inside")
    with connect(shared_server) as sender:
        sender.execute("NOTIFY inside, '1'; NOTIFY inside, '2'")
        assert [one.payload for one in session.notifications(timeout_s=0.01)] == ["1", "2"]
    shared_server.pond.end_session(session)
