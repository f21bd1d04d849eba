"""Binding of `t AS OF CYCLE n [OF query]` and `t FOR SYSTEM_TIME AS OF time` in FROM: the table as it was."""

from __future__ import annotations

from sqlglot import exp

from millpond.errors import SqlState, not_supported
from millpond.relation import Relation
from millpond.sql.coercion import can_coerce, coerce
from millpond.sql.context import Clause, Context
from millpond.sql.nodes import error, fold, position_of, type_of
from millpond.sql.parameters import OPEN
from millpond.sql.scope import Moment, Names, Scope
from millpond.sql.sql_types import type_name
from millpond.sql.translate import Translation, by_name, expression_text
from millpond.types import BIGINT, TIMESTAMPTZ

AS_OF = Clause("AS OF", subqueries=False)

_KINDS = {"stream": "a stream", "view": "a view", "continuous": "a view", "system": "a system relation"}


def bind_as_of(node: exp.Table, relation: Relation, context: Context) -> tuple[Relation, exp.Expr | None]:
    """The table as it was at the moment that a node names. A moment that has parameters without a value is not known
    yet: then it is the table as it is, and the moment, from which their types can be learned."""
    if relation.kind != "table":
        check_is_now(node, _KINDS[relation.kind])
    moment = _moment(node.args["version"], context)
    if any(one.meta.get(OPEN) for one in moment.value.find_all(exp.Parameter)):
        return relation, moment.value
    return context.scope.names.past(relation, moment), None


def check_is_now(node: exp.Table, what: str) -> None:
    """Raise if AS OF stands behind something that has no past."""
    if node.args.get("version"):
        hint = "Only tables can be read as they were."
        raise not_supported(f"AS OF for {what}", hint=hint, position=position_of(node))


def _moment(written: exp.Version, context: Context) -> Moment:
    is_cycle = written.this == "CYCLE"
    # Nothing around is in sight: the moment is the same for all rows.
    constants = Context(Scope(context.scope.names), AS_OF, context.rules, context.bind_query)
    bound = constants.bind(written.expression)
    target = BIGINT if is_cycle else TIMESTAMPTZ
    if not can_coerce(type_of(bound), target):
        what = "a number of a cycle" if is_cycle else "a time"
        message = f"AS OF needs {what}, not a value of type {type_name(type_of(bound))}"
        raise error(SqlState.DATATYPE_MISMATCH, message, written.expression)
    query = fold(written.args["kind"]) if isinstance(written.args["kind"], exp.Identifier) else None
    return Moment(coerce(bound, target), is_cycle, query, position_of(written.expression))


def literal_of(moment: Moment) -> str | None:
    """The text of a moment that is nothing but a literal."""
    node = moment.value.this if isinstance(moment.value, exp.Cast) else moment.value
    return str(node.this) if isinstance(node, exp.Literal) else None


def spark_text_of(moment: Moment, names: Names) -> str:
    """A moment as an expression of Spark SQL."""
    return expression_text(moment.value, Translation(by_name({}), names.constant, names.call))
