"""Compares all answers of a run with those that plain Python expects, and finds no difference, or raises."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millpond import Pond
from millpond.bench.answers import WrongAnswerError
from millpond.bench.linear_road.expected import Expected

Rows = npt.NDArray[np.int64]

_SHOWN = 3
"""Rows that an error names of each side."""


def expected_of(minutes: Sequence[pa.Table]) -> Expected:
    """The answers to the input of a run."""
    found = Expected()
    for rows in minutes:
        found.add_minute(rows.column("time")[0].as_py() // 60, rows)
    return found


def verify_tolls(pond: Pond, expected: Expected) -> int:
    """Compare the tolls of all minutes and segments; returns how many there are."""
    asked = ((minute, *place, toll) for (minute, place), toll in expected.tolls.items())
    return _verify("toll", pond, "SELECT minute, xway, dir, seg, toll FROM segment_minute WHERE toll > 0", asked)


def verify_answers(pond: Pond, expected: Expected, history: pa.Table) -> int:
    """Compare what each car was told and the answers to all questions; returns how many there are."""
    paid = {tuple(key): amount for *key, amount in zip(*(one.to_pylist() for one in history.columns), strict=True)}
    spent = ((qid, paid.get(about, 0)) for qid, about in expected.expenditures.items())
    compared = (
        ("notification", 'SELECT "time", vid, xway, dir, seg, toll FROM notification', _told(expected)),
        ("balance", "SELECT qid, amount FROM balance", expected.balances.items()),
        ("expenditure", "SELECT qid, amount FROM expenditure", spent),
    )
    return sum(_verify(what, pond, query, rows) for what, query, rows in compared)


def verify_told(told: pa.Table, expected: Expected) -> int:
    """Compare what a subscriber was told; returns how many rows there are."""
    return _same("what cars are told", told, _told(expected))


def _told(expected: Expected) -> Iterable[tuple[int, ...]]:
    return ((one.time, one.vid, *one.place, one.toll) for one in expected.notifications)


def _verify(what: str, pond: Pond, query: str, expected: Iterable[tuple[int, ...]]) -> int:
    return _same(what, pond.execute(query).arrow(), expected)


def _same(what: str, found: pa.Table, expected: Iterable[tuple[int, ...]]) -> int:
    own = _sorted(np.stack([column.to_numpy().astype(np.int64) for column in found.columns], axis=1))
    wanted = _sorted(np.array(list(expected), dtype=np.int64).reshape(-1, own.shape[1]))
    if not np.array_equal(own, wanted):
        extra, missing = _without(own, wanted), _without(wanted, own)
        raise WrongAnswerError(
            f"{what}: {len(own)} rows, expected {len(wanted)}; "
            f"wrong {len(extra)}, such as {extra[:_SHOWN].tolist()}; "
            f"missing {len(missing)}, such as {missing[:_SHOWN].tolist()}"
        )
    return len(own)


def _sorted(rows: Rows) -> Rows:
    return rows[np.lexsort(rows.T[::-1])]


def _without(rows: Rows, others: Rows) -> Rows:
    known = set(map(tuple, others.tolist()))
    return np.array([row for row in rows.tolist() if tuple(row) not in known], dtype=np.int64)
