"""Random expressions, conditions and aggregates over the columns of a FROM clause, from tables of templates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tests.views.random_relations import RandomRelation, RandomSchema, quoted


@dataclass(frozen=True)
class Value:
    """An expression and its kind.

    A `rough` one is inexact, a `wide` one has many digits and a `list` is an array: they are only shown.
    """

    sql: str
    kind: str


Scope = Sequence[Value]

EXPRESSIONS: Mapping[str, Sequence[str]] = {
    "int": (
        "{int} % 7 + 1", "coalesce({int}, 0)", "nullif({int}, 1)", "length({text})", "{int} % 3",
        "CASE WHEN {bool} THEN {int} ELSE 5 END", "extract(year FROM {date})::int", "abs({int} % 10)",
        "CASE {int} WHEN 1 THEN 10 WHEN 2 THEN NULL ELSE {int} END", "greatest({int}, 0)", "{small}::int",
    ),
    "small": ("coalesce({small}, 1::smallint)", "nullif({small}, 0::smallint)"),
    "big": ("{big} % 1000", "coalesce({big}, {int})", "{int}::bigint * 3", "CASE WHEN {bool} THEN {big} END"),
    "num": (
        "{num} * 2", "{num} + {int} % 7", "round({num}, 1)", "coalesce({num}, 0.5)", "CASE WHEN {bool} THEN {num} END",
    ),
    "dbl": (
        "{dbl} * 0.5", "coalesce({dbl}, 1.5)", "CASE WHEN {bool} THEN {dbl} ELSE 0.25 END", "{int} % 10 + 0.5::float8",
    ),
    "real": ("coalesce({real}, 0.5::real)", "CASE WHEN {bool} THEN {real} END"),
    "bool": (
        "{int} > 0", "{text} < 'b'", "{num} <= 1.5", "{date} > date '2000-01-01'", "{bool} AND {bool}", "NOT {bool}",
        "{bool} OR {bool}", "{text} IS NULL", "{int} IN (0, 1, 7)", "{int} IS DISTINCT FROM {int}", "{dbl} > 0.5",
        "{text} LIKE 'a%'", "{big} BETWEEN -5 AND 4294967296", "{ts} < timestamp '2024-01-01'", "{bool} IS NOT TRUE",
    ),
    "text": (
        "upper({text})", "{text} || 'x'", "coalesce({text}, 'none')", "CASE WHEN {bool} THEN {text} ELSE 'no' END",
        "{int}::text", "left({text}, 1)", "{bool}::text", "nullif({text}, '')",
    ),
    "date": ("{ts}::date", "coalesce({date}, date '2020-02-02')", "CASE WHEN {bool} THEN {date} END"),
    "ts": ("date_trunc('hour', {ts})", "coalesce({ts}, timestamp '2001-02-03 04:05')", "date_trunc('day', {ts})"),
}  # fmt: skip
"""Expressions by kind that have a value for every row."""

LITERALS: Mapping[str, str] = {
    "int": "3", "small": "2::smallint", "big": "5000000000", "num": "1.25", "dbl": "0.5::float8", "real": "0.25::real",
    "bool": "true", "text": "'c'", "date": "date '2024-02-29'", "ts": "timestamp '2024-02-29 12:00'",
}  # fmt: skip

AGGREGATES: Mapping[str, Sequence[str]] = {
    "big": (
        "count(*)", "count({text})", "count({dbl})", "count(DISTINCT {int})", "count(DISTINCT {text})", "sum({int})",
        "count(DISTINCT {num})", "count(DISTINCT {dbl})", "sum({small})", "sum(DISTINCT {int})", "min({big})",
        "bit_xor({big})", "regr_count({real}, {dbl})", "approx_count_distinct({int})",
    ),
    "wide": ("sum({big})", "sum({num})", "sum(DISTINCT {num})", "sum(DISTINCT {big})"),
    "int": (
        "min({int})", "max({int})", "bit_and({int})", "bit_or({int})", "bit_xor({int})", "min_by({col} % 9, {col})",
        "max_by({col} % 9, {col})", "percentile_disc(0.25) WITHIN GROUP (ORDER BY {int})",
    ),
    "small": ("max({small})", "min({small})"),
    "num": ("max({num})", "min({num})", "percentile_disc(0.9) WITHIN GROUP (ORDER BY {num} DESC)"),
    "dbl": ("min({dbl})", "max({dbl})"),
    "real": ("max({real})",),
    "text": (
        "min({text})", "max({text})", "string_agg({same}, ',' ORDER BY {same})", "string_agg(DISTINCT {text}, '-')",
        "string_agg({same}, '' ORDER BY {same} DESC)", "mode() WITHIN GROUP (ORDER BY {text})",
        "percentile_disc(0.6) WITHIN GROUP (ORDER BY {text})",
    ),
    "date": (
        "min({date})", "max({date})", "percentile_disc(0.5) WITHIN GROUP (ORDER BY {date} DESC)",
        "mode() WITHIN GROUP (ORDER BY {date})",
    ),
    "ts": ("min({ts})", "max({ts})", "percentile_disc(0.3) WITHIN GROUP (ORDER BY {ts})"),
    "list": (
        "array_agg({same} ORDER BY {same} DESC)", "array_agg({same} ORDER BY {same} NULLS FIRST)",
        "array_agg(DISTINCT {int})", "array_agg(DISTINCT {text})", "array_agg(DISTINCT {ts})",
    ),
    "bool": ("bool_and({bool})", "bool_or({bool})", "every({bool})"),
    "rough": (
        "sum({dbl})", "sum({real})", "avg({int})", "avg({big})", "avg({num})", "avg({dbl})", "avg({real})",
        "avg(DISTINCT {int})", "avg(DISTINCT {num})", "var_pop({int} % 100)", "stddev({num} / 1000000)",
        "variance({real})", "stddev_pop({int} % 50)", "var_samp({real})", "stddev(DISTINCT {int} % 9)",
        "corr({int} % 5, {real})", "covar_pop({real}, {int} % 9)", "covar_samp({real}, {int} % 9)",
        "regr_slope({real}, {int} % 9)", "regr_r2({real}, {int} % 9)", "regr_avgx({real}, {int} % 9)",
        "regr_avgy({real}, {int} % 9)", "regr_sxx({real}, {int} % 9)", "regr_intercept({real}, {int} % 9)",
        "percentile_cont(0.5) WITHIN GROUP (ORDER BY {real})",
    ),
}  # fmt: skip
"""Aggregates by the kind of what they give. `{col}` is a column, `{same}` a text that is the same in both places."""

_SLOT = re.compile(r"\{(\w+)\}")


class ValueMaker:
    """Makes expressions; the same seed makes the same ones."""

    def __init__(self, random: Random, schema: RandomSchema) -> None:
        self.random, self.schema = random, schema
        self._aliases = 0

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def alias(self) -> str:
        self._aliases += 1
        return f"q{self._aliases}"

    def column(self, kind: str, scope: Scope) -> str:
        return self.random.choice([value.sql for value in scope if value.kind == kind])

    def value(self, kind: str, scope: Scope, depth: int = 2) -> str:
        """An expression of a kind: a column of the scope often."""
        has_column = any(value.kind == kind for value in scope)
        if has_column and (depth == 0 or self.chance(0.6)):
            return self.column(kind, scope)
        if depth == 0 or kind not in EXPRESSIONS:
            return LITERALS.get(kind, "7")
        return f"({self.filled(self.random.choice(EXPRESSIONS[kind]), scope, depth - 1)})"

    def filled(self, template: str, scope: Scope, depth: int) -> str:
        return _SLOT.sub(lambda slot: self.value(slot[1], scope, depth), template)

    def where(self, scope: Scope, probability: float = 0.5) -> str:
        return f" WHERE {self.condition(scope)}" if self.chance(probability) else ""

    def condition(self, scope: Scope) -> str:
        """A comparison, or a semijoin or antijoin with a table."""
        if self.chance(0.6):
            return self.value("bool", scope)
        table, alias = self.random.choice(self.schema.tables), self.alias()
        inner = columns_of(table, alias)
        kind = self.random.choice(("int", "text"))
        mine, other = self.value(kind, scope, 0), self.value(kind, inner, 0)
        body = f"FROM {table.name} {alias}"
        return self.random.choice(
            (
                f"{mine} IN (SELECT {other} {body}{self.where(inner)})",
                f"{mine} NOT IN (SELECT {other} {body} WHERE {other} IS NOT NULL)",
                f"{mine} NOT IN (SELECT {other} {body})",
                f"EXISTS (SELECT 1 {body} WHERE {other} = {mine})",
                f"NOT EXISTS (SELECT 1 {body} WHERE {other} = {mine} AND {self.value('bool', inner, 1)})",
                f"{mine} >= (SELECT min({other}) {body})",
                f"{mine} < (SELECT max({other}) {body} WHERE {other} <> {mine})",
            )
        )

    def aggregates(self, scope: Scope) -> list[Value]:
        return [self.aggregate(scope) for _ in range(self.random.randint(1, 4))]

    def aggregate(self, scope: Scope) -> Value:
        kind, template = self.random.choice([(kind, one) for kind, all_ in AGGREGATES.items() for one in all_])
        template = template.replace("{col}", self.column("int", scope))
        template = template.replace("{same}", self.value("text", scope))
        made = self.filled(template, scope, 1)
        if self.chance(0.2):
            made += f" FILTER (WHERE {self.value('bool', scope, 1)})"
        return Value(made, kind)


def columns_of(relation: RandomRelation, alias: str) -> list[Value]:
    return [Value(f"{alias}.{quoted(name)}", kind) for name, kind in relation.columns.items()]


def outputs_of(alias: str, kinds: Sequence[str]) -> list[Value]:
    """The columns of a subquery, which are called c0, c1, ..."""
    return [Value(f"{alias}.c{place}", kind) for place, kind in enumerate(kinds)]


def listed(outputs: Sequence[Value]) -> str:
    return ", ".join(f"{output.sql} AS c{place}" for place, output in enumerate(outputs))
