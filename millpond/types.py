"""The SQL types a column can have, and what each is in Arrow and in Spark.

Pure data: the conversion of values is in `values.py`, of sqlglot's type nodes in `sql/`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pyarrow as pa

from millpond.errors import not_supported

NUMERIC_PRECISION_MAX = 38
"""Digits of Spark's and Arrow's widest decimal."""

NUMERIC_UNCONSTRAINED_SCALE = 18
"""Digits after the point of a `numeric` declared without precision: half of what a decimal holds."""


@dataclass(frozen=True)
class SqlType:
    """A type as PostgreSQL names it; `numeric` has precision and scale, `varchar` and `char` a length.

    The name of an array ends with `[]`; what else it has is its elements'.
    """

    name: str
    precision: int | None = None
    scale: int | None = None
    length: int | None = None

    def __str__(self) -> str:
        """The type as `format_type` of PostgreSQL prints it.

        >>> str(numeric(10, 2)), str(varchar(5)), str(TIMESTAMPTZ)
        ('numeric(10,2)', 'character varying(5)', 'timestamp with time zone')
        """
        if self.is_array:
            return f"{self.element}[]"
        long_name = _LONG_NAMES.get(self.name, self.name)
        if self.name == "numeric" and self.precision is not None:
            return f"numeric({self.precision},{self.scale})"
        return f"{long_name}({self.length})" if self.length is not None else long_name

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type that holds it, in memory and in Parquet."""
        if self.is_array:
            return pa.list_(pa.field("element", self.element.arrow))
        if self.name == "numeric":
            return pa.decimal128(self.decimal_precision, self.decimal_scale)
        return _ARROW[self.name]

    @property
    def spark(self) -> str:
        """The Spark SQL type that holds it."""
        if self.is_array:
            return f"ARRAY<{self.element.spark}>"
        if self.name == "numeric":
            return f"DECIMAL({self.decimal_precision},{self.decimal_scale})"
        return _SPARK[self.name]

    @property
    def decimal_precision(self) -> int:
        return NUMERIC_PRECISION_MAX if self.precision is None else self.precision

    @property
    def decimal_scale(self) -> int:
        if self.scale is not None:
            return self.scale
        return NUMERIC_UNCONSTRAINED_SCALE if self.precision is None else 0

    @property
    def is_array(self) -> bool:
        return self.name.endswith(_ARRAY_MARK)

    @property
    def element(self) -> SqlType:
        """The type of an array's elements."""
        return replace(self, name=self.name.removesuffix(_ARRAY_MARK))

    @property
    def is_integer(self) -> bool:
        return self.name in ("smallint", "integer", "bigint")

    @property
    def is_float(self) -> bool:
        return self.name in ("real", "double precision")

    @property
    def is_number(self) -> bool:
        return self.is_integer or self.is_float or self.name == "numeric"

    @property
    def is_string(self) -> bool:
        return self.name in ("text", "varchar", "char")


_ARRAY_MARK = "[]"

SMALLINT = SqlType("smallint")
INTEGER = SqlType("integer")
BIGINT = SqlType("bigint")
REAL = SqlType("real")
DOUBLE = SqlType("double precision")
NUMERIC = SqlType("numeric")
BOOLEAN = SqlType("boolean")
TEXT = SqlType("text")
VARCHAR = SqlType("varchar")
BYTEA = SqlType("bytea")
DATE = SqlType("date")
TIMESTAMP = SqlType("timestamp")
TIMESTAMPTZ = SqlType("timestamptz")
INTERVAL = SqlType("interval")


def numeric(precision: int, scale: int = 0) -> SqlType:
    return SqlType("numeric", precision=precision, scale=scale)


def varchar(length: int) -> SqlType:
    return SqlType("varchar", length=length)


def char(length: int = 1) -> SqlType:
    """Blank-padded text. It is stored without its trailing blanks, which never count, and padded when shown."""
    return SqlType("char", length=length)


def array_of(element: SqlType) -> SqlType:
    """The array of one dimension with such elements.

    >>> str(array_of(numeric(10, 2))), array_of(INTEGER).spark
    ('numeric(10,2)[]', 'ARRAY<INT>')
    """
    return replace(element, name=f"{element.name}{_ARRAY_MARK}")


_LONG_NAMES = {
    "varchar": "character varying",
    "char": "character",
    "timestamp": "timestamp without time zone",
    "timestamptz": "timestamp with time zone",
}

_ARROW: dict[str, pa.DataType] = {
    "smallint": pa.int16(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "real": pa.float32(),
    "double precision": pa.float64(),
    "boolean": pa.bool_(),
    "text": pa.string(),
    "varchar": pa.string(),
    "char": pa.string(),
    "bytea": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", tz="UTC"),
    "interval": pa.month_day_nano_interval(),
    # Types that only the system catalogs have.
    "oid": pa.int64(),
    "name": pa.string(),
    '"char"': pa.string(),
    "int2vector": pa.list_(pa.field("element", pa.int16())),
    "oidvector": pa.list_(pa.field("element", pa.int64())),
    "json": pa.string(),
}

_SPARK = {
    "smallint": "SMALLINT",
    "integer": "INT",
    "bigint": "BIGINT",
    "real": "FLOAT",
    "double precision": "DOUBLE",
    "boolean": "BOOLEAN",
    "text": "STRING",
    "varchar": "STRING",
    "char": "STRING",
    "bytea": "BINARY",
    "date": "DATE",
    "timestamp": "TIMESTAMP_NTZ",
    "timestamptz": "TIMESTAMP",
    "interval": "INTERVAL",
}


def from_arrow(arrow: pa.DataType) -> SqlType:
    """The SQL type of an Arrow column that nobody declared.

    >>> str(from_arrow(pa.decimal128(12, 2))), str(from_arrow(pa.large_string()))
    ('numeric(12,2)', 'text')
    """
    if pa.types.is_decimal(arrow):
        return numeric(arrow.precision, arrow.scale)
    if pa.types.is_dictionary(arrow):
        return from_arrow(arrow.value_type)
    if pa.types.is_list(arrow):
        return array_of(from_arrow(arrow.value_type))
    if pa.types.is_timestamp(arrow):
        return TIMESTAMP if arrow.tz is None else TIMESTAMPTZ
    for matches, sql_type in _FROM_ARROW:
        if matches(arrow):
            return sql_type
    raise not_supported(f"the Arrow type {arrow}")


_FROM_ARROW: tuple[tuple[Callable[[pa.DataType], bool], SqlType], ...] = (
    (pa.types.is_boolean, BOOLEAN),
    (lambda arrow: arrow in (pa.int8(), pa.int16(), pa.uint8()), SMALLINT),
    (lambda arrow: arrow in (pa.int32(), pa.uint16()), INTEGER),
    (lambda arrow: arrow in (pa.int64(), pa.uint32()), BIGINT),
    (lambda arrow: arrow == pa.uint64(), numeric(20, 0)),
    (lambda arrow: arrow in (pa.float16(), pa.float32()), REAL),
    (pa.types.is_float64, DOUBLE),
    (lambda arrow: pa.types.is_string(arrow) or pa.types.is_large_string(arrow) or arrow == pa.string_view(), TEXT),
    (lambda arrow: pa.types.is_binary(arrow) or pa.types.is_large_binary(arrow), BYTEA),
    (pa.types.is_date, DATE),
    (pa.types.is_null, TEXT),
    (lambda arrow: arrow == pa.month_day_nano_interval() or pa.types.is_duration(arrow), INTERVAL),
)
