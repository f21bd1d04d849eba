"""Passes that change the shape of queries, where PostgreSQL has a form that Spark has not."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.errors import MillpondError, SqlState
from millpond.sql.casts import plain_cast
from millpond.sql.grouping import reaches_out
from millpond.sql.nodes import identifier, is_typed, note_of, type_of, typed
from millpond.sql.templates import alike, fill, fill_like, rewrite
from millpond.types import BIGINT, BOOLEAN


def drop_parentheses(node: exp.Expr) -> exp.Expr:
    """`(a + b) * c`: the printer sets its own parentheses, around every operand that needs them."""
    if isinstance(node, exp.Paren) and not isinstance(node.this, exp.From):
        inner: exp.Expr = node.this
        return inner
    return node


def distinct_on(node: exp.Expr) -> exp.Expr:
    """The first row of each group, by its number.

    `SELECT DISTINCT ON (k) a FROM t ORDER BY k, b` ->
    `SELECT q.a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY k ORDER BY k, b) AS n, k AS o0, b AS o1 FROM t) AS q
    WHERE q.n = 1 ORDER BY q.o0, q.o1`
    """
    distinct = node.args.get("distinct") if isinstance(node, exp.Select) else None
    if distinct is None or distinct.args.get("on") is None:
        return node
    outputs = {output.alias: output.this for output in node.expressions}
    on = [_behind(key, outputs) for key in distinct.args["on"].expressions]
    order = node.args.get("order")
    keys = [_ordered(_behind(key.this, outputs), key) for key in (order.expressions if order else [])]
    inner = exp.Select(**{part: node.args.get(part) for part in ("from_", "joins", "where", "group", "having")})
    number = _aliased(_number_in_group(on, keys), "row number")
    inner.set("expressions", [*node.expressions, number, *_key_outputs(keys)])
    return _first_rows(node, inner, keys)


def _number_in_group(on: Sequence[exp.Expr], keys: Sequence[exp.Expr]) -> exp.Expr:
    order = keys or [exp.Ordered(this=on[0].copy(), nulls_first=False)]
    window = exp.Window(
        this=fill("ROW_NUMBER()"),
        partition_by=[key.copy() for key in on],
        order=exp.Order(expressions=[key.copy() for key in order]),
        over="OVER",
    )
    return typed(plain_cast(window, BIGINT), BIGINT)


def _first_rows(node: exp.Expr, inner: exp.Select, keys: Sequence[exp.Expr]) -> exp.Expr:
    made = _around(node, inner, keys)
    made.set("where", exp.Where(this=exp.EQ(this=_from_q("row number"), expression=exp.Literal.number(1))))
    return made


def sort_by_subqueries(node: exp.Expr) -> exp.Expr:
    """Spark has subqueries in the select list, and not in ORDER BY.

    `SELECT a FROM t ORDER BY (SELECT ... t.b)` ->
    `SELECT q.a FROM (SELECT a, (SELECT ... t.b) AS o0 FROM t) AS q ORDER BY q.o0`
    """
    order = node.args.get("order") if isinstance(node, exp.Select) and not node.args.get("distinct") else None
    # From a subquery within a subquery Spark does not look outward: it says itself that it cannot.
    if order is None or order.find(exp.Query) is None or reaches_out(node):
        return node
    outputs = {output.alias: output.this for output in node.expressions}
    keys = [_ordered(_behind(key.this, outputs), key) for key in order.expressions]
    inner = exp.Select(**{part: node.args.get(part) for part in ("from_", "joins", "where", "group", "having")})
    inner.set("expressions", [*node.expressions, *_key_outputs(keys)])
    return _around(node, inner, keys)


def _key_outputs(keys: Sequence[exp.Expr]) -> list[exp.Alias]:
    return [_aliased(key.this.copy(), f"order {place}") for place, key in enumerate(keys)]


def _around(node: exp.Expr, inner: exp.Select, keys: Sequence[exp.Expr]) -> exp.Select:
    """A query over another that delivers its columns and, as more columns, its sort keys."""
    outputs = [
        exp.Alias(this=alike(one.this, _from_q(one.alias)), alias=identifier(one.alias))
        for one in inner.expressions[: len(node.expressions)]
    ]
    made = exp.Select(
        expressions=outputs,
        from_=exp.From(this=exp.Subquery(this=inner, alias=exp.TableAlias(this=identifier("q")))),
        with_=node.args.get("with_"),
        limit=node.args.get("limit"),
        offset=node.args.get("offset"),
    )
    if keys:
        sorts = [_ordered(alike(key.this, _from_q(f"order {place}")), key) for place, key in enumerate(keys)]
        made.set("order", exp.Order(expressions=sorts))
    return made


def _behind(key: exp.Expr, outputs: dict[str, exp.Expr]) -> exp.Expr:
    """The expression behind a key that names an output column."""
    if isinstance(key, exp.Column) and not key.args.get("table"):
        return outputs[key.name].copy()
    return key.copy()


def _ordered(key: exp.Expr, like: exp.Expr) -> exp.Ordered:
    return exp.Ordered(this=key, desc=like.args.get("desc"), nulls_first=like.args.get("nulls_first"))


def _aliased(node: exp.Expr, name: str) -> exp.Alias:
    return exp.Alias(this=node, alias=identifier(name))


def _from_q(name: str) -> exp.Column:
    return exp.Column(this=identifier(name), table=identifier("q"))


def values_as_selects(node: exp.Expr) -> exp.Expr:
    """VALUES with more than constants in it: `VALUES (x), (y)` -> `(SELECT x UNION ALL SELECT y)`.

    Spark computes an inline table while it analyses the query, and then refuses whatever might raise an error.
    """
    if not isinstance(node, exp.Values) or all(_is_constant(part) for part in _entries(node)):
        return node
    selects: list[exp.Expr] = [exp.Select(expressions=row.expressions) for row in node.expressions]
    tree = selects[0]
    for select in selects[1:]:
        tree = exp.Union(this=tree, expression=select, distinct=False)
    return exp.Subquery(this=tree, alias=node.args["alias"])


def _entries(node: exp.Values) -> list[exp.Expr]:
    return [part for row in node.expressions for part in row.walk()]


_CONSTANTS = (exp.Tuple, exp.Literal, exp.Boolean, exp.Null, exp.Neg, exp.DataType, exp.DataTypeParam)


def _is_constant(node: exp.Expr) -> bool:
    """Whether the node has a value for certain. A quoted literal was read already, a number may be too large."""
    if isinstance(node, exp.Cast) and type_of(node).is_number and not type_of(node).is_float:
        return isinstance(node.this, exp.Null) or (isinstance(node.this, exp.Literal) and node.this.is_string)
    return isinstance(node, (exp.Cast, *_CONSTANTS))


def series(node: exp.Expr) -> exp.Expr:
    """`generate_series(1, n)` in FROM -> a generator over SEQUENCE, empty where PostgreSQL's series is."""
    if not (isinstance(node, exp.Table) and isinstance(node.this, exp.Anonymous)):
        return node
    call = node.this
    if call.this != "generate_series":
        return node
    target = type_of(call)
    start, stop = call.expressions[:2]
    if target.is_integer and all(isinstance(one, exp.Literal) for one in call.expressions):
        return _range(node, [int(one.this) for one in call.expressions])
    if target.is_integer:
        step = call.expressions[2] if len(call.expressions) > 2 else plain_cast(exp.Literal.number(1), target)
        template = (
            "CASE WHEN _3 = 0 THEN RAISE_ERROR('22023:step size cannot equal zero')"
            " WHEN _3 > 0 AND _1 <= _2 OR _3 < 0 AND _1 >= _2 THEN SEQUENCE(_1, _2, _3)"
            " ELSE SLICE(SEQUENCE(_1, _1), 1, 0) END"
        )
        made = fill(template, start, stop, step)
    else:
        # Whether the step goes up or down is seen by taking it once.
        step = call.expressions[2]
        template = (
            "CASE WHEN _1 + _3 > _1 AND _1 <= _2 OR _1 + _3 < _1 AND _1 >= _2 THEN SEQUENCE(_1, _2, _3)"
            " WHEN _1 + _3 = _1 THEN RAISE_ERROR('22023:step size cannot equal zero')"
            " ELSE SLICE(SEQUENCE(_1, _1), 1, 0) END"
        )
        made = fill(template, start, stop, step)
    table = exp.Table(this=fill("EXPLODE(_1)", made), alias=node.args["alias"])
    return exp.Lateral(this=table) if any(isinstance(part, exp.Column) for part in call.walk()) else table


