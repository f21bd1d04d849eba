"""COPY through the pond: all or nothing, into tables and streams, with progress and errors that name the line."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from millpond import MillpondError, Pond

CSV = b'1,Wheel,t\n2,"Seat, ""red""",f\n3,,\n4,"",t\n'


@pytest.mark.parametrize("kind", ["TABLE", "STREAM"])
def test_csv_in_and_out(pond: Pond, tmp_path: Path, kind: str) -> None:
    pond.execute(f"CREATE {kind} t (a int, b text, c boolean, d text DEFAULT 'x')")
    (tmp_path / "in.csv").write_bytes(CSV)
    result = pond.execute(f"COPY t (a, b, c) FROM '{tmp_path}/in.csv' (FORMAT csv)")
    assert (result.tag, result.rowcount) == ("COPY 4", 4)
    rows = pond.execute("SELECT * FROM t ORDER BY a").fetchall()
    assert rows == [
        (1, "Wheel", True, "x"),
        (2, 'Seat, "red"', False, "x"),
        (3, None, None, "x"),
        (4, "", True, "x"),
    ]
    out = io.BytesIO()
    pond.execute("COPY (SELECT a, b, c FROM t ORDER BY a) TO STDOUT (FORMAT csv)", stdout=out)
    assert out.getvalue() == CSV


@pytest.mark.parametrize("kind", ["TABLE", "STREAM"])
def test_a_bad_line_changes_nothing_and_is_named(pond: Pond, kind: str) -> None:
    pond.execute(f"CREATE {kind} t (a int NOT NULL, b text)")
    lines = "".join(f"{n},x\n" for n in range(100_000)) + "oops,y\n"
    with pytest.raises(MillpondError) as caught:
        pond.execute("COPY t FROM STDIN (FORMAT csv)", stdin=io.BytesIO(lines.encode()))
    assert caught.value.sqlstate == "22P02"
    assert caught.value.message == 'invalid input syntax for type integer: "oops"'
    assert 'COPY t, line 100001, column a: "oops"' in (caught.value.detail or "")
    with pytest.raises(MillpondError, match="null value in column"):
        pond.execute("COPY t FROM STDIN (FORMAT csv)", stdin=io.BytesIO(b"1,x\n,y\n"))
    assert pond.execute("SELECT count(*) FROM t").fetchall() == [(0,)]


def test_rows_of_a_copy_have_consecutive_tids_and_progress_is_told(pond: Pond) -> None:
    pond.execute("CREATE STREAM s (a int)")
    pond.insert("s", [(-1,)])
    told: list[tuple[int, int]] = []
    text = "".join(f"{n}\n" for n in range(300_000)).encode()
    pond.execute("COPY s FROM STDIN CSV", stdin=io.BytesIO(text), progress=lambda rows, size: told.append((rows, size)))
    assert told[-1] == (300_000, len(text))
    assert pond.execute("SELECT count(*), min(tid - a), max(tid - a) FROM s WHERE a >= 0").fetchall() == [
        (300_000, 1, 1)
    ]


def test_constraints_hold_for_copied_rows(pond: Pond) -> None:
    pond.execute("CREATE TABLE t (a int PRIMARY KEY, b int CHECK (b > 0)); INSERT INTO t VALUES (1, 1)")
    for text, sqlstate in [(b"2,1\n1,1\n", "23505"), (b"2,0\n", "23514"), (b"2,1\n2,1\n", "23505")]:
        with pytest.raises(MillpondError) as caught:
            pond.execute("COPY t FROM STDIN CSV", stdin=io.BytesIO(text))
        assert caught.value.sqlstate == sqlstate
    assert pond.execute("COPY t FROM STDIN CSV", stdin=io.BytesIO(b"2,1\n3,1\n")).rowcount == 2
    assert pond.execute("SELECT count(*) FROM t").fetchall() == [(3,)]


@pytest.mark.parametrize("format_", ["csv", "text", "parquet", "ndjson"])
def test_every_format_makes_the_round_trip(pond: Pond, tmp_path: Path, format_: str) -> None:
    pond.execute(
        "CREATE TABLE t (a int, b text, c numeric(6,2), d timestamptz, e bytea, f boolean, g double precision)"
    )
    pond.execute(
        "INSERT INTO t VALUES (1, E'tab\\t\"q\"\\n\\\\', 1.5, '2024-02-29 12:00+02', '\\x00ff', true, 'NaN'), "
        "(NULL, NULL, NULL, NULL, NULL, NULL, NULL), (2, '', -0.01, '1970-01-01', '', false, 1e300)"
    )
    path = tmp_path / f"t.{format_}"
    assert pond.execute(f"COPY t TO '{path}' (FORMAT {format_})").tag == "COPY 3"
    pond.execute("CREATE TABLE u AS SELECT * FROM t WITH NO DATA")
    assert pond.execute(f"COPY u FROM '{path}' (FORMAT {format_})").tag == "COPY 3"
    query = "SELECT * FROM {} ORDER BY a"
    assert pond.execute(query.format("u")).text_rows() == pond.execute(query.format("t")).text_rows()


def test_a_failed_copy_out_leaves_no_file(pond: Pond, tmp_path: Path) -> None:
    pond.execute("CREATE TABLE t (a int); INSERT INTO t VALUES (1), (0)")
    path = tmp_path / "out.csv"
    with pytest.raises(MillpondError, match="division by zero"):
        pond.execute(f"COPY (SELECT 1 / a FROM t) TO '{path}' CSV")
    assert not path.exists()
    assert list(tmp_path.glob("out*")) == []
