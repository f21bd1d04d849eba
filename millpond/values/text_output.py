"""Values into texts as PostgreSQL's output functions print them: the way out of COPY, the shell and the wire."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from decimal import Decimal
from itertools import islice

import pyarrow as pa

from millpond.types import DOUBLE, SqlType
from millpond.values.arrays import Array, Column, any_true, contiguous, pc, true_rows, with_values
from millpond.values.intervals import interval_text

_EXPONENT_MAX = {"real": 6, "double precision": 15}
"""From this power of ten on PostgreSQL prints a float with an exponent."""

_MANTISSA_BITS = {"real": 24, "double precision": 53}

_EXPONENT_MIN = -4
_ARROW_FIXED_MAX = 1e10
"""From here on Arrow prints exponents where PostgreSQL prints digits."""


def to_text(values: Column, type: SqlType) -> Array:
    """The texts of the values, which must be of `type.arrow`; NULL stays NULL."""
    array = contiguous(values)
    if type.is_array:
        return _lists(array, type)
    return _OUTPUTS.get(type.name, _as_arrow_prints)(array, type)


def _as_arrow_prints(values: Array, _type: SqlType) -> Array:
    return values.cast(pa.string())


def _booleans(values: Array, _type: SqlType) -> Array:
    return pc.if_else(values, "t", "f")


def _floats(values: Array, type: SqlType) -> Array:
    """Arrow's shortest digits are PostgreSQL's; only the form of the very large, very small and odd differs."""
    size = pc.abs(values)
    fixed_max = min(_ARROW_FIXED_MAX, 10.0 ** _EXPONENT_MAX[type.name])
    plain = pc.and_(pc.greater_equal(size, 10.0**_EXPONENT_MIN), pc.less(size, fixed_max))
    odd = pc.and_not(values.is_valid(), pc.or_(plain, pc.equal(size, 0.0)))
    texts = values.cast(pa.string())
    return _replaced(texts, odd, lambda text: float_text(text, type))


def float_text(shortest: str, type: SqlType) -> str:
    """A float's shortest digits in PostgreSQL's form.

    >>> [float_text(digits, DOUBLE) for digits in ("1e+20", "0.00001", "1.5e+14", "inf")]
    ['1e+20', '1e-05', '150000000000000', 'Infinity']
    """
    value = Decimal(shortest)
    if not value.is_finite():
        return "NaN" if value.is_nan() else "Infinity" if value > 0 else "-Infinity"
    value = _off_the_border(value, type)
    sign, digits, _ = value.as_tuple()
    exponent = value.adjusted()
    if _EXPONENT_MIN <= exponent < _EXPONENT_MAX[type.name]:
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa = "".join(map(str, digits)).rstrip("0")
    point = "." if len(mantissa) > 1 else ""
    power = f"{'-' if exponent < 0 else '+'}{abs(exponent):02}"
    return f"{'-' if sign else ''}{mantissa[0]}{point}{mantissa[1:]}e{power}"


def _off_the_border(shortest: Decimal, type: SqlType) -> Decimal:
    """PostgreSQL does not print digits that lie just halfway to the next float, as those of large integers may.

    >>> _off_the_border(Decimal("3e10"), SqlType("real"))
    Decimal('3.0000001E+10')
    """
    bits = _MANTISSA_BITS[type.name]
    if abs(shortest) < 2**bits:
        return shortest
    double = float(shortest)
    exact = int(double if type == DOUBLE else struct.unpack("f", struct.pack("f", double))[0])
    border = 2 ** (abs(exact).bit_length() - bits - 1)
    digits = len(shortest.normalize().as_tuple().digits)
    while abs(int(shortest) - exact) >= border:
        shortest = Decimal(f"{Decimal(exact):.{digits}e}")
        digits += 1
    return shortest


def _numerics(values: Array, type: SqlType) -> Array:
    texts = values.cast(pa.string())
    texts = _replaced(texts, pc.match_substring(texts, "E"), lambda text: f"{Decimal(text):f}")
    if type.precision is None:
        return pc.utf8_rtrim(pc.utf8_rtrim(texts, "0"), ".")
    return texts


def _chars(values: Array, type: SqlType) -> Array:
    return pc.utf8_rpad(values, type.length or 1)


def _byteas(values: Array, _type: SqlType) -> Array:
    return pa.array([None if value is None else f"\\x{value.hex()}" for value in values.to_pylist()], pa.string())


def _timestamps(values: Array, _type: SqlType) -> Array:
    """Arrow always prints six digits after the second's point."""
    return pc.utf8_rtrim(pc.utf8_rtrim(values.cast(pa.timestamp("us")).cast(pa.string()), "0"), ".")


def _timestamptzs(values: Array, type: SqlType) -> Array:
    return pc.binary_join_element_wise(_timestamps(values, type), "+00", "")


def _intervals(values: Array, _type: SqlType) -> Array:
    texts = [None if value is None else interval_text(value) for value in values.to_pylist()]
    return pa.array(texts, pa.string())


_ELEMENT_QUOTED = re.compile(r'|null|.*[{},"\\ \t\n\r\v\f].*', re.IGNORECASE | re.DOTALL)
"""Elements that would be read as something else without quotes."""


def _lists(values: Array, type: SqlType) -> Array:
    """Arrays in braces.

    >>> _lists(pa.array([[1, None], [], None]), SqlType("integer[]")).to_pylist()
    ['{1,NULL}', '{}', None]
    """
    elements = iter(to_text(values.flatten(), type.element).to_pylist())
    texts = [
        None if length is None else "{" + ",".join(map(element_text, islice(elements, length))) + "}"
        for length in pc.list_value_length(values).to_pylist()
    ]
    return pa.array(texts, pa.string())


def _vectors(values: Array, _type: SqlType) -> Array:
    """int2vector and oidvector: their elements with blanks between them."""
    lists = values.to_pylist()
    return pa.array([None if one is None else " ".join(map(str, one)) for one in lists], pa.string())


def element_text(text: str | None) -> str:
    """An element between the braces of an array, in quotes if it needs them."""
    if text is None:
        return "NULL"
    if not _ELEMENT_QUOTED.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _replaced(texts: Array, odd: Array, rewrite: Callable[[str], str]) -> Array:
    """The texts, those marked odd rewritten one by one."""
    if not any_true(odd):
        return texts
    rows = true_rows(odd)
    rewritten = [rewrite(text) for text in texts.take(pa.array(rows, pa.int64())).to_pylist()]
    return with_values(texts, rows, pa.array(rewritten, pa.string()))


_OUTPUTS: dict[str, Callable[[Array, SqlType], Array]] = {
    "boolean": _booleans,
    "real": _floats,
    "double precision": _floats,
    "numeric": _numerics,
    "char": _chars,
    "bytea": _byteas,
    "timestamp": _timestamps,
    "timestamptz": _timestamptzs,
    "interval": _intervals,
    "int2vector": _vectors,
    "oidvector": _vectors,
}
