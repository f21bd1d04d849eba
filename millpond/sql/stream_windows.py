"""Binding of windows over a stream: TUMBLE, HOP, SESSION, LANDMARK and LAST in FROM.

A window becomes the stream it stands on, which keeps the window in its note. `window_start` and `window_end` have one
value for all rows of a window: they are bound as constants, not as columns, and so may stand beside aggregates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.relation import ARRIVAL_TIMESTAMP, TID, Relation
from millpond.sql.coercion import coerce
from millpond.sql.context import FROM_FUNCTION, Context
from millpond.sql.functions import Function
from millpond.sql.literals import interval_parts
from millpond.sql.nodes import annotate, cast, error, fold, identifier, note_of, placed, position_of, type_of, typed
from millpond.sql.scope import ScopeColumn
from millpond.sql.sql_types import UNKNOWN
from millpond.stream_window import CycleWindow, LastWindow, SessionWindow, StreamWindow, WindowKind
from millpond.types import BIGINT, BOOLEAN, INTERVAL, TIMESTAMP, SqlType

FindRelation = Callable[[str | None, str, exp.Expr], Relation]

BOUNDS = {name: Function(name, "scalar", ()) for name in ("window_start", "window_end")}
"""The constants of a window."""

PANES_MAX = 100_000
"""Basic windows of one window; a state has a row for each of them and each of its groups."""

_DAY_US = 86_400_000_000
_TIMES = ("date", "timestamp", "timestamptz")


@dataclass(frozen=True)
class _Call:
    """How a window is written: what its sizes are called, and how many of them may be left out."""

    sizes: tuple[str, ...]
    optional: int = 0

    @property
    def count(self) -> int:
        return len(self.sizes)


CALLS: dict[str, _Call] = {
    "tumble": _Call(("size",)),
    "hop": _Call(("slide", "size")),
    "landmark": _Call(("reset",), optional=1),
    "last": _Call(("rows PARTITION BY key",)),
    "cycle": _Call(("size",)),
    "session": _Call(("gap [PARTITION BY key]",)),
}


def bind(
    node: exp.Anonymous, name: WindowKind, context: Context, alias: str, find_relation: FindRelation
) -> tuple[exp.Table, tuple[ScopeColumn, ...], Relation]:
    """The stream under its window, with the stream's columns and the window's bounds."""
    relation = _stream(node, name, find_relation)
    if name == "last":
        return _last(node, relation, context, alias)
    column, arguments = _time_column(node.expressions[1:], relation)
    arguments, end = _end_of_cycles(arguments, name, relation, context)
    call = CALLS[name]
    written, arguments = _partition(arguments) if name == "session" else ([], arguments)
    if not call.count - call.optional <= len(arguments) <= call.count:
        raise _wrong_call(node, name, call)
    sizes = [_Size.of(argument, context) for argument in arguments]
    if any(size.by_rows != sizes[0].by_rows for size in sizes):
        message = f"the sizes of {name.upper()} must be all intervals or all numbers of rows"
        raise error(SqlState.DATATYPE_MISMATCH, message, node)
    by_rows = bool(sizes) and sizes[0].by_rows
    if by_rows and column is not None:
        raise error(SqlState.DATATYPE_MISMATCH, f"{name.upper()} over a time column needs intervals", node)
    axis = relation.column(TID.name if by_rows else column or event_time(relation))
    assert axis is not None, "every stream has both axes"
    window: StreamWindow | None = None
    if name == "session":
        keys = tuple(_session_key(one, relation) for one in written)
        window = SessionWindow(name, alias, axis.name, by_rows, sizes[0].length, sizes[0].length, keys)
    elif name == "cycle":
        window = CycleWindow(name, alias, axis.name, by_rows, sizes[0].length, sizes[0].length, *end)
    elif sizes:
        window = StreamWindow(name, alias, axis.name, by_rows, sizes[0].length, sizes[-1].length)
        _check_panes(window, node)
    table = exp.Table(this=identifier(relation.name), db=identifier(relation.schema))
    table.set("alias", exp.TableAlias(this=identifier(alias)))
    columns = [ScopeColumn(one.name, one.type, one.name, one.hidden) for one in relation.columns]
    kind = BIGINT if by_rows else TIMESTAMP if axis.type.name == "date" else axis.type
    columns += [ScopeColumn(one, kind, one, constant=_bound(one, alias, kind, window)) for one in BOUNDS]
    return placed(annotate(table, relation=relation, window=window), node), tuple(columns), relation


def _end_of_cycles(
    arguments: Sequence[exp.Expr], name: str, relation: Relation, context: Context
) -> tuple[Sequence[exp.Expr], tuple[int | None, str | None]]:
    """The arguments without `cycles => n` and `until => column`, and these two."""
    named: dict[str, exp.Kwarg] = {}
    for one in arguments:
        if isinstance(one, exp.Kwarg):
            if name != "cycle" or one.name.lower() not in ("cycles", "until") or one.name.lower() in named:
                raise error(SqlState.UNDEFINED_FUNCTION, f'{name.upper()} has no argument "{one.name}"', one)
            named[one.name.lower()] = one
    cycles = _number_of_cycles(named["cycles"], context) if "cycles" in named else None
    until = _signal(named["until"], relation) if "until" in named else None
    return [one for one in arguments if not isinstance(one, exp.Kwarg)], (cycles, until)


def _number_of_cycles(written: exp.Kwarg, context: Context) -> int:
    number = _Size.of(written.expression, context)
    if not number.by_rows:
        raise error(SqlState.DATATYPE_MISMATCH, "the number of cycles must be an integer", written)
    return number.length


def _signal(written: exp.Kwarg, relation: Relation) -> str:
    """The column that says whether a row ends the stream."""
    column = relation.column(_key(written.expression, relation))
    assert column is not None
    if column.type != BOOLEAN:
        message = f'a stream ends by a boolean column, and "{column.name}" is of type {column.type}'
        raise error(SqlState.DATATYPE_MISMATCH, message, written)
    return column.name


def _last(
    node: exp.Anonymous, relation: Relation, context: Context, alias: str
) -> tuple[exp.Table, tuple[ScopeColumn, ...], Relation]:
    """`LAST(s, n PARTITION BY k)`: the stream's columns alone, since there are no bounds."""
    partition, arguments = _partition(node.expressions[1:])
    if len(arguments) != 1:
        raise _wrong_call(node, "last", CALLS["last"])
    size = _Size.of(arguments[0], context)
    if not size.by_rows:
        raise error(SqlState.DATATYPE_MISMATCH, "LAST needs a number of rows", arguments[0])
    keys = tuple(_key(written, relation) for written in partition)
    table = exp.Table(this=identifier(relation.name), db=identifier(relation.schema))
    table.set("alias", exp.TableAlias(this=identifier(alias)))
    window = LastWindow("last", alias, TID.name, by_rows=True, slide=size.length, size=size.length, keys=keys)
    columns = tuple(ScopeColumn(one.name, one.type, one.name, one.hidden) for one in relation.columns)
    return placed(annotate(table, relation=relation, window=window), node), columns, relation


