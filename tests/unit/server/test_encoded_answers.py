"""Encoded answers: found for the very table they were made of, kept within a bound, refused if large."""

from __future__ import annotations

import pyarrow as pa

from millpond.result import ResultColumn
from millpond.server.encoded_answers import ANSWER_BYTES_MAX, EncodedAnswers
from millpond.server.rows import encode_rows
from millpond.types import INTEGER

COLUMNS = (ResultColumn("a", INTEGER),)


def rows(count: int) -> pa.Table:
    return pa.table({"a": pa.array(range(count), pa.int32())})


def test_a_table_is_encoded_once() -> None:
    answers, table = EncodedAnswers(), rows(3)
    assert answers.find(table, [0]) is None
    data = answers.encode(table, COLUMNS, [0])
    assert data == b"".join(encode_rows(table, COLUMNS, [0]))
    assert answers.find(table, [0]) is data
    assert answers.encode(table, COLUMNS, [0]) is data


def test_other_formats_and_equal_tables_are_not_mistaken_for_it() -> None:
    answers, table = EncodedAnswers(), rows(3)
    answers.encode(table, COLUMNS, [0])
    assert answers.find(table, [1]) is None
    assert answers.find(rows(3), [0]) is None
    assert answers.encode(table, COLUMNS, [1]) != answers.encode(table, COLUMNS, [0])


def test_the_oldest_go_when_there_is_no_more_room() -> None:
    answers = EncodedAnswers(bytes_max=1000)
    tables = [rows(10) for _ in range(20)]
    for table in tables:
        answers.encode(table, COLUMNS, [0])
    known = [answers.find(table, [0]) is not None for table in tables]
    assert known == sorted(known)
    assert 0 < sum(known) < 10


def test_large_answers_are_not_kept() -> None:
    answers = EncodedAnswers()
    assert answers.encode(rows(ANSWER_BYTES_MAX), COLUMNS, [0]) is None
    wide = rows(ANSWER_BYTES_MAX // 8)
    assert answers.encode(wide, COLUMNS, [0]) is not None
    assert answers.find(wide, [0]) is None
