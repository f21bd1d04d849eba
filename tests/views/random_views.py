"""Random queries that a continuous view can hold: groupings of streams, and any query above them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.views.random_groupings import GroupingMaker, Query
from tests.views.random_values import Value, columns_of, listed, outputs_of

ORDERS = ("c0, c1", "c1 DESC, c0", "c0 DESC NULLS LAST, c1 NULLS FIRST")
"""Total orders of groups by an int and a text."""

WINDOW_CALLS = (
    "row_number()",
    "rank()",
    "sum(c0 % 7)",
    "lag(c1)",
    "count(*)",
    "first_value(c0)",
    "ntile(2)",
    "max(c1)",
)
AGGREGATES_AGAIN = (
    "count(*)",
    "sum({int} % 7)",
    "max({text})",
    "min({int})",
    "count(DISTINCT {text})",
    "avg({int} % 5)",
)
USES_OF_CTE = (
    "SELECT a.*, b.c0 AS other FROM w a JOIN w b ON a.c0 = b.c0 % 100 + 1",
    "SELECT * FROM w WHERE c0 = (SELECT max(c0) FROM w)",
    "SELECT * FROM w UNION ALL SELECT * FROM w",
    "SELECT count(*) AS n, (SELECT min(c0) FROM w) AS low FROM w",
)


class ViewMaker(GroupingMaker):
    """Makes whole queries."""

    def view(self) -> str:
        return self.random.choice(_SHAPES)(self)[0]

    def with_table(self) -> Query:
        """Groups joined with a table, on any side."""
        grouped, kinds = self.by_keys(("int", "text"))
        table, alias = self.random.choice(self.schema.tables), self.alias()
        right = columns_of(table, alias)
        join = self.random.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        key = self.random.choice((0, 1))
        on = f"g.c{key} = {self.column(kinds[key], right)}"
        return _select([*outputs_of("g", kinds), *right[:3]], f"({grouped}) g {join} {table.name} {alias} ON {on}")

    def two_groupings(self) -> Query:
        left, left_kinds = self.by_keys(("int",))
        right, right_kinds = self.by_keys(("int",))
        join = self.random.choice(("JOIN", "LEFT JOIN", "FULL JOIN"))
        outputs = [*outputs_of("a", left_kinds), *outputs_of("b", right_kinds)]
        return _select(outputs, f"({left}) a {join} ({right}) b ON a.c0 = b.c0")

    def grouped_again(self) -> Query:
        grouped, kinds = self.by_keys(("int", "text"))
        scope = [value for value in outputs_of("g", kinds) if value.kind not in ("rough", "wide")]
        kind = self.random.choice(("int", "text", "bool"))
        aggregates = [self.filled(self.random.choice(AGGREGATES_AGAIN), scope, 1) for _ in range(2)]
        outputs = [Value(self.value(kind, scope), kind), *(Value(one, "rough") for one in aggregates)]
        return _select(outputs, f"({grouped}) g GROUP BY 1")

    def windowed(self) -> Query:
        grouped, kinds = self.by_keys(("int", "text"))
        partition = "PARTITION BY c0 IS NULL " if self.chance(0.5) else ""
        call = f"{self.random.choice(WINDOW_CALLS)} OVER ({partition}ORDER BY {self.random.choice(ORDERS)})"
        return _select([*outputs_of("g", kinds), Value(call, "rough")], f"({grouped}) g")

    def limited(self) -> Query:
        """The first groups by their keys, which are all different."""
        grouped, kinds = self.by_keys(("int", "text"))
        order = self.random.choice(ORDERS)
        return f"SELECT * FROM ({grouped}) g ORDER BY {order} LIMIT {self.random.randint(0, 5)}", kinds

    def set_operation(self) -> Query:
        left, kinds = self.keys_only(("int", "text"))
        right, _ = self.keys_only(("int", "text"))
        if self.chance(0.4):
            table = self.random.choice(self.schema.tables)
            columns = columns_of(table, table.name)
            right = f"SELECT {self.value('int', columns)}, {self.value('text', columns)} FROM {table.name}"
        operation = self.random.choice(("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"))
        return f"({left}) {operation} ({right})", kinds

    def looked_up(self) -> Query:
        """A table, and what is kept of a stream for each of its rows."""
        table, stream = self.random.choice(self.schema.tables), self.random.choice(self.schema.streams)
        mine, rows = columns_of(table, "t"), columns_of(stream, "s")
        kind = self.random.choice(("int", "text"))
        same = f"{self.column(kind, rows)} = {self.column(kind, mine)}"
        more = f" AND {self.value('bool', rows)}" if self.chance(0.5) else ""
        aggregate = self.aggregate(rows)
        subquery = f"(SELECT {aggregate.sql} FROM {stream.name} s WHERE {same}{more})"
        return _select([*mine[:3], Value(subquery, aggregate.kind)], f"{table.name} t")

    def filtered_table(self) -> Query:
        table = self.random.choice(self.schema.tables)
        mine = columns_of(table, "t")
        operator = self.random.choice(("IN", "NOT IN", "= ANY", "> ALL"))
        condition = f"{self.column('int', mine)} {operator} ({self.keys_only(('int',))[0]})"
        return _select(mine[:3], f"{table.name} t WHERE {condition}")

    def twice(self) -> Query:
        """A CTE that is used twice."""
        grouped, kinds = self.by_keys(("int",))
        return f"WITH w AS ({grouped}) {self.random.choice(USES_OF_CTE)}", kinds


def _select(outputs: Sequence[Value], source: str) -> Query:
    return f"SELECT {listed(outputs)} FROM {source}", [output.kind for output in outputs]


_SHAPES: Sequence[Callable[[ViewMaker], Query]] = (
    *[ViewMaker.grouped] * 8,
    ViewMaker.with_table,
    ViewMaker.two_groupings,
    ViewMaker.grouped_again,
    ViewMaker.windowed,
    ViewMaker.limited,
    ViewMaker.set_operation,
    ViewMaker.looked_up,
    ViewMaker.filtered_table,
    ViewMaker.twice,
)
