r"""The catalog as `\d` shows it, asked for in SQL that a pond and PostgreSQL both answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from millpond.errors import closest
from millpond.shell.backend import Answer, AnswerColumn, StatementError

Ask = Callable[[str], Answer]
"""Runs a query; the shell's `execute`."""

_RELATIONS = """
SELECT table_schema, table_name, table_type FROM information_schema.tables
WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY table_schema, table_name"""

_COLUMNS = """
SELECT column_name, data_type, character_maximum_length, numeric_precision, numeric_scale, is_nullable, column_default
FROM information_schema.columns WHERE table_schema = {schema} AND table_name = {name} ORDER BY ordinal_position"""

_KEYS = """
SELECT c.constraint_name, c.constraint_type, k.column_name
FROM information_schema.table_constraints c JOIN information_schema.key_column_usage k
  ON k.constraint_schema = c.constraint_schema AND k.constraint_name = c.constraint_name AND k.table_name = c.table_name
WHERE c.constraint_schema = {schema} AND c.table_name = {name} AND c.constraint_type IN ('PRIMARY KEY', 'UNIQUE')
ORDER BY c.constraint_name, k.ordinal_position"""

_CHECKS = """
SELECT c.constraint_name, k.check_clause
FROM information_schema.table_constraints c JOIN information_schema.check_constraints k
  ON k.constraint_schema = c.constraint_schema AND k.constraint_name = c.constraint_name
WHERE c.constraint_schema = {schema} AND c.table_name = {name} AND k.check_clause NOT LIKE '% IS NOT NULL'
ORDER BY c.constraint_name"""

_OPTIONS = """
SELECT option_name, option_value FROM information_schema.foreign_table_options
WHERE foreign_table_schema = {schema} AND foreign_table_name = {name} ORDER BY option_name"""

_KINDS = {"BASE TABLE": "table", "FOREIGN": "stream", "FOREIGN TABLE": "stream", "VIEW": "view"}


@dataclass(frozen=True)
class Described:
    """A relation as the information schema names it."""

    schema: str
    name: str
    kind: str


def relations(ask: Ask) -> list[Described]:
    """All relations of the user's schemas."""
    rows = ask(_RELATIONS.strip()).rows
    return [Described(schema or "", name or "", _KINDS.get(kind or "", kind or "")) for schema, name, kind in rows]


def list_relations(ask: Ask, kind: str | None = None) -> Answer:
    """The relations of one kind, or of every kind, as a table."""
    rows: list[list[str | None]] = [
        [found.schema, found.name, found.kind] for found in relations(ask) if kind in (None, found.kind)
    ]
    columns = (AnswerColumn("Schema"), AnswerColumn("Name"), AnswerColumn("Type"))
    return Answer("SELECT", columns, rows)


def describe(ask: Ask, name: str) -> tuple[str, Answer]:
    """A title and the columns of the relation of that name."""
    found = _find(relations(ask), name)
    rows = ask(_COLUMNS.strip().format(schema=_literal(found.schema), name=_literal(found.name))).rows
    columns = tuple(AnswerColumn(header) for header in ("Column", "Type", "Nullable", "Default"))
    answer = Answer("SELECT", columns, [_column_row(row) for row in rows])
    return f'{found.kind.capitalize()} "{found.schema}.{found.name}"', answer


def footer(ask: Ask, name: str) -> list[str]:
    """What else is declared of a relation: keys and checks of a table, the options of a stream."""
    found = _find(relations(ask), name)
    if found.kind == "view":
        return []

    def rows(query: str) -> list[list[str | None]]:
        return ask(query.strip().format(schema=_literal(found.schema), name=_literal(found.name))).rows

    if found.kind == "stream":
        given = ", ".join(f"{option} {_literal(value or '')}" for option, value in rows(_OPTIONS))
        return ["Hidden columns: tid bigint, arrival_timestamp timestamp with time zone", f"Options: ({given})"]
    lines = []
    for (key, kind), columns in groupby(rows(_KEYS), key=lambda row: (row[0], row[1])):
        lines.append(f'    "{key}" {kind} ({", ".join(row[2] or "" for row in columns)})')
    checks = [f'    "{check}" CHECK ({clause})' for check, clause in rows(_CHECKS)]
    return [*(["Keys:"] if lines else []), *lines, *(["Check constraints:"] if checks else []), *checks]


def _find(candidates: list[Described], name: str) -> Described:
    schema, _, bare = name.rpartition(".")
    bare, schema = _unquote(bare), _unquote(schema)
    for candidate in candidates:
        if candidate.name == bare and schema in ("", candidate.schema):
            return candidate
    hint = closest(bare, [candidate.name for candidate in candidates])
    raise StatementError(f'did not find any relation named "{name}"', sqlstate="42P01", hint=hint)


def _column_row(row: list[str | None]) -> list[str | None]:
    name, data_type, length, precision, scale, nullable, default = row
    return [name, _type(data_type or "", length, precision, scale), "not null" if nullable == "NO" else None, default]


def _type(data_type: str, length: str | None, precision: str | None, scale: str | None) -> str:
    """The type with its length or precision, which the information schema keeps apart."""
    if data_type == "numeric" and precision is not None:
        return f"numeric({precision},{scale})"
    return f"{data_type}({length})" if length is not None else data_type


def _unquote(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name.lower()


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
