"""Errors as PostgreSQL reports them: SQLSTATE, message, detail, hint and position.

A mistake of the user raises `MillpondError` from where it is found; a broken invariant of ours raises
`InternalError`. One place per outlet (shell, wire, HTTP) turns the fields into bytes.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class SqlState(StrEnum):
    """The SQLSTATE codes in use, by PostgreSQL's names."""

    WARNING = "01000"
    CONNECTION_FAILURE = "08006"
    PROTOCOL_VIOLATION = "08P01"
    FEATURE_NOT_SUPPORTED = "0A000"
    INVALID_GRANT_OPERATION = "0LP01"
    CARDINALITY_VIOLATION = "21000"
    STRING_DATA_RIGHT_TRUNCATION = "22001"
    NUMERIC_VALUE_OUT_OF_RANGE = "22003"
    INVALID_DATETIME_FORMAT = "22007"
    DATETIME_FIELD_OVERFLOW = "22008"
    SUBSTRING_ERROR = "22011"
    DIVISION_BY_ZERO = "22012"
    INVALID_PRECEDING_OR_FOLLOWING_SIZE = "22013"
    INVALID_ARGUMENT_FOR_NTILE = "22014"
    INVALID_ARGUMENT_FOR_NTH_VALUE = "22016"
    INVALID_ARGUMENT_FOR_LOGARITHM = "2201E"
    INVALID_ARGUMENT_FOR_POWER_FUNCTION = "2201F"
    INVALID_ARGUMENT_FOR_WIDTH_BUCKET = "2201G"
    INVALID_REGULAR_EXPRESSION = "2201B"
    INVALID_ROW_COUNT_IN_LIMIT = "2201W"
    INVALID_ROW_COUNT_IN_OFFSET = "2201X"
    CHARACTER_NOT_IN_REPERTOIRE = "22021"
    INVALID_ESCAPE_SEQUENCE = "22025"
    INVALID_PARAMETER_VALUE = "22023"
    INVALID_TEXT_REPRESENTATION = "22P02"
    INVALID_BINARY_REPRESENTATION = "22P03"
    BAD_COPY_FILE_FORMAT = "22P04"
    NOT_NULL_VIOLATION = "23502"
    UNIQUE_VIOLATION = "23505"
    CHECK_VIOLATION = "23514"
    ACTIVE_SQL_TRANSACTION = "25001"
    NO_ACTIVE_SQL_TRANSACTION = "25P01"
    READ_ONLY_SQL_TRANSACTION = "25006"
    IN_FAILED_SQL_TRANSACTION = "25P02"
    IDLE_IN_TRANSACTION_SESSION_TIMEOUT = "25P03"
    TRANSACTION_TIMEOUT = "25P04"
    INVALID_SQL_STATEMENT_NAME = "26000"
    INVALID_AUTHORIZATION_SPECIFICATION = "28000"
    INVALID_PASSWORD = "28P01"
    DEPENDENT_OBJECTS_STILL_EXIST = "2BP01"
    INVALID_CURSOR_NAME = "34000"
    EXTERNAL_ROUTINE_EXCEPTION = "38000"
    INVALID_CATALOG_NAME = "3D000"
    INVALID_SAVEPOINT_SPECIFICATION = "3B001"
    SERIALIZATION_FAILURE = "40001"
    SYNTAX_ERROR = "42601"
    INVALID_FOREIGN_KEY = "42830"
    UNDEFINED_COLUMN = "42703"
    AMBIGUOUS_COLUMN = "42702"
    DUPLICATE_COLUMN = "42701"
    DUPLICATE_ALIAS = "42712"
    DATATYPE_MISMATCH = "42804"
    CANNOT_COERCE = "42846"
    GROUPING_ERROR = "42803"
    WINDOWING_ERROR = "42P20"
    WRONG_OBJECT_TYPE = "42809"
    UNDEFINED_FUNCTION = "42883"
    DUPLICATE_FUNCTION = "42723"
    INVALID_FUNCTION_DEFINITION = "42P13"
    AMBIGUOUS_FUNCTION = "42725"
    UNDEFINED_TABLE = "42P01"
    UNDEFINED_SCHEMA = "3F000"
    UNDEFINED_PARAMETER = "42P02"
    UNDEFINED_OBJECT = "42704"
    DUPLICATE_TABLE = "42P07"
    DUPLICATE_OBJECT = "42710"
    RESERVED_NAME = "42939"
    DUPLICATE_CURSOR = "42P03"
    DUPLICATE_PREPARED_STATEMENT = "42P05"
    INVALID_TABLE_DEFINITION = "42P16"
    INVALID_OBJECT_DEFINITION = "42P17"
    INVALID_COLUMN_REFERENCE = "42P10"
    INVALID_NAME = "42602"
    INDETERMINATE_DATATYPE = "42P18"
    INSUFFICIENT_PRIVILEGE = "42501"
    CONFIGURATION_LIMIT_EXCEEDED = "53400"
    PROGRAM_LIMIT_EXCEEDED = "54000"
    TOO_MANY_COLUMNS = "54011"
    DISK_FULL = "53100"
    TOO_MANY_CONNECTIONS = "53300"
    OBJECT_IN_USE = "55006"
    OBJECT_NOT_IN_PREREQUISITE_STATE = "55000"
    LOCK_NOT_AVAILABLE = "55P03"
    CANNOT_CHANGE_RUNTIME_PARAM = "55P02"
    QUERY_CANCELED = "57014"
    ADMIN_SHUTDOWN = "57P01"
    IDLE_SESSION_TIMEOUT = "57P05"
    CANNOT_CONNECT_NOW = "57P03"
    SYSTEM_ERROR = "58000"
    IO_ERROR = "58030"
    UNDEFINED_FILE = "58P01"
    INTERNAL_ERROR = "XX000"
    DATA_CORRUPTED = "XX001"
    # Class "MP" is Millpond's own.
    STREAM_OVERRUN = "MP001"
    VERSION_NOT_RETAINED = "MP002"


