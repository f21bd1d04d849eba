"""Every setting in one place: its unit, default and reason.

A setting comes from, in rising order: its default, the environment (`MILLPOND_<NAME>`), an argument of
`millpond.connect`, and, for those of a session, `SET`. Those of a pond stay while it is open; those that are fixed
only tell clients how things are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from millpond.errors import MillpondError, SqlState, closest

Value = str | int | bool


@dataclass(frozen=True)
class Setting:
    """One setting; `choices` restricts a text, `synonyms` are other spellings of its default, `minimum` restricts a
    number.

    `spelling` is PostgreSQL's own where it has capitals; a setting that is `reported` is told to clients.
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
        return text

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
        return words[word]

    def _parse_int(self, given: object) -> int:
        factors = _MILLISECONDS if self.unit == "ms" else _BYTES if self.unit == "bytes" else {"": 1}
        match = re.fullmatch(r"\s*(-?\d+)\s*([a-zA-Z]*)\s*", str(given))
        if match is None or match[2] not in factors:
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

    def _invalid(self, given: object, *, hint: str | None) -> MillpondError:
        return MillpondError(
            SqlState.INVALID_PARAMETER_VALUE, f'invalid value for parameter "{self.name}": "{given}"', hint=hint
        )


_MILLISECONDS = {"": 1, "ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_BYTES = {"": 1, "B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}

SERVER_VERSION = "16.0"

SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        # -- of a pond ---------------------------------------------------------------------------------------
        Setting(
            "spark_driver_memory",
            "4g",
            "JVM size",
            "Local mode runs everything in the driver; four gigabytes leave room for Python and the page cache.",
        ),
        Setting(
            "spark_shuffle_partitions",
            2,
            "partitions",
            "Small data dominates and a task costs 3 to 5 ms: about as many partitions as a laptop has cores.",
            minimum=1,
        ),
        Setting(
            "spark_log_level",
            "OFF",
            "log4j level",
            "Errors reach the user as SQL errors; Spark's own log would only repeat them on the terminal.",
            choices=("OFF", "ERROR", "WARN", "INFO", "DEBUG"),
        ),
        Setting(
            "scratch_directory",
            "",
            "path",
            "Where memory streams and readers' pieces live: /dev/shm if empty and there is one, else the pond itself.",
        ),
        Setting(
            "stream_capacity",
            10_000_000,
            "rows",
            "Rows that a stream keeps unless its OPTIONS say otherwise: minutes of a busy stream, seconds to scan.",
            minimum=1,
        ),
        Setting(
            "stream_capacity_bytes",
            4 << 30,
            "bytes",
            "Bytes that a stream keeps unless its OPTIONS say otherwise: wide rows must not fill the disk.",
            minimum=1,
        ),
        Setting(
            "table_files_max",
            32,
            "files",
            "An INSERT that leaves a table with more small files than this merges them: a scan pays for each file.",
            minimum=2,
        ),
        Setting(
            "table_file_small_bytes",
            8 << 20,
            "bytes",
            "Files below this size are small: merging them costs less than a scan saves.",
            minimum=1,
        ),
        Setting(
            "table_retention",
            7 * 86_400_000,
            "ms",
            "VACUUM keeps files that a version of the last days may still read, as Delta Lake does by default.",
            minimum=3_600_000,
        ),
        Setting(
            "view_chunk_rows",
            1_000_000,
            "rows",
            "A view reads so many new tuples without being asked: big chunks make the fixed cost of a job small.",
            minimum=1,
        ),
        # -- fixed -------------------------------------------------------------------------------------------
        Setting(
            "server_version",
            SERVER_VERSION,
            "version",
            "The version of PostgreSQL that clients may take this for: they choose by it what to ask of the catalog.",
            scope="fixed",
            reported=True,
        ),
        Setting("server_version_num", 160_000, "version", "The same, as a number.", scope="fixed"),
        Setting("server_encoding", "UTF8", "encoding", "Text is UTF-8 everywhere.", scope="fixed", reported=True),
        Setting(
            "integer_datetimes", True, "boolean", "Times are counted in microseconds.", scope="fixed", reported=True
        ),
        Setting(
            "transaction_isolation",
            "repeatable read",
            "choice",
            "Transactions have snapshot isolation, which PostgreSQL calls so.",
            scope="fixed",
        ),
        Setting(
            "default_transaction_isolation", "repeatable read", "choice", "There is no other level.", scope="fixed"
        ),
        Setting(
            "default_transaction_read_only",
            False,
            "boolean",
            "A transaction is read only if it says so.",
            scope="fixed",
            reported=True,
        ),
        Setting("in_hot_standby", False, "boolean", "There is no standby.", scope="fixed", reported=True),
        Setting("max_identifier_length", 63, "bytes", "Longer names work too; clients cut theirs here.", scope="fixed"),
        # -- of a server -------------------------------------------------------------------------------------
        Setting(
            "max_connections",
            100,
            "connections",
            "Each may hold a thread while its statement runs; more than this are turned away.",
            minimum=1,
        ),
        Setting(
            "authentication_timeout",
            60_000,
            "ms",
            "A client that has not said who it is by then is cut off, so that strangers cannot hold connections.",
            minimum=1000,
        ),
        Setting(
            "startup_message_bytes_max",
            10_000,
            "bytes",
            "The largest message before authentication, as in PostgreSQL: strangers get little memory.",
            minimum=1000,
        ),
        Setting(
            "message_bytes_max",
            256 << 20,
            "bytes",
            "The largest message of a client: it is held in memory as a whole.",
            minimum=10_000,
        ),
        Setting(
            "input_buffer_bytes",
            4 << 20,
            "bytes",
            "What is read ahead of a client that sends faster than its statements run, such as by COPY.",
            minimum=65_536,
        ),
        Setting(
            "output_buffer_bytes",
            256 << 10,
            "bytes",
            "Results are sent in pieces of about this size; a slow client makes its own statement wait.",
            minimum=1024,
        ),
        Setting(
            "result_memory_bytes",
            64 << 20,
            "bytes",
            "A result that may be larger, by Spark's estimate, goes by way of files instead of memory.",
        ),
        Setting(
            "copy_directory",
            "",
            "path",
            "Where superusers may COPY from and to files of the server; nowhere if empty.",
        ),
        # -- of a session ------------------------------------------------------------------------------------
        Setting(
            "stream_scan",
            "snapshot",
            "choice",
            "A SELECT on a stream reads what the ring holds now.",
            scope="session",
            choices=("snapshot",),
        ),
        Setting(
            "freshness",
            0,
            "ms",
            "How old the answer of a view may be; 0 means that it has every insert acknowledged before the query.",
            scope="session",
        ),
        Setting(
            "statement_timeout",
            0,
            "ms",
            "Cancels a statement that runs longer; 0 never does.",
            scope="session",
        ),
        Setting(
            "timezone",
            "UTC",
            "time zone",
            "timestamptz values are read and shown in this zone; the engine computes in UTC only.",
            scope="session",
            choices=("UTC",),
            spelling="TimeZone",
            reported=True,
        ),
        Setting("application_name", "", "text", "Shown to whoever watches the pond.", scope="session", reported=True),
        Setting(
            "client_encoding",
            "UTF8",
            "encoding",
            "Text is UTF-8 everywhere.",
            scope="session",
            choices=("UTF8",),
            synonyms=("utf-8", "unicode", "'utf-8'", "'utf8'"),
            reported=True,
        ),
        Setting(
            "standard_conforming_strings",
            True,
            "boolean",
            "A backslash in '...' is an ordinary character; E'...' has the escapes.",
            scope="session",
            reported=True,
        ),
        Setting(
            "datestyle",
            "ISO, MDY",
            "choice",
            "Dates are printed as ISO 8601 writes them; 01/02/2024 is read as the second of January.",
            scope="session",
            choices=("ISO, MDY",),
            synonyms=("iso", "iso,mdy", "mdy", "iso, us", "iso,us"),
            spelling="DateStyle",
            reported=True,
        ),
        Setting(
            "intervalstyle",
            "postgres",
            "choice",
            "How intervals are printed.",
            scope="session",
            choices=("postgres",),
            spelling="IntervalStyle",
            reported=True,
        ),
        Setting(
            "extra_float_digits",
            1,
            "digits",
            "Drivers set it; floats are always printed with just the digits that tell them apart.",
            scope="session",
            minimum=-15,
        ),
        Setting(
            "client_min_messages",
            "notice",
            "choice",
            "Messages below this level are not sent to the client.",
            scope="session",
            choices=("debug", "log", "notice", "warning", "error"),
        ),
        Setting(
            "search_path",
            '"$user", public',
            "schemas",
            "Drivers read and set it; relations are in the schema public whatever it says.",
            scope="session",
        ),
        Setting(
            "idle_in_transaction_session_timeout",
            0,
            "ms",
            "Ends a connection that waits longer inside a transaction, whose snapshot keeps old files; 0 never does.",
            scope="session",
        ),
    )
}


