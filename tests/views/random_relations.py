"""Random streams and tables for the fuzzer: few distinct keys, NULLs and extremes, all of it as SQL text.

The text runs on a pond and on PostgreSQL alike, so that what failed can be replayed by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

STREAMS = ("stream_a", "stream_b")
TABLES = ("table_a", "table_b")

TYPES: Mapping[str, str] = {
    "id": "int",
    "int": "int",
    "small": "smallint",
    "big": "bigint",
    "num": "numeric(12,2)",
    "dbl": "double precision",
    "real": "real",
    "bool": "boolean",
    "text": "text",
    "date": "date",
    "ts": "timestamp",
}
"""Kinds of values, and the type of a column of each; ids hardly ever meet, so other ints are there to join by."""

# Inexact numbers are sums of few powers of two, so that the order in which they are added makes no difference.
_VALUES: Mapping[str, Sequence[str]] = {
    "int": ("0", "1", "2", "3", "-5", "2147483647", "-2147483648"),
    "small": ("0", "1", "-7", "32767", "-32768"),
    "big": ("0", "1", "-1", "4294967296", "-4294967297", "9223372036854775807", "-9223372036854775808"),
    "num": ("0.01", "-12.34", "0.5", "3", "9999999999.99", "-9999999999.99"),
    "dbl": ("0", "0.5", "-2.25", "1024", "3", "'NaN'", "'Infinity'"),
    "real": ("0.5", "-2.25", "1024", "0"),
    "bool": ("true", "false"),
    "text": ("'a'", "'b'", "''", "'ünï'", "'a b'", "'B'"),
    "date": ("'2024-02-29'", "'1970-01-01'", "'9999-12-31'", "'0001-01-01'"),
    "ts": ("'2024-02-29 12:34:56.789'", "'2024-02-29 12:59:59.999999'", "'1969-12-31 23:59:59'"),
}
_NAMES = ("k", "v", "Group", "select", "ünicode", "x y", "n", "amount", "day", "ts", "Value", "flag", "order", "u")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class RandomRelation:
    """A stream or a table; `columns` maps names to kinds, and the first, `id`, tells its rows apart in a script."""

    name: str
    columns: Mapping[str, str]

    def create(self, kind: str, extra: str = "") -> str:
        columns = ", ".join(f"{quoted(name)} {TYPES[kind]}" for name, kind in self.columns.items())
        return f"CREATE {kind} {self.name} ({columns}{extra})"

    def insert(self, rows: Sequence[str]) -> str:
        names = ", ".join(quoted(name) for name in self.columns)
        return f"INSERT INTO {self.name} ({names}) VALUES {', '.join(rows)}"


@dataclass(frozen=True)
class RandomSchema:
    """The relations of one round: streams that share their kinds of columns, and tables to join them with."""

    streams: tuple[RandomRelation, ...]
    tables: tuple[RandomRelation, ...]


def random_schema(random: Random) -> RandomSchema:
    return RandomSchema(
        tuple(_relation(random, name, random.randint(5, 9)) for name in STREAMS),
        tuple(_relation(random, name, random.randint(2, 4)) for name in TABLES),
    )


def _relation(random: Random, name: str, width: int) -> RandomRelation:
    """Each has an int and a text to join by; the other columns are of any kind."""
    kinds = ["int", "text", *random.choices(list(_VALUES), k=width - 2)]
    names = random.sample(_NAMES, width)
    return RandomRelation(name, {"id": "id", **dict(zip(names, kinds, strict=True))})


def random_rows(random: Random, relation: RandomRelation, first: int, count: int) -> list[str]:
    """Rows as SQL, with ids from `first` on; about half of the values are among the first of their kind."""
    return [f"({', '.join([str(number), *_cells(random, relation)])})" for number in range(first, first + count)]


def _cells(random: Random, relation: RandomRelation) -> list[str]:
    cells = []
    for kind in list(relation.columns.values())[1:]:
        values = _VALUES[kind]
        usual = values[: max(2, len(values) // 2)]
        cells.append("NULL" if random.random() < 0.15 else random.choice(random.choice((usual, values))))
    return cells