@dataclass(frozen=True)
class Concerns:
    """The objects that an error is about, for clients that want to know without reading its message."""

    schema: str | None = None
    table: str | None = None
    column: str | None = None
    constraint: str | None = None
    datatype: str | None = None


class MillpondError(Exception):
    """A mistake that its user can understand and mend.

    `position` is the 1-based character position in the statement's text, as in PostgreSQL; `concerns` are the objects
    that it is about, where PostgreSQL names them.
    """

    def __init__(
        self,
        sqlstate: SqlState,
        message: str,
        *,
        detail: str | None = None,
        hint: str | None = None,
        position: int | None = None,
        concerns: Concerns | None = None,
    ) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate
        self.message = message
        self.detail = detail
        self.hint = hint
        self.position = position
        self.concerns = concerns or Concerns()

    def __str__(self) -> str:
        """All fields, one a line, as psql prints them."""
        lines = [self.message]
        if self.detail:
            lines.append(f"DETAIL:  {self.detail}")
        if self.hint:
            lines.append(f"HINT:  {self.hint}")
        return "\n".join(lines)


class InternalError(MillpondError):
    """A broken invariant: our fault, never the user's."""

    def __init__(self, message: str, *, detail: str | None = None) -> None:
        super().__init__(
            SqlState.INTERNAL_ERROR,
            message,
            detail=detail,
            hint="This is a defect of Millpond; please report it with the statement.",
        )


def not_supported(what: str, *, hint: str | None = None, position: int | None = None) -> MillpondError:
    """An error for a feature that PostgreSQL has and Millpond has not."""
    return MillpondError(SqlState.FEATURE_NOT_SUPPORTED, f"{what} is not supported", hint=hint, position=position)


_NAME_CHARACTERS_MAX = 63
"""PostgreSQL's names are no longer. Comparing takes memory for each character, and texts may be of any size."""


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """A hint that names the candidate nearest to `name`, if one is near.

    >>> closest("statoin", ["station", "part_usage"])
    'Perhaps you meant "station".'
    >>> closest("x", ["station"]) is None
    True
    """
    if len(name) > _NAME_CHARACTERS_MAX:
        return None
    found = difflib.get_close_matches(name, list(candidates), n=1, cutoff=0.6)
    return f'Perhaps you meant "{found[0]}".' if found else None
