"""PostgreSQL's interval, read and printed: months, days and a time, each kept apart as in Arrow's own type."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pyarrow as pa

from millpond.errors import MillpondError, SqlState
from millpond.types import SqlType
from millpond.values.arrays import Array, nulls
from millpond.values.numbers import BLANKS

_DAYS_PER_MONTH = 30
_NS_PER_DAY = 86_400_000_000_000
_NS_PER_US = 1_000
_MONTHS_MAX = 2**31 - 1

_UNITS_IN_MONTHS = {"millennium": 12_000, "century": 1_200, "decade": 120, "year": 12, "month": 1}
_UNITS_IN_DAYS = {"week": 7, "day": 1}
_UNITS_IN_NS = {
    "hour": 3_600_000_000_000,
    "minute": 60_000_000_000,
    "second": 1_000_000_000,
    "millisecond": 1_000_000,
    "microsecond": 1_000,
}
_SPELLINGS = {
    **{"millennia": "millennium", "mil": "millennium", "mils": "millennium", "centuries": "century", "cent": "century"},
    **{"c": "century", "decs": "decade", "dec": "decade", "yr": "year", "yrs": "year", "y": "year"},
    **{"mon": "month", "mons": "month", "w": "week", "d": "day"},
    **{"h": "hour", "hr": "hour", "hrs": "hour", "m": "minute", "min": "minute", "mins": "minute"},
    **{"s": "second", "sec": "second", "secs": "second", "ms": "millisecond", "msec": "millisecond"},
    **{"msecs": "millisecond", "us": "microsecond", "usec": "microsecond", "usecs": "microsecond"},
}
_CLOCK_UNITS = ("hour", "minute", "second")
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_TOKEN = re.compile(
    r"[ ]*(?:(?P<clock>[+-]?[0-9]+:[0-9]{1,2}(?::[0-9]{1,2}(?:\.[0-9]*)?)?)"
    r"|(?P<year_month>[+-]?[0-9]+-[0-9]{1,2})"
    rf"|(?P<number>{_NUMBER})[ ]*(?P<unit>[a-zA-Z]+)?)"
)
_ISO = re.compile(r"P(?P<date>(?:[+-]?[0-9.]+[YMWD])*)(?:T(?P<time>(?:[+-]?[0-9.]+[HMS])+))?")
_ISO_PART = re.compile(r"([+-]?[0-9.]+)([YMWDHS])")
_ISO_DATE_UNITS = {"Y": "year", "M": "month", "W": "week", "D": "day"}
_ISO_TIME_UNITS = {"H": "hour", "M": "minute", "S": "second"}


def month_day_nano(months: int, days: int, nanoseconds: int) -> pa.MonthDayNano:
    """Arrow's value, which is built from a sequence whatever its stub says."""
    make: Any = pa.MonthDayNano
    value: pa.MonthDayNano = make((months, days, nanoseconds))
    return value


@dataclass
class _Sum:
    """What the parts read so far add up to."""

    months: int = 0
    days: int = 0
    nanoseconds: Fraction = Fraction(0)
    units: set[str] = field(default_factory=set)

    def first_of(self, *units: str) -> bool:
        """Whether none of the units was given before; PostgreSQL takes each once."""
        repeated = not self.units.isdisjoint(units)
        self.units.update(units)
        return not repeated

    def add(self, amount: Fraction, unit: str) -> None:
        """A fraction of a month counts in days of 30, a fraction of a day in time."""
        if unit in _UNITS_IN_MONTHS:
            months = amount * _UNITS_IN_MONTHS[unit]
            self.months += int(months)
            if unit == "month":
                self.add((months - int(months)) * _DAYS_PER_MONTH, "day")
        elif unit in _UNITS_IN_DAYS:
            days = amount * _UNITS_IN_DAYS[unit]
            self.days += int(days)
            self.nanoseconds += (days - int(days)) * _NS_PER_DAY
        else:
            self.nanoseconds += amount * _UNITS_IN_NS[unit]

    def interval(self, sign: int) -> pa.MonthDayNano:
        microseconds = round(self.nanoseconds / _NS_PER_US)
        return month_day_nano(sign * self.months, sign * self.days, sign * microseconds * _NS_PER_US)


