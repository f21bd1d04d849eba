"""Binding of operators: which operand types each accepts, the casts they need, and the type that comes out."""

from __future__ import annotations

from sqlglot import exp

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.sql.coercion import NUMBERS, as_numeric, can_coerce, coerce, common_type, exact
from millpond.sql.context import Context, Rule
from millpond.sql.nodes import PLACE, error_at, place_of, type_of, typed
from millpond.sql.sql_types import UNKNOWN, type_name
from millpond.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    NUMERIC,
    NUMERIC_PRECISION_MAX,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    SqlType,
    numeric,
)
from millpond.values.numbers import INTEGER_RANGES

SYMBOLS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.Pow: "^",
    exp.DPipe: "||",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "=",
    exp.NullSafeNEQ: "<>",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "#",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
    exp.BitwiseNot: "~",
    exp.Neg: "-",
    exp.Sqrt: "|/",
}

NO_OPERATOR = "No operator matches the given name and argument types. You might need to add explicit type casts."

_TIME_RESULTS: dict[tuple[str, str, str], SqlType] = {
    ("+", "date", "integer"): DATE,
    ("+", "integer", "date"): DATE,
    ("-", "date", "integer"): DATE,
    ("-", "date", "date"): INTEGER,
    ("+", "date", "interval"): TIMESTAMP,
    ("+", "interval", "date"): TIMESTAMP,
    ("-", "date", "interval"): TIMESTAMP,
    ("+", "timestamp", "interval"): TIMESTAMP,
    ("+", "interval", "timestamp"): TIMESTAMP,
    ("-", "timestamp", "interval"): TIMESTAMP,
    ("+", "timestamptz", "interval"): TIMESTAMPTZ,
    ("+", "interval", "timestamptz"): TIMESTAMPTZ,
    ("-", "timestamptz", "interval"): TIMESTAMPTZ,
    ("-", "timestamp", "timestamp"): INTERVAL,
    ("-", "timestamptz", "timestamptz"): INTERVAL,
    ("+", "interval", "interval"): INTERVAL,
    ("-", "interval", "interval"): INTERVAL,
    ("*", "interval", "double precision"): INTERVAL,
    ("*", "double precision", "interval"): INTERVAL,
    ("/", "interval", "double precision"): INTERVAL,
}


def no_operator(node: exp.Expr, *operands: SqlType) -> MillpondError:
    """PostgreSQL's error for an operator that does not take these types."""
    symbol = SYMBOLS[type(node)]
    names = [type_name(operand) for operand in operands]
    shape = f"{symbol} {names[0]}" if len(names) == 1 else f"{names[0]} {symbol} {names[1]}"
    return error_at(SqlState.UNDEFINED_FUNCTION, f"operator does not exist: {shape}", node, hint=NO_OPERATOR)


def _arithmetic(node: exp.Expr, context: Context) -> exp.Expr:
    left, right = _same_if_unknown(node, context.bind(node.this), context.bind(node.expression))
    if type_of(left).is_number and type_of(right).is_number:
        return _number_arithmetic(node, left, right)
    return _time_arithmetic(node, left, right)


