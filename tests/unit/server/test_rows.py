"""Rows on the wire: the fast way for many rows and the way for few say the same."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond import types
from millpond.result import ResultColumn
from millpond.server import rows
from millpond.server.types import field_of, type_of_parameter
from millpond.wire.backend import BACKEND, DataRow
from millpond.wire.decoder import Decoder

COLUMNS = (
    ResultColumn("a", types.BIGINT),
    ResultColumn("b", types.TEXT),
    ResultColumn("c", types.DOUBLE),
)
ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
        st.none() | st.floats(allow_nan=False),
    ),
    max_size=40,
)


def decoded(data: bytes) -> list[tuple[bytes | None, ...]]:
    decoder = Decoder(BACKEND)
    decoder.feed(data)
    found = []
    while (message := decoder.message()) is not None:
        assert isinstance(message, DataRow)
        found.append(message.values)
    return found


def table_of(data: list[tuple[object, ...]]) -> pa.Table:
    lists = zip(*data, strict=True) if data else [()] * len(COLUMNS)
    arrays = [pa.array(list(values), column.type.arrow) for values, column in zip(lists, COLUMNS, strict=True)]
    return pa.table(arrays, names=["a", "b", "c"])


@given(ROWS, st.lists(st.sampled_from([0, 1]), min_size=3, max_size=3))
def test_many_rows_are_encoded_like_few(data: list[tuple[object, ...]], formats: list[int]) -> None:
    table = table_of(data)
    few = b"".join(b"".join(rows.encode_rows(table.slice(at, 1), COLUMNS, formats)) for at in range(len(data)))
    many = b"".join(rows.encode_rows(table, COLUMNS, formats))
    assert many == few
    assert len(decoded(many)) == len(data)


def test_texts_are_those_of_postgresql() -> None:
    table = table_of([(1, "é", 1e20), (None, None, None)])
    assert decoded(b"".join(rows.encode_rows(table, COLUMNS, [0, 0, 0]))) == [
        (b"1", "é".encode(), b"1e+20"),
        (None, None, None),
    ]


def test_large_results_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "SLICE_ROWS_MAX", 100)
    table = table_of([(number, "x" * 10, 0.5) for number in range(1050)])
    pieces = list(rows.encode_rows(table, COLUMNS, [0, 0, 0]))
    assert len(pieces) == 11
    assert [row[0] for row in decoded(b"".join(pieces))] == [str(number).encode() for number in range(1050)]


def test_values_are_sent_as_the_type_that_was_announced() -> None:
    announced = (ResultColumn("n", types.numeric(12, 2)), ResultColumn("i", types.BIGINT))
    table = pa.table({"n": [Decimal("1.500")], "i": pa.array([7], pa.int32())})
    assert decoded(b"".join(rows.encode_rows(table, announced, [0, 1]))) == [(b"1.500", (7).to_bytes(8, "big"))]


def test_fields_carry_oid_size_and_modifier() -> None:
    price = field_of(ResultColumn("price", types.numeric(10, 2)), 1)
    assert (price.type, price.size, price.modifier, price.format) == (1700, -1, (10 << 16 | 2) + 4, 1)
    assert field_of(ResultColumn("name", types.varchar(5)), 0).modifier == 9
    assert type_of_parameter(0) is None
    assert type_of_parameter(20) == types.BIGINT
