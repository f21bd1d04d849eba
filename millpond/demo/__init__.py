"""The demo behind `make demo`: a car plant whose parts are used and restocked while SQL watches them.

`plant` makes the data, `feed` inserts and asks, `screen` shows it, `program` puts them together.
"""

from millpond.demo.program import run

__all__ = ["run"]
