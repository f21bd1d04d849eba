"""Data-changing statements as queries: what INSERT, UPDATE, DELETE and RETURNING read is an ordinary SELECT.

    INSERT INTO t (b) SELECT x FROM s         ->  SELECT <default of a>, source.x FROM (SELECT x FROM s) AS source
    UPDATE t SET a = a + 1 WHERE b > 2        ->  SELECT __file, __row, a + 1, b FROM t WHERE b > 2
    DELETE FROM t USING u WHERE t.a = u.a     ->  SELECT __file, __row, t.a, t.b FROM t, u WHERE t.a = u.a

The outputs are then cast to the columns they will be stored in, by PostgreSQL's assignment rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from sqlglot import exp

from millpond.errors import MillpondError, SqlState, closest, not_supported
from millpond.python_function import PythonFunction
from millpond.relation import Column, Relation
from millpond.sql import functions
from millpond.sql.bind import BoundQuery, bind
from millpond.sql.nodes import error, fold, identifier, position_of, walk_own
from millpond.sql.parse import parse_expression
from millpond.sql.scope import Moment, Names
from millpond.sql.signatures import function_name
from millpond.sql.sql_types import to_data_type
from millpond.sql.statements import Name
from millpond.types import BIGINT, TEXT

FILE = Column("__file", TEXT, hidden=True)
ROW = Column("__row", BIGINT, hidden=True)
"""Where a row of the target stands; see `millpond.spark.runner`."""


@dataclass(frozen=True)
class NamesWith:
    """Names in which one relation is replaced by another of the same name."""

    names: Names
    own: Relation

    def relation(self, schema: str | None, name: str) -> Relation | None:
        return self.own if name == self.own.name and schema in (None, "public") else self.names.relation(schema, name)

    def relation_names(self) -> Iterable[str]:
        return self.names.relation_names()

    def function(self, name: str) -> PythonFunction | None:
        return self.names.function(name)

    def constant(self, name: str) -> datetime | date | str:
        return self.names.constant(name)

    def call(self, name: str, arguments: Sequence[str | None]) -> str | None:
        return self.names.call(name, arguments)

    def past(self, table: Relation, moment: Moment) -> Relation:
        return self.names.past(table, moment)


# -- INSERT -------------------------------------------------------------------------------------------------------


def insert_source(
    source: exp.Query | None, relation: Relation, targets: Sequence[Column] | None, names: Names
) -> BoundQuery:
    """A query that gives every column of the relation, in its order, from a query that gives the targets.

    Without targets the query gives the first columns, as many as it has.
    """
    stored = relation.visible_columns
    if source is None:
        return bind(exp.select(*(_default(column) for column in stored), copy=False), names, targets=stored)
    source = _prepared_cells(source, stored if targets is None else targets)
    width = len(bind(source, names).columns)
    targets = stored[:width] if targets is None else targets
    if width != len(targets):
        what = "expressions than target columns" if width > len(targets) else "target columns than expressions"
        raise MillpondError(SqlState.SYNTAX_ERROR, f"INSERT has more {what}")
    if tuple(targets) == stored:
        return bind(source, names, targets=stored)
    return bind(_all_columns(source, stored, targets), names, targets=stored)


def _all_columns(source: exp.Query, stored: Sequence[Column], targets: Sequence[Column]) -> exp.Query:
    """The source's columns where they belong, defaults in the other places."""
    inner = {column.name: identifier(f"column{index}") for index, column in enumerate(targets)}
    outputs = [
        exp.column(inner[column.name], table=identifier("source")) if column.name in inner else _default(column)
        for column in stored
    ]
    alias = exp.TableAlias(this=identifier("source"), columns=[name.copy() for name in inner.values()])
    return exp.select(*outputs, copy=False).from_(exp.Subquery(this=source, alias=alias), copy=False)


def default_query(column: Column, rows: int, names: Names) -> BoundQuery:
    """A column's default, once for each of so many rows."""
    series = exp.Anonymous(this="generate_series", expressions=[exp.Literal.number(1), exp.Literal.number(rows)])
    query = exp.select(_default(column), copy=False).from_(exp.Table(this=series), copy=False)
    return bind(query, names, targets=[column])


def constant_default(column: Column) -> str | None:
    """The text of a default that is a plain literal, for the input function of its type."""
    tree = parse_expression(column.default or "NULL")
    negative = isinstance(tree, exp.Neg)
    literal = tree.this if negative else tree
    if isinstance(literal, exp.Literal) and not (negative and literal.is_string):
        return f"-{literal.this}" if negative else str(literal.this)
    if isinstance(tree, exp.Boolean) and column.type.name == "boolean":
        return "true" if tree.this else "false"
    return None


def _default(column: Column) -> exp.Expr:
    return parse_expression(column.default) if column.default is not None else exp.Null()


