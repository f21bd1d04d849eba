"""The only place that writes Spark SQL: a printer for exactly the node kinds that translation produces.

Everything is printed from the tree: names in backticks, strings escaped, operators in parentheses. A node kind
without a printer is an error of ours, so nothing a user wrote can reach Spark in any other way.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from millpond.errors import InternalError, not_supported
from millpond.sql.nodes import note_of
from millpond.types import BIGINT, NUMERIC_PRECISION_MAX

BIGINT_MARK = "/* bigint */"
"""Marks arithmetic of type bigint. Spark quotes the operation in the error of an overflow, but not its type."""

_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\x1a": "\\Z"}
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"\d+(\.\d+)?")

_BINARY: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "DIV",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.And: "AND",
    exp.Or: "OR",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.Is: "IS",
    exp.Like: "LIKE",
    exp.ILike: "ILIKE",
    exp.RegexpLike: "RLIKE",
}

_TYPES: dict[object, str] = {
    exp.DataType.Type.SMALLINT: "SMALLINT",
    exp.DataType.Type.INT: "INT",
    exp.DataType.Type.BIGINT: "BIGINT",
    exp.DataType.Type.FLOAT: "FLOAT",
    exp.DataType.Type.DOUBLE: "DOUBLE",
    exp.DataType.Type.BOOLEAN: "BOOLEAN",
    exp.DataType.Type.TEXT: "STRING",
    exp.DataType.Type.BINARY: "BINARY",
    exp.DataType.Type.DATE: "DATE",
    exp.DataType.Type.TIMESTAMPNTZ: "TIMESTAMP_NTZ",
    exp.DataType.Type.TIMESTAMPTZ: "TIMESTAMP",
    exp.DataType.Type.TIMESTAMPLTZ: "TIMESTAMP",
    exp.DataType.Type.INTERVAL: "INTERVAL",
}

_SET_WORDS: dict[type[exp.Expr], str] = {exp.Union: "UNION", exp.Intersect: "INTERSECT", exp.Except: "EXCEPT"}


def string_text(value: str) -> str:
    r"""A Spark string literal. `${` is broken up, as Spark would replace a variable even inside a string.

    >>> print(string_text("it's a \\ ${env:HOME}"))
    'it\'s a \\ \u0024{env:HOME}'
    """
    escaped = "".join(_ESCAPES.get(letter, letter) for letter in value)
    return "'" + escaped.replace("${", "\\u0024{") + "'"


def name_text(name: str) -> str:
    """A name in backticks."""
    if "${" in name or "\0" in name:
        raise not_supported(f'the name "{name}"', hint="Choose a name without ${.")
    return "`" + name.replace("`", "``") + "`"


def spark_text(node: exp.Expr) -> str:
    """The node as Spark SQL."""
    symbol = _BINARY.get(type(node))
    if symbol is not None:
        mark = f" {BIGINT_MARK}" if note_of(node).type == BIGINT else ""
        return f"{_operand(node.this)} {symbol}{mark} {_operand(node.expression)}"
    printer = _PRINTERS.get(type(node))
    if printer is None:
        raise InternalError(f"{type(node).__name__} has no spelling in Spark SQL")
    return printer(node)


_ATOMS: tuple[type[exp.Expr], ...] = (exp.Column, exp.Literal, exp.Anonymous, exp.Cast, exp.TryCast, exp.Case)
_ATOMS += (
    exp.Boolean,
    exp.Null,
    exp.Subquery,
    exp.Paren,
    exp.Identifier,
    exp.Bracket,
    exp.Tuple,
    exp.Window,
    exp.Exists,
)


def _operand(node: exp.Expr) -> str:
    """An operand, in parentheses unless it cannot be torn apart: precedence never matters."""
    text = spark_text(node)
    return text if isinstance(node, _ATOMS) else f"({text})"


def _list(nodes: list[exp.Expr]) -> str:
    return ", ".join(spark_text(node) for node in nodes)


def _identifier(node: exp.Expr) -> str:
    if not node.args.get("quoted") and _PLAIN_NAME.fullmatch(node.this):
        return str(node.this)
    return name_text(node.this)


def _column(node: exp.Expr) -> str:
    table = node.args.get("table")
    return f"{spark_text(table)}.{spark_text(node.this)}" if table else spark_text(node.this)


def _literal(node: exp.Expr) -> str:
    if node.args["is_string"]:
        return string_text(node.this)
    if not _NUMBER.fullmatch(node.this):
        raise InternalError(f"not a number: {node.this}")
    # Spark would read the negated bigint -2147483648 as an integer, and -9223372036854775808 as a decimal.
    is_edge = note_of(node).type == BIGINT and node.this in ("2147483648", "9223372036854775808")
    return f"{node.this}L" if is_edge else str(node.this)


def type_text(node: exp.Expr) -> str:
    """A type of Spark's, by the node that templates and casts carry."""
    if node.this == exp.DataType.Type.ARRAY:
        return f"ARRAY<{type_text(node.expressions[0])}>"
    if node.this == exp.DataType.Type.DECIMAL:
        sizes = [int(size.this.this) for size in node.expressions] or [NUMERIC_PRECISION_MAX, 18]
        return f"DECIMAL({sizes[0]},{sizes[1] if len(sizes) > 1 else 0})"
    return _TYPES[node.this]


