"""Conditions: comparisons, IN, ANY and ALL, BETWEEN, IS, LIKE and regular expressions."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from millpond.pgcatalog.types import element_of, is_list
from millpond.sql.signatures import function_name
from millpond.sql.sql_types import UNKNOWN
from millpond.sql.sqlite.context import Expressions, Rule
from millpond.sql.sqlite.scope import Sql, UntranslatableError, quoted
from millpond.sql.sqlite.types import cast, coerced, matched
from millpond.types import BOOLEAN, TEXT, array_of

_PATTERNS = {"LIKE": "mp_like", "ILIKE": "mp_ilike", "~": "mp_matches", "~*": "mp_imatches"}


def _connective(word: str) -> Rule:
    def rule(translate: Expressions, node: exp.Expr) -> Sql:
        left, right = translate.condition(node.this), translate.condition(node.expression)
        return Sql(f"({left} {word} {right})", BOOLEAN)

    return rule


def _not(translate: Expressions, node: exp.Expr) -> Sql:
    return Sql(f"(NOT {translate.condition(node.this)})", BOOLEAN)


def _comparison(word: str) -> Rule:
    def rule(translate: Expressions, node: exp.Expr) -> Sql:
        quantified = _quantified(translate, node, word)
        if quantified is not None:
            return quantified
        left, right = matched(translate(node.this), translate(node.expression), translate.scope.statement)
        return Sql(f"({left.text} {word} {right.text})", BOOLEAN)

    return rule


def _quantified(translate: Expressions, node: exp.Expr, word: str) -> Sql | None:
    """`x = ANY (array)` and `x <> ALL (array)`, or of a subquery."""
    right = node.expression
    is_all = isinstance(right, exp.All) or (isinstance(right, exp.Anonymous) and function_name(right) == "all")
    if not is_all and not isinstance(right, exp.Any):
        return None
    argument = right.expressions[0] if isinstance(right, exp.Anonymous) else right.this
    argument = argument.this if isinstance(argument, exp.Paren) else argument
    left = translate(node.this)
    elements, left = _elements(translate, argument, left)
    if word == "=" and not is_all:
        return Sql(f"({left.text} IN ({elements}))", BOOLEAN)
    if word == "<>" and is_all:
        return Sql(f"({left.text} NOT IN ({elements}))", BOOLEAN)
    item = quoted(translate.scope.statement.new_item())
    test = _tested(word, left, f"{item}.value")
    found = f"EXISTS (SELECT 1 FROM ({elements}) AS {item} WHERE {'NOT ' if is_all else ''}{test})"
    return Sql(f"(NOT {found})" if is_all else f"({found})", BOOLEAN)


def _tested(word: str, left: Sql, right: str) -> str:
    if word in _PATTERNS:
        return f"{_PATTERNS[word]}({left.text}, {right})"
    return f"({left.text} {word} {right})"


def _elements(translate: Expressions, node: exp.Expr, left: Sql) -> tuple[str, Sql]:
    """A query of the values on the right of ANY or IN, in a column `value`."""
    statement = translate.scope.statement
    if isinstance(node, (exp.Subquery, exp.Select, exp.SetOperation)):
        text, types = translate.query(node)
        return f"SELECT * FROM ({text})", coerced(left, types[0], statement)
    array = translate(node)
    if is_list(array.type):
        element = element_of(array.type)
        return f"SELECT value FROM json_each({array.text})", coerced(left, element, statement)
    kind = array_of(TEXT if left.type == UNKNOWN else left.type)
    return f"SELECT value FROM json_each({coerced(array, kind, statement).text})", left


def _in(translate: Expressions, node: exp.Expr) -> Sql:
    left, statement = translate(node.this), translate.scope.statement
    if node.args.get("query"):
        text, types = translate.query(node.args["query"])
        return Sql(f"({coerced(left, types[0], statement).text} IN ({text}))", BOOLEAN)
    items = translate.all(node.expressions)
    known = next((item.type for item in items if item.type != UNKNOWN), UNKNOWN)
    left = coerced(left, known, statement)
    listed = ", ".join(coerced(item, left.type, statement).text for item in items)
    return Sql(f"({left.text} IN ({listed}))", BOOLEAN)


def _between(translate: Expressions, node: exp.Expr) -> Sql:
    value, statement = translate(node.this), translate.scope.statement
    low, high = (coerced(translate(node.args[end]), value.type, statement) for end in ("low", "high"))
    return Sql(f"({value.text} BETWEEN {low.text} AND {high.text})", BOOLEAN)


def _is(translate: Expressions, node: exp.Expr) -> Sql:
    negated = "NOT " if node.args.get("negate") else ""
    wanted = node.expression
    if not isinstance(wanted, (exp.Null, exp.Boolean)):
        raise UntranslatableError("IS")
    word = "NULL" if isinstance(wanted, exp.Null) else "TRUE" if wanted.this else "FALSE"
    value = translate(node.this)
    value = value if word == "NULL" else coerced(value, BOOLEAN, translate.scope.statement)
    return Sql(f"({value.text} IS {negated}{word})", BOOLEAN)


def _pattern(word: str) -> Rule:
    """LIKE and regular expressions; a negated one has its word on the node or NOT around it."""

    def rule(translate: Expressions, node: exp.Expr) -> Sql:
        quantified = _quantified(translate, node, word)
        if quantified is not None:
            return quantified
        sides = [coerced(translate(side), TEXT, translate.scope.statement) for side in (node.this, node.expression)]
        negated = "NOT " if node.args.get("negate") else ""
        return Sql(f"({negated}{_PATTERNS[word]}({cast(sides[0], TEXT).text}, {sides[1].text}))", BOOLEAN)

    return rule


def _escape(translate: Expressions, node: exp.Expr) -> Sql:
    like = node.this
    function = {exp.Like: "mp_like", exp.ILike: "mp_ilike"}.get(type(like))
    if function is None:
        raise UntranslatableError("ESCAPE")
    left, right, mark = (translate(side) for side in (like.this, like.expression, node.expression))
    negated = "NOT " if like.args.get("negate") else ""
    return Sql(f"({negated}{function}({left.text}, {right.text}, {mark.text}))", BOOLEAN)


OPERATORS: Mapping[str, Rule] = {
    **{word: _comparison(word) for word in ("=", "<>", "<", "<=", ">", ">=")},
    "~": _pattern("~"),
    "~*": _pattern("~*"),
    "~~": _pattern("LIKE"),
    "~~*": _pattern("ILIKE"),
}
"""Operators by the names that OPERATOR(pg_catalog.name) has for them."""

RULES: Mapping[type[exp.Expr], Rule] = {
    exp.And: _connective("AND"),
    exp.Or: _connective("OR"),
    exp.Not: _not,
    exp.EQ: OPERATORS["="],
    exp.NEQ: OPERATORS["<>"],
    exp.LT: OPERATORS["<"],
    exp.LTE: OPERATORS["<="],
    exp.GT: OPERATORS[">"],
    exp.GTE: OPERATORS[">="],
    exp.NullSafeEQ: _comparison("IS"),
    exp.NullSafeNEQ: _comparison("IS NOT"),
    exp.In: _in,
    exp.Between: _between,
    exp.Is: _is,
    exp.Like: OPERATORS["~~"],
    exp.ILike: OPERATORS["~~*"],
    exp.RegexpLike: OPERATORS["~"],
    exp.RegexpILike: OPERATORS["~*"],
    exp.Escape: _escape,
}