def _cells(source: exp.Query) -> list[list[exp.Expr]]:
    """The cells of a VALUES list, row by row; of a plain SELECT, its outputs as one row; else nothing."""
    values = _values_of(source)
    if values is not None:
        return [row.expressions if isinstance(row, exp.Tuple) else [row] for row in values.expressions]
    return [source.expressions] if isinstance(source, exp.Select) else []


def _values_of(source: exp.Query) -> exp.Values | None:
    from_ = source.args.get("from_")
    return from_.this if from_ is not None and isinstance(from_.this, exp.Values) else None


def _prepared_cells(source: exp.Query, targets: Sequence[Column]) -> exp.Query:
    """Cells that know their column: DEFAULT is its default, and a bare string literal has its type.

    VALUES ('2024-01-31', DEFAULT)  ->  VALUES (CAST('2024-01-31' AS DATE), 0)
    """
    source = source.copy()
    for row in _cells(source):
        for cell, column in zip(list(row), targets, strict=False):
            cell.replace(_prepared(cell, column))
    return source


def _prepared(cell: exp.Expr, column: Column) -> exp.Expr:
    if _is_default_word(cell):
        return _default(column)
    is_open = isinstance(cell, exp.Parameter)
    if not (is_open or (isinstance(cell, exp.Literal) and cell.is_string)) or column.type.is_string:
        return cell
    cast = exp.Cast(this=cell.copy(), to=to_data_type(column.type))
    position = position_of(cell)
    return cast if position is None else cast.update_positions(start=position - 1)


def _is_default_word(cell: exp.Expr) -> bool:
    if isinstance(cell, exp.Column) and not cell.table and isinstance(cell.this, exp.Identifier):
        return not cell.this.quoted and cell.name.upper() == "DEFAULT"
    return isinstance(cell, exp.Var) and cell.name.upper() == "DEFAULT"


# -- UPDATE, DELETE, RETURNING --------------------------------------------------------------------------------------


def update_hits(tree: exp.Update, relation: Relation, names: Names) -> BoundQuery:
    """The rows that an UPDATE changes: where each stands, and its new values."""
    assigned = _assignments(tree, relation)
    alias = _alias(tree.this, relation)
    outputs = [assigned.get(column.name) or _reference(alias, column) for column in relation.visible_columns]
    joined = tree.args.get("from_")
    hits = _hits(tree, relation, outputs, [joined.this] if joined else [], names)
    kept = [place for place, column in enumerate(relation.visible_columns, start=2) if column.name not in assigned]
    return replace(hits, carried=frozenset((0, 1, *kept)))


def delete_hits(tree: exp.Delete, relation: Relation, names: Names) -> BoundQuery:
    """The rows that a DELETE removes: where each stands, and its values."""
    alias = _alias(tree.this, relation)
    outputs = [_reference(alias, column) for column in relation.visible_columns]
    hits = _hits(tree, relation, outputs, tree.args.get("using") or [], names)
    return replace(hits, carried=frozenset(range(len(hits.columns))))


def assigned_columns(tree: exp.Update) -> tuple[str, ...]:
    """The names of the columns that an UPDATE sets."""
    targets = [target for item in tree.expressions for target in _targets(item.this)]
    return tuple(fold(target.this) for target in targets if isinstance(target, exp.Column))


def _targets(target: exp.Expr) -> list[exp.Expr]:
    return target.expressions if isinstance(target, exp.Tuple) else [target]


def joins_others(tree: exp.Expr) -> bool:
    """Whether an UPDATE or DELETE joins other relations, so that a row may be hit more than once."""
    return bool(tree.args.get("from_") or tree.args.get("using"))


def returning_query(relation: Relation, alias: str | None, outputs: Sequence[exp.Expr]) -> exp.Query:
    """RETURNING as a query over the rows that were written."""
    table = exp.Table(this=identifier(relation.name))
    if alias is not None:
        table.set("alias", exp.TableAlias(this=identifier(alias)))
    return exp.select(*(output.copy() for output in outputs), copy=False).from_(table, copy=False)


def plain_columns(query: BoundQuery) -> list[str] | None:
    """The names of the columns that a query passes on as they are; None if it computes any of its outputs."""
    outputs = [output.unalias() for output in query.tree.expressions]
    return None if any(not isinstance(output, exp.Column) for output in outputs) else [one.name for one in outputs]


def alias_of(tree: exp.Expr) -> str | None:
    """The alias that an UPDATE or DELETE gives its target."""
    given = tree.this.args.get("alias")
    return fold(given.this) if given is not None else None


def column_fill(relation: Relation, column: Column, names: Names) -> BoundQuery:
    """A table's rows with a new last column at its default."""
    before = replace(relation, columns=tuple(known for known in relation.columns if known.name != column.name))
    outputs = [_reference(relation.name, known) for known in before.columns]
    table = exp.Table(this=identifier(relation.name))
    query = exp.select(*outputs, _default(column), copy=False).from_(table, copy=False)
    filled = bind(query, NamesWith(names, before), targets=relation.columns)
    return replace(filled, carried=frozenset(range(len(outputs))))