def _partition(arguments: Sequence[exp.Expr]) -> tuple[list[exp.Expr], Sequence[exp.Expr]]:
    """What PARTITION BY after the last argument names, and the arguments without it."""
    if not arguments or not isinstance(arguments[-1], exp.Partition):
        return [], arguments
    last, *keys = arguments[-1].expressions
    return keys, [*arguments[:-1], last]


def _session_key(written: exp.Expr, relation: Relation) -> str:
    """A key by which sessions are told apart; the values of floats may differ and yet be shown alike."""
    column = relation.column(_key(written, relation))
    assert column is not None
    if column.type.is_float:
        hint = "Partition by a column of another type, such as numeric."
        raise not_supported(f"SESSION partitioned by {column.type}", hint=hint, position=position_of(written))
    return column.name


def _key(written: exp.Expr, relation: Relation) -> str:
    name = fold(written.this) if isinstance(written, exp.Column) else ""
    if relation.column(name) is None:
        raise error(SqlState.UNDEFINED_COLUMN, f'column "{name}" does not exist', written)
    return name


def event_time(stream: Relation) -> str:
    """The column that a stream's windows of time go by, unless they name another."""
    return stream.options.get("timestamp", ARRIVAL_TIMESTAMP.name)


def reads_cycles(query: exp.Expr) -> bool:
    """Whether a query, not bound yet, has a CYCLE in FROM."""
    calls = (table.this for table in query.find_all(exp.Table))
    return any(isinstance(call, exp.Anonymous) and str(call.this).lower() == "cycle" for call in calls)


def stream_named_in(table: exp.Table) -> str | None:
    """The name of the stream over which a function in FROM, not bound yet, is a window."""
    call = table.this
    if not isinstance(call, exp.Anonymous) or str(call.this).lower() not in CALLS or not call.expressions:
        return None
    written = call.expressions[0]
    return fold(written.this) if isinstance(written, exp.Column) and isinstance(written.this, exp.Identifier) else None


