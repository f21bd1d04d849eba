"""What a pond keeps: catalog, tables and streams, opened together and put right after a crash. No Spark here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from millpond.catalog import Catalog
from millpond.config import Settings
from millpond.relation import Relation
from millpond.stream import Clock, now_us
from millpond.streams import StreamStore
from millpond.table_history import Retention
from millpond.tables import TableStore
from millpond.transaction import Transaction


@dataclass
class Stores:
    """The three stores of an open pond."""

    catalog: Catalog
    tables: TableStore
    streams: StreamStore

    @classmethod
    def open(
        cls, directory: Path, scratch: Path, catalog_url: str | None, settings: Settings, clock: Clock = now_us
    ) -> Stores:
        """Open the stores. What a crash left half done is put right before anybody looks."""
        retention = Retention(settings.integer("history_retention") * 1000, settings.integer("history_versions"))
        catalog = Catalog(catalog_url or f"sqlite:///{directory / 'catalog.db'}", clock, retention)
        tables = TableStore(directory / "tables")
        streams = StreamStore(directory / "streams", scratch, settings, clock)
        relations = catalog.snapshot.relations.values()
        tables.remove_orphans(relation.oid for relation in relations if relation.kind == "table")
        streams.remove_orphans(relation.oid for relation in relations if relation.kind == "stream")
        _undo_unconfirmed(catalog, tables)
        for relation in relations:
            if relation.kind == "stream":
                streams.get(relation)
        return cls(catalog, tables, streams)

    def begin(self) -> Transaction:
        return Transaction(self.catalog, self.tables, self.streams)

    def close(self) -> None:
        self.streams.close()
        self.catalog.close()


def _undo_unconfirmed(catalog: Catalog, tables: TableStore) -> None:
    """Restore tables whose Delta log is ahead of the catalog: their transaction did not commit."""
    changes: dict[str, Relation | None] = {}
    for relation in catalog.snapshot.relations.values():
        if relation.kind == "table":
            version = tables.restore(relation)
            if version != relation.version:
                changes[relation.name] = replace(relation, version=version)
    if changes:
        catalog.commit(changes)
