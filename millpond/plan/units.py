"""Numeric expressions over columns that are read as bigints of their smallest units: 12.34 as 1234.

    price * (1 - discount)  ->  price * (100 - discount)     a numeric of scale 4, of prices and discounts of scale 2

An expression is in units only if every step of it is known to fit into a bigint, for the values that its columns have
in the files at hand: then it is exact, and many times as fast as with Spark's decimals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from sqlglot import exp

from millpond.sql.casts import plain_cast
from millpond.sql.nodes import note_of, unwrapped, wrapped
from millpond.types import BIGINT, SqlType

LONG_MAX = 2**63 - 1

SCALE_MAX = 10
"""Digits after the point up to which a sum of units becomes a decimal without loss, beside the 27 before it."""

_INTEGERS = {"smallint": 2**15, "integer": 2**31}
_OPERATORS = (exp.Add, exp.Sub, exp.Mul)


@dataclass(frozen=True)
class Units:
    """An expression of type bigint that is `10 ** scale` times a numeric, and at most `most` or at least `-most`.

    One without a column that is read in units is merely a number that can go along with others. The node has no SQL
    type: it is Spark's already.
    """

    node: exp.Expr
    scale: int
    most: int
    has_column: bool = False

    def at_scale(self, scale: int) -> Units | None:
        """The same in smaller units."""
        factor = 10 ** (scale - self.scale)
        if factor == 1:
            return self
        node = exp.Mul(this=wrapped(self.node), expression=_number(factor))
        return _fitting(replace(self, node=node, scale=scale, most=self.most * factor))


ColumnUnits = Callable[[exp.Column], Units | None]
"""How a column is read in units, None if it is not."""


def units_of(node: exp.Expr, column: ColumnUnits) -> Units | None:
    """A numeric or integer expression in units, None if it cannot be; the given one is not changed."""
    node = unwrapped(node)
    if isinstance(node, exp.Column):
        return column(node) or _integer(node)
    if isinstance(node, exp.Literal) and not node.is_string:
        return _literal(node)
    if isinstance(node, exp.Null):
        return Units(exp.Null(), 0, 0)
    if isinstance(node, exp.Neg):
        inner = units_of(node.this, column)
        return inner and replace(inner, node=exp.Neg(this=wrapped(inner.node)))
    if isinstance(node, exp.Cast):
        return _cast(node, column)
    if isinstance(node, _OPERATORS):
        return _operator(node, column)
    return _case(node, column) if isinstance(node, exp.Case) and node.this is None else None


def aligned(several: Sequence[Units | None]) -> list[Units] | None:
    """All in the same units, if one of them has a column; None if one cannot be."""
    known = [one for one in several if one is not None]
    if len(known) < len(several) or not any(one.has_column for one in known):
        return None
    return _at_one_scale(known)


def _at_one_scale(several: Sequence[Units]) -> list[Units] | None:
    scale = max(one.scale for one in several)
    made = [moved for one in several if (moved := one.at_scale(scale)) is not None]
    return made if len(made) == len(several) else None


def _fitting(units: Units) -> Units | None:
    return units if units.most <= LONG_MAX and units.scale <= SCALE_MAX else None


def _number(value: int) -> exp.Expr:
    literal = plain_cast(exp.Literal.number(str(abs(value))), BIGINT)
    return exp.Neg(this=literal) if value < 0 else literal


def _literal(node: exp.Literal) -> Units | None:
    value = Decimal(node.this)
    exponent = value.as_tuple().exponent
    scale = max(0, -exponent) if isinstance(exponent, int) else SCALE_MAX + 1
    if scale > SCALE_MAX or abs(value) > LONG_MAX:
        return None
    whole = int(value.scaleb(scale))
    return _fitting(Units(_number(whole), scale, abs(whole)))


def _integer(node: exp.Column) -> Units | None:
    kind = note_of(node).type
    most = _INTEGERS.get(kind.name) if kind is not None else None
    return None if most is None else Units(plain_cast(node.copy(), BIGINT), 0, most)


def _cast(node: exp.Cast, column: ColumnUnits) -> Units | None:
    """A cast to a numeric that can neither round nor fail; one without a type of its own is to that of its operand."""
    inner, target = units_of(node.this, column), note_of(node).type
    if inner is None or target is None:
        return inner
    if target.name != "numeric":
        return None
    return inner if _holds(target, inner) else None


def _holds(target: SqlType, inner: Units) -> bool:
    whole = target.decimal_precision - target.decimal_scale
    return inner.scale <= target.decimal_scale and inner.most < 10 ** (whole + inner.scale)


def _operator(node: exp.Expr, column: ColumnUnits) -> Units | None:
    left, right = units_of(node.this, column), units_of(node.expression, column)
    if left is None or right is None:
        return None
    if isinstance(node, exp.Mul):
        scale, most = left.scale + right.scale, left.most * right.most
    else:
        sides = _at_one_scale([left, right])
        if sides is None:
            return None
        left, right = sides
        scale, most = left.scale, left.most + right.most
    made = type(node)(this=wrapped(left.node), expression=wrapped(right.node))
    return _fitting(Units(made, scale, most, left.has_column or right.has_column))


def _case(node: exp.Case, column: ColumnUnits) -> Units | None:
    """CASE with its values in units; its conditions stay as they are."""
    values = [branch.args["true"] for branch in node.args["ifs"]]
    default = node.args.get("default")
    found = [units_of(value, column) for value in (*values, *([] if default is None else [default]))]
    known = [one for one in found if one is not None]
    made = _at_one_scale(known) if len(known) == len(found) else None
    if made is None:
        return None
    branches = [
        exp.If(this=branch.this.copy(), true=value.node) for branch, value in zip(node.args["ifs"], made, strict=False)
    ]
    case = exp.Case(ifs=branches, default=None if default is None else made[-1].node)
    most, has_column = max(one.most for one in made), any(one.has_column for one in made)
    return Units(case, made[0].scale, most, has_column)
