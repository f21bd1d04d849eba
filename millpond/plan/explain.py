"""EXPLAIN (SPLIT): a split plan as text and as a drawing in Mermaid's language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from functools import partial

from millpond.plan.each_session import all_at_once
from millpond.plan.paired import Pairs
from millpond.plan.pipelines import STATE_SCHEMA, Grouping, SplitPlan, StateColumn, StreamPipeline
from millpond.plan.shared import SharedGrouping
from millpond.relation import Relation
from millpond.sql.translate import relation_key
from millpond.stream_window import AgeWindow, CalendarWindow, SessionWindow, StreamWindow, shown_length


def describe(plan: SplitPlan) -> list[str]:
    """The pipelines with their Spark SQL, what the state keeps, and which tables are pinned: one line of text each."""
    lines = [f"notice: {notice}" for notice in plan.notices]
    for static in plan.statics:
        names = {relation_key(one.schema, one.name): one.name for one in static.tables}
        lines += [f"static pipeline {static.name}", f"  {static.to_spark(names)}"]
    for grouping in plan.groupings:
        lines += _described(grouping)
    lines += [] if plan.pairs is None else _described_pairs(plan.pairs)
    names = {reference.key: reference.relation.name for reference in plan.upper.relations}
    lines += [f"upper pipeline{_how_often(plan)}", f"  {plan.upper.to_spark(names, partial(_shown_constant, plan))}"]
    lines += [f"pinned tables: {_listed(plan.pinned)}"] if plan.pinned else []
    lines += [f"live tables: {_listed(plan.live)}"] if plan.live else []
    return lines


def _how_often(plan: SplitPlan) -> str:
    """How the upper pipeline is run for several sessions."""
    if not any(isinstance(window, SessionWindow) for window in plan.windows.values()):
        return ""
    return ", for one session after the other" if all_at_once(plan.upper) is None else ", for all sessions at once"


def _shown_constant(plan: SplitPlan, name: str) -> datetime | date | str | int | None:
    """The bounds of windows by their names, other constants as they are now."""
    return None if " of " in name else plan.upper.names.constant(name)


def _described(grouping: Grouping) -> list[str]:
    lines = [f"grouping {grouping.name}"]
    for pipeline in grouping.kept.pipelines:
        lines += [f'  stream pipeline over "{pipeline.stream.name}"', f"    {_text(pipeline)}"]
    lines += [f"  window: {_windowed(grouping.window)}"] if grouping.window is not None else []
    lines += [f"  key {_column(key)}" for key in grouping.kept.keys]
    lines += [f"  partial {_column(partial)}" for partial in grouping.partials]
    return [*lines, "  merge", f"    {grouping.merge_text(grouping.name)}"]


def _described_pairs(pairs: Pairs) -> list[str]:
    """What is kept of rows of two windows that have met: each new row is joined once."""
    left, right = (side.grouping.name for side in pairs.sides)
    lines = [f"pairs {pairs.state.name} of rows of {left} and {right}"]
    lines += [f"  joined by equal values of {left}.{pairs.sides[0].equal}"] if pairs.sides[0].equal else []
    lines += [f"    {pairs.lasting_text({side.key: side.relation.name for side in pairs.sides})}"]
    lines += [f"  key {_column(key)}" for key in pairs.kept.keys]
    lines += [f"  partial {_column(one)}" for one in pairs.state.partials]
    return [*lines, "  merge", f"    {pairs.state.merge_text(pairs.state.name)}"]


def _windowed(window: StreamWindow) -> str:
    """The window of a grouping: how long, how often, and in how many panes."""
    if isinstance(window, CalendarWindow):
        return f"rows of the current {window.unit}{' and later' if window.onward else ''}, by {window.column}"
    size, slide = (shown_length(one, by_rows=window.by_rows) for one in (window.size, window.slide))
    if isinstance(window, SessionWindow):
        by = f" of each {', '.join(window.keys)}" if window.keys else ""
        return f"sessions{by} with a gap of {size}, panes as long as the gap by {window.column}"
    panes = f"{window.size // window.step} panes by {window.column}"
    if isinstance(window, AgeWindow):
        return f"rows younger than {size}, in steps of {slide}, {panes}"
    return f"{window.kind} of {size}" + (f" each {slide}" if window.kind == "hop" else "") + f", {panes}"


def shared_pipelines(shared: SharedGrouping) -> list[str]:
    """What is run for all views that share a state, as Spark SQL."""
    return [_text(pipeline) for pipeline in shared.grouping.pipelines]


def _text(pipeline: StreamPipeline) -> str:
    relations = (pipeline.stream, *pipeline.statics)
    return pipeline.to_spark({relation_key(one.schema, one.name): one.name for one in relations})


def _column(column: StateColumn) -> str:
    return f"{column.name} {column.type}: {column.holds}"


def _listed(relations: Sequence[Relation]) -> str:
    return ", ".join(relation.name for relation in relations)


def mermaid(plan: SplitPlan) -> str:
    """The plan as a flow chart: rows flow up from streams and tables to the answer."""
    lines = ["flowchart BT", '  answer(["answer"])', '  upper["upper pipeline"] --> answer']
    relations = {one.name: one for one in (*plan.pinned, *plan.live)}
    for static in plan.statics:
        lines.append(f'  {static.name}["static pipeline"]')
        lines += [f"  {_node(one)} --> {static.name}" for one in static.tables]
    for grouping in plan.groupings:
        lines += _drawn(grouping, "upper" if plan.pairs is None else plan.pairs.state.name)
        relations |= {line.stream.name: line.stream for line in grouping.pipelines}
    lines += [] if plan.pairs is None else [f"  {_state(plan.pairs.state)} --> upper"]
    lines += [f"  {_node(one)} --> upper" for one in plan.live]
    lines += [f"  {_node(one)}[({_label([one.kind, one.name])})]" for one in relations.values()]
    return "\n".join(lines)


def _state(grouping: Grouping) -> str:
    keys = ", ".join(key.holds for key in grouping.keys) or "one group"
    kept = [f"{partial.name}: {partial.holds}" for partial in grouping.partials]
    return f"{grouping.name}[({_label([grouping.name, keys, *kept])})]"


def _drawn(grouping: Grouping, reader: str) -> list[str]:
    lines = [f"  {_state(grouping)} --> {reader}"]
    for place, pipeline in enumerate(grouping.pipelines):
        name = f"{grouping.name}_pipeline_{place}"
        lines.append(f'  {name}["stream pipeline"] --> {grouping.name}')
        lines += [f"  {_node(one)} --> {name}" for one in (pipeline.stream, *pipeline.statics)]
    return lines


def _node(relation: Relation) -> str:
    return relation.name if relation.schema == STATE_SCHEMA else f"relation_{relation.oid}"


def _label(parts: Iterable[str]) -> str:
    """Text of several lines in a node; only quotes and angle brackets mean something to Mermaid."""
    escaped = (part.replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;") for part in parts)
    return f'"{"<br/>".join(escaped)}"'
