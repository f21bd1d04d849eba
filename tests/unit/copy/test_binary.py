"""COPY's binary format: what is written is read again, and what is broken is refused."""

from __future__ import annotations

import io
from decimal import Decimal

import pyarrow as pa
import pytest

from millpond import types
from millpond.copy import CopyOptions, OutputColumn, read, write
from millpond.copy.binary import HEADER, TRAILER
from millpond.errors import MillpondError
from millpond.relation import Column
from millpond.values.arrays import Array

COLUMNS = (Column("id", types.INTEGER), Column("name", types.TEXT), Column("price", types.numeric(8, 2)))
BINARY = CopyOptions(format="binary")
TABLE = pa.table(
    {
        "id": pa.array([1, None], pa.int32()),
        "name": ["a\n", None],
        "price": pa.array([Decimal("1.50"), None], pa.decimal128(8, 2)),
    }
)


def written(table: pa.Table) -> bytes:
    file = io.BytesIO()
    assert write([table], [OutputColumn(one.name, one.type) for one in COLUMNS], file, BINARY) == table.num_rows
    return file.getvalue()


def read_back(data: bytes) -> list[pa.Table]:
    return list(read(io.BytesIO(data), COLUMNS, BINARY, "t"))


def test_bytes_are_those_of_postgresql() -> None:
    assert written(TABLE) == (
        HEADER
        + bytes.fromhex("0003 00000004 00000001 00000002 610a 0000000c 0002 0000 0000 0002 0001 1388")
        + bytes.fromhex("0003 ffffffff ffffffff ffffffff")
        + TRAILER
    )


def test_rows_come_back() -> None:
    assert [table.to_pylist() for table in read_back(written(TABLE))] == [TABLE.to_pylist()]
    assert read_back(written(TABLE.slice(0, 0))) == []


def test_many_rows_come_back_in_tables() -> None:
    rows = 70_000
    arrays: list[Array] = [
        pa.array(range(rows), pa.int32()),
        pa.nulls(rows, pa.string()),
        pa.nulls(rows, pa.decimal128(8, 2)),
    ]
    table = pa.table(arrays, names=["id", "name", "price"])
    assert sum(part.num_rows for part in read_back(written(table))) == rows


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "unexpected EOF in COPY data"),
        (b"not a COPY file at all", "COPY file signature not recognized"),
        (HEADER, "unexpected EOF in COPY data"),
        (HEADER + b"\0\2", "row field count is 2, expected 3"),
        (HEADER + b"\0\3\xff\xff\xff\xfe", "invalid field size"),
        (HEADER + b"\0\3\0\0\0\2\0\1\xff\xff\xff\xff\xff\xff\xff\xff" + TRAILER, "incorrect binary data format"),
    ],
)
def test_broken_files_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(MillpondError) as caught:
        read_back(data)
    assert caught.value.message == message
