"""Passes over expressions: operators, literals, patterns and extraction, in Spark's terms with PostgreSQL's results."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.errors import not_supported
from millpond.sql.casts import plain_cast
from millpond.sql.formats import java_pattern, like_pattern, literal_text, similar_pattern
from millpond.sql.interval_math import interval_between, interval_key, scaled_interval
from millpond.sql.nodes import is_typed, type_of, typed
from millpond.sql.templates import alike, fill, fill_like
from millpond.sql.time_functions import extracted
from millpond.types import BIGINT, INTERVAL, NUMERIC, TIMESTAMP, TIMESTAMPTZ, numeric

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)


def literals(node: exp.Expr) -> exp.Expr:
    """A whole number of type numeric: `2` -> `CAST(2 AS DECIMAL(1,0))`."""
    is_number = isinstance(node, exp.Literal) and not node.is_string and is_typed(node)
    if is_number and type_of(node).name == "numeric" and "." not in node.this:
        return alike(node, plain_cast(exp.Literal.number(node.this), type_of(node)))
    return node


def compare_intervals(node: exp.Expr) -> exp.Expr:
    """Intervals compare by their length: `a < b` -> `key(a) < key(b)`, also in ORDER BY."""
    if isinstance(node, exp.Ordered) and _is_interval(node.this):
        node.set("this", typed(interval_key(node.this), BIGINT))
    elif isinstance(node, _COMPARISONS) and _is_interval(node.this):
        node.set("this", typed(interval_key(node.this), BIGINT))
        node.set("expression", typed(interval_key(node.expression), BIGINT))
    elif isinstance(node, exp.Between) and _is_interval(node.this):
        for part in ("this", "low", "high"):
            node.set(part, typed(interval_key(node.args[part]), BIGINT))
    elif isinstance(node, exp.In) and _is_interval(node.this) and node.expressions:
        node.set("this", typed(interval_key(node.this), BIGINT))
        node.set("expressions", [typed(interval_key(one), BIGINT) for one in node.expressions])
    elif any(_is_interval(key) for key in _grouped_by(node)):
        raise not_supported("grouping by an interval", hint="Group by extract(epoch from it).")
    return node


def _grouped_by(node: exp.Expr) -> Sequence[exp.Expr]:
    """What a node compares for being the same, in a way that has no place for `interval_key`."""
    if isinstance(node, (exp.Group, exp.Distinct)):
        return list(node.expressions)
    if isinstance(node, exp.Window):
        return node.args.get("partition_by") or ()
    if isinstance(node, exp.In) and node.args.get("query"):
        return (node.this,)
    return _distinct_outputs(node) if isinstance(node, exp.Query) else ()


def _distinct_outputs(query: exp.Query) -> Sequence[exp.Expr]:
    """The output columns of a query of which each row comes but once, by DISTINCT or by a set operation."""
    distinct = query.args.get("distinct")
    if isinstance(query, exp.Select):
        once = distinct is not None and not distinct.args.get("on")
    else:
        once = isinstance(query, (exp.Intersect, exp.Except)) or (isinstance(query, exp.Union) and bool(distinct))
    return [output.unalias() for output in query.selects] if once else ()


def _is_interval(node: exp.Expr) -> bool:
    return is_typed(node) and type_of(node) == INTERVAL


def extract(node: exp.Expr) -> exp.Expr:
    """`EXTRACT(dow FROM d)` -> `DAYOFWEEK(d) - 1`; `t AT TIME ZONE z` -> `TO_UTC_TIMESTAMP(t, z)` or its inverse."""
    if isinstance(node, exp.Extract):
        made = extracted(node.this.name, node.expression)
        return alike(node, plain_cast(made, type_of(node)))
    if isinstance(node, exp.AtTimeZone):
        operand, zone = node.this, node.args["zone"]
        if type_of(operand) == TIMESTAMP:
            return fill_like(node, "TO_UTC_TIMESTAMP(CAST(_1 AS TIMESTAMP), _2)", operand, zone)
        return fill_like(node, "CAST(FROM_UTC_TIMESTAMP(_1, _2) AS TIMESTAMP_NTZ)", operand, zone)
    return node


# -- patterns -------------------------------------------------------------------------------------------------


def patterns(node: exp.Expr) -> exp.Expr:
    """LIKE, SIMILAR TO and regular expressions in Java's spelling; BETWEEN SYMMETRIC and IS DISTINCT FROM too."""
    if isinstance(node, (exp.Like, exp.ILike)):
        return _like(node, node, "\\") if not isinstance(node.parent, exp.Escape) else node
    if isinstance(node, exp.Escape):
        return _escape(node)
    if isinstance(node, exp.SimilarTo):
        return _similar(node, node, "\\") if not isinstance(node.parent, exp.Escape) else node
    if isinstance(node, (exp.RegexpLike, exp.RegexpILike)) and is_typed(node):
        return _regexp(node)
    if isinstance(node, exp.NullSafeNEQ):
        return fill_like(node, "NOT (_1 <=> _2)", node.this, node.expression)
    if isinstance(node, exp.Between) and node.args.get("symmetric"):
        bounds = (node.this, node.args["low"], node.args["high"])
        return fill_like(node, "_1 BETWEEN _2 AND _3 OR _1 BETWEEN _3 AND _2", *bounds)
    return node


