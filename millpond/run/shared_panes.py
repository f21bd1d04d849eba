"""Views whose windows slide differently share panes: one that comes later takes those of another, where its windows are
whole numbers of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from millpond.plan.pipelines import Grouping, SplitPlan
from millpond.run.kept import KeptState
from millpond.run.pane_state import PaneState
from millpond.run.statics import Statics

PANES_MAX = 4096
"""A window of more panes costs more to merge than sharing them saves."""

_KINDS = ("tumble", "hop", "age")


def shared_panes(plan: SplitPlan, states: Iterable[KeptState], statics: Statics) -> dict[str, int]:
    """The length of panes that groupings of a plan take from states that are there, by the names of the groupings."""
    kept = [state for state in states if isinstance(state, PaneState)]
    found = {one.name: _pane_of(one, kept, statics) for one in plan.groupings} if plan.pairs is None else {}
    return {name: pane for name, pane in found.items() if pane is not None}


def with_panes(plan: SplitPlan, panes: Mapping[str, int]) -> SplitPlan:
    """The plan with windows cut into panes of other lengths."""
    made = tuple(_cut(one, panes[one.name]) if one.name in panes else one for one in plan.groupings)
    return replace(plan, groupings=made)


def _pane_of(grouping: Grouping, states: Iterable[PaneState], statics: Statics) -> int | None:
    """The longest panes of a state that could keep the grouping, if they are shorter than its own."""
    window = grouping.window
    if window is None or window.kind not in _KINDS:
        return None
    kept = [member.grouping.window for state in states for member in state.shared.members.values()]
    lengths = {one.step for one in kept if one is not None and one.by_rows == window.by_rows}
    fitting = [one for one in lengths if window.step % one == 0 and window.size // one <= PANES_MAX]
    for pane in sorted((one for one in fitting if one < window.step), reverse=True):
        if any(state.accepts(_cut(grouping, pane).kept, statics) for state in states):
            return pane
    return None


def _cut(grouping: Grouping, pane: int) -> Grouping:
    pipelines = tuple(
        one if one.window is None else replace(one, window=replace(one.window, pane=pane)) for one in grouping.pipelines
    )
    return replace(grouping, pipelines=pipelines)
