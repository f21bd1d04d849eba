"""COPY FROM: files of every format into tables, and errors that name the line and the column."""

import io
from collections.abc import Generator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from millpond.copy import CSV, CopyOptions, binary, blocks, read
from millpond.errors import MillpondError
from millpond.relation import Column
from millpond.types import BIGINT, BOOLEAN, DATE, DOUBLE, INTEGER, TEXT, numeric, varchar

COLUMNS = (Column("id", INTEGER), Column("name", TEXT))
TEXT_FORMAT = CopyOptions()
NDJSON = CopyOptions(format="ndjson")
INVALID = 'invalid input syntax for type integer: "{}"'


def rows(
    data: bytes | Path, options: CopyOptions, columns: Sequence[Column] = COLUMNS, **more: Any
) -> list[tuple[Any, ...]]:
    source = data if isinstance(data, Path) else io.BytesIO(data)
    return [tuple(row.values()) for table in read(source, columns, options, "t", **more) for row in table.to_pylist()]


def failure(data: bytes, options: CopyOptions, columns: Sequence[Column] = COLUMNS) -> tuple[str, str, str | None]:
    with pytest.raises(MillpondError) as caught:
        rows(data, options, columns)
    return caught.value.sqlstate, caught.value.message, caught.value.detail


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"1,a\n2,b\n", [(1, "a"), (2, "b")]),
        (b"1,a", [(1, "a")]),
        (b"", []),
        (b",\n", [(None, None)]),
        (b'1,""\n', [(1, "")]),
        (b'"1",', [(1, None)]),
        (b'1,"a,b\nc"\n2,d\n', [(1, "a,b\nc"), (2, "d")]),
        (b'1,"say ""hi"""\n', [(1, 'say "hi"')]),
        (b'1,a"b,c"d\n', [(1, "ab,cd")]),
        (b'1,""b\n', [(1, "b")]),
        (b"1,a\r\n2,b\r\n", [(1, "a"), (2, "b")]),
        (b'1,"a\r\nb"\r\n', [(1, "a\r\nb")]),
        (b"1,a\r2,b\r", [(1, "a"), (2, "b")]),
        (b"\xef\xbb\xbf1,a\n", [(1, "a")]),
        (b" 1 , a \n+2,b\n0x1F,c\n", [(1, " a "), (2, "b"), (31, "c")]),
        (b"1,a\n\\.\n2,b\n", [(1, "a")]),
        ('1,"ü\n\nx"\n'.encode(), [(1, "ü\n\nx")]),
    ],
)
def test_csv(data: bytes, expected: list[tuple[Any, ...]]) -> None:
    assert rows(data, CSV) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"1\ta\n2\tb\n", [(1, "a"), (2, "b")]),
        (b"\\N\t\\N\n", [(None, None)]),
        (b"1\t\n", [(1, "")]),
        (b"1\ta\\tb\\\\\\n\n", [(1, "a\tb\\\n")]),
        (b"1\ta\\\tb\n", [(1, "a\tb")]),
        (b"1\ta\\\nb\n2\tc\n", [(1, "a\nb"), (2, "c")]),
        (b"1\t\\x41\\102\\303\\274\n", [(1, "ABü")]),
        (b'1\t"a"\n', [(1, '"a"')]),
        (b"1\t\\\\N\n", [(1, "\\N")]),
        (b"1\ta\r\n2\tb\r\n", [(1, "a"), (2, "b")]),
        (b"1\ta\n\\.\nrubbish\n", [(1, "a")]),
    ],
)
def test_text(data: bytes, expected: list[tuple[Any, ...]]) -> None:
    assert rows(data, TEXT_FORMAT) == expected


def test_every_type_by_the_column() -> None:
    columns = (
        Column("a", BIGINT),
        Column("b", numeric(4, 2)),
        Column("c", BOOLEAN),
        Column("d", DATE),
        Column("e", DOUBLE),
        Column("f", varchar(2)),
    )
    data = b"1,1.005,t,2024-01-31,1e-3,ab\n2,2,yes,20240201,NaN,cd  \n,,,,,\n"
    found = rows(data, CSV, columns)
    assert [str(value) for value in found[0]] == ["1", "1.01", "True", "2024-01-31", "0.001", "ab"]
    assert [str(value) for value in found[1]] == ["2", "2.00", "True", "2024-02-01", "nan", "cd"]
    assert found[2] == (None,) * 6


