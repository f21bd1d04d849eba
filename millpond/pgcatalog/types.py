"""PostgreSQL's types as its catalog has them: the rows of pg_type, and how a type is found by name or number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from millpond.types import SqlType

_ALIGNMENTS = {1: "c", 2: "s", 4: "i", 8: "d"}
_BY_VALUE = frozenset(_ALIGNMENTS)
_ELEMENTS = {"int2vector": 21, "oidvector": 26, "name": 18}
_COLLATABLE = {"text": 100, "varchar": 100, "bpchar": 100, "name": 950}
_PREFERRED = frozenset({"bool", "text", "oid", "float8", "timestamptz", "interval", "inet"})


@dataclass(frozen=True)
class PgType:
    """A type: its name in pg_type and in SQL, its number and that of its array (0 if none), and its kind."""

    oid: int
    name: str
    sql_name: str
    array_oid: int
    length: int
    category: str
    element_oid: int = 0

    @cached_property
    def sql_type(self) -> SqlType:
        return SqlType(self.sql_name)

    @property
    def is_pseudo(self) -> bool:
        return self.category in "PX"

    @property
    def is_array(self) -> bool:
        return self.category == "A" and self.name.startswith("_")

    @property
    def by_value(self) -> bool:
        return self.length in _BY_VALUE

    @property
    def alignment(self) -> str:
        return _ALIGNMENTS.get(self.length, "c" if self.name in ("name", "uuid", "unknown", "cstring") else "i")

    @property
    def storage(self) -> str:
        return "p" if self.length != -1 or self.name.endswith("vector") else "m" if self.name == "numeric" else "x"

    @property
    def is_preferred(self) -> bool:
        return self.name in _PREFERRED

    @property
    def collation(self) -> int:
        return _COLLATABLE.get(self.name.removeprefix("_"), 0)

    @property
    def functions(self) -> tuple[str, str, str, str]:
        """The names of its input, output, receive and send functions."""
        root = "array" if self.is_array else self.name
        mark = "_" if root in _UNDERSCORED else ""
        names = [f"{root}{mark}{role}" for role in ("in", "out", "recv", "send")]
        return names[0], names[1], names[2], names[3]


_UNDERSCORED = frozenset(
    "array date timestamp timestamptz interval numeric json jsonb uuid time timetz inet record any anyarray "
    "anyelement void trigger internal cstring pg_node_tree pg_lsn".split()
)
"""Types whose functions have an underscore in their names."""

# oid, name, name in SQL, oid of the array, bytes, category
_SCALARS = """
16   bool          boolean           1000 1  B
17   bytea         bytea             1001 -1 U
18   char          "char"            1002 1  Z
19   name          name              1003 64 S
20   int8          bigint            1016 8  N
21   int2          smallint          1005 2  N
22   int2vector    int2vector        1006 -1 A
23   int4          integer           1007 4  N
24   regproc       regproc           1008 4  N
25   text          text              1009 -1 S
26   oid           oid               1028 4  N
28   xid           xid               1011 4  U
30   oidvector     oidvector         1013 -1 A
114  json          json              199  -1 U
194  pg_node_tree  pg_node_tree      0    -1 Z
700  float4        real              1021 4  N
701  float8        double_precision  1022 8  N
705  unknown       unknown           0    -2 X
869  inet          inet              1041 -1 I
1033 aclitem       aclitem           1034 12 U
1042 bpchar        char              1014 -1 S
1043 varchar       varchar           1015 -1 S
1082 date          date              1182 4  D
1083 time          time              1183 8  D
1114 timestamp     timestamp         1115 8  D
1184 timestamptz   timestamptz       1185 8  D
1186 interval      interval          1187 16 T
1700 numeric       numeric           1231 -1 N
2205 regclass      regclass          2210 4  N
2206 regtype       regtype           2211 4  N
2249 record        record            2287 -1 P
2275 cstring       cstring           1263 -2 P
2276 any           any               0    4  P
2277 anyarray      anyarray          0    -1 P
2278 void          void              0    4  P
2279 trigger       trigger           0    4  P
2281 internal      internal          0    8  P
2283 anyelement    anyelement        0    4  P
2950 uuid          uuid              2951 16 U
3220 pg_lsn        pg_lsn            3221 8  U
3802 jsonb         jsonb             3807 -1 U
4089 regnamespace  regnamespace      4090 4  N
4096 regrole       regrole           4097 4  N
"""


def _read() -> tuple[PgType, ...]:
    types = []
    for line in _SCALARS.split("\n")[1:-1]:
        oid, name, sql_name, array_oid, length, category = line.split()
        sql_name = sql_name.replace("_", " ") if name == "float8" else sql_name
        element = _ELEMENTS.get(name, 0)
        types.append(PgType(int(oid), name, sql_name, int(array_oid), int(length), category, element))
        if int(array_oid):
            types.append(PgType(int(array_oid), f"_{name}", f"{sql_name}[]", 0, -1, "A", int(oid)))
    return tuple(types)


TYPES = _read()
BY_OID = {kind.oid: kind for kind in TYPES}
BY_SQL_NAME = {kind.sql_name: kind for kind in TYPES}

_SPELLINGS = {
    **{kind.name: kind for kind in TYPES},
    **{str(kind.sql_type): kind for kind in TYPES},
    **{kind.sql_name: kind for kind in TYPES if kind.sql_name != "char"},
    "int": BY_SQL_NAME["integer"],
    "float": BY_SQL_NAME["double precision"],
    "decimal": BY_SQL_NAME["numeric"],
}


def find_type(spelling: str) -> PgType | None:
    """The type that a text names, as regtype reads it; lengths do not count.

    >>> find_type("int4").oid, find_type("timestamp with time zone").oid, find_type("pg_catalog.text[]").oid
    (23, 1184, 1009)
    """
    name = spelling.strip().lower().removeprefix("pg_catalog.")
    brackets = "[]" if name.endswith("[]") else ""
    name = name.removesuffix("[]").partition("(")[0].strip()
    if not brackets:
        return _SPELLINGS.get(name)
    element = _SPELLINGS.get(name)
    return None if element is None else BY_OID.get(element.array_oid)


def named(name: str) -> SqlType:
    """The SQL type of a type's name in pg_type, such as `int4` or `text[]`."""
    found = find_type(name.replace('"char"', "char"))
    assert found is not None, name
    return found.sql_type


VECTORS = {"int2vector": SqlType("smallint"), "oidvector": SqlType("oid")}
"""Arrays that count from 0 and are printed without braces, with their elements."""


def is_list(sql_type: SqlType) -> bool:
    """Whether its values have elements."""
    return sql_type.is_array or sql_type.name in VECTORS


def element_of(sql_type: SqlType) -> SqlType:
    """The type of the elements of an array or a vector."""
    return VECTORS.get(sql_type.name) or sql_type.element


def lower_bound(sql_type: SqlType) -> int:
    """The subscript of the first element."""
    return 0 if sql_type.name in VECTORS else 1
