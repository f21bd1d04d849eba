"""Casts in Spark SQL with PostgreSQL's meaning: how values are rounded, cut, read from text and shown as text."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from millpond.sql.array_literals import split_array
from millpond.sql.literals import FALSE_WORDS, TRUE_WORDS, interval_parts
from millpond.sql.nodes import is_typed, type_of
from millpond.sql.templates import fill, fill_like
from millpond.types import BOOLEAN, SqlType

_SPARK_TYPES = {"timestamptz": exp.DataType.Type.TIMESTAMPLTZ, "timestamp": exp.DataType.Type.TIMESTAMPNTZ}


def spark_type(sql_type: SqlType) -> exp.DataType:
    """The Spark type that holds values of a type, as a node for a cast."""
    if sql_type.is_array:
        return exp.DataType(this=exp.DataType.Type.ARRAY, expressions=[spark_type(sql_type.element)], nested=True)
    if sql_type.name == "numeric":
        sizes = (sql_type.decimal_precision, sql_type.decimal_scale)
        parameters = [exp.DataTypeParam(this=exp.Literal.number(size)) for size in sizes]
        return exp.DataType(this=exp.DataType.Type.DECIMAL, expressions=parameters)
    if sql_type.name in _SPARK_TYPES:
        return exp.DataType(this=_SPARK_TYPES[sql_type.name])
    return exp.DataType.build(sql_type.spark, dialect="spark")


def plain_cast(node: exp.Expr, target: SqlType) -> exp.Cast:
    """Spark's own cast to the type that holds the target."""
    return exp.Cast(this=node, to=spark_type(target))


def rewrite_cast(node: exp.Expr) -> exp.Expr:
    """One cast: `CAST(2.5 AS integer)` -> `CAST(ROUND(2.5, 0) AS INT)`."""
    if not (isinstance(node, exp.Cast) and is_typed(node)):
        return node
    target, inner = type_of(node), node.this
    if not is_typed(inner):
        return fill_like(node, "_1", plain_cast(inner, target))
    made = _converted(inner, type_of(inner), target, stored=node.args.get("action") == "assignment")
    return fill_like(node, "_1", made)


def _converted(node: exp.Expr, source: SqlType, target: SqlType, *, stored: bool) -> exp.Expr:
    if target.is_string:
        return _fit_length(to_text(node, source), target, stored=stored)
    if source.is_string:
        return _from_text(node, target)
    if target.is_integer and source.is_float:
        return plain_cast(fill("RINT(_1)", node), target)
    if target.name == "numeric" and source.is_float:
        # Spark would give NULL.
        template = "CASE WHEN ISNAN(_1) THEN RAISE_ERROR('0A000:NaN of type numeric is not supported') ELSE _2 END"
        return fill(template, node, plain_cast(node, target))
    if target.is_integer and source.name == "numeric" and source.decimal_scale > 0:
        return plain_cast(fill("ROUND(_1, 0)", node), target)
    return plain_cast(node, target)


def _fit_length(text: exp.Expr, target: SqlType, *, stored: bool) -> exp.Expr:
    """Text cut to varchar(n) or char(n); when stored, only blanks may be cut."""
    if target.length is None:
        return text
    length = exp.Literal.number(target.length)
    cut = "SUBSTRING(_1, 1, _2)"
    if stored:
        message = exp.Literal.string(f"22001:value too long for type {target}")
        cut = "CASE WHEN LENGTH(RTRIM(_1)) > _2 THEN RAISE_ERROR(_3) ELSE SUBSTRING(_1, 1, _2) END"
        made = fill(cut, text, length, message)
    else:
        made = fill(cut, text, length)
    return fill("RTRIM(_1)", made) if target.name == "char" else made


# Spark's DATE_PART moves whole days from the hours to the days; only its text of an interval tells them apart.
_INTERVAL_PART = "CAST(COALESCE(NULLIF(REGEXP_EXTRACT(CAST(_1 AS STRING), '(-?\\\\d+) {0}', 1), ''), '0') AS BIGINT)"
INTERVAL_DAYS = _INTERVAL_PART.format("days")
INTERVAL_HOURS = _INTERVAL_PART.format("hours")
INTERVAL_MICROS = (
    f"({INTERVAL_HOURS} * 3600000000 + CAST(DATE_PART('MINUTE', _1) * CAST(60000000 AS BIGINT)"
    " + DATE_PART('SECOND', _1) * 1000000 AS BIGINT))"
)

