"""Expressions of queries over the system catalogs, node by node, in SQLite's SQL with PostgreSQL's types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from sqlglot import exp

from millpond.errors import SqlState
from millpond.pgcatalog.types import element_of, is_list, lower_bound
from millpond.sql.nodes import error, fold
from millpond.sql.signatures import NO_FUNCTION, function_name
from millpond.sql.sql_types import UNKNOWN
from millpond.sql.sqlite import calls
from millpond.sql.sqlite.scope import Scope, Sql, Untranslatable, quoted, string
from millpond.sql.sqlite.types import (
    RECORD,
    arithmetic_type,
    cast,
    coerced,
    common,
    is_text,
    matched,
    written_type,
)
from millpond.types import BIGINT, BOOLEAN, INTEGER, NUMERIC, TEXT, SqlType, array_of

INTEGER_MAX = 2**31 - 1

CALL_SCHEMAS = ("pg_catalog", "information_schema")


class Subquery(Protocol):
    """Translates a query below; gives its text and the types of its columns."""

    def __call__(self, node: exp.Expr, scope: Scope) -> tuple[str, list[SqlType]]: ...


class Expressions:
    """Translates expressions in a scope; queries inside them go to `subquery`."""

    def __init__(self, scope: Scope, subquery: Subquery) -> None:
        self.scope, self._subquery = scope, subquery

    def __call__(self, node: exp.Expr) -> Sql:
        rule = _RULES.get(type(node))
        if rule is None:
            raise Untranslatable(type(node).__name__)
        return rule(self, node)

    def all(self, nodes: Iterable[exp.Expr]) -> list[Sql]:
        return [self(node) for node in nodes]

    def query(self, node: exp.Expr) -> tuple[str, list[SqlType]]:
        inner = node.this if isinstance(node, exp.Subquery) and not node.args.get("alias") else node
        return self._subquery(inner, self.scope.inner())

    def condition(self, node: exp.Expr) -> str:
        """A condition; a literal there is a boolean."""
        return coerced(self(node), BOOLEAN, self.scope.statement).text


Rule = Callable[[Expressions, exp.Expr], Sql]


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


def _connective(word: str) -> Rule:
    def rule(translate: Expressions, node: exp.Expr) -> Sql:
        left, right = translate.condition(node.this), translate.condition(node.expression)
        return Sql(f"({left} {word} {right})", BOOLEAN)

    return rule


def _not(translate: Expressions, node: exp.Expr) -> Sql:
    return Sql(f"(NOT {translate.condition(node.this)})", BOOLEAN)


# -- comparisons ---------------------------------------------------------------------------------------------------


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
    calls_by_word = {"LIKE": "mp_like", "ILIKE": "mp_ilike", "~": "mp_matches", "~*": "mp_imatches"}
    if word in calls_by_word:
        return f"{calls_by_word[word]}({left.text}, {right})"
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
        raise Untranslatable("IS")
    word = "NULL" if isinstance(wanted, exp.Null) else "TRUE" if wanted.this else "FALSE"
    value = translate(node.this)
    value = value if word == "NULL" else coerced(value, BOOLEAN, translate.scope.statement)
    return Sql(f"({value.text} IS {negated}{word})", BOOLEAN)


def _pattern(word: str, function: str) -> Rule:
    """LIKE and regular expressions; a negated one has its word on the node or NOT around it."""

    def rule(translate: Expressions, node: exp.Expr) -> Sql:
        quantified = _quantified(translate, node, word)
        if quantified is not None:
            return quantified
        left, right = (coerced(translate(side), TEXT, translate.scope.statement) for side in (node.this, node.expression))
        negated = "NOT " if node.args.get("negate") else ""
        return Sql(f"({negated}{function}({cast(left, TEXT).text}, {right.text}))", BOOLEAN)

    return rule


def _escape(translate: Expressions, node: exp.Expr) -> Sql:
    like = node.this
    function = {exp.Like: "mp_like", exp.ILike: "mp_ilike"}.get(type(like))
    if function is None:
        raise Untranslatable("ESCAPE")
    left, right, mark = (translate(side) for side in (like.this, like.expression, node.expression))
    negated = "NOT " if like.args.get("negate") else ""
    return Sql(f"({negated}{function}({left.text}, {right.text}, {mark.text}))", BOOLEAN)


def _operator(translate: Expressions, node: exp.Expr) -> Sql:
    """`OPERATOR(pg_catalog.~)`: the operator of that name."""
    name = str(node.args["operator"]).rpartition(".")[2].strip()
    negated, _, bare = name.rpartition("!")
    rule = _OPERATORS.get(name) or (_OPERATORS.get(bare) if negated == "" and name.startswith("!") else None)
    if rule is None:
        raise Untranslatable(f"operator {name}")
    made = rule(translate, node)
    return Sql(f"(NOT {made.text})", BOOLEAN) if name not in _OPERATORS else made


# -- other operators -----------------------------------------------------------------------------------------------


def _arithmetic(word: str) -> Rule:
    def rule(translate: Expressions, node: exp.Expr) -> Sql:
        left, right = matched(translate(node.this), translate(node.expression), translate.scope.statement)
        return Sql(f"({left.text} {word} {right.text})", arithmetic_type(left.type, right.type))

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


def _array(translate: Expressions, node: exp.Expr) -> Sql:
    if len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Query):
        return _array_of_query(translate, node)
    met, kind = common(translate.all(node.expressions), translate.scope.statement)
    return Sql(f"json_array({', '.join(value.text for value in met)})", array_of(TEXT if kind == UNKNOWN else kind))


def _array_of_query(translate: Expressions, node: exp.Expr) -> Sql:
    text, types = translate.query(node.expressions[0])
    item = quoted(translate.scope.statement.new_item())
    kind = array_of(TEXT if types[0] == UNKNOWN else types[0])
    return Sql(f"(SELECT json_group_array(c0) FROM (SELECT * FROM ({text})) AS {item})", kind)


def _element(translate: Expressions, node: exp.Expr) -> Sql:
    array = translate(node.this)
    if not is_list(array.type) or len(node.expressions) != 1 or isinstance(node.expressions[0], exp.Slice):
        raise Untranslatable("a subscript")
    place = f"{translate(node.expressions[0]).text} - {lower_bound(array.type)}"
    return Sql(f"mp_element({array.text}, {place})", element_of(array.type))


def _dot(translate: Expressions, node: exp.Expr) -> Sql:
    """`pg_catalog.f(x)`, or a field of what a function returned."""
    if isinstance(node.this, exp.Identifier) and isinstance(node.expression, exp.Anonymous):
        if fold(node.this) not in CALL_SCHEMAS:
            raise Untranslatable("a function of another schema")
        return _call(translate, node.expression)
    field = fold(node.expression)
    value = node.this.this if isinstance(node.this, exp.Paren) else node.this
    called = called_function(value)
    if called is not None and calls.returns_rows(function_name(called)):
        return row_value(translate, called, field)
    record = translate(value)
    if record.type != RECORD:
        raise Untranslatable("a field")
    return Sql(f"json_extract({record.text}, {string(f'$.{field}')})", UNKNOWN)


def called_function(node: exp.Expr) -> exp.Anonymous | None:
    """The call that a node is, with or without a schema before it."""
    if isinstance(node, exp.Dot) and isinstance(node.this, exp.Identifier):
        node = node.expression
    return node if isinstance(node, exp.Anonymous) else None


def row_value(translate: Expressions, node: exp.Anonymous, field: str | None = None) -> Sql:
    """A function that returns rows, in the select list: a column of what is joined for it."""
    made = calls.row_function(function_name(node), translate.all(node.expressions))
    item = translate.scope.extra.setdefault(made.elements, translate.scope.statement.new_item())
    if field is None and len(made.columns) > 1:
        pairs = ", ".join(f"{string(one.name)}, {one.text.format(item)}" for one in made.columns)
        return Sql(f"json_object({pairs})", RECORD)
    column = made.columns[0] if field is None else next((one for one in made.columns if one.name == field), None)
    if column is None:
        raise error(SqlState.UNDEFINED_COLUMN, f'column "{field}" not found in data type record', node)
    return Sql(column.text.format(item), column.type)


def _call(translate: Expressions, node: exp.Expr) -> Sql:
    name = function_name(node)
    if name == "array":
        return _array(translate, node)
    if name == "row":
        return _tuple(translate, node)
    if calls.returns_rows(name):
        assert isinstance(node, exp.Anonymous)
        return row_value(translate, node)
    if name in calls.AGGREGATES:
        return _aggregate(translate, name, node)
    arguments = translate.all(node.expressions)
    made = calls.scalar(name, arguments, translate.scope.statement)
    if made is None:
        words = ", ".join(str(argument.type) for argument in arguments)
        raise error(SqlState.UNDEFINED_FUNCTION, f"function {name}({words}) does not exist", node, hint=NO_FUNCTION)
    return made


def _aggregate(translate: Expressions, name: str, node: exp.Expr) -> Sql:
    written, ordering, distinct = list(node.expressions), calls.Ordering(), False
    if written and isinstance(written[-1], exp.Order):
        ordering = _ordering(translate, written[-1])
        written[-1] = written[-1].this
    if written and isinstance(written[0], exp.Distinct):
        distinct, written = True, [*written[0].expressions, *written[1:]]
    arguments = [] if written and isinstance(written[0], exp.Star) else translate.all(written)
    return calls.aggregate(name, arguments, ordering, distinct=distinct)


def _ordering(translate: Expressions, order: exp.Order) -> calls.Ordering:
    keys = tuple(translate(ordered.this) for ordered in order.expressions)
    flags = "".join(
        ("d" if ordered.args.get("desc") else "a") + ("f" if ordered.args.get("nulls_first") else "l")
        for ordered in order.expressions
    )
    return calls.Ordering(keys, flags)


def _filter(translate: Expressions, node: exp.Expr) -> Sql:
    value = translate(node.this)
    return Sql(f"{value.text} FILTER (WHERE {translate.condition(node.expression.this)})", value.type)


def _window(translate: Expressions, node: exp.Expr) -> Sql:
    called = called_function(node.this)
    name = function_name(called) if called is not None else ""
    if name not in calls.WINDOW_FUNCTIONS | {"count", "min", "max", "sum"} or node.args.get("spec"):
        raise Untranslatable("this window function")
    value = translate(node.this)
    parts = [translate(part).text for part in node.args.get("partition_by") or []]
    by = f"PARTITION BY {', '.join(parts)} " if parts else ""
    order = node.args.get("order")
    keys = ", ".join(ordered_text(translate(key.this).text, key) for key in order.expressions) if order else ""
    return Sql(f"{value.text} OVER ({by}{f'ORDER BY {keys}' if keys else ''})", value.type)


def ordered_text(text: str, key: exp.Expr) -> str:
    """A sort key: SQLite's NULLs come first, PostgreSQL's are the largest."""
    direction = "DESC" if key.args.get("desc") else "ASC"
    return f"{text} {direction} NULLS {'FIRST' if key.args.get('nulls_first') else 'LAST'}"


def _tuple(translate: Expressions, node: exp.Expr) -> Sql:
    return Sql(f"({', '.join(value.text for value in translate.all(node.expressions))})", RECORD)


def _subquery(translate: Expressions, node: exp.Expr) -> Sql:
    text, types = translate.query(node)
    return Sql(f"({text})", types[0])


def _exists(translate: Expressions, node: exp.Expr) -> Sql:
    return Sql(f"EXISTS ({translate.query(node.this)[0]})", BOOLEAN)


def _named_constant(name: str) -> Rule:
    return lambda _translate, _node: Sql(f"{name}()", SqlType("name"))


def _substring(translate: Expressions, node: exp.Expr) -> Sql:
    start = node.args.get("start")
    if isinstance(start, exp.Literal) and start.is_string:
        raise Untranslatable("a substring by pattern")
    parts = [node.this, start or exp.Literal.number(1), *([node.args["length"]] if node.args.get("length") else [])]
    return Sql(f"substr({', '.join(value.text for value in translate.all(parts))})", TEXT)


def _position(translate: Expressions, node: exp.Expr) -> Sql:
    where, what = translate(node.this), translate(node.args["substr"])
    return Sql(f"strpos({where.text}, {what.text})", INTEGER)


def _trim(translate: Expressions, node: exp.Expr) -> Sql:
    side = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position")).upper(), "btrim")
    parts = [node.this, *([node.expression] if node.args.get("expression") else [])]
    return Sql(f"{side}({', '.join(value.text for value in translate.all(parts))})", TEXT)


_LIKE, _ILIKE = _pattern("LIKE", "mp_like"), _pattern("ILIKE", "mp_ilike")
_MATCHES, _IMATCHES = _pattern("~", "mp_matches"), _pattern("~*", "mp_imatches")

_OPERATORS: Mapping[str, Rule] = {
    **{word: _comparison(word) for word in ("=", "<>", "<", "<=", ">", ">=")},
    **{word: _arithmetic(word) for word in ("+", "-", "*", "/", "%")},
    "~": _MATCHES,
    "~*": _IMATCHES,
    "~~": _LIKE,
    "~~*": _ILIKE,
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
    exp.And: _connective("AND"),
    exp.Or: _connective("OR"),
    exp.Not: _not,
    exp.EQ: _OPERATORS["="],
    exp.NEQ: _OPERATORS["<>"],
    exp.LT: _OPERATORS["<"],
    exp.LTE: _OPERATORS["<="],
    exp.GT: _OPERATORS[">"],
    exp.GTE: _OPERATORS[">="],
    exp.NullSafeEQ: _comparison("IS"),
    exp.NullSafeNEQ: _comparison("IS NOT"),
    exp.In: _in,
    exp.Between: _between,
    exp.Is: _is,
    exp.Like: _LIKE,
    exp.ILike: _ILIKE,
    exp.RegexpLike: _MATCHES,
    exp.RegexpILike: _IMATCHES,
    exp.Escape: _escape,
    exp.Operator: _operator,
    exp.Add: _OPERATORS["+"],
    exp.Sub: _OPERATORS["-"],
    exp.Mul: _OPERATORS["*"],
    exp.Div: _OPERATORS["/"],
    exp.Mod: _OPERATORS["%"],
    exp.BitwiseAnd: _arithmetic("&"),
    exp.BitwiseOr: _arithmetic("|"),
    exp.Neg: _negative,
    exp.DPipe: _concatenation,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.Collate: _collate,
    exp.Array: _array,
    exp.Bracket: _element,
    exp.Dot: _dot,
    exp.Anonymous: _call,
    exp.Filter: _filter,
    exp.Window: _window,
    exp.Tuple: _tuple,
    exp.Subquery: _subquery,
    exp.Exists: _exists,
    exp.CurrentUser: _named_constant("current_user"),
    exp.SessionUser: _named_constant("session_user"),
    exp.CurrentCatalog: _named_constant("current_database"),
    exp.CurrentSchema: _named_constant("current_schema"),
    exp.Substring: _substring,
    exp.StrPosition: _position,
    exp.Trim: _trim,
}
