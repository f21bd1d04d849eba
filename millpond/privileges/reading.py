"""May this be read? Asked wherever a query meets its data; see `millpond.statements.execution`."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from millpond.namespace import PUBLIC_SCHEMA
from millpond.privileges.acl import SELECT, USAGE
from millpond.privileges.authority import Authority, CatalogState
from millpond.relation import Read, Relation


def check_reads(state: CatalogState, reader: Authority, reads: Iterable[Read], written: Collection[str] = ()) -> None:
    """Raise unless the reader may read all of it, and the owners of the views in it what is below them.

    Of the relations that are `written`, only the columns that are read count: to change all rows of a table one need
    not be allowed to see them.
    """
    if reader.superuser and all(role.superuser for role in state.roles.values()):
        return  # nobody here, nor the owner of any view, could be refused
    for read in reads:
        relation = state.relation(read.relation)
        if relation is None or (read.relation in written and not read.columns):
            continue
        view = None if read.through is None else state.relation(read.through)
        who = reader if view is None else _owner_of(state, view)
        who.require(USAGE, state.namespaces[PUBLIC_SCHEMA])
        who.require(SELECT, relation, read.columns)
        check_view(state, relation)


def check_view(state: CatalogState, relation: Relation) -> None:
    """Raise unless the owner of a continuous view may still read what it is made of."""
    if relation.kind == "continuous":
        check_reads(state, _owner_of(state, relation), relation.reads)


def _owner_of(state: CatalogState, relation: Relation) -> Authority:
    return Authority.of(relation.owner, state.roles)
