"""Static pipelines: what stands below a grouping and reads no stream is computed once, and its rows are kept.

    SELECT c.region, sum(e.cost) FROM events e, customers c WHERE e.id = c.id AND c.type = 2 GROUP BY c.region

    static pipeline   SELECT c.id, c.region FROM customers c WHERE c.type = 2
    in its place      SELECT c.region, sum(e.cost) FROM events e, static_0 c WHERE e.id = c.id GROUP BY c.region

So are subqueries in FROM, and those that IN or a comparison asks, as long as nothing in them depends on the row at
hand. A table of which all rows are wanted is read as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from millpond.plan.conditions import asked_of, conjuncts_of, is_about, take_out
from millpond.plan.ctes import with_ctes
from millpond.plan.expressions import exact, is_storable
from millpond.plan.pipelines import STATE_SCHEMA, StaticPipeline
from millpond.plan.static_joins import join_statics
from millpond.plan.trees import alias_of, free_columns, mentions_stream, own_items, query_of, raw_items
from millpond.relation import Column
from millpond.sql.nodes import annotate, conjunction, identifier, note_of

RegisterStatic = Callable[[StaticPipeline], StaticPipeline]
"""Takes a static pipeline into the plan and gives it its name; one that is already there serves again."""


def lift_statics(rows: exp.Select, place: exp.Expr, register: RegisterStatic) -> None:
    """Cut the static pipelines out of the SELECT that feeds a grouping, which is changed; it was cut out of `place`."""

    def lift(made: exp.Select, outputs: Sequence[exp.Column], alias: str) -> exp.Table:
        return _read(register(_static(made, place, outputs)), alias)

    for select in list(_raw_selects(rows)):
        join_statics(select, lift)
        for item in own_items(select):
            _lift_item(select, item, place, register)
    for query in [node for node in rows.find_all(exp.Select) if _is_asked_once(node)]:
        _lift_subquery(query, place, register)


def _raw_selects(select: exp.Expr) -> Iterator[exp.Select]:
    """The SELECTs that rows of a stream flow through."""
    if isinstance(select, exp.Select):
        yield select
    for item in raw_items(select):
        query = query_of(item)
        if query is not None:
            for inner in [query] if isinstance(query, exp.Select) else query.find_all(exp.Select):
                if raw_items(inner):
                    yield from _raw_selects(inner)


# -- what is joined ------------------------------------------------------------------------------------------


def _lift_item(select: exp.Select, item: exp.Expr, place: exp.Expr, register: RegisterStatic) -> None:
    """A table or subquery in FROM, with the conditions that are about it alone and the columns that are used."""
    if not isinstance(item, (exp.Table, exp.Subquery)) or mentions_stream(item) or free_columns(item):
        return
    alias = alias_of(item)
    conditions = _own_conditions(select, item, alias)
    is_table = isinstance(item, exp.Table)
    if not is_storable(_used_columns(select, alias)) or (is_table and not (note_of(item).relation and conditions)):
        return
    kept = select.copy()
    take_out(select, conditions)
    used = _used_columns(select, alias) or _used_columns(kept, alias)
    made = exp.Select(
        expressions=[exp.Alias(this=exact(column), alias=identifier(column.name)) for column in used],
        from_=exp.From(this=item.copy()),
    )
    if conditions:
        made.set("where", exp.Where(this=conjunction([one.copy() for one in conditions])))
    item.replace(_read(register(_static(made, place, used)), alias))


def _used_columns(select: exp.Select, alias: str) -> list[exp.Column]:
    """The columns of an item, each once, in the order of their names. A subquery may call another relation the same."""
    columns = [column for part in select.iter_expressions() for column in free_columns(part)]
    found = {column.name: column for column in columns if column.table == alias}
    return [found[name] for name in sorted(found)]


def _own_conditions(select: exp.Select, item: exp.Expr, alias: str) -> list[exp.Expr]:
    """What is asked of the item alone. Where a side of a join is optional, only its ON may be asked of its rows."""
    joins = select.args.get("joins") or []
    own = [join for join in joins if join.this is item]
    asked: list[exp.Expr] = []
    if not any(join.side for join in joins) and item.parent is not None and item.parent.parent is select:
        asked += asked_of(select)
    elif own and own[0].side == "LEFT":
        asked += conjuncts_of(own[0].args.get("on"))
    return [one for one in asked if is_about(one, {alias})]


# -- what is asked -------------------------------------------------------------------------------------------


def _is_asked_once(query: exp.Select) -> bool:
    """Whether a subquery in an expression has the same answer for every row, as in `x IN (SELECT ...)`."""
    holder = query.parent
    if not isinstance(holder, exp.Subquery) or isinstance(holder.parent, (exp.From, exp.Join, exp.Exists)):
        return False
    outputs = [output.alias for output in query.expressions]
    named = all(outputs) and len(set(outputs)) == len(outputs)
    return named and not mentions_stream(query) and not free_columns(query)


def _lift_subquery(query: exp.Select, place: exp.Expr, register: RegisterStatic) -> None:
    outputs = [annotate(_column("", output.alias), type=note_of(output.this).type) for output in query.expressions]
    if not is_storable(outputs):
        return
    static = register(_static(query.copy(), place, outputs))
    alias = "asked"
    columns = [annotate(_column(alias, one.name), type=note_of(one).type) for one in outputs]
    read = exp.Select(
        expressions=[exp.Alias(this=column, alias=identifier(column.name)) for column in columns],
        from_=exp.From(this=_read(static, alias)),
    )
    query.replace(read)


# -- both ----------------------------------------------------------------------------------------------------


def _static(tree: exp.Select, place: exp.Expr, outputs: Sequence[exp.Column]) -> StaticPipeline:
    kinds = {column.name: note_of(column).type for column in outputs}
    columns = tuple(Column(name, kind) for name, kind in kinds.items() if kind is not None)
    return StaticPipeline("", columns, with_ctes(tree, place))


def _read(static: StaticPipeline, alias: str) -> exp.Table:
    table = exp.Table(
        this=identifier(static.name), db=identifier(STATE_SCHEMA), alias=exp.TableAlias(this=identifier(alias))
    )
    return annotate(table, relation=static.relation)


def _column(table: str, name: str) -> exp.Column:
    return exp.Column(this=identifier(name), table=identifier(table) if table else None)
