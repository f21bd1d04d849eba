"""TPC-H's tables: their definitions, and their rows as `tpchgen-cli` makes them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

STREAM = "lineitem"

TABLES: Mapping[str, str] = {
    "region": "r_regionkey int, r_name char(25), r_comment varchar(152)",
    "nation": "n_nationkey int, n_name char(25), n_regionkey int, n_comment varchar(152)",
    "supplier": """s_suppkey int, s_name char(25), s_address varchar(40), s_nationkey int, s_phone char(15),
        s_acctbal decimal(15,2), s_comment varchar(101)""",
    "part": """p_partkey int, p_name varchar(55), p_mfgr char(25), p_brand char(10), p_type varchar(25), p_size int,
        p_container char(10), p_retailprice decimal(15,2), p_comment varchar(23)""",
    "partsupp": """ps_partkey int, ps_suppkey int, ps_availqty int, ps_supplycost decimal(15,2),
        ps_comment varchar(199)""",
    "customer": """c_custkey int, c_name varchar(25), c_address varchar(40), c_nationkey int, c_phone char(15),
        c_acctbal decimal(15,2), c_mktsegment char(10), c_comment varchar(117)""",
    "orders": """o_orderkey bigint, o_custkey int, o_orderstatus char(1), o_totalprice decimal(15,2),
        o_orderdate date, o_orderpriority char(15), o_clerk char(15), o_shippriority int, o_comment varchar(79)""",
    "lineitem": """l_orderkey bigint, l_partkey int, l_suppkey int, l_linenumber int, l_quantity decimal(15,2),
        l_extendedprice decimal(15,2), l_discount decimal(15,2), l_tax decimal(15,2), l_returnflag char(1),
        l_linestatus char(1), l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct char(25),
        l_shipmode char(10), l_comment varchar(44)""",
}
"""The columns of each table, as the specification has them."""

PRIMARY_KEYS: Mapping[str, str] = {
    "region": "r_regionkey",
    "nation": "n_nationkey",
    "supplier": "s_suppkey",
    "part": "p_partkey",
    "customer": "c_custkey",
    "orders": "o_orderkey",
}
"""Those of the tables. At the smallest scales the generator has a supplier twice for a part: partsupp has none."""


_COLUMN = re.compile(r"(\w+) (\w+(?:\([\d,]+\))?)")
_TEXT = re.compile(r"(?:var)?char\(\d+\)")


class GeneratorMissingError(Exception):
    """There is no data without its generator; the message says how to get it."""


def generate(directory: Path, scale: float) -> None:
    """All tables at a scale factor, as `<table>.parquet` in a directory."""
    program = Path(sys.executable).with_name("tpchgen-cli")
    if not program.exists():
        raise GeneratorMissingError("tpchgen-cli, which makes TPC-H's data, is missing: pip install tpchgen-cli")
    options = ["--scale-factor", f"{scale:g}", "--output-dir", str(directory)]
    subprocess.run([str(program), "parquet", *options], check=True, capture_output=True)


def columns_of(table: str, text: str | None = None) -> dict[str, str]:
    """The columns of a table with their types; `text` is for engines that have another one in place of char(n).

    >>> columns_of("region", text="string")
    {'r_regionkey': 'int', 'r_name': 'string', 'r_comment': 'string'}
    """
    found = _COLUMN.findall(TABLES[table])
    return {name: text if text and _TEXT.fullmatch(kind) else kind for name, kind in found}


def listed(columns: Mapping[str, str]) -> str:
    """Columns as CREATE TABLE wants them.

    >>> listed({"a": "int", "b": "text"})
    'a int, b text'
    """
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())


def rows_of(directory: Path, table: str) -> pa.Table:
    return pq.read_table(directory / f"{table}.parquet")
