"""Differences of answers: applied to the old answer they give the new one, whatever values the rows hold."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millpond.run.difference import difference

COLUMNS: dict[str, pa.DataType] = {
    "k": pa.string(),
    "x": pa.float64(),
    "d": pa.decimal128(6, 2),
    "a": pa.list_(pa.int32()),
    "n": pa.int64(),
}
Row = tuple[Any, ...]

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", None]),
        st.sampled_from([0.0, -0.0, 1.5, math.nan, None]),
        st.sampled_from([Decimal("1.10"), Decimal("-2.00"), None]),
        st.sampled_from([[1, None], [], None]),
        st.integers(0, 1),
    ),
    max_size=8,
)


def table(rows: list[Row]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    return pa.table(
        {name: pa.array(list(column), COLUMNS[name]) for name, column in zip(COLUMNS, columns, strict=True)}
    )


def shown(rows: pa.Table) -> list[str]:
    """Rows in a form in which equal ones are equal: NaN is not, but its text is."""
    return [str(row) for row in zip(*(column.to_pylist() for column in rows.columns), strict=True)]


def applied(old: pa.Table, changes: pa.Table) -> Counter[str]:
    rows = Counter(shown(old))
    kinds = changes.column("change").to_pylist()
    for kind, row in zip(kinds, shown(changes.drop_columns(["change"])), strict=True):
        rows[row] += 1 if kind in ("insert", "update_new") else -1
        assert rows[row] >= 0, "a row is deleted that is not there"
    return +rows


@settings(deadline=None)
@given(ROWS, ROWS, st.sampled_from([None, (), (0,), (0, 1), (1,)]))
def test_changes_make_the_new_answer_of_the_old_one(
    old: list[Row], new: list[Row], key: tuple[int, ...] | None
) -> None:
    before, after = table(old), table(new)
    assert applied(before, difference(before, after, key)) == Counter(shown(after))


@settings(deadline=None)
@given(ROWS)
def test_the_order_of_rows_is_no_difference(rows: list[Row]) -> None:
    assert difference(table(rows), table(rows[::-1]), None).num_rows == 0


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["a", "b", "c", None]), st.integers(0, 2)), st.data())
def test_a_key_makes_updates(old: dict[str | None, int], data: st.DataObject) -> None:
    new = data.draw(st.dictionaries(st.sampled_from(["a", "b", "c", None]), st.integers(0, 2)))

    def keyed(values: dict[str | None, int]) -> pa.Table:
        return pa.table({"k": pa.array(list(values), pa.string()), "n": pa.array(list(values.values()), pa.int64())})

    changes = difference(keyed(old), keyed(new), (0,)).to_pylist()
    expected = [("delete", k, n) for k, n in old.items() if k not in new]
    both = [k for k in old if k in new and old[k] != new[k]]
    expected += [change for k in both for change in (("update_old", k, old[k]), ("update_new", k, new[k]))]
    expected += [("insert", k, n) for k, n in new.items() if k not in old]
    assert sorted(map(str, (tuple(one.values()) for one in changes))) == sorted(map(str, expected))
    kinds = [one["change"] for one in changes]
    pairs = [(one, two) for one, two in itertools.pairwise(changes) if one["change"] == "update_old"]
    assert all(two["change"] == "update_new" and one["k"] == two["k"] for one, two in pairs)
    assert kinds == sorted(kinds, key={"delete": 0, "update_old": 1, "update_new": 1, "insert": 2}.__getitem__)


@pytest.mark.parametrize(("old", "new"), [([1, 1, 1], [1]), ([], [2, 2]), ([1, 2], [2, 1, 1])])
def test_duplicates_count(old: list[int], new: list[int]) -> None:
    changes = difference(pa.table({"n": pa.array(old, pa.int64())}), pa.table({"n": pa.array(new, pa.int64())}), (0,))
    gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
    kinds = changes.column("change").to_pylist()
    assert kinds == ["delete"] * gone.total() + ["insert"] * come.total()