def intervals(texts: Array, type: SqlType) -> Array:
    """There is no common form that Arrow reads."""
    if texts.null_count == len(texts):
        return nulls(len(texts), type.arrow)
    raise pa.ArrowInvalid("one by one")


def interval(text: str, type: SqlType) -> pa.MonthDayNano:
    bare = text.strip(BLANKS)
    total = _iso(bare) if bare.startswith("P") else _words(bare)
    if total is None:
        raise MillpondError(SqlState.INVALID_DATETIME_FORMAT, f'invalid input syntax for type {type}: "{text}"')
    if abs(total.months) > _MONTHS_MAX or abs(total.days) > _MONTHS_MAX:
        raise MillpondError(SqlState.DATETIME_FIELD_OVERFLOW, f'interval field value out of range: "{text}"')
    return total.interval(-1 if bare.lower().endswith(" ago") else 1)


def _words(text: str) -> _Sum | None:
    """Number and unit pairs, a clock, `years-months`; a bare number counts in seconds."""
    body = re.sub(r"[ ]+ago$", "", text.removeprefix("@"), flags=re.IGNORECASE).rstrip(" ")
    total, end = _Sum(), 0
    while end < len(body):
        match = _TOKEN.match(body, end)
        if match is None or not _add_token(total, match):
            return None
        end = match.end()
    return total if end else None


def _add_token(total: _Sum, match: re.Match[str]) -> bool:
    """Adds what was read; False if it cannot be."""
    if match["clock"]:
        _add_clock(total, match["clock"])
        return total.first_of(*_CLOCK_UNITS)
    if match["year_month"]:
        years, months = match["year_month"].lstrip("+-").split("-")
        sign = -1 if match["year_month"].startswith("-") else 1
        total.add(Fraction(sign * (12 * int(years) + int(months))), "month")
        return total.first_of("year", "month")
    unit = _unit(match["unit"] or "second")
    if unit is None:
        return False
    total.add(Fraction(match["number"]), unit)
    return total.first_of(unit)


def _unit(spelling: str) -> str | None:
    word = spelling.lower()
    word = _SPELLINGS.get(word, word)
    known = (*_UNITS_IN_MONTHS, *_UNITS_IN_DAYS, *_UNITS_IN_NS)
    return next((unit for unit in (word, word.removesuffix("s")) if unit in known), None)


def _add_clock(total: _Sum, clock: str) -> None:
    sign = -1 if clock.startswith("-") else 1
    for amount, unit in zip(clock.lstrip("+-").split(":"), _CLOCK_UNITS, strict=False):
        total.add(sign * Fraction(amount), unit)


def _iso(text: str) -> _Sum | None:
    match = _ISO.fullmatch(text)
    if match is None or len(text) == 1:
        return None
    total = _Sum()
    for part, units in ((match["date"], _ISO_DATE_UNITS), (match["time"] or "", _ISO_TIME_UNITS)):
        for amount, letter in _ISO_PART.findall(part):
            total.add(Fraction(amount), units[letter])
    return total


def interval_text(value: pa.MonthDayNano) -> str:
    """The interval as PostgreSQL prints it: `1 year 2 mons 3 days 04:05:06.789`."""
    months, days, nanoseconds = value
    years, months = int(months / 12), months - 12 * int(months / 12)
    parts: list[str] = []
    negative_before = False
    for amount, unit in ((years, "year"), (months, "mon"), (days, "day")):
        if amount:
            # A sign is printed again only where it would else be misread: positive after negative.
            plus = "+" if negative_before and amount > 0 else ""
            parts.append(f"{plus}{amount} {unit}{'' if amount == 1 else 's'}")
            negative_before = amount < 0
    microseconds = round(nanoseconds / _NS_PER_US)
    if microseconds or not parts:
        parts.append(_clock_text(microseconds, negative_before))
    return " ".join(parts)


def _clock_text(microseconds: int, negative_before: bool) -> str:
    seconds, fraction = divmod(abs(microseconds), 1_000_000)
    sign = "-" if microseconds < 0 else "+" if negative_before else ""
    clock = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{clock}.{fraction:06}".rstrip("0") if fraction else clock
