"""Tables of every type, filled by chance: usual values, NULLs and duplicates, an empty one, and one of extremes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

KINDS: Mapping[str, str] = {
    "id": "int",
    "i": "int",
    "s": "small",
    "b": "big",
    "n": "num",
    "f": "dbl",
    "r": "real",
    "o": "bool",
    "t": "text",
    "v": "varchar",
    "c": "code",
    "d": "date",
    "ts": "ts",
    "tz": "tz",
    "y": "bytea",
}
"""The columns of all tables, and the kind of expression that each is."""

_TYPES = (
    "int int smallint bigint numeric(12,3) float8 real boolean text varchar(10) char(4)"
    " date timestamp timestamptz bytea"
)

TABLES = ("usual", "other", "empty")
"""The tables that random queries use; `extreme` is apart, as few operations survive its values."""

_USUAL: Mapping[str, Sequence[str]] = {
    "i": ("0", "1", "2", "3", "-5", "10", "100"),
    "s": ("0", "1", "-7", "12"),
    "b": ("0", "1", "6000000000", "-3"),
    "n": ("0", "0.5", "1.125", "-2.75", "99.999", "1000"),
    "f": ("0", "0.5", "-1.5", "3.25", "1000.125", "0.1"),
    "r": ("0", "0.5", "-1.5", "2.25"),
    "o": ("true", "false"),
    "t": ("''", "'a'", "'abc'", "'Hello World'", "'b,c'", "'naïve'", "'A'", "'x y z'"),
    "v": ("'abc'", "'B'", "'lorem'"),
    "c": ("'ab'", "'wxyz'", "'q'"),
    "d": ("'2024-02-29'", "'2023-12-31'", "'1999-01-01'", "'2024-07-04'"),
    "ts": ("'2024-02-29 12:34:56'", "'2023-12-31 23:59:59.999999'", "'2000-01-01'", "'1965-05-05 05:05:05.5'"),
    "tz": ("'2024-02-29 12:34:56+00'", "'2024-06-01 00:00:00+00'", "'1999-12-31 23:30:00+00'"),
    "y": ("'\\x00'", "'\\xdeadbeef'", "'\\x616263'"),
}

_EXTREME: Mapping[str, Sequence[str]] = {
    "i": ("2147483647", "-2147483648", "0"),
    "s": ("32767", "-32768"),
    "b": ("9223372036854775807", "-9223372036854775808"),
    "n": ("999999999.999", "-999999999.999", "0.001"),
    "f": ("'NaN'", "'Infinity'", "'-Infinity'", "1e300", "1e-300", "'-0'"),
    "r": ("'NaN'", "'-Infinity'", "3e38"),
    "o": ("true", "false"),
    "t": ("'\\\\'", "'%_'", "E'tab\\tnew\\nline'", "'☃𝄞'", "'''\"`$'", "'  padded  '"),
    "v": ("'          '", "'ß'"),
    "c": ("'    '", "'é'"),
    "d": ("'0100-01-01'", "'9900-12-31'", "'1582-10-15'"),
    "ts": ("'0100-01-01'", "'9900-12-31 23:59:59.999999'", "'1900-01-01 00:00:00.000001'"),
    "tz": ("'0100-01-01 00:00:00+00'", "'9900-12-31 23:59:59.999999+00'"),
    "y": ("'\\x'", "'\\x5c27'"),
}


def statements(random: Random, rows: int) -> list[str]:
    """CREATE TABLE and INSERT for all tables."""
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(KINDS, _TYPES.split(), strict=True))
    made = [f"CREATE TABLE {name} ({columns})" for name in (*TABLES, "extreme")]
    for name, values, count in (("usual", _USUAL, rows), ("other", _USUAL, rows // 2), ("extreme", _EXTREME, 6)):
        lines = ", ".join(_row(random, number, values) for number in range(count))
        made.append(f"INSERT INTO {name} VALUES {lines}")
    return made


def _row(random: Random, number: int, values: Mapping[str, Sequence[str]]) -> str:
    cells = ["NULL" if random.random() < 0.15 else random.choice(values[name]) for name in KINDS if name != "id"]
    return f"({number}, {', '.join(cells)})"


def columns_of(*aliases: str) -> dict[str, list[str]]:
    """The columns of tables under their aliases, by kind of expression."""
    found: dict[str, list[str]] = {}
    for alias in aliases:
        for name, kind in KINDS.items():
            found.setdefault(kind, []).append(f"{alias}.{name}" if alias else name)
    return found
