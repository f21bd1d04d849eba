"""Adds each number to two tables in one transaction, for ever, and reports each that was acknowledged."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from millpond.config import Settings
from millpond.relation import Column, Relation
from millpond.stores import Stores
from millpond.tables import DataFile
from millpond.transaction import Transaction
from millpond.types import BIGINT

TABLES = ("left", "right")
COLUMNS = (Column("n", BIGINT),)


def main(directory: Path) -> None:
    """Open, create the tables if they are new, and write until killed."""
    print("open", flush=True)
    stores = Stores.open(directory, directory / "scratch", None, Settings())
    if not stores.catalog.snapshot.relations:
        create(stores)
    print("write", flush=True)
    number = max(numbers(stores, "left"), default=0)
    while True:
        number += 1
        transaction = stores.begin()
        for name in TABLES:
            change(stores, transaction, name, number)
        transaction.commit()
        print(f"ack {number}", flush=True)


def create(stores: Stores) -> None:
    transaction = stores.begin()
    for name in TABLES:
        relation = Relation(stores.catalog.new_oid(), name, "table", COLUMNS)
        transaction.create(relation)
        stores.tables.create(relation.oid, COLUMNS)
    transaction.commit()


def change(stores: Stores, transaction: Transaction, name: str, number: int) -> None:
    """Add a number; now and then put all files into one, as an UPDATE would."""
    relation = transaction.relation(name)
    assert relation is not None
    values, removed = [number], tuple[DataFile, ...]()
    if number % 7 == 0:
        values, removed = [number, *numbers(stores, name)], transaction.files(relation)
    staged = stores.tables.stage(relation.oid, pa.table({"n": pa.array(values, pa.int64())}))
    transaction.write(relation, added=[staged], removed=removed)


def numbers(stores: Stores, name: str) -> list[int]:
    """The numbers that a table holds, as the catalog sees it."""
    relation = stores.catalog.snapshot.relations[name]
    paths = stores.tables.paths(relation.oid, stores.tables.files(relation))
    return [int(str(value)) for path in paths for value in pq.read_table(path)["n"].to_pylist()]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