def _same_if_unknown(node: exp.Expr, left: exp.Expr, right: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """A literal of open type takes the type of the other side, an interval next to a time excepted."""
    if type_of(left) == UNKNOWN and type_of(right) == UNKNOWN:
        symbol = SYMBOLS[type(node)]
        hint = "Could not choose a best candidate operator. You might need to add explicit type casts."
        message = f"operator is not unique: unknown {symbol} unknown"
        raise error_at(SqlState.AMBIGUOUS_FUNCTION, message, node, hint=hint)
    if type_of(left) == UNKNOWN:
        return coerce(left, _partner(node, type_of(right))), right
    if type_of(right) == UNKNOWN:
        return left, coerce(right, _partner(node, type_of(left)))
    return left, right


def _partner(node: exp.Expr, known: SqlType) -> SqlType:
    if isinstance(node, exp.Add) and known.name in ("timestamp", "timestamptz"):
        return INTERVAL
    if isinstance(node, (exp.Mul, exp.Div)) and known == INTERVAL:
        return DOUBLE
    return SqlType(known.name) if known.is_string or known.name == "numeric" else known


def _number_arithmetic(node: exp.Expr, left: exp.Expr, right: exp.Expr) -> exp.Expr:
    types = type_of(left), type_of(right)
    if isinstance(node, exp.Mod) and any(sql_type.is_float for sql_type in types):
        raise no_operator(node, *types)
    if any(sql_type.is_float for sql_type in types):
        # PostgreSQL has no operator of real and another type: both become double precision.
        result = types[0] if types[0] == types[1] else DOUBLE
        return _binary(node, coerce(left, result), coerce(right, result), result)
    if "numeric" in (types[0].name, types[1].name):
        left, right = as_numeric(left), as_numeric(right)
        return _binary(node, left, right, numeric_result(type(node), type_of(left), type_of(right)))
    wider = max(types, key=lambda sql_type: NUMBERS.index(sql_type.name))
    return _binary(node, coerce(left, wider), coerce(right, wider), wider)


def numeric_result(operator: type[exp.Expr], left: SqlType, right: SqlType) -> SqlType:
    """Digits of a result: all of them where 38 suffice, else unconstrained, which is (38,18).

    >>> str(numeric_result(exp.Mul, numeric(10, 2), numeric(3, 1))), str(numeric_result(exp.Add, NUMERIC, NUMERIC))
    ('numeric(14,3)', 'numeric')
    """
    if left.precision is None or right.precision is None:
        return NUMERIC
    whole = max(left.precision - left.decimal_scale, right.precision - right.decimal_scale) + 1
    scale = max(left.decimal_scale, right.decimal_scale)
    if operator is exp.Mul:
        whole = left.precision + right.precision + 1 - left.decimal_scale - right.decimal_scale
        scale = left.decimal_scale + right.decimal_scale
    if operator is exp.Div:
        return quotient_type(left, right)
    return NUMERIC if whole + scale > NUMERIC_PRECISION_MAX else numeric(whole + scale, scale)


QUOTIENT_SCALE = 20
"""Digits after the point of a quotient where there is room: PostgreSQL gives at least 16 significant ones."""


def quotient_type(left: SqlType, right: SqlType) -> SqlType:
    """The type of a quotient: as many digits after the point as fit beside the largest possible whole part."""
    left, right = exact(left), exact(right)
    whole = left.decimal_precision - left.decimal_scale + right.decimal_scale
    if whole + QUOTIENT_SCALE <= NUMERIC_PRECISION_MAX:
        return numeric(whole + QUOTIENT_SCALE, QUOTIENT_SCALE)
    return NUMERIC


def _time_arithmetic(node: exp.Expr, left: exp.Expr, right: exp.Expr) -> exp.Expr:
    symbol = SYMBOLS[type(node)]
    for target_left, target_right in _time_candidates(type_of(left), type_of(right)):
        result = _TIME_RESULTS.get((symbol, target_left.name, target_right.name))
        if result is not None:
            left, right = coerce(left, target_left), coerce(right, target_right)
            if symbol == "+" and target_left.name in ("interval", "integer"):
                left, right = right, left
            return _binary(node, left, right, result)
    raise no_operator(node, type_of(left), type_of(right))


def _time_candidates(left: SqlType, right: SqlType) -> list[tuple[SqlType, SqlType]]:
    """The operand types as they are, then with the implicit casts that could help."""
    candidates = [(left, right)]
    if left == INTERVAL and right.is_number:
        candidates.append((left, DOUBLE))
    if right == INTERVAL and left.is_number:
        candidates.append((DOUBLE, right))
    if left.name == "smallint" or right.name == "smallint":
        candidates.append(
            (INTEGER if left.name == "smallint" else left, INTEGER if right.name == "smallint" else right)
        )
    if can_coerce(left, right):
        candidates.append((right, right))
    if can_coerce(right, left):
        candidates.append((left, left))
    return candidates


def comparable(node: exp.Expr, left: exp.Expr, right: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """Both operands of a comparison, with open literals decided, or PostgreSQL's error if they do not compare."""
    types = type_of(left), type_of(right)
    if types[0] == UNKNOWN and types[1] == UNKNOWN:
        return coerce(left, TEXT), coerce(right, TEXT)
    if types[0] == UNKNOWN:
        return coerce(left, _partner(node, types[1])), right
    if types[1] == UNKNOWN:
        return left, coerce(right, _partner(node, types[0]))
    if common_type(types) is None:
        raise no_operator(node, *types)
    return left, right


def equality(left: exp.Expr, written: exp.Expr) -> exp.EQ:
    """The `=` that IN, BETWEEN or CASE stand for, for `comparable`: errors point at what was written."""
    made = exp.EQ(this=left)
    if PLACE in written.meta:
        made.meta[PLACE] = written.meta[PLACE]
    return made


def _comparison(node: exp.Expr, context: Context) -> exp.Expr:
    left, right = comparable(node, context.bind(node.this), context.bind(node.expression))
    if type_of(left).is_array and not isinstance(node, (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ)):
        raise not_supported("the order of arrays", hint="Compare their elements.", position=place_of(node))
    return _binary(node, left, right, BOOLEAN)


def _concatenation(node: exp.Expr, context: Context) -> exp.Expr:
    left, right = context.bind(node.this), context.bind(node.expression)
    types = type_of(left), type_of(right)
    if any(sql_type.name == "bytea" for sql_type in types) and all(
        sql_type.name == "bytea" or sql_type == UNKNOWN for sql_type in types
    ):
        bytea = SqlType("bytea")
        return _binary(node, coerce(left, bytea), coerce(right, bytea), bytea)
    if any(sql_type.is_array for sql_type in types):
        raise not_supported("the concatenation of arrays", position=place_of(node))
    if not any(sql_type.is_string or sql_type == UNKNOWN for sql_type in types):
        raise no_operator(node, *types)
    return _binary(node, coerce(left, TEXT), coerce(right, TEXT), TEXT)


def _bitwise(node: exp.Expr, context: Context) -> exp.Expr:
    left, right = _same_if_unknown(node, context.bind(node.this), context.bind(node.expression))
    types = type_of(left), type_of(right)
    if not all(sql_type.is_integer for sql_type in types):
        raise no_operator(node, *types)
    if isinstance(node, (exp.BitwiseLeftShift, exp.BitwiseRightShift)):
        if types[1] == BIGINT:
            raise no_operator(node, *types)
        return _binary(node, left, coerce(right, INTEGER), types[0])
    wider = max(types, key=lambda sql_type: NUMBERS.index(sql_type.name))
    return _binary(node, coerce(left, wider), coerce(right, wider), wider)


def _bitwise_not(node: exp.Expr, context: Context) -> exp.Expr:
    operand = context.bind(node.this)
    if not type_of(operand).is_integer:
        raise no_operator(node, type_of(operand))
    return typed(exp.BitwiseNot(this=operand), type_of(operand))


def _negation(node: exp.Expr, context: Context) -> exp.Expr:
    smallest = _SMALLEST.get(node.this.name) if isinstance(node.this, exp.Literal) and node.this.is_number else None
    if smallest is not None:
        return typed(exp.Neg(this=typed(exp.Literal.number(node.this.name), smallest)), smallest)
    operand = context.bind(node.this)
    sql_type = type_of(operand)
    if sql_type == UNKNOWN:
        operand, sql_type = coerce(operand, DOUBLE), DOUBLE
    if not sql_type.is_number and sql_type != INTERVAL:
        raise no_operator(node, sql_type)
    return typed(exp.Neg(this=operand), sql_type)


_SMALLEST = {str(-INTEGER_RANGES[one.name][0]): one for one in (INTEGER, BIGINT)}
"""Numbers that fit their type only with a minus sign in front, which PostgreSQL takes as part of the number."""


def _connective(node: exp.Expr, context: Context) -> exp.Expr:
    word = "AND" if isinstance(node, exp.And) else "OR"
    left = context.condition(node.this, word)
    right = context.condition(node.expression, word)
    return _binary(node, left, right, BOOLEAN)


def _not(node: exp.Expr, context: Context) -> exp.Expr:
    return typed(exp.Not(this=context.condition(node.this, "NOT")), BOOLEAN)


def _parenthesised(node: exp.Expr, context: Context) -> exp.Expr:
    inner = context.bind(node.this)
    return typed(exp.Paren(this=inner), type_of(inner))


def _binary(node: exp.Expr, left: exp.Expr, right: exp.Expr, result: SqlType) -> exp.Expr:
    # Flags of the parser, such as that a division of integers is one, go with the operator.
    flags = {key: value for key, value in node.args.items() if not isinstance(value, exp.Expr)}
    return typed(type(node)(this=left, expression=right, **flags), result)


RULES: dict[type[exp.Expr], Rule] = {
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod), _arithmetic),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), _comparison),
    **dict.fromkeys((exp.NullSafeEQ, exp.NullSafeNEQ), _comparison),
    **dict.fromkeys((exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor), _bitwise),
    **dict.fromkeys((exp.BitwiseLeftShift, exp.BitwiseRightShift), _bitwise),
    **dict.fromkeys((exp.And, exp.Or), _connective),
    exp.DPipe: _concatenation,
    exp.BitwiseNot: _bitwise_not,
    exp.Neg: _negation,
    exp.Not: _not,
    exp.Paren: _parenthesised,
}
