"""The SQLite database that answers queries over the system catalogs: in memory, one for each session.

A relation is filled when a query first reads it, from the state of the catalog that the query sees.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, cast

import pyarrow as pa

from millpond.errors import MillpondError, SqlState
from millpond.pgcatalog.collectors import ArrayCollector, StringCollector
from millpond.pgcatalog.declarations import INFORMATION_SCHEMA, PG_CATALOG, Declared
from millpond.pgcatalog.functions import CatalogFunctions
from millpond.pgcatalog.information import INFORMATION_ROWS
from millpond.pgcatalog.objects import Objects, SessionFacts
from millpond.pgcatalog.relation_rows import RELATION_ROWS
from millpond.pgcatalog.server_rows import SERVER_ROWS
from millpond.pgcatalog.text_functions import NULLABLE_FUNCTIONS, TEXT_FUNCTIONS
from millpond.pgcatalog.types import element_of, is_list
from millpond.types import NUMERIC_UNCONSTRAINED_SCALE, SqlType

RESULT_ROWS_MAX = 1_000_000
"""A result is in memory as a whole; no catalog of ours is this large, a join without a condition may be."""

_VALUE_BYTES_MAX = 16 << 20
_STEPS_BETWEEN_CHECKS = 100_000
"""Steps of SQLite's machine, some milliseconds, after which it looks whether somebody canceled."""

_ZEROS = frozenset({"smallint", "integer", "bigint", "oid", "xid", "regproc", "real", "double precision", "boolean"})

_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})


class CatalogDatabase:
    """What a session knows of the catalog; used by one thread at a time."""

    def __init__(self) -> None:
        self._filled: set[tuple[str, str]] = set()
        self._failure: MillpondError | None = None
        self._objects: Objects | None = None
        self._functions: Mapping[str, Callable[..., object]] = {}

    @cached_property
    def _connection(self) -> sqlite3.Connection:
        """Most sessions never ask, and have no database then."""
        connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _VALUE_BYTES_MAX)
        for schema in (PG_CATALOG, INFORMATION_SCHEMA):
            connection.execute(f"ATTACH ':memory:' AS {schema}")
        for name in self._functions:
            connection.create_function(name, -1, self._guarded(name))
        # The stubs know only aggregates of one argument.
        connection.create_aggregate("mp_array_agg", -1, cast(Any, ArrayCollector))
        connection.create_aggregate("mp_string_agg", -1, cast(Any, StringCollector))
        connection.execute("SELECT 1 FROM json_each('[]')")  # declares itself when first used, as no query may
        return connection

    def query(
        self,
        text: str,
        columns: Sequence[tuple[str, SqlType]],
        relations: Iterable[Declared],
        objects: Objects,
        facts: SessionFacts,
        check_canceled: Callable[[], None],
    ) -> pa.Table:
        """The rows of a query, with columns c0, c1, ..."""
        self._see(objects, facts)
        for declared in relations:
            self._fill(declared, objects, facts)
        rows = self._run(text, check_canceled)
        values = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
        arrays = [_arrow(column, kind) for column, (_, kind) in zip(values, columns, strict=True)]
        return pa.table(arrays, names=[f"c{index}" for index in range(len(columns))])

    # -- filling -----------------------------------------------------------------------------------------------

    def _see(self, objects: Objects, facts: SessionFacts) -> None:
        """Forget what another state of the catalog had; the functions always tell of this one."""
        self._functions = {**TEXT_FUNCTIONS, **NULLABLE_FUNCTIONS, **CatalogFunctions(objects, facts).all()}
        if objects != self._objects:
            for key in list(self._filled):
                self._empty(key)
            self._objects = objects

    def _empty(self, key: tuple[str, str]) -> None:
        self._connection.execute('DROP TABLE {}."{}"'.format(*key))
        self._filled.remove(key)

    def _fill(self, declared: Declared, objects: Objects, facts: SessionFacts) -> None:
        if declared.name in _OF_SESSION and declared.key in self._filled:
            self._empty(declared.key)
        if declared.key in self._filled:
            return
        names = ", ".join(f'"{name}"' for name in declared.columns)
        marks = ", ".join("?" * len(declared.columns))
        self._connection.execute(f'CREATE TABLE {declared.schema}."{declared.name}" ({names})')
        self._filled.add(declared.key)
        rows = _rows(declared, objects, facts)
        self._connection.executemany(f'INSERT INTO {declared.schema}."{declared.name}" VALUES ({marks})', rows)

    def _guarded(self, name: str) -> Callable[..., Any]:
        """A function by name. SQLite reports no more of an error than that there was one, so it is kept aside."""

        def call(*arguments: object) -> Any:
            if None in arguments and name not in NULLABLE_FUNCTIONS:
                return None
            try:
                return self._functions[name](*arguments)
            except MillpondError as failure:
                self._failure = failure
                raise
            except (TypeError, ValueError, AttributeError, AssertionError, ArithmeticError) as failure:
                message = f"function {name} does not take these arguments"
                self._failure = MillpondError(SqlState.UNDEFINED_FUNCTION, message, detail=str(failure))
                raise

        return call

    # -- running -----------------------------------------------------------------------------------------------

    def _run(self, text: str, check_canceled: Callable[[], None]) -> list[tuple[Any, ...]]:
        self._failure = None

        def is_canceled() -> bool:
            try:
                check_canceled()
            except MillpondError as failure:
                self._failure = failure
            return self._failure is not None

        self._connection.set_authorizer(_authorize)
        self._connection.set_progress_handler(is_canceled, _STEPS_BETWEEN_CHECKS)
        try:
            rows = self._connection.execute(text).fetchmany(RESULT_ROWS_MAX + 1)
        except sqlite3.Error as failure:
            raise self._failure or _refused(failure) from failure
        finally:
            self._connection.set_authorizer(None)
            self._connection.set_progress_handler(None, 0)
        if len(rows) > RESULT_ROWS_MAX:
            message = f"a result about the catalog has at most {RESULT_ROWS_MAX} rows"
            raise MillpondError(SqlState.PROGRAM_LIMIT_EXCEEDED, message)
        return rows


