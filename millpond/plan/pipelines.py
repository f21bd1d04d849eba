"""The parts of a split plan: stream pipelines, the state they fill, and the upper pipeline that reads it.

    answer = upper( merge( partial(chunk 1) ... partial(chunk n) ), static )

All are plain, immutable data that print as Spark SQL; running them is the business of `run/`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from sqlglot import exp

from millpond.errors import InternalError
from millpond.plan.expressions import merge_text, partial_node
from millpond.plan.in_units import in_units
from millpond.plan.panes import partitioned_by, with_pane_keys
from millpond.plan.partials import UnitTemplates
from millpond.relation import TID, Column, Relation
from millpond.sql.bind import BoundQuery
from millpond.sql.constants import is_moment
from millpond.sql.from_clause import relations_of
from millpond.sql.nodes import note_of
from millpond.sql.spark_queries import unambiguous_aliases
from millpond.sql.spark_text import spark_text
from millpond.sql.stream_windows import is_bound
from millpond.sql.translate import Translation, by_name, relation_key, translate
from millpond.stream_window import StreamWindow
from millpond.types import BIGINT, SqlType

if TYPE_CHECKING:
    from millpond.plan.paired import Pairs

ColumnsInUnits = Mapping[str, frozenset[str]]
"""Names of columns by the key of their relation."""

STATE_SCHEMA = "millpond"
"""The schema of state relations, so that no relation of a user has their names."""


@dataclass(frozen=True)
class StateColumn:
    """A column of the state: its Spark type, and what it holds in words.

    `merge` is a rule over roles, which `roles` maps to columns of the state; a key has none.
    """

    name: str
    type: str
    holds: str
    merge: str = ""
    roles: tuple[tuple[str, str], ...] = ()

    @property
    def merge_text(self) -> str:
        """Spark SQL over the columns of the state."""
        return merge_text(self.merge, dict(self.roles))

    def renamed(self, names: Mapping[str, str]) -> StateColumn:
        """The column of a state whose columns have other names."""
        roles = tuple((role, names[column]) for role, column in self.roles)
        return replace(self, name=names[self.name], roles=roles)


@dataclass(frozen=True)
class Computed:
    """How a column of the state is computed from the rows of a chunk that pass a condition."""

    compute: str
    inputs: tuple[exp.Expr, ...]
    condition: exp.Expr | None
    units: UnitTemplates | None = field(default=None, compare=False)

    @property
    def node(self) -> exp.Expr:
        return partial_node(self.compute, self.inputs, self.condition, self.units)


@dataclass(frozen=True)
class StaticPipeline:
    """What a stream pipeline reads besides its stream, computed once from the tables at the view's creation."""

    name: str
    columns: tuple[Column, ...]
    tree: exp.Expr

    @property
    def relation(self) -> Relation:
        """Its rows as a relation."""
        return Relation(0, self.name, "system", self.columns, schema=STATE_SCHEMA)

    @property
    def tables(self) -> tuple[Relation, ...]:
        """What it reads."""
        return relations_read(self.tree)

    def to_spark(self, spark_names: Mapping[str, str]) -> str:
        """Spark SQL; `spark_names` maps the keys of the tables to temporary views."""
        return printed(self.tree, spark_names)


@dataclass(frozen=True)
class StreamPipeline:
    """Turns one chunk of a stream into a partial: rows of the grouping's keys and partials.

    `statics` are the other relations it reads: static pipelines, and tables as they were when the view was created.
    A `window` says of which parts of the stream partials are kept apart.
    """

    stream: Relation
    statics: tuple[Relation, ...]
    tree: exp.Expr
    window: StreamWindow | None = None

    @cached_property
    def stream_columns(self) -> tuple[Column, ...]:
        """The stream's columns that are used, since no others need be planned and read; one of them at least is stored,
        which the tid is not."""
        used = {column.name for column in self.tree.find_all(exp.Column)}
        found = tuple(one for one in self.stream.columns if one.name in used)
        return found if any(one != TID for one in found) else (*self.stream.columns[:1], *found)

    def to_spark(self, spark_names: Mapping[str, str]) -> str:
        """Spark SQL; `spark_names` maps the keys of the stream and the statics to temporary views."""
        return printed(self.tree, spark_names)

    def in_units(self, greatest: Mapping[str, Mapping[str, int]]) -> tuple[StreamPipeline, ColumnsInUnits]:
        """The pipeline with numerics in units where that is safe, and those of each relation that it then wants as
        bigints; `greatest` says how far from zero, in units, the values of columns are at most."""
        made = in_units(self.tree, greatest)
        return (self, {}) if made is None else (replace(self, tree=made.tree), made.columns)


