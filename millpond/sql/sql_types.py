"""Types between the parser and the catalog: sqlglot's type nodes to `SqlType` and back, with PostgreSQL's errors."""

from __future__ import annotations

from sqlglot import exp

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.types import (
    BIGINT,
    BOOLEAN,
    BYTEA,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    NUMERIC,
    NUMERIC_PRECISION_MAX,
    REAL,
    SMALLINT,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    VARCHAR,
    SqlType,
    array_of,
    char,
    numeric,
    varchar,
)

UNKNOWN = SqlType("unknown")
"""The type of a quoted literal or NULL until its surroundings decide."""

DType = exp.DataType.Type

_SIMPLE: dict[object, SqlType] = {
    DType.SMALLINT: SMALLINT,
    DType.SMALLSERIAL: SMALLINT,
    DType.INT: INTEGER,
    DType.SERIAL: INTEGER,
    DType.BIGINT: BIGINT,
    DType.BIGSERIAL: BIGINT,
    DType.FLOAT: REAL,
    DType.DOUBLE: DOUBLE,
    DType.BOOLEAN: BOOLEAN,
    DType.TEXT: TEXT,
    DType.NAME: TEXT,
    DType.VARBINARY: BYTEA,
    DType.DATE: DATE,
    DType.TIMESTAMP: TIMESTAMP,
    DType.TIMESTAMPNTZ: TIMESTAMP,
    DType.TIMESTAMPTZ: TIMESTAMPTZ,
    DType.INTERVAL: INTERVAL,
}

_REFUSED = {
    DType.JSON: "json",
    DType.JSONB: "jsonb",
    DType.UUID: "uuid",
    DType.MONEY: "money",
    DType.TIME: "time",
    DType.TIMETZ: "time with time zone",
    DType.XML: "xml",
    DType.INET: "inet",
    DType.BIT: "bit",
    DType.HSTORE: "hstore",
    DType.POINT: "point",
    DType.INT4RANGE: "int4range",
    DType.INT8RANGE: "int8range",
    DType.NUMRANGE: "numrange",
    DType.TSRANGE: "tsrange",
    DType.TSTZRANGE: "tstzrange",
    DType.DATERANGE: "daterange",
}

_BUILD: dict[str, exp.DType] = {
    "smallint": DType.SMALLINT,
    "integer": DType.INT,
    "bigint": DType.BIGINT,
    "real": DType.FLOAT,
    "double precision": DType.DOUBLE,
    "numeric": DType.DECIMAL,
    "boolean": DType.BOOLEAN,
    "text": DType.TEXT,
    "varchar": DType.VARCHAR,
    "char": DType.CHAR,
    "bytea": DType.VARBINARY,
    "date": DType.DATE,
    "timestamp": DType.TIMESTAMP,
    "timestamptz": DType.TIMESTAMPTZ,
    "interval": DType.INTERVAL,
}

INTERNAL_NAMES = {
    "smallint": "int2",
    "integer": "int4",
    "bigint": "int8",
    "real": "float4",
    "double precision": "float8",
    "boolean": "bool",
    "char": "bpchar",
}
"""PostgreSQL's catalog names where they differ from the SQL names; an unnamed cast's column is called by them."""


def type_name(sql_type: SqlType) -> str:
    """A type as errors about expressions name it: without precision or length.

    >>> type_name(numeric(10, 2)), type_name(varchar(5))
    ('numeric', 'character varying')
    """
    return str(SqlType(sql_type.name))


