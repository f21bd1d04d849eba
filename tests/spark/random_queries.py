"""Random queries over `random_tables`: joins, groups, windows, subqueries, set operations, orders and limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tests.spark.random_clauses import AGGREGATES, DIRECTIONS, FRAMES, NOT_A_CALL, WINDOW_CALLS
from tests.spark.random_expressions import expression
from tests.spark.random_tables import TABLES, columns_of

SORTABLE = ("int", "num", "text", "bool", "date", "ts", "big", "small", "tz", "varchar")
"""Kinds that queries deliver and group by; inexact numbers would make groups and orders depend on rounding."""


@dataclass(frozen=True)
class RandomQuery:
    """A query, and whether the order of its rows is known."""

    sql: str
    ordered: bool


class QueryMaker:
    """Makes queries; the same seed makes the same ones."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._aliases = 0

    def query(self) -> RandomQuery:
        """Any query."""
        make = self.random.choice(_SHAPES)
        sql, width = make(self)
        if self.random.random() < 0.6:
            return RandomQuery(sql, ordered=False)
        return RandomQuery(f"SELECT * FROM ({sql}) AS whole {self._total_order(width)}{self._limit()}", ordered=True)

    # -- parts ------------------------------------------------------------------------------------------------

    def _alias(self) -> str:
        self._aliases += 1
        return f"q{self._aliases}"

    def _value(self, kind: str, columns: Mapping[str, Sequence[str]], depth: int = 1) -> str:
        """An expression that does not fail: a column often, else a sum, a text, a comparison."""
        if self.random.random() < 0.5:
            depth = 0
        return expression(self.random, kind, columns, depth, safe=True)

    def _values(self, columns: Mapping[str, Sequence[str]], count: int) -> list[str]:
        return [self._value(self.random.choice(SORTABLE), columns) for _ in range(count)]

    def _condition(self, columns: Mapping[str, Sequence[str]]) -> str:
        if self.random.random() < 0.25:
            return self._subquery_condition(columns)
        return expression(self.random, "bool", columns, self.random.choice((1, 2)), safe=True)

    def _where(self, columns: Mapping[str, Sequence[str]]) -> str:
        return f" WHERE {self._condition(columns)}" if self.random.random() < 0.6 else ""

    def _table(self) -> str:
        return self.random.choice((*TABLES[:2], *TABLES))

    def _total_order(self, width: int) -> str:
        keys = [f"{place + 1}{self.random.choice(DIRECTIONS)}" for place in range(width)]
        self.random.shuffle(keys)
        return f"ORDER BY {', '.join(keys)}"

    def _limit(self) -> str:
        return self.random.choice(
            ("", " LIMIT 3", " LIMIT 0", " LIMIT ALL OFFSET 2", " OFFSET 1 FETCH FIRST 2 ROWS ONLY")
        )

    # -- subqueries -------------------------------------------------------------------------------------------

    def _subquery_condition(self, columns: Mapping[str, Sequence[str]]) -> str:
        """IN, EXISTS, ANY, ALL or a scalar subquery; correlated in half of the cases."""
        alias, kind = self._alias(), self.random.choice(("int", "text", "date"))
        inner = columns_of(alias)
        outer = self._value(kind, columns, 0)
        same = f"{alias}.i = {self.random.choice(columns['int'])}" if self.random.random() < 0.5 else "true"
        body = f"FROM {self._table()} {alias} WHERE {same}"
        one = self._value(kind, inner, 0)
        return self.random.choice(
            (
                f"{outer} IN (SELECT {one} {body})",
                f"{outer} NOT IN (SELECT {one} {body})",
                f"EXISTS (SELECT 1 {body} AND {self._value('bool', inner)})",
                f"NOT EXISTS (SELECT {one} {body})",
                f"{outer} = ANY (SELECT {one} {body})",
                f"{outer} > ALL (SELECT {one} {body})",
                f"{outer} <= (SELECT max({one}) {body})",
                f"(SELECT count(*) {body}) > 1",
            )
        )

    # -- FROM -------------------------------------------------------------------------------------------------

    def _from(self) -> tuple[str, dict[str, list[str]]]:
        """One to three relations, joined."""
        first = self._alias()
        aliases, text = [first], f"{self._relation()} {first}"
        for _ in range(self.random.choice((0, 0, 1, 1, 2))):
            alias = self._alias()
            text += self._join(aliases, alias)
            aliases.append(alias)
        return text, columns_of(*aliases)

    def _relation(self) -> str:
        table = self._table()
        if self.random.random() < 0.2:
            inner = columns_of("")
            return f"(SELECT * FROM {table}{self._where(inner)})"
        return table

    def _join(self, aliases: Sequence[str], alias: str) -> str:
        left = self.random.choice(aliases)
        kind = self.random.choice(("JOIN", "INNER JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        if self.random.random() < 0.1:
            return f" CROSS JOIN {self._relation()} {alias}"
        if self.random.random() < 0.1:
            return f", {self._relation()} {alias}"
        key = self.random.choice(("i", "t", "d", "o", "id"))
        condition = f"{left}.{key} = {alias}.{key}"
        if self.random.random() < 0.3 and kind != "FULL JOIN":
            condition += f" AND {self._value('bool', columns_of(left, alias))}"
        return f" {kind} {self._relation()} {alias} ON {condition}"

    # -- shapes -----------------------------------------------------------------------------------------------

    def _plain(self) -> tuple[str, int]:
        source, columns = self._from()
        outputs = self._values(columns, 4)
        distinct = "DISTINCT " if self.random.random() < 0.2 else ""
        return f"SELECT {distinct}{_listed(outputs)} FROM {source}{self._where(columns)}", 4

    def _using(self) -> tuple[str, int]:
        """USING and NATURAL: the merged column, and those of both sides."""
        kind = self.random.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        left, right = self._table(), self._table()
        keys = self.random.choice(("i", "i, o", "id", "t"))
        natural = f"NATURAL {kind} (SELECT i, o AS o2 FROM {right}) b"
        joined = self.random.choice((f"{kind} {right} b USING ({keys})", natural))
        key = "i" if joined == natural else keys.split(",")[0]
        return f"SELECT {key} AS c0, a.t AS c1, a.n AS c2 FROM {left} a {joined}", 3

    def _scalar(self) -> tuple[str, int]:
        source, columns = self._from()
        alias = self._alias()
        inner = columns_of(alias)
        name = self.random.choice(("max", "min", "count"))
        body = f"SELECT {name}({self._value('int', inner, 0)}) FROM {self._table()} {alias}"
        body += f" WHERE {alias}.i = {self.random.choice(columns['int'])}" if self.random.random() < 0.7 else ""
        outputs = [f"({body})", *self._values(columns, 2)]
        return f"SELECT {_listed(outputs)} FROM {source}", 3

    def _grouped(self) -> tuple[str, int]:
        source, columns = self._from()
        keys = [self._value(kind, columns) for kind in self.random.sample(SORTABLE, self.random.choice((1, 2)))]
        aggregates = [self._aggregate(columns) for _ in range(3)]
        having = f" HAVING {self.random.choice(('count(*) > 1', 'count(*) < 9', 'max(' + columns['int'][0] + ') > 0'))}"
        places = ", ".join(str(place + 1) for place in range(len(keys)))
        sql = f"SELECT {_listed([*keys, *aggregates])} FROM {source}{self._where(columns)} GROUP BY {places}"
        return sql + (having if self.random.random() < 0.3 else ""), len(keys) + 3

    def _grouping_sets(self) -> tuple[str, int]:
        source, columns = self._from()
        first, second = columns["int"][-1], self.random.choice(columns["text"])
        sets = self.random.choice(
            (
                f"ROLLUP ({first}, {second})",
                f"CUBE ({first}, {second})",
                f"GROUPING SETS (({first}), ({second}), ())",
                f"GROUPING SETS (({first}, {second}), ({second}))",
                f"{first}, ROLLUP ({second})",
            )
        )
        outputs = [first, second, f"GROUPING({first}, {second})", *(self._aggregate(columns) for _ in range(2))]
        return f"SELECT {_listed(outputs)} FROM {source} GROUP BY {sets}", 5

    def _totals(self) -> tuple[str, int]:
        source, columns = self._from()
        return f"SELECT {_listed([self._aggregate(columns) for _ in range(5)])} FROM {source}{self._where(columns)}", 5

    def _aggregate(self, columns: Mapping[str, Sequence[str]]) -> str:
        template = self.random.choice(AGGREGATES).replace("{same}", self._value("text", columns))
        for kind in ("int", "num", "dbl", "text", "bool", "date", "ts", "big", "small", "real", "iv"):
            while f"{{{kind}}}" in template:
                template = template.replace(f"{{{kind}}}", self._value(kind, columns), 1)
        if self.random.random() < 0.2 and not template.startswith(NOT_A_CALL):
            template += f" FILTER (WHERE {self._value('bool', columns)})"
        return template

    def _windowed(self) -> tuple[str, int]:
        table = self._table()
        columns = columns_of("")
        outputs = ["id", *(self._window(columns) for _ in range(3))]
        return f"SELECT {_listed(outputs)} FROM {table}{self._where(columns)}", 4

    def _window(self, columns: Mapping[str, Sequence[str]]) -> str:
        call = self.random.choice(WINDOW_CALLS)
        for kind in ("int", "num", "text", "date"):
            call = call.replace(f"{{{kind}}}", self._value(kind, columns, 0))
        group, key = (self._value(self.random.choice(("bool", "int", "text", "date")), columns, 0) for _ in range(2))
        partition = f"PARTITION BY {group} " if self.random.random() < 0.6 else ""
        order = f"ORDER BY {key}{self.random.choice(DIRECTIONS)}, id"
        return f"{call} OVER ({partition}{order}{self.random.choice(FRAMES)})"

    def _set_operation(self) -> tuple[str, int]:
        kinds = [self.random.choice(SORTABLE) for _ in range(3)]
        operation = self.random.choice(("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"))
        return f"{self._side(kinds)} {operation} {self._side(kinds)}", 3

    def _side(self, kinds: Sequence[str]) -> str:
        columns = columns_of("")
        outputs = _listed([self._value(kind, columns) for kind in kinds])
        return f"SELECT {outputs} FROM {self._table()}{self._where(columns)}"

    def _with(self) -> tuple[str, int]:
        inner, width = self.random.choice((self._plain, self._grouped))()
        names = ", ".join(f"w{place}" for place in range(width))
        use = self.random.choice(
            ("SELECT * FROM w", "SELECT * FROM w UNION ALL SELECT * FROM w", "SELECT DISTINCT * FROM w")
        )
        return f"WITH w ({names}) AS ({inner}) {use}", width

    def _lateral(self) -> tuple[str, int]:
        columns, inner = columns_of("a"), columns_of("b")
        body = f"SELECT count(*) AS n, max({self._value('int', inner, 0)}) AS m FROM {self._table()} b WHERE b.i = a.i"
        join = self.random.choice((f"CROSS JOIN LATERAL ({body}) l", f"LEFT JOIN LATERAL ({body}) l ON true"))
        outputs = _listed(["a.id", "l.n", "l.m", self._value("text", columns)])
        return f"SELECT {outputs} FROM {self._table()} a {join}", 4

    def _values_list(self) -> tuple[str, int]:
        rows = ", ".join(f"({self._value('int', {})}, {self._value('text', {})})" for _ in range(3))
        source = f"(VALUES {rows}) AS v (x, y)"
        return self.random.choice(
            (
                f"SELECT x AS c0, y AS c1 FROM {source}",
                f"SELECT v.x AS c0, a.t AS c1 FROM {source} JOIN usual a ON a.i = v.x",
            )
        ), 2

    def _distinct_on(self) -> tuple[str, int]:
        columns = columns_of("")
        key = self._value(self.random.choice(("int", "text", "bool")), columns, 0)
        outputs = [key, "id", *self._values(columns, 2)]
        return f"SELECT DISTINCT ON ({key}) {_listed(outputs)} FROM {self._table()} ORDER BY {key}, id", 4


def _listed(outputs: Sequence[str]) -> str:
    return ", ".join(f"{output} AS c{place}" for place, output in enumerate(outputs))


Shape = Callable[[QueryMaker], tuple[str, int]]

_SHAPES: tuple[Shape, ...] = (
    QueryMaker._plain,
    QueryMaker._plain,
    QueryMaker._using,
    QueryMaker._scalar,
    QueryMaker._grouped,
    QueryMaker._grouped,
    QueryMaker._grouping_sets,
    QueryMaker._totals,
    QueryMaker._windowed,
    QueryMaker._set_operation,
    QueryMaker._with,
    QueryMaker._lateral,
    QueryMaker._values_list,
    QueryMaker._distinct_on,
)
"""Each gives a query and the number of its columns."""
