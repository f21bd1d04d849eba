"""The pass that unfolds WITH: each use of a CTE becomes a subquery, so that each is its own occurrence of a stream.

    WITH w AS (SELECT a FROM s) SELECT count(*) FROM w AS x    ->    SELECT count(*) FROM (SELECT a FROM s) AS x

Only CTEs that mention a stream are unfolded everywhere. One over tables stays where it is for the upper pipeline, and
is copied into a query that is cut out of its reach (`with_ctes`).
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from millpond.errors import MillpondError, SqlState
from millpond.plan.trees import alias_of, mentions_stream
from millpond.sql.nodes import identifier, note_of, position_of

Ctes = Mapping[str, exp.CTE]


def unfold_streams(tree: exp.Expr) -> exp.Expr:
    """A copy of the tree in which no CTE mentions a stream."""
    return _unfold(tree.copy(), {})


def _unfold(node: exp.Expr, known: Ctes) -> exp.Expr:
    known = _with_own(node, known)
    for key, value in list(node.args.items()):
        if key == "with_":
            continue
        if isinstance(value, list):
            node.set(key, [_unfold(one, known) if isinstance(one, exp.Expr) else one for one in value])
        elif isinstance(value, exp.Expr):
            node.set(key, _unfold(value, known))
    cte = cte_of(node, known)
    return node if cte is None else _as_subquery(cte, alias_of(node))


def _with_own(node: exp.Expr, known: Ctes) -> Ctes:
    """The stream CTEs in sight of a query: it takes its own out of its WITH, and its own names hide outer ones."""
    with_ = node.args.get("with_")
    if with_ is None:
        return known
    visible, kept = dict(known), []
    for cte in with_.expressions:
        name = cte.args["alias"].this.this
        refuse_recursion(cte, name, recursive=bool(with_.args.get("recursive")))
        cte.set("this", _unfold(cte.this, visible))
        if mentions_stream(cte):
            visible[name] = cte
        else:
            visible.pop(name, None)
            kept.append(cte)
    with_.set("expressions", kept)
    if not kept:
        node.set("with_", None)
    return visible


def refuse_recursion(cte: exp.CTE, name: str, *, recursive: bool) -> None:
    if recursive and mentions_stream(cte) and any(cte_name(table) == name for table in cte.this.find_all(exp.Table)):
        raise MillpondError(
            SqlState.FEATURE_NOT_SUPPORTED,
            f'recursive query "{name}" over a stream is not supported',
            hint="Group the stream in a query of its own, and let the recursive one read that.",
            position=position_of(cte),
        )


def cte_name(table: exp.Expr) -> str | None:
    """The name of the CTE that a table in FROM refers to: one that is no relation and no function."""
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        return None
    return table.name if note_of(table).relation is None else None


def cte_of(table: exp.Expr, known: Ctes) -> exp.CTE | None:
    name = cte_name(table)
    return None if name is None else known.get(name)


def _as_subquery(cte: exp.CTE, alias: str) -> exp.Subquery:
    return exp.Subquery(this=cte.this.copy(), alias=exp.TableAlias(this=identifier(alias)))


def prune(tree: exp.Expr) -> None:
    """Drops CTEs that nothing refers to any more. The tree is changed."""
    used = {cte_name(table) for table in tree.find_all(exp.Table)}
    unused = [cte for cte in tree.find_all(exp.CTE) if cte.args["alias"].this.this not in used]
    for cte in unused:
        with_ = cte.parent
        assert isinstance(with_, exp.With)
        with_.set("expressions", [one for one in with_.expressions if one is not cte])
        if not with_.expressions:
            with_.pop()
    if unused:
        prune(tree)


def with_ctes(query: exp.Expr, place: exp.Expr) -> exp.Expr:
    """The query, cut out of `place`, with the CTEs it refers to and that are defined around that place."""
    needed = _needed(query, _around(place))
    if needed:
        own = query.args.get("with_")
        definitions = [cte.copy() for cte in needed.values()] + (list(own.expressions) if own else [])
        recursive = any(cte.parent.args.get("recursive") for cte in needed.values() if cte.parent)
        query.set("with_", exp.With(expressions=definitions, recursive=recursive or None))
    return query


def _around(place: exp.Expr) -> dict[str, exp.CTE]:
    """The CTEs in sight of a node, in the order of their definition; an inner one hides an outer of its name."""
    levels: list[exp.With] = []
    node: exp.Expr | None = place
    while node is not None:
        if isinstance(node.args.get("with_"), exp.With):
            levels.append(node.args["with_"])
        node = node.parent
    return {cte.args["alias"].this.this: cte for with_ in reversed(levels) for cte in with_.expressions}


def _needed(query: exp.Expr, known: Mapping[str, exp.CTE]) -> dict[str, exp.CTE]:
    """The CTEs that a query refers to, directly or through one another, in the order of their definition."""
    names: set[str] = set()
    open_nodes: list[exp.Expr] = [query]
    while open_nodes:
        for table in open_nodes.pop().find_all(exp.Table):
            name = cte_name(table)
            if name is not None and name in known and name not in names:
                names.add(name)
                open_nodes.append(known[name].this)
    return {name: cte for name, cte in known.items() if name in names}
