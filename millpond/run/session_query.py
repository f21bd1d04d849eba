"""The query of a view over sessions, run for some of them: partials are merged by session, then comes the upper
pipeline, for all sessions at once where Spark can do that, or for one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

import pyarrow as pa

from millpond.plan.each_session import all_at_once
from millpond.plan.pipelines import Grouping, SplitPlan
from millpond.plan.shared import Member
from millpond.run.each_upper import Constant, EachUpper
from millpond.run.merge import KeptParts, Merge, Texts
from millpond.run.repeated_query import RepeatedQuery
from millpond.run.session_list import SESSION, SessionList
from millpond.run.sessions import Key, Session
from millpond.run.statics import Statics
from millpond.spark.runner import Input, QueryInput, Runner, StateInput, changeable
from millpond.sql.constants import bound_key
from millpond.sql.stream_windows import BOUNDS
from millpond.state.parts import PartStore
from millpond.stream import Chunk
from millpond.values.arrays import pc


@dataclass(frozen=True)
class Numbered:
    """Sessions to evaluate, numbered from the first on, and what there is of their time: what the states keep, and
    chunks that no tick has taken."""

    sessions: Sequence[tuple[Key, Session]]
    first: int
    kept: Mapping[str, pa.Table | None]
    chunks: Mapping[str, Mapping[int, Chunk]]


class SessionQuery:
    """The query of one view, which runs it once at a time."""

    def __init__(
        self, plan: SplitPlan, statics: Statics, members: Mapping[str, Member], name: str, scratch: Path
    ) -> None:
        self._plan, self._statics, self._members = plan, statics, members
        self._texts = Texts(name)
        self._list = SessionList.of(plan.groupings[0], self._texts.name("sessions"))
        self._store = PartStore(scratch / name, durable=False)
        self._merges = {grouping.name: RepeatedQuery(scratch) for grouping in plan.groupings}
        self._upper = RepeatedQuery(scratch)
        self._at_once = all_at_once(plan.upper)
        read = dict.fromkeys(reference.key for reference in plan.upper.relations)
        self._names = {key: self._texts.name("upper", place) for place, key in enumerate(read)}

    def run(
        self, runner: Runner, tag: str, live: Mapping[str, Input], constant: Constant, numbered: Numbered
    ) -> pa.Table:
        """The results of all of the sessions, with the number of its session in each row."""
        states = {one.name: self._merged(runner, tag, one, numbered) for one in self._plan.groupings}
        if self._at_once is not None:
            return self._all_at_once(runner, tag, live, constant, numbered, states)
        results = [
            self._alone(runner, tag, live, constant, shown, numbered.first + place, states)
            for place, (_, shown) in enumerate(numbered.sessions)
        ]
        return pa.concat_tables(results)

    # -- below -------------------------------------------------------------------------------------------------------

    def _merged(self, runner: Runner, tag: str, grouping: Grouping, numbered: Numbered) -> pa.Table:
        """The state of a grouping for each of the sessions."""
        member, repeated = self._members[grouping.name], self._merges[grouping.name]
        rows = numbered.kept[grouping.name]
        with ExitStack() as held:
            parts = [] if rows is None else [self._store.write(rows)]
            held.callback(self._store.remove, [part.name for part in parts])
            kept = KeptParts(self._store, parts, member.schema, member.keys, member.select)
            given = (member.grouping, kept, numbered.chunks[grouping.name], self._statics)
            source = Merge(runner.buckets, self._texts, repeated, *given).unmerged()
            listed = self._list.input(repeated, numbered.sessions, numbered.first)
            inputs = {**source.inputs, self._list.name: listed}
            return repeated.collect(runner, self._merge_text(grouping, source.text), inputs, tag)

    def _merge_text(self, grouping: Grouping, source: str) -> str:
        kept, sessions = self._members[grouping.name].grouping, self._list.name
        keys = [f"s.{SESSION}", *(f"x.{key.name}" for key in grouping.keys)]
        condition = self._list.condition(kept)
        if grouping.concatenated:
            partials = [f"x.{one.name}" for one in grouping.partials]
            return f"SELECT {', '.join([*keys, *partials])} FROM ({source}) x JOIN {sessions} s ON {condition}"
        partials = [f"{one.merge_text} AS {one.name}" for one in grouping.partials]
        # Without keys there is one group, even if a session has no row that the query asks for.
        joined = f"{sessions} s {'JOIN' if grouping.keys else 'LEFT JOIN'} ({source}) x ON {condition}"
        return f"SELECT {', '.join([*keys, *partials])} FROM {joined} GROUP BY {', '.join(keys)}"

    # -- above -------------------------------------------------------------------------------------------------------

    def _all_at_once(
        self,
        runner: Runner,
        tag: str,
        live: Mapping[str, Input],
        constant: Constant,
        numbered: Numbered,
        states: Mapping[str, pa.Table],
    ) -> pa.Table:
        assert self._at_once is not None
        upper = EachUpper(self._plan.groupings, self._at_once, self._names, SESSION)
        read = {one.name: self._read_state(one, states[one.name]) for one in self._plan.groupings}
        text, inputs = upper.query(self._list.name, read, constant)
        listed = self._list.input(self._upper, numbered.sessions, numbered.first)
        inputs |= {**self._inputs(live), self._list.name: listed}
        return self._upper.collect(runner, text, inputs, tag)

    def _alone(
        self,
        runner: Runner,
        tag: str,
        live: Mapping[str, Input],
        constant: Constant,
        session: Session,
        number: int,
        states: Mapping[str, pa.Table],
    ) -> pa.Table:
        window = self._list.window
        places = dict(zip(BOUNDS, (session.first, session.last + window.size), strict=True))
        bounds = {
            bound_key(name, one.alias): window.value(place)
            for name, place in places.items()
            for one in self._plan.windows.values()
        }

        def known(name: str) -> datetime | date | str | int | None:
            return bounds[name] if name in bounds else constant(name)

        inputs = self._inputs(live)
        for grouping in self._plan.groupings:
            own = states[grouping.name].filter(pc.field(SESSION) == number)
            inputs[self._names[grouping.key]] = self._state(grouping, own)
        rows = self._upper.collect(runner, self._plan.upper.to_spark(self._names, known), inputs, tag)
        return rows.add_column(0, SESSION, pa.repeat(pa.scalar(number, pa.int64()), rows.num_rows))

    def _inputs(self, live: Mapping[str, Input]) -> dict[str, Input]:
        """What the upper pipeline reads besides states."""
        given = {**self._statics.pinned, **live}
        return {name: changeable(given[key]) for key, name in self._names.items() if key in given}

    def _read_state(self, grouping: Grouping, rows: pa.Table) -> QueryInput:
        """A state as a query: Spark finds new files in folders only outside of the lateral one."""
        files = f"{self._names[grouping.key]}_files"
        return QueryInput(f"SELECT * FROM {files}", {files: self._state(grouping, rows)})

    def _state(self, grouping: Grouping, rows: pa.Table) -> StateInput:
        schema = ", ".join([f"{SESSION} BIGINT", *(f"{column.name} {column.type}" for column in grouping.columns)])
        return StateInput((self._upper.rows(grouping.name, rows),), schema, single=True)
