"""Expressions of queries over the system catalogs, node by node, in SQLite's SQL with PostgreSQL's types."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from millpond.pgcatalog.types import is_list
from millpond.sql.nodes import fold
from millpond.sql.sql_types import UNKNOWN
from millpond.sql.sqlite import calls, predicates
from millpond.sql.sqlite.context import Expressions, Rule, Subquery
from millpond.sql.sqlite.scope import Scope, Sql, UntranslatableError, string
from millpond.sql.sqlite.types import arithmetic_type, cast, coerced, common, matched, written_type
from millpond.types import BIGINT, BOOLEAN, INTEGER, NUMERIC, TEXT, SqlType

INTEGER_MAX = 2**31 - 1


def expressions(scope: Scope, subquery: Subquery) -> Expressions:
    """A translator of expressions in a scope."""
    return Expressions(scope, subquery, _RULES)


def _literal(_translate: Expressions, node: exp.Expr) -> Sql:
    if node.args["is_string"]:
        return Sql(string(node.this), UNKNOWN, node.this)
    if not node.this.isdigit():
        return Sql(node.this, NUMERIC)
    return Sql(node.this, INTEGER if int(node.this) <= INTEGER_MAX else BIGINT)


def _string(_translate: Expressions, node: exp.Expr) -> Sql:
    return Sql(string(node.this), UNKNOWN, node.this)


def _null(_translate: Expressions, _node: exp.Expr) -> Sql:
    return Sql("NULL", UNKNOWN)


def _boolean(_translate: Expressions, node: exp.Expr) -> Sql:
    return Sql("1" if node.this else "0", BOOLEAN)


def _parameter(_translate: Expressions, node: exp.Expr) -> Sql:
    return Sql("NULL", UNKNOWN, parameter=int(node.name))


def _column(translate: Expressions, node: exp.Expr) -> Sql:
    assert isinstance(node, exp.Column)
    name = fold(node.this)
    if not node.args.get("table") and name in ("user", "current_role"):
        return Sql("current_user()", SqlType("name"))
    return translate.scope.resolve(node)


def _paren(translate: Expressions, node: exp.Expr) -> Sql:
    inner = translate(node.this)
    return inner if inner.literal is not None else Sql(f"({inner.text})", inner.type, parameter=inner.parameter)


def _operator(translate: Expressions, node: exp.Expr) -> Sql:
    """`OPERATOR(pg_catalog.~)`: the operator of that name."""
    name = str(node.args["operator"]).rpartition(".")[2].strip()
    negated, _, bare = name.rpartition("!")
    rule = _OPERATORS.get(name) or (_OPERATORS.get(bare) if negated == "" and name.startswith("!") else None)
    if rule is None:
        raise UntranslatableError(f"operator {name}")
    made = rule(translate, node)
    return Sql(f"(NOT {made.text})", BOOLEAN) if name not in _OPERATORS else made


def _arithmetic(word: str) -> Rule:
    def rule(translate: Expressions, node: exp.Expr) -> Sql:
        left, right = matched(translate(node.this), translate(node.expression), translate.scope.statement)
        operand = f"mp_divisor({right.text})" if word in "/%" else right.text
        return Sql(f"({left.text} {word} {operand})", arithmetic_type(left.type, right.type))

    return rule


def _negative(translate: Expressions, node: exp.Expr) -> Sql:
    value = translate(node.this)
    return Sql(f"(- {value.text})", value.type)


def _concatenation(translate: Expressions, node: exp.Expr) -> Sql:
    left, right = translate(node.this), translate(node.expression)
    if is_list(left.type) or is_list(right.type):
        kind = left.type if is_list(left.type) else right.type
        left, right = (coerced(side, kind, translate.scope.statement) for side in (left, right))
        return Sql(f"array_cat({left.text}, {right.text})", kind)
    return Sql(f"({cast(left, TEXT).text} || {cast(right, TEXT).text})", TEXT)


def _case(translate: Expressions, node: exp.Expr) -> Sql:
    statement, branches = translate.scope.statement, node.args["ifs"]
    operand = translate(node.this) if node.this else None
    if operand is None:
        tests = [translate.condition(branch.this) for branch in branches]
    else:
        tests = [coerced(translate(branch.this), operand.type, statement).text for branch in branches]
    default = node.args.get("default")
    results = [translate(branch.args["true"]) for branch in branches]
    met, kind = common([*results, translate(default)] if default is not None else results, statement)
    whens = " ".join(f"WHEN {test} THEN {result.text}" for test, result in zip(tests, met, strict=False))
    otherwise = f" ELSE {met[-1].text}" if default is not None else ""
    return Sql(f"CASE{'' if operand is None else f' {operand.text}'} {whens}{otherwise} END", kind)


def _cast(translate: Expressions, node: exp.Expr) -> Sql:
    target = written_type(node.args["to"])
    value = translate(node.this)
    if value.parameter is not None:
        value = coerced(value, target, translate.scope.statement)
    return cast(value, target)


def _collate(translate: Expressions, node: exp.Expr) -> Sql:
    return translate(node.this)


def _subquery(translate: Expressions, node: exp.Expr) -> Sql:
    text, types = translate.query(node)
    return Sql(f"({text})", types[0])


def _exists(translate: Expressions, node: exp.Expr) -> Sql:
    return Sql(f"EXISTS ({translate.query(node.this)[0]})", BOOLEAN)


_OPERATORS: Mapping[str, Rule] = {
    **predicates.OPERATORS,
    **{word: _arithmetic(word) for word in ("+", "-", "*", "/", "%")},
    "||": _concatenation,
}

_RULES: Mapping[type[exp.Expr], Rule] = {
    exp.Literal: _literal,
    exp.ByteString: _string,
    exp.RawString: _string,
    exp.National: _string,
    exp.Null: _null,
    exp.Boolean: _boolean,
    exp.Parameter: _parameter,
    exp.Column: _column,
    exp.Paren: _paren,
    exp.Operator: _operator,
    exp.Add: _arithmetic("+"),
    exp.Sub: _arithmetic("-"),
    exp.Mul: _arithmetic("*"),
    exp.Div: _arithmetic("/"),
    exp.Mod: _arithmetic("%"),
    exp.BitwiseAnd: _arithmetic("&"),
    exp.BitwiseOr: _arithmetic("|"),
    exp.Neg: _negative,
    exp.DPipe: _concatenation,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.Collate: _collate,
    exp.Subquery: _subquery,
    exp.Exists: _exists,
    **predicates.RULES,
    **calls.RULES,
}
