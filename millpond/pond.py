"""A pond: one database, in one directory. `Pond.execute` is where a statement enters.

The way of a statement, and where to read on:

    text        "SELECT ..."                           Pond.execute
    split       one or more statements                 millpond.sql.parse.split
    parse       a record per statement                 millpond.sql.parse.parse
    transact    a snapshot to read, changes on top     millpond.session, millpond.transaction
    dispatch    one function per kind of statement     millpond.statements
    bind        names and types from the catalog       millpond.sql.bind
    translate   PostgreSQL's meaning in Spark SQL      millpond.sql.translate
    run         files in, Arrow out                    millpond.spark.runner
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from millpond.config import Settings
from millpond.errors import MillpondError, SqlState
from millpond.lock import PondLock
from millpond.result import Result
from millpond.run.continuous_queries import QueryStore
from millpond.run.feeds import Feeds
from millpond.run.views import ViewStore
from millpond.services import Services
from millpond.session import Session
from millpond.spark import session as spark_session
from millpond.spark.runner import Runner
from millpond.sql.parameters import Values
from millpond.sql.parse import parse_subscription
from millpond.sql.subscribe import every_of, version_literal
from millpond.statements import continuous, continuous_queries
from millpond.statements.callables import define
from millpond.statements.execution import DEFAULT_USER
from millpond.statements.insert import insert_rows
from millpond.statements.request import Progress, Request
from millpond.statements.subscribe import open_subscription
from millpond.stores import Stores
from millpond.stream import Clock, now_us
from millpond.subscription import Subscription


def connect(
    path: str | Path | None = None,
    *,
    master: str = "local[*]",
    catalog: str | None = None,
    clock: Clock = now_us,
    **settings: object,
) -> Pond:
    """Open the pond in a directory, or a new one in a temporary directory that goes when it is closed.

    `master` is Spark's master URL; `catalog` is a PostgreSQL URL instead of the SQLite file in the pond; `clock` gives
    the time in microseconds since 1970, for tests that set it by hand; every other argument is a setting (see
    `millpond.config`).
    """
    return Pond(path, master=master, catalog=catalog, settings=settings, clock=clock)


class Pond:
    """An open pond. Several threads may use it; each has a session, a connection as it were, of its own."""

    def __init__(
        self,
        path: str | Path | None,
        *,
        master: str,
        catalog: str | None,
        settings: Mapping[str, object],
        clock: Clock = now_us,
    ) -> None:
        self._temporary = path is None
        self.path = Path(tempfile.mkdtemp(prefix="millpond-") if path is None else path).absolute()
        self.path.mkdir(parents=True, exist_ok=True)
        self._settings = Settings.of_pond(settings)
        self._lock = PondLock(self.path)
        self._closed = False
        try:
            self.services = self._open(master, catalog, clock)
        except BaseException:
            self._lock.release()
            raise
        self._sessions = threading.local()
        self._sessions_lock = threading.Lock()
        self._all_sessions: list[Session] = []

    # -- statements ----------------------------------------------------------------------------------------

    def execute(
        self,
        sql: str,
        params: Values | None = None,
        *,
        stdin: BinaryIO | None = None,
        stdout: BinaryIO | None = None,
        progress: Progress | None = None,
    ) -> Result:
        """Run SQL and compute its result. `params` fill `$1` or `%s`; `stdin` and `stdout` are those of COPY."""
        return self.session.execute(sql, params, request=Request(stdin, stdout, progress))

    def sql(self, sql: str, params: Values | None = None) -> Result:
        """Run SQL; the rows of a query are pinned to now and computed when they are first read."""
        return self.session.execute(sql, params, request=Request(lazy=True))

    def subscribe(
        self,
        what: str,
        params: Values | None = None,
        *,
        every: str | float | None = None,
        as_of: int | None = None,
        progress: bool = False,
        snapshot: bool = True,
    ) -> Subscription:
        """Follow a view, or a query: its rows as they are, then each change, without end.

        `every` is the time between two versions, in seconds or as text; `as_of` is the version to go on after.
        """
        statement = parse_subscription(what, params)
        every_ms = None if every is None else every_of(every if isinstance(every, str) else f"{every * 1000:.0f}")
        as_of_number = None if as_of is None else version_literal(as_of)
        wished = replace(statement, every_ms=every_ms, as_of=as_of_number, progress=progress, snapshot=snapshot)
        return Subscription(*self.session.look(lambda execution: open_subscription(execution, wished)))

    def insert(self, name: str, rows: object) -> int:
        """Add rows to a stream or a table: Arrow tables and batches, pandas frames, lists of dicts or tuples.

        The rows are acknowledged, as the stream's durability promises, when this returns how many there were.
        """
        return insert_rows(self.session, name, rows)

    def function(
        self,
        function: Callable[..., object] | None = None,
        *,
        name: str | None = None,
        arguments: Sequence[str] | None = None,
        returns: str | None = None,
        stateful_by: Sequence[str] = (),
    ) -> Any:
        """Let SQL call a Python function: `@pond.function`, or `pond.function(f, arguments=["int"], returns="text")`.

        Types that are not given come from the annotations. The function is kept in the pond, as it is now.
        """
        if function is None:
            return partial(self.function, name=name, arguments=arguments, returns=returns, stateful_by=stateful_by)
        define(self.session, function, name, arguments, returns, stateful_by)
        return function

    def interrupt(self) -> None:
        """Cancel every statement that runs now; safe to call from any thread or signal handler."""
        with self._sessions_lock:
            sessions = list(self._all_sessions)
        for session in sessions:
            session.interrupt()

    @property
    def session(self) -> Session:
        """The session of the calling thread."""
        if self._closed:
            raise MillpondError(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "the pond is closed")
        session: Session | None = getattr(self._sessions, "session", None)
        if session is None:
            session = self._sessions.session = self.new_session()
        return session

    def new_session(self, user: str = DEFAULT_USER, *, trusted: bool = True) -> Session:
        """A session of its own, for a server that serves many clients; one that is not trusted may do what its role
        may."""
        session = Session(self.services, user, trusted=trusted)
        with self._sessions_lock:
            self._all_sessions.append(session)
        return session

    def end_session(self, session: Session) -> None:
        """Close a session and forget it; its open transaction is rolled back."""
        with self._sessions_lock:
            self._all_sessions.remove(session)
        session.close()

    # -- opening and closing -------------------------------------------------------------------------------

    def _open(self, master: str, catalog_url: str | None, clock: Clock) -> Services:
        self.scratch = self._make_scratch()
        stores = Stores.open(self.path, self.scratch, catalog_url, self._settings, clock)
        try:
            runner = Runner(spark_session.start(master, self._settings, self.scratch))
        except BaseException:
            stores.close()
            raise
        views = ViewStore(self.path / "state", self.scratch, stores.catalog, stores.streams, runner, self._settings)
        queries = QueryStore(stores.catalog, stores.streams, runner, self.path / "functions")
        kept = (stores.catalog, stores.tables, stores.streams)
        services = Services(*kept, runner, views, queries, self._settings, self.scratch, Feeds(self._settings))
        continuous.reopen(services)
        continuous_queries.reopen(services)
        return services

    def _make_scratch(self) -> Path:
        """A directory for what need not survive. The pond notes where it is, so that a crash's is removed later."""
        note = self.path / "scratch"
        if note.exists():
            shutil.rmtree(note.read_text(), ignore_errors=True)
        given, memory = self._settings.text("scratch_directory"), Path("/dev/shm")
        parent = Path(given) if given else memory if memory.is_dir() else self.path
        scratch = parent / f"millpond-{uuid.uuid4().hex[:12]}"
        note.write_text(str(scratch))
        scratch.mkdir(parents=True, mode=0o700)
        return scratch

    def close(self) -> None:
        """Close the pond; transactions still open are rolled back. Closing twice is fine."""
        if self._closed:
            return
        self._closed = True
        for session in self._all_sessions:
            session.close()
        self.services.feeds.close()
        self.services.release_abandoned()
        self.services.queries.close()
        self.services.views.close()
        self.services.close()
        spark_session.stop(self.services.runner.session)
        shutil.rmtree(self.scratch, ignore_errors=True)
        self._lock.release()
        if self._temporary:
            shutil.rmtree(self.path, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Pond {self.path}{' (closed)' if self._closed else ''}>"
