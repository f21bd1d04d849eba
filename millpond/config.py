"""Every setting in one place: its unit, default and reason.

A setting comes from, in rising order: its default, the environment (`MILLPOND_<NAME>`), an argument of
`millpond.connect`, and, for those of a session, `SET`. Those of a pond stay while it is open; those that are fixed
only tell clients how things are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from millpond.client_settings import SESSION_SETTINGS
from millpond.errors import MillpondError, SqlState, closest
from millpond.server_settings import FIXED_SETTINGS, IDENTITY_SETTINGS, SERVER_SETTINGS
from millpond.setting import Setting, Value
from millpond.subscription_settings import SUBSCRIPTION_SETTINGS

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
            "history_retention",
            3_600_000,
            "ms",
            "How long a table can be read as it was before a change: time to look into what just happened.",
        ),
        Setting(
            "history_versions",
            10_000,
            "versions",
            "States of a table that are remembered: an hour of three commits a second.",
            minimum=1,
        ),
        Setting(
            "view_chunk_rows",
            1_000_000,
            "rows",
            "A view reads so many new tuples without being asked: big chunks make the fixed cost of a job small.",
            minimum=1,
        ),
        Setting(
            "query_chunk_rows",
            100_000,
            "rows",
            "A continuous query takes so many tuples at a time: what it makes of them is in memory as a whole.",
            minimum=1,
        ),
        Setting(
            "cycle_piece_rows",
            100_000,
            "rows",
            "So many tuples of a cycle before its cut are worth a job of their own; after a second, a tenth of them.",
            minimum=1,
        ),
        *SUBSCRIPTION_SETTINGS,
        *FIXED_SETTINGS,
        *SERVER_SETTINGS,
        *SESSION_SETTINGS,
        *IDENTITY_SETTINGS,
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
        setting = self.find(name)
        self.check_settable(setting)
        self._values[setting.name] = setting.parse(given)

    def find(self, name: str) -> Setting:
        """The setting called `name`."""
        return find(name)

    @staticmethod
    def check_settable(setting: Setting) -> None:
        """Raise if SET may not change it."""
        _check_not_fixed(setting)
        if setting.scope != "session":
            raise MillpondError(
                SqlState.CANNOT_CHANGE_RUNTIME_PARAM,
                f'parameter "{setting.name}" cannot be changed now',
                hint=f'Give it to millpond.connect(), or in the environment as "MILLPOND_{setting.name.upper()}".',
            )

    def reset(self, name: str) -> None:
        """`RESET name`."""
        self._values.pop(self.find(name).name, None)

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

    def flag(self, name: str) -> bool:
        return bool(self.get(name))

    def text(self, name: str) -> str:
        return str(self.get(name))

    def show(self, name: str) -> str:
        """The value as `SHOW` prints it."""
        setting = self.find(name)
        return setting.show(self.get(setting.name))

    def __iter__(self) -> Iterator[Setting]:
        return iter(SETTINGS.values())
