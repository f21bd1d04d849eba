"""The stream pipelines of a cycle query, run over pieces of a cycle before it is cut.

    a piece          tuples that have arrived ─▶ stream pipelines ─▶ partials, in memory
    at the cut       partials + those of the last tuples ─ merge ─▶ upper pipelines ─▶ what the cycle makes

Nothing is committed: a process that ends forgets the partials, and begins the cycle again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from millpond.plan.pipelines import Grouping, SplitPlan
from millpond.relation import Column
from millpond.run.branch_rows import apart, together
from millpond.run.merge import SMALL_ROWS_MAX
from millpond.run.repeated_query import RepeatedQuery
from millpond.run.statics import Statics, key_of
from millpond.spark.runner import FileInput, Input, QueryInput, Runner, StateInput


@dataclass
class Pieces:
    """The partials of one cycle, by grouping; it has tuples up to `end` in them. `statics` are what they were joined
    with, one for each plan, from tables of these `versions`."""

    low: int
    end: int
    statics: Sequence[Statics]
    versions: object
    rows: int = 0
    seconds: float = 0.0
    partials: list[list[pa.Table]] = field(default_factory=list)


class PieceWork:
    """What the branches of one query group, each grouping once, and the queries that do so. `columns` are those that
    they need of the stream."""

    def __init__(self, plans: Sequence[SplitPlan], columns: Sequence[Column], scratch: Path, prefix: str) -> None:
        self.plans, self._columns, self._prefix = plans, tuple(columns), prefix
        self._tuples, self._partials = RepeatedQuery(scratch), RepeatedQuery(scratch)
        self._works: list[_GroupingWork] = []
        self._of_plans: list[dict[str, _GroupingWork]] = []
        for place, plan in enumerate(plans):
            self._of_plans.append({one.key: self._work(one, place, scratch) for one in plan.groupings})

    def absorb(self, runner: Runner, pieces: Pieces, tuples: pa.Table, end: int, tag: str) -> None:
        """Make a piece of tuples, which are all of the cycle from where the last one ended up to `end`: one Spark
        job for all groupings."""
        given, inputs = self._given(tuples), dict[str, Input]()
        for work in self._works:
            inputs |= work.inputs(given, pieces.statics)
        columns = [[column.name for column in work.grouping.columns] for work in self._works]
        text = together([work.pipelines for work in self._works], columns)
        rows = self._partials.collect(runner, text, inputs, tag)
        pieces.partials.append(apart(rows, columns))
        pieces.end, pieces.rows = end, pieces.rows + tuples.num_rows

    def states(self, pieces: Pieces, rest: pa.Table | None) -> list[dict[str, tuple[str, QueryInput]]]:
        """For each plan the merged states that its upper pipeline reads, by key, and what Spark calls them: those of
        the pieces, and of the tuples that are in none, if there may be some."""
        given = None if rest is None else self._given(rest)
        merged: dict[str, tuple[str, QueryInput]] = {}
        for place, work in enumerate(self._works):
            partials = [one[place] for one in pieces.partials]
            merged[work.name] = (work.name, work.merged(partials, given, pieces.statics))
        return [{key: merged[work.name] for key, work in works.items()} for works in self._of_plans]

    def _work(self, grouping: Grouping, plan: int, scratch: Path) -> _GroupingWork:
        """The work for a grouping. Branches share it, unless it reads static pipelines, which are of one plan."""
        alone = any(line.statics for line in grouping.pipelines)
        for known in self._works:
            if not alone and replace(grouping, name=known.grouping.name) == known.grouping:
                return known
        made = _GroupingWork(grouping, plan, f"{self._prefix}_state_{len(self._works)}", RepeatedQuery(scratch))
        self._works.append(made)
        return made

    def _given(self, tuples: pa.Table) -> FileInput:
        folder = self._tuples.rows("tuples", tuples)
        return FileInput((folder,), self._columns, single=tuples.num_rows <= SMALL_ROWS_MAX)


@dataclass
class _GroupingWork:
    """One grouping of a plan."""

    grouping: Grouping
    plan: int
    name: str
    repeated: RepeatedQuery

    def merged(self, partials: Sequence[pa.Table], given: FileInput | None, statics: Sequence[Statics]) -> QueryInput:
        """The state of the partials and of the tuples that are given."""
        sources, inputs = ([], {}) if given is None else ([self.pipelines], self.inputs(given, statics))
        small = given is None or given.single
        if partials:
            kept, rows = f"{self.name}_kept", pa.concat_tables(partials)
            columns = self.grouping.columns
            schema = ", ".join(f"{column.name} {column.type}" for column in columns)
            small = small and rows.num_rows <= SMALL_ROWS_MAX
            inputs[kept] = StateInput((self.repeated.rows("kept", rows),), schema, single=small)
            sources.append(f"SELECT {', '.join(column.name for column in columns)} FROM {kept}")
        union = " UNION ALL ".join(sources)
        is_merged = len(sources) == 1 and len(partials) <= 1 and len(self.grouping.pipelines) == 1
        if self.grouping.concatenated or (is_merged and self.grouping.keys):
            return QueryInput(union, inputs)
        together = f"SELECT /*+ COALESCE(1) */ * FROM ({union})" if small else union
        return QueryInput(self.grouping.merge_text(f"({together})"), inputs)

    @cached_property
    def pipelines(self) -> str:
        """The stream pipelines as Spark SQL."""
        return " UNION ALL ".join(line.to_spark(self._names) for line in self.grouping.pipelines)

    def inputs(self, given: FileInput, statics: Sequence[Statics]) -> dict[str, Input]:
        """What the stream pipelines read."""
        inputs: dict[str, Input] = {}
        for line in self.grouping.pipelines:
            inputs[self._names[key_of(line.stream)]] = given
            for static in line.statics:
                inputs[self._names[key_of(static)]] = statics[self.plan][key_of(static)]
        return inputs

    @cached_property
    def _names(self) -> dict[str, str]:
        """What Spark calls its inputs, of which no other grouping has any."""
        read = dict.fromkeys(key_of(one) for line in self.grouping.pipelines for one in (line.stream, *line.statics))
        return {key: f"{self.name}_{place}" for place, key in enumerate(read)}
