"""One setting: what it may be, what it is unless somebody says otherwise, and how it is read from a text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from millpond.errors import MillpondError, SqlState
from millpond.types import INTERVAL
from millpond.values.intervals import interval

Value = str | int | bool


@dataclass(frozen=True)
class Setting:
    """One setting; `choices` restricts a text or a boolean, `synonyms` are other spellings of its default, `minimum`
    restricts a number.

    `check` raises ValueError for a text that it cannot be, and `hint` says what it can. `spelling` is PostgreSQL's own
    where it has capitals; a setting that is `reported` is told to clients; one of a transaction `follows` that of the
    session until it is set. A time with `intervals` may also be spelled as PostgreSQL's intervals are.
    """

    name: str
    default: Value
    unit: str
    reason: str
    scope: Literal["pond", "session", "fixed"] = "pond"
    choices: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    minimum: int = 0
    spelling: str = ""
    reported: bool = False
    follows: str = ""
    intervals: bool = False
    check: Callable[[str], object] | None = None
    hint: str | None = None

    @property
    def shown_name(self) -> str:
        """The name as PostgreSQL shows it."""
        return self.spelling or self.name

    def parse(self, given: object) -> Value:
        """The value that `given` stands for, or an error as PostgreSQL words it."""
        if isinstance(self.default, bool):
            return self._parse_bool(given)
        if isinstance(self.default, int):
            return self._parse_int(given)
        text = str(given)
        if text.lower() in self.synonyms:
            return self.default
        for choice in self.choices:
            if choice.lower() == text.lower():
                return choice
        if self.choices:
            raise self._invalid(given, hint=f"Available values: {', '.join(self.choices)}.")
        if self.check is not None:
            try:
                self.check(text)
            except ValueError:
                raise self._invalid(given, hint=self.hint) from None
        return text

    def show(self, value: Value) -> str:
        """A value as `SHOW` prints it: times in the largest unit in which they are whole.

        >>> Setting("statement_timeout", 0, "ms", "").show(300_000)
        '5min'
        """
        if self.unit != "ms" or not isinstance(value, int) or value <= 0:
            return shown(value)
        unit = max(
            (unit for unit, size in _MILLISECONDS.items() if unit and value % size == 0),
            key=lambda one: _MILLISECONDS[one],
        )
        return f"{value // _MILLISECONDS[unit]}{unit}"

    def _parse_bool(self, given: object) -> bool:
        words = {
            "true": True,
            "on": True,
            "yes": True,
            "1": True,
            "false": False,
            "off": False,
            "no": False,
            "0": False,
        }
        word = str(given).lower()
        if word not in words:
            raise MillpondError(SqlState.INVALID_PARAMETER_VALUE, f'parameter "{self.name}" requires a Boolean value')
        if self.choices and shown(words[word]) not in self.choices:
            raise self._invalid(given, hint=f"Available values: {', '.join(self.choices)}.")
        return words[word]

    def _parse_int(self, given: object) -> int:
        factors = _MILLISECONDS if self.unit == "ms" else _BYTES if self.unit == "bytes" else {"": 1}
        match = re.fullmatch(r"\s*(-?\d+)\s*([a-zA-Z]*)\s*", str(given))
        if match is None or match[2] not in factors:
            if self.intervals:
                return self._parse_interval(str(given))
            units = [unit for unit in factors if unit]
            hint = f"Valid units for this parameter are {', '.join(f'{u!r}' for u in units)}." if units else None
            raise self._invalid(given, hint=hint)
        value = int(match[1]) * factors[match[2]]
        if value < self.minimum:
            raise MillpondError(
                SqlState.INVALID_PARAMETER_VALUE,
                f'{value} is outside the valid range for parameter "{self.name}" ({self.minimum} or more)',
            )
        return value

    def _parse_interval(self, given: str) -> int:
        """Milliseconds of an interval, which is at least one of them and has no months."""
        try:
            months, days, nanoseconds = interval(given, INTERVAL)
        except MillpondError:
            months, days, nanoseconds = 0, 0, 0
        milliseconds = days * _MILLISECONDS["d"] + int(nanoseconds) // 1_000_000
        if months or milliseconds <= 0:
            raise self._invalid(given, hint="It is a time such as '10s', '24 hours' or '1 day', without months.")
        return int(milliseconds)

    def _invalid(self, given: object, *, hint: str | None) -> MillpondError:
        return MillpondError(
            SqlState.INVALID_PARAMETER_VALUE, f'invalid value for parameter "{self.name}": "{given}"', hint=hint
        )


def shown(value: Value) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


_MILLISECONDS = {"": 1, "ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_BYTES = {"": 1, "B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
