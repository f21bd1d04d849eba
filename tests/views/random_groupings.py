"""Random groupings of streams: their rows alone, joined with tables or in a union, by keys, by sets or by none."""

from __future__ import annotations

from collections.abc import Sequence

from tests.views.random_values import Scope, Value, ValueMaker, columns_of, listed, outputs_of

KEY_KINDS = ("int", "text", "bool", "date", "num", "small", "ts", "dbl", "big")
GROUPING_SETS = ("ROLLUP ({0}, {1})", "CUBE ({0}, {1})", "GROUPING SETS (({0}), ({1}), ())", "{0}, ROLLUP ({1})")

Query = tuple[str, Sequence[str]]
"""A query and the kinds of its columns, which are called c0, c1, ..."""


class GroupingMaker(ValueMaker):
    """Makes the part of a query up to and including the grouping."""

    # -- rows of streams --------------------------------------------------------------------------------------

    def rows(self, depth: int = 2) -> tuple[str, Scope]:
        """FROM that delivers rows of a stream, and its columns."""
        if depth == 0 or self.chance(0.45):
            return self._stream()
        return self.random.choice((self._joined, self._joined, self._nested, self._union))(depth - 1)

    def _stream(self) -> tuple[str, Scope]:
        stream, alias = self.random.choice(self.schema.streams), self.alias()
        return f"{stream.name} {alias}", [*columns_of(stream, alias), Value(f"{alias}.tid", "big")]

    def _joined(self, depth: int) -> tuple[str, Scope]:
        """Rows of a stream joined with a table, on a side that keeps them."""
        rows, scope = self.rows(depth)
        table, alias = self.random.choice(self.schema.tables), self.alias()
        columns = columns_of(table, alias)
        on = self._on(scope, columns)
        right = f"({rows})" if " JOIN " in rows else rows
        text = self.random.choice(
            (
                f"{rows} JOIN {table.name} {alias} ON {on}",
                f"{rows} LEFT JOIN {table.name} {alias} ON {on}",
                f"{rows} CROSS JOIN {table.name} {alias}",
                f"{table.name} {alias} RIGHT JOIN {right} ON {on}",
                f"{table.name} {alias} JOIN {right} ON {on}",
            )
        )
        return text, [*scope, *columns]

    def _on(self, left: Scope, right: Scope) -> str:
        kind = self.random.choice(("int", "text"))
        operator = self.random.choice(("=", "=", "=", "<", "<>"))
        condition = f"{self.value(kind, left, 0)} {operator} {self.value(kind, right, 0)}"
        return condition + (f" AND {self.value('bool', [*left, *right], 1)}" if self.chance(0.3) else "")

    def _nested(self, depth: int) -> tuple[str, Scope]:
        rows, scope = self.rows(depth)
        alias, kinds = self.alias(), self._kinds(scope)
        return f"({self._select(rows, scope, kinds)}) {alias}", outputs_of(alias, kinds)

    def _union(self, depth: int) -> tuple[str, Scope]:
        """Two streams, or one twice, after each other."""
        first, first_scope = self.rows(depth)
        kinds, alias = self._kinds(first_scope), self.alias()
        second, second_scope = self.rows(0)
        text = f"{self._select(first, first_scope, kinds)} UNION ALL {self._select(second, second_scope, kinds)}"
        return f"({text}) {alias}", outputs_of(alias, kinds)

    def _kinds(self, scope: Scope) -> list[str]:
        return ["int", "text", *self.random.choices(sorted({value.kind for value in scope}), k=3)]

    def _select(self, rows: str, scope: Scope, kinds: Sequence[str]) -> str:
        outputs = [Value(self.value(kind, scope), kind) for kind in kinds]
        return f"SELECT {listed(outputs)} FROM {rows}{self.where(scope)}"

    # -- groups -----------------------------------------------------------------------------------------------

    def grouped(self) -> Query:
        """Any query that groups rows of a stream."""
        ways = (self.by_keys, self.by_keys, self.by_keys, self._totals, self._distinct, self._by_sets)
        return self.random.choice(ways)()

    def by_keys(self, kinds: Sequence[str] = ()) -> Query:
        rows, scope = self.rows()
        chosen = kinds or self._key_kinds()
        keys = [Value(self.value(kind, scope), kind) for kind in chosen]
        places = ", ".join(str(place + 1) for place in range(len(keys)))
        outputs = [*keys, *self.aggregates(scope)]
        sql = f"SELECT {listed(outputs)} FROM {rows}{self.where(scope)} GROUP BY {places}{self._having(scope)}"
        return sql, [value.kind for value in outputs]

    def keys_only(self, kinds: Sequence[str]) -> Query:
        """Groups without what is known of them."""
        grouped, _ = self.by_keys(kinds)
        return f"SELECT {', '.join(value.sql for value in outputs_of('g', kinds))} FROM ({grouped}) g", kinds

    def _key_kinds(self) -> list[str]:
        return self.random.sample(KEY_KINDS, self.random.randint(1, 3))

    def _totals(self) -> Query:
        rows, scope = self.rows()
        outputs = self.aggregates(scope)
        sql = f"SELECT {listed(outputs)} FROM {rows}{self.where(scope)}{self._having(scope)}"
        return sql, [value.kind for value in outputs]

    def _distinct(self) -> Query:
        rows, scope = self.rows()
        kinds = self._key_kinds()
        return self._select(rows, scope, kinds).replace("SELECT", "SELECT DISTINCT", 1), kinds

    def _by_sets(self) -> Query:
        rows, scope = self.rows()
        first, second = self.column("int", scope), self.column("text", scope)
        known = [Value(first, "int"), Value(second, "text"), Value(f"GROUPING({first}, {second})", "int")]
        outputs = [*known, *self.aggregates(scope)]
        sets = self.random.choice(GROUPING_SETS).format(first, second)
        sql = f"SELECT {listed(outputs)} FROM {rows}{self.where(scope)} GROUP BY {sets}"
        return sql, [value.kind for value in outputs]

    def _having(self, scope: Scope) -> str:
        conditions = ("count(*) > 1", "count(*) < 6", f"max({self.value('int', scope, 0)}) > 0", "count(*) % 2 = 0")
        return f" HAVING {self.random.choice(conditions)}" if self.chance(0.25) else ""