def _escape(node: exp.Expr) -> exp.Expr:
    character = node.expression.this
    if isinstance(node.this, exp.SimilarTo):
        return _similar(node, node.this, character)
    return _like(node, node.this, character)


def _like(original: exp.Expr, node: exp.Expr, escape: str) -> exp.Expr:
    pattern = node.expression
    if isinstance(pattern, exp.Literal):
        pattern = exp.Literal.string(like_pattern(pattern.this, escape))
    elif escape != "\\":
        raise not_supported("ESCAPE with a pattern that is not a literal")
    return alike(original, type(node)(this=node.this, expression=pattern))


def _similar(original: exp.Expr, node: exp.Expr, escape: str) -> exp.Expr:
    pattern = similar_pattern(literal_text(node.expression, "a pattern of SIMILAR TO"), escape)
    return fill_like(original, "_1 RLIKE _2", node.this, exp.Literal.string(pattern))


def _regexp(node: exp.Expr) -> exp.Expr:
    """`s ~* 'p'` -> `s RLIKE '(?i)p'`."""
    prefix = "(?i)" if isinstance(node, exp.RegexpILike) else ""
    pattern = node.expression
    if isinstance(pattern, exp.Literal):
        made: exp.Expr = exp.Literal.string(prefix + java_pattern(pattern.this))
    else:
        made = fill("CONCAT(_1, _2)", exp.Literal.string(prefix), pattern) if prefix else pattern
    return fill_like(node, "_1 RLIKE _2", node.this, made)


# -- arithmetic -----------------------------------------------------------------------------------------------


def arithmetic(node: exp.Expr) -> exp.Expr:
    """Operators by the types of their operands: `7 / 2` -> `CAST(7 DIV 2 AS INT)`, `d + 1` -> `DATE_ADD(d, 1)`."""
    if not (is_typed(node) and isinstance(node, exp.Binary) and _operands_typed(node)):
        return node
    if isinstance(node, (exp.Add, exp.Sub)) and type_of(node).name in ("date", "timestamp", "timestamptz", "interval"):
        return _time_arithmetic(node)
    if isinstance(node, exp.Sub) and type_of(node.this).name == "date":
        return fill_like(node, "DATEDIFF(_1, _2)", node.this, node.expression)
    if isinstance(node, (exp.Mul, exp.Div)) and type_of(node) == INTERVAL:
        return _scaled(node)
    if isinstance(node, exp.Div):
        return _division(node)
    if isinstance(node, exp.Mul) and type_of(node) == NUMERIC:
        return _unconstrained_product(node)
    if isinstance(node, (exp.Add, exp.Sub, exp.Mod)) and type_of(node) == NUMERIC:
        return alike(node, plain_cast(type(node)(this=node.this, expression=node.expression), NUMERIC))
    return _other_operator(node)


