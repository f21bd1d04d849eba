"""COPY TO: tables into files as PostgreSQL writes them, whole or not at all; and the way back."""

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millpond.copy import CSV, CopyOptions, OutputColumn, delimited, ndjson, read, write
from millpond.copy.blocks import Block, read_blocks
from millpond.copy.delimited import Layout
from millpond.errors import MillpondError
from millpond.relation import Column
from millpond.types import (
    BOOLEAN,
    BYTEA,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    SqlType,
    numeric,
)
from millpond.values.arrays import arrow_array

TEXT_FORMAT = CopyOptions()
NDJSON = CopyOptions(format="ndjson")
PARQUET = CopyOptions(format="parquet")
COLUMNS = (OutputColumn("id", INTEGER), OutputColumn("name", TEXT))


def table_of(types: dict[str, SqlType], *rows: tuple[Any, ...]) -> pa.Table:
    arrays = [arrow_array([row[i] for row in rows], type.arrow) for i, type in enumerate(types.values())]
    return pa.Table.from_arrays(arrays, list(types))


def written(options: CopyOptions, *rows: tuple[Any, ...]) -> str:
    target = io.BytesIO()
    table = table_of({"id": INTEGER, "name": TEXT}, *rows)
    assert write([table], COLUMNS, target, options) == len(rows)
    return target.getvalue().decode(options.encoding)


def test_csv_quotes_only_what_it_must() -> None:
    rows = [(1, "a b"), (2, ""), (None, None), (3, 'a"b'), (4, "a,b"), (5, "a\nb"), (6, "'")]
    assert written(CSV, *rows) == '1,a b\n2,""\n,\n3,"a""b"\n4,"a,b"\n5,"a\nb"\n6,\'\n'


def test_csv_options() -> None:
    options = replace(CSV, header=True, delimiter=";", null="-", quote="'", escape="\\", force_quote=("id",))
    assert written(options, (1, "-"), (None, "it's\\")) == "id;name\n'1';'-'\n-;'it\\'s\\\\'\n"
    assert written(replace(CSV, encoding="latin-1"), (1, "ü")) == "1,ü\n"
    with pytest.raises(MillpondError, match='FORCE_QUOTE column "x" not referenced by COPY'):
        written(replace(CSV, force_quote=("x",)))


def test_a_lone_end_marker_is_quoted() -> None:
    target = io.BytesIO()
    write([pa.table({"a": ["\\."]})], [OutputColumn("a", TEXT)], target, CSV)
    assert target.getvalue() == b'"\\."\n'


def test_text_escapes() -> None:
    rows = [(1, "a\tb\\c\nd\r\b\f\v"), (None, None), (2, "\\N"), (3, "")]
    assert written(TEXT_FORMAT, *rows) == "1\ta\\tb\\\\c\\nd\\r\\b\\f\\v\n\\N\t\\N\n2\t\\\\N\n3\t\n"
    assert written(replace(TEXT_FORMAT, delimiter="|", header=True), (1, "a|b\tc")) == "id|name\n1|a\\|b\\tc\n"


def test_json_lines() -> None:
    types = {"a b": INTEGER, "d": DOUBLE, "t": TEXT, "z": TIMESTAMPTZ, "n": numeric(6, 2), "o": BOOLEAN}
    table = table_of(
        types,
        (1, float("nan"), 'ü"\n', datetime(2024, 1, 1, tzinfo=UTC), Decimal("1.5"), True),
        (None, 1e20, "", None, None, None),
    )
    target = io.BytesIO()
    write([table], [OutputColumn(name, type) for name, type in types.items()], target, NDJSON)
    assert target.getvalue().decode().splitlines() == [
        '{"a b":1,"d":"NaN","t":"ü\\"\\n","z":"2024-01-01T00:00:00+00:00","n":1.50,"o":true}',
        '{"a b":null,"d":1e+20,"t":"","z":null,"n":null,"o":null}',
    ]


def test_parquet_holds_the_declared_types(tmp_path: Path) -> None:
    types = {"a": numeric(10, 2), "b": TIMESTAMPTZ, "i": INTERVAL}
    table = table_of(types, (Decimal("1.50"), datetime(2024, 1, 1, tzinfo=UTC), (1, 2, 0)), (None, None, None))
    columns = [OutputColumn(name, type) for name, type in types.items()]
    assert write(table.to_batches(), columns, tmp_path / "f", PARQUET) == 2
    found = pq.read_table(tmp_path / "f")
    assert found.schema.types == [types["a"].arrow, types["b"].arrow, pa.string()]
    assert found.column("i").to_pylist() == ["1 mon 2 days", None]


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "f.csv"
    target.write_text("before")

    def broken() -> Iterator[pa.Table]:
        yield table_of({"id": INTEGER, "name": TEXT}, (1, "a"))
        raise RuntimeError("the query failed")

    with pytest.raises(RuntimeError, match="the query failed"):
        write(broken(), COLUMNS, target, CSV)
    assert [path.name for path in tmp_path.iterdir()] == ["f.csv"]
    assert target.read_text() == "before"
    with pytest.raises(MillpondError) as caught:
        write([], COLUMNS, tmp_path / "no" / "f.csv", CSV)
    assert (caught.value.sqlstate, list(tmp_path.iterdir())) == ("58P01", [target])
    (tmp_path / "folder").mkdir()
    with pytest.raises(MillpondError, match="could not write to COPY file: Is a directory"):
        write([], COLUMNS, tmp_path / "folder", CSV)
    assert len(list(tmp_path.iterdir())) == 2