_OF_SESSION = frozenset({"pg_settings", "pg_stat_activity", "pg_cursors"})
"""Relations that tell of the session, and change without the catalog."""


_ROWS = {PG_CATALOG: {**RELATION_ROWS, **SERVER_ROWS}, INFORMATION_SCHEMA: INFORMATION_ROWS}
"""By schema and name; a relation that is not here has no rows."""


def _authorize(action: int, *_details: object) -> int:
    """A query reads; whatever else a statement might do is refused."""
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _refused(failure: sqlite3.Error) -> MillpondError:
    """SQLite knows rules that nobody looked at before, such as where aggregates may stand."""
    if isinstance(failure, sqlite3.DataError):
        return MillpondError(SqlState.PROGRAM_LIMIT_EXCEEDED, f"a value is too large: {failure}")
    message = "this form of query over the system catalogs is not supported"
    return MillpondError(SqlState.FEATURE_NOT_SUPPORTED, message, detail=str(failure))


def _rows(declared: Declared, objects: Objects, facts: SessionFacts) -> Iterator[tuple[object, ...]]:
    made = _ROWS[declared.schema].get(declared.name)
    if made is None:
        return
    defaults = {name: _default(kind, declared) for name, kind in declared.columns.items()}
    for row in made(objects, facts):
        assert row.keys() <= declared.columns.keys(), row.keys() - declared.columns.keys()
        yield tuple(_stored(row.get(name, default)) for name, default in defaults.items())


def _default(kind: SqlType, declared: Declared) -> object:
    """What a column holds that nobody speaks of: in PostgreSQL those of fixed size are never NULL in tables."""
    if declared.schema != PG_CATALOG:
        return None
    if declared.kind == "r":
        return (
            0 if kind.name in _ZEROS else "" if kind.name == '"char"' else [] if kind.name.endswith("vector") else None
        )
    return False if kind.name == "boolean" else None


def _stored(value: object) -> object:
    if isinstance(value, list):
        return json.dumps(value)
    return value.isoformat() if isinstance(value, datetime) else value


def _arrow(values: Sequence[Any], kind: SqlType) -> pa.Array[Any]:
    """A column of the result as the type that was announced."""
    try:
        return _converted(values, kind)
    except (ValueError, TypeError, ArithmeticError, pa.ArrowException) as failure:
        message = f"a value does not fit the type {kind} of its column"
        raise MillpondError(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, message, detail=str(failure)) from failure


def _converted(values: Sequence[Any], kind: SqlType) -> pa.Array[Any]:
    if is_list(kind):
        lists = (None if value is None else json.loads(value) for value in values)
        convert = _CONVERSIONS[element_of(kind).name]
        made = [one if one is None else [None if item is None else convert(item) for item in one] for one in lists]
        return pa.array(made, kind.arrow)
    convert = _CONVERSIONS[kind.name]
    return pa.array([None if value is None else convert(value) for value in values], kind.arrow)


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value)


_CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {
    "boolean": bool,
    **dict.fromkeys(("smallint", "integer", "bigint", "oid"), int),
    **dict.fromkeys(("real", "double precision"), float),
    "bytea": bytes,
    "interval": lambda _value: None,
    "date": date.fromisoformat,
    **dict.fromkeys(("text", "varchar", "char", "name", '"char"', "json"), _text),
    **dict.fromkeys(("timestamp", "timestamptz"), datetime.fromisoformat),
    "numeric": lambda value: Decimal(str(value)).quantize(Decimal(1).scaleb(-NUMERIC_UNCONSTRAINED_SCALE)),
}
