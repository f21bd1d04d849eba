"""A function in Python, as the catalog knows it: its text, or a callable of the program, pickled."""

from __future__ import annotations

import ast
import json
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from millpond.errors import MillpondError, SqlState
from millpond.types import SqlType

STATE = "state"
"""What the parameter of a stateful function is called that gets what the last call of its key returned."""


@dataclass(frozen=True)
class Parameter:
    """An argument of a function."""

    name: str
    type: SqlType


@dataclass(frozen=True)
class PythonFunction:
    """A function. One with `keys`, which are some of its parameters, is called once for all rows of a key in a cycle,
    with lists in the place of the other arguments, and with the state that its last call returned."""

    oid: int
    name: str
    parameters: tuple[Parameter, ...]
    result: SqlType
    body: str
    keys: tuple[str, ...] = ()
    pickled: str | None = None

    @property
    def spark_name(self) -> str:
        """What Spark knows it by; a function that replaces another has another oid."""
        return f"millpond_function_{self.oid}"

    @property
    def signature(self) -> str:
        return f"{self.name}({', '.join(str(one.type) for one in self.parameters)})"

    @property
    def python_parameters(self) -> tuple[str, ...]:
        """What the body sees."""
        return (*(one.name for one in self.parameters), *((STATE,) if self.keys else ()))

    def dumps(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text: str) -> PythonFunction:
        """The function that `dumps` wrote.

        >>> made = PythonFunction(7, "f", (Parameter("a", SqlType("integer")),), SqlType("text"), "return a", ("a",))
        >>> PythonFunction.loads(made.dumps()) == made
        True
        """
        stored: Mapping[str, Any] = json.loads(text)
        parameters = tuple(Parameter(one["name"], SqlType(**one["type"])) for one in stored["parameters"])
        known = {"parameters": parameters, "result": SqlType(**stored["result"]), "keys": tuple(stored["keys"])}
        return cls(**{**stored, **known})


def check_body(name: str, body: str) -> None:
    """Raise what is wrong with the text of a function."""
    try:
        tree = ast.parse(textwrap.dedent(body), f"<function {name}>")
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = None if line is None else f"Line {line} of the function."
        reason = getattr(error, "msg", str(error))
        raise MillpondError(SqlState.SYNTAX_ERROR, f"the body is not Python: {reason}", detail=where) from error
    if not tree.body:
        raise MillpondError(SqlState.INVALID_FUNCTION_DEFINITION, f"the body of function {name} is empty")
