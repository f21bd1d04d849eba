"""Panes and blocks: whatever was added, merged and forgotten, a window is covered by what its panes have."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from millpond.state.pane_tree import FANOUT, PIECES_MAX, Block, PaneTree, labelled, split_by


def rows(values: list[tuple[int | None, int]]) -> pa.Table:
    """Partials of panes, each with an amount."""
    return pa.table(
        {
            "pane": pa.array([pane for pane, _ in values], pa.int64()),
            "amount": pa.array([amount for _, amount in values], pa.int64()),
        }
    )


def amount_of(table: pa.Table) -> int:
    return sum(amount for amount in table.column("amount").to_pylist() if amount is not None)


def merged(tree: PaneTree, blocks: dict[Block, list[pa.Table]]) -> dict[Block, pa.Table]:
    """Blocks as a query would merge them: one row with the sum."""
    found = {}
    for (level, place), tables in blocks.items():
        total = sum(map(amount_of, tables))
        found[level, place] = labelled([rows([(0, total)])], tree.pane, place * FANOUT**level)
    return found


def total(tree: PaneTree, first: int, last: int) -> int:
    return sum(map(amount_of, tree.cover(first, last)))


PANES = st.integers(-40, 400)
AMOUNTS = st.integers(0, 9)


@given(
    st.lists(st.lists(st.tuples(PANES, AMOUNTS), min_size=1, max_size=30), max_size=12),
    st.integers(-40, 400),
    st.integers(0, 300),
    st.integers(-60, 100),
)
def test_a_cover_has_what_its_panes_have(
    adds: list[list[tuple[int, int]]], first: int, width: int, expired: int
) -> None:
    tree, known = PaneTree("pane"), Counter[int]()
    for place, added in enumerate(adds):
        tree.add(rows(list(added)))
        for pane, amount in added:
            known[pane] += amount
        if place % 2:
            while blocks := tree.unmerged(closed=300, widest=400):
                tree.put(merged(tree, blocks))
        if place == 5:
            tree.expire(expired)
            known = Counter({pane: amount for pane, amount in known.items() if pane >= expired})
    last = first + width
    assert total(tree, first, last) == sum(amount for pane, amount in known.items() if first <= pane <= last)


def test_a_window_of_many_panes_is_covered_by_few_tables() -> None:
    tree = PaneTree("pane")
    tree.add(rows([(pane, 1) for pane in range(2048)]))
    while blocks := tree.unmerged(closed=2048, widest=2048):
        tree.put(merged(tree, blocks))
    assert total(tree, 5, 2044) == 2040
    assert len(tree.cover(5, 2044)) <= 6 * FANOUT


def test_pieces_of_a_pane_are_merged_when_they_are_many() -> None:
    tree = PaneTree("pane")
    for _ in range(PIECES_MAX + 1):
        tree.add(rows([(3, 2)]))
    tree.put(merged(tree, tree.unmerged(closed=0, widest=1)))
    assert [table.to_pylist() for table in tree.cover(3, 3)] == [[{"pane": 3, "amount": 2 * (PIECES_MAX + 1)}]]


def test_rows_without_a_place_are_in_no_pane() -> None:
    assert [pane for pane, _ in split_by(rows([(None, 1), (2, 1), (None, 3), (1, 1)]), "pane")] == [1, 2]
