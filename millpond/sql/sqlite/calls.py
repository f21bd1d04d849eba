"""Calls in expressions: functions with and without a schema, those that return rows, aggregates and windows."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from millpond.errors import SqlState
from millpond.pgcatalog.types import element_of, is_list, lower_bound
from millpond.sql.nodes import error, fold
from millpond.sql.signatures import NO_FUNCTION, function_name
from millpond.sql.sql_types import UNKNOWN
from millpond.sql.sqlite import functions
from millpond.sql.sqlite.context import Expressions, Rule
from millpond.sql.sqlite.scope import Sql, UntranslatableError, quoted, string
from millpond.sql.sqlite.types import RECORD, common
from millpond.types import INTEGER, TEXT, SqlType, array_of

CALL_SCHEMAS = ("pg_catalog", "information_schema")


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
        raise UntranslatableError("a subscript")
    place = f"{translate(node.expressions[0]).text} - {lower_bound(array.type)}"
    return Sql(f"mp_element({array.text}, {place})", element_of(array.type))


def _dot(translate: Expressions, node: exp.Expr) -> Sql:
    """`pg_catalog.f(x)`, or a field of what a function returned."""
    if isinstance(node.this, exp.Identifier) and isinstance(node.expression, exp.Anonymous):
        if fold(node.this) not in CALL_SCHEMAS:
            raise UntranslatableError("a function of another schema")
        return _call(translate, node.expression)
    field = fold(node.expression)
    value = node.this.this if isinstance(node.this, exp.Paren) else node.this
    called = called_function(value)
    if called is not None and functions.returns_rows(function_name(called)):
        return row_value(translate, called, field)
    record = translate(value)
    if record.type != RECORD or not field.isidentifier():
        raise UntranslatableError("a field")
    return Sql(f"json_extract({record.text}, {string(f'$.{field}')})", UNKNOWN)


def called_function(node: exp.Expr) -> exp.Anonymous | None:
    """The call that a node is, with or without a schema before it."""
    if isinstance(node, exp.Dot) and isinstance(node.this, exp.Identifier):
        node = node.expression
    return node if isinstance(node, exp.Anonymous) else None


def row_value(translate: Expressions, node: exp.Anonymous, field: str | None = None) -> Sql:
    """A function that returns rows, in the select list: a column of what is joined for it."""
    made = functions.row_function(function_name(node), translate.all(node.expressions))
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
    if functions.returns_rows(name):
        assert isinstance(node, exp.Anonymous)
        return row_value(translate, node)
    if name in functions.AGGREGATES:
        return _aggregate(translate, name, node)
    arguments = translate.all(node.expressions)
    made = functions.scalar(name, arguments, translate.scope.statement)
    if made is None:
        words = ", ".join(str(argument.type) for argument in arguments)
        raise error(SqlState.UNDEFINED_FUNCTION, f"function {name}({words}) does not exist", node, hint=NO_FUNCTION)
    return made


def _aggregate(translate: Expressions, name: str, node: exp.Expr) -> Sql:
    written, ordering, distinct = list(node.expressions), functions.Ordering(), False
    if written and isinstance(written[-1], exp.Order):
        ordering = _ordering(translate, written[-1])
        written[-1] = written[-1].this
    if written and isinstance(written[0], exp.Distinct):
        distinct, written = True, [*written[0].expressions, *written[1:]]
    arguments = [] if written and isinstance(written[0], exp.Star) else translate.all(written)
    return functions.aggregate(name, arguments, ordering, distinct=distinct)


def _ordering(translate: Expressions, order: exp.Order) -> functions.Ordering:
    keys = tuple(translate(ordered.this) for ordered in order.expressions)
    flags = "".join(
        ("d" if ordered.args.get("desc") else "a") + ("f" if ordered.args.get("nulls_first") else "l")
        for ordered in order.expressions
    )
    return functions.Ordering(keys, flags)


def _filter(translate: Expressions, node: exp.Expr) -> Sql:
    value = translate(node.this)
    return Sql(f"{value.text} FILTER (WHERE {translate.condition(node.expression.this)})", value.type)


def _window(translate: Expressions, node: exp.Expr) -> Sql:
    called = called_function(node.this)
    name = function_name(called) if called is not None else ""
    if name not in functions.WINDOW_FUNCTIONS | {"count", "min", "max", "sum"} or node.args.get("spec"):
        raise UntranslatableError("this window function")
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


def _named_constant(name: str) -> Rule:
    return lambda _translate, _node: Sql(f"{name}()", SqlType("name"))


def _substring(translate: Expressions, node: exp.Expr) -> Sql:
    start = node.args.get("start")
    if isinstance(start, exp.Literal) and start.is_string:
        raise UntranslatableError("a substring by pattern")
    parts = [node.this, start or exp.Literal.number(1), *([node.args["length"]] if node.args.get("length") else [])]
    return Sql(f"substr({', '.join(value.text for value in translate.all(parts))})", TEXT)


def _position(translate: Expressions, node: exp.Expr) -> Sql:
    where, what = translate(node.this), translate(node.args["substr"])
    return Sql(f"strpos({where.text}, {what.text})", INTEGER)


def _trim(translate: Expressions, node: exp.Expr) -> Sql:
    side = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position")).upper(), "btrim")
    parts = [node.this, *([node.expression] if node.args.get("expression") else [])]
    return Sql(f"{side}({', '.join(value.text for value in translate.all(parts))})", TEXT)


RULES: Mapping[type[exp.Expr], Rule] = {
    exp.Array: _array,
    exp.Bracket: _element,
    exp.Dot: _dot,
    exp.Anonymous: _call,
    exp.Filter: _filter,
    exp.Window: _window,
    exp.Tuple: _tuple,
    exp.CurrentUser: _named_constant("current_user"),
    exp.SessionUser: _named_constant("session_user"),
    exp.CurrentCatalog: _named_constant("current_database"),
    exp.CurrentSchema: _named_constant("current_schema"),
    exp.Substring: _substring,
    exp.StrPosition: _position,
    exp.Trim: _trim,
}
