"""Work on a cycle before it is cut: when so many tuples of it have arrived that they are worth a job, they become a
piece, whose partials wait for the cut. Then only the last tuples and the upper pipelines remain to be run.

The answer is that of the query over the whole cycle. Tables that are read below a grouping must be at the cut what they
were for the pieces, or else the pieces are thrown away, and the query runs as a whole.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import pyarrow as pa

from millpond.errors import MillpondError
from millpond.plan.cycle import CycleQuery
from millpond.plan.cycle_split import split_cycle
from millpond.plan.pipelines import SplitPlan
from millpond.relation import Column
from millpond.run.branch_rows import apart_by_schema, numbered, together
from millpond.run.cuts import Cut, Cutter, Piece
from millpond.run.cycle_pieces import Pieces, PieceWork
from millpond.run.repeated_query import REHEARSALS, RepeatedQuery
from millpond.run.statics import Statics, key_of
from millpond.services import Held, Services
from millpond.spark.runner import Input, changeable
from millpond.state.records import CycleRecord
from millpond.statements.current_tables import current, current_input
from millpond.statements.execution import Execution
from millpond.stream_window import CycleWindow

logger = logging.getLogger(__name__)

PATIENCE_S = 1.0
PATIENT_PART = 10
"""After this time a fraction of the tuples is worth a job: the cut may be near."""

Read = Callable[[int], pa.Table]
"""The tuples of a cycle from a tid on."""


@dataclass(frozen=True)
class EarlyRows:
    """What a cycle with pieces made in each branch; of how many tuples, and how much time before the cut it took."""

    branches: list[pa.Table]
    rows_in: int
    seconds: float


class EarlyWork:
    """The pieces of one query, of which one cycle is open."""

    def __init__(self, services: Services, oid: int, window: CycleWindow) -> None:
        self._services, self._oid, self._window = services, oid, window
        self._rows_min = services.settings.integer("cycle_piece_rows")
        self._repeated = RepeatedQuery(services.scratch)
        self._sources: Sequence[CycleQuery] = ()
        self._work: PieceWork | None = None
        self._pieces: Pieces | None = None
        self._is_rehearsed = False
        self._held = ExitStack()
        self._worked_at = time.monotonic()
        self._left_to_cut: int | None = None

    # -- before the cut ----------------------------------------------------------------------------------------------

    def due(self, cutter: Cutter, first: int, record: CycleRecord) -> Piece | None:
        """The tuples of the open cycle that are in no piece, if they are worth a job."""
        found = cutter.open(first, record)
        if found is None or found.low == self._left_to_cut:
            return None
        if self._pieces is not None and self._pieces.low != found.low:
            self._forget()
        if self._pieces is not None:
            found = found.since(self._pieces.end)
        patient = time.monotonic() - self._worked_at >= PATIENCE_S
        wanted = self._rows_min // PATIENT_PART if patient else self._rows_min
        rows = found.end - found.first if found.members is None else int(found.members.sum())
        return found if rows >= max(1, wanted) else None

    def take(
        self,
        execution: Execution,
        sources: Sequence[CycleQuery],
        columns: Sequence[Column],
        tuples: pa.Table,
        found: Piece,
    ) -> None:
        """Make a piece of tuples. One that fails is left to the cut, which fails with the same error, or does not."""
        started = time.perf_counter()
        try:
            pieces = self._open_pieces(execution, sources, columns, found)
            if pieces is None or self._work is None:
                self._left_to_cut = found.low
                return
            self._work.absorb(self._services.runner, pieces, tuples, found.end, execution.tag)
            self._pieces = pieces
            pieces.seconds += time.perf_counter() - started
        except MillpondError as error:
            logger.info("continuous query %s leaves a cycle to its cut: %s", self._oid, error.message)
            self._forget()
            self._left_to_cut = found.low
        finally:
            self._worked_at = time.monotonic()

    def rehearse(self, execution: Execution, schemas: Sequence[pa.Schema], piece: Piece, none: pa.Table) -> None:
        """Do what is done after the cut, once, when there is a piece: what is planned now need not be then. `none` has
        the columns of tuples. What fails does so again when it counts."""
        if self._work is None or self._pieces is None or self._is_rehearsed:
            return
        self._is_rehearsed = True
        try:
            for rest in (none, None) * REHEARSALS:
                self._upper(execution, self._work, self._pieces, rest, schemas, piece)
        except MillpondError as error:
            logger.info("continuous query %s was not rehearsed: %s", self._oid, error.message)

    def _open_pieces(
        self, execution: Execution, sources: Sequence[CycleQuery], columns: Sequence[Column], found: Piece
    ) -> Pieces | None:
        """The pieces so far of a cycle; None if there can be none, or tables have changed since the first."""
        work = self._work_of(sources, columns)
        if work is None:
            return None
        versions = _versions(execution, work)
        if self._pieces is None:
            return Pieces(found.low, found.first, [self._statics(execution, plan) for plan in work.plans], versions)
        return self._pieces if self._pieces.versions == versions else None

    def _work_of(self, sources: Sequence[CycleQuery], columns: Sequence[Column]) -> PieceWork | None:
        """The stream pipelines of a query, found out once; None if it does not split."""
        if not _are_same(self._sources, sources):
            self._forget()
            self._sources, self._work = sources, self._new_work(sources, columns)
            self._is_rehearsed = False
        return self._work

    def _new_work(self, sources: Sequence[CycleQuery], columns: Sequence[Column]) -> PieceWork | None:
        """The stream pipelines of a query; None if it does not split."""
        plans = [split_cycle(one) for one in sources]
        split = [one for one in plans if isinstance(one, SplitPlan)]
        if len(split) < len(plans) or not any(plan.groupings for plan in split):
            return None
        return PieceWork(split, columns, self._services.scratch, f"pieces_{self._oid}")

    def _statics(self, execution: Execution, plan: SplitPlan) -> Statics:
        """What stream pipelines are joined with; its files are held while the cycle is open."""
        held: list[Held] = []
        pinned = {key_of(one): changeable(execution.input(current(execution, one), held)) for one in plan.pinned}
        for release in held:
            self._held.callback(release)
        return Statics(pinned, plan.statics, self._services.runner, self._services.scratch)

    def _forget(self) -> None:
        """Throw the pieces away."""
        self._pieces = None
        self._held.close()

    # -- at the cut --------------------------------------------------------------------------------------------------

    @property
    def has_pieces(self) -> bool:
        return self._pieces is not None

    def rows(
        self,
        execution: Execution,
        sources: Sequence[CycleQuery],
        columns: Sequence[Column],
        schemas: Sequence[pa.Schema],
        cut: Cut,
        read: Read,
    ) -> EarlyRows | None:
        """What a cycle makes by its pieces and the tuples that are in none; None if the query has to run as a whole.
        `read` gives the tuples of the cycle from one of them on."""
        self._worked_at, self._left_to_cut = time.monotonic(), None
        work = self._work_of(sources, columns)
        pieces = None if work is None else self._right_pieces(execution, work, cut)
        if work is None or pieces is None:
            return None
        try:
            rest = read(max(cut.first, pieces.end))
            some = rest if rest.num_rows or not pieces.partials else None
            made = self._upper(execution, work, pieces, some, schemas, cut)
            return EarlyRows(made, pieces.rows + rest.num_rows, pieces.seconds)
        finally:
            self._forget()

    def _right_pieces(self, execution: Execution, work: PieceWork, cut: Cut) -> Pieces | None:
        """The pieces of a cycle, if they are right. Without any, stream pipelines still do less than the whole query
        would, if they read nothing but the stream: partials are cheaper than what is computed exactly at once."""
        pieces, versions = self._pieces, _versions(execution, work)
        if pieces is not None and pieces.low == cut.low and pieces.end <= cut.end and pieces.versions == versions:
            return pieces
        self._forget()
        if any(plan.pinned or plan.statics for plan in work.plans):
            return None
        return Pieces(cut.low, cut.first, [self._statics(execution, plan) for plan in work.plans], versions)

    def _upper(
        self,
        execution: Execution,
        work: PieceWork,
        pieces: Pieces,
        rest: pa.Table | None,
        schemas: Sequence[pa.Schema],
        cut: Piece,
    ) -> list[pa.Table]:
        """The upper pipelines over the merged partials and the tables as they are now, in one Spark job."""
        bounds = [self._window.value(place) for place in (cut.low, cut.high)]
        inputs: dict[str, Input] = {}
        texts: list[str] = []
        held: list[Held] = []
        try:
            for source, plan, states in zip(self._sources, work.plans, work.states(pieces, rest), strict=True):
                names = {key: name for key, (name, _) in states.items()}
                inputs |= dict(states.values())
                for one in plan.upper.relations:
                    if one.key not in names:
                        names[one.key] = f"upper_{self._oid}_{one.relation.oid}"
                        inputs[names[one.key]] = current_input(execution, self._repeated, one.relation, held)
                texts.append(source.to_spark(names, bounds, plan.upper, execution.constant))
            text = together(texts, numbered(len(one) for one in schemas))
            made = self._repeated.collect(self._services.runner, text, inputs, execution.tag)
            return apart_by_schema(made, schemas)
        finally:
            for release in held:
                release()


def _are_same(sources: Sequence[CycleQuery], others: Sequence[CycleQuery]) -> bool:
    return len(sources) == len(others) and all(one is other for one, other in zip(sources, others, strict=True))


def _versions(execution: Execution, work: PieceWork) -> object:
    """Of the tables that are read below groupings."""
    return tuple(current(execution, one).version for plan in work.plans for one in plan.pinned)
