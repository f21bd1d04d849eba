"""Binding of FROM: relations, plain views unfolded, subqueries, functions, and the joins between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from millpond.errors import SqlState, closest, not_supported
from millpond.namespace import DATABASE
from millpond.relation import Relation
from millpond.sql import functions, table_functions
from millpond.sql.aged import aged, no_older
from millpond.sql.as_of import bind_as_of, check_is_now
from millpond.sql.coercion import coerce, common_type
from millpond.sql.context import JOIN, BoundColumns, Context
from millpond.sql.dialect import parse_query
from millpond.sql.nodes import (
    annotate,
    call,
    conjunction,
    error,
    fold,
    identifier,
    note_of,
    position_of,
    type_of,
    typed,
)
from millpond.sql.operators import comparable
from millpond.sql.scope import FromItem, NamesAsCreated, Scope, ScopeColumn, VisibleColumn
from millpond.types import BOOLEAN

_TABLE_PARTS = frozenset({"this", "db", "catalog", "alias", "joins", "only", "version"})
_JOIN_KINDS = frozenset({"", "INNER", "OUTER", "CROSS"})
_JOIN_SIDES = frozenset({"", "LEFT", "RIGHT", "FULL"})
_JOIN_PARTS = frozenset({"this", "on", "using", "side", "kind", "method"})


@dataclass
class _Group:
    """Items joined with each other; commas stand between groups."""

    items: list[FromItem] = field(default_factory=list)
    visible: list[VisibleColumn] = field(default_factory=list)


class FromBinder:
    """Binds the FROM clause of one SELECT into its scope."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.scope = context.scope
        self.groups: list[_Group] = []

    def bind(self, first: exp.Expr, joins: Sequence[exp.Expr]) -> tuple[exp.Expr, list[exp.Join]]:
        """The bound first item and joins. The scope then shows the columns of all."""
        self._new_group()
        bound_first = self._item(first)
        joins = [*(first.args.get("joins") or []), *joins] if isinstance(first, exp.Table) else list(joins)
        return bound_first, [self._join(join) for join in joins]

    def _new_group(self) -> None:
        self.groups.append(_Group())

    def _show(self) -> None:
        self.scope.visible = [column for group in self.groups for column in group.visible]

    # -- joins ------------------------------------------------------------------------------------------------

    def _join(self, node: exp.Expr) -> exp.Join:
        _refuse_parts(node, _JOIN_PARTS, "this kind of JOIN")
        side, kind = (node.args.get("side") or "").upper(), (node.args.get("kind") or "").upper()
        natural = (node.args.get("method") or "").upper() == "NATURAL"
        if side not in _JOIN_SIDES or kind not in _JOIN_KINDS or (node.args.get("method") and not natural):
            raise not_supported("this kind of JOIN", position=position_of(node))
        if not (side or kind or natural or node.args.get("on") or node.args.get("using")):
            self._new_group()
            return exp.Join(this=self._item(node.this))
        left = self.groups[-1].visible
        self.groups[-1].visible = []
        item = self._item(node.this)
        right = self.groups[-1].visible
        condition = self._condition(node, side, left, right, natural=natural)
        self._show()
        return exp.Join(this=item, side=side, kind="CROSS" if kind == "CROSS" else "", on=condition)

    def _condition(
        self, node: exp.Expr, side: str, left: list[VisibleColumn], right: list[VisibleColumn], *, natural: bool
    ) -> exp.Expr | None:
        """The ON condition; USING and NATURAL are written out, and merge the columns they name."""
        using = node.args.get("using")
        names = [(fold(name), name) for name in using] if using else []
        if natural:
            right_names = {column.name for column in right if not column.hidden}
            names = [(column.name, node) for column in left if column.name in right_names and not column.hidden]
        if not using and not natural:
            self.groups[-1].visible = [*left, *right]
            return self._on(node, left, right)
        pairs = [_pair(name, written, left, right) for name, written in names]
        merged = [_merge(name, side, *pair) for (name, _), pair in zip(names, pairs, strict=True)]
        taken = {name for name, _ in names}
        rest = [column for column in (*left, *right) if column.name not in taken]
        self.groups[-1].visible = [*merged, *rest]
        equalities = [_equal(one, other) for one, other in pairs]
        return conjunction(equalities) if equalities else typed(exp.Boolean(this=True), BOOLEAN)

    def _on(self, node: exp.Expr, left: list[VisibleColumn], right: list[VisibleColumn]) -> exp.Expr | None:
        written = node.args.get("on")
        if written is None:
            return None
        # ON sees only what is being joined, not what stands before the last comma.
        inner = replace(self.scope, items=self.groups[-1].items, visible=[*left, *right])
        return replace(self.context, scope=inner, clause=JOIN).condition(written, "JOIN/ON")

    # -- items ------------------------------------------------------------------------------------------------

    def _item(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Table):
            return self._table(node)
        if isinstance(node, exp.Subquery):
            return self._subquery(node)
        if isinstance(node, exp.Values):
            return self._derived(self.context.bind_query(node, self.scope.isolated()), node)
        if isinstance(node, exp.Lateral):
            return self._lateral(node)
        raise not_supported("this item in FROM", position=position_of(node))

    def _add(self, item: FromItem, node: exp.Expr) -> None:
        group = self.groups[-1]
        group.visible = [*group.visible, *self.scope.add(item, node)]
        group.items.append(item)
        self._show()

    def _table(self, node: exp.Table) -> exp.Expr:
        _refuse_parts(node, _TABLE_PARTS, "this option of a table in FROM")
        if isinstance(node.this, exp.Anonymous):
            check_is_now(node, "a function")
            return self._function(node)
        if not isinstance(node.this, exp.Identifier):
            raise not_supported("this item in FROM", position=position_of(node))
        if node.args.get("catalog") and fold(node.args["catalog"]) != DATABASE[1]:
            raise not_supported("a cross-database reference", position=position_of(node))
        name, schema = fold(node.this), fold(node.args["db"]) if node.args.get("db") else None
        cte = self.scope.cte(name) if schema is None else None
        if cte is not None:
            check_is_now(node, "a common table expression")
            return self._named(node, cte.columns, exp.Table(this=identifier(name)), None)
        relation, written = self.find_relation(schema, name, node), None
        if node.args.get("version"):
            relation, written = bind_as_of(node, relation, self.context)
        age_ms = note_of(node).age_ms
        if relation.definition is not None and (relation.kind == "view" or age_ms is not None):
            return self._view(node, relation, age_ms)
        columns = tuple(ScopeColumn(one.name, one.type, one.name, one.hidden) for one in relation.columns)
        table = exp.Table(this=identifier(relation.name), db=identifier(relation.schema))
        if written is not None:
            table.set("version", written)
        return self._named(node, columns, annotate(table, relation=relation), relation)

    def find_relation(self, schema: str | None, name: str, node: exp.Expr) -> Relation:
        relation = self.scope.names.relation(schema, name)
        if relation is None:
            written = name if schema is None else f"{schema}.{name}"
            hint = closest(name, self.scope.names.relation_names())
            raise error(SqlState.UNDEFINED_TABLE, f'relation "{written}" does not exist', node, hint=hint)
        return relation

    def _named(
        self, node: exp.Expr, columns: tuple[ScopeColumn, ...], made: exp.Expr, relation: Relation | None
    ) -> exp.Expr:
        """A relation or CTE under its alias, its columns renamed if the alias says so."""
        alias, names = alias_of(node, default=made.name)
        item = FromItem(alias, _renamed(columns, names, alias, node), relation)
        self._add(item, node)
        made.set("alias", exp.TableAlias(this=identifier(alias)))
        return made

    def _view(self, node: exp.Table, relation: Relation, age_ms: int | None) -> exp.Expr:
        """A plain view is the subquery it was defined as, and so is a continuous one over rows up to an age. It sees
        the catalog only."""
        assert relation.definition is not None
        names = NamesAsCreated(self.scope.names, relation.sees)
        written = parse_query(relation.definition)
        assert isinstance(written, exp.Query)
        written = aged(written, relation.options, names)
        if age_ms is not None:
            written = no_older(written, age_ms, names)
        query = self.context.bind_query(written, Scope(names))
        alias, renamed = alias_of(node, default=relation.name)
        delivered = query.scope_columns([column.name for column in relation.columns])
        shown = tuple(
            replace(one, hidden=column.hidden) for one, column in zip(delivered, relation.columns, strict=True)
        )
        columns = _renamed(shown, renamed, alias, node)
        self._add(FromItem(alias, columns), node)
        made = exp.Subquery(this=query.tree, alias=exp.TableAlias(this=identifier(alias)))
        return annotate(made, relation=relation)

    def _function(self, node: exp.Table) -> exp.Expr:
        alias, names = alias_of(node, default=str(node.this.this).lower())
        bound = table_functions.bind(node.this, self.context, alias, self.find_relation)
        columns = bound.columns
        if bound.scalar and not names and node.args.get("alias"):
            # PostgreSQL calls the only column of a function by the function's alias.
            names = [alias]
        item = FromItem(alias, _renamed(columns, names, alias, node), bound.relation)
        self._add(item, node)
        return bound.tree

    def _subquery(self, node: exp.Subquery) -> exp.Expr:
        if isinstance(node.this, exp.Table):
            return self._nested_join(node)
        return self._derived(self.context.bind_query(node, self.scope.isolated()), node)

    def _derived(self, query: BoundColumns, node: exp.Expr, *, lateral: bool = False) -> exp.Expr:
        alias, names = alias_of(node, default=f"unnamed_{len(self.scope.items) + 1}")
        columns = _renamed(query.scope_columns(), names, alias, node)
        self._add(FromItem(alias, columns), node)
        made = exp.Subquery(this=query.tree, alias=exp.TableAlias(this=identifier(alias)))
        return exp.Lateral(this=made) if lateral else made

    def _lateral(self, node: exp.Lateral) -> exp.Expr:
        """LATERAL sees the items to its left."""
        if not isinstance(node.this, exp.Subquery) or node.args.get("view"):
            raise not_supported("LATERAL with anything but a subquery", position=position_of(node))
        query = self.context.bind_query(node.this, self.scope.subquery())
        return self._derived(query, node, lateral=True)

    def _nested_join(self, node: exp.Subquery) -> exp.Expr:
        """`(a JOIN b ON ...)`: its tables stay visible by their own names."""
        if node.args.get("alias"):
            raise not_supported("an alias for a join", hint="Alias its tables.", position=position_of(node))
        inner = FromBinder(self.context)
        first, joins = inner.bind(node.this, [])
        group = self.groups[-1]
        group.visible = [*group.visible, *(column for one in inner.groups for column in one.visible)]
        group.items.extend(item for one in inner.groups for item in one.items)
        self._show()
        return exp.Paren(this=exp.From(this=first, joins=joins))


