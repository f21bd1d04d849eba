"""The catalog: names, schemas and visible versions, and the one commit in which things become true.

It lives in a SQL database (SQLite in the pond, or PostgreSQL) behind one SQLAlchemy Core schema. Readers
never touch that database: they take the current `Snapshot`, an immutable map of relations. A writer hands
over what it changed; one database transaction records all of it and the next snapshot takes its place.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

import sqlalchemy as sa

from millpond.bell import Bell
from millpond.errors import InternalError, MillpondError, SqlState
from millpond.namespace import NAMESPACES, Namespace, NamespaceKey
from millpond.privileges.acl import Acl, AclItem
from millpond.python_function import PythonFunction
from millpond.relation import Check, Column, Key, Read, Relation
from millpond.roles import Membership, Role
from millpond.state.records import QueryRecord, StateRecord, ViewRecord
from millpond.stream import Clock, now_us
from millpond.table_history import Retention, TableHistory, Writer
from millpond.types import SqlType

Item = TypeVar("Item")
Name = TypeVar("Name")

FORMAT_VERSION = 5

_MIGRATIONS = {
    2: (
        "ALTER TABLE millpond_roles ADD COLUMN inherit BOOLEAN NOT NULL DEFAULT TRUE",
        "ALTER TABLE millpond_roles ADD COLUMN member_of TEXT NOT NULL DEFAULT '[]'",
    ),
    3: (),
    4: (),
}
"""What turns the tables of a format into those of the next one. All relations of format 2 belong to the first role.
Format 4 has continuous queries, and format 5 the history of tables, which older versions would not keep up."""

_LOCK_KEY = 0x6D696C6C706F6E64
"""The advisory lock of a catalog in PostgreSQL: "millpond" in ASCII."""

_metadata = sa.MetaData()

_pond = sa.Table(
    "millpond_pond",
    _metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("value", sa.BigInteger, nullable=False),
)

_relations = sa.Table(
    "millpond_relations",
    _metadata,
    sa.Column("oid", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("definition", sa.Text, nullable=False),
)


_states = sa.Table(
    "millpond_states",
    _metadata,
    sa.Column("oid", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("record", sa.Text, nullable=False),
)

_views = sa.Table(
    "millpond_views",
    _metadata,
    sa.Column("oid", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("record", sa.Text, nullable=False),
)

_queries = sa.Table(
    "millpond_queries",
    _metadata,
    sa.Column("oid", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("record", sa.Text, nullable=False),
)


_roles = sa.Table(
    "millpond_roles",
    _metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("superuser", sa.Boolean, nullable=False),
    sa.Column("login", sa.Boolean, nullable=False),
    sa.Column("verifier", sa.Text),
    sa.Column("inherit", sa.Boolean, nullable=False),
    sa.Column("member_of", sa.Text, nullable=False),
)

_namespaces = sa.Table(
    "millpond_namespaces",
    _metadata,
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("acl", sa.Text, nullable=False),
)


_functions = sa.Table(
    "millpond_functions",
    _metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("definition", sa.Text, nullable=False),
)


NO_CHANGES: Mapping[Any, Any] = {}


@dataclass(frozen=True)
class Snapshot:
    """One committed state of the catalog."""

    number: int
    relations: Mapping[str, Relation]
    roles: Mapping[str, Role] = field(default_factory=dict)
    namespaces: Mapping[NamespaceKey, Namespace] = field(default_factory=lambda: NAMESPACES)
    functions: Mapping[str, PythonFunction] = field(default_factory=dict)

    def relation(self, name: str) -> Relation | None:
        return self.relations.get(name)


class Catalog:
    """An open catalog; `commit_lock` is held around everything that leads to a commit, and `commits` rings after it.

    `secret` is a random number of the pond's own, for what must look random and stay the same. `history` is what tables
    were before.
    """

    def __init__(self, url: str, clock: Clock = now_us, retention: Retention | None = None) -> None:
        self._engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1))
        self._lock_connection: sa.Connection | None = None
        if self._engine.dialect.name == "sqlite":
            sa.event.listen(self._engine, "connect", _synchronous_sqlite)
        else:
            self._lock_connection = self._lock_database()
        self.commit_lock = threading.RLock()
        self.commits = Bell()
        self._snapshot = Snapshot(0, {})
        self._oid_next = 0
        self.secret = b""
        self._oid_lock = threading.Lock()
        _metadata.create_all(self._engine)
        self.history = TableHistory(self._engine, clock, retention or Retention())
        self._load()

    @property
    def snapshot(self) -> Snapshot:
        """The newest committed snapshot. Reading the attribute is atomic, so no lock is needed."""
        return self._snapshot

    def new_oid(self) -> int:
        """An oid that was never used: directories are named after it, so it must not come back."""
        with self._oid_lock:
            self._oid_next += 1
            return self._oid_next - 1

    def commit(
        self,
        changes: Mapping[str, Relation | None],
        roles: Mapping[str, Role | None] = NO_CHANGES,
        namespaces: Mapping[NamespaceKey, Namespace] = NO_CHANGES,
        queries: Mapping[int, QueryRecord] = NO_CHANGES,
        functions: Mapping[str, PythonFunction | None] = NO_CHANGES,
        writer: Writer | None = None,
    ) -> Snapshot:
        """Record new, changed and (None) dropped relations, roles and functions in one transaction, and make them the
        snapshot; together with them, how far continuous queries, by oid, are that made them, and which of them wrote
        tables.

        The caller holds `commit_lock` and has checked for conflicts.
        """
        number = self._snapshot.number + 1
        with self._engine.begin() as connection:
            for name, relation in changes.items():
                connection.execute(sa.delete(_relations).where(_relations.c.name == name))
                if relation is not None:
                    connection.execute(sa.insert(_relations).values(**_to_row(relation)))
            for name, role in roles.items():
                connection.execute(sa.delete(_roles).where(_roles.c.name == name))
                if role is not None:
                    member_of = json.dumps([asdict(one) for one in role.member_of])
                    connection.execute(sa.insert(_roles).values(**{**asdict(role), "member_of": member_of}))
            for kind, name in namespaces:
                same = (_namespaces.c.kind == kind) & (_namespaces.c.name == name)
                connection.execute(sa.delete(_namespaces).where(same))
                connection.execute(sa.insert(_namespaces).values(**_namespace_row(namespaces[kind, name])))
            for name, function in functions.items():
                connection.execute(sa.delete(_functions).where(_functions.c.name == name))
                if function is not None:
                    connection.execute(sa.insert(_functions).values(name=name, definition=function.dumps()))
            kept = {relation.oid for relation in changes.values() if relation is not None}
            gone = {old.oid for name in changes if (old := self._snapshot.relation(name)) is not None} - kept
            for table in (_views, _queries):
                connection.execute(sa.delete(table).where(table.c.oid.in_(gone)))
            _write_records(connection, _queries, queries)
            self.history.forget(connection, gone)
            self.history.record(connection, number, self._new_versions(changes, writer), writer)
            for key, value in (("snapshot", number), ("oid_next", self._oid_next)):
                connection.execute(sa.update(_pond).where(_pond.c.key == key).values(value=value))
        before = self._snapshot
        self._snapshot = Snapshot(
            number,
            _merged(before.relations, changes),
            _merged(before.roles, roles),
            _merged(before.namespaces, namespaces),
            _merged(before.functions, functions),
        )
        self.commits.ring()
        return self._snapshot

    def _new_versions(self, changes: Mapping[str, Relation | None], writer: Writer | None) -> dict[int, int]:
        """The versions of tables that changes make, and those of tables that a query wrote no rows into."""
        before = {one.oid: one.version for one in self._snapshot.relations.values() if one.kind == "table"}
        after = {one.oid: one.version for one in changes.values() if one is not None and one.kind == "table"}
        made = {oid: version for oid, version in after.items() if before.get(oid) != version}
        written = writer.tables if writer is not None else ()
        return {**{oid: after.get(oid, before[oid]) for oid in written if oid in before}, **made}

    def commit_kept(
        self, states: Mapping[int, StateRecord | None], views: Mapping[int, ViewRecord] | None = None
    ) -> None:
        """Record states that views keep, and views, by oid, in one transaction; None removes a state."""
        with self.commit_lock, self._engine.begin() as connection:
            _write_records(connection, _states, states)
            _write_records(connection, _views, views or {})
            connection.execute(sa.update(_pond).where(_pond.c.key == "oid_next").values(value=self._oid_next))

    def commit_query(self, oid: int, record: QueryRecord) -> None:
        """Record how far a continuous query is that changed no table."""
        with self.commit_lock, self._engine.begin() as connection:
            _write_records(connection, _queries, {oid: record})

    def states(self) -> dict[int, StateRecord]:
        """The committed states, by oid."""
        return {oid: StateRecord.loads(text) for oid, text in self._records(_states)}

    def views(self) -> dict[int, ViewRecord]:
        """What is recorded of the continuous views, by oid."""
        return {oid: ViewRecord.loads(text) for oid, text in self._records(_views)}

    def queries(self) -> dict[int, QueryRecord]:
        """What is recorded of the continuous queries, by oid."""
        return {oid: QueryRecord.loads(text) for oid, text in self._records(_queries)}

    def _records(self, table: sa.Table) -> list[tuple[int, str]]:
        with self._engine.connect() as connection:
            return [(row.oid, row.record) for row in connection.execute(sa.select(table))]

    def close(self) -> None:
        if self._lock_connection is not None:
            self._lock_connection.close()
        self._engine.dispose()

    def _lock_database(self) -> sa.Connection:
        """One pond at a time on a database that several machines reach; the server lets go when we are gone."""
        connection = self._engine.connect()
        if not connection.scalar(sa.select(sa.func.pg_try_advisory_lock(_LOCK_KEY))):
            connection.close()
            self._engine.dispose()
            raise MillpondError(
                SqlState.OBJECT_IN_USE,
                "the catalog is already in use by another pond",
                hint="Close that pond, or give this one a database of its own.",
            )
        connection.commit()
        return connection

    def _load(self) -> None:
        with self._engine.begin() as connection:
            state = {row.key: row.value for row in connection.execute(sa.select(_pond))}
            if not state:
                state = {"format": FORMAT_VERSION, "snapshot": 0, "oid_next": 16384}
                connection.execute(sa.insert(_pond), [{"key": k, "value": v} for k, v in state.items()])
            while state["format"] in _MIGRATIONS:
                _migrate(connection, state)
            if state["format"] != FORMAT_VERSION:
                raise _unknown_format(state["format"])
            if "secret" not in state:
                state["secret"] = secrets.randbits(62)
                connection.execute(sa.insert(_pond), [{"key": "secret", "value": state["secret"]}])
            rows = connection.execute(sa.select(_relations)).all()
            roles = {row.name: _role(row) for row in connection.execute(sa.select(_roles))}
            namespaces = [_namespace(row) for row in connection.execute(sa.select(_namespaces))]
            functions = {row.name: PythonFunction.loads(row.definition) for row in _all(connection, _functions)}
            # A view or query may have been set aside, and so recorded, while it was dropped.
            for table in (_views, _queries):
                connection.execute(sa.delete(table).where(table.c.oid.not_in([row.oid for row in rows])))
        self._oid_next = state["oid_next"]
        self.secret = state["secret"].to_bytes(8, "big")
        known = {**NAMESPACES, **{one.key: one for one in namespaces}}
        relations = {row.name: _from_row(row) for row in rows}
        self._snapshot = Snapshot(state["snapshot"], relations, roles, known, functions)
        if any(relation.oid >= self._oid_next for relation in self._snapshot.relations.values()):
            raise InternalError("the catalog holds an oid that was never given out")


def _all(connection: sa.Connection, table: sa.Table) -> Sequence[Any]:
    return connection.execute(sa.select(table)).all()


def _migrate(connection: sa.Connection, state: dict[str, int]) -> None:
    """Bring the tables of an older format to the next one."""
    for statement in _MIGRATIONS[state["format"]]:
        connection.execute(sa.text(statement))
    state["format"] += 1
    connection.execute(sa.update(_pond).where(_pond.c.key == "format").values(value=state["format"]))


def _unknown_format(found: int) -> MillpondError:
    return MillpondError(
        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
        f"the pond has format {found}, this version of Millpond reads format {FORMAT_VERSION}",
    )


def _merged(before: Mapping[Name, Item], changes: Mapping[Name, Item | None]) -> dict[Name, Item]:
    """What there is after a commit, in which None drops."""
    merged = {**before, **changes}
    return {name: item for name, item in merged.items() if item is not None}


def _synchronous_sqlite(connection: Any, _record: object) -> None:
    """A commit that was acknowledged must survive a loss of power: full fsync, and a log that readers do not block."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


