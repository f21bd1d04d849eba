"""CREATE, ALTER and DROP CONTINUOUS QUERY: INSERTs ... SELECT from streams that run in the background."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from millpond.config import Setting
from millpond.errors import MillpondError, SqlState, closest
from millpond.privileges.authority import Authority, with_rights_of
from millpond.relation import Relation
from millpond.result import Notice, Result
from millpond.run.continuous_queries import PAUSED, QueryPlan
from millpond.run.continuous_query import Work
from millpond.services import Services
from millpond.session_state import SessionState
from millpond.sql.named_relations import relation_names
from millpond.sql.parse import parse_definition
from millpond.sql.statements import AlterContinuousQuery, CreateContinuousQuery, DropContinuousQuery, Name
from millpond.statements.continuous_chunks import ChunkInserter
from millpond.statements.continuous_plan import Planned, check_rights, plan_again, planned, seen_by
from millpond.statements.cycle_chunks import CycleInserter
from millpond.statements.execution import Execution
from millpond.statements.request import Request

_START = Setting("start", "latest", "choice", "Where in its streams a query begins.", choices=("latest", "earliest"))


def create(execution: Execution, statement: CreateContinuousQuery) -> Result:
    done = Result("CREATE CONTINUOUS QUERY")
    old = find(execution, statement.name)
    if old is not None and statement.if_not_exists:
        execution.notices.append(Notice(f'continuous query "{old.name}" already exists, skipping'))
        return done
    if old is not None and not statement.or_replace:
        message = f'continuous query "{old.name}" already exists'
        raise MillpondError(SqlState.DUPLICATE_OBJECT, message, position=statement.name.position)
    if old is None:
        execution.check_free(statement.name, if_not_exists=False)
    new = plan_new(execution, statement)
    relation = Relation(
        execution.services.catalog.new_oid() if old is None else old.oid,
        statement.name.name,
        "query",
        (),
        definition=statement.text,
        sees=new.sees,
        owner=execution.authority.owner_name,
    )
    if old is not None:
        relation = with_rights_of(old, replace(relation, options=old.options))
    check_rights(execution.transaction, Authority.of(relation.owner, execution.transaction.roles), new.plan)
    _put(execution, query_plan(relation, new.plan), old, earliest=new.earliest)
    return done


@dataclass(frozen=True)
class NewQuery:
    """A query as it would be created: its plan, the names that it sees, and whether it begins with what there is."""

    plan: Planned
    sees: dict[str, tuple[str, ...]]
    earliest: bool


def plan_new(execution: Execution, statement: CreateContinuousQuery) -> NewQuery:
    """What CREATE would make, or the error that it would raise for what it says."""
    start, sees = _checked_start(statement.options), seen_by(execution, statement.defined)
    plan = planned(execution, statement.defined, sees)
    check_no_circle(execution, plan, statement.name.name)
    return NewQuery(plan, sees, start == "earliest")


def _put(execution: Execution, plan: QueryPlan, old: Relation | None, *, earliest: bool) -> None:
    """Let a query begin, or go on with another definition, when the transaction commits."""
    queries, transaction = execution.services.queries, execution.transaction
    if old is None:
        transaction.create(plan.relation)
        transaction.after_commit.append(partial(queries.create, plan, earliest=earliest))
    else:
        transaction.change(plan.relation)
        transaction.after_commit.append(partial(queries.replace, plan, earliest=earliest))


def reopen(services: Services) -> None:
    """Take up the queries of a pond that is being opened."""
    transaction = services.begin()
    state = SessionState.of_pond(services.settings)
    execution = Execution(services, state, transaction, "millpond-open", True, Request())
    plans: list[QueryPlan] = []
    for relation in _queries(execution):
        plans.append(query_plan(relation, plan_again(execution, relation)))
    transaction.rollback()
    services.queries.open(partial(_work, services), plans)


def query_plan(relation: Relation, plan: Planned) -> QueryPlan:
    """A query as the store of queries runs it."""
    return QueryPlan(relation, plan.streams, plan.targets, plan.window, emits=plan.emit is not None)


def _work(services: Services, plan: QueryPlan) -> Work:
    if plan.window is not None:
        return CycleInserter(services, plan)
    return ChunkInserter(services, plan.relation.oid)


def alter(execution: Execution, statement: AlterContinuousQuery) -> Result:
    done = Result("ALTER CONTINUOUS QUERY")
    query = find(execution, statement.name)
    if query is None and statement.if_exists:
        execution.notices.append(Notice(f'continuous query "{statement.name.name}" does not exist, skipping'))
        return done
    query = existing(execution, statement.name)
    transaction, settle = execution.transaction, execution.services.queries.settle
    if statement.action == "rename":
        execution.check_free(Name(statement.new_name), if_not_exists=False)
        transaction.rename(query, statement.new_name)
    elif statement.action == "pause":
        transaction.change(replace(query, options={PAUSED: "true"}))
        transaction.after_commit.append(partial(settle, query.oid))
    else:
        transaction.change(replace(query, options={}))
        transaction.after_commit.append(partial(settle, query.oid, again=True))
    return done


def drop(execution: Execution, statement: DropContinuousQuery) -> Result:
    for name in statement.names:
        query = find(execution, name)
        if query is None and statement.if_exists:
            execution.notices.append(Notice(f'continuous query "{name.name}" does not exist, skipping'))
        else:
            drop_one(execution, existing(execution, name))
    return Result("DROP CONTINUOUS QUERY")


def drop_one(execution: Execution, query: Relation) -> None:
    """End a query when the transaction commits."""
    execution.transaction.drop(query)
    execution.transaction.after_commit.append(partial(execution.services.queries.drop, query.oid))


# -- names ------------------------------------------------------------------------------------------------------


def find(execution: Execution, name: Name) -> Relation | None:
    """The continuous query of that name, if there is one."""
    found = execution.transaction.relation(name.name) if name.schema in (None, "public") else None
    return found if found is not None and found.kind == "query" else None


def existing(execution: Execution, name: Name) -> Relation:
    found = find(execution, name)
    if found is None:
        message = f'continuous query "{name.name}" does not exist'
        hint = closest(name.name, [query.name for query in _queries(execution) if execution.authority.may_see(query)])
        raise MillpondError(SqlState.UNDEFINED_OBJECT, message, hint=hint, position=name.position)
    return found


def _queries(execution: Execution) -> Iterator[Relation]:
    yield from (one for one in execution.transaction.relations.values() if one.kind == "query")


# -- checks -----------------------------------------------------------------------------------------------------


def _checked_start(options: Mapping[str, str]) -> str:
    """Where to start, of the WITH options, each of which is known and valid."""
    for name in options:
        if name != _START.name:
            hint = closest(name, [_START.name]) or f"Valid options are: {_START.name}."
            raise MillpondError(SqlState.UNDEFINED_OBJECT, f'unrecognized parameter "{name}"', hint=hint)
    return str(_START.parse(options.get(_START.name, _START.default)))


def check_no_circle(execution: Execution, plan: Planned, name: str | None = None) -> None:
    """Raise if the rows that a query makes would come back to it. A statement has no name."""
    who = "the statement" if name is None else f'continuous query "{name}"'
    sources = {stream.name for stream in plan.streams}
    feeds = [end for one in _queries(execution) if one.name != name for end in _ends(execution, one)]
    for target in plan.targets:
        path = _path(target.name, sources, feeds)
        if path is not None:
            raise MillpondError(
                SqlState.INVALID_OBJECT_DEFINITION,
                f"{who} would read the rows that it makes",
                detail=f"Rows would flow in a circle: {' -> '.join((*path, target.name))}.",
            )


Ends = tuple[set[str], str]
"""The streams that an INSERT reads, and the relation that it writes, by name."""


def _ends(execution: Execution, query: Relation) -> Iterator[Ends]:
    assert query.definition is not None
    known = execution.transaction.relations
    for insert in parse_definition(query.definition).inserts:
        read = set() if insert.source is None else relation_names(insert.source)
        yield {one for one in read if one in known and known[one].kind == "stream"}, insert.target.name


def _path(start: str, goals: set[str], feeds: Sequence[Ends]) -> list[str] | None:
    """The relations on a way from one to any of the goals, if there is a way."""
    if start in goals:
        return [start]
    for place, (read, written) in enumerate(feeds):
        others = [*feeds[:place], *feeds[place + 1 :]]
        rest = _path(written, goals, others) if start in read else None
        if rest is not None:
            return [start, *rest]
    return None