# Doubles print with an exponent from 1e15 on and below 1e-4, in between without; Java draws the lines elsewhere.
_FLOAT_TEXT = (
    "CASE WHEN ABS(_1) >= 1000000000000000D AND ABS(_1) < CAST('Infinity' AS DOUBLE) OR ABS(_1) < 0.0001D AND _1 <> 0"
    " THEN REGEXP_REPLACE(REGEXP_REPLACE(REGEXP_REPLACE(REGEXP_REPLACE(CAST(_1 AS STRING),"
    " '\\\\.0E', 'E'), 'E(\\\\d)', 'e+$1'), 'E-', 'e-'), 'e([+-])(\\\\d)$', 'e$10$2')"
    " WHEN ABS(_1) >= 10000000D AND ABS(_1) < 1000000000000000D OR ABS(_1) < 0.001D AND _1 <> 0"
    " THEN REGEXP_REPLACE(CAST(CAST(CAST(_1 AS STRING) AS DECIMAL(38,20)) AS STRING), '\\\\.?0+$', '')"
    " ELSE REGEXP_REPLACE(CAST(_1 AS STRING), '\\\\.0$', '') END"
)
_INTERVAL_PARTS = (
    "ARRAY_JOIN(ARRAY_COMPACT(ARRAY("
    " CASE WHEN DATE_PART('YEAR', _1) <> 0 THEN CONCAT(DATE_PART('YEAR', _1), ' year',"
    " CASE WHEN DATE_PART('YEAR', _1) = 1 THEN '' ELSE 's' END) END,"
    " CASE WHEN DATE_PART('MONTH', _1) <> 0 THEN CONCAT(DATE_PART('MONTH', _1), ' mon',"
    " CASE WHEN DATE_PART('MONTH', _1) = 1 THEN '' ELSE 's' END) END,"
    " CASE WHEN <DAYS> <> 0 THEN CONCAT("
    " CASE WHEN <DAYS> > 0 AND DATE_PART('YEAR', _1) * 12 + DATE_PART('MONTH', _1) < 0 THEN '+' ELSE '' END,"
    " <DAYS>, ' day', CASE WHEN <DAYS> = 1 THEN '' ELSE 's' END) END,"
    " CASE WHEN _2 <> 0 OR (DATE_PART('YEAR', _1) = 0 AND DATE_PART('MONTH', _1) = 0 AND <DAYS> = 0)"
    " THEN CONCAT(CASE WHEN _2 < 0 THEN '-' WHEN <DAYS> < 0 OR <DAYS> = 0 AND"
    " DATE_PART('YEAR', _1) * 12 + DATE_PART('MONTH', _1) < 0 THEN '+' ELSE '' END,"
    " LPAD(CAST(ABS(_2) DIV 3600000000 AS STRING), GREATEST(2, LENGTH(CAST(ABS(_2) DIV 3600000000 AS STRING))), '0'),"
    " ':', LPAD(CAST(ABS(_2) DIV 60000000 % 60 AS STRING), 2, '0'),"
    " ':', LPAD(CAST(ABS(_2) DIV 1000000 % 60 AS STRING), 2, '0'),"
    " CASE WHEN ABS(_2) % 1000000 = 0 THEN ''"
    " ELSE RTRIM('0', CONCAT('.', LPAD(CAST(ABS(_2) % 1000000 AS STRING), 6, '0'))) END) END)), ' ')"
)
_INTERVAL_TEXT = _INTERVAL_PARTS.replace("<DAYS>", INTERVAL_DAYS).replace("_2", INTERVAL_MICROS)


def to_text(node: exp.Expr, source: SqlType) -> exp.Expr:
    """A value as PostgreSQL shows it in text."""
    if source.is_string:
        return node
    if source.is_float:
        return fill(_FLOAT_TEXT, node)
    if source.name == "numeric" and source.precision is None:
        return fill("REGEXP_REPLACE(CAST(_1 AS STRING), '\\\\.?0+$', '')", node)
    if source.name == "timestamptz":
        return fill("CONCAT(CAST(_1 AS STRING), '+00')", node)
    if source.name == "interval":
        return fill(f"CASE WHEN _1 IS NOT NULL THEN {_INTERVAL_TEXT} END", node)
    if source.name == "bytea":
        return fill("CONCAT('\\\\x', LOWER(HEX(_1)))", node)
    if source.is_array:
        return _array_text(node, source.element)
    return fill("CAST(_1 AS STRING)", node)


