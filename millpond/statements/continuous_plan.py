"""A continuous query as it is run: a branch for each of its INSERTs, all of them over the same chunks.

A branch says where its rows come from, and the columns of the target that they fill.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from millpond.errors import MillpondError, not_supported
from millpond.namespace import PUBLIC_SCHEMA
from millpond.plan.cycle import CycleQuery, cycle_queries
from millpond.plan.emitting import emitting
from millpond.plan.row_flow import ARRIVAL, RowFlow, row_flow
from millpond.privileges.acl import INSERT, USAGE
from millpond.privileges.authority import Authority, CatalogState
from millpond.privileges.reading import check_reads
from millpond.relation import Column, Relation
from millpond.sql.bind import BoundQuery, bind
from millpond.sql.dml import insert_source
from millpond.sql.nodes import position_of
from millpond.sql.parse import parse_definition
from millpond.sql.scope import NamesAsCreated
from millpond.sql.statements import Insert, QueryDefinition
from millpond.statements.execution import Execution, base_relations
from millpond.statements.insert import insertable, target_columns
from millpond.stream_window import CycleWindow


@dataclass(frozen=True)
class Branch:
    """One INSERT of a continuous query."""

    source: RowFlow | CycleQuery
    target: Relation
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Emit:
    """The query whose rows a cycle query emits as its tuples arrive: as it was written, and as it is run, with the tid
    of the tuple that a row was made of as its last output."""

    written: BoundQuery
    source: CycleQuery

    @cached_property
    def reads(self) -> Mapping[str, Relation]:
        return base_relations(self.source.query)

    @property
    def made(self) -> pa.Schema:
        """The columns that its query makes."""
        return self.schema.append(pa.field(ARRIVAL.name, ARRIVAL.type.arrow))

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns that subscribers get."""
        return pa.schema([pa.field(f"c{place}", one.type.arrow) for place, one in enumerate(self.written.columns)])


@dataclass(frozen=True)
class Planned:
    """All INSERTs of a continuous query, and what it emits; those of a cycle query are over the same cycles."""

    branches: tuple[Branch, ...]
    emit: Emit | None = None

    @cached_property
    def streams(self) -> tuple[Relation, ...]:
        """The streams that it reads, each once."""
        return tuple({one.oid: one for branch in self.branches for one in branch.source.streams}.values())

    @cached_property
    def reads(self) -> Mapping[str, Relation]:
        """All relations that it reads, by the key that translation wants."""
        return {key: one for branch in self.branches for key, one in base_relations(branch.source.query).items()}

    @property
    def targets(self) -> tuple[Relation, ...]:
        return tuple(branch.target for branch in self.branches)

    @property
    def cycle_sources(self) -> list[CycleQuery]:
        """What runs over each cycle, but for what is emitted."""
        return [branch.source for branch in self.branches if isinstance(branch.source, CycleQuery)]

    @property
    def window(self) -> CycleWindow | None:
        """The cycles in which it runs."""
        source = self.branches[0].source
        return source.window if isinstance(source, CycleQuery) else None


def planned(execution: Execution, defined: QueryDefinition, sees: Mapping[str, tuple[str, ...]]) -> Planned:
    """What a continuous query runs, or an error that says why it cannot."""
    inserts = defined.inserts
    targets = [_target(execution, insert, alone=len(inserts) == 1) for insert in inserts]
    columns = [
        target_columns(target, insert.columns, insert.column_positions)
        for target, insert in zip(targets, inserts, strict=True)
    ]
    names = NamesAsCreated(execution, sees)
    bound = [
        insert_source(insert.source, target, None if insert.columns is None else filled, names)
        for insert, target, filled in zip(inserts, targets, columns, strict=True)
    ]
    if defined.emit is None:
        return Planned(tuple(map(Branch, _sources(bound), targets, columns)))
    written = bind(defined.emit, names)
    sources = cycle_queries([*bound, written])
    if sources is None:
        hint = "Without CYCLE, rows are inserted as soon as tuples arrive: subscribe to the query."
        raise not_supported("EMIT in a query without CYCLE", hint=hint, position=position_of(written.tree))
    return Planned(tuple(map(Branch, sources[:-1], targets, columns)), _emit(written, sources[-1]))


def _emit(written: BoundQuery, source: CycleQuery) -> Emit:
    """Rows that flow: each tuple makes rows by itself and what is remembered of those before, so that it does not
    matter which come with it."""
    try:
        return Emit(written, emitting(source))
    except MillpondError as refused:
        refused.message = refused.message.replace("in a continuous query", "in EMIT")
        refused.hint = "Let an INSERT of the query do it: that has the whole cycle."
        raise


def _sources(bound: Sequence[BoundQuery]) -> Sequence[RowFlow | CycleQuery]:
    return cycle_queries(bound) or [row_flow(one) for one in bound]


def _target(execution: Execution, insert: Insert, *, alone: bool) -> Relation:
    target = insertable(execution, insert.target)
    if insert.returning:
        raise not_supported("RETURNING in a continuous query", position=insert.target.position)
    if target.kind == "stream" and not alone:
        what = "a stream beside other targets of a continuous query"
        hint = "Write into the stream by a query of its own: rows of streams and tables do not become visible together."
        raise not_supported(what, hint=hint, position=insert.target.position)
    return target


def seen_by(execution: Execution, defined: QueryDefinition) -> dict[str, tuple[str, ...]]:
    """The columns that `*` stands for in a definition, by relation."""
    return {name: columns for source in defined.sources for name, columns in execution.visible_to(source).items()}


def plan_again(execution: Execution, query: Relation) -> Planned:
    """The INSERTs of a query that was created before."""
    assert query.definition is not None
    return planned(execution, parse_definition(query.definition), query.sees)


def check_rights(state: CatalogState, authority: Authority, plan: Planned) -> None:
    """Raise unless somebody may read what a query reads and insert into its targets."""
    authority.require(USAGE, state.namespaces[PUBLIC_SCHEMA])
    for branch in plan.branches:
        authority.require(INSERT, branch.target, [column.name for column in branch.columns])
        check_reads(state, authority, branch.source.reads)
    if plan.emit is not None:
        check_reads(state, authority, plan.emit.written.reads)