@dataclass(frozen=True)
class Grouping:
    """A grouping of streams: the first breaker above them, and what is kept of what they delivered.

    There is one pipeline for each stream. `computed` says how each partial comes about from the rows that pass
    `condition`. A `subtractable` state can forget a part by subtracting its partials. One that is `concatenated` keeps
    rows, and need not be merged to be read.
    """

    name: str
    pipelines: tuple[StreamPipeline, ...]
    keys: tuple[StateColumn, ...]
    key_types: tuple[SqlType, ...]
    partials: tuple[StateColumn, ...]
    computed: tuple[Computed, ...]
    condition: exp.Expr | None
    subtractable: bool
    concatenated: bool = False

    @property
    def columns(self) -> tuple[StateColumn, ...]:
        return (*self.keys, *self.partials)

    @property
    def window(self) -> StreamWindow | None:
        """The window of its streams, which is the same for all of them."""
        return self.pipelines[0].window

    @cached_property
    def kept(self) -> Grouping:
        """What is kept of it: under a window, each pane by itself."""
        return self if self.window is None else paned(self)

    @property
    def relation(self) -> Relation:
        """The merged state as the relation that the upper pipeline reads. Partials have no SQL type: only keys show."""
        shown = tuple(Column(key.name, kind) for key, kind in zip(self.keys, self.key_types, strict=True))
        return Relation(0, self.name, "system", shown, schema=STATE_SCHEMA)

    @property
    def key(self) -> str:
        """Its name in the mapping given to the upper pipeline's `to_spark`."""
        return relation_key(STATE_SCHEMA, self.name)

    def merge_text(self, source: str) -> str:
        """Spark SQL that merges the parts in a relation into one, which is again a part.

        Without keys it has one row, even if there are no parts.
        """
        keys = [key.name for key in self.keys]
        outputs = [*keys, *(f"{one.merge_text} AS {one.name}" for one in self.partials)]
        grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
        return f"SELECT {', '.join(outputs)} FROM {source}{grouped}"


def paned(grouping: Grouping) -> Grouping:
    """A grouping with the pane of each row as its last key, after what its window is partitioned by."""
    pipelines = tuple(replace(one, tree=_paned(one)) for one in grouping.pipelines)
    assert grouping.window is not None
    by = [(column.name, column.type) for column in partitioned_by(grouping.pipelines[0].stream, grouping.window)]
    added = [*by, ("pane", BIGINT)]
    first = len(grouping.keys)
    keys = tuple(StateColumn(f"k{first + at}", kind.spark, holds) for at, (holds, kind) in enumerate(added))
    kinds = tuple(kind for _, kind in added)
    return replace(grouping, pipelines=pipelines, keys=(*grouping.keys, *keys), key_types=(*grouping.key_types, *kinds))


def _paned(pipeline: StreamPipeline) -> exp.Expr:
    assert pipeline.window is not None
    tree = pipeline.tree.copy()
    return with_pane_keys(tree, pipeline.stream, pipeline.window)


@dataclass(frozen=True)
class SplitPlan:
    """A query over streams, split at the first grouping above each.

    `upper` reads the merged states by the keys of the groupings, and the `live` tables as they are when it is asked.
    `pinned` tables are read below a grouping: everywhere in the view they stay as they were when it was created.
    `pairs` are kept of two windows that are joined; their groupings then keep rows, which `upper` does not read.
    """

    groupings: tuple[Grouping, ...]
    statics: tuple[StaticPipeline, ...]
    upper: BoundQuery
    pinned: tuple[Relation, ...]
    live: tuple[Relation, ...]
    notices: tuple[str, ...]
    pairs: Pairs | None = None

    @property
    def windows(self) -> dict[str, StreamWindow]:
        """The windows of its groupings, by their names."""
        return {one.name: one.window for one in self.groupings if one.window is not None}

    @property
    def has_simple_pairs(self) -> bool:
        """Whether pairs, if they are kept, are of all windows of the query: then they are all that `upper` reads."""
        return self.pairs is None or all(one in self.pairs.groupings for one in self.groupings)

    @cached_property
    def reads_clock(self) -> bool:
        """Whether the upper pipeline asks for the time."""
        return any(is_moment(node) for node in self.upper.tree.walk())

    @cached_property
    def has_constants(self) -> bool:
        """Whether the upper pipeline has constants that are not the same at each reading."""
        return self.reads_clock or any(is_bound(node) for node in self.upper.tree.walk())

    @property
    def is_momentary(self) -> bool:
        """Whether its answer depends on the time at which somebody asks."""
        return bool(self.windows) or self.reads_clock


def relations_read(tree: exp.Expr) -> tuple[Relation, ...]:
    """The relations in a bound tree, each once."""
    found = (note_of(table).relation for table in relations_of(tree))
    return tuple({(one.schema, one.name): one for one in found if one is not None}.values())


def printed(tree: exp.Expr, spark_names: Mapping[str, str]) -> str:
    """A bound tree as Spark SQL; `spark_names` maps the keys of its relations to temporary views."""
    made = translate(tree, Translation(by_name(spark_names), _no_constant, _no_call))
    return spark_text(unambiguous_aliases(made))


def _no_constant(name: str) -> datetime | str:
    raise InternalError(f"{name} stands below a grouping of a stream")


def _no_call(name: str, arguments: Sequence[str | None]) -> str | None:  # noqa: ARG001
    raise AssertionError(f"{name} is volatile, and refused below a grouping")
