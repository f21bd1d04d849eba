"""The queries of one cycle: those that feed its functions, and the rest of it over what these made.

Between cycles, Spark repeats each of them over folders that hold other files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa

from millpond.plan.cycle import CycleQuery
from millpond.plan.history import HistoryCut, HistoryWindow
from millpond.plan.plain_tuples import Comparison
from millpond.python_function import STATE
from millpond.relation import Column, Relation
from millpond.run.branch_rows import apart_by_schema, numbered, together
from millpond.run.cuts import Piece
from millpond.run.function_state import FunctionState
from millpond.run.merge import SMALL_ROWS_MAX
from millpond.run.repeated_query import RepeatedQuery
from millpond.services import Held
from millpond.spark.runner import FileInput, Input
from millpond.sql.bind import BoundQuery
from millpond.statements.current_tables import current_input
from millpond.statements.execution import Execution, base_relations
from millpond.types import BIGINT, BYTEA, SqlType, array_of
from millpond.values.arrays import pc

_FEW_CALLS = 5_000
"""Up to so many calls of a function one worker does."""


@dataclass
class CycleRun:
    """Tuples of a cycle and the queries that run over them, which have a name in Spark and make rows by schemas.
    `repeated` are the queries of the tuples before, by name; `fed` are rows of feeds that are known, by their cuts."""

    execution: Execution
    name: str
    sources: Sequence[CycleQuery]
    schemas: Sequence[pa.Schema]
    piece: Piece
    tuples: pa.Table
    repeated: dict[str, RepeatedQuery]
    functions: FunctionState
    fed: Mapping[str, pa.Table] = field(default_factory=dict)
    _made: dict[str, Input] = field(default_factory=dict)
    _held: list[Held] = field(default_factory=list)

    def rows(self) -> list[pa.Table]:
        """What each branch makes of the cycle's tuples: one Spark job, and one for each function that does not read
        them as they are."""
        with self._letting_go():
            self._call_functions()
            queries = [(source, source.rest) for source in self.sources]
            return apart_by_schema(self._collected("rest", queries, [len(one) for one in self.schemas]), self.schemas)

    def remember(self) -> None:
        """Let the functions remember the tuples, and leave it at that."""
        with self._letting_go():
            self._call_functions()

    @contextmanager
    def _letting_go(self) -> Iterator[None]:
        try:
            yield
        finally:
            for release in self._held:
                release()

    def _call_functions(self) -> None:
        for source in self.sources:
            for cut in source.cuts:
                if cut.key not in self._made:
                    rows = self.functions.evaluated(cut, self._fed(source, cut), self._call)
                    self._made[cut.key] = self._file(cut.relation.name, rows, cut.relation.columns)

    def _call(self, window: HistoryWindow, calls: pa.Table, kinds: Mapping[str, SqlType]) -> pa.Table:
        """What a stateful function answers to its calls, on Spark's workers."""
        (call,) = window.calls
        function = call.python
        assert function is not None
        own = [
            Column(f"p{place}", kinds[name] if one.name in function.keys else array_of(kinds[name]))
            for place, (one, name) in enumerate(zip(function.parameters, call.arguments, strict=True))
        ]
        columns = (Column("place", BIGINT), Column("length", BIGINT), *own, Column(STATE, BYTEA))
        name = f"{self.name}_{window.name.replace('.', '_')}"
        many = f"/*+ REPARTITION({self.execution.services.runner.buckets}) */" if calls.num_rows > _FEW_CALLS else ""
        arguments = ", ".join(one.name for one in columns[1:])
        text = f"SELECT place, {function.spark_name}({arguments}) AS made FROM (SELECT {many} * FROM {name})"
        inputs = {name: self._file(window.name, calls, columns)}
        runner, tag = self.execution.services.runner, self.execution.tag
        return self._repeated(window.name).collect(runner, text, inputs, tag)

    def _fed(self, source: CycleQuery, cut: HistoryCut) -> pa.Table:
        """The rows of a feed."""
        names, schema = cut.feed_names, cut.feed_schema
        if cut.key in self.fed:
            return self.fed[cut.key]
        if cut.tuples is not None:
            tuples = picked(self.tuples, cut.tuples.conditions).select(cut.tuples.columns)
            return tuples.rename_columns(names).cast(schema)
        rows = self._collected(cut.relation.name, [(source, cut.feed)], [len(names)])
        return rows.rename_columns(names).cast(schema)

    def _collected(
        self, name: str, queries: Sequence[tuple[CycleQuery, BoundQuery]], widths: Sequence[int]
    ) -> pa.Table:
        """The rows of queries by one job."""
        read = {key: relation for _, query in queries for key, relation in base_relations(query).items()}
        given = {key: self._input(key, relation) for key, relation in read.items()}
        names = {key: f"{self.name}_{name}_{place}" for place, key in enumerate(given)}
        ends = (self.piece.low, self.piece.high)
        bounds = [source.window.value(place) for source, _ in queries[:1] for place in ends]
        constants = self.execution.constant
        texts = [source.to_spark(names, bounds, query, constants) for source, query in queries]
        text = together(texts, numbered(widths))
        inputs = {names[key]: one for key, one in given.items()}
        runner, tag = self.execution.services.runner, self.execution.tag
        return self._repeated(name).collect(runner, text, inputs, tag)

    def _input(self, key: str, relation: Relation) -> Input:
        """What a relation holds: the cycle's tuples, what a function made, or its rows as the transaction sees them, as
        the cycle before may have written into it."""
        if key in self._made:
            return self._made[key]
        if relation.kind == "stream":
            self._made[key] = self._file("tuples", self.tuples, stream_columns(self.sources))
            return self._made[key]
        return current_input(self.execution, self._repeated("tables"), relation, self._held)

    def _file(self, name: str, rows: pa.Table, columns: tuple[Column, ...]) -> FileInput:
        return FileInput((self._repeated(name).rows(name, rows),), columns, single=rows.num_rows <= SMALL_ROWS_MAX)

    def _repeated(self, name: str) -> RepeatedQuery:
        if name not in self.repeated:
            self.repeated[name] = RepeatedQuery(self.execution.services.scratch)
        return self.repeated[name]


def picked(tuples: pa.Table, conditions: Sequence[Comparison]) -> pa.Table:
    """The tuples that fulfil all conditions; what is NULL fulfils none."""
    for one in conditions:
        column = pc.field(one.column)
        asked = {
            "==": column == one.value,
            "!=": column != one.value,
            "<": column < one.value,
            "<=": column <= one.value,
            ">": column > one.value,
            ">=": column >= one.value,
        }
        tuples = tuples.filter(asked[one.operator])
    return tuples


def stream_columns(sources: Sequence[CycleQuery]) -> tuple[Column, ...]:
    """The stream's columns that any of the queries needs."""
    needed = {one.name for source in sources for one in source.stream_columns}
    return tuple(one for one in sources[0].stream.columns if one.name in needed)
