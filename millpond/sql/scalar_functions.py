"""Rows of the function table: numbers, text, bytes and conditionals."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from millpond.sql import formats
from millpond.sql.functions import Function, row
from millpond.sql.nodes import unwrapped
from millpond.sql.operators import numeric_result
from millpond.types import NUMERIC, NUMERIC_PRECISION_MAX, SqlType, numeric


def _literal_places(nodes: Sequence[exp.Expr]) -> int | None:
    """The number of places in `round(x, 2)`, if it is written out."""
    node = unwrapped(nodes[1]) if len(nodes) > 1 else None
    if isinstance(node, exp.Neg) and isinstance(unwrapped(node.this), exp.Literal):
        return -int(unwrapped(node.this).this)
    return int(node.this) if isinstance(node, exp.Literal) and node.is_int else None


def _whole_type(types: Sequence[SqlType], _nodes: Sequence[exp.Expr]) -> SqlType:
    """A numeric without its fraction; rounding may add a digit."""
    given = types[0]
    if given.precision is None:
        return NUMERIC
    return numeric(min(given.precision - given.decimal_scale + 1, NUMERIC_PRECISION_MAX), 0)


def _places_type(types: Sequence[SqlType], nodes: Sequence[exp.Expr]) -> SqlType:
    places = _literal_places(nodes)
    given = types[0]
    if places is None or places < 0:
        return NUMERIC
    whole = given.decimal_precision - given.decimal_scale + 1
    return numeric(whole + places, places) if whole + places <= NUMERIC_PRECISION_MAX else NUMERIC


def _real_number_type(_types: Sequence[SqlType], _nodes: Sequence[exp.Expr]) -> SqlType:
    return _REAL_NUMBER


def _remainder_type(types: Sequence[SqlType], _nodes: Sequence[exp.Expr]) -> SqlType:
    return numeric_result(exp.Mod, types[0], types[1])


_REAL_NUMBER = numeric(38, 16)
"""The type of a root, power or logarithm of exact numbers, which is computed as a double: it has 16 digits or so."""

# Beyond 2^53 a double has no fraction, and Spark's FLOOR and CEIL would leave the range of bigint.
_DOUBLE_ROUND = "CASE WHEN ABS(_1) < 9007199254740992D THEN CAST({0}(_1) AS DOUBLE) ELSE _1 END"
_TRUNCATE = "CASE WHEN _1 < 0 THEN CEIL(_1) ELSE FLOOR(_1) END"
_TRUNCATE_PLACES = "CASE WHEN _1 < 0 THEN CEIL(_1, _2) ELSE FLOOR(_1, _2) END"

_DOUBLE_FUNCTIONS: tuple[str, ...] = (
    "sin",
    "cos",
    "tan",
    "cot",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "cbrt",
)
_RADIANS_PER_DEGREE = "0.017453292519943295D"

_LOG_CHECK = (
    "CASE WHEN _1 = 0 THEN RAISE_ERROR('2201E:cannot take logarithm of zero')"
    " WHEN _1 < 0 THEN RAISE_ERROR('2201E:cannot take logarithm of a negative number') ELSE {0}(_1) END"
)
_ROOT_CHECK = (
    "CASE WHEN _1 < 0 THEN RAISE_ERROR('2201F:cannot take square root of a negative number') ELSE SQRT(_1) END"
)
_EXPONENTIAL = (
    "CASE WHEN EXP(_1) = CAST('Infinity' AS DOUBLE) AND _1 < CAST('Infinity' AS DOUBLE)"
    " THEN RAISE_ERROR('22003:value out of range: overflow')"
    " WHEN EXP(_1) = 0 AND _1 > CAST('-Infinity' AS DOUBLE) THEN RAISE_ERROR('22003:value out of range: underflow')"
    " ELSE EXP(_1) END"
)
_POWER = (
    "CASE WHEN _1 = 0 AND _2 < 0 THEN RAISE_ERROR('2201F:zero raised to a negative power is undefined')"
    " WHEN _1 < 0 AND _1 > CAST('-Infinity' AS DOUBLE) AND _2 <> RINT(_2)"
    " THEN RAISE_ERROR('2201F:a negative number raised to a non-integer power yields a complex result')"
    " WHEN ABS(POWER(_1, _2)) = CAST('Infinity' AS DOUBLE) AND ABS(_1) < CAST('Infinity' AS DOUBLE)"
    " AND ABS(_2) < CAST('Infinity' AS DOUBLE) THEN RAISE_ERROR('22003:value out of range: overflow')"
    " ELSE POWER(_1, _2) END"
)
_LOG_TO_BASE = "CAST(LOG(CAST(_1 AS DOUBLE), CAST(_2 AS DOUBLE)) AS DECIMAL(38,16))"
_INVERSE_SINE = (
    "CASE WHEN ABS(_1) > 1 AND NOT ISNAN(_1) THEN RAISE_ERROR('22003:input is out of range') ELSE {0}(_1) END"
)


def _inexact(name: str, template: str, count: int = 1) -> tuple[Function, ...]:
    """A function of doubles, and the same of exact numbers by way of doubles."""
    doubles = re.sub(r"_(\d)", r"CAST(_\1 AS DOUBLE)", template)
    return (
        row(name, f"{' '.join(['double'] * count)} -> double", template),
        row(
            name, f"{' '.join(['numeric'] * count)} ->", f"CAST({doubles} AS DECIMAL(38,16))", result=_real_number_type
        ),
    )


_WIDTH_BUCKET = (
    "CASE WHEN _4 <= 0 THEN RAISE_ERROR('2201G:count must be greater than zero')"
    " WHEN _2 = _3 THEN RAISE_ERROR('2201G:lower bound cannot equal upper bound')"
    " ELSE CAST(WIDTH_BUCKET(_1, _2, _3, _4) AS INT) END"
)
# Beyond 20! Spark gives NULL.
_FACTORIAL = (
    "CASE WHEN _1 < 0 THEN RAISE_ERROR('22003:factorial of a negative number is undefined')"
    " WHEN _1 > 20 THEN RAISE_ERROR('22003:value overflows numeric format')"
    " ELSE CAST(FACTORIAL(CAST(_1 AS INT)) AS DECIMAL(38,0)) END"
)

_NUMBERS = (
    row("abs", "number -> first", "ABS(_1)"),
    row("sign", "numeric ->", "CAST(SIGN(_1) AS DECIMAL(1,0))", result=lambda _types, _nodes: numeric(1, 0)),
    row("sign", "double -> double", "CASE WHEN ISNAN(_1) THEN 0D ELSE SIGN(_1) END"),
    row("floor", "double -> double", _DOUBLE_ROUND.format("FLOOR")),
    *(row(name, "double -> double", _DOUBLE_ROUND.format("CEIL")) for name in ("ceil", "ceiling")),
    row("floor", "numeric ->", "FLOOR(_1)", result=_whole_type),
    *(row(name, "numeric ->", "CEIL(_1)", result=_whole_type) for name in ("ceil", "ceiling")),
    row("round", "double -> double", "RINT(_1)"),
    row("round", "numeric ->", "ROUND(_1, 0)", result=_whole_type),
    row("round", "numeric integer ->", "ROUND(_1, _2)", result=_places_type),
    row("trunc", "double -> double", "CASE WHEN ABS(_1) < 9007199254740992D THEN _1 - _1 % 1D ELSE _1 END"),
    row("trunc", "numeric ->", _TRUNCATE, result=_whole_type),
    row("trunc", "numeric integer ->", _TRUNCATE_PLACES, result=_places_type),
    *(row("mod", f"{name} {name} -> {name}", "_1 % _2") for name in ("smallint", "integer", "bigint")),
    row("mod", "numeric numeric ->", "_1 % _2", result=_remainder_type),
    row("div", "numeric numeric -> numeric(38,0)", "CAST(_1 DIV _2 AS DECIMAL(38,0))"),
    *_inexact("power", _POWER, 2),
    *_inexact("pow", _POWER, 2),
    *_inexact("sqrt", _ROOT_CHECK),
    *_inexact("exp", _EXPONENTIAL),
    *_inexact("ln", _LOG_CHECK.format("LN")),
    *_inexact("log", _LOG_CHECK.format("LOG10")),
    *_inexact("log10", _LOG_CHECK.format("LOG10")),
    row(
        "log",
        "numeric numeric ->",
        "CAST(LOG(CAST(_1 AS DOUBLE), CAST(_2 AS DOUBLE)) AS DECIMAL(38,16))",
        result=_real_number_type,
    ),
    *(row(name, "double -> double", _INVERSE_SINE.format(name.upper())) for name in ("asin", "acos")),
    row("atan2", "double double -> double", "ATAN2(_1, _2)"),
    *(row(name, "double -> double", f"{name.upper()}(_1)") for name in _DOUBLE_FUNCTIONS),
    row("degrees", "double -> double", f"_1 / {_RADIANS_PER_DEGREE}"),
    row("radians", "double -> double", f"_1 * {_RADIANS_PER_DEGREE}"),
    row("pi", "-> double", "PI()"),
    row("random", "-> double", "RAND()", volatile=True),
    row("factorial", "bigint -> numeric(38,0)", _FACTORIAL),
    row("to_hex", "integer -> text", "LOWER(HEX(CAST(_1 AS BIGINT) & 4294967295))"),
    row("to_hex", "bigint -> text", "LOWER(HEX(_1))"),
    row("width_bucket", "double double double integer -> integer", _WIDTH_BUCKET),
    row("bit_count", "bytea -> bigint", "CAST(LENGTH(REPLACE(CONV(HEX(_1), 16, 2), '0', '')) AS BIGINT)"),
)

_SUBSTRING_FOR = (
    "CASE WHEN _3 < 0 THEN RAISE_ERROR('22011:negative substring length not allowed')"
    " ELSE SUBSTRING(_1, GREATEST(_2, 1), CAST(GREATEST(CAST(_2 AS BIGINT) + _3 - GREATEST(_2, 1), 0) AS INT)) END"
)
_SPLIT_PART = (
    "CASE WHEN _3 = 0 THEN RAISE_ERROR('22023:field position must not be zero') ELSE SPLIT_PART(_1, _2, _3) END"
)
# A word begins after every letter or digit's absence, where Spark's INITCAP only looks at blanks.
_INITCAP = (
    "ARRAY_JOIN(TRANSFORM(SPLIT(LOWER(_1), '(?<=[^\\\\p{L}\\\\p{N}])'),"
    " word -> CONCAT(UPPER(SUBSTRING(word, 1, 1)), SUBSTRING(word, 2))), '')"
)
_CHR = (
    "CASE WHEN _1 = 0 THEN RAISE_ERROR('54000:null character not permitted')"
    " WHEN _1 < 0 THEN RAISE_ERROR('22023:character number must be positive')"
    " ELSE DECODE(UNHEX(LPAD(HEX(_1), 8, '0')), 'UTF-32') END"
)

_TEXT = (
    *(row(name, "text -> integer", "LENGTH(_1)") for name in ("length", "char_length", "character_length")),
    row("length", "bytea -> integer", "OCTET_LENGTH(_1)"),
    row("octet_length", "text -> integer", "OCTET_LENGTH(_1)"),
    row("octet_length", "bytea -> integer", "OCTET_LENGTH(_1)"),
    row("bit_length", "text -> integer", "BIT_LENGTH(_1)"),
    row("lower", "text -> text", "LOWER(_1)"),
    row("upper", "text -> text", "UPPER(_1)"),
    row("initcap", "text -> text", _INITCAP),
    row("reverse", "text -> text", "REVERSE(_1)"),
    row("repeat", "text integer -> text", "REPEAT(_1, _2)"),
    row("replace", "text text text -> text", "REPLACE(_1, _2, _3)"),
    row("translate", "text text text -> text", "TRANSLATE(_1, _2, _3)"),
    row("ascii", "text -> integer", "ASCII(_1)"),
    row("chr", "integer -> text", _CHR),
    row("left", "text integer -> text", formats.left),
    row("right", "text integer -> text", formats.right),
    *(row(name, "text integer -> text", "SUBSTRING(_1, GREATEST(_2, 1))") for name in ("substring", "substr")),
    *(row(name, "text integer integer -> text", _SUBSTRING_FOR) for name in ("substring", "substr")),
    row("substring", "text text -> text", formats.regexp_substring),
    row("strpos", "text text -> integer", "INSTR(_1, _2)"),
    row("overlay", "text text integer -> text", "OVERLAY(_1, _2, _3)"),
    row("overlay", "text text integer integer -> text", "OVERLAY(_1, _2, _3, _4)"),
    row("btrim", "text -> text", "TRIM(_1)"),
    row("ltrim", "text -> text", "LTRIM(_1)"),
    row("rtrim", "text -> text", "RTRIM(_1)"),
    row("btrim", "text text -> text", "BTRIM(_1, _2)"),
    row("ltrim", "text text -> text", "LTRIM(_2, _1)"),
    row("rtrim", "text text -> text", "RTRIM(_2, _1)"),
    row("lpad", "text integer -> text", "LPAD(_1, _2, ' ')"),
    row("lpad", "text integer text -> text", "LPAD(_1, _2, _3)"),
    row("rpad", "text integer -> text", "RPAD(_1, _2, ' ')"),
    row("rpad", "text integer text -> text", "RPAD(_1, _2, _3)"),
    row("split_part", "text text integer -> text", _SPLIT_PART),
    row("starts_with", "text text -> boolean", "STARTSWITH(_1, _2)"),
    row("concat", "any* -> text", formats.concat),
    row("concat_ws", "text any* -> text", formats.concat_ws),
    row("md5", "text -> text", "MD5(CAST(_1 AS BINARY))"),
    row("md5", "bytea -> text", "MD5(_1)"),
    row("sha256", "bytea -> bytea", "UNHEX(SHA2(_1, 256))"),
    row("sha512", "bytea -> bytea", "UNHEX(SHA2(_1, 512))"),
    row("encode", "bytea text -> text", formats.encode),
    row("decode", "text text -> bytea", formats.decode),
    row("regexp_replace", "text text text -> text", formats.regexp_replace),
    row("regexp_replace", "text text text text -> text", formats.regexp_replace),
    row("regexp_like", "text text -> boolean", formats.with_pattern("_1 RLIKE _2")),
    row("regexp_count", "text text -> integer", formats.with_pattern("REGEXP_COUNT(_1, _2)")),
    row("regexp_substr", "text text -> text", formats.with_pattern("REGEXP_SUBSTR(_1, _2)")),
)

_CONDITIONALS = (
    row("coalesce", "same* -> same", "COALESCE(_all)"),
    row("greatest", "same* -> same", formats.greatest),
    row("least", "same* -> same", formats.least),
    row("nullif", "any any -> first", "CASE WHEN _1 = _2 THEN NULL ELSE _1 END"),
    row("pg_typeof", "any text -> text", "CASE WHEN _1 IS NULL THEN _2 ELSE _2 END"),
    row("grouping", "any* -> integer", formats.grouping),
    row("cardinality", "array -> integer", "SIZE(_1)"),
    row("array_length", "array integer -> integer", "CASE WHEN _2 = 1 AND SIZE(_1) > 0 THEN SIZE(_1) END"),
    row("num_nulls", "any* -> integer", formats.num_nulls),
    row("num_nonnulls", "any* -> integer", formats.num_nonnulls),
)

ROWS: tuple[Function, ...] = (*_NUMBERS, *_TEXT, *_CONDITIONALS)
