"""PostgreSQL's input functions for integers, floats, numeric and boolean: columns at once, odd spellings one by one."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Context, Decimal

import pyarrow as pa

from millpond.errors import MillpondError, SqlState
from millpond.types import SqlType
from millpond.values.arrays import Array, any_true, pc
from millpond.values.failure import base_name, invalid_syntax

BLANKS = " \t\n\v\f\r"
"""What C's isspace takes for a blank; `str.strip()` would take more."""

INTEGER_RANGES = {
    "smallint": (-(2**15), 2**15 - 1),
    "integer": (-(2**31), 2**31 - 1),
    "bigint": (-(2**63), 2**63 - 1),
}

_INTEGER = re.compile(
    r"([+-]?)(?:0[xX]_?(?P<hex>[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*)|0[oO]_?(?P<oct>[0-7]+(?:_[0-7]+)*)"
    r"|0[bB]_?(?P<bin>[01]+(?:_[01]+)*)|(?P<dec>[0-9]+(?:_[0-9]+)*))"
)
_BASES = {"hex": 16, "oct": 8, "bin": 2, "dec": 10}
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_FLOAT_WORDS = {"nan": math.nan, "inf": math.inf, "infinity": math.inf}
_NUMERIC = re.compile(r"[+-]?(?:[0-9]+(?:_[0-9]+)*\.?(?:[0-9]+(?:_[0-9]+)*)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = ("nan", "inf", "infinity", "+inf", "+infinity", "-inf", "-infinity")
_EXACT = Context(prec=2_000, rounding=ROUND_HALF_UP)
_NUMERIC_EXPONENT_MAX = 1_000
"""Beyond this a numeric overflows or is zero for sure, and exact arithmetic on it would be slow."""

INTEGER_COMMON = r"^[+-]?[0-9]{1,18}$"
FLOAT_COMMON = r"^[+-]?[0-9]{1,15}(\.[0-9]{1,15})?$"
NUMERIC_COMMON = r"^[+-]?[0-9]{1,18}(\.[0-9]{1,18})?$"

_TRUE = ("t", "true", "T", "TRUE", "True", "1", "y", "yes", "on")
_FALSE = ("f", "false", "F", "FALSE", "False", "0", "n", "no", "off")
_BOOLEAN_SPELLINGS = pa.array([*_TRUE, *_FALSE])
BOOLEAN_COMMON = f"^({'|'.join((*_TRUE, *_FALSE))})$"


def integers(texts: Array, type: SqlType) -> Array:
    """Decimal spellings; Arrow would read hexadecimal ones as bit patterns, so those are refused here."""
    if any_true(pc.match_substring(texts, "x", ignore_case=True)):
        raise pa.ArrowInvalid("hexadecimal")
    return texts.cast(type.arrow)


def integer(text: str, type: SqlType) -> int:
    match = _INTEGER.fullmatch(text.strip(BLANKS))
    if match is None:
        raise invalid_syntax(type, text)
    base = match.lastgroup or "dec"
    value = int(match[1] + match[base].replace("_", ""), _BASES[base])
    low, high = INTEGER_RANGES[type.name]
    if not low <= value <= high:
        raise MillpondError(
            SqlState.NUMERIC_VALUE_OUT_OF_RANGE, f'value "{text}" is out of range for type {base_name(type)}'
        )
    return value


def floats(texts: Array, type: SqlType) -> Array:
    """Arrow turns what is too large into infinity and what is too small into zero; PostgreSQL refuses both."""
    values = texts.cast(type.arrow)
    extreme = pc.or_(pc.is_inf(values), pc.equal(values, pa.scalar(0, type.arrow)))
    if any_true(pc.and_(extreme, pc.match_substring_regex(texts, "[1-9]"))):
        raise pa.ArrowInvalid("out of range")
    return values


def float_(text: str, type: SqlType) -> float:
    bare = text.strip(BLANKS)
    word = _FLOAT_WORDS.get(bare.lstrip("+-").lower()) if len(bare.lstrip("+-")) >= len(bare) - 1 else None
    if word is not None:
        return -word if bare.startswith("-") else word
    if _FLOAT.fullmatch(bare) is None:
        raise invalid_syntax(type, text)
    # Arrow reads a real straight from the text; going through a double would round twice.
    value = float(pa.scalar(bare).cast(type.arrow).as_py())
    mantissa = re.split("[eE]", bare)[0]
    if math.isinf(value) or (value == 0 and re.search("[1-9]", mantissa)):
        raise MillpondError(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, f'"{bare}" is out of range for type {base_name(type)}')
    return value


def numerics(texts: Array, type: SqlType) -> Array:
    """Straight where no digit is lost, else through a wider decimal that is then rounded."""
    try:
        return texts.cast(type.arrow)
    except pa.ArrowInvalid:
        wide = texts.cast(pa.decimal256(76, 37))
        rounded = pc.round(wide, ndigits=type.decimal_scale, round_mode="half_towards_infinity")
        return rounded.cast(type.arrow)


def within_precision(values: Array, type: SqlType) -> Array:
    """The decimals, if each has as few digits as its type says; pyarrow's CSV reader does not look."""
    extremes = pc.min_max(values).as_py()
    limit = Decimal(10) ** (type.decimal_precision - type.decimal_scale)
    if extremes["min"] is not None and max(-extremes["min"], extremes["max"]) >= limit:
        raise pa.ArrowInvalid("too many digits")
    return values


def numeric(text: str, type: SqlType) -> Decimal:
    bare = text.strip(BLANKS)
    if bare.lower() in _NOT_FINITE:
        raise not_finite(bare)
    if _NUMERIC.fullmatch(bare) is None:
        raise invalid_syntax(type, text)
    return round_numeric(Decimal(bare), type)


def round_numeric(value: Decimal, type: SqlType) -> Decimal:
    """The value with the type's scale, rounded half away from zero."""
    if not value.is_finite():
        raise not_finite(str(value))
    magnitude = value.adjusted() if value else 0
    if magnitude > _NUMERIC_EXPONENT_MAX:
        raise numeric_overflow(type)
    if magnitude < -_NUMERIC_EXPONENT_MAX:
        value = Decimal(0)
    rounded = value.quantize(Decimal(1).scaleb(-type.decimal_scale), context=_EXACT)
    if rounded and rounded.adjusted() >= type.decimal_precision - type.decimal_scale:
        raise numeric_overflow(type)
    return rounded


def not_finite(text: str) -> MillpondError:
    return MillpondError(
        SqlState.FEATURE_NOT_SUPPORTED,
        f'"{text}" as a value of type numeric is not supported',
        hint="Use double precision for values that may be NaN or infinite.",
    )


def numeric_overflow(type: SqlType) -> MillpondError:
    digits = type.decimal_precision - type.decimal_scale
    limit = f"10^{digits}" if digits else "1"
    return MillpondError(
        SqlState.NUMERIC_VALUE_OUT_OF_RANGE,
        "numeric field overflow",
        detail=f"A field with precision {type.decimal_precision}, scale {type.decimal_scale} "
        f"must round to an absolute value less than {limit}.",
    )


def booleans(texts: Array, type: SqlType) -> Array:
    found = pc.index_in(texts, value_set=_BOOLEAN_SPELLINGS)
    if found.null_count != texts.null_count:
        raise pa.ArrowInvalid("another spelling")
    return pc.less(found, len(_TRUE)).cast(type.arrow)


def boolean(text: str, type: SqlType) -> bool:
    """Any unique prefix of true, false, yes, no, on, off, or 1 and 0."""
    bare = text.strip(BLANKS).lower()
    if bare and ("true".startswith(bare) or "yes".startswith(bare) or bare in ("on", "1")):
        return True
    if bare and ("false".startswith(bare) or "no".startswith(bare) or bare in ("of", "off", "0")):
        return False
    raise invalid_syntax(type, text)
