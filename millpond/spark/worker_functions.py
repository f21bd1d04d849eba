"""Python functions where they run: in Spark's workers, which know nothing of Millpond.

So this module imports nothing of it, and its functions travel as they are (see `python_functions.py`).
"""

from __future__ import annotations

import ast
import pickle
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import pyarrow as pa

_DIGITS = Context(prec=80, rounding=ROUND_HALF_UP)


@dataclass(frozen=True)
class Code:
    """What a worker makes a function of: the text of its body, or a pickled callable."""

    name: str
    parameters: tuple[str, ...]
    body: str
    pickled: bytes | None

    def made(self) -> Callable[..., Any]:
        if self.pickled is not None:
            found: Callable[..., Any] = pickle.loads(self.pickled)
            return found
        definition = ast.parse(f"def function({', '.join(self.parameters)}):\n  pass", self.file)
        body = ast.parse(textwrap.dedent(self.body), self.file).body
        function = definition.body[0]
        assert isinstance(function, ast.FunctionDef)
        function.body = body
        names: dict[str, Any] = {}
        exec(compile(definition, self.file, "exec"), names)
        made: Callable[..., Any] = names["function"]
        return made

    @property
    def file(self) -> str:
        """Where tracebacks say that the function stands."""
        return f"<function {self.name}>"

    def failure(self, error: Exception) -> RuntimeError:
        """An error of the function, in a form that is found again in what Spark says of it."""
        traceback, line = error.__traceback__, 0
        while traceback is not None:
            line = traceback.tb_lineno if traceback.tb_frame.f_code.co_filename == self.file else line
            traceback = traceback.tb_next
        return RuntimeError(f"in function {self.name}, line {line}: {type(error).__name__}: {error}")


def by_row(code: Code, kind: Any) -> Callable[..., Any]:
    """The function over columns, called for each row."""
    made: list[Callable[..., Any]] = []

    def columns(*arguments: pa.Array) -> pa.Array:  # type: ignore[type-arg]
        if not made:
            made.append(code.made())
        function, count = made[0], len(code.parameters)
        rows: Iterator[Sequence[Any]] = zip(*(one.to_pylist() for one in arguments), strict=True)
        try:
            made_column: pa.Array = as_column([function(*row[:count]) for row in rows], kind)  # type: ignore[type-arg]
            return made_column
        except Exception as error:
            raise code.failure(error) from None

    return columns


def by_key(code: Code, kind: Any, returned: Any) -> Callable[..., Any]:
    """The function over columns that have a row for each key: lists, and at last the pickled state."""
    made: list[Callable[..., Any]] = []

    def columns(*arguments: pa.Array) -> pa.Array:  # type: ignore[type-arg]
        if not made:
            made.append(code.made())
        lengths, *given, states = (list[Any](one.to_pylist()) for one in arguments)
        values, after = [], []
        for length, state, row in zip(lengths, states, zip(*given, strict=True), strict=True):
            try:
                found, kept = _called(made[0], row, state, length)
                values.append(as_column(found, kind).to_pylist())
                after.append(pickle.dumps(kept))
            except Exception as error:
                raise code.failure(error) from None
        pairs = [{"made": one, "state": state} for one, state in zip(values, after, strict=True)]
        kept_column: pa.Array = pa.array(pairs, returned)  # type: ignore[type-arg]
        return kept_column

    return columns


def _called(
    function: Callable[..., Any], row: Sequence[Any], state: bytes | None, length: int
) -> tuple[list[Any], Any]:
    result = function(*row, None if state is None else pickle.loads(state))
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError("a stateful function must return the values and the new state")
    values = list(result[0])
    if len(values) != length:
        raise ValueError(f"{len(values)} values were returned for {length} rows")
    return values, result[1]


def as_column(values: Sequence[Any], kind: Any) -> Any:
    """What a function returned, as a column of its type."""
    settle: Callable[[Any], Any] | None = None
    if pa.types.is_decimal(kind):
        unit = Decimal(1).scaleb(-kind.scale)
        settle = lambda value: Decimal(str(value)).quantize(unit, context=_DIGITS)  # noqa: E731
    elif pa.types.is_string(kind):
        settle = str
    elif pa.types.is_boolean(kind):
        settle = bool
    elif pa.types.is_floating(kind):
        settle = float
    elif pa.types.is_integer(kind):
        settle = lambda value: int(value) if value == int(value) else value  # noqa: E731
    settled = values if settle is None else [None if value is None else settle(value) for value in values]
    return pa.array(settled, kind)


this_module = sys.modules[__name__]
