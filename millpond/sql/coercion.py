"""Which types turn into which, and the casts that binding writes into the tree when they do.

Three strengths, as in PostgreSQL: implicit (in any expression), assignment (INSERT and UPDATE) and explicit (CAST).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from sqlglot import exp

from millpond.errors import SqlState, not_supported
from millpond.sql.array_literals import join_array, split_array
from millpond.sql.literals import canonical
from millpond.sql.nodes import cast, error, error_at, note_of, position_of, type_of, typed, unwrapped
from millpond.sql.sql_types import UNKNOWN, type_name
from millpond.types import NUMERIC, NUMERIC_PRECISION_MAX, TEXT, SqlType, numeric

NUMBERS = ("smallint", "integer", "bigint", "numeric", "real", "double precision")
"""The numeric types, each turning implicitly into those after it."""

_INTEGER_DIGITS = {"smallint": 5, "integer": 10, "bigint": 20}
"""Decimal digits of the integer types as Spark counts them."""

_TIMES = ("date", "timestamp", "timestamptz")
_STRINGS = ("text", "varchar", "char")


def can_coerce(source: SqlType, target: SqlType) -> bool:
    """Whether the source turns into the target without anybody asking."""
    if source.name == target.name or source == UNKNOWN:
        return True
    for ladder in (NUMBERS, _TIMES):
        if source.name in ladder and target.name in ladder:
            return ladder.index(source.name) < ladder.index(target.name)
    return source.name in _STRINGS and target.name in _STRINGS


def can_assign(source: SqlType, target: SqlType) -> bool:
    """Whether a value of the source type may be stored in a column of the target type."""
    if can_coerce(source, target) or target.is_string:
        return True
    return (source.is_number and target.is_number) or (source.name in _TIMES and target.name in _TIMES)


def can_cast(source: SqlType, target: SqlType) -> bool:
    """Whether CAST may turn the source into the target."""
    if source.is_array and target.is_array:
        return can_coerce(source.element, target.element)
    if can_assign(source, target) or (source.is_string and not target.is_array):
        return True
    return {source.name, target.name} == {"boolean", "integer"}


def distance(source: SqlType, target: SqlType) -> int:
    """How far an implicit cast goes; the candidate nearest in sum wins, so that no cast at all beats short ones."""
    if source.name == target.name:
        return 0
    if source == UNKNOWN:
        return 0 if target.name == "text" else 1
    if target.name in _PREFERRED:
        return _CAST
    for ladder in (NUMBERS, _TIMES):
        if source.name in ladder and target.name in ladder:
            return _CAST + ladder.index(target.name) - ladder.index(source.name)
    return _CAST


_CAST = 10
"""What any cast counts, next to which the steps on a ladder are small."""


_PREFERRED = ("double precision", "timestamptz")
"""The types of the two ladders that PostgreSQL prefers where several would do: `round(1)` is a double."""


def common_type(types: Sequence[SqlType]) -> SqlType | None:
    """The type that CASE, UNION, VALUES and their like give to branches of these types, or None if there is none.

    >>> str(common_type([SqlType("integer"), numeric(5, 2)])), str(common_type([UNKNOWN, UNKNOWN]))
    ('numeric(12,2)', 'text')
    """
    known = [sql_type for sql_type in types if sql_type != UNKNOWN]
    if not known:
        return TEXT
    found = known[0]
    for sql_type in known[1:]:
        if "numeric" in (found.name, sql_type.name) and not (found.is_float or sql_type.is_float):
            if not (found.is_number and sql_type.is_number):
                return None
            found = _wider_numeric(found, sql_type)
        elif found.name == sql_type.name:
            found = found if found == sql_type else SqlType(found.name)
        elif can_coerce(found, sql_type):
            found = sql_type if sql_type.length is None else SqlType(sql_type.name)
        elif not can_coerce(sql_type, found):
            return None
    return found


def _wider_numeric(left: SqlType, right: SqlType) -> SqlType:
    left, right = exact(left), exact(right)
    if left.precision is None or right.precision is None:
        return NUMERIC
    scale = max(left.decimal_scale, right.decimal_scale)
    whole = max(left.precision - left.decimal_scale, right.precision - right.decimal_scale)
    return NUMERIC if whole + scale > NUMERIC_PRECISION_MAX else numeric(whole + scale, scale)


def exact(sql_type: SqlType) -> SqlType:
    """An integer type as the numeric that holds it; a numeric as it is."""
    return numeric(_INTEGER_DIGITS[sql_type.name], 0) if sql_type.is_integer else sql_type


def coerce(node: exp.Expr, target: SqlType) -> exp.Expr:
    """The node as a value of the target type, by a cast in the tree if it is not one already."""
    source = type_of(node)
    bare = unwrapped(node)
    if source == UNKNOWN:
        return _known(bare, target)
    if target == NUMERIC:
        if source.name == "numeric":
            return node
        if source.is_integer:
            return as_numeric(node)
    if source == target or (source.is_string and target.is_string and target.length is None):
        return node
    return cast(node, target)


def as_numeric(node: exp.Expr) -> exp.Expr:
    """An integer as a numeric with just its digits.

    `2` becomes the numeric literal 2; a column of type integer becomes CAST(x AS numeric(10,0)).
    """
    if not type_of(node).is_integer:
        return node
    bare = unwrapped(node)
    if isinstance(bare, exp.Literal):
        return number_literal(bare.this, position_of(bare))
    return cast(node, exact(type_of(node)))


def number_literal(text: str, position: int | None = None) -> exp.Literal:
    """A numeric literal, typed with just the digits it has."""
    value = Decimal(text)
    exponent = min(int(value.as_tuple().exponent), 0)
    digits = max(value.adjusted() + 1 - exponent, -exponent, 1)
    sql_type = NUMERIC if digits > NUMERIC_PRECISION_MAX else numeric(digits, -exponent)
    literal = typed(exp.Literal(this=f"{value:f}", is_string=False), sql_type)
    return literal if position is None else literal.update_positions(start=position - 1)


def _known(node: exp.Expr, target: SqlType) -> exp.Expr:
    """A literal or NULL whose type was open, now of the target type."""
    if isinstance(node, exp.Null):
        return cast(exp.Null(), target)
    if not isinstance(node, exp.Literal):
        return cast(node, target)
    return constant(node.this, target, position_of(node))


def constant(text: str, target: SqlType, position: int | None = None) -> exp.Expr:
    """The literal of the type, checked: `constant("t", BOOLEAN)` is TRUE, `constant("x", INTEGER)` an error."""
    spelled = (
        _canonical_array(text, target, position) if target.is_array else canonical(text, target, position=position)
    )
    node: exp.Expr
    if target.name == "boolean":
        node = exp.Boolean(this=spelled == "true")
    elif target.is_string:
        node = exp.Literal.string(spelled)
    elif target == NUMERIC and not spelled.startswith("-"):
        return number_literal(spelled, position)
    elif target.is_integer and not spelled.startswith("-"):
        node = exp.Literal.number(spelled)
    else:
        node = exp.Cast(this=typed(exp.Literal.string(spelled), TEXT), to=cast(exp.Null(), target).args["to"])
    node = typed(node, target)
    return node if position is None else node.update_positions(start=position - 1)


def _canonical_array(text: str, target: SqlType, position: int | None) -> str:
    elements = split_array(text, position)
    return join_array([None if one is None else canonical(one, target.element, position=position) for one in elements])


def explicit_cast(node: exp.Expr, target: SqlType, written: exp.Expr) -> exp.Expr:
    """`CAST(node AS target)` as the user asked for it, or PostgreSQL's error if there is no such cast."""
    source = type_of(node)
    if source == UNKNOWN:
        return _known(unwrapped(node), target)
    if not can_cast(source, target):
        message = f"cannot cast type {type_name(source)} to {type_name(target)}"
        raise error_at(SqlState.CANNOT_COERCE, message, written)
    if target == NUMERIC and (source.is_integer or source.name == "numeric"):
        return as_numeric(node)
    return node if source == target else cast(node, target)


def resolve_unknown(node: exp.Expr) -> exp.Expr:
    """A literal whose type nothing has decided is text."""
    return coerce(node, TEXT) if note_of(node).type == UNKNOWN else node


def assignment(expression: exp.Expr, source: SqlType, target: SqlType, *, column: str = "?column?") -> exp.Expr:
    """The expression cast for storing in a column of the target type, by PostgreSQL's assignment rules.

    The cast is marked: a text too long for varchar(n) is an error when stored, where CAST would cut it.
    """
    if target.is_array:
        hint = "Store one row for each element."
        raise not_supported(f'column "{column}" of type {target}', hint=hint, position=position_of(expression))
    if not can_assign(source, target):
        message = f'column "{column}" is of type {type_name(target)} but expression is of type {type_name(source)}'
        hint = "You will need to rewrite or cast the expression."
        raise error(SqlState.DATATYPE_MISMATCH, message, expression, hint=hint)
    if source == UNKNOWN and target.length is not None:
        expression, source = _known(unwrapped(expression), TEXT), TEXT
    if source == UNKNOWN:
        return _known(unwrapped(expression), target)
    if source == target or (target == NUMERIC and source.name == "numeric"):
        return expression
    made = cast(expression, target)
    made.set("action", "assignment")
    return made
