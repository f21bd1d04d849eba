"""Every setting in one place: its unit, default and reason.

A setting comes from, in rising order: its default, the environment (`MILLPOND_<NAME>`), an argument of
`millpond.connect`, and, for those of a session, `SET`. Those of a pond stay while it is open; those that are fixed
only tell clients how things are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from millpond.errors import MillpondError, SqlState, closest
from millpond.server_settings import FIXED_SETTINGS, SERVER_SETTINGS
from millpond.setting import Setting, Value

__all__ = ["SETTINGS", "Setting", "Settings", "Value", "find"]

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
            "Where memory streams and readers' copies live: /dev/shm if empty and there is one, else the pond itself.",
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
        *FIXED_SETTINGS,
        *SERVER_SETTINGS,
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