def test_long_tables_are_written_in_slices() -> None:
    target = io.BytesIO()
    seen: list[tuple[int, int]] = []
    table = pa.table({"id": pa.array(range(200_000), pa.int32()), "name": ["x"] * 200_000})
    assert write([table], COLUMNS, target, CSV, lambda rows, size: seen.append((rows, size))) == 200_000
    assert len(seen) == 4
    assert seen[-1] == (200_000, len(target.getvalue()))
    (found,) = read(io.BytesIO(target.getvalue()), [Column("id", INTEGER), Column("name", TEXT)], CSV, "t")
    assert found.equals(table)


TEXTS = st.text(
    st.one_of(st.sampled_from("\",\\\n\r\tN.'x "), st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    max_size=8,
)
MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31))
TYPES: dict[str, tuple[SqlType, st.SearchStrategy[Any]]] = {
    "i": (INTEGER, st.integers(-(2**31), 2**31 - 1)),
    "f": (DOUBLE, st.floats(allow_nan=False)),
    "n": (numeric(10, 2), st.integers(-(10**10) + 1, 10**10 - 1).map(lambda cents: Decimal(cents).scaleb(-2))),
    "b": (BOOLEAN, st.booleans()),
    "t": (TEXT, TEXTS),
    "y": (BYTEA, st.binary(max_size=5)),
    "d": (DATE, st.dates(date(1, 1, 1), date(9999, 12, 31))),
    "s": (TIMESTAMP, MOMENTS),
    "z": (TIMESTAMPTZ, MOMENTS.map(lambda moment: moment.replace(tzinfo=UTC))),
    "u": (TEXT, TEXTS),
}


@pytest.mark.parametrize(
    "options",
    [
        CSV,
        replace(CSV, quote="'", escape="\\", null="N"),
        TEXT_FORMAT,
        replace(TEXT_FORMAT, delimiter="|"),
        NDJSON,
        PARQUET,
    ],
    ids=["csv", "csv-escape", "text", "text-bar", "ndjson", "parquet"],
)
@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_files_round_trip(options: CopyOptions, data: st.DataObject) -> None:
    row = st.tuples(*(st.none() | strategy for _, strategy in TYPES.values()))
    table = table_of(
        {name: type for name, (type, _) in TYPES.items()}, *data.draw(st.lists(row, min_size=1, max_size=4))
    )
    file = io.BytesIO()
    write([table], [OutputColumn(name, type) for name, (type, _) in TYPES.items()], file, options)
    file.seek(0)
    found = read(file, [Column(name, type) for name, (type, _) in TYPES.items()], options, "t")
    assert pa.concat_tables(found).to_pylist() == table.to_pylist()


@settings(deadline=None)
@given(
    st.text(st.sampled_from('a1,,"\n\n\r \\.x'), max_size=20), st.integers(1, 2), st.sampled_from([CSV, TEXT_FORMAT])
)
def test_the_fast_way_agrees_with_the_exact_one(text: str, width: int, options: CopyOptions) -> None:
    layout = Layout((Column("a", TEXT), Column("b", INTEGER))[:width], replace(options, delimiter=","), "t")
    for block in read_blocks(io.BytesIO(text.encode()), layout.options):
        assert outcome(delimited.parse_block, block, layout) == outcome(delimited.parse_exactly, block, layout)


JSON_VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1.5, -7, 1e-7, 10**6, 10**12, "", "1", "1.5", "x", "t", "ü\n"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=3,
)


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from("inftbx"), JSON_VALUES, max_size=5), min_size=1, max_size=4))
def test_the_fast_way_with_json_agrees_with_the_exact_one(objects: list[dict[str, Any]]) -> None:
    block = Block("".join(json.dumps(item) + "\n" for item in objects).encode(), 1, b"\n")
    types = {"i": INTEGER, "n": numeric(6, 2), "f": DOUBLE, "t": TEXT, "b": BOOLEAN}
    layout = Layout(tuple(Column(name, type) for name, type in types.items()), NDJSON, "t")
    assert outcome(ndjson.parse_block, block, layout) == outcome(ndjson.parse_exactly, block, layout)


def outcome(parse: Any, block: Block, layout: Layout) -> object:
    try:
        return parse(block, layout).table.to_pylist()
    except MillpondError as error:
        return error.message, error.detail
