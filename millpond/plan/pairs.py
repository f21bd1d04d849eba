"""Joins of two windows below a grouping: partials of pairs of rows are kept, so that a slide joins only what is new.

    SELECT a.k, sum(b.v) FROM HOP(s, 10, 100) a JOIN HOP(r, 10, 100) b ON a.k = b.k GROUP BY a.k

becomes two groupings that keep the rows of the windows (`window_rows`), and a query that groups pairs of those rows, at
least one of which is new. How long a pair lives, from the first frame that has both of its rows to the last, is a key:

    SELECT a.k AS k0, SUM(b.v) AS p0, GREATEST(a.first, b.first) AS appears, LEAST(a.last, b.last) AS expires
    FROM rows_0 a JOIN rows_1 b ON a.k = b.k WHERE a.new OR b.new GROUP BY a.k, appears, expires

So whatever arrives in whatever order, each pair is joined once. Outer joins, where a new row takes back that another
had no partner, more than two windows, and what is not the same at each moment do not fit; there rows are joined anew.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from millpond.errors import MillpondError
from millpond.plan.correlation import conjuncts
from millpond.plan.expressions import scalar_node
from millpond.plan.extract import Register, cut_out, extract
from millpond.plan.paired import APPEARS, EXPIRES, FIRST_FRAME, LAST_FRAME, ROW_IS_NEW, Pairs, PairSide
from millpond.plan.pipelines import STATE_SCHEMA, Grouping, StaticPipeline
from millpond.plan.rules import check_joined
from millpond.plan.trees import alias_of, is_grouping, own_items, stream_of
from millpond.plan.window_rows import collected
from millpond.relation import Column, Relation
from millpond.sql.nodes import annotate, conjunction, identifier, type_of, typed
from millpond.sql.stream_windows import window_of
from millpond.types import BIGINT, BOOLEAN

_INNER = ("", "INNER", "CROSS")
_KINDS = ("tumble", "hop")

_EQUAL_BY_VALUE = ("smallint", "integer", "bigint", "text", "date", "timestamp", "timestamptz")
"""Types whose equal values are the same in memory, in an order that Arrow searches: so partners are found without
Spark."""


def cut_pairs(select: exp.Expr, name: str, alias: str, register: Register) -> tuple[exp.Select, Pairs] | None:
    """The SELECT that reads the state of pairs in the place of one that groups a join of two windows, and the pairs;
    None where they do not fit. The SELECT is not changed."""
    if not _fits(select):
        return None
    try:
        return _cut(select.copy(), name, alias, register)
    except MillpondError:
        return None  # What cannot be kept as a partial can still be computed from rows.


def _fits(select: exp.Expr) -> bool:
    items, joins = own_items(select), select.args.get("joins") or []
    windows = [window_of(item) for item in items if isinstance(item, exp.Table) and stream_of(item)]
    return (
        is_grouping(select)
        and len(items) == len(windows) == len(joins) + 1 == 2
        and all(window is not None and window.kind in _KINDS for window in windows)
        and not any(join.args.get("side") or (join.args.get("kind") or "") not in _INNER for join in joins)
        and len(list(select.find_all(exp.Query))) == 1
    )


def _cut(select: exp.Expr, name: str, alias: str, register: Register) -> tuple[exp.Select, Pairs]:
    check_joined(select)
    equal, where = _equal_columns(select), select.args.get("where")
    rows: list[tuple[exp.Select, Relation, list[Column]]] = []
    for place, item in enumerate(own_items(select)):
        grouped, columns = collected(select, item)
        relation = _rows_relation(f"{name}_rows_{place}", columns)
        rows.append((grouped, relation, columns))
        item.replace(_read(relation, alias_of(item)))
    # Rows that are kept have passed the conditions on one window alone, those that no tick has taken have not.
    select.set("where", where)
    cut = cut_out(select, alias, None)
    state = replace(cut.grouping((), None), name=name)
    used = {(column.table, column.name) for column in cut.rows.find_all(exp.Column)}
    sides = tuple(
        PairSide(
            _registered(grouped, register),
            relation,
            alias_of(item),
            {f"c{at}": column for at, column in enumerate(columns) if (alias_of(item), column.name) in used},
            None if equal is None else equal[place],
        )
        for place, (item, (grouped, relation, columns)) in enumerate(zip(own_items(select), rows, strict=True))
    )
    new, lasting = _new(select), _lasting(select, cut.rows, len(state.keys))
    joined, lasting = (_with_condition(one, new) for one in (cut.rows, lasting))
    return cut.reading(state, alias), Pairs(state, (sides[0], sides[1]), joined, lasting)


def _registered(grouped: exp.Select, register: Register) -> Grouping:
    """The grouping that keeps the rows of a side."""
    found: list[Grouping] = []

    def note(made: Grouping) -> Grouping:
        found.append(register(made))
        return found[-1]

    extract(grouped, "rows", note, _no_static, kept=True)
    return found[0]


def _no_static(static: StaticPipeline) -> StaticPipeline:
    raise AssertionError(f"{static.name} is read below rows of a window")


def _rows_relation(name: str, columns: list[Column]) -> Relation:
    added = [Column(ROW_IS_NEW, BOOLEAN), Column(FIRST_FRAME, BIGINT), Column(LAST_FRAME, BIGINT)]
    return Relation(0, name, "system", (*columns, *added), schema=STATE_SCHEMA)


def _read(relation: Relation, alias: str) -> exp.Table:
    table = exp.Table(
        this=identifier(relation.name), db=identifier(STATE_SCHEMA), alias=exp.TableAlias(this=identifier(alias))
    )
    return annotate(table, relation=relation)


def _both(select: exp.Expr, name: str) -> list[exp.Expr]:
    """A column that the rows of both sides have."""
    aliases = [alias_of(item) for item in own_items(select)]
    return [typed(exp.Column(this=identifier(name), table=identifier(alias)), BIGINT) for alias in aliases]


def _new(select: exp.Expr) -> exp.Expr:
    return scalar_node("_1 OR _2", _both(select, ROW_IS_NEW), BOOLEAN)


def _lasting(select: exp.Expr, rows: exp.Select, keys: int) -> exp.Select:
    """The query that makes partials with the life of pairs as two more keys; pairs that never meet are left out."""
    appears = scalar_node("GREATEST(_1, _2)", _both(select, FIRST_FRAME), BIGINT)
    expires = scalar_node("LEAST(_1, _2)", _both(select, LAST_FRAME), BIGINT)
    made = rows.copy()
    lives = [exp.Alias(this=node, alias=identifier(name)) for name, node in ((APPEARS, appears), (EXPIRES, expires))]
    made.set("expressions", [*made.expressions[:keys], *lives, *made.expressions[keys:]])
    group = made.args.get("group")
    own = [] if group is None else group.expressions
    made.set("group", exp.Group(expressions=[*own, appears.copy(), expires.copy()]))
    return _with_condition(made, scalar_node("_1 <= _2", [appears, expires], BOOLEAN))


def _with_condition(select: exp.Select, condition: exp.Expr) -> exp.Select:
    made = select.copy()
    where = made.args.get("where")
    made.set("where", exp.Where(this=conjunction([*([] if where is None else [where.this]), condition.copy()])))
    return made


def _equal_columns(select: exp.Expr) -> tuple[str, str] | None:
    """The columns, one of each side, of the first equality by which the windows are joined."""
    left, right = (alias_of(item) for item in own_items(select))
    asked = [select.args["where"].this] if select.args.get("where") else []
    asked += [join.args["on"] for join in select.args.get("joins") or [] if join.args.get("on")]
    for condition in (one for whole in asked for one in conjuncts(whole)):
        sides = [condition.this, condition.expression] if isinstance(condition, exp.EQ) else []
        named = {one.table: one for one in sides if isinstance(one, exp.Column)}
        kinds = {type_of(one) for one in named.values()}
        if set(named) == {left, right} and len(kinds) == 1 and kinds.pop().name in _EQUAL_BY_VALUE:
            return named[left].name, named[right].name
    return None