def window_of(node: exp.Expr) -> StreamWindow | None:
    """The window over a stream in FROM, if there is one."""
    return note_of(node).window


def is_bound(node: exp.Expr) -> bool:
    """Whether a node is the start or the end of a window."""
    function = note_of(node).function
    return function is not None and BOUNDS.get(function.name) is function


def _bound(name: str, alias: str, kind: SqlType, window: StreamWindow | None) -> exp.Expr:
    """A bound of the window of that alias; everything since the beginning has none."""
    if window is None:
        return cast(exp.Null(), kind)
    call = exp.Anonymous(this=name, expressions=[exp.Literal.string(alias)])
    return typed(annotate(call, function=BOUNDS[name]), kind)


def _stream(node: exp.Anonymous, name: str, find_relation: FindRelation) -> Relation:
    written = node.expressions[0] if node.expressions else None
    if not isinstance(written, exp.Column) or isinstance(written.this, exp.Star):
        raise error(SqlState.SYNTAX_ERROR, f"{name.upper()} needs the name of a stream as its first argument", node)
    schema = fold(written.args["table"]) if written.args.get("table") else None
    relation = find_relation(schema, fold(written.this), written)
    if relation.kind != "stream":
        message = f'{name.upper()} needs a stream, and "{relation.name}" is none'
        raise error(SqlState.WRONG_OBJECT_TYPE, message, written)
    return relation


def _time_column(arguments: Sequence[exp.Expr], relation: Relation) -> tuple[str | None, Sequence[exp.Expr]]:
    """The time column that a call names, and the arguments after it."""
    if not arguments or not isinstance(arguments[0], exp.Column):
        return None, arguments
    written = arguments[0]
    column = relation.column(fold(written.this))
    if column is None:
        raise error(SqlState.UNDEFINED_COLUMN, f'column "{fold(written.this)}" does not exist', written)
    if column.type.name not in _TIMES:
        message = f'windows go by a column of time, and "{column.name}" is of type {column.type}'
        raise error(SqlState.DATATYPE_MISMATCH, message, written)
    return column.name, arguments[1:]


@dataclass(frozen=True)
class _Size:
    """A number of rows, or a time in microseconds."""

    length: int
    by_rows: bool

    @classmethod
    def of(cls, argument: exp.Expr, context: Context) -> _Size:
        bound = context.within(FROM_FUNCTION).bind(argument)
        if type_of(bound) == UNKNOWN:
            bound = coerce(bound, INTERVAL)
        literal = bound if isinstance(bound, exp.Literal) else bound.find(exp.Literal)
        if literal is None or any(not isinstance(one, (exp.Cast, exp.Literal, exp.DataType)) for one in bound.walk()):
            raise error(SqlState.INVALID_PARAMETER_VALUE, "the size of a window must be a constant", argument)
        if type_of(bound).is_integer:
            length = int(literal.this)
        elif type_of(bound) == INTERVAL:
            length = _micros(str(literal.this), argument)
        else:
            message = f"the size of a window must be an interval or a number of rows, not {type_of(bound)}"
            raise error(SqlState.DATATYPE_MISMATCH, message, argument)
        if length <= 0:
            raise error(SqlState.INVALID_PARAMETER_VALUE, "the size of a window must be greater than zero", argument)
        return cls(length, type_of(bound).is_integer)


def _micros(text: str, argument: exp.Expr) -> int:
    parts = interval_parts(text)
    if parts.months:
        hint = "Group by date_trunc('month', ...) of the time column, or use days."
        raise not_supported("a window of months or years", hint=hint, position=position_of(argument))
    return parts.days * _DAY_US + parts.micros


def _check_panes(window: StreamWindow, node: exp.Expr) -> None:
    if window.size // window.step > PANES_MAX:
        raise MillpondError(
            SqlState.PROGRAM_LIMIT_EXCEEDED,
            f"the window has {window.size // window.step} basic windows, and {PANES_MAX} are the most",
            detail="A basic window is the greatest step of which slide and size are whole numbers.",
            hint="Use a longer slide, or one that divides the size.",
            position=position_of(node),
        )


def _wrong_call(node: exp.Expr, name: str, call: _Call) -> MillpondError:
    sizes = ", ".join(call.sizes)
    required = f"[, {sizes}]" if call.optional else f", {sizes}"
    hint = f"Write {name.upper()}(stream [, time column]{required})."
    return error(SqlState.UNDEFINED_FUNCTION, f"wrong number of arguments for {name.upper()}", node, hint=hint)
