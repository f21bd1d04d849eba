"""Tables that one transaction drops while others use them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from millpond.catalog import Catalog
from millpond.config import Settings
from millpond.errors import MillpondError
from millpond.relation import Column, Relation
from millpond.streams import StreamStore
from millpond.tables import TableStore
from millpond.transaction import Transaction
from millpond.types import INTEGER

COLUMNS = (Column("a", INTEGER),)
ROWS = pa.table({"a": pa.array([1, 2], pa.int32())})

Begin = Callable[[], Transaction]


@pytest.fixture
def tables(tmp_path: Path) -> TableStore:
    return TableStore(tmp_path / "tables")


@pytest.fixture
def begin(tmp_path: Path, tables: TableStore) -> Iterator[Begin]:
    """A pond's transactions, with a table `t` that has one file."""
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    streams = StreamStore(tmp_path / "streams", tmp_path / "scratch", Settings())

    def new() -> Transaction:
        return Transaction(catalog, tables, streams)

    create_t(new(), tables, 100)
    yield new
    catalog.close()


def create_t(transaction: Transaction, tables: TableStore, oid: int) -> None:
    table = Relation(oid, "t", "table", COLUMNS, version=tables.create(oid, COLUMNS))
    transaction.create(table)
    transaction.hold(table)
    transaction.write(table, added=[tables.stage(oid, ROWS)])
    transaction.commit()


def t_of(transaction: Transaction) -> Relation:
    found = transaction.relation("t")
    assert found is not None
    return found


def drop_t(transaction: Transaction) -> None:
    transaction.drop(t_of(transaction))
    transaction.commit()


def test_a_table_that_is_used_stays_until_nobody_does(begin: Begin, tables: TableStore) -> None:
    reader = begin()
    (file,) = reader.files(t_of(reader))
    drop_t(begin())
    assert reader.files(t_of(reader)) == (file,)
    assert (tables.directory_of(100) / file.path).exists()
    reader.rollback()
    assert not tables.directory_of(100).exists()


@pytest.mark.parametrize("use", [Transaction.files, Transaction.hold])
def test_a_table_that_was_dropped_before_it_was_used_is_not_there(
    begin: Begin, use: Callable[[Transaction, Relation], object]
) -> None:
    late = begin()
    drop_t(begin())
    for _ in range(2):  # a transaction can go on after an error, behind a savepoint
        with pytest.raises(MillpondError, match='relation "t" does not exist') as caught:
            use(late, t_of(late))
        assert caught.value.sqlstate == "42P01"


def test_another_table_of_the_name_is_a_conflict(begin: Begin, tables: TableStore) -> None:
    late = begin()
    drop_t(begin())
    create_t(begin(), tables, 101)
    with pytest.raises(MillpondError, match="could not serialize access") as caught:
        late.files(t_of(late))
    assert caught.value.sqlstate == "40001"


def test_a_table_that_was_renamed_is_still_there(begin: Begin) -> None:
    reader, writer = begin(), begin()
    writer.rename(t_of(writer), "u")
    writer.commit()
    assert len(reader.files(t_of(reader))) == 1
