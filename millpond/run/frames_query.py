"""The query of a view over windows for several of its frames, one after the other on the axis, in one Spark job.

A row of a pane is of the windows from the first to the last that have the pane, which its number tells:

1. What is kept of the panes that all the windows have comes as blocks; of the others, pane by pane.
2. Rows of the same keys and the same windows are merged.
3. Each is repeated for every window that it is of, and merged with the others of that window.
4. The upper pipeline runs once for each window (`run/each_upper.py`).

So what windows have in common is merged once, and a job's fixed cost is paid once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from millpond.plan.each_session import all_at_once
from millpond.plan.paired import APPEARS, EXPIRES
from millpond.plan.panes import bound_type
from millpond.plan.pipelines import Grouping, SplitPlan
from millpond.plan.shared import Member
from millpond.run.each_upper import Constant, EachUpper
from millpond.run.frames import Frame
from millpond.run.merge import KeptParts, Merge, Texts
from millpond.run.repeated_query import RepeatedQuery
from millpond.run.statics import Statics
from millpond.run.window_pairs import PairLook, WindowPairs
from millpond.spark.runner import Input, QueryInput, Runner, StateInput, changeable
from millpond.sql.bind import BoundQuery
from millpond.sql.stream_windows import BOUNDS
from millpond.state.pane_tree import PaneTree, together
from millpond.state.parts import PartStore
from millpond.stream import Chunk
from millpond.stream_window import StreamWindow
from millpond.types import BIGINT, SqlType

FRAMES_MAX = 32
"""Frames in one job: with more of them the first one waits for long."""

ROWS_MAX = 1_000_000
"""Rows of all panes, each as often as it is in a frame: with more, work outweighs a job's fixed cost."""

Chunks = Mapping[str, Mapping[int, Chunk]]
"""Chunks that no tick has taken, by grouping and stream."""

_KINDS = ("hop", "tumble")
_FRAME, _FROM, _TO = "frame", "from_frame", "to_frame"


@dataclass(frozen=True)
class SeveralFrames:
    """Frames to evaluate, by the numbers of their windows, and what there is of their panes: what states keep, or pairs
    of rows, and chunks that no tick has taken."""

    numbers: range
    kept: Mapping[str, pa.Table | None]
    chunks: Chunks
    pairs: PairLook | None = None


