"""The functions that exist, as pg_proc lists them: those of SQL, and the input and output functions of types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from millpond.pgcatalog.types import BY_SQL_NAME, TYPES, PgType
from millpond.python_function import PythonFunction
from millpond.sql.function_rows import TABLE
from millpond.sql.functions import TYPE_WORDS, Function, Overload

_FIRST_OID = 9000
"""PostgreSQL's own functions have other numbers, which nobody may rely on."""

_KINDS = {"scalar": "f", "aggregate": "a", "ordered-set": "a", "window": "w"}
_ANY, _ANY_ARRAY = BY_SQL_NAME["anyelement"], BY_SQL_NAME["anyarray"]


@dataclass(frozen=True)
class Procedure:
    """A function with one signature; `kind` is that of pg_proc: a function, an aggregate or a window function."""

    oid: int
    name: str
    kind: str
    arguments: tuple[PgType, ...]
    result: PgType
    variadic: bool = False
    volatile: bool = False
    defined: PythonFunction | None = None

    @property
    def signature(self) -> str:
        """The arguments as SQL writes them; those of a function that somebody has defined have names."""
        if self.defined is not None:
            return ", ".join(f"{one.name} {one.type}" for one in self.defined.parameters)
        words = [str(kind.sql_type) for kind in self.arguments]
        return ", ".join([*words[:-1], f"VARIADIC {words[-1]}[]"]) if self.variadic else ", ".join(words)


def procedure_of(function: PythonFunction) -> Procedure:
    """A function that somebody has defined."""
    arguments = tuple(BY_SQL_NAME[one.type.name] for one in function.parameters)
    result = BY_SQL_NAME[function.result.name]
    return Procedure(function.oid, function.name, "w" if function.keys else "f", arguments, result, defined=function)


def _procedures() -> Iterator[Procedure]:
    number = _FIRST_OID
    for name in dict.fromkeys(name for kind in TYPES for name in kind.functions):
        yield Procedure(number, name, "f", (BY_SQL_NAME["cstring"],), BY_SQL_NAME["internal"])
        number += 1
    for function in TABLE.values():
        for overload in function.overloads:
            yield _procedure(number, function, overload)
            number += 1


def _procedure(oid: int, function: Function, overload: Overload) -> Procedure:
    arguments = tuple(_type_of(word) for word in overload.arguments)
    word = overload.result if isinstance(overload.result, str) else ""
    result = arguments[0] if word == "first" and arguments else _type_of(word)
    kind = _KINDS[function.kind]
    return Procedure(oid, function.name, kind, arguments, result, overload.variadic, function.volatile)


def _type_of(word: str) -> PgType:
    """The type that a word of the function table stands for; many stand for several."""
    if word == "array":
        return _ANY_ARRAY
    return BY_SQL_NAME[TYPE_WORDS[word].name] if word in TYPE_WORDS else _ANY


PROCEDURES: Mapping[int, Procedure] = {procedure.oid: procedure for procedure in _procedures()}
"""By oid."""

FUNCTION_OIDS: Mapping[str, int] = {one.name: one.oid for one in reversed(list(PROCEDURES.values()))}
"""The first function of each name, as regproc finds it."""
