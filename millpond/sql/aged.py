"""`WITH (max_age = '1 day')` on a view: a condition on the time of each stream that its query reads.

It is added to the query as it was written, so that all that follows treats it like a condition of the user's. Views
that the query reads have it on their streams: what is asked for is what they would hold if these had younger rows only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from millpond.setting import Setting
from millpond.sql.nodes import annotate, fold, note_of
from millpond.sql.scope import Names
from millpond.sql.stream_windows import event_time

MAX_AGE = "max_age"

_AGE = Setting(MAX_AGE, 0, "ms", "How old rows may be.", minimum=1, intervals=True)


def aged(query: exp.Query, options: Mapping[str, str], names: Names) -> exp.Query:
    """The query with the condition, if there is such an option; windows in FROM have their own."""
    return no_older(query, int(_AGE.parse(options[MAX_AGE])), names) if MAX_AGE in options else query


def no_older(query: exp.Query, age_ms: int, names: Names) -> exp.Query:
    """The query over rows of streams that are not older."""
    made = query.copy()
    hidden = {cte.alias for cte in made.find_all(exp.CTE)}
    for select in list(made.find_all(exp.Select)):
        for table in _tables(select):
            schema = fold(table.args["db"]) if table.args.get("db") else None
            relation = names.relation(schema, fold(table.this)) if table.name not in hidden else None
            if relation is not None and relation.kind == "stream":
                alias = table.args["alias"].this if table.args.get("alias") else table.this
                select.where(_condition(alias, event_time(relation), age_ms), copy=False)
            elif relation is not None and relation.definition is not None:
                annotate(table, age_ms=min(age_ms, note_of(table).age_ms or age_ms))
    return made


def _tables(select: exp.Select) -> Iterator[exp.Table]:
    from_ = select.args.get("from_")
    items = [from_.this] if from_ is not None else []
    for item in (*items, *(join.this for join in select.args.get("joins") or [])):
        if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
            yield item


def _condition(alias: exp.Identifier, column: str, age_ms: int) -> exp.Expr:
    time = exp.Column(this=exp.to_identifier(column, quoted=True), table=alias.copy())
    interval = exp.Interval(this=exp.Literal.string(f"{age_ms} milliseconds"))
    return exp.GT(this=time, expression=exp.Sub(this=exp.Anonymous(this="now"), expression=interval))