def _cast(node: exp.Expr) -> str:
    function = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
    return f"{function}({spark_text(node.this)} AS {type_text(node.args['to'])})"


def _call(node: exp.Expr) -> str:
    return f"{node.this}({_list(node.expressions)})"


def _case(node: exp.Expr) -> str:
    branches = " ".join(f"WHEN {spark_text(one.this)} THEN {spark_text(one.args['true'])}" for one in node.args["ifs"])
    operand = f" {spark_text(node.this)}" if node.this else ""
    default = f" ELSE {spark_text(node.args['default'])}" if node.args.get("default") else ""
    return f"CASE{operand} {branches}{default} END"


def _between(node: exp.Expr) -> str:
    return f"{_operand(node.this)} BETWEEN {_operand(node.args['low'])} AND {_operand(node.args['high'])}"


def _in(node: exp.Expr) -> str:
    query = node.args.get("query")
    members = f"({_query(query.this)})" if query is not None else f"({_list(node.expressions)})"
    return f"{_operand(node.this)} IN {members}"


def _escape(node: exp.Expr) -> str:
    return f"{spark_text(node.this)} ESCAPE {spark_text(node.expression)}"


def _distinct(node: exp.Expr) -> str:
    return f"DISTINCT {_list(node.expressions)}"


def _ordered(node: exp.Expr) -> str:
    direction = "DESC" if node.args.get("desc") else "ASC"
    nulls = "FIRST" if node.args.get("nulls_first") else "LAST"
    return f"{spark_text(node.this)} {direction} NULLS {nulls}"


def _order(node: exp.Expr) -> str:
    return f"ORDER BY {_list(node.expressions)}"


def _window(node: exp.Expr) -> str:
    parts = []
    if node.args.get("partition_by"):
        parts.append(f"PARTITION BY {_list(node.args['partition_by'])}")
    if node.args.get("order"):
        parts.append(spark_text(node.args["order"]))
    if node.args.get("spec"):
        parts.append(_frame(node.args["spec"]))
    return f"{spark_text(node.this)} OVER ({' '.join(parts)})"


def _frame(spec: exp.Expr) -> str:
    start = _frame_end(spec, "start")
    end = _frame_end(spec, "end") if spec.args.get("end") else "CURRENT ROW"
    return f"{spec.args['kind']} BETWEEN {start} AND {end}"


def _frame_end(spec: exp.Expr, end: str) -> str:
    bound, side = spec.args[end], spec.args.get(f"{end}_side")
    text = spark_text(bound) if isinstance(bound, exp.Expr) else _FRAME_WORDS[str(bound).upper()]
    return f"{text} {_FRAME_WORDS[str(side).upper()]}" if side else text


_FRAME_WORDS = {word: word for word in ("UNBOUNDED", "CURRENT ROW", "PRECEDING", "FOLLOWING")}


# -- queries --------------------------------------------------------------------------------------------------


def _query(node: exp.Expr) -> str:
    return spark_text(node)


def _select(node: exp.Expr) -> str:
    distinct = "DISTINCT " if node.args.get("distinct") else ""
    parts = [_with(node), f"SELECT {distinct}{_list(node.expressions)}"]
    if node.args.get("from_"):
        parts.append(f"FROM {_joined(node.args['from_'].this, node.args.get('joins') or [])}")
    for part, word in (("where", "WHERE"), ("group", "GROUP BY"), ("having", "HAVING")):
        clause = node.args.get(part)
        if clause is not None:
            parts.append(f"{word} {_group(clause) if part == 'group' else spark_text(clause.this)}")
    return " ".join([part for part in parts if part] + _modifiers(node))


def _with(node: exp.Expr) -> str:
    with_ = node.args.get("with_")
    if with_ is None:
        return ""
    recursive = "RECURSIVE " if with_.args.get("recursive") else ""
    return f"WITH {recursive}" + ", ".join(_cte(cte) for cte in with_.expressions)


def _cte(node: exp.Expr) -> str:
    return f"{_table_alias(node.args['alias'])} AS ({_query(node.this)})"


