"""Rows of a window that is joined with another, taken out of the arrays in which they are kept."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from millpond.plan.paired import PANE
from millpond.run.paired_rows import unnested

ITEMS = pa.list_(pa.struct([("c0", pa.int64()), ("c1", pa.string())]))

structs = st.fixed_dictionaries({"c0": st.none() | st.integers(0, 9), "c1": st.none() | st.sampled_from("ab")})


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.none() | st.lists(structs, max_size=4)), max_size=6), st.integers(0, 3)
)
def test_rows_come_out_of_arrays_with_their_panes(
    kept: list[tuple[int, list[dict[str, object]] | None]], skipped: int
) -> None:
    panes, items = [pane for pane, _ in kept], [rows for _, rows in kept]
    table = pa.table({"k0": pa.array(panes, pa.int64()), "p0": pa.array(items, ITEMS)}).slice(skipped)
    found = unnested(table, "p0", "k0", {"c1": None})
    assert found.to_pylist() == [{"c1": row["c1"], PANE: pane} for pane, rows in kept[skipped:] for row in rows or []]
