"""Millpond: a SQL database for data that is still arriving.

>>> import millpond
>>> pond = millpond.connect("plant")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from millpond.errors import MillpondError

if TYPE_CHECKING:
    from millpond.pond import Pond, connect
    from millpond.result import Result

__version__ = "0.1.0"
__all__ = ["MillpondError", "Pond", "Result", "__version__", "connect"]


def __getattr__(name: str) -> Any:
    """Load the pond when it is first asked for: `millpond --help` should not wait for Spark's imports."""
    if name in ("Pond", "connect"):
        from millpond import pond

        return getattr(pond, name)
    if name == "Result":
        from millpond.result import Result

        return Result
    raise AttributeError(f"module 'millpond' has no attribute {name!r}")
