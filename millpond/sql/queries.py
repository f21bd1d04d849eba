"""Binding of queries: set operations, VALUES and WITH; one SELECT is bound in `selects`."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.sql import context as clauses
from millpond.sql.coercion import coerce, common_type
from millpond.sql.context import BoundColumns, Context
from millpond.sql.expressions import RULES
from millpond.sql.nodes import error, fold, identifier, position_of, type_of, typed
from millpond.sql.query_parts import bind_limits, converted, is_position, ordinal, refuse_parts, settled
from millpond.sql.scope import Cte, Scope
from millpond.sql.selects import SelectBinder
from millpond.sql.sql_types import UNKNOWN, type_name
from millpond.sql.windows import ordered
from millpond.types import SqlType

_SET_PARTS = frozenset("this expression distinct order limit offset with_".split())
_SUBQUERY_PARTS = frozenset("this alias order limit offset with_".split())
_WORDS: dict[type[exp.Expr], str] = {exp.Union: "UNION", exp.Intersect: "INTERSECT", exp.Except: "EXCEPT"}


def bind_query(node: exp.Expr, scope: Scope) -> BoundColumns:
    """A query bound in a scope of its own; literals of open type have become text."""
    return settled(bind_open(node, scope))


def bind_open(node: exp.Expr, scope: Scope) -> BoundColumns:
    """The same, with output columns of open type left open for a set operation or an INSERT to decide."""
    if isinstance(node, exp.Select):
        return _select(node, scope)
    if isinstance(node, exp.SetOperation):
        return _set_operation(node, scope)
    if isinstance(node, exp.Subquery):
        return _parenthesised(node, scope)
    if isinstance(node, exp.Values):
        return _values(node, scope)
    raise not_supported("this kind of query", position=position_of(node))


def _select(node: exp.Select, scope: Scope) -> BoundColumns:
    with_ = _bind_with(node, scope)
    bound = SelectBinder(node, scope, bind_query).bind()
    if with_ is not None:
        bound.tree.set("with_", with_)
    return bound


def _context(scope: Scope, clause: clauses.Clause) -> Context:
    return Context(scope, clause, RULES, bind_query)


# -- WITH -----------------------------------------------------------------------------------------------------


def _bind_with(node: exp.Expr, scope: Scope) -> exp.With | None:
    """The CTEs of a query, put into its scope one after the other."""
    written = node.args.get("with_")
    if written is None:
        return None
    recursive = bool(written.args.get("recursive"))
    bound = []
    for cte in written.expressions:
        name = fold(cte.args["alias"].this)
        if name in scope.ctes:
            message = f'WITH query name "{name}" specified more than once'
            raise error(SqlState.DUPLICATE_ALIAS, message, cte.args["alias"])
        bound.append(_bind_cte(cte, name, scope, recursive=recursive))
    return exp.With(expressions=bound, recursive=recursive or None)


def _bind_cte(cte: exp.Expr, name: str, scope: Scope, *, recursive: bool) -> exp.CTE:
    names = [fold(column) for column in cte.args["alias"].args.get("columns") or []]
    inner = cte.this
    if not isinstance(inner, (exp.Query, exp.Values)):
        raise not_supported("a statement that writes in WITH", position=position_of(cte))
    if recursive and _refers_to(inner, name):
        query = _recursive(inner, name, names, scope)
    else:
        query = bind_query(inner, scope.child())
    if len(names) > len(query.names):
        message = f'WITH query "{name}" has {len(query.names)} columns available but {len(names)} columns specified'
        raise error(SqlState.INVALID_COLUMN_REFERENCE, message, cte)
    scope.ctes[name] = Cte(name, query.scope_columns(names))
    alias = exp.TableAlias(this=identifier(name), columns=[identifier(source) for source in query.sources])
    return exp.CTE(this=query.tree, alias=alias)


def _refers_to(query: exp.Expr, name: str) -> bool:
    return any(
        isinstance(table.this, exp.Identifier) and fold(table.this) == name and not table.args.get("db")
        for table in query.find_all(exp.Table)
    )


def _recursive(node: exp.Expr, name: str, names: Sequence[str], scope: Scope) -> BoundColumns:
    """`base UNION ALL step`: the base decides the columns that the step sees."""
    if not isinstance(node, exp.Union):
        message = f'recursive query "{name}" does not have the form non-recursive-term UNION [ALL] recursive-term'
        raise error(SqlState.SYNTAX_ERROR, message, node)
    if node.args.get("distinct"):
        raise not_supported("UNION in a recursive query", hint="Use UNION ALL.", position=position_of(node))
    base = bind_query(node.this, scope.child())
    inner = scope.child()
    inner.ctes[name] = Cte(name, base.scope_columns(names))
    step = bind_query(node.expression, inner)
    _check_widths("UNION", base, step, node)
    step = converted(step, base.types)
    return BoundColumns(
        exp.Union(this=base.tree, expression=step.tree, distinct=False), base.names, base.types, base.sources
    )


# -- set operations, parentheses, VALUES ----------------------------------------------------------------------


def _set_operation(node: exp.SetOperation, scope: Scope) -> BoundColumns:
    refuse_parts(node, _SET_PARTS)
    word = _WORDS[type(node)]
    with_ = _bind_with(node, scope)
    left, right = bind_open(node.this, scope.part()), bind_open(node.expression, scope.part())
    _check_widths(word, left, right, node)
    targets = [_alike(word, *pair, node) for pair in zip(left.types, right.types, strict=True)]
    left, right = converted(left, targets), converted(right, targets)
    tree = type(node)(this=left.tree, expression=right.tree, distinct=bool(node.args.get("distinct")), with_=with_)
    result = BoundColumns(tree, left.names, tuple(targets), left.sources)
    _bind_modifiers(node, tree, result, scope)
    return result


def _check_widths(word: str, left: BoundColumns, right: BoundColumns, node: exp.Expr) -> None:
    if len(left.types) != len(right.types):
        message = f"each {word} query must have the same number of columns"
        raise error(SqlState.SYNTAX_ERROR, message, node.expression)


def _alike(word: str, left: SqlType, right: SqlType, node: exp.Expr) -> SqlType:
    found = UNKNOWN if left == right == UNKNOWN else common_type([left, right])
    if found is None:
        message = f"{word} types {type_name(left)} and {type_name(right)} cannot be matched"
        raise error(SqlState.DATATYPE_MISMATCH, message, node.expression)
    return found


def _parenthesised(node: exp.Subquery, scope: Scope) -> BoundColumns:
    """`(query)`; with a LIMIT or ORDER BY of its own it becomes a subquery in FROM."""
    refuse_parts(node, _SUBQUERY_PARTS)
    with_ = _bind_with(node, scope)
    inner = bind_open(node.this, scope.part())
    if with_ is None and not any(node.args.get(part) for part in ("order", "limit", "offset")):
        return inner
    inner = settled(inner)
    outputs = [
        exp.Alias(this=typed(exp.Column(this=identifier(one), table=identifier("q")), kind), alias=identifier(one))
        for one, kind in zip(inner.sources, inner.types, strict=True)
    ]
    source = exp.Subquery(this=inner.tree, alias=exp.TableAlias(this=identifier("q")))
    tree = exp.Select(expressions=outputs, from_=exp.From(this=source), with_=with_)
    result = BoundColumns(tree, inner.names, inner.types, inner.sources)
    _bind_modifiers(node, tree, result, scope)
    return result


def _bind_modifiers(node: exp.Expr, tree: exp.Expr, result: BoundColumns, scope: Scope) -> None:
    """ORDER BY by output column, LIMIT and OFFSET of a set operation."""
    order = node.args.get("order")
    if order is not None:
        keys = [ordered(_output_key(key.this, result), key) for key in order.expressions]
        tree.set("order", exp.Order(expressions=keys))
    bind_limits(node, tree, _context(scope, clauses.LIMIT))


def _output_key(written: exp.Expr, result: BoundColumns) -> exp.Expr:
    if is_position(written):
        place = ordinal(written, len(result.names), "ORDER BY")
    elif isinstance(written, exp.Column) and not written.args.get("table"):
        name = fold(written.this)
        places = [place for place, other in enumerate(result.names) if other == name]
        if len(places) > 1:
            raise error(SqlState.AMBIGUOUS_COLUMN, f'ORDER BY "{name}" is ambiguous', written)
        if not places:
            raise error(SqlState.UNDEFINED_COLUMN, f'column "{name}" does not exist', written)
        place = places[0]
    else:
        raise MillpondError(
            SqlState.FEATURE_NOT_SUPPORTED,
            "invalid UNION/INTERSECT/EXCEPT ORDER BY clause",
            detail="Only result column names can be used, not expressions or functions.",
            hint="Add the expression/function to every SELECT, or move the UNION into a FROM clause.",
            position=position_of(written),
        )
    return typed(exp.Column(this=identifier(result.sources[place])), result.types[place])


def _values(node: exp.Values, scope: Scope) -> BoundColumns:
    """`VALUES (1, 'a'), (2, 'b')`: columns column1, column2, ..., each of the rows' common type."""
    context = _context(scope, clauses.VALUES)
    rows = [context.bind_all(row.expressions if isinstance(row, exp.Tuple) else [row]) for row in node.expressions]
    odd_row = next((row for row in rows if len(row) != len(rows[0])), None)
    if odd_row is not None:
        raise error(SqlState.SYNTAX_ERROR, "VALUES lists must all be the same length", odd_row[0])
    types = []
    for place in range(len(rows[0])):
        found = common_type([type_of(row[place]) for row in rows])
        if found is None:
            first = type_of(rows[0][place])
            odd = next(row[place] for row in rows if common_type([first, type_of(row[place])]) is None)
            message = f"VALUES types {type_name(first)} and {type_name(type_of(odd))} cannot be matched"
            raise error(SqlState.DATATYPE_MISMATCH, message, odd)
        types.append(found)
    names = tuple(f"column{place + 1}" for place in range(len(types)))
    tuples = [exp.Tuple(expressions=[coerce(*pair) for pair in zip(row, types, strict=True)]) for row in rows]
    alias = exp.TableAlias(this=identifier("values"), columns=[identifier(name) for name in names])
    source = exp.Values(expressions=tuples, alias=alias)
    outputs = [
        exp.Alias(
            this=typed(exp.Column(this=identifier(name), table=identifier("values")), kind), alias=identifier(name)
        )
        for name, kind in zip(names, types, strict=True)
    ]
    tree = exp.Select(expressions=outputs, from_=exp.From(this=source))
    return BoundColumns(tree, names, tuple(types), names)
