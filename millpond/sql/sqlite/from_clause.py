"""FROM of queries over the system catalogs: relations, subqueries, VALUES, functions that return rows, and joins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from sqlglot import exp

from millpond.errors import MillpondError, SqlState
from millpond.pgcatalog.declarations import Declared, find
from millpond.sql.nodes import error, fold
from millpond.sql.signatures import function_name
from millpond.sql.sqlite import functions
from millpond.sql.sqlite.calls import CALL_SCHEMAS, called_function
from millpond.sql.sqlite.context import Expressions
from millpond.sql.sqlite.scope import Column, Outputs, Scope, Source, Sql, UntranslatableError, quoted
from millpond.sql.sqlite.types import OID, common
from millpond.types import BIGINT, TEXT, SqlType


class Query(Protocol):
    """Translates a query below, with names for its columns if they are given."""

    def __call__(self, node: exp.Expr, scope: Scope, names: Sequence[str] = ()) -> tuple[str, Outputs]: ...


class FromClause:
    """Adds the items of a FROM to the scope of their query, one after the other, and writes them."""

    def __init__(self, translate: Expressions, query: Query) -> None:
        self._translate, self._scope, self._query = translate, translate.scope, query

    def text(self, first: exp.Expr, joins: Sequence[exp.Join]) -> str:
        """The items and how they are joined."""
        return " ".join([self._item(first), *(self._join(join) for join in joins)])

    def _join(self, join: exp.Join) -> str:
        side, method = (join.args.get("side") or "").upper(), (join.args.get("method") or "").upper()
        if join.args.get("kind", "") not in ("", "CROSS", "INNER", "OUTER", None) or method not in ("", "NATURAL"):
            raise UntranslatableError("this join")
        before = list(self._scope.sources)
        item = self._item(join.this)
        condition = self._condition(join, before, natural=method == "NATURAL")
        return f"{side} JOIN {item}{condition}".lstrip()

    def _condition(self, join: exp.Join, before: Sequence[Source], *, natural: bool) -> str:
        if join.args.get("on"):
            return f" ON {self._translate.condition(join.args['on'])}"
        names = [fold(name) for name in join.args.get("using") or []]
        added = self._scope.sources[len(before) :]
        if natural:
            names = [one.name for source in added for one in source.shown if _find(before, one.name)]
        pairs = [(_find(before, name), _find(added, name)) for name in names]
        for name, pair in zip(names, pairs, strict=True):
            if None in pair:
                raise error(
                    SqlState.UNDEFINED_COLUMN, f'column "{name}" specified in USING clause does not exist', join
                )
        self._scope.joined.update(names)
        tests = " AND ".join(f"{left.sql.text} = {right.sql.text}" for left, right in pairs if left and right)
        return f" ON {tests or '1'}"

    # -- items -------------------------------------------------------------------------------------------------

    def _item(self, node: exp.Expr) -> str:
        for kind, rule in _ITEMS.items():
            if isinstance(node, kind):
                return rule(self, node)
        raise UntranslatableError(type(node).__name__)

    def _table(self, node: exp.Expr) -> str:
        assert isinstance(node, exp.Table)
        if isinstance(node.this, exp.Anonymous):
            if node.args.get("db") and fold(node.args["db"]) not in CALL_SCHEMAS:
                raise UntranslatableError("a function of another schema")
            return self._function(node.this, node, ordinality=bool(node.args.get("ordinality")))
        if not isinstance(node.this, exp.Identifier) or node.args.get("joins"):
            return self._nested(node)
        name = fold(node.this)
        schema = fold(node.args["db"]) if node.args.get("db") else None
        if schema is None and name in self._scope.ctes:
            alias, columns = _alias(node, name)
            self._add(alias, self._scope.ctes[name], columns)
            return f"{quoted(name)} AS {quoted(alias)}"
        declared = find(schema, name)
        if declared is None:
            shown = f"{schema}.{name}" if schema else name
            raise error(SqlState.UNDEFINED_TABLE, f'relation "{shown}" does not exist', node)
        return self._relation(node, declared)

    def _relation(self, node: exp.Table, declared: Declared) -> str:
        self._scope.statement.relations[declared.key] = declared
        alias, columns = _alias(node, declared.name)
        hidden = [Column("tableoid", Sql(str(declared.oid), OID), hidden=True)]
        hidden += [Column(name, Sql("'0'", TEXT), hidden=True) for name in ("xmin", "ctid")]
        schema = None if node.args.get("alias") else declared.schema
        self._add(alias, list(declared.columns.items()), columns, hidden=hidden, schema=schema)
        return f"{declared.schema}.{quoted(declared.name)} AS {quoted(alias)}"

    def _nested(self, node: exp.Expr) -> str:
        """`(a JOIN b ON ...)`."""
        if node.args.get("alias") or not isinstance(node.this, exp.Identifier):
            raise UntranslatableError("an alias of a join")
        first = node.copy()
        first.set("joins", None)
        return f"({self.text(first, node.args['joins'])})"

    def _subquery(self, node: exp.Expr) -> str:
        if isinstance(node.this, exp.Table):
            return self._nested(node.this)
        alias, names = _alias(node, self._scope.statement.new_item())
        if node.args.get("joins"):
            raise UntranslatableError("a join in parentheses")
        text, outputs = self._query(node.this, self._scope.inner(lateral=False), names)
        self._add(alias, outputs, ())
        return f"({text}) AS {quoted(alias)}"

    def _values(self, node: exp.Expr) -> str:
        alias, names = _alias(node, self._scope.statement.new_item())
        rows = [self._translate.all(row.expressions) for row in node.expressions]
        met = [common(column, self._scope.statement) for column in zip(*rows, strict=True)]
        given = [*names, *(f"column{number + 1}" for number in range(len(names), len(met)))]
        selects = []
        for index in range(len(rows)):
            pairs = zip(met, given, strict=True)
            selects.append(
                "SELECT " + ", ".join(f"{column[index].text} AS {quoted(name)}" for (column, _), name in pairs)
            )
        self._add(alias, [(name, kind) for (_, kind), name in zip(met, given, strict=True)], ())
        return f"({' UNION ALL '.join(selects)}) AS {quoted(alias)}"

    def _unnest(self, node: exp.Expr) -> str:
        call = exp.Anonymous(this="unnest", expressions=node.expressions)
        return self._function(call, node, ordinality=bool(node.args.get("offset")))

    def _lateral(self, node: exp.Expr) -> str:
        inner = node.this
        if isinstance(inner, exp.Subquery):
            return self._lateral_subquery(node, inner)
        if isinstance(inner, exp.Unnest):
            call = exp.Anonymous(this="unnest", expressions=inner.expressions)
            return self._function(call, node, ordinality=bool(inner.args.get("offset")), unnested=inner)
        called = called_function(inner)
        if called is None:
            raise UntranslatableError("LATERAL")
        return self._function(called, node, ordinality=bool(node.args.get("ordinality")))

    def _lateral_subquery(self, node: exp.Expr, inner: exp.Subquery) -> str:
        """SQLite has no LATERAL: one that needs nothing from its left is a subquery like others."""
        plain = inner.copy()
        plain.set("alias", node.args.get("alias"))
        try:
            return self._subquery(plain)
        except MillpondError as failure:
            raise UntranslatableError("LATERAL") from failure

    def _function(
        self, call: exp.Anonymous, node: exp.Expr, *, ordinality: bool, unnested: exp.Expr | None = None
    ) -> str:
        name = function_name(call)
        arguments = self._translate.all(call.expressions)
        alias, names = _alias(node, name)
        if not functions.returns_rows(name):
            value = functions.scalar(name, arguments, self._scope.statement)
            if value is None:
                raise UntranslatableError(f"rows of {name}")
            self._add(alias, [(names[0] if names else alias, value.type)], ())
            return f"(SELECT {value.text} AS {quoted(names[0] if names else alias)}) AS {quoted(alias)}"
        made = functions.row_function(name, arguments)
        given = list(names) or ([alias] if len(made.columns) == 1 else [])
        offset = (unnested or node).args.get("offset")
        columns = [
            Column(given[index] if index < len(given) else one.name, Sql(one.text.format(quoted(alias)), one.type))
            for index, one in enumerate(made.columns)
        ]
        if ordinality:
            rest = given[len(columns) :]
            named = fold(offset) if isinstance(offset, exp.Identifier) else rest[0] if rest else "ordinality"
            columns.append(Column(named, Sql(f"({quoted(alias)}.key + 1)", BIGINT)))
        self._scope.sources.append(Source(alias, tuple(columns)))
        return f"json_each({made.elements}) AS {quoted(alias)}"

    def _add(
        self,
        alias: str,
        outputs: Outputs | Sequence[tuple[str, SqlType]],
        names: Sequence[str],
        *,
        hidden: Sequence[Column] = (),
        schema: str | None = None,
    ) -> None:
        """An item whose columns SQLite knows by the names in `outputs`, and the query by `names` where it has them."""
        columns = [
            Column(names[index] if index < len(names) else name, Sql(f"{quoted(alias)}.{quoted(name)}", kind))
            for index, (name, kind) in enumerate(outputs)
        ]
        shown = {column.name for column in columns}
        own = tuple(column for column in hidden if column.name not in shown)
        self._scope.sources.append(Source(alias, (*columns, *own), schema))


def _find(sources: Sequence[Source], name: str) -> Column | None:
    return next((found for source in sources if (found := source.column(name)) and not found.hidden), None)


def _alias(node: exp.Expr, default: str) -> tuple[str, tuple[str, ...]]:
    """The name of an item, and the names it gives to its columns."""
    alias = node.args.get("alias")
    if not isinstance(alias, exp.TableAlias):
        return default, ()
    name = fold(alias.this) if alias.this else default
    return name, tuple(fold(column) for column in alias.args.get("columns") or [])


_ITEMS: dict[type[exp.Expr], Callable[[FromClause, exp.Expr], str]] = {
    exp.Table: FromClause._table,
    exp.Subquery: FromClause._subquery,
    exp.Values: FromClause._values,
    exp.Unnest: FromClause._unnest,
    exp.Lateral: FromClause._lateral,
}
