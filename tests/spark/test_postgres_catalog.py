"""A pond whose catalog is in PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

import millpond
from millpond import MillpondError


def test_a_pond_with_its_catalog_in_postgresql(shared_spark: None, postgres: str, tmp_path: Path) -> None:
    with millpond.connect(tmp_path / "p", master="local[2]", catalog=postgres) as pond:
        pond.execute("CREATE TABLE t (a int PRIMARY KEY); CREATE STREAM s (a int)")
        pond.execute("BEGIN; INSERT INTO t VALUES (1), (2); INSERT INTO s VALUES (3); COMMIT")
        with pytest.raises(MillpondError, match="catalog is already in use by another pond") as caught:
            millpond.connect(tmp_path / "q", master="local[2]", catalog=postgres)
        assert caught.value.sqlstate == "55006"
    assert not (tmp_path / "p" / "catalog.db").exists()
    with millpond.connect(tmp_path / "p", master="local[2]", catalog=postgres) as pond:
        assert pond.execute("SELECT sum(a) FROM t").fetchall() == [(3,)]
        assert pond.execute("SELECT tid, a FROM s").fetchall() == [(0, 3)]
