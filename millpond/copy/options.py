"""COPY's options, checked as PostgreSQL checks them, in its words; the parser of the statement and Python share it."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from millpond.errors import MillpondError, SqlState

Direction = Literal["from", "to"]
Format = Literal["text", "csv", "binary", "parquet", "ndjson"]
Everything = Literal["*"]

_FORMATS: dict[str, Format] = {
    "text": "text",
    "csv": "csv",
    "binary": "binary",
    "parquet": "parquet",
    "ndjson": "ndjson",
    "json": "ndjson",
    "jsonl": "ndjson",
}
_NO_TEXT_DELIMITERS = "\\.abcdefghijklmnopqrstuvwxyz0123456789"
"""Characters that mean something behind a backslash in the text format."""

_ENCODINGS = {"utf8": "utf-8", "unicode": "utf-8", "sql_ascii": "utf-8", "win1252": "cp1252", "win1251": "cp1251"}
_BOOLEANS = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}


@dataclass(frozen=True)
class CopyOption:
    """An option as written: a word, a string, a list of column names, or nothing."""

    name: str
    value: str | tuple[str, ...] | None = None
    position: int | None = None


@dataclass(frozen=True)
class CopyOptions:
    """What COPY goes by; the defaults are those of the text format, as in PostgreSQL.

    With `commit_rows`, rows become visible in a stream whenever there are so many, and stay if a later one is wrong.
    """

    format: Format = "text"
    header: bool | Literal["match"] = False
    delimiter: str = "\t"
    null: str = "\\N"
    default: str | None = None
    quote: str = '"'
    escape: str = '"'
    force_quote: tuple[str, ...] | Everything = ()
    force_not_null: tuple[str, ...] | Everything = ()
    force_null: tuple[str, ...] | Everything = ()
    encoding: str = "utf-8"
    on_error: Literal["stop", "ignore"] = "stop"
    commit_rows: int | None = None


CSV = CopyOptions(format="csv", delimiter=",", null="")


def copy_options(given: Sequence[CopyOption], direction: Direction) -> CopyOptions:
    """The options as given, the rest by the format's defaults; raises where PostgreSQL would."""
    by_name: dict[str, CopyOption] = {}
    for option in given:
        if option.name not in _READERS:
            raise _error(SqlState.SYNTAX_ERROR, f'option "{option.name}" not recognized', option)
        if option.name in by_name:
            raise _error(SqlState.SYNTAX_ERROR, "conflicting or redundant options", option)
        by_name[option.name] = option
    format = _format(by_name["format"]) if "format" in by_name else "text"
    options = replace(CSV if format == "csv" else CopyOptions(), format=format)
    values = {name: _READERS[name](option) for name, option in by_name.items()}
    if format == "csv" and "quote" in values and "escape" not in values:
        values["escape"] = values["quote"]
    options = replace(options, **values)
    _check_place(options, by_name, direction)
    _check_characters(options, by_name)
    return options


def applies(names: tuple[str, ...] | Everything, column: str) -> bool:
    """Whether a FORCE option names the column."""
    return names == "*" or column in names


def _error(sqlstate: SqlState, message: str, option: CopyOption | None) -> MillpondError:
    return MillpondError(sqlstate, message, position=option.position if option else None)


def _format(option: CopyOption) -> Format:
    name = _text(option).lower()
    if name not in _FORMATS:
        raise _error(SqlState.INVALID_PARAMETER_VALUE, f'COPY format "{name}" not recognized', option)
    return _FORMATS[name]


def _text(option: CopyOption) -> str:
    if not isinstance(option.value, str):
        raise _error(SqlState.SYNTAX_ERROR, f"{option.name} requires a parameter", option)
    return option.value


def _header(option: CopyOption) -> bool | Literal["match"]:
    word = option.value.lower() if isinstance(option.value, str) else "true"
    if word == "match":
        return "match"
    if word not in _BOOLEANS:
        raise _error(SqlState.SYNTAX_ERROR, 'header requires a Boolean value or "match"', option)
    return _BOOLEANS[word]


def _names(option: CopyOption) -> tuple[str, ...] | Everything:
    if isinstance(option.value, tuple):
        return option.value
    if option.value == "*":
        return "*"
    message = f'argument to option "{option.name}" must be a list of column names'
    raise _error(SqlState.INVALID_PARAMETER_VALUE, message, option)