@pytest.mark.parametrize(
    ("data", "options", "message", "detail"),
    [
        (b"1,a\nabc,b\n", CSV, INVALID.format("abc"), 'COPY t, line 2, column id: "abc"'),
        (b"1,a\n2\n", CSV, 'missing data for column "name"', 'COPY t, line 2: "2"'),
        (b"1,a\nx\n", CSV, INVALID.format("x"), 'COPY t, line 2, column id: "x"'),
        (b"1,a\n\n", CSV, 'missing data for column "name"', 'COPY t, line 2: ""'),
        (b"1,a,b\n", CSV, "extra data after last expected column", 'COPY t, line 1: "1,a,b"'),
        (b'1,"a\n', CSV, "unterminated CSV quoted field", 'COPY t, line 2: "1,"a\n"'),
        (b'1,"a\nb"\nx,y\n', CSV, INVALID.format("x"), 'COPY t, line 3, column id: "x"'),
        (b"1,a\n2,b\r\n", CSV, "unquoted carriage return found in data", 'COPY t, line 2: "2,b"'),
        (b"1,a\r\n2,b\n", CSV, "unquoted newline found in data", 'COPY t, line 2: "2,b"'),
        (b"1,a\n2,\xff\n", CSV, 'invalid byte sequence for encoding "UTF8": 0xff', 'COPY t, line 2: "2,"'),
        (b"1,a\n2,\0\n", CSV, 'invalid byte sequence for encoding "UTF8": 0x00', 'COPY t, line 2: "2,"'),
        (b"x\ta\n", TEXT_FORMAT, INVALID.format("x"), 'COPY t, line 1, column id: "x"'),
        (b"1\ta\\.\n", TEXT_FORMAT, "end-of-copy marker is not on its own line", 'COPY t, line 1: "1\ta\\."'),
        (b'{"id": 1}\n{"id": "x"}\n', NDJSON, INVALID.format("x"), 'COPY t, line 2, column id: "x"'),
        (b'{"id": 1}\n[1]\n', NDJSON, "expected a JSON object on each line", 'COPY t, line 2: "[1]"'),
        (b'{"nam": 1}\n', NDJSON, 'column "nam" of relation "t" does not exist', 'COPY t, line 1: "{"nam": 1}"'),
    ],
)
def test_errors_name_the_place(data: bytes, options: CopyOptions, message: str, detail: str) -> None:
    sqlstate, found_message, found_detail = failure(data, options)
    assert (found_message, found_detail) == (message, detail)
    assert sqlstate == {"invalid input": "22P02", "expected a JS": "22P02", 'column "nam" ': "42703"}.get(
        message[:13], "22P04"
    )


def test_numeric_overflow_is_found_on_the_fast_way() -> None:
    sqlstate, message, detail = failure(b"211\n", CSV, (Column("x", numeric(4, 2)),))
    assert (sqlstate, message) == ("22003", "numeric field overflow")
    assert detail is not None
    assert detail.endswith('less than 10^2.\nCOPY t, line 1, column x: "211"')


def test_headers() -> None:
    assert rows(b'"id",name\n1,a\n', replace(CSV, header=True)) == [(1, "a")]
    assert rows(b'id,"na\nme"\n1,a\n', replace(CSV, header=True)) == [(1, "a")]
    assert rows(b"id,name\n1,a\n", replace(CSV, header="match")) == [(1, "a")]
    assert failure(b"id\n1\n", replace(CSV, header="match"))[1] == (
        "wrong number of fields in header line: got 1, expected 2"
    )
    assert failure(b"id,nom\n1,a\n", replace(CSV, header="match"))[1] == (
        'column name mismatch in header line field 2: got "nom", expected "name"'
    )
    assert failure(b"id,name\nx,a\n", replace(CSV, header=True))[2] == 'COPY t, line 2, column id: "x"'


def test_null_options() -> None:
    options = replace(CSV, null="-", force_not_null=("name",))
    assert rows(b'-,-\n1,"-"\n', options) == [(None, "-"), (1, "-")]
    assert rows(b'1,"-"\n', replace(CSV, null="-")) == [(1, "-")]
    assert rows(b'1,"-"\n', replace(CSV, null="-", force_null="*")) == [(1, None)]
    with pytest.raises(MillpondError, match='FORCE_NULL column "x" not referenced by COPY'):
        rows(b"", replace(CSV, force_null=("x",)))


def test_default_option() -> None:
    options = replace(CSV, default="\\D")
    assert rows(b'1,\\D\n2,"\\D"\n', options, defaults={"name": pa.scalar("none")}) == [(1, "none"), (2, "\\D")]
    assert rows(b"1,\\D\n", options) == [(1, None)]


def test_other_quotes_and_escapes() -> None:
    options = replace(CSV, delimiter="|", quote="'", escape="\\")
    assert rows(b"1|'a|\\'b\\\\c\nd'\n2|e\\f\n", options) == [(1, "a|'b\\c\nd"), (2, "e\\f")]


def test_other_encodings() -> None:
    assert rows("1,ü\n".encode("latin-1"), replace(CSV, encoding="latin-1")) == [(1, "ü")]
    assert rows("1,ü\n".encode("utf-16"), replace(CSV, encoding="utf-16")) == [(1, "ü")]


def test_bad_rows_can_be_skipped() -> None:
    reader = read(io.BytesIO(b"1,a\nx,b\n3,c\ny,d\n"), COLUMNS, replace(CSV, on_error="ignore"), "t")
    assert [table.to_pydict() for table in reader] == [{"id": [1, 3], "name": ["a", "c"]}]
    assert reader.skipped == 2


