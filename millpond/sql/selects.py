"""Binding of one SELECT, clause by clause in the order in which PostgreSQL evaluates them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from millpond.errors import SqlState, not_supported
from millpond.sql import context as clauses
from millpond.sql.coercion import resolve_unknown
from millpond.sql.context import BoundColumns, Context
from millpond.sql.expressions import RULES
from millpond.sql.from_clause import FromBinder
from millpond.sql.grouping import check_grouped, has_aggregate
from millpond.sql.nodes import error, fold, identifier, placed, position_of, type_of, typed, unwrapped
from millpond.sql.output_names import output_name
from millpond.sql.query_parts import bind_limits, is_position, ordinal, refuse_parts, unique_sources
from millpond.sql.scope import Scope
from millpond.sql.sql_types import UNKNOWN
from millpond.sql.windows import bind_window, ordered
from millpond.types import TEXT

_PARTS = frozenset("expressions from_ joins where group having order limit offset distinct windows with_ kind".split())

_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)

BindQuery = Callable[[exp.Expr, Scope], BoundColumns]


@dataclass
class _Output:
    """An output column while its SELECT is bound."""

    name: str
    node: exp.Expr
    source: str = ""


class SelectBinder:
    """Binds one SELECT, clause by clause in the order in which they are evaluated."""

    def __init__(self, node: exp.Select, scope: Scope, bind_query: BindQuery) -> None:
        refuse_parts(node, _PARTS)
        self.bind_query = bind_query
        self.node = node
        self.scope = scope
        self.tree = exp.Select()
        self.outputs: list[_Output] = []
        self.keys: list[exp.Expr] = []
        self.windows: dict[str, exp.Window] = {}

    def bind(self) -> BoundColumns:
        self._bind_from()
        if where := self.node.args.get("where"):
            self.tree.set("where", exp.Where(this=self._context(clauses.WHERE).condition(where.this, "WHERE")))
        self._bind_windows()
        self._bind_outputs()
        self._bind_group()
        if having := self.node.args.get("having"):
            self.tree.set("having", exp.Having(this=self._context(clauses.HAVING).condition(having.this, "HAVING")))
        self._bind_distinct()
        self._bind_order()
        bind_limits(self.node, self.tree, self._context(clauses.LIMIT))
        self._check_grouping()
        return self._result()

    def _context(self, clause: clauses.Clause) -> Context:
        return Context(self.scope, clause, RULES, self.bind_query, self.windows)

    def _bind_from(self) -> None:
        from_ = self.node.args.get("from_")
        if from_ is None:
            return
        binder = FromBinder(self._context(clauses.JOIN))
        first, joins = binder.bind(from_.this, self.node.args.get("joins") or [])
        self.tree.set("from_", exp.From(this=first))
        self.tree.set("joins", joins)

    def _bind_windows(self) -> None:
        for window in self.node.args.get("windows") or []:
            name = fold(window.this)
            if name in self.windows:
                raise error(SqlState.WINDOWING_ERROR, f'window "{name}" is already defined', window)
            self.windows[name] = bind_window(window, self._context(clauses.SELECT))

    def _bind_outputs(self) -> None:
        if not self.node.expressions:
            raise not_supported("a SELECT without columns", position=position_of(self.node))
        context = self._context(clauses.SELECT)
        for written in self.node.expressions:
            if isinstance(written, exp.Star):
                self.outputs.extend(self._expand(written, None))
            elif isinstance(written, exp.Column) and isinstance(written.this, exp.Star):
                self.outputs.extend(self._expand(written, written.args["table"]))
            elif isinstance(written, exp.Alias):
                self.outputs.append(_Output(fold(written.args["alias"]), context.bind(written.this)))
            else:
                self.outputs.append(_Output(output_name(written), context.bind(written)))
        for output, source in zip(self.outputs, unique_sources([one.name for one in self.outputs]), strict=True):
            output.source = source
        self.tree.set("expressions", [exp.Alias(this=one.node, alias=identifier(one.source)) for one in self.outputs])

    def _expand(self, written: exp.Expr, table: exp.Identifier | None) -> list[_Output]:
        """`*` or `t.*`, without the hidden columns."""
        star = written.this if isinstance(written, exp.Column) else written
        if any(star.args.get(part) for part in ("except_", "replace", "rename")):
            raise not_supported("* with EXCEPT, REPLACE or RENAME", position=position_of(written))
        if table is None:
            if not self.scope.items:
                message = "SELECT * with no tables specified is not valid"
                raise error(SqlState.SYNTAX_ERROR, message, written)
            shown = [(one.name, one.node.copy()) for one in self.scope.visible if not one.hidden]
        else:
            item, _ = self.scope.item_named(table)
            shown = [(one.name, item.reference(one)) for one in item.columns if not one.hidden]
        return [_Output(name, placed(node, written)) for name, node in shown]

    # -- GROUP BY ---------------------------------------------------------------------------------------------

    def _bind_group(self) -> None:
        group = self.node.args.get("group")
        if group is None:
            return
        if group.args.get("all") or group.args.get("totals"):
            raise not_supported("GROUP BY ALL", hint="Name the keys.", position=position_of(group))
        elements = [bound for element in group.expressions for bound in self._group_elements(element)]
        self.tree.set("group", exp.Group(expressions=elements))

    def _group_elements(self, written: exp.Expr) -> list[exp.Expr]:
        """`GROUP BY (a, b)` is `GROUP BY a, b`, and `GROUP BY ()` one group even of nothing."""
        if isinstance(written, exp.Tuple):
            keys = [self._key(one) for one in written.expressions]
            return keys or [exp.GroupingSets(expressions=[exp.Tuple()])]
        return [self._group_element(written)]

    def _group_element(self, written: exp.Expr) -> exp.Expr:
        if isinstance(written, (exp.Rollup, exp.Cube, exp.GroupingSets)):
            return type(written)(expressions=[self._group_set(one) for one in written.expressions])
        return self._group_set(written)

    def _group_set(self, written: exp.Expr) -> exp.Expr:
        """A key, or `(a, b)`, or a nested grouping set."""
        if isinstance(written, exp.Tuple):
            return exp.Tuple(expressions=[self._key(one) for one in written.expressions])
        if isinstance(written, (exp.Rollup, exp.Cube, exp.GroupingSets)):
            return self._group_element(written)
        return self._key(written)

    def _key(self, written: exp.Expr) -> exp.Expr:
        bound = self._bound_key(unwrapped(written))
        if bound not in self.keys:
            self.keys.append(bound)
        return bound

    def _bound_key(self, written: exp.Expr) -> exp.Expr:
        """A key by position, by the name of an input column, by that of an output column, or an expression."""
        if isinstance(written, (exp.Boolean, exp.Null)) or (isinstance(written, exp.Literal) and written.is_string):
            raise error(SqlState.SYNTAX_ERROR, "non-integer constant in GROUP BY", written)
        if is_position(written):
            output = self.outputs[ordinal(written, len(self.outputs), "GROUP BY")]
            if has_aggregate(output.node):
                message = "aggregate functions are not allowed in GROUP BY"
                raise error(SqlState.GROUPING_ERROR, message, output.node)
            return unwrapped(resolve_unknown(output.node)).copy()
        if isinstance(written, exp.Column) and not written.args.get("table") and not self._is_input(written):
            found = self._named_output(written, "GROUP BY")
            if found is not None:
                return unwrapped(resolve_unknown(found.node)).copy()
        return unwrapped(resolve_unknown(self._context(clauses.GROUP_BY).bind(written)))

    def _is_input(self, written: exp.Column) -> bool:
        name = fold(written.this)
        return any(column.name == name for column in self.scope.visible)

    def _named_output(self, written: exp.Column, clause: str) -> _Output | None:
        name = fold(written.this)
        found = [output for output in self.outputs if output.name == name]
        if any(output.node != found[0].node for output in found[1:]):
            raise error(SqlState.AMBIGUOUS_COLUMN, f'{clause} "{name}" is ambiguous', written)
        return found[0] if found else None

    def _check_grouping(self) -> None:
        having, order = self.tree.args.get("having"), self.tree.args.get("order")
        above = [output.node for output in self.outputs]
        above += [having.this] if having else []
        above += [key.this for key in order.expressions] if order else []
        group = self.tree.args.get("group")
        if group or having or any(has_aggregate(one) for one in above):
            plain = [one for one in group.expressions if not isinstance(one, _SETS)] if group else []
            for column in check_grouped(above, self.keys, plain, self.scope.items):
                self.tree.args["group"].append("expressions", column)

    # -- DISTINCT, ORDER BY -----------------------------------------------------------------------------------

    def _bind_distinct(self) -> None:
        distinct = self.node.args.get("distinct")
        if distinct is None:
            return
        on = distinct.args.get("on")
        made = exp.Distinct()
        if on is not None:
            made.set("on", exp.Tuple(expressions=[self._sort_key(unwrapped(one)) for one in _entries(on)]))
        self.tree.set("distinct", made)

    def _bind_order(self) -> None:
        order = self.node.args.get("order")
        if order is None:
            return
        keys = [ordered(self._sort_key(unwrapped(key.this)), key) for key in order.expressions]
        distinct = self.tree.args.get("distinct")
        if distinct is not None:
            self._check_distinct_order([key.this for key in keys], distinct, order)
        self.tree.set("order", exp.Order(expressions=keys))

    def _sort_key(self, written: exp.Expr) -> exp.Expr:
        """A key by position, by the name of an output column, or an expression over the input."""
        if isinstance(written, (exp.Boolean, exp.Null)) or (isinstance(written, exp.Literal) and written.is_string):
            raise error(SqlState.SYNTAX_ERROR, "non-integer constant in ORDER BY", written)
        if is_position(written):
            return self._reference(self.outputs[ordinal(written, len(self.outputs), "ORDER BY")])
        if isinstance(written, exp.Column) and not written.args.get("table"):
            found = self._named_output(written, "ORDER BY")
            if found is not None:
                return self._reference(found)
        bound = resolve_unknown(self._context(clauses.ORDER_BY).bind(written))
        same = next((output for output in self.outputs if unwrapped(output.node) == unwrapped(bound)), None)
        return bound if same is None else self._reference(same)

    def _reference(self, output: _Output) -> exp.Expr:
        """An output column by its name in the tree: a column without a table."""
        sql_type = type_of(output.node)
        return typed(exp.Column(this=identifier(output.source)), TEXT if sql_type == UNKNOWN else sql_type)

    def _check_distinct_order(self, keys: list[exp.Expr], distinct: exp.Expr, written: exp.Expr) -> None:
        on = distinct.args.get("on")
        if on is None:
            if any(not isinstance(key, exp.Column) or key.args.get("table") for key in keys):
                message = "for SELECT DISTINCT, ORDER BY expressions must appear in select list"
                raise error(SqlState.INVALID_COLUMN_REFERENCE, message, written)
            return
        wanted = list(on.expressions)
        if any(key not in wanted for key in keys[: len(wanted)]):
            message = "SELECT DISTINCT ON expressions must match initial ORDER BY expressions"
            raise error(SqlState.INVALID_COLUMN_REFERENCE, message, self.node.args["distinct"])

    def _result(self) -> BoundColumns:
        names = tuple(output.name for output in self.outputs)
        types = tuple(type_of(output.node) for output in self.outputs)
        return BoundColumns(self.tree, names, types, tuple(output.source for output in self.outputs))


def _entries(on: exp.Expr) -> list[exp.Expr]:
    return list(on.expressions) if isinstance(on, exp.Tuple) else [unwrapped(on)]
