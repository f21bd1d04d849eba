"""Functions that users have defined, as rows of the function table: scalar ones or, stateful, window functions."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from millpond.python_function import PythonFunction
from millpond.sql.functions import TYPE_WORDS, Function, Overload
from millpond.types import INTERVAL, SqlType, numeric

TYPES = {kind: word for word, kind in TYPE_WORDS.items() if kind not in (INTERVAL, numeric(38, 0))}
"""The types that parameters and results may have, and their words in the function table."""


def callable_function(function: PythonFunction) -> Function:
    """A function as the binder calls it. A stateful one is cut out of its query before that is spelled."""
    spelling = f"{function.spark_name}({'_all' if function.parameters else '0'})"
    words = tuple(TYPES[one.type] for one in function.parameters)

    def result(_types: Sequence[SqlType], _nodes: Sequence[exp.Expr]) -> SqlType:
        return function.result

    overload = Overload(words, result, spelling)
    return Function(function.name, "window" if function.keys else "scalar", (overload,), python=function)