def _write_records(
    connection: sa.Connection,
    table: sa.Table,
    records: Mapping[int, StateRecord | None] | Mapping[int, ViewRecord] | Mapping[int, QueryRecord],
) -> None:
    for oid, record in records.items():
        connection.execute(sa.delete(table).where(table.c.oid == oid))
        if record is not None:
            connection.execute(sa.insert(table).values(oid=oid, record=record.dumps()))


def _to_row(relation: Relation) -> dict[str, Any]:
    definition = asdict(replace(relation, version=0))
    return {
        "oid": relation.oid,
        "name": relation.name,
        "kind": relation.kind,
        "version": relation.version,
        "definition": json.dumps(definition),
    }


def _from_row(row: Any) -> Relation:
    stored = json.loads(row.definition)
    columns = tuple(Column(**{**column, "type": SqlType(**column["type"])}) for column in stored["columns"])
    keys = tuple(Key(**{**key, "columns": tuple(key["columns"])}) for key in stored["keys"])
    checks = tuple(Check(**check) for check in stored["checks"])
    sees = {name: tuple(seen) for name, seen in stored["sees"].items()}
    known = {"columns": columns, "keys": keys, "checks": checks, "sees": sees, "version": row.version}
    column_acls = {name: _acl(items) for name, items in stored.get("column_acls", {}).items()}
    reads = tuple(Read(**{**read, "columns": tuple(read["columns"])}) for read in stored.get("reads", ()))
    allowed = {"acl": _acl(stored.get("acl")), "column_acls": column_acls, "reads": reads}
    return Relation(**{**stored, **known, **allowed})


def _acl(items: Iterable[Mapping[str, str]] | None) -> Acl | None:
    return None if items is None else tuple(AclItem(**item) for item in items)


def _role(row: Any) -> Role:
    member_of = tuple(Membership(**one) for one in json.loads(row.member_of))
    return Role(**{**row._mapping, "member_of": member_of})


def _namespace_row(namespace: Namespace) -> dict[str, Any]:
    return {**asdict(namespace), "acl": json.dumps(asdict(namespace)["acl"])}


def _namespace(row: Any) -> Namespace:
    return Namespace(**{**row._mapping, "acl": _acl(json.loads(row.acl))})
