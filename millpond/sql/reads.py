"""What a bound query reads: which columns of which relations, and through which plain views. For privileges."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from millpond.relation import Read, Relation
from millpond.sql.nodes import note_of

_Found = dict[tuple[str, str | None], set[str]]


def reads_of(tree: exp.Expr, carried: Collection[int] = ()) -> tuple[Read, ...]:
    """What a tree reads. The outputs at the places `carried` only pass a row on: they do not count."""
    found: _Found = {}
    outputs = tree.expressions if isinstance(tree, exp.Select) else []
    skipped = {id(outputs[place]) for place in carried}
    _collect(tree, None, found, skipped)
    return tuple(Read(name, tuple(sorted(columns)), through) for (name, through), columns in found.items())


def _collect(node: exp.Expr, through: str | None, found: _Found, skipped: Collection[int]) -> None:
    if id(node) in skipped:
        return
    relation = note_of(node).relation
    if relation is not None and relation.kind != "system":
        if isinstance(node, exp.Table):
            found.setdefault((relation.name, through), set())
        elif isinstance(node, exp.Column) and relation.column(node.name) is not None:
            found.setdefault((relation.name, through), set()).add(node.name)
        elif isinstance(node, exp.Subquery):
            used = _columns_used(node, relation)
            found.setdefault((relation.name, through), set()).update(used)
            through = relation.name
    for child in node.iter_expressions():
        _collect(child, through, found, skipped)


def _columns_used(view: exp.Subquery, relation: Relation) -> set[str]:
    """The columns of an unfolded view that the query around it uses: those written with its alias.

    Another view of the same alias, further in, may add to them. That asks for too much, never for too little.
    """
    columns = [column.name for column in relation.columns]
    delivered = view.this.named_selects if isinstance(view.this, exp.Query) else ()
    if len(delivered) != len(columns):
        return set(columns)
    written = {column.name for column in view.root().find_all(exp.Column) if column.table == view.alias}
    return {name for source, name in zip(delivered, columns, strict=True) if source in written}