def _operands_typed(node: exp.Expr) -> bool:
    """Operators made by templates have operands without a type: they are Spark's already."""
    return all(is_typed(operand) for operand in node.iter_expressions())


def _other_operator(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.DPipe):
        return fill_like(node, "CONCAT(_1, _2)", node.this, node.expression)
    if isinstance(node, exp.BitwiseLeftShift):
        return fill_like(node, "SHIFTLEFT(_1, _2)", node.this, node.expression)
    if isinstance(node, exp.BitwiseRightShift):
        return fill_like(node, "SHIFTRIGHT(_1, _2)", node.this, node.expression)
    return node


def _time_arithmetic(node: exp.Expr) -> exp.Expr:
    left, right = node.this, node.expression
    sign = "+" if isinstance(node, exp.Add) else "-"
    if type_of(node).name == "date":
        return fill_like(node, "DATE_ADD(_1, _2)" if sign == "+" else "DATE_SUB(_1, _2)", left, right)
    if type_of(left).name == "date":
        return fill_like(node, f"CAST(_1 AS TIMESTAMP_NTZ) {sign} _2", left, right)
    if type_of(left) in (TIMESTAMP, TIMESTAMPTZ) and type_of(node) == INTERVAL:
        return alike(node, interval_between(left, right))
    return fill_like(node, f"_1 {sign} _2", left, right)


def _scaled(node: exp.Expr) -> exp.Expr:
    """`interval * number`, `number * interval` or `interval / number`."""
    left, right = node.this, node.expression
    interval, factor = (left, right) if type_of(left) == INTERVAL else (right, left)
    return alike(node, scaled_interval(interval, factor, "*" if isinstance(node, exp.Mul) else "/"))


def _division(node: exp.Expr) -> exp.Expr:
    left, right, result = node.this, node.expression, type_of(node)
    if result.is_integer:
        return alike(node, plain_cast(fill("_1 DIV _2", left, right), result))
    if result.name != "numeric":
        return fill_like(node, "_1 / _2", left, right)
    if result != NUMERIC:
        whole = type_of(left).decimal_precision - type_of(left).decimal_scale
        widened = plain_cast(left, numeric(min(38, whole + result.decimal_scale), result.decimal_scale))
        return alike(node, plain_cast(fill("_1 / _2", widened, right), result))
    if type_of(right).decimal_scale <= _EXACT_DIVISOR_SCALE_MAX:
        return alike(node, plain_cast(fill("_1 / _2", plain_cast(left, NUMERIC), right), NUMERIC))
    # Spark would keep 6 digits after the point of a quotient of two numbers this wide; doubles keep 15 in all.
    return alike(node, plain_cast(fill("CAST(_1 AS DOUBLE) / CAST(_2 AS DOUBLE)", left, right), NUMERIC))


_EXACT_DIVISOR_SCALE_MAX = 4
"""Up to this scale of the divisor a quotient of wide numbers keeps 14 digits after the point in Spark."""


def _unconstrained_product(node: exp.Expr) -> exp.Expr:
    """The product of two wide numbers: with 17 digits after the point where both are below 10^10, else with 6."""
    left, right = node.this, node.expression
    wide = all(type_of(side).decimal_precision - type_of(side).decimal_scale > 10 for side in (left, right))
    if not wide:
        return alike(node, plain_cast(fill("_1 * _2", left, right), NUMERIC))
    template = (
        "CASE WHEN ABS(_1) < 10000000000 AND ABS(_2) < 10000000000"
        " THEN CAST(CAST(_1 AS DECIMAL(28,18)) * CAST(_2 AS DECIMAL(28,18)) AS DECIMAL(38,18))"
        " ELSE CAST(_1 * _2 AS DECIMAL(38,18)) END"
    )
    return fill_like(node, template, left, right)
