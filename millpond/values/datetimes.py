"""PostgreSQL's input functions for date, timestamp and timestamptz; the session's time zone is UTC.

Arrow reads the ISO form by the column; everything else that PostgreSQL's default DateStyle (ISO, MDY) takes is
read here one value at a time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa

from millpond.errors import MillpondError, SqlState, not_supported
from millpond.types import SqlType
from millpond.values.arrays import Array, any_true, pc
from millpond.values.failure import base_name
from millpond.values.numbers import BLANKS

DATE_COMMON = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
TIMESTAMP_COMMON = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?)?$"

_FIRST_DAY = date(1, 1, 1)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<{}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?"
    r"|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DATES = (
    r"(?P<y1>\d{4,6})[-/.](?P<m1>\d{1,2})[-/.](?P<d1>\d{1,2})",
    r"(?P<y2>\d{4})(?P<m2>\d{2})(?P<d2>\d{2})",
    r"(?P<m3>\d{1,2})[-/.](?P<d3>\d{1,2})[-/.](?P<y3>\d{4,6})",
    _MONTH.format("m4") + r"[ .]*(?P<d4>\d{1,2})[ ,]+(?P<y4>\d{4,6})",
    r"(?P<d5>\d{1,2})[ -]" + _MONTH.format("m5") + r"[ -](?P<y5>\d{4,6})",
    r"(?P<y6>\d{4,6})[ -]" + _MONTH.format("m6") + r"[ -](?P<d6>\d{1,2})",
)
_CLOCK = (
    r"(?:(?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.(?P<fraction>\d*))?)?"
    r"|(?P<hhmm>\d{4}|\d{6}))(?:[ ]*(?P<half>[ap]m)(?![a-z]))?"
)
_ZONE = r"(?P<offset>[+-]\d{1,2}(?::?\d{2}(?::?\d{2})?)?)|(?P<zone>(?!bc$)[a-z][a-z_]*(?:/[a-z_+0-9-]+)*)"
_DATETIME = re.compile(
    rf"(?:{'|'.join(_DATES)})(?:(?:[ ]+|[ ]*t){_CLOCK})?(?:[ ]*(?:{_ZONE}))?(?P<era>[ ]+bc)?", re.IGNORECASE | re.ASCII
)
_ABBREVIATIONS = {
    **{"z": 0, "utc": 0, "gmt": 0, "wet": 0, "west": 60, "bst": 60, "cet": 60, "cest": 120, "eet": 120, "eest": 180},
    **{"msk": 180, "jst": 540, "est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420, "mdt": -360},
    **{"pst": -480, "pdt": -420},
}
"""Minutes east of Greenwich of the abbreviations in wide use, as in PostgreSQL's default set."""

_OFFSET_HOURS_MAX = 15


@dataclass(frozen=True)
class Moment:
    """A point on the calendar and the zone that was written behind it, if one was."""

    local: datetime
    zone: tzinfo | None


def dates(texts: Array, type: SqlType) -> Array:
    return _from_first_day(texts.cast(type.arrow))


def date_(text: str, type: SqlType) -> date:
    return _moment(text, type).local.date()


def timestamps(texts: Array, type: SqlType) -> Array:
    _refuse_bare_hours(texts)
    return _from_first_day(texts.cast(type.arrow))


def timestamp(text: str, type: SqlType) -> datetime:
    """A zone behind a timestamp without time zone is ignored, as in PostgreSQL."""
    return _moment(text, type).local


def timestamptzs(texts: Array, type: SqlType) -> Array:
    """Arrow wants a zone behind either all values or none."""
    _refuse_bare_hours(texts)
    try:
        return _from_first_day(texts.cast(pa.timestamp("us")).cast(type.arrow))
    except pa.ArrowInvalid:
        return _from_first_day(texts.cast(type.arrow))


def timestamptz(text: str, type: SqlType) -> datetime:
    moment = _moment(text, type)
    try:
        return _at_zone(moment).astimezone(UTC)
    except OverflowError:
        raise _out_of_range(text) from None


def _at_zone(moment: Moment) -> datetime:
    """Local times that a clock change skips or repeats are taken by the winter clock, as PostgreSQL does."""
    zone = moment.zone or UTC
    early, late = moment.local.replace(tzinfo=zone, fold=0), moment.local.replace(tzinfo=zone, fold=1)
    early_offset, late_offset = early.utcoffset(), late.utcoffset()
    assert early_offset is not None
    assert late_offset is not None
    return late if early_offset > late_offset else early