def _range(node: exp.Table, numbers: Sequence[int]) -> exp.Expr:
    """A series between literals: Spark's RANGE, which runs in parallel and makes no array."""
    start, stop, step = (*numbers, 1)[:3]
    if step == 0:
        raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, "step size cannot equal zero")
    bounds = [exp.Literal.number(one) for one in (start, stop + 1, step)]
    column = typed(plain_cast(exp.Column(this=identifier("id")), type_of(node.this)), type_of(node.this))
    select = exp.Select(
        expressions=[_aliased(column, "generate_series")],
        from_=exp.From(this=exp.Table(this=fill("RANGE(_all)", *bounds))),
    )
    return exp.Subquery(this=select, alias=exp.TableAlias(this=node.args["alias"].this))


_INVERSE: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.LTE: exp.GT,
    exp.GT: exp.LTE,
    exp.GTE: exp.LT,
}


def quantified(node: exp.Expr) -> exp.Expr:
    """`x > ANY (q)` -> true if a row satisfies it, else NULL if one might, else false; ALL is its mirror image."""
    if not (type(node) in _INVERSE and isinstance(node.expression, (exp.Any, exp.All))):
        return node
    every = isinstance(node.expression, exp.All)
    kind = _INVERSE[type(node)] if every else type(node)
    query = node.expression.this
    found = _exists(kind, node.this, query, "_1")
    perhaps = _exists(kind, node.this, query, "_1 IS NULL")
    template = "CASE WHEN _1 THEN FALSE WHEN _2 THEN NULL ELSE TRUE END"
    if not every:
        template = "CASE WHEN _1 THEN TRUE WHEN _2 THEN NULL ELSE FALSE END"
    return fill_like(node, template, found, perhaps)