def to_sql_type(node: exp.Expr, *, position: int | None = None, arrays: bool = False) -> SqlType:
    """The type that a type node of the parser names; an array only where `arrays` have a place.

    >>> str(to_sql_type(exp.DataType.build("numeric(10,2)", dialect="postgres")))
    'numeric(10,2)'
    """
    if not isinstance(node, exp.DataType):
        raise not_supported(f"type {node.name.lower()}", position=position)
    kind = node.this
    if arrays and kind == DType.ARRAY and len(node.expressions) == 1:
        return array_of(to_sql_type(node.expressions[0], position=position))
    sizes = [_size(parameter, position) for parameter in node.expressions if isinstance(parameter, exp.DataTypeParam)]
    if kind == DType.DECIMAL:
        return _numeric(sizes, position)
    if kind in (DType.VARCHAR, DType.NVARCHAR):
        return varchar(_length("varchar", sizes, position)) if sizes else VARCHAR
    if kind in (DType.CHAR, DType.NCHAR):
        return char(_length("char", sizes, position) if sizes else 1)
    if kind == DType.BPCHAR:
        return char(_length("char", sizes, position)) if sizes else TEXT
    if kind == DType.DOUBLE and sizes:
        return _float(sizes[0], position)
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    raise _unusable(node, position)


def to_data_type(sql_type: SqlType) -> exp.DataType:
    """The parser's type node for a type, as a cast in the bound tree carries it."""
    if sql_type.is_array:
        return exp.DataType(this=DType.ARRAY, expressions=[to_data_type(sql_type.element)], nested=True)
    sizes: list[int] = []
    if sql_type.name == "numeric" and sql_type.precision is not None:
        sizes = [sql_type.precision, sql_type.scale or 0]
    elif sql_type.length is not None:
        sizes = [sql_type.length]
    parameters = [exp.DataTypeParam(this=exp.Literal.number(size)) for size in sizes]
    return exp.DataType(this=_BUILD[sql_type.name], expressions=parameters, nested=False)


def _numeric(sizes: list[int], position: int | None) -> SqlType:
    if not sizes:
        return NUMERIC
    precision, scale = sizes[0], sizes[1] if len(sizes) > 1 else 0
    if not 1 <= precision <= 1000:
        message = f"NUMERIC precision {precision} must be between 1 and 1000"
        raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, message, position=position)
    if precision > NUMERIC_PRECISION_MAX:
        hint = f"The largest precision is {NUMERIC_PRECISION_MAX}."
        raise not_supported(f"type numeric({precision},{scale})", hint=hint, position=position)
    if not 0 <= scale <= precision:
        hint = "Choose a scale between 0 and the precision."
        raise not_supported(f"type numeric({precision},{scale})", hint=hint, position=position)
    return numeric(precision, scale)


def _float(bits: int, position: int | None) -> SqlType:
    if bits < 1:
        message = "precision for type float must be at least 1 bit"
        raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, message, position=position)
    return REAL if bits <= 24 else DOUBLE


def _length(name: str, sizes: list[int], position: int | None) -> int:
    if sizes[0] < 1:
        message = f"length for type {name} must be at least 1"
        raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, message, position=position)
    return sizes[0]


def _size(parameter: exp.DataTypeParam, position: int | None) -> int:
    if not parameter.this.is_int:
        message = "type modifiers must be simple constants or identifiers"
        raise MillpondError(SqlState.SYNTAX_ERROR, message, position=position)
    return int(parameter.this.to_py())


def _unusable(node: exp.DataType, position: int | None) -> MillpondError:
    kind = node.this
    if isinstance(node, exp.ObjectIdentifier):
        hint = "Queries over pg_catalog alone may use it."
        return not_supported(f"type {node.name.lower()}", hint=hint, position=position)
    if kind == DType.ARRAY:
        element = node.expressions[0].sql("postgres").lower() if node.expressions else "anyelement"
        return not_supported(f"type {element}[]", hint="Use one row for each element.", position=position)
    if kind in _REFUSED:
        return not_supported(f"type {_REFUSED[kind]}", hint="Use text instead.", position=position)
    name = node.args["kind"].name if node.args.get("kind") else kind.value.lower()
    return MillpondError(SqlState.UNDEFINED_OBJECT, f'type "{name}" does not exist', position=position)
