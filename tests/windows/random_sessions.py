"""Random views over sessions, and what sessions there are by the words of the documentation, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from random import Random

from tests.windows.random_windows import DELAY_S, QUERIES, Evaluation, Row, Unit, literal, micros, place_of


@dataclass
class _Key:
    """What is known of one key: its sessions, oldest first, and up to where they are forgotten."""

    sessions: list[list[Row]] = field(default_factory=list)
    forgotten_to: int = -(10**18)


@dataclass(frozen=True)
class RandomSessions:
    """A view over the sessions of the stream `s`."""

    name: str
    unit: Unit
    gap: int
    by_key: bool
    query: str
    retain: int | None
    max_age: int | None
    early: bool
    mode: str

    @property
    def statement(self) -> str:
        length = str(self.gap) if self.unit == "rows" else f"INTERVAL '{self.gap} microseconds'"
        column = ["arrival_timestamp"] if self.unit == "arrival" else []
        by = " PARTITION BY k" if self.by_key else ""
        call = f"SESSION({', '.join(['s', *column, length])}{by})"
        text = self.query.format(start="window_start", end="window_end", w=f"{call} w", u=f"{call} u")
        options = [f"window_mode = {self.mode}"]
        options += [] if self.retain is None else [f"retain = {self.retain}"]
        options += [] if self.max_age is None else [f"max_age = '{self.max_age // 1000}ms'"]
        options += ["early"] if self.early else []
        return f"CREATE VIEW {self.name} WITH ({', '.join(options)}) AS {text}"

    @property
    def is_default(self) -> bool:
        """Whether the query alone shows the same."""
        return self.retain == 1 and self.max_age is None and not self.early

    def evaluations(self, streams: dict[str, list[Row]], now: datetime) -> list[Evaluation]:
        """The sessions that the view shows."""
        rows = streams["s"]
        keys, _ = self._keys(rows)
        found = [place for place in map(self._place, rows) if place is not None]
        if not found:
            return []
        position = {"rows": len(rows), "event": max(found) - DELAY_S * 1_000_000, "arrival": micros(now)}[self.unit]
        shown = []
        for key in keys.values():
            complete = [one for one in key.sessions if self._end(one) <= position]
            kept = complete if self.retain is None else complete[-self.retain :]
            shown += [one for one in kept if self.max_age is None or self._end(one) > position - self.max_age]
            shown += [one for one in key.sessions if self.early and self._end(one) > position]
        return [self._evaluation(one) for one in shown]

    def _evaluation(self, session: list[Row]) -> Evaluation:
        start, end = (literal(one, self.unit) for one in (self._first(session), self._end(session)))
        return Evaluation(self.query.format(start=start, end=end, w="win_s w", u="win_s u"), {"s": session})

    def late(self, rows: Sequence[Row]) -> list[int]:
        """The tids of rows that no session took which is shown, or will be."""
        return self._keys(rows)[1]

    def _keys(self, rows: Sequence[Row]) -> tuple[dict[int, _Key], list[int]]:
        """The sessions of all keys, and none that is forgotten: rows one after the other. And which rows are late."""
        keys: dict[int, _Key] = {}
        late: list[int] = []
        high = -(10**18)
        for row in rows:
            place = self._place(row)
            if place is None:
                continue
            key = keys.setdefault(row.k if self.by_key else 0, _Key())
            complete_to = high + {"rows": 1, "event": -DELAY_S * 1_000_000, "arrival": 0}[self.unit]
            self._forget(key, complete_to)
            if place // self.gap * self.gap >= key.forgotten_to:
                self._add(key, row)
                self._forget(key, complete_to)
            if not any(row in session for session in key.sessions):
                late.append(row.tid)
            high = max(high, place)
        return keys, late

    def _add(self, key: _Key, row: Row) -> None:
        place = self._known(row)
        near = [one for one in key.sessions if any(abs(self._known(other) - place) < self.gap for other in one)]
        joined = [other for one in near for other in one] + [row]
        key.sessions = sorted([one for one in key.sessions if one not in near] + [joined], key=self._first)

    def _forget(self, key: _Key, complete_to: int) -> None:
        """Forget sessions that newer ones or their age have outlived; up to a multiple of the gap after their end."""
        while key.sessions:
            complete = sum(self._end(one) <= complete_to for one in key.sessions)
            oldest = self._end(key.sessions[0])
            too_many = self.retain is not None and complete > self.retain
            too_old = self.max_age is not None and oldest <= complete_to - self.max_age
            if not (too_many or too_old):
                return
            key.sessions.pop(0)
            key.forgotten_to = max(key.forgotten_to, oldest // self.gap * self.gap)

    def _place(self, row: Row) -> int | None:
        return place_of(row, self.unit)

    def _known(self, row: Row) -> int:
        place = self._place(row)
        assert place is not None
        return place

    def _first(self, session: list[Row]) -> int:
        return min(map(self._known, session))

    def _end(self, session: list[Row]) -> int:
        return max(map(self._known, session)) + self.gap


def random_sessions(random: Random, number: int) -> RandomSessions:
    unit: Unit = random.choice(["rows", "event", "event", "event", "arrival"])
    gap = random.choice([1, 2, 5]) if unit == "rows" else random.choice([1, 3, 8, 15]) * 1_000_000
    by_key = random.random() < 0.7
    max_age = random.choice([None, None, 40_000_000]) if unit != "rows" else None
    retain = random.choice([1, 2, 5]) if max_age is None else random.choice([None, 3])
    mode = random.choice(["incremental", "incremental", "incremental", "reevaluate"])
    early = random.random() < 0.3
    return RandomSessions(f"w{number}", unit, gap, by_key, random.choice(QUERIES), retain, max_age, early, mode)
