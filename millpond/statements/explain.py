"""EXPLAIN: what is read, the Spark SQL that will run, and Spark's plan; with ANALYZE also what it took."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping

import pyarrow as pa

from millpond.plan.cycle import CycleQuery
from millpond.plan.cycle_split import describe_early
from millpond.plan.explain import describe, mermaid, shared_pipelines
from millpond.plan.sessions_once import has_sessions, sessions_once
from millpond.plan.split import split
from millpond.relation import Relation
from millpond.result import Result, ResultColumn
from millpond.run.view import ContinuousView
from millpond.sql.bind import BoundQuery
from millpond.sql.statements import Explain, ExplainContinuousQuery, ExplainSplit
from millpond.statements import stream_queries
from millpond.statements.continuous_plan import Planned, check_rights, plan_again
from millpond.statements.continuous_queries import existing, plan_new
from millpond.statements.execution import Execution, base_relations
from millpond.statements.explain_live import explain_live
from millpond.statements.window_queries import over_current_windows
from millpond.stream_window import shown_length
from millpond.types import TEXT

EXPLAIN_COLUMNS = (ResultColumn("QUERY PLAN", TEXT),)
"""What every form of EXPLAIN returns."""


def explain(execution: Execution, statement: Explain) -> Result:
    bound = execution.bind(statement.query)
    execution.check_reads(bound)
    live = stream_queries.live_query(execution, bound)
    if live is not None:
        return _lines(execution, explain_live(execution, live, analyze=statement.analyze))
    if has_sessions(bound.tree):
        return _explain_sessions(execution, bound, analyze=statement.analyze)
    bound = over_current_windows(execution, bound)
    frame, read = execution.frame_now(bound), base_relations(bound)
    lines = [line for relation in read.values() for line in _reads(execution, relation)]
    text = bound.to_spark({key: relation.name for key, relation in read.items()})
    lines += ["Spark SQL", f"  {text}", "Spark plan"]
    plan = _without_paths(frame.explain()) if execution.request.remote else frame.explain()
    lines += [f"  {line}" for line in plan.splitlines() if line.strip() and not line.startswith("==")]
    if statement.analyze:
        lines.append(_executed(frame.collect))
    return _lines(execution, lines)


def _explain_sessions(execution: Execution, bound: BoundQuery, *, analyze: bool) -> Result:
    """The split plan of a query, which runs for the newest complete session of each key."""
    lines = [line for relation in base_relations(bound).values() for line in _reads(execution, relation)]
    lines += describe(sessions_once(bound).plan)
    if analyze:
        lines.append(_executed(lambda: execution.frame_now(bound).collect()))
    return _lines(execution, lines)


def _executed(collect: Callable[[], pa.Table]) -> str:
    started = time.perf_counter()
    rows = collect().num_rows
    return f"Executed in {(time.perf_counter() - started) * 1000:.1f} ms, {rows} rows"


def _without_paths(plan: str) -> str:
    """A plan for a client elsewhere, whom the directories of the server do not concern.

    >>> _without_paths("Format: Parquet, Location: InMemoryFileIndex(2 paths)[file:/srv/pond/x, ..., PushedFilters: []")
    'Format: Parquet, Location: InMemoryFileIndex(2 paths), PushedFilters: []'
    """
    return re.sub(r"\[file:.*?(?:\]|\.\.\.)", "", plan)


def explain_split(execution: Execution, statement: ExplainSplit) -> Result:
    """EXPLAIN (SPLIT) and EXPLAIN VIEW: which part of a query runs at each insert, and which at each read."""
    if statement.query is not None:
        bound = execution.bind(statement.query)
        execution.check_reads(bound)
        plan = split(bound)
        lines = describe(plan)
    else:
        assert statement.view is not None
        view = execution.services.views.get(execution.find(statement.view, "continuous"))
        plan = view.plan
        lines = [*describe(plan), *_shared(execution, view)]
    return _lines(execution, [*lines, "Drawing", *mermaid(plan).splitlines()])


def explain_continuous_query(execution: Execution, statement: ExplainContinuousQuery) -> Result:
    """EXPLAIN [CREATE] CONTINUOUS QUERY: what it reads and writes, what each chunk runs, and where it stands."""
    plan, offsets = _continuous(execution, statement)
    lines = [line for one in plan.reads.values() if one.kind == "table" for line in _reads(execution, one)]
    for stream in plan.streams:
        end = execution.services.streams.get(stream).stats().end_tid
        offset = offsets.get(stream.oid, end)
        lines.append(f"Stream {stream.name}: next tid {offset}, {end - offset} tuples to take")
    names = {key: one.name for key, one in plan.reads.items()}
    for branch in plan.branches:
        source = branch.source
        lines.append(f"Inserts into {branch.target.kind} {branch.target.name}")
        if isinstance(source, CycleQuery):
            lines += _each_cycle(source, names)
        else:
            lines += ["Spark SQL for each chunk", f"  {source.query.to_spark(names)}"]
    if plan.window is not None:
        lines += describe_early(plan.cycle_sources)
    if plan.emit is not None:
        lines.append("Emits to subscribers, as tuples arrive")
        lines += _each_cycle(plan.emit.source, {key: one.name for key, one in plan.emit.reads.items()})
    return _lines(execution, lines)


def _each_cycle(source: CycleQuery, names: Mapping[str, str]) -> list[str]:
    """What a cycle runs: what functions that remember are given, and the rest over what they make."""
    lines: list[str] = []
    known = {**names, **{cut.key: cut.relation.name for cut in source.cuts}}
    for cut in source.cuts:
        called = dict.fromkeys(call.function for window in cut.windows for call in window.calls)
        if cut.tuples is None:
            lines += [f"Spark SQL for the rows of {', '.join(called)}, which make {cut.relation.name}"]
            lines += [f"  {source.to_spark(known, query=cut.feed)}"]
        else:
            lines += [f"{', '.join(called)} of the cycle's tuples make {cut.relation.name}"]
    size = shown_length(source.window.size, by_rows=source.window.by_rows)
    return [*lines, f"Spark SQL for each cycle of {size}", f"  {source.to_spark(known)}"]


def _continuous(execution: Execution, statement: ExplainContinuousQuery) -> tuple[Planned, Mapping[int, int]]:
    """A continuous query, and the tuples with which it would go on; without one, it begins with what arrives."""
    if statement.new is None:
        relation = existing(execution, statement.name)
        query = execution.services.queries.find(relation.oid)
        return plan_again(execution, relation), {} if query is None else query.record.offsets
    new = plan_new(execution, statement.new)
    check_rights(execution.transaction, execution.authority, new.plan)
    streams = new.plan.streams if new.earliest else ()
    return new.plan, {one.oid: int(execution.services.streams.get(one).stats().first_tid) for one in streams}


def _shared(execution: Execution, view: ContinuousView) -> list[str]:
    """What a view keeps together with others: one partial for all of them, if one may know of them all."""
    lines: list[str] = []
    for grouping, others in execution.services.views.sharing(view).items():
        known = [execution.transaction.relation(name) for name in others]
        if others and all(other is not None and execution.authority.may_see(other) for other in known):
            lines.append(f"{grouping} is shared with {', '.join(others)}")
            lines += [f"  {text}" for text in shared_pipelines(view.states[grouping].shared)]
    return lines


def _lines(execution: Execution, lines: list[str]) -> Result:
    table = pa.table([pa.array(lines, pa.string())], names=["c0"])
    result = execution.rows("EXPLAIN", EXPLAIN_COLUMNS, table)
    result.rows_changed = -1
    return result


def _reads(execution: Execution, relation: Relation) -> list[str]:
    if relation.kind == "table":
        files = execution.transaction.files(relation)
        rows = sum(file.rows for file in files)
        return [f"Table {relation.name}, version {relation.version}: {len(files)} files, {rows} rows"]
    if relation.kind == "stream":
        stats = execution.services.streams.get(relation).stats()
        held = f"tids {stats.first_tid} to {stats.end_tid - 1}" if stats.rows_held else "no tids"
        return [f"Stream {relation.name}, snapshot: {held}, {stats.segments} segments, {stats.rows_held} rows"]
    return [f"System relation {relation.schema}.{relation.name}"]
