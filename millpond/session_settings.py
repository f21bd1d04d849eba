"""The settings of one session: what its client asked for at its start, what SET changed, what a transaction undoes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from millpond.config import SETTINGS, Settings, find
from millpond.errors import MillpondError, SqlState
from millpond.setting import Setting, Value


@dataclass(frozen=True)
class SettingsMark:
    """Settings at some moment, to which a transaction can go back."""

    values: Mapping[str, Value]
    local: Mapping[str, Value]


class SessionSettings(Settings):
    """RESET goes back to what the session started with. A name with a dot in it is the client's own, of any text.

    `modes_decided` is set when a transaction has run something: then its modes are what they are.
    """

    def __init__(self, pond: Settings) -> None:
        self._start = Settings(pond)
        super().__init__(self._start)
        self._local: dict[str, Value] = {}
        self._own: dict[str, Setting] = {}
        self.modes_decided = False

    def start_with(self, wanted: Mapping[str, str]) -> None:
        """What the client asked for when it connected."""
        for name, value in wanted.items():
            self._start.set(name, value)

    # -- reading -----------------------------------------------------------------------------------------------

    def find(self, name: str) -> Setting:
        return self._own.get(name.lower()) or find(name)

    def get(self, name: str) -> Value:
        if name in self._local:
            return self._local[name]
        if name in self._own:
            return self._values.get(name, "")
        follows = SETTINGS[name].follows
        return self.get(follows) if follows else super().get(name)

    def __iter__(self) -> Iterator[Setting]:
        yield from super().__iter__()
        yield from self._own.values()

    # -- changing ----------------------------------------------------------------------------------------------

    def change(self, name: str, value: str | None, *, local: bool) -> None:
        """Give a setting a value, or (None) its default; local ones end with the transaction."""
        if value is None:
            self.reset(name, local=local)
        elif local:
            self.set_local(name, value)
        else:
            self.set(name, value)

    def set(self, name: str, given: object) -> None:
        """`SET name = given`; the settings of a transaction are its own, however they are set."""
        setting = self._settable(name)
        if setting.follows:
            self.set_local(name, given)
        else:
            super().set(setting.name, given)
            self._local.pop(setting.name, None)

    def set_local(self, name: str, given: object) -> None:
        """`SET LOCAL name = given`: until the transaction ends."""
        setting = self._settable(name)
        self.check_settable(setting)
        value = setting.parse(given)
        if setting.follows and self.modes_decided:
            self._check_mode(setting, value)
        self._local[setting.name] = value

    def reset(self, name: str, *, local: bool = False) -> None:
        """`RESET name`, or `SET LOCAL name TO DEFAULT`."""
        setting = self.find(name)
        if local or setting.follows:
            self._local[setting.name] = self._start.get(setting.follows or setting.name)
        else:
            super().reset(setting.name)
            self._local.pop(setting.name, None)

    def reset_all(self) -> None:
        super().reset_all()
        self._local = {name: value for name, value in self._local.items() if self.find(name).follows}

    def _settable(self, name: str) -> Setting:
        if "." in name and name.lower() not in SETTINGS:
            return self._own.setdefault(name.lower(), _own_setting(name.lower()))
        return self.find(name)

    # -- transactions ------------------------------------------------------------------------------------------

    def mark(self) -> SettingsMark:
        return SettingsMark(dict(self._values), dict(self._local))

    def return_to(self, mark: SettingsMark) -> None:
        self._values, self._local = dict(mark.values), dict(mark.local)

    def end_transaction(self) -> None:
        """What was local is over."""
        self._local.clear()
        self.modes_decided = False

    def _check_mode(self, setting: Setting, value: Value) -> None:
        """A transaction may still promise to write nothing after it has run something, but not take that back."""
        before = self.get(setting.name)
        message = None
        if setting.name == "transaction_isolation" and value != before:
            message = "SET TRANSACTION ISOLATION LEVEL must be called before any query"
        elif setting.name == "transaction_read_only" and before and not value:
            message = "transaction read-write mode must be set before any query"
        if message is not None:
            raise MillpondError(SqlState.ACTIVE_SQL_TRANSACTION, message)


_RESERVED_PREFIXES = ("spark", "hive", "millpond")
"""Whoever sets options of the engine means something that no client may do, and is told so."""


def _own_setting(name: str) -> Setting:
    parts = name.split(".")
    detail = None
    if not all(part.isidentifier() for part in parts):
        detail = "Custom parameter names must be two or more simple identifiers separated by dots."
    elif parts[0] in _RESERVED_PREFIXES:
        detail = f'"{parts[0]}" is a reserved prefix.'
    if detail is not None:
        message = f'invalid configuration parameter name "{name}"'
        raise MillpondError(SqlState.INVALID_NAME, message, detail=detail)
    return Setting(name, "", "text", "The client's own.", scope="session")
