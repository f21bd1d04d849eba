"""What binding writes on the nodes of the tree, and the small builders that every stage of `sql/` shares.

A bound node carries a `Note`: its type and, where there is one, the function, relation or CTE it stands for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from sqlglot import exp

from millpond.errors import InternalError, MillpondError, SqlState
from millpond.relation import Relation
from millpond.sql.sql_types import to_data_type
from millpond.stream_window import StreamWindow
from millpond.types import BOOLEAN, SqlType

if TYPE_CHECKING:
    from millpond.sql.functions import Function, Overload

Node = TypeVar("Node", bound=exp.Expr)

_KEY = "millpond"


@dataclass(frozen=True)
class Note:
    """The meaning of a bound node. It never changes: copies of the tree share it. `age_ms`, of a view in FROM, says how
    old rows of streams may be that it is made of."""

    type: SqlType | None = None
    function: Function | None = None
    overload: Overload | None = None
    relation: Relation | None = None
    window: StreamWindow | None = None
    levels_up: int = 0
    age_ms: int | None = None

    def __deepcopy__(self, memo: object) -> Note:
        return self


_NO_NOTE = Note()


def note_of(node: exp.Expr) -> Note:
    """The node's note. What a comment in the statement may have planted in its place does not count."""
    note = node.meta.get(_KEY)
    return note if isinstance(note, Note) else _NO_NOTE


def annotate(node: Node, **fields: object) -> Node:
    """The node, with fields of its note replaced."""
    node.meta[_KEY] = replace(note_of(node), **fields)  # type: ignore[arg-type]
    return node


def typed(node: Node, sql_type: SqlType) -> Node:
    """The node, known to have the type."""
    return annotate(node, type=sql_type)


def is_typed(node: exp.Expr) -> bool:
    return note_of(node).type is not None


def type_of(node: exp.Expr) -> SqlType:
    """The type that binding gave the node."""
    sql_type = note_of(node).type
    if sql_type is None:
        raise InternalError(f"{type(node).__name__} was not bound")
    return sql_type


def position_of(node: exp.Expr | None) -> int | None:
    """The 1-based place of the node in the statement: that of its first word with a known place."""
    if node is None:
        return None
    starts = [start for part in node.walk() if isinstance(start := part.meta.get("start"), int)]
    return min(starts) + 1 if starts else None


def placed(node: Node, written: exp.Expr) -> Node:
    """The bound node, at the place of the written one."""
    position = position_of(written)
    if position is not None:
        node.update_positions(start=position - 1)
    return node


PLACE = "place"
"""Where the parser notes the place of a type, and of the word or symbol that makes an operator or a cast."""


def place_of(node: exp.Expr) -> int | None:
    """The 1-based place of an operator itself, where `position_of` is that of its first operand."""
    place = node.meta.get(PLACE)
    return place + 1 if isinstance(place, int) else position_of(node)


def error(sqlstate: SqlState, message: str, node: exp.Expr | None = None, *, hint: str | None = None) -> MillpondError:
    """An error that points at a node."""
    return MillpondError(sqlstate, message, hint=hint, position=position_of(node))


def error_at(sqlstate: SqlState, message: str, node: exp.Expr, *, hint: str | None = None) -> MillpondError:
    """An error that points at the operator, cast or type that a node is."""
    return MillpondError(sqlstate, message, hint=hint, position=place_of(node))


def cast(node: exp.Expr, target: SqlType) -> exp.Cast:
    """`CAST(node AS target)`, typed and placed where the node is."""
    made = typed(exp.Cast(this=node, to=to_data_type(target)), target)
    position = position_of(node)
    return made if position is None else made.update_positions(start=position - 1)


def identifier(name: str) -> exp.Identifier:
    """A name exactly as it is, which is what the quotes say."""
    return exp.Identifier(this=name, quoted=True)


def fold(node: exp.Identifier) -> str:
    """The name an identifier means: folded to lower case unless it was quoted."""
    name: str = node.this
    return name if node.args.get("quoted") else name.lower()


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """A function call by name."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def conjunction(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """All of the conditions, joined by AND."""
    joined = conditions[0]
    for condition in conditions[1:]:
        joined = typed(exp.And(this=wrapped(joined), expression=wrapped(condition)), BOOLEAN)
    return joined


def disjunction(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """Any of the conditions, joined by OR."""
    joined = conditions[0]
    for condition in conditions[1:]:
        joined = typed(exp.Or(this=wrapped(joined), expression=wrapped(condition)), BOOLEAN)
    return joined


def wrapped(node: exp.Expr) -> exp.Expr:
    """The node in parentheses if it is an operator, so that the tree prints as it means."""
    if not isinstance(node, (exp.Binary, exp.Not, exp.Neg, exp.Between, exp.In)):
        return node
    paren = exp.Paren(this=node)
    return annotate(paren, **vars(note_of(node)))


def unwrapped(node: exp.Expr) -> exp.Expr:
    """The node without the parentheses around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def walk_own(node: exp.Expr) -> Iterator[exp.Expr]:
    """The node and what is below it, stopping at subqueries: they have names and groups of their own."""
    yield node
    for child in node.iter_expressions():
        if not isinstance(child, exp.Query):
            yield from walk_own(child)