def columns_query(relation: Relation, columns: Sequence[Column]) -> exp.Query:
    """Some columns of a relation, as COPY ... TO reads them."""
    outputs = [_reference(relation.name, column) for column in columns]
    table = exp.Table(this=identifier(relation.name), db=identifier(relation.schema))
    return exp.select(*outputs, copy=False).from_(table, copy=False)


def whole_relation(query: exp.Query, names: Names) -> Relation | None:
    """The relation that a query reads as it is: `SELECT * FROM r` and nothing else."""
    name = whole_name(query)
    return None if name is None else names.relation(name.schema, name.name)


def whole_name(query: exp.Query) -> Name | None:
    """The name of what a query reads as it is."""
    parts = {name for name, value in query.args.items() if value}
    if not isinstance(query, exp.Select) or parts != {"expressions", "from_"}:
        return None
    table = query.args["from_"].this
    plain = isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier)
    plain = plain and not (table.args.get("joins") or table.args.get("version"))
    if not plain or len(query.expressions) != 1 or not isinstance(query.expressions[0], exp.Star):
        return None
    schema = table.args.get("db")
    return Name(fold(table.this), fold(schema) if schema else None, position_of(table))


def functions_called(tree: exp.Expr) -> set[str]:
    """The names of the functions that a query or an expression calls."""
    return {function_name(call) for call in tree.find_all(exp.Anonymous)}


def _alias(table: exp.Expr, relation: Relation) -> str:
    given = table.args.get("alias")
    return fold(given.this) if given is not None else relation.name


def _reference(alias: str, column: Column) -> exp.Expr:
    return exp.column(identifier(column.name), table=identifier(alias))


def _hits(
    tree: exp.Expr, relation: Relation, outputs: Sequence[exp.Expr], joined: Sequence[exp.Expr], names: Names
) -> BoundQuery:
    alias = _alias(tree.this, relation)
    marked = replace(relation, columns=(*relation.columns, FILE, ROW))
    query = exp.select(_reference(alias, FILE), _reference(alias, ROW), *outputs, copy=False)
    query.from_(tree.this.copy(), copy=False)
    for other in joined:
        query.join(other.copy(), join_type="cross", copy=False)
    where = tree.args.get("where")
    if where is not None:
        query.set("where", where.copy())
    with_ = tree.args.get("with_")
    if with_ is not None:
        query.set("with_", with_.copy())
    return bind(query, NamesWith(names, marked), targets=[FILE, ROW, *relation.visible_columns])


def _assignments(tree: exp.Update, relation: Relation) -> dict[str, exp.Expr]:
    """`SET a = 1, (b, c) = (2, 3)` as one expression for each column."""
    assigned: dict[str, exp.Expr] = {}
    for item in tree.expressions:
        pairs = _row_assignment(item) if isinstance(item.this, exp.Tuple) else [(item.this, item.expression)]
        for target, value in pairs:
            column = _assigned_column(target, relation)
            if column.name in assigned:
                message = f'multiple assignments to same column "{column.name}"'
                raise MillpondError(SqlState.SYNTAX_ERROR, message, position=position_of(target))
            _check_assigned(value)
            assigned[column.name] = _prepared(value, column).copy()
    return assigned


def _check_assigned(value: exp.Expr) -> None:
    """A row's new value is computed from that row alone."""
    for part in walk_own(value):
        if isinstance(part, exp.Window):
            raise error(SqlState.WINDOWING_ERROR, "window functions are not allowed in UPDATE", part)
        function = functions.find(function_name(part)) if isinstance(part, exp.Anonymous) else None
        if function is not None and function.kind in ("aggregate", "ordered-set"):
            raise error(SqlState.GROUPING_ERROR, "aggregate functions are not allowed in UPDATE", part)


def _row_assignment(item: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]]:
    targets, source = item.this.expressions, item.expression
    if not isinstance(source, exp.Tuple):
        raise not_supported("UPDATE ... SET (columns) = (subquery)", position=position_of(item))
    if len(targets) != len(source.expressions):
        message = "number of columns does not match number of values"
        raise MillpondError(SqlState.SYNTAX_ERROR, message, position=position_of(item))
    return list(zip(targets, source.expressions, strict=True))


def _assigned_column(target: exp.Expr, relation: Relation) -> Column:
    if not isinstance(target, exp.Column) or target.args.get("table"):
        raise not_supported("this target of SET", hint="Name the column alone.", position=position_of(target))
    name = fold(target.this)
    columns = {column.name: column for column in relation.visible_columns}
    if name not in columns:
        message = f'column "{name}" of relation "{relation.name}" does not exist'
        hint = closest(name, columns)
        raise MillpondError(SqlState.UNDEFINED_COLUMN, message, hint=hint, position=position_of(target))
    return columns[name]