class FramesQuery:
    """The query of one view, which runs it once at a time."""

    def __init__(
        self,
        plan: SplitPlan,
        upper: BoundQuery,
        window: StreamWindow,
        statics: Statics,
        members: Mapping[str, Member],
        name: str,
        scratch: Path,
    ) -> None:
        self._plan, self._statics, self._members, self._window = plan, statics, members, window
        self._texts = Texts(f"{name}_frames")
        self._list = self._texts.name("list")
        self._store = PartStore(scratch / f"frames-{name}", durable=False)
        self._repeated = RepeatedQuery(scratch)
        read = dict.fromkeys(reference.key for reference in plan.upper.relations)
        names = {key: self._texts.name("upper", place) for place, key in enumerate(read)}
        self._states = plan.groupings if plan.pairs is None else (plan.pairs.state,)
        self._upper = EachUpper(self._states, upper, names, _FRAME)

    @classmethod
    def of(
        cls, plan: SplitPlan, statics: Statics, members: Mapping[str, Member], name: str, scratch: Path
    ) -> FramesQuery | None:
        """The query of a view, if all its states are of the same windows, and Spark can do several at once. Rows that
        the query puts into an order would lose it."""
        windows = list(plan.windows.values())
        same = len({_place(one) for one in windows}) == len(_bound_types(plan)) == 1
        upper = None if plan.upper.tree.args.get("order") else all_at_once(plan.upper)
        if not plan.has_simple_pairs or len(windows) < len(plan.groupings) or not same or upper is None:
            return None
        return cls(plan, upper, windows[0], statics, members, name, scratch) if windows[0].kind in _KINDS else None

    def groups(
        self, frames: Sequence[Frame], trees: Mapping[str, PaneTree], chunks: Chunks, pairs: WindowPairs | None
    ) -> list[Sequence[Frame]]:
        """Frames that are evaluated together: those that follow each other, as long as their rows are not too many."""
        if len(frames) < 2:
            return [frames] if frames else []
        each = sum(chunk.rows for by_stream in chunks.values() for chunk in by_stream.values())
        if pairs is not None:
            each = pairs.partials_with(each)
        else:
            for tree in trees.values():
                each += sum(table.num_rows for table in tree.cover(*self._window.panes(_number(frames[0]))))
        return _runs(frames, max(1, min(FRAMES_MAX, ROWS_MAX // max(1, each))))

    def several(
        self,
        frames: Sequence[Frame],
        trees: Mapping[str, PaneTree],
        chunks: Chunks,
        pairs: WindowPairs | None,
    ) -> SeveralFrames:
        """What there is of some frames that follow each other."""
        numbers = range(_number(frames[0]), _number(frames[-1]) + 1)
        if pairs is not None:
            span = (self._window.panes(numbers[0])[0], self._window.panes(numbers[-1])[1])
            return SeveralFrames(numbers, {}, chunks, pairs.look(numbers, dict.fromkeys(trees, span)))
        return SeveralFrames(numbers, {name: self._kept(numbers, tree) for name, tree in trees.items()}, chunks)

    def _kept(self, numbers: range, tree: PaneTree) -> pa.Table | None:
        (first, common_last), (common_first, last) = (self._window.panes(one) for one in (numbers[0], numbers[-1]))
        if common_first > common_last:
            tables = tree.panes(first, last)
        else:
            common = tree.cover(common_first, common_last)
            tables = [*tree.panes(first, common_first - 1), *common, *tree.panes(common_last + 1, last)]
        return together(tables) if tables else None

    def run(
        self,
        runner: Runner,
        tag: str,
        live: Mapping[str, Input],
        constant: Constant,
        several: SeveralFrames,
        pairs: WindowPairs | None,
    ) -> Iterator[tuple[int, pa.Table]]:
        """The result of each of the frames, by its number."""
        with ExitStack() as held:
            if pairs is None:
                states = {one.name: self._merged(runner, one, several, held) for one in self._states}
            else:
                states = {one.name: self._paired(one, several, pairs) for one in self._states}
            text, inputs = self._upper.query(self._list, states, constant)
            given = {**self._statics.pinned, **live}
            inputs |= {name: changeable(given[key]) for key, name in self._upper.names.items() if key in given}
            inputs[self._list] = self._listed(several.numbers)
            rows = self._repeated.collect(runner, text, inputs, tag)
        return _by_frame(rows, several.numbers)

    def _merged(self, runner: Runner, grouping: Grouping, several: SeveralFrames, held: ExitStack) -> QueryInput:
        """The state of a grouping for each of the frames."""
        member, rows = self._members[grouping.name], several.kept[grouping.name]
        parts = [] if rows is None else [self._store.write(rows)]
        held.callback(self._store.remove, [part.name for part in parts])
        kept = KeptParts(self._store, parts, member.schema, member.keys, member.select)
        given = (member.grouping, kept, several.chunks[grouping.name], self._statics)
        source = Merge(runner.buckets, self._texts, self._repeated, *given).unmerged()
        pane = member.grouping.keys[-1].name
        # Rows whose time nobody knows are in no window; ticks leave them out.
        placed = f"SELECT * FROM ({source.text}) WHERE {pane} IS NOT NULL"
        life = self._frames_of(pane, several.numbers)
        return QueryInput(self._merge_text(grouping, placed, life), source.inputs)

    def _paired(self, grouping: Grouping, several: SeveralFrames, pairs: WindowPairs) -> QueryInput:
        """The state of pairs for each of the frames."""
        assert several.pairs is not None
        given = (several.pairs, several.chunks, several.numbers, self._texts, self._repeated)
        source = pairs.lasting_query(*given)
        life = (f"{APPEARS} AS {_FROM}", f"{EXPIRES} AS {_TO}")
        return QueryInput(self._merge_text(grouping, source.text, life), source.inputs)

    def _merge_text(self, grouping: Grouping, source: str, life: tuple[str, str]) -> str:
        keys = [key.name for key in grouping.keys]
        partials = [one.name for one in grouping.partials]
        merges = [f"{one.merge_text} AS {one.name}" for one in grouping.partials]
        low, high = life
        placed = f"SELECT {', '.join([*keys, *partials, low, high])} FROM (SELECT /*+ COALESCE(1) */ * FROM ({source}))"
        within = f"FROM ({placed}) WHERE {_FROM} <= {_TO}"
        once = ", ".join([_FROM, _TO, *keys])
        if not grouping.concatenated:
            within = f"FROM (SELECT {', '.join([once, *merges])} {within} GROUP BY {once})"
        each = f"SELECT {', '.join([*keys, *partials])}, explode(sequence({_FROM}, {_TO})) AS {_FRAME} {within}"
        if grouping.concatenated:
            return each
        if keys:
            return f"SELECT {', '.join([_FRAME, *keys, *merges])} FROM ({each}) GROUP BY {', '.join([_FRAME, *keys])}"
        # Without keys there is one group, even if a window has no rows.
        listed = f"{self._list} s LEFT JOIN ({each}) x ON x.{_FRAME} = s.{_FRAME}"
        return f"SELECT s.{_FRAME}, {', '.join(merges)} FROM {listed} GROUP BY s.{_FRAME}"

    def _frames_of(self, pane: str, numbers: range) -> tuple[str, str]:
        """From which to which of the frames, counted from 0, those are that have a pane."""
        slide, size = self._window.slide // self._window.step, self._window.size // self._window.step
        return _clipped(_floor(f"{pane} - {size} + {slide}", slide), _floor(pane, slide), numbers)

    def _listed(self, numbers: range) -> StateInput:
        """The frames as a relation, with the bounds of their windows."""
        kind = _bound_types(self._plan)[0]
        types = {_FRAME: BIGINT, **dict.fromkeys(BOUNDS, kind)}
        schema = ", ".join(f"{name} {one.spark}" for name, one in types.items())
        places = zip(*(self._window.bounds(one) for one in numbers), strict=True)
        bounds = [pa.array(column, pa.int64()).cast(kind.arrow) for column in places]
        rows = pa.table([pa.array(range(len(numbers)), pa.int64()), *bounds], names=list(types))
        return StateInput((self._repeated.rows(self._list, rows),), schema, single=True)


def _place(window: StreamWindow) -> tuple[object, ...]:
    """What windows have in common that are of the same places."""
    return *window.measures, window.step


def _bound_types(plan: SplitPlan) -> list[SqlType]:
    """The types that bounds of the windows of a plan have."""
    pipelines = [line for grouping in plan.groupings for line in grouping.pipelines]
    return list(dict.fromkeys(bound_type(one.stream, one.window) for one in pipelines if one.window is not None))


def _clipped(low: str, high: str, numbers: range) -> tuple[str, str]:
    """Spark SQL for the first and the last of the frames that are between two, counted from 0."""
    first, last = numbers[0], len(numbers) - 1
    return f"greatest({low} - {first}L, 0L) AS {_FROM}", f"least({high} - {first}L, {last}L) AS {_TO}"


def _runs(frames: Sequence[Frame], most: int) -> list[Sequence[Frame]]:
    """Frames cut where they do not follow each other, and into at most so many.

    >>> [[frame["w"] for frame in run] for run in _runs([{"w": number} for number in (3, 4, 5, 7)], 2)]
    [[3, 4], [5], [7]]
    """
    found: list[Sequence[Frame]] = []
    start = 0
    for place in range(1, len(frames) + 1):
        follows = place < len(frames) and _number(frames[place]) == _number(frames[place - 1]) + 1
        if place - start == most or not follows:
            found.append(frames[start:place])
            start = place
    return found


def _number(frame: Frame) -> int:
    return next(iter(frame.values()))


def _floor(text: str, divisor: int) -> str:
    """Spark SQL for a quotient rounded down.

    >>> _floor("p", 1), _floor("p", 3)
    ('(p)', '((p) - pmod(p, 3)) div 3')
    """
    return f"({text})" if divisor == 1 else f"(({text}) - pmod({text}, {divisor})) div {divisor}"


def _by_frame(rows: pa.Table, numbers: range) -> Iterator[tuple[int, pa.Table]]:
    frames = rows.column(_FRAME).to_numpy()
    order = np.argsort(frames, kind="stable")
    ordered = rows.take(order).drop_columns([_FRAME])
    ends = [0, *np.searchsorted(frames[order], range(len(numbers)), side="right").tolist()]
    for number, start, end in zip(numbers, ends, ends[1:], strict=False):
        yield number, ordered.slice(start, end - start)