_QUOTED_ELEMENT = (
    "CASE WHEN _1 IS NULL THEN 'NULL' WHEN _1 RLIKE '^$|^(?i:null)$|[{},\"\\\\\\\\\\\\s]'"
    " THEN CONCAT('\"', REGEXP_REPLACE(_1, '([\"\\\\\\\\])', '\\\\\\\\$1'), '\"') ELSE _1 END"
)


def _array_text(array: exp.Expr, element: SqlType) -> exp.Expr:
    """`{1,NULL,"a b"}`."""
    value = exp.Column(this=exp.to_identifier("x"))
    # A boolean by itself is cast to `true`; only its output function says `t`.
    text = fill("SUBSTRING(CAST(_1 AS STRING), 1, 1)", value) if element == BOOLEAN else to_text(value, element)
    quoted = exp.Lambda(this=fill(_QUOTED_ELEMENT, text), expressions=[exp.to_identifier("x")])
    return fill("CONCAT('{', ARRAY_JOIN(TRANSFORM(_1, _2), ','), '}')", array, quoted)


def _from_text(node: exp.Expr, target: SqlType) -> exp.Expr:
    if isinstance(node, exp.Literal) and target.is_array:
        return _array_literal(node.this, target)
    if isinstance(node, exp.Literal) and target.name in _LITERALS:
        return _LITERALS[target.name](node.this)
    if target.name == "boolean":
        return _boolean_from_text(node)
    if target.name == "bytea":
        return fill("CASE WHEN STARTSWITH(_1, '\\\\x') THEN UNHEX(SUBSTRING(_1, 3)) ELSE CAST(_1 AS BINARY) END", node)
    return plain_cast(node, target)


def _boolean_from_text(node: exp.Expr) -> exp.Expr:
    true_words = [exp.Literal.string(word) for word in TRUE_WORDS]
    false_words = [exp.Literal.string(word) for word in FALSE_WORDS]
    word = fill("LOWER(TRIM(_1))", node)
    return fill(
        "CASE WHEN _1 IS NULL THEN NULL WHEN _2 THEN TRUE WHEN _3 THEN FALSE"
        " ELSE RAISE_ERROR(CONCAT('22P02:invalid input syntax for type boolean: \"', _1, '\"')) END",
        node,
        exp.In(this=word, expressions=true_words),
        exp.In(this=word.copy(), expressions=false_words),
    )


def _interval_literal(text: str) -> exp.Expr:
    """`CAST('1 day 02:00:00' AS interval)` -> `MAKE_INTERVAL(0, 0, 0, 1, 0, 0, 7200.000000)`."""
    value = interval_parts(text)
    seconds, micros = divmod(abs(value.micros), 1_000_000)
    numbers = [_integer(value.months), _integer(value.days)]
    fraction: exp.Expr = exp.Literal.number(f"{seconds}.{micros:06d}")
    return fill("MAKE_INTERVAL(0, _1, 0, _2, 0, 0, _3)", *numbers, _signed(fraction, value.micros))


def _integer(value: int) -> exp.Expr:
    return _signed(exp.Literal.number(str(abs(value))), value)


def _signed(node: exp.Expr, value: int) -> exp.Expr:
    return exp.Neg(this=node) if value < 0 else node


def _bytea_literal(text: str) -> exp.Expr:
    return fill("UNHEX(_1)", exp.Literal.string(text[2:]))


def _array_literal(text: str, target: SqlType) -> exp.Expr:
    """`CAST('{1,NULL}' AS integer[])` -> `CAST(ARRAY(CAST('1' AS INT), NULL) AS ARRAY<INT>)`."""
    elements = [
        exp.Null() if one is None else _from_text(exp.Literal.string(one), target.element) for one in split_array(text)
    ]
    return plain_cast(exp.Anonymous(this="ARRAY", expressions=elements), target)


_LITERALS: dict[str, Callable[[str], exp.Expr]] = {"interval": _interval_literal, "bytea": _bytea_literal}