def _modifiers(node: exp.Expr) -> list[str]:
    parts = [spark_text(node.args["order"])] if node.args.get("order") else []
    for part, word in (("limit", "LIMIT"), ("offset", "OFFSET")):
        if node.args.get(part):
            parts.append(f"{word} {spark_text(node.args[part].expression)}")
    return parts


def _group(node: exp.Expr) -> str:
    return _list(node.expressions)


def _grouping_set(word: str) -> Callable[[exp.Expr], str]:
    def printer(node: exp.Expr) -> str:
        sets = [text if text.startswith("(") else f"({text})" for text in map(spark_text, node.expressions)]
        return f"{word} ({', '.join(sets)})"

    return printer


def _joined(first: exp.Expr, joins: list[exp.Expr]) -> str:
    return spark_text(first) + "".join(_join(join) for join in joins)


def _join(node: exp.Expr) -> str:
    side, kind, on = node.args.get("side"), node.args.get("kind"), node.args.get("on")
    if not (side or kind or on):
        return f", {spark_text(node.this)}"
    word = f"{side} JOIN" if side else "CROSS JOIN" if kind == "CROSS" else "JOIN"
    return f" {word} {spark_text(node.this)}" + (f" ON {spark_text(on)}" if on else "")


def _from(node: exp.Expr) -> str:
    return _joined(node.this, node.args.get("joins") or [])


def _table(node: exp.Expr) -> str:
    alias = node.args.get("alias")
    return spark_text(node.this) + (f" AS {_table_alias(alias)}" if alias else "")


def _table_alias(node: exp.Expr) -> str:
    columns = node.args.get("columns")
    return spark_text(node.this) + (f"({_list(columns)})" if columns else "")


def _subquery(node: exp.Expr) -> str:
    alias = node.args.get("alias")
    return f"({_query(node.this)})" + (f" AS {_table_alias(alias)}" if alias else "")


def _set_operation(node: exp.Expr) -> str:
    every = "" if node.args.get("distinct") else " ALL"
    body = f"({_query(node.this)}) {_SET_WORDS[type(node)]}{every} ({_query(node.expression)})"
    return " ".join(part for part in (_with(node), body, *_modifiers(node)) if part)


def _values(node: exp.Expr) -> str:
    return f"VALUES {_list(node.expressions)} AS {_table_alias(node.args['alias'])}"


_PRINTERS: dict[type[exp.Expr], Callable[[exp.Expr], str]] = {
    exp.Identifier: _identifier,
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: lambda node: "TRUE" if node.this else "FALSE",
    exp.Null: lambda _node: "NULL",
    exp.Star: lambda _node: "*",
    exp.Paren: lambda node: f"({spark_text(node.this)})",
    exp.Tuple: lambda node: f"({_list(node.expressions)})",
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Anonymous: _call,
    exp.Case: _case,
    exp.Between: _between,
    exp.In: _in,
    exp.Escape: _escape,
    exp.Not: lambda node: f"NOT {_operand(node.this)}",
    exp.Neg: lambda node: f"- {_operand(node.this)}",
    exp.BitwiseNot: lambda node: f"~ {_operand(node.this)}",
    exp.Exists: lambda node: f"EXISTS ({_query(node.this)})",
    exp.Bracket: lambda node: f"{_operand(node.this)}[{_list(node.expressions)}]",
    exp.Interval: lambda node: f"INTERVAL {spark_text(node.this)} {node.args['unit'].name}",
    exp.Lambda: lambda node: f"{_list(node.expressions)} -> {spark_text(node.this)}",
    exp.Alias: lambda node: f"{spark_text(node.this)} AS {spark_text(node.args['alias'])}",
    exp.Distinct: _distinct,
    exp.Ordered: _ordered,
    exp.Order: _order,
    exp.Filter: lambda node: f"{spark_text(node.this)} FILTER (WHERE {spark_text(node.expression.this)})",
    exp.WithinGroup: lambda node: f"{spark_text(node.this)} WITHIN GROUP ({spark_text(node.expression)})",
    exp.Window: _window,
    exp.Select: _select,
    exp.Subquery: _subquery,
    exp.Union: _set_operation,
    exp.Intersect: _set_operation,
    exp.Except: _set_operation,
    exp.Values: _values,
    exp.From: _from,
    exp.Table: _table,
    exp.Lateral: lambda node: f"LATERAL {spark_text(node.this)}",
    exp.Rollup: _grouping_set("ROLLUP"),
    exp.Cube: _grouping_set("CUBE"),
    exp.GroupingSets: _grouping_set("GROUPING SETS"),
}