def test_json_lines() -> None:
    columns = (*COLUMNS, Column("x", numeric(30, 10)), Column("ok", BOOLEAN))
    data = (
        b'{"id": 1, "name": {"a": [1.50, "b", null]}, "x": 0.1000000001}\n\n'
        b'{"ok": true, "name": "\\u00fc", "id": "2", "x": null}\n'
    )
    assert rows(data, NDJSON, columns) == [
        (1, '{"a": [1.50, "b", null]}', Decimal("0.1000000001"), None),
        (2, "ü", None, True),
    ]


def test_json_that_is_too_deep() -> None:
    for depth in (900, 100_000):
        deep = b'{"name": ' + b"[" * depth + b"]" * depth + b"}"
        assert failure(deep, NDJSON)[:2] == ("54000", "JSON is nested too deeply")
    assert failure(b'{"id": 1},{"id": 2}\n', NDJSON)[1] == "invalid input syntax for type json"
    assert failure(b'{"id": 1\n}\n', NDJSON)[1] == "invalid input syntax for type json"


@pytest.mark.parametrize("line", [b'{"name": "\xff"}', b'{"name": "\\ud800"}', b'{"id": 1}{"id": 2}', b'{"id": 1'])
def test_bad_json(line: bytes) -> None:
    assert failure(line + b"\n", NDJSON)[0] in ("22P02", "22P04")


def test_parquet_is_matched_by_name(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"name": ["a", None], "id": pa.array([1, 2], pa.int64())}), path)
    (table,) = read(path, COLUMNS, CopyOptions(format="parquet"), "t")
    assert table.schema.field("id").type == pa.int32()
    assert table.to_pydict() == {"name": ["a", None], "id": [1, 2]}
    (tmp_path / "bad").write_bytes(b"no")
    with pytest.raises(MillpondError, match="not a Parquet file"):
        rows(tmp_path / "bad", CopyOptions(format="parquet"))


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(MillpondError) as caught:
        rows(tmp_path / "none.csv", CSV)
    assert caught.value.sqlstate == "58P01"
    assert caught.value.message.endswith('none.csv" for reading: No such file or directory')


class Dribble(io.RawIOBase):
    """A source that hands over a few bytes at a time, as sockets do."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = data

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        head, self._data = self._data[: min(size, 3)], self._data[min(size, 3) :]
        return head


def test_blocks_are_cut_between_records() -> None:
    data = "".join(f'{i},"a\n""{i}"\n' for i in range(200)).encode()
    expected = [(i, f'a\n"{i}') for i in range(200)]
    cut: list[blocks.Block] = []
    for size in (1, 7, 64, 1 << 20):
        cut = list(blocks.read_blocks(io.BytesIO(data), CSV, block_bytes=size))
        assert b"".join(block.data for block in cut) == data
        assert [block.line for block in cut] == [1 + data[: data.index(block.data)].count(b"\n") for block in cut]
        assert all(block.data.count(b'"') % 2 == 0 for block in cut)
    assert len(cut) == 1
    assert rows(data, CSV) == expected
    source: Any = Dribble(data)
    assert [tuple(row.values()) for table in read(source, COLUMNS, CSV, "t") for row in table.to_pylist()] == expected


def test_progress_and_order_over_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks.read_blocks, "__kwdefaults__", {"block_bytes": 100})
    data = b"".join(b"%d,x\n" % i for i in range(1000))
    seen: list[tuple[int, int]] = []
    assert rows(data, CSV, progress=lambda done, size: seen.append((done, size))) == [(i, "x") for i in range(1000)]
    assert seen[-1] == (1000, len(data))
    assert seen == sorted(seen)
    assert len(seen) > 10
    assert failure(data + b"y,x\n", CSV)[2] == 'COPY t, line 1001, column id: "y"'


def test_reading_can_be_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks.read_blocks, "__kwdefaults__", {"block_bytes": 10})
    tables = iter(read(io.BytesIO(b"1,a\n" * 1000), COLUMNS, CSV, "t"))
    assert next(tables).num_rows
    assert isinstance(tables, Generator)
    tables.close()


@pytest.mark.parametrize(
    ("options", "data"),
    [
        (CSV, b'1,"' + b"x" * 9_000_000),
        (CopyOptions("binary"), binary.SIGNATURE + bytes(8) + b"\0\2\0\0\0\4" + bytes(4) + b"\x7f\xff\xff\xff"),
    ],
    ids=["csv", "binary"],
)
def test_a_record_that_would_not_fit_into_memory(options: CopyOptions, data: bytes) -> None:
    columns = [Column("a", INTEGER), Column("b", TEXT)]
    with pytest.raises(MillpondError) as caught:
        list(read(io.BytesIO(data), columns, options, "t", record_bytes_max=1 << 20))
    assert caught.value.sqlstate == "54000"
    assert caught.value.message == "a record is longer than 1048576 bytes"


def test_parquet_from_a_client_need_not_be_seekable(tmp_path: Path) -> None:
    rows = pa.table({"a": pa.array([1, 2], pa.int32())})
    pq.write_table(rows, tmp_path / "a.parquet")

    class Sent(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise io.UnsupportedOperation("seek")

    options = CopyOptions("parquet")
    (table,) = read(Sent((tmp_path / "a.parquet").read_bytes()), [Column("a", INTEGER)], options, "t")
    assert table == rows