def _encoding(option: CopyOption) -> str:
    name = _text(option).lower()
    try:
        return codecs.lookup(_ENCODINGS.get(name.replace("-", ""), name)).name
    except LookupError:
        message = f'argument to option "{option.name}" must be a valid encoding name'
        raise _error(SqlState.INVALID_PARAMETER_VALUE, message, option) from None


def _on_error(option: CopyOption) -> str:
    word = _text(option).lower()
    if word not in ("stop", "ignore"):
        raise _error(SqlState.INVALID_PARAMETER_VALUE, f'COPY ON_ERROR "{word}" not recognized', option)
    return word


def _commit_rows(option: CopyOption) -> int:
    text = _text(option)
    if not text.isdigit() or int(text) < 1:
        raise _error(SqlState.INVALID_PARAMETER_VALUE, "COPY COMMIT_ROWS must be a positive number of rows", option)
    return int(text)


_READERS: dict[str, Callable[[CopyOption], Any]] = {
    "format": _format,
    "header": _header,
    "delimiter": _text,
    "null": _text,
    "default": _text,
    "quote": _text,
    "escape": _text,
    "force_quote": _names,
    "force_not_null": _names,
    "force_null": _names,
    "encoding": _encoding,
    "on_error": _on_error,
    "commit_rows": _commit_rows,
}

_CSV_ONLY = ("quote", "escape", "force_quote", "force_not_null", "force_null")
_DELIMITED_ONLY = ("header", "delimiter", "null", "default")
_FROM_ONLY = ("default", "force_not_null", "force_null", "on_error", "commit_rows")
_TO_ONLY = ("force_quote",)


def _check_place(options: CopyOptions, given: dict[str, CopyOption], direction: Direction) -> None:
    """Options belong to a format and a direction."""
    refused = SqlState.FEATURE_NOT_SUPPORTED
    for name, option in given.items():
        shown = name.upper()
        if name in _CSV_ONLY and options.format != "csv":
            raise _error(refused, f"COPY {shown} requires CSV mode", option)
        if name in _DELIMITED_ONLY and options.format not in ("csv", "text"):
            raise _error(refused, f"cannot specify {shown} in {options.format.upper()} mode", option)
        if name in (_FROM_ONLY if direction == "to" else _TO_ONLY):
            raise _error(refused, f"COPY {shown} cannot be used with COPY {direction.upper()}", option)
    if options.header == "match" and direction == "to":
        raise _error(refused, 'cannot use "match" with HEADER in COPY TO', given["header"])


def _check_characters(options: CopyOptions, given: dict[str, CopyOption]) -> None:
    """The special characters are single, not line ends, and cannot be taken for one another."""
    for name in ("delimiter", "quote", "escape"):
        character = getattr(options, name)
        if len(character.encode()) != 1:
            message = f"COPY {name} must be a single one-byte character"
            raise _error(SqlState.FEATURE_NOT_SUPPORTED, message, given.get(name))
    for name, message in _conflicts(options):
        raise _error(SqlState.INVALID_PARAMETER_VALUE, message, given.get(name))


def _conflicts(options: CopyOptions) -> list[tuple[str, str]]:
    """All that is wrong among the special characters: the option at fault and the message."""
    csv = options.format == "csv"
    marks = [("null", options.null, "NULL")]
    if options.default is not None:
        marks.append(("default", options.default, "DEFAULT"))
    rules = [("delimiter", options.delimiter in "\r\n", "COPY delimiter cannot be newline or carriage return")]
    for name, mark, shown in marks:
        broken = "\r" in mark or "\n" in mark
        rules += [
            (name, broken, f"COPY {shown.lower()} representation cannot use newline or carriage return"),
            (name, options.delimiter in mark, f"COPY delimiter character must not appear in the {shown} specification"),
            (name, csv and options.quote in mark, f"CSV quote character must not appear in the {shown} specification"),
        ]
    forbidden = not csv and options.delimiter in _NO_TEXT_DELIMITERS
    rules += [
        ("delimiter", forbidden, f'COPY delimiter cannot be "{options.delimiter}"'),
        ("quote", csv and options.quote == options.delimiter, "COPY delimiter and quote must be different"),
        ("default", options.default == options.null, "NULL specification and DEFAULT specification cannot be the same"),
    ]
    return [(name, message) for name, wrong, message in rules if wrong]
