"""What the state keeps for the aggregate calls of a grouping: columns p0, p1, ..., each once for all its users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from millpond.errors import not_supported
from millpond.plan.aggregates import aggregate_for
from millpond.plan.calls import SUM_DIGITS, AggregateCall
from millpond.plan.expressions import final_node
from millpond.plan.partials import Aggregate, Partial
from millpond.plan.pipelines import Computed, StateColumn
from millpond.plan.shown import shown
from millpond.plan.window_rows import ALL_ROWS
from millpond.sql.nodes import identifier, note_of, position_of
from millpond.types import INTERVAL, NUMERIC_PRECISION_MAX, SqlType


@dataclass(frozen=True)
class KeptCall:
    """An aggregate call, its row of the table, and the state's columns by the names that the row has for them."""

    call: AggregateCall
    row: Aggregate
    columns: Mapping[str, str]

    def finalized(self, alias: str, direct: Sequence[exp.Expr], *, merging: bool) -> exp.Expr:
        """The call's result from one row of the state or, if `merging`, from several."""
        kept = {
            name: exp.Column(this=identifier(column), table=identifier(alias)) for name, column in self.columns.items()
        }
        merges = {name: partial.merge for name, partial in self.row.partials.items()} if merging else {}
        return final_node(self.row.finalize, kept, direct, self.call.result, merges)


@dataclass(frozen=True)
class Kept:
    """All that is kept for a grouping: how each column is computed, the columns, and how each call reads them."""

    computed: tuple[Computed, ...]
    columns: tuple[StateColumn, ...]
    calls: tuple[KeptCall, ...]

    @property
    def subtractable(self) -> bool:
        """Whether the state can forget a part by subtracting it."""
        return all(one.row.subtractable for one in self.calls)

    @property
    def concatenated(self) -> bool:
        """Whether the state is rows in arrays, which are taken apart one by one."""
        return bool(self.calls) and all(one.row.name == ALL_ROWS for one in self.calls)

    def find(self, node: exp.Expr) -> KeptCall | None:
        return next((one for one in self.calls if one.call.node == node), None)


def keep(calls: Sequence[AggregateCall]) -> Kept:
    """What to keep for the calls. `sum(x)` and `avg(x)` share the sum."""
    computed: list[Computed] = []
    columns: list[StateColumn] = []
    kept: list[KeptCall] = []
    for call in calls:
        row = _with_types(aggregate_for(call), call)
        names = {}
        for name, partial in row.partials.items():
            wanted = Computed(partial.compute, (*call.arguments, *row.keys), call.condition, partial.units)
            if wanted not in computed:
                computed.append(wanted)
            names[name] = f"p{computed.index(wanted)}"
        new = [name for name, column in names.items() if int(column[1:]) >= len(columns)]
        columns += [_column(name, names, row, call) for name in new]
        kept.append(KeptCall(call, row, names))
    return Kept(tuple(computed), tuple(columns), tuple(kept))


NO_CALLS = Kept(
    (Computed("COUNT(*)", (), None),),
    (StateColumn("p0", "BIGINT", "number of rows", "SUM(rows)", (("rows", "p0"),)),),
    (),
)
"""What is kept where there is neither a key nor an aggregate call."""


def _column(name: str, names: Mapping[str, str], row: Aggregate, call: AggregateCall) -> StateColumn:
    partial = row.partials[name]
    if INTERVAL.spark in partial.type:
        # Spark can compute with an interval of months, days and time, but neither Arrow nor Parquet can hold it.
        what = f"{call.name} of intervals over a stream"
        raise not_supported(what, hint="Use their length: extract(epoch FROM ...).", position=position_of(call.node))
    return StateColumn(names[name], partial.type, f"{name} of {shown(call.node)}", partial.merge, tuple(names.items()))


def _with_types(row: Aggregate, call: AggregateCall) -> Aggregate:
    """The row with the call's types in its templates."""
    kinds = [note_of(argument).type for argument in call.arguments]
    given = [kind.spark if kind is not None else "" for kind in kinds]
    named = {"result": call.result.spark, "ascending": str(call.ascending).upper(), **_sums(kinds[0])}

    def fill(template: str) -> str:
        return template.format(*given, **named)

    partials = {
        name: Partial(fill(one.compute), fill(one.merge), fill(one.type), one.units and one.units.formatted(fill))
        for name, one in row.partials.items()
    }
    return replace(row, partials=partials, finalize=fill(row.finalize))


def _sums(kind: SqlType | None) -> dict[str, str]:
    """What templates say of sums of a numeric: their type, its digits, and how many of which unit make a whole."""
    if kind is None or kind.name != "numeric":
        return {}
    scale = kind.decimal_scale
    digits = min(kind.decimal_precision + SUM_DIGITS, NUMERIC_PRECISION_MAX)
    unit = f"0.{'0' * (scale - 1)}1" if scale else "1"
    return {"sum": f"DECIMAL({digits},{scale})", "sum_digits": str(digits), "units": str(10**scale), "unit": unit}
