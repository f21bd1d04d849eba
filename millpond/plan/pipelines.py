"""The parts of a split plan: stream pipelines, the state they fill, and the upper pipeline that reads it.

    answer = upper( merge( partial(chunk 1) ... partial(chunk n) ), static )

All are plain, immutable data that print as Spark SQL; running them is the business of `run/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlglot import exp

from millpond.errors import InternalError
from millpond.relation import Column, Relation
from millpond.sql.bind import BoundQuery
from millpond.sql.spark_queries import unambiguous_aliases
from millpond.sql.spark_text import spark_text
from millpond.sql.translate import Translation, by_name, relation_key, translate
from millpond.types import SqlType

STATE_SCHEMA = "millpond"
"""The schema of state relations, so that no relation of a user has their names."""


@dataclass(frozen=True)
class StateColumn:
    """A column of the state: its Spark type, and what it holds in words.

    `merge` is Spark SQL over the columns of the state; a key has none.
    """

    name: str
    type: str
    holds: str
    merge: str = ""


@dataclass(frozen=True)
class StreamPipeline:
    """Turns one chunk of a stream into a partial: rows of the grouping's keys and partials.

    `statics` are the other relations it reads. Their contents must stay as they were when the view was created.
    """

    stream: Relation
    statics: tuple[Relation, ...]
    tree: exp.Expr

    def to_spark(self, spark_names: Mapping[str, str]) -> str:
        """Spark SQL; `spark_names` maps the keys of the stream and the statics to temporary views."""
        made = translate(self.tree, Translation(by_name(spark_names), _no_constant))
        return spark_text(unambiguous_aliases(made))


@dataclass(frozen=True)
class Grouping:
    """A grouping of streams: the first breaker above them, and what is kept of what they delivered.

    There is one pipeline for each stream. A `subtractable` state can forget a part by subtracting its partials.
    """

    name: str
    pipelines: tuple[StreamPipeline, ...]
    keys: tuple[StateColumn, ...]
    key_types: tuple[SqlType, ...]
    partials: tuple[StateColumn, ...]
    subtractable: bool

    @property
    def columns(self) -> tuple[StateColumn, ...]:
        return (*self.keys, *self.partials)

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
        outputs = [*keys, *(f"{one.merge} AS {one.name}" for one in self.partials)]
        grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
        return f"SELECT {', '.join(outputs)} FROM {source}{grouped}"

    def shares_with(self, other: Grouping) -> bool:
        """Whether both group the same rows by the same keys, so that one state with the partials of both serves both.

        Rows that only a WHERE tells apart could share too, with the condition moved into each partial's FILTER; they
        are taken to differ.
        """
        return self.key_types == other.key_types and self._inputs() == other._inputs()

    def _inputs(self) -> list[exp.Expr]:
        made = [pipeline.tree.copy() for pipeline in self.pipelines]
        for tree in made:
            tree.set("expressions", tree.expressions[: len(self.keys)])
        return made


@dataclass(frozen=True)
class SplitPlan:
    """A query over streams, split at the first grouping above each.

    `upper` reads the merged states by the keys of the groupings, and the `live` tables as they are when it is asked.
    `pinned` tables are read below a grouping: everywhere in the view they stay as they were when it was created.
    """

    groupings: tuple[Grouping, ...]
    upper: BoundQuery
    pinned: tuple[Relation, ...]
    live: tuple[Relation, ...]
    notices: tuple[str, ...]


def _no_constant(name: str) -> datetime | str:
    raise InternalError(f"{name} stands below a grouping of a stream")