def find(name: str) -> Setting:
    """The setting called `name`, whatever its case."""
    setting = SETTINGS.get(name.lower())
    if setting is None:
        raise MillpondError(
            SqlState.UNDEFINED_OBJECT,
            f'unrecognized configuration parameter "{name}"',
            hint=closest(name.lower(), SETTINGS),
        )
    return setting


def _check_not_fixed(setting: Setting) -> None:
    if setting.scope == "fixed":
        message = f'parameter "{setting.name}" cannot be changed'
        raise MillpondError(SqlState.CANNOT_CHANGE_RUNTIME_PARAM, message)


class Settings:
    """Values of settings, layered: what is not set here comes from `below`, at last from the defaults."""

    def __init__(self, below: Settings | None = None) -> None:
        self._below = below
        self._values: dict[str, Value] = {}

    @classmethod
    def of_pond(cls, arguments: Mapping[str, object], environment: Mapping[str, str] = os.environ) -> Settings:
        """The settings of a pond: its environment's, then its arguments'."""
        settings = cls()
        for name in (setting.name for setting in SETTINGS.values() if setting.scope != "fixed"):
            text = environment.get(f"MILLPOND_{name.upper()}")
            if text is not None:
                settings._values[name] = SETTINGS[name].parse(text)
        for name, given in arguments.items():
            _check_not_fixed(find(name))
            settings._values[find(name).name] = find(name).parse(given)
        return settings

    def set(self, name: str, given: object) -> None:
        """`SET name = given`."""
        setting = find(name)
        _check_not_fixed(setting)
        if setting.scope != "session":
            raise MillpondError(
                SqlState.CANNOT_CHANGE_RUNTIME_PARAM,
                f'parameter "{setting.name}" cannot be changed now',
                hint=f'Give it to millpond.connect(), or in the environment as "MILLPOND_{setting.name.upper()}".',
            )
        self._values[setting.name] = setting.parse(given)

    def reset(self, name: str) -> None:
        """`RESET name`."""
        self._values.pop(find(name).name, None)

    def reset_all(self) -> None:
        self._values.clear()

    def get(self, name: str) -> Value:
        if name in self._values:
            return self._values[name]
        return self._below.get(name) if self._below else SETTINGS[name].default

    def integer(self, name: str) -> int:
        value = self.get(name)
        assert isinstance(value, int)
        return value

    def text(self, name: str) -> str:
        return str(self.get(name))

    def show(self, name: str) -> str:
        """The value as `SHOW` prints it."""
        value = self.get(find(name).name)
        return ("on" if value else "off") if isinstance(value, bool) else str(value)

    def __iter__(self) -> Iterator[Setting]:
        return iter(SETTINGS.values())
