"""CREATE, ALTER and DROP: relations come into the catalog and leave it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from millpond.errors import MillpondError, SqlState, closest, not_supported
from millpond.plan.once import is_flow
from millpond.privileges.authority import with_rights_of
from millpond.relation import STREAM_COLUMNS, Check, Column, Relation
from millpond.result import Notice, Result
from millpond.sql.aged import MAX_AGE, aged
from millpond.sql.bind import BoundQuery, bind_definition
from millpond.sql.statements import (
    AddColumn,
    CreateStream,
    CreateTable,
    CreateTableAs,
    CreateView,
    Drop,
    Name,
    RenameView,
)
from millpond.statements import continuous, continuous_queries
from millpond.statements.constraints import bound_check, check_default
from millpond.statements.execution import Execution
from millpond.statements.insert import insert_query
from millpond.statements.late import with_late_stream, writers_of
from millpond.statements.rewrite import fill_new_column
from millpond.streams import checked_options

COLUMNS_MAX = 1600
"""Columns that a relation may have, as in PostgreSQL."""


def create_table(execution: Execution, statement: CreateTable) -> Result:
    if execution.check_free(statement.name, if_not_exists=statement.if_not_exists):
        _check_columns(execution, statement.name, statement.columns, statement.checks)
        _new_table(execution, statement.name, statement.columns, statement)
    return Result("CREATE TABLE")


def create_table_as(execution: Execution, statement: CreateTableAs) -> Result:
    if not execution.check_free(statement.name, if_not_exists=statement.if_not_exists):
        return Result("CREATE TABLE AS")
    bound = execution.bind(statement.query)
    columns = _columns_of(bound, statement.column_names, statement.name)
    _check_columns(execution, statement.name, columns, ())
    relation = _new_table(execution, statement.name, columns, None)
    if not statement.with_data:
        return Result("CREATE TABLE AS")
    rows = insert_query(execution, relation, statement.query)
    return Result("SELECT", rows_changed=rows)


def create_stream(execution: Execution, statement: CreateStream) -> Result:
    if not execution.check_free(statement.name, if_not_exists=statement.if_not_exists):
        return Result("CREATE FOREIGN TABLE")
    _check_columns(execution, statement.name, statement.columns, ())
    options = checked_options(statement.options, statement.columns)
    columns = (*statement.columns, *STREAM_COLUMNS)
    oid = execution.services.catalog.new_oid()
    owner = execution.authority.owner_name
    relation = Relation(oid, statement.name.name, "stream", columns, options=options, owner=owner)
    execution.transaction.create(relation)
    execution.services.streams.get(relation)
    return Result("CREATE FOREIGN TABLE")


def create_view(execution: Execution, statement: CreateView) -> Result:
    existing = execution.relation(statement.name.schema, statement.name.name)
    if existing is not None and not (statement.or_replace and _kind(existing) == "view"):
        execution.check_free(statement.name, if_not_exists=False)
    bound = bind_definition(aged(statement.query, statement.options, execution), execution)
    columns = _columns_of(bound, statement.column_names, statement.name)
    if existing is not None:
        _check_replacement(existing, columns)
        _check_not_kept(execution, existing, statement.name)
    reads_stream = any(reference.relation.kind == "stream" for reference in bound.relations)
    if reads_stream and not (statement.options.keys() == {MAX_AGE} and is_flow(bound)):
        continuous.create(execution, statement, bound, columns)
        return Result("CREATE VIEW")
    if statement.options and not reads_stream:
        raise not_supported("WITH on a view that reads no stream", position=statement.name.position)
    if existing is not None and existing.kind == "continuous":
        raise not_supported("replacing a continuous view by a plain one", hint="Drop the view first.")
    oid = existing.oid if existing else execution.services.catalog.new_oid()
    view = Relation(
        oid,
        statement.name.name,
        "view",
        columns,
        definition=statement.text,
        sees=execution.visible_to(statement.query),
        options=dict(statement.options),
        owner=execution.authority.owner_name,
    )
    if existing is not None:
        execution.transaction.change(with_rights_of(existing, view))
    else:
        execution.transaction.create(view)
    return Result("CREATE VIEW")


def rename_view(execution: Execution, statement: RenameView) -> Result:
    relation = execution.find(statement.name, "view", "continuous")
    execution.check_free(Name(statement.new_name), if_not_exists=False)
    dependents = dependents_of(execution, relation, [])
    if dependents:
        hint = f'{words_for(dependents[0]).capitalize()} "{dependents[0].name}" reads it by its name.'
        raise not_supported(f'renaming view "{relation.name}", which others read,', hint=hint)
    execution.transaction.rename(relation, statement.new_name)
    if relation.kind == "continuous":
        renamed = partial(execution.services.views.rename, relation.oid, statement.new_name)
        execution.transaction.after_commit.append(renamed)
    return Result("ALTER VIEW")


def add_column(execution: Execution, statement: AddColumn) -> Result:
    done = Result("ALTER TABLE")
    if statement.if_exists and execution.relation(statement.table.schema, statement.table.name) is None:
        execution.notices.append(Notice(f'relation "{statement.table.name}" does not exist, skipping'))
        return done
    relation = execution.find(statement.table, "table")
    column = statement.column
    if any(known.name.lower() == column.name.lower() for known in relation.columns):
        message = f'column "{column.name}" of relation "{relation.name}" already exists'
        if not statement.if_not_exists:
            raise MillpondError(SqlState.DUPLICATE_COLUMN, message)
        execution.notices.append(Notice(f"{message}, skipping"))
        return done
    if statement.keys:
        raise not_supported("ALTER TABLE ... ADD COLUMN with PRIMARY KEY or UNIQUE", hint="Create a new table.")
    changed = replace(relation, columns=(*relation.columns, column), checks=(*relation.checks, *statement.checks))
    _check_columns(execution, statement.table, changed.columns, statement.checks)
    execution.transaction.change(changed)
    execution.transaction.write(changed, new_columns=[column])
    fill_new_column(execution, changed, column, statement.checks)
    return done


def drop(execution: Execution, statement: Drop) -> Result:
    keyword = {"table": "TABLE", "stream": "FOREIGN TABLE", "view": "VIEW"}[statement.kind]
    along: set[str] = set()
    for name in statement.names:
        if name.name in along:
            continue
        if execution.relation(name.schema, name.name) is None:
            message = f'{keyword.lower()} "{name.name}" does not exist'
            if not statement.if_exists:
                hint = closest(name.name, execution.relation_names())
                raise MillpondError(SqlState.UNDEFINED_TABLE, message, hint=hint, position=name.position)
            execution.notices.append(Notice(f"{message}, skipping"))
            continue
        relation = _to_drop(execution, name, statement)
        dependents = dependents_of(execution, relation, statement.names)
        if dependents and not statement.cascade:
            raise _still_needed(relation, dependents)
        for dependent in dependents:
            execution.notices.append(Notice(f"drop cascades to {words_for(dependent)} {dependent.name}"))
            drop_relation(execution, dependent)
        going = [one for one in with_late_stream(execution, relation) if execution.relation(None, one.name) is not None]
        along |= {one.name for one in going if one is not relation}
        for one in going:
            drop_relation(execution, one)
    return Result(f"DROP {keyword}")


def drop_relation(execution: Execution, relation: Relation) -> None:
    if relation.kind == "query":
        continuous_queries.drop_one(execution, relation)
        return
    execution.transaction.drop(relation)
    if relation.kind == "continuous":
        execution.transaction.after_commit.append(partial(execution.services.views.drop, relation.oid))


# -- checks -----------------------------------------------------------------------------------------------------


def _new_table(execution: Execution, name: Name, columns: Sequence[Column], statement: CreateTable | None) -> Relation:
    oid = execution.services.catalog.new_oid()
    keys, checks = (statement.keys, statement.checks) if statement else ((), ())
    relation = Relation(oid, name.name, "table", tuple(columns), keys, checks, owner=execution.authority.owner_name)
    execution.transaction.create(relation)
    execution.services.tables.create(oid, columns)
    return relation


def _check_columns(execution: Execution, name: Name, columns: Sequence[Column], checks: Sequence[Check]) -> None:
    """What is wrong with a definition shows when it is made, not at the first row."""
    if not 1 <= len(columns) <= COLUMNS_MAX:
        message = (
            f"tables can have at most {COLUMNS_MAX} columns" if columns else "tables must have at least one column"
        )
        raise MillpondError(SqlState.TOO_MANY_COLUMNS if columns else SqlState.INVALID_TABLE_DEFINITION, message)
    repeated = [column for column, count in Counter(column.name.lower() for column in columns).items() if count > 1]
    if repeated:
        message = f'column "{repeated[0]}" specified more than once'
        raise MillpondError(SqlState.DUPLICATE_COLUMN, message)
    reserved = {column.name for column in STREAM_COLUMNS}
    for column in columns:
        if column.name in reserved and not column.hidden:
            message = f'column name "{column.name}" conflicts with a system column name'
            raise MillpondError(SqlState.DUPLICATE_COLUMN, message)
        if column.type.name == "interval":
            raise not_supported(
                f'column "{column.name}" of type interval', hint="Store the two timestamps, or seconds."
            )
        if column.type.is_array:
            raise not_supported(f'column "{column.name}" of type {column.type}', hint="Store one row for each element.")
        if column.default is not None:
            check_default(execution, column)
    for check in checks:
        bound_check(name.name, columns, check)


def _columns_of(bound: BoundQuery, names: Sequence[str], name: Name) -> tuple[Column, ...]:
    if len(names) > len(bound.columns):
        message = f'"{name.name}" specifies more column names than columns'
        raise MillpondError(SqlState.SYNTAX_ERROR, message, position=name.position)
    taken = [*names, *(column.name for column in bound.columns[len(names) :])]
    repeated = [column for column, count in Counter(taken).items() if count > 1]
    if repeated:
        message = f'column "{repeated[0]}" specified more than once'
        raise MillpondError(SqlState.DUPLICATE_COLUMN, message, hint="Give the columns names of their own with AS.")
    return tuple(Column(given, column.type) for given, column in zip(taken, bound.columns, strict=True))


def _check_replacement(old: Relation, columns: Sequence[Column]) -> None:
    """As in PostgreSQL, a replaced view keeps its columns and may add some at the end."""
    for before, after in zip(old.columns, columns, strict=False):
        if before.name != after.name:
            message = f'cannot change name of view column "{before.name}" to "{after.name}"'
            raise MillpondError(SqlState.INVALID_TABLE_DEFINITION, message)
        if before.type != after.type:
            message = f'cannot change data type of view column "{before.name}" from {before.type} to {after.type}'
            raise MillpondError(SqlState.INVALID_TABLE_DEFINITION, message)
    if len(columns) < len(old.columns):
        raise MillpondError(SqlState.INVALID_TABLE_DEFINITION, "cannot drop columns from view")


def _check_not_kept(execution: Execution, old: Relation, name: Name) -> None:
    """What a continuous view keeps was made by the views that it reads as they were."""
    kept = [one for one in dependents_of(execution, old, []) if one.kind == "continuous"]
    if kept:
        hint = f'View "{kept[0].name}" keeps what it made of its rows. Drop it first.'
        what = f'replacing view "{old.name}", which continuous views read,'
        raise not_supported(what, hint=hint, position=name.position)


def words_for(dependent: Relation) -> str:
    """What depends on a relation, in words."""
    return "continuous query" if dependent.kind == "query" else "view"


def _kind(relation: Relation) -> str:
    """The kind as DROP names it: a continuous view is a view."""
    return "view" if relation.kind == "continuous" else relation.kind


_DROP_WITH = {"table": "DROP TABLE", "stream": "DROP FOREIGN TABLE", "view": "DROP VIEW", "system": ""}


def _to_drop(execution: Execution, name: Name, statement: Drop) -> Relation:
    relation = execution.find(name)
    if relation.kind == "system":
        message = f'permission denied: "{relation.name}" is a system relation'
        raise MillpondError(SqlState.INSUFFICIENT_PRIVILEGE, message, position=name.position)
    if _kind(relation) != statement.kind:
        wanted = {"table": "table", "stream": "stream", "view": "view"}[statement.kind]
        raise MillpondError(
            SqlState.WRONG_OBJECT_TYPE,
            f'"{relation.name}" is not a {wanted}',
            hint=f"Use {_DROP_WITH[_kind(relation)]} to remove a {_kind(relation)}.",
            position=name.position,
        )
    return relation


def dependents_of(execution: Execution, relation: Relation, leaving: Sequence[Name]) -> list[Relation]:
    """Views and continuous queries that read the relation, themselves or through other views, or write it, and are
    not dropped along with it."""
    gone = {name.name for name in leaving}
    names = {one.name for one in with_late_stream(execution, relation)}
    found = {view.name: view for view in writers_of(execution, relation) if view.name not in gone}
    for view in execution.transaction.relations.values():
        if view.definition is not None and view.name not in gone and names & execution.names_read_by(view):
            found[view.name] = view
    return list(found.values())


def _still_needed(relation: Relation, dependents: Sequence[Relation]) -> MillpondError:
    kind = "foreign table" if relation.kind == "stream" else _kind(relation)
    return MillpondError(
        SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
        f"cannot drop {kind} {relation.name} because other objects depend on it",
        detail="\n".join(f"{words_for(one)} {one.name} depends on {kind} {relation.name}" for one in dependents),
        hint="Use DROP ... CASCADE to drop the dependent objects too.",
    )
