"""The key of a query's rows: which of its columns tell them apart, so that a change of the others is an update.

    SELECT part, count(*) FROM s GROUP BY part                      part
    SELECT u.n, u.part FROM (the same) u JOIN station ON ...        part, if the join finds one station at most
    SELECT id, name FROM station                                    id, its PRIMARY KEY

It is a good guess: whoever uses it has to do without where two rows have the same key after all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from millpond.plan.pipelines import STATE_SCHEMA
from millpond.plan.trees import alias_of, is_grouping, own_items, query_of
from millpond.relation import Relation
from millpond.sql.nodes import note_of

_SETS = (exp.GroupingSets, exp.Rollup, exp.Cube, exp.Tuple)

KeyOf = Callable[[Relation], Sequence[str] | None]
"""The columns that are the key of a relation, None if it has none that is known."""


def output_key(query: exp.Expr, key_of: KeyOf) -> tuple[int, ...] | None:
    """The places of the key among the outputs of a bound query; none of them if there is one row at most."""
    if isinstance(query, exp.Subquery):
        return output_key(query.this, key_of)
    if not isinstance(query, exp.Select) or query.args.get("distinct"):
        return None
    wanted = _wanted(query, key_of)
    outputs = [output.unalias() for output in query.expressions]
    if wanted is None or any(one not in outputs for one in wanted):
        return None
    return tuple(outputs.index(one) for one in wanted)


def _wanted(select: exp.Select, key_of: KeyOf) -> list[exp.Expr] | None:
    """The expressions that tell the rows of a SELECT apart."""
    group = select.args.get("group")
    if group is not None:
        return None if any(isinstance(one, _SETS) for one in group.expressions) else list(group.expressions)
    if is_grouping(select):
        return []
    items = own_items(select)
    # A table beside something that changes by itself is most likely looked up by its key.
    telling = [item for item in items if not _is_table(item)] or items
    keys = [_item_key(item, key_of) for item in telling]
    if any(key is None for key in keys):
        return None
    return [column for key in keys if key is not None for column in key]


def _is_table(item: exp.Expr) -> bool:
    relation = note_of(item).relation
    return isinstance(item, exp.Table) and relation is not None and relation.kind == "table"


def _item_key(item: exp.Expr, key_of: KeyOf) -> list[exp.Expr] | None:
    """The key of an item in FROM, as columns of the SELECT around it."""
    names = _item_names(item, key_of)
    return None if names is None else [exp.column(name, alias_of(item), quoted=True) for name in names]


def _item_names(item: exp.Expr, key_of: KeyOf) -> Sequence[str] | None:
    relation = note_of(item).relation
    if isinstance(item, exp.Table):
        if relation is None:
            return None
        if relation.schema == STATE_SCHEMA:
            return [column.name for column in relation.columns]
        return key_of(relation)
    query = query_of(item)
    places = None if query is None else output_key(query, key_of)
    if query is None or places is None or not isinstance(query, exp.Select):
        return None
    return [query.expressions[place].alias_or_name for place in places]
