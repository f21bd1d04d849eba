"""SELECT, set operations and WITH of queries over the system catalogs, in SQLite's SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from millpond.errors import MillpondError, SqlState
from millpond.sql.nodes import error, fold
from millpond.sql.output_names import output_name
from millpond.sql.sqlite.calls import ordered_text
from millpond.sql.sqlite.context import Expressions, Subquery
from millpond.sql.sqlite.expressions import expressions
from millpond.sql.sqlite.from_clause import FromClause
from millpond.sql.sqlite.scope import Outputs, Scope, Sql, UntranslatableError, quoted
from millpond.sql.sqlite.types import coerced, common_type, shown
from millpond.types import BIGINT, SqlType

_KNOWN_PARTS = frozenset(
    "with_ expressions distinct from_ joins where group having order limit offset locks kind hint operation_modifiers "
    "this expression side by_name on".split()
)


@dataclass(frozen=True)
class Output:
    """A column of a select list."""

    name: str
    sql: Sql


@dataclass(frozen=True)
class QueryTranslator:
    """Translates queries; of the outermost one, `final`, the values are shown as clients know them."""

    final: bool = False

    def __call__(self, node: exp.Expr, scope: Scope, names: Sequence[str] = ()) -> tuple[str, Outputs]:
        """The text of a query, and its columns; `names` are what the first of them are to be called."""
        if isinstance(node, exp.Subquery):
            return self._parenthesised(node, scope, names)
        unknown = [part for part, value in node.args.items() if value and part not in _KNOWN_PARTS]
        if unknown or not isinstance(node, (exp.Select, exp.SetOperation)):
            raise UntranslatableError(f"{type(node).__name__} {unknown}")
        with_, scope = self._with(node, scope)
        if isinstance(node, exp.SetOperation):
            text, outputs = self._set_operation(node, scope, names)
        else:
            text, outputs = self._select(node, scope, names)
        return with_ + text, outputs

    def _below(self, node: exp.Expr, scope: Scope) -> tuple[str, list[SqlType]]:
        """A query inside an expression."""
        text, outputs = replace(self, final=False)(node, scope, ["c0"])
        return text, [kind for _, kind in outputs]

    def _parenthesised(self, node: exp.Subquery, scope: Scope, names: Sequence[str]) -> tuple[str, Outputs]:
        text, outputs = self(node.this, scope, names)
        tail = self._tail(node, [name for name, _ in outputs], scope)
        return (f"SELECT * FROM ({text}){tail}" if tail else text), outputs

    def _with(self, node: exp.Expr, scope: Scope) -> tuple[str, Scope]:
        with_ = node.args.get("with_")
        if with_ is None:
            return "", scope
        inside = replace(self, final=False)
        scope = replace(scope, ctes=dict(scope.ctes), sources=[], joined=set(), extra={})
        texts = []
        for cte in with_.expressions:
            name = fold(cte.args["alias"].this)
            names = [fold(column) for column in cte.args["alias"].args.get("columns") or []]
            if with_.args.get("recursive") and isinstance(cte.this, exp.SetOperation):
                _, first = inside(cte.this.this, scope.inner(), names)
                scope.ctes = {**scope.ctes, name: first}
            text, outputs = inside(cte.this, scope.inner(), names)
            scope.ctes = {**scope.ctes, name: outputs}
            texts.append(f"{quoted(name)} AS ({text})")
        word = "WITH RECURSIVE" if with_.args.get("recursive") else "WITH"
        return f"{word} {', '.join(texts)} ", scope

    # -- SELECT ------------------------------------------------------------------------------------------------

    def _select(self, node: exp.Select, scope: Scope, names: Sequence[str]) -> tuple[str, Outputs]:
        translate = expressions(scope, self._below)
        from_ = node.args.get("from_")
        clause = FromClause(translate, replace(self, final=False))
        source = clause.text(from_.this, node.args.get("joins") or []) if from_ else ""
        outputs = self._outputs(node, translate, names)
        tail = self._grouping(node, outputs, translate)
        tail += self._tail(node, [output.name for output in outputs], scope, translate)
        where = f" WHERE {translate.condition(node.args['where'].this)}" if node.args.get("where") else ""
        listed = ", ".join(f"{output.sql.text} AS {quoted(output.name)}" for output in outputs)
        source = _with_row_functions(source, scope)
        if not listed and self.final:
            raise UntranslatableError("rows without columns")
        distinct = self._distinct(node)
        text = f"SELECT {distinct}{listed or '1'}{f' FROM {source}' if source else ''}{where}{tail}"
        return text, [(output.name, output.sql.type) for output in outputs]

    def _distinct(self, node: exp.Select) -> str:
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise UntranslatableError("DISTINCT ON")
        return "DISTINCT " if distinct is not None else ""

    def _outputs(self, node: exp.Select, translate: Expressions, names: Sequence[str]) -> list[Output]:
        outputs: list[Output] = []
        for written in node.expressions:
            outputs += self._output(written, translate)
        outputs = [Output(names[i] if i < len(names) else one.name, one.sql) for i, one in enumerate(outputs)]
        return [Output(one.name, shown(one.sql)) for one in outputs] if self.final else outputs

    def _output(self, written: exp.Expr, translate: Expressions) -> list[Output]:
        if isinstance(written, exp.Star):
            return _all_columns(translate.scope, written)
        if isinstance(written, exp.Column) and isinstance(written.this, exp.Star):
            schema = fold(written.args["db"]) if written.args.get("db") else None
            source = translate.scope.source(fold(written.args["table"]), schema, written)
            return [Output(column.name, column.sql) for column in source.shown]
        if isinstance(written, exp.Alias):
            return [Output(fold(written.args["alias"]), translate(written.this))]
        return [Output(output_name(written), translate(written))]

    def _grouping(self, node: exp.Select, outputs: Sequence[Output], translate: Expressions) -> str:
        group, having = node.args.get("group"), node.args.get("having")
        text = ""
        if group is not None:
            if any(value for part, value in group.args.items() if part != "expressions"):
                raise UntranslatableError("grouping sets")
            text = " GROUP BY " + ", ".join(_group_key(key, outputs, translate) for key in group.expressions)
        return text + (f" HAVING {translate.condition(having.this)}" if having is not None else "")

    # -- set operations ----------------------------------------------------------------------------------------

    def _set_operation(self, node: exp.SetOperation, scope: Scope, names: Sequence[str]) -> tuple[str, Outputs]:
        words = {exp.Union: "UNION", exp.Except: "EXCEPT", exp.Intersect: "INTERSECT"}
        word = words[type(node)]
        if not node.args.get("distinct"):
            word += " ALL"
            if not isinstance(node, exp.Union):
                raise UntranslatableError(word)
        left, first = self(node.this, scope.inner(), names)
        right, second = self(node.expression, scope.inner())
        if len(first) != len(second):
            message = f"each {word.partition(' ')[0]} query must have the same number of columns"
            raise error(SqlState.SYNTAX_ERROR, message, node.expression)
        pairs = zip(first, second, strict=True)
        outputs = [(name, common_type([kind, other])) for (name, kind), (_, other) in pairs]
        tail = self._tail(node, [name for name, _ in outputs], scope)
        return f"{_side(left, node.this)} {word} {_side(right, node.expression)}{tail}", outputs

    # -- ORDER BY, LIMIT, OFFSET -------------------------------------------------------------------------------

    def _tail(self, node: exp.Expr, names: Sequence[str], scope: Scope, translate: Expressions | None = None) -> str:
        order, limit, offset = (node.args.get(part) for part in ("order", "limit", "offset"))
        text = ""
        if order is not None:
            text = " ORDER BY " + ", ".join(_sort_key(key, names, translate) for key in order.expressions)
        if limit is not None:
            text += f" LIMIT {_count(limit.args.get('count') or limit.expression, scope, self._below)}"
        elif offset is not None:
            text += " LIMIT -1"
        return text + (f" OFFSET {_count(offset.expression, scope, self._below)}" if offset is not None else "")


def _side(text: str, node: exp.Expr) -> str:
    """One side of a set operation: SQLite takes no parentheses, and a recursion must be in plain sight."""
    is_plain = isinstance(node, exp.Select) and not any(node.args.get(part) for part in ("with_", "order", "limit"))
    return text if is_plain and not node.args.get("offset") else f"SELECT * FROM ({text})"


def _with_row_functions(source: str, scope: Scope) -> str:
    """FROM with the functions of the select list that return rows: they go on side by side, row by row."""
    text, first = source, ""
    for elements, item in scope.extra.items():
        joined = f"json_each({elements}) AS {item}"
        if first:
            text += f" LEFT JOIN {joined} ON {item}.key = {first}.key"
        else:
            text, first = f"{text} JOIN {joined}" if text else joined, item
    return text


def _all_columns(scope: Scope, node: exp.Expr) -> list[Output]:
    if not scope.sources:
        raise error(SqlState.SYNTAX_ERROR, "SELECT * with no tables specified is not valid", node)
    columns, seen = [], set[str]()
    for column in (column for source in scope.sources for column in source.shown):
        if column.name in scope.joined and column.name in seen:
            continue
        seen.add(column.name)
        columns.append(Output(column.name, column.sql))
    return columns


def _group_key(key: exp.Expr, outputs: Sequence[Output], translate: Expressions) -> str:
    """A column, an expression, or an output by its number or name."""
    if isinstance(key, exp.Literal) and not key.is_string:
        return _output_at(key, [output.sql.text for output in outputs])
    try:
        return translate(key).text
    except MillpondError:
        named = [one for one in outputs if isinstance(key, exp.Column) and one.name == key.name.lower()]
        if not named:
            raise
        return named[0].sql.text


def _sort_key(key: exp.Expr, names: Sequence[str], translate: Expressions | None) -> str:
    """An output by its number or name comes before an expression."""
    written = key.this
    if isinstance(written, exp.Literal) and not written.is_string:
        return ordered_text(_output_at(written, [str(number + 1) for number in range(len(names))]), key)
    if isinstance(written, exp.Column) and not written.args.get("table") and fold(written.this) in names:
        return ordered_text(str(list(names).index(fold(written.this)) + 1), key)
    if translate is None:
        raise UntranslatableError("an expression in the ORDER BY of a set operation")
    return ordered_text(translate(written).text, key)


def _output_at(place: exp.Literal, texts: Sequence[str]) -> str:
    number = int(place.this) if place.this.isdigit() else 0
    if not 1 <= number <= len(texts):
        message = f"ORDER BY position {place.this} is not in select list"
        raise error(SqlState.INVALID_COLUMN_REFERENCE, message, place)
    return texts[number - 1]


def _count(node: exp.Expr, scope: Scope, subquery: Subquery) -> str:
    """A number of rows; SQLite takes -1 for all of them."""
    if isinstance(node, exp.Null) or (isinstance(node, exp.Column) and node.name.lower() == "all"):
        return "-1"
    return f"coalesce({coerced(expressions(scope, subquery)(node), BIGINT, scope.statement).text}, -1)"
