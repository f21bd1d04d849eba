"""The pass for correlated subqueries above a grouping, which Spark does not have.

SELECT a, (SELECT max(u.b) FROM u WHERE u.a = t.a), count(*) FROM t GROUP BY a HAVING count(*) > 1

SELECT g.key_0, (SELECT max(u.b) FROM u WHERE u.a = g.key_0), g.value_0
FROM (SELECT a AS key_0, count(*) AS value_0 FROM t GROUP BY a) AS g WHERE g.value_0 > 1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from millpond.errors import not_supported
from millpond.sql.grouping import is_aggregate_call, is_windowed, outer_columns, reaches_out
from millpond.sql.nodes import identifier, note_of, type_of, typed

_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)
_GROUPS = "the groups"
"""An alias that nobody else gives."""


def subqueries_above_groups(node: exp.Expr) -> exp.Expr:
    """A SELECT with a correlated subquery above its grouping, as one over its groups."""
    if not (isinstance(node, exp.Select) and any(_correlated(part) for part in _above(node))):
        return node
    keys = list(_keys(node.args.get("group")))
    calls = [call for part in _above(node) for call in _calls(part)]
    # From a subquery within a subquery Spark does not look outward: it says itself that it cannot.
    if not (keys or calls) or reaches_out(node):
        return node
    if node.args.get("group") is not None and node.args["group"].find(*_SETS):
        # Spark 4.3 loses the keys of grouping sets on the way into the subquery.
        hint = "Take the grouping sets apart with UNION ALL."
        raise not_supported("a correlated subquery above grouping sets", hint=hint)
    lifted = _Groups(keys, calls)
    outputs = [exp.Alias(this=lifted(one.this), alias=one.args["alias"]) for one in node.expressions]
    parts = {part: node.args.get(part) for part in ("limit", "offset", "distinct", "with_")}
    made = exp.Select(expressions=outputs, from_=exp.From(this=lifted.source(node)), **parts)
    if node.args.get("having") is not None:
        made.set("where", exp.Where(this=lifted(node.args["having"].this)))
    if node.args.get("order") is not None:
        made.set("order", lifted(node.args["order"]))
    return made


def _above(select: exp.Select) -> Iterator[exp.Expr]:
    """What sees the groups, not the rows."""
    yield from (output.this for output in select.expressions)
    yield from (select.args[part] for part in ("having", "order") if select.args.get(part) is not None)


def _correlated(node: exp.Expr) -> bool:
    """Whether a subquery, outside of aggregates, refers to the query around it."""
    if isinstance(node, exp.Query):
        return any(True for _ in outer_columns(node))
    return not _is_call(node) and any(_correlated(child) for child in node.iter_expressions())


def _keys(element: exp.Expr | None) -> Iterator[exp.Expr]:
    if isinstance(element, (exp.Group, exp.Tuple, *_SETS)):
        for one in element.expressions:
            yield from _keys(one)
    elif element is not None:
        yield element


def _calls(node: exp.Expr) -> Iterator[exp.Expr]:
    """The aggregate calls below a node, with FILTER and WITHIN GROUP around them, and GROUPING."""
    if _is_call(node):
        yield node
    elif not isinstance(node, exp.Query):
        for child in node.iter_expressions():
            yield from _calls(child)


def _is_call(node: exp.Expr) -> bool:
    if is_windowed(node):
        return False
    if isinstance(node, (exp.Filter, exp.WithinGroup)):
        return _is_call(node.this)
    function = note_of(node).function
    return is_aggregate_call(node) or (function is not None and function.name == "grouping")


class _Groups:
    """The groups as rows of a subquery, and expressions over them."""

    def __init__(self, keys: Sequence[exp.Expr], calls: Sequence[exp.Expr]) -> None:
        self._columns: list[tuple[exp.Expr, str]] = []
        for name, nodes in (("key", keys), ("value", calls)):
            for node in nodes:
                if self._name(node) is None:
                    self._columns.append((node.copy(), f"{name} {len(self._columns)}"))

    def source(self, select: exp.Select) -> exp.Subquery:
        outputs = [exp.Alias(this=node.copy(), alias=identifier(name)) for node, name in self._columns]
        parts = {part: select.args.get(part) for part in ("from_", "joins", "where", "group")}
        alias = exp.TableAlias(this=identifier(_GROUPS))
        return exp.Subquery(this=exp.Select(expressions=outputs, **parts), alias=alias)

    def __call__(self, node: exp.Expr) -> exp.Expr:
        """A copy of the expression, over the groups."""
        return self._lifted(node.copy())

    def _lifted(self, node: exp.Expr) -> exp.Expr:
        name = self._name(node)
        if name is not None:
            return self._column(node, name)
        if isinstance(node, exp.Query):
            for column in list(outer_columns(node)):
                column.replace(self._column(column, self._name(column) or column.name))
            return node
        for part, value in list(node.args.items()):
            if isinstance(value, list):
                node.set(part, [self._lifted(one) if isinstance(one, exp.Expr) else one for one in value])
            elif isinstance(value, exp.Expr):
                node.set(part, self._lifted(value))
        return node

    def _name(self, node: exp.Expr) -> str | None:
        return next((name for known, name in self._columns if known == node), None)

    def _column(self, node: exp.Expr, name: str) -> exp.Column:
        return typed(exp.Column(this=identifier(name), table=identifier(_GROUPS)), type_of(node))
