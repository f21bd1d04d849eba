"""Types of values on the way to SQLite: what a cast does, and what unknown literals become beside typed values."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlglot import exp

from millpond.errors import MillpondError, SqlState
from millpond.pgcatalog.array_text import read_array
from millpond.pgcatalog.types import element_of, find_type, is_list
from millpond.sql.nodes import fold, position_of
from millpond.sql.sql_types import UNKNOWN
from millpond.sql.sqlite.scope import Sql, Statement, UntranslatableError, string
from millpond.types import BIGINT, BOOLEAN, DOUBLE, INTEGER, NUMERIC, SMALLINT, TEXT, SqlType, array_of

OID = SqlType("oid")
NAME = SqlType("name")
CHAR = SqlType('"char"')
RECORD = SqlType("record")

_INTEGERS = ("smallint", "integer", "oid", "bigint")
"""In the order in which one widens to the next."""

_TEXTS = ("unknown", '"char"', "name", "char", "varchar", "text")
"""In the order in which one gives way to the next."""

OBJECTS = ("regclass", "regtype", "regproc", "regnamespace", "regrole")
"""Oids that are read and shown as names."""

_NUMBERS = (*_INTEGERS, "real", "double precision", "numeric")

_TRUE = frozenset({"t", "true", "y", "yes", "on", "1"})
_FALSE = frozenset({"f", "false", "n", "no", "off", "0"})


def array_type(element: SqlType) -> SqlType:
    """The type of an array with such elements."""
    if is_list(element) or element == RECORD:
        raise UntranslatableError(f"an array of {element.name}")
    return array_of(TEXT if element == UNKNOWN else element)


def is_text(sql_type: SqlType) -> bool:
    return sql_type.name in _TEXTS


def is_number(sql_type: SqlType) -> bool:
    return sql_type.name in _NUMBERS


def written_type(node: exp.Expr) -> SqlType:
    """The type that a cast names."""
    if isinstance(node, exp.DataType) and node.this == exp.DataType.Type.ARRAY and node.expressions:
        return array_of(written_type(node.expressions[0]))
    name = _written_name(node)
    found = find_type(name)
    if found is None:
        raise MillpondError(SqlState.UNDEFINED_OBJECT, f'type "{name}" does not exist', position=position_of(node))
    return found.sql_type


def _written_name(node: exp.Expr) -> str:
    if isinstance(node, exp.DataType) and node.this == exp.DataType.Type.USERDEFINED:
        kind = node.args["kind"]
        last = kind.expression if isinstance(kind, exp.Dot) else kind
        return fold(last) if isinstance(last, exp.Identifier) else str(last).lower()
    if isinstance(node, exp.DataType):
        bare = exp.DataType(this=node.this)
        return {"char": "bpchar"}.get(name := bare.sql("postgres").lower(), name)
    return node.name.lower()


def coerced(sql: Sql, target: SqlType, statement: Statement) -> Sql:
    """A literal or parameter whose type is open, as the type of its place; anything else as it is."""
    if sql.parameter is not None:
        statement.parameters.setdefault(sql.parameter, _plain(target))
    if sql.type != UNKNOWN or target == UNKNOWN:
        return sql
    if sql.literal is None:
        return Sql(sql.text, target)
    return literal_of(sql.literal, target)


def literal_of(text: str, target: SqlType) -> Sql:
    """A string literal read as a type."""
    if target.name == "boolean":
        return Sql(str(int(_boolean(text))), target)
    if target.name in _INTEGERS or (target.name in OBJECTS and text.isdigit()):
        return Sql(str(_integer(text, target)), target)
    if target.name in OBJECTS:
        return Sql(f"mp_{target.name}_in({string(text)})", target)
    if is_list(target):
        return Sql(string(json.dumps(read_array(text, element_of(target)))), target)
    return Sql(string(text), target, text if is_text(target) else None)


def _plain(target: SqlType) -> SqlType:
    """What a parameter is announced as: types that any client knows to send."""
    if target.is_array:
        return array_of(_plain(target.element))
    return TEXT if is_text(target) or target.name in OBJECTS else target


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE | _FALSE:
        raise MillpondError(SqlState.INVALID_TEXT_REPRESENTATION, f'invalid input syntax for type boolean: "{text}"')
    return word in _TRUE


def _integer(text: str, target: SqlType) -> int:
    try:
        return int(text)
    except ValueError:
        message = f'invalid input syntax for type {target}: "{text}"'
        raise MillpondError(SqlState.INVALID_TEXT_REPRESENTATION, message) from None


def matched(left: Sql, right: Sql, statement: Statement) -> tuple[Sql, Sql]:
    """Two sides of a comparison, of which one may decide the type of the other."""
    return coerced(left, right.type, statement), coerced(right, left.type, statement)


def common(values: Sequence[Sql], statement: Statement) -> tuple[list[Sql], SqlType]:
    """Values that meet in one column, and its type."""
    target = common_type([value.type for value in values])
    met = [coerced(value, target, statement) for value in values]
    return [cast(value, target) if _is_shown(value.type, target) else value for value in met], target


def _is_shown(source: SqlType, target: SqlType) -> bool:
    return is_text(target) and not is_text(source)


def common_type(types: Sequence[SqlType]) -> SqlType:
    """The type in which values of several types meet."""
    known = [one for one in types if one != UNKNOWN]
    if not known:
        return UNKNOWN
    first = known[0]
    for other in known[1:]:
        first = _wider(first, other)
    return first


def _wider(one: SqlType, other: SqlType) -> SqlType:
    for ladder in (_TEXTS, _NUMBERS):
        if one.name in ladder and other.name in ladder:
            return one if ladder.index(one.name) >= ladder.index(other.name) else other
    return TEXT if is_text(other) and one != other else one


def arithmetic_type(one: SqlType, other: SqlType) -> SqlType:
    """The type of a sum, a difference, a product."""
    wider = common_type([one, other])
    if wider == OID:
        return BIGINT
    if wider == SMALLINT and UNKNOWN in (one, other):
        return INTEGER
    return wider if is_number(wider) else INTEGER if wider == UNKNOWN else wider


def total_type(name: str, argument: SqlType) -> SqlType:
    """The type of sum or avg."""
    if argument.name in ("real", "double precision"):
        return argument if name == "sum" else DOUBLE
    return BIGINT if name == "sum" and argument.name in ("smallint", "integer") else NUMERIC


def cast(sql: Sql, target: SqlType) -> Sql:
    """A value as another type."""
    source = sql.type
    if source == target:
        return sql
    if sql.literal is not None and is_text(source):
        return (
            literal_of(sql.literal, target) if target != CHAR else Sql(string(sql.literal[:1]), CHAR, sql.literal[:1])
        )
    if is_text(target):
        return Sql(_as_text(sql, target), target)
    if target.name in OBJECTS:
        return Sql(f"mp_{target.name}_in({sql.text})" if is_text(source) else sql.text, target)
    if target.name in _INTEGERS:
        return Sql(f"mp_integer({sql.text})" if is_text(source) else f"CAST({sql.text} AS INTEGER)", target)
    if target == BOOLEAN:
        return Sql(f"mp_boolean({sql.text})" if is_text(source) else f"({sql.text} <> 0)", target)
    if is_list(target):
        if is_text(source):
            return Sql(f"mp_array_in({sql.text}, {string(element_of(target).name)})", target)
        return Sql(sql.text, target)
    if target.name in ("real", "double precision"):
        return Sql(f"CAST({sql.text} AS REAL)", target)
    if target.name == "numeric":
        return Sql(f"CAST({sql.text} AS NUMERIC)", target)
    if target.name == "date":
        return Sql(f"substr({sql.text}, 1, 10)", target)
    return Sql(sql.text, target)


def _as_text(sql: Sql, target: SqlType) -> str:
    source = sql.type
    if target == CHAR:
        return f"substr({sql.text}, 1, 1)"
    if is_text(source):
        return sql.text
    if source == BOOLEAN:
        return f"CASE {sql.text} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
    if source.name in OBJECTS:
        return f"mp_{source.name}_out({sql.text})"
    if is_list(source):
        return f"mp_array_out({sql.text}, {string(source.name)})"
    if source == RECORD:
        raise UntranslatableError("a record as text")
    return f"CAST({sql.text} AS TEXT)"


_SHOWN_AS_TEXT = ("unknown", *OBJECTS, "xid", "pg_node_tree", "pg_lsn", "inet", "record", "anyarray", "jsonb", "void")


def shown(sql: Sql) -> Sql:
    """A value of the result: types that few clients know are shown as text."""
    if sql.type.is_array and sql.type.element.name in (*_SHOWN_AS_TEXT, "aclitem"):
        return Sql(sql.text, array_of(TEXT))
    if sql.type.name not in _SHOWN_AS_TEXT:
        return sql
    return Sql(sql.text, TEXT) if sql.type in (UNKNOWN, RECORD) else cast(sql, TEXT)