def _from_first_day(values: Array) -> Array:
    """Arrow knows a year 0, which the calendar of SQL has not."""
    first = pa.scalar(_FIRST_DAY).cast(values.type)
    if any_true(pc.less(values, first)):
        raise pa.ArrowInvalid("before the first day")
    return values


def _refuse_bare_hours(texts: Array) -> None:
    """Arrow takes '2024-01-31 10' for ten o'clock; PostgreSQL does not take it at all."""
    colon = pc.find_substring(texts, ":")
    day_only = pc.and_(pc.equal(colon, -1), pc.equal(pc.binary_length(texts), 10))
    if not pc.all(pc.or_(pc.equal(colon, 13), day_only), min_count=0).as_py():
        raise pa.ArrowInvalid("not in the ISO form")


def _moment(text: str, type: SqlType) -> Moment:
    bare = text.strip(BLANKS)
    if bare.lower() in ("infinity", "-infinity"):
        raise not_supported(f'"{bare}" as a value of type {base_name(type)}')
    match = _DATETIME.fullmatch(bare)
    if match is None:
        raise MillpondError(
            SqlState.INVALID_DATETIME_FORMAT, f'invalid input syntax for type {base_name(type)}: "{text}"'
        )
    if match["era"]:
        raise _out_of_range(text)
    try:
        local = datetime.combine(_day(match, text), datetime.min.time()) + _clock(match, text)
    except OverflowError:
        raise _out_of_range(text) from None
    return Moment(local, _zone(match, text, type))


def _day(match: re.Match[str], text: str) -> date:
    form = next(form for form in range(1, len(_DATES) + 1) if match[f"y{form}"])
    written_month = match[f"m{form}"]
    month = int(written_month) if written_month.isdigit() else _MONTHS.index(written_month[:3].lower()) + 1
    year, day = int(match[f"y{form}"]), int(match[f"d{form}"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        raise _out_of_range(text, hint='Perhaps you need a different "datestyle" setting.')
    try:
        return date(year, month, day)
    except ValueError:
        raise _out_of_range(text) from None


def _clock(match: re.Match[str], text: str) -> timedelta:
    """The time since midnight; PostgreSQL takes 24:00:00 and a 60th second."""
    if match["hhmm"]:
        digits = match["hhmm"].ljust(6, "0")
        hour, minute, second = int(digits[:2]), int(digits[2:4]), int(digits[4:])
    else:
        hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    if match["half"]:
        hour = _hour_of_half(hour, match["half"].lower(), text)
    microsecond = round(float(f"0.{match['fraction'] or 0}") * 1_000_000)
    midnight = hour == 24 and not (minute or second or microsecond)
    if minute > 59 or second > 60 or (hour > 23 and not midnight):
        raise _out_of_range(text)
    return timedelta(hours=hour, minutes=minute, seconds=second, microseconds=microsecond)


def _hour_of_half(hour: int, half: str, text: str) -> int:
    if not 1 <= hour <= 12:
        raise _out_of_range(text)
    return hour % 12 + (12 if half == "pm" else 0)


def _zone(match: re.Match[str], text: str, type: SqlType) -> tzinfo | None:
    if match["offset"]:
        return _offset_zone(match["offset"], text)
    name = match["zone"]
    if name is None:
        return None
    if name.lower() in _ABBREVIATIONS:
        return timezone(timedelta(minutes=_ABBREVIATIONS[name.lower()]))
    return _named_zone(name, text, type)


def _offset_zone(offset: str, text: str) -> tzinfo:
    digits = offset[1:].replace(":", "")
    if len(digits) in (1, 3):
        digits = "0" + digits
    hours, minutes, seconds = int(digits[:2]), int(digits[2:4] or 0), int(digits[4:] or 0)
    if hours > _OFFSET_HOURS_MAX or minutes > 59 or seconds > 59:
        raise MillpondError(SqlState.DATETIME_FIELD_OVERFLOW, f'time zone displacement out of range: "{text}"')
    east = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return timezone(-east if offset.startswith("-") else east)


def _named_zone(name: str, text: str, type: SqlType) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        if "/" in name:
            raise MillpondError(
                SqlState.INVALID_PARAMETER_VALUE, f'time zone "{name.lower()}" not recognized'
            ) from None
        raise MillpondError(
            SqlState.INVALID_DATETIME_FORMAT, f'invalid input syntax for type {base_name(type)}: "{text}"'
        ) from None


def _out_of_range(text: str, *, hint: str | None = None) -> MillpondError:
    return MillpondError(SqlState.DATETIME_FIELD_OVERFLOW, f'date/time field value out of range: "{text}"', hint=hint)
