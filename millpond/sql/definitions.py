"""Column definitions and constraints: from sqlglot's tree of CREATE TABLE to the catalog's records."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.relation import Check, Column, Key
from millpond.sql.dialect import PostgresText
from millpond.sql.nodes import fold, place_of, position_of
from millpond.sql.sql_types import to_sql_type
from millpond.sql.statements import AddColumn, Name

_NAME_PARTS = frozenset({"this", "db", "alias", "only"})


def name_of(table: exp.Expr) -> Name:
    """The name of a table node."""
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise MillpondError(SqlState.SYNTAX_ERROR, "a relation's name is expected", position=position_of(table))
    if table.args.get("catalog"):
        raise not_supported("a cross-database reference", position=position_of(table))
    if any(value and part not in _NAME_PARTS for part, value in table.args.items()):
        raise not_supported("this option of a table", position=position_of(table))
    schema = table.args.get("db")
    return Name(fold(table.this), fold(schema) if schema else None, position_of(table.this))


@dataclass
class _Definition:
    """What was read of a table so far."""

    table: str
    columns: list[Column] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)

    def add_key(self, name: str | None, columns: tuple[str, ...], *, primary: bool) -> None:
        if primary and any(key.primary for key in self.keys):
            message = f'multiple primary keys for table "{self.table}" are not allowed'
            raise MillpondError(SqlState.INVALID_TABLE_DEFINITION, message)
        generated = f"{self.table}_pkey" if primary else f"{self.table}_{'_'.join(columns)}_key"
        self.keys.append(Key(self._free_name(name, generated), columns, primary))

    def add_check(self, name: str | None, expression: exp.Expr, column: str | None) -> None:
        generated = f"{self.table}_{column}_check" if column else f"{self.table}_check"
        self.checks.append(Check(self._free_name(name, generated), expression.sql(dialect=PostgresText)))

    def _free_name(self, given: str | None, generated: str) -> str:
        taken = {key.name for key in self.keys} | {check.name for check in self.checks}
        if given is not None and given in taken:
            message = f'constraint "{given}" for relation "{self.table}" already exists'
            raise MillpondError(SqlState.DUPLICATE_OBJECT, message)
        name, number = given or generated, 0
        while name in taken:
            number += 1
            name = f"{generated}{number}"
        return name


def read(table: str, schema: exp.Schema) -> tuple[tuple[Column, ...], tuple[Key, ...], tuple[Check, ...]]:
    """The columns, keys and checks of a CREATE TABLE."""
    definition = _Definition(table)
    for item in schema.expressions:
        if isinstance(item, exp.ColumnDef):
            _read_column(definition, item)
        elif isinstance(item, exp.Constraint):
            for kind in item.expressions:
                _read_table_constraint(definition, fold(item.this), kind)
        else:
            _read_table_constraint(definition, None, item)
    return _finish(definition)


def read_text(
    table: str, text: str, start: int, end: int
) -> tuple[tuple[Column, ...], tuple[Key, ...], tuple[Check, ...]]:
    """The same for the parenthesised definitions at text[start:end]; positions stay those of `text`."""
    padded = "CREATE TABLE x".ljust(start) + text[start:end]
    try:
        tree = sqlglot.parse_one(padded, dialect=PostgresText)
    except ParseError as error:
        raise MillpondError(SqlState.SYNTAX_ERROR, "syntax error in column definitions", position=start + 1) from error
    if not isinstance(tree, exp.Create) or not isinstance(tree.this, exp.Schema):
        raise MillpondError(SqlState.SYNTAX_ERROR, "syntax error in column definitions", position=start + 1)
    return read(table, tree.this)


def read_alter(tree: exp.Alter) -> AddColumn:
    """ALTER TABLE ... ADD COLUMN; every other action is refused."""
    actions = tree.args.get("actions") or []
    if tree.args.get("kind") != "TABLE" or len(actions) != 1 or not isinstance(actions[0], exp.ColumnDef):
        raise not_supported("this form of ALTER TABLE", hint="ALTER TABLE can add one column at a time.")
    name = name_of(tree.this)
    definition = _Definition(name.name)
    _read_column(definition, actions[0])
    (column,), keys, checks = _finish(definition)
    return AddColumn(name, bool(tree.args.get("exists")), bool(actions[0].args.get("exists")), column, keys, checks)


def _finish(definition: _Definition) -> tuple[tuple[Column, ...], tuple[Key, ...], tuple[Check, ...]]:
    names = [column.name for column in definition.columns]
    for key in definition.keys:
        for column in key.columns:
            if column not in names:
                message = f'column "{column}" named in key does not exist'
                raise MillpondError(SqlState.UNDEFINED_COLUMN, message)
    primary = {column for key in definition.keys if key.primary for column in key.columns}
    columns = tuple(replace(c, not_null=True) if c.name in primary else c for c in definition.columns)
    return columns, tuple(definition.keys), tuple(definition.checks)


def _read_column(definition: _Definition, node: exp.ColumnDef) -> None:
    name, position = fold(node.this), position_of(node.this)
    kind = node.args.get("kind")
    if kind is None:
        raise MillpondError(SqlState.SYNTAX_ERROR, f'column "{name}" has no type', position=position)
    if kind.this in (exp.DType.SERIAL, exp.DType.SMALLSERIAL, exp.DType.BIGSERIAL):
        raise not_supported("a serial column", hint="Give the values in the INSERT.", position=position)
    if any(column.name.lower() == name.lower() for column in definition.columns):
        raise MillpondError(
            SqlState.DUPLICATE_COLUMN,
            f'column "{name}" specified more than once',
            hint="Names that differ only in case are not told apart by readers of Delta Lake tables.",
            position=position,
        )
    column = Column(name, to_sql_type(kind, position=place_of(kind) or position))
    for constraint in node.args.get("constraints") or []:
        given = fold(constraint.this) if constraint.this else None
        column = _read_column_constraint(definition, column, given, constraint.kind)
    definition.columns.append(column)


def _read_column_constraint(definition: _Definition, column: Column, given: str | None, kind: exp.Expr) -> Column:
    if isinstance(kind, exp.NotNullColumnConstraint):
        return replace(column, not_null=not kind.args.get("allow_null"))
    if isinstance(kind, exp.DefaultColumnConstraint):
        return replace(column, default=kind.this.sql(dialect=PostgresText))
    if isinstance(kind, exp.PrimaryKeyColumnConstraint):
        definition.add_key(given, (column.name,), primary=True)
    elif isinstance(kind, exp.UniqueColumnConstraint):
        definition.add_key(given, (column.name,), primary=False)
    elif isinstance(kind, exp.CheckColumnConstraint):
        definition.add_check(given, kind.this, column.name)
    else:
        raise _refused(kind)
    return column


def _read_table_constraint(definition: _Definition, given: str | None, kind: exp.Expr) -> None:
    if isinstance(kind, exp.PrimaryKey):
        definition.add_key(given, tuple(fold(item) for item in kind.expressions), primary=True)
    elif isinstance(kind, exp.UniqueColumnConstraint) and isinstance(kind.this, exp.Schema):
        definition.add_key(given, tuple(fold(item) for item in kind.this.expressions), primary=False)
    elif isinstance(kind, exp.CheckColumnConstraint):
        definition.add_check(given, kind.this, None)
    else:
        raise _refused(kind)


def _refused(kind: exp.Expr) -> MillpondError:
    if isinstance(kind, exp.Reference | exp.ForeignKey):
        return not_supported("a FOREIGN KEY constraint", hint="Only constraints that are enforced are accepted.")
    if isinstance(kind, exp.GeneratedAsIdentityColumnConstraint):
        return not_supported("an identity or serial column", hint="Give the values in the INSERT.")
    return not_supported(f"the constraint {kind.sql(dialect=PostgresText)}")
