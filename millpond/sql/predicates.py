"""Binding of predicates: IN, ANY and ALL, EXISTS, BETWEEN, IS, LIKE and the regular expressions, and rows compared."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.errors import SqlState, not_supported
from millpond.sql.array_comparisons import compare, elements_of, over_array, over_elements
from millpond.sql.coercion import coerce, common_type, constant
from millpond.sql.context import BoundColumns, Context, Rule
from millpond.sql.nodes import (
    PLACE,
    annotate,
    conjunction,
    disjunction,
    error,
    error_at,
    identifier,
    position_of,
    type_of,
    typed,
    unwrapped,
)
from millpond.sql.operators import NO_OPERATOR, comparable, equality, no_operator
from millpond.sql.operators import RULES as OPERATORS
from millpond.sql.sql_types import UNKNOWN, type_name
from millpond.types import BOOLEAN, TEXT


def _comparison(node: exp.Expr, context: Context) -> exp.Expr:
    """A comparison of two values, of two rows, or of a value with the rows of a subquery."""
    quantifier = _quantifier(node.expression)
    if quantifier is not None:
        return _quantified(node, quantifier, context)
    left_row, right_row = _row(node.this), _row(node.expression)
    if left_row is not None and right_row is not None:
        return _compare_rows(node, context.bind_all(left_row), context.bind_all(right_row))
    return OPERATORS[type(node)](node, context)


def _quantifier(node: exp.Expr) -> exp.Expr | None:
    """ANY or ALL on the right of a comparison; before an array the parser takes ALL for a function."""
    if isinstance(node, (exp.Any, exp.All)):
        return node
    if isinstance(node, exp.Anonymous) and len(node.expressions) == 1:
        kind = {"any": exp.Any, "some": exp.Any, "all": exp.All}.get(str(node.this).lower())
        return kind(this=node.expressions[0].copy()) if kind else None
    return None


def _row(node: exp.Expr) -> Sequence[exp.Expr] | None:
    """The expressions of `(a, b)` or `ROW(a, b)`."""
    if isinstance(node, exp.Tuple):
        return list(node.expressions)
    if isinstance(node, exp.Anonymous) and node.name.lower() == "row":
        return list(node.expressions)
    return None


def _compare_rows(node: exp.Expr, left: Sequence[exp.Expr], right: Sequence[exp.Expr]) -> exp.Expr:
    """`(a, b) = (c, d)` is `a = c AND b = d`; `(a, b) < (c, d)` is `a < c OR (a = c AND b < d)`."""
    if len(left) != len(right):
        raise error_at(SqlState.SYNTAX_ERROR, "unequal number of entries in row expressions", node)
    pairs = [comparable(node, one, other) for one, other in zip(left, right, strict=True)]
    if isinstance(node, (exp.EQ, exp.NullSafeEQ)):
        return conjunction([compare(type(node), *pair) for pair in pairs])
    if isinstance(node, (exp.NEQ, exp.NullSafeNEQ)):
        return disjunction([compare(type(node), *pair) for pair in pairs])
    strict = _STRICT.get(type(node), type(node))
    whole = compare(type(node), *pairs[-1])
    for pair in reversed(pairs[:-1]):
        tie = conjunction([compare(exp.EQ, *pair), whole])
        whole = disjunction([compare(strict, *pair), tie])
    return whole


_STRICT: dict[type[exp.Expr], type[exp.Expr]] = {exp.LTE: exp.LT, exp.GTE: exp.GT}


def _quantified(node: exp.Expr, quantifier: exp.Expr, context: Context) -> exp.Expr:
    """`x = ANY (...)` is `x IN (...)`, `x <> ALL (...)` is `x NOT IN (...)`; other operators keep their quantifier."""
    operand = unwrapped(quantifier.this)
    is_any = isinstance(quantifier, exp.Any)
    elements = elements_of(operand, context)
    if elements is not None:
        return over_elements(node, context.bind(node.this), elements, is_any=is_any)
    if not isinstance(operand, exp.Query):
        return over_array(node, operand, context, is_any=is_any)
    if (isinstance(node, exp.EQ) and is_any) or (isinstance(node, exp.NEQ) and not is_any):
        member = _in_query(_placed_in(node, operand), context)
        return member if is_any else typed(exp.Not(this=member), BOOLEAN)
    query = _one_column(operand, context)
    left, right = comparable(node, context.bind(node.this), _stand_in(query))
    if type_of(right) != query.types[0]:
        raise no_operator(node, type_of(left), query.types[0])
    subquery = typed(exp.Subquery(this=query.tree), query.types[0])
    return typed(type(node)(this=left, expression=type(quantifier)(this=subquery)), BOOLEAN)


def _placed_in(node: exp.Expr, query: exp.Expr) -> exp.In:
    made = exp.In(this=node.this, query=query)
    made.meta.update({PLACE: node.meta[PLACE]} if PLACE in node.meta else {})
    return made


def _in(node: exp.Expr, context: Context) -> exp.Expr:
    if node.args.get("query"):
        return _in_query(node, context)
    if not node.expressions:
        raise error(SqlState.SYNTAX_ERROR, 'syntax error at or near ")"', node)
    row = _row(node.this)
    if row is not None:
        left = context.bind_all(row)
        return disjunction([_row_equals(left, item, context) for item in node.expressions])
    items = context.bind_all(node.expressions)
    operand = _decided(context.bind(node.this), items)
    alike = [comparable(equality(operand, node), operand, item)[1] for item in items]
    return typed(exp.In(this=operand, expressions=alike), BOOLEAN)


def _row_equals(left: Sequence[exp.Expr], item: exp.Expr, context: Context) -> exp.Expr:
    right = _row(item)
    if right is None:
        raise error(SqlState.SYNTAX_ERROR, "unequal number of entries in row expressions", item)
    return _compare_rows(exp.EQ(), left, context.bind_all(right))


def _decided(operand: exp.Expr, items: Sequence[exp.Expr]) -> exp.Expr:
    """The left side of IN: a literal of open type takes the type of the list."""
    if type_of(operand) != UNKNOWN:
        return operand
    return coerce(operand, common_type([type_of(item) for item in items]) or TEXT)


def _in_query(node: exp.Expr, context: Context) -> exp.Expr:
    row = _row(node.this)
    left = context.bind_all(row if row is not None else [node.this])
    written = node.args["query"]
    query = context.subquery(written)
    if len(query.types) != len(left):
        few = "few" if len(query.types) < len(left) else "many"
        raise error_at(SqlState.SYNTAX_ERROR, f"subquery has too {few} columns", node)
    operands = [comparable(equality(one, node), one, _stand_in(query, place))[0] for place, one in enumerate(left)]
    this = operands[0] if row is None else exp.Tuple(expressions=operands)
    subquery = typed(exp.Subquery(this=query.tree), query.types[0])
    return typed(exp.In(this=this, query=subquery), BOOLEAN)


def _stand_in(query: BoundColumns, place: int = 0) -> exp.Expr:
    """A typed node for a column of a subquery, to look up the operator with."""
    return typed(exp.Column(this=identifier("column")), query.types[place])


def _one_column(written: exp.Expr, context: Context) -> BoundColumns:
    query = context.subquery(written)
    if len(query.types) != 1:
        raise error(SqlState.SYNTAX_ERROR, "subquery must return only one column", written)
    return query


def _scalar_subquery(node: exp.Expr, context: Context) -> exp.Expr:
    query = _one_column(node, context)
    return typed(exp.Subquery(this=query.tree), query.types[0])


def _exists(node: exp.Expr, context: Context) -> exp.Expr:
    query = context.subquery(node.this)
    return typed(exp.Exists(this=query.tree), BOOLEAN)


def _between(node: exp.Expr, context: Context) -> exp.Expr:
    operand, low, high = context.bind(node.this), context.bind(node.args["low"]), context.bind(node.args["high"])
    if type_of(operand) == UNKNOWN:
        operand = coerce(operand, common_type([type_of(low), type_of(high)]) or TEXT)
    low = comparable(exp.GTE(this=operand), operand, low)[1]
    high = comparable(exp.LTE(this=operand), operand, high)[1]
    made = exp.Between(this=operand, low=low, high=high)
    if node.args.get("symmetric"):
        made.set("symmetric", True)
    return typed(made, BOOLEAN)


def _is(node: exp.Expr, context: Context) -> exp.Expr:
    """IS [NOT] NULL, TRUE, FALSE, UNKNOWN."""
    tested = unwrapped(node.expression)
    row = _row(node.this)
    if row is not None:
        raise not_supported("IS NULL of a row", hint="Test its columns.", position=position_of(node))
    if isinstance(tested, exp.Boolean):
        operand = context.condition(node.this, f"IS {'TRUE' if tested.this else 'FALSE'}")
        made: exp.Expr = exp.Is(this=operand, expression=exp.Boolean(this=tested.this))
    elif isinstance(tested, exp.Null):
        operand = context.bind(node.this)
        made = exp.Is(this=coerce(operand, TEXT) if type_of(operand) == UNKNOWN else operand, expression=exp.Null())
    else:
        raise not_supported("this form of IS", position=position_of(node))
    made = typed(made, BOOLEAN)
    return typed(exp.Not(this=made), BOOLEAN) if node.args.get("negate") else made


def _match(node: exp.Expr, context: Context) -> exp.Expr:
    """LIKE, ILIKE, SIMILAR TO and the regular expressions: text on both sides."""
    symbol = _MATCH_SYMBOLS[type(node)]
    if isinstance(node.expression, (exp.Any, exp.All)):
        raise not_supported("LIKE ANY", hint="Write the patterns out, joined by OR.", position=position_of(node))
    operands = []
    for side in (node.this, node.expression):
        bound = context.bind(side)
        if not type_of(bound).is_string and type_of(bound) != UNKNOWN:
            names = [type_name(type_of(context.bind(one))) for one in (node.this, node.expression)]
            message = f"operator does not exist: {names[0]} {symbol} {names[1]}"
            raise error_at(SqlState.UNDEFINED_FUNCTION, message, node, hint=NO_OPERATOR)
        operands.append(coerce(bound, TEXT))
    made = typed(type(node)(this=operands[0], expression=operands[1]), BOOLEAN)
    return typed(exp.Not(this=made), BOOLEAN) if node.args.get("negate") else made


_MATCH_SYMBOLS: dict[type[exp.Expr], str] = {
    exp.Like: "~~",
    exp.ILike: "~~*",
    exp.SimilarTo: "~",
    exp.RegexpLike: "~",
    exp.RegexpILike: "~*",
}


def _escape(node: exp.Expr, context: Context) -> exp.Expr:
    """`x LIKE pattern ESCAPE 'c'`; the character must be a literal."""
    character = unwrapped(node.expression)
    if not (isinstance(character, exp.Literal) and character.is_string):
        raise not_supported("ESCAPE with an expression", position=position_of(node))
    if len(character.this) > 1:
        message = "invalid escape string"
        raise error(SqlState.INVALID_PARAMETER_VALUE, message, character, hint=_ESCAPE_HINT)
    matched = context.bind(node.this)
    negated = isinstance(matched, exp.Not)
    inner = matched.this if negated else matched
    made = typed(exp.Escape(this=inner, expression=constant(character.this, TEXT)), BOOLEAN)
    return annotate(exp.Not(this=made), type=BOOLEAN) if negated else made


_ESCAPE_HINT = "Escape string must be empty or one character."


def _overlaps(node: exp.Expr, _context: Context) -> exp.Expr:
    raise not_supported("OVERLAPS", hint="Compare the bounds.", position=position_of(node))


RULES: dict[type[exp.Expr], Rule] = {
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), _comparison),
    **dict.fromkeys((exp.NullSafeEQ, exp.NullSafeNEQ), _comparison),
    **dict.fromkeys(_MATCH_SYMBOLS, _match),
    exp.In: _in,
    exp.Exists: _exists,
    exp.Subquery: _scalar_subquery,
    exp.Select: _scalar_subquery,
    exp.Between: _between,
    exp.Is: _is,
    exp.Escape: _escape,
    exp.Overlaps: _overlaps,
}