def alias_of(node: exp.Expr, *, default: str) -> tuple[str, list[str]]:
    """The alias of a FROM item and the column names it gives."""
    alias = node.args.get("alias")
    if alias is None:
        return default, []
    name = fold(alias.this) if alias.this else default
    return name, [fold(column) for column in alias.args.get("columns") or [] if isinstance(column, exp.Identifier)]


def _renamed(
    columns: tuple[ScopeColumn, ...], names: Sequence[str], alias: str, node: exp.Expr
) -> tuple[ScopeColumn, ...]:
    shown = [column for column in columns if not column.hidden]
    if len(names) > len(shown):
        message = f'table "{alias}" has {len(shown)} columns available but {len(names)} columns specified'
        raise error(SqlState.INVALID_COLUMN_REFERENCE, message, node)
    renamed = [
        replace(column, name=names[place]) if place < len(names) else column for place, column in enumerate(shown)
    ]
    return (*renamed, *(column for column in columns if column.hidden))


def _pair(
    name: str, written: exp.Expr, left: list[VisibleColumn], right: list[VisibleColumn]
) -> tuple[exp.Expr, exp.Expr]:
    return _only(name, written, left, "left"), _only(name, written, right, "right")


def _only(name: str, written: exp.Expr, columns: list[VisibleColumn], side: str) -> exp.Expr:
    found = [column for column in columns if column.name == name]
    if not found:
        message = f'column "{name}" specified in USING clause does not exist in {side} table'
        raise error(SqlState.UNDEFINED_COLUMN, message, written)
    if len(found) > 1:
        message = f'common column name "{name}" appears more than once in {side} table'
        raise error(SqlState.AMBIGUOUS_COLUMN, message, written)
    return found[0].node


def _merge(name: str, side: str, left: exp.Expr, right: exp.Expr) -> VisibleColumn:
    """The one column that USING leaves of two: the side that cannot be missing, or for FULL JOIN either."""
    if side == "FULL":
        target = common_type([type_of(left), type_of(right)])
        assert target is not None
        function = functions.find("coalesce")
        assert function is not None
        either = call("coalesce", coerce(left.copy(), target), coerce(right.copy(), target))
        annotate(either, type=target, function=function, overload=function.overloads[0])
        return VisibleColumn(name, either)
    return VisibleColumn(name, right if side == "RIGHT" else left)


def _equal(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    one, other = comparable(exp.EQ(this=left.copy()), left.copy(), right.copy())
    return typed(exp.EQ(this=one, expression=other), BOOLEAN)


def _refuse_parts(node: exp.Expr, allowed: frozenset[str], what: str) -> None:
    for part, value in node.args.items():
        if value and part not in allowed:
            raise not_supported(what, position=position_of(node))


def relations_of(tree: exp.Expr) -> list[exp.Table]:
    """The base relations in a bound tree, each occurrence."""
    return [table for table in tree.find_all(exp.Table) if note_of(table).relation is not None]
