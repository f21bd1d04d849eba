"""Reads of views are known by their trees, as long as those are there."""

from __future__ import annotations

import gc
from dataclasses import replace
from weakref import ref

from millpond.relation import Read
from millpond.sql.parse import parse_query
from millpond.view_reads import ViewRead, ViewReads
from tests.unit.sql.catalog import Names, V


def read_of_v() -> ViewRead:
    return ViewRead(V, (Read("v", ("a", "total")),), ())


def test_a_tree_is_known_and_an_equal_one_is_not() -> None:
    reads, tree, read = ViewReads(), parse_query("SELECT * FROM v"), read_of_v()
    reads.add(tree, read)
    assert reads.find(tree, Names()) is read
    assert reads.find(parse_query("SELECT * FROM v"), Names()) is None


def test_another_relation_of_the_name_is_not_mistaken_for_the_view() -> None:
    reads, tree = ViewReads(), parse_query("SELECT * FROM v")
    reads.add(tree, replace(read_of_v(), view=replace(V, oid=7)))
    assert reads.find(tree, Names()) is None


def test_what_is_known_goes_with_the_tree() -> None:
    reads, tree, read = ViewReads(), parse_query("SELECT * FROM v"), read_of_v()
    reads.add(tree, read)
    kept = ref(read)
    del read
    assert kept() is not None
    del tree
    gc.collect()
    assert kept() is None