def _exists(kind: type[exp.Expr], left: exp.Expr, query: exp.Expr, test: str) -> exp.Expr:
    alias = exp.TableAlias(this=identifier("any row"), columns=[identifier("value")])
    value = typed(exp.Column(this=identifier("value"), table=identifier("any row")), type_of(query))
    compared = typed(kind(this=left.copy(), expression=value), BOOLEAN)
    select = exp.Select(
        expressions=[_aliased(exp.Literal.number(1), "one")],
        from_=exp.From(this=exp.Subquery(this=query.this.copy(), alias=alias)),
        where=exp.Where(this=fill(test, compared)),
    )
    return exp.Exists(this=select)


def unambiguous_aliases(tree: exp.Expr) -> exp.Expr:
    """A table alias that is also the name of a column gets another name: Spark would look for a field in the column.

    `FROM t AS x WHERE EXISTS (SELECT ... WHERE x.a = ...)` -> `FROM t AS x@ ...` where a column x exists.
    """
    columns = {output.alias for output in tree.find_all(exp.Alias)}
    columns |= {column.name for column in tree.find_all(exp.Column)}
    for table in tree.find_all(exp.Table):
        relation = note_of(table).relation
        columns |= {column.name for column in relation.columns} if relation else set()

    def rule(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.table in columns:
            node.set("table", identifier(f"{node.table}@"))
        elif isinstance(node, exp.TableAlias) and node.name in columns and not isinstance(node.parent, exp.CTE):
            node.set("this", identifier(f"{node.name}@"))
        return node

    return rewrite(tree, rule)


def constant_keys(node: exp.Expr) -> exp.Expr:
    """`GROUP BY 5` after binding means the constant, which Spark would take for a position."""
    if isinstance(node, exp.Group):
        keys = [
            alike(key, plain_cast(key, type_of(key))) if isinstance(key, exp.Literal) and is_typed(key) else key
            for key in node.expressions
        ]
        node.set("expressions", keys)
    return node
