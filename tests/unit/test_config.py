"""Settings: parsing, layers, and errors as PostgreSQL words them."""

from __future__ import annotations

import tracemalloc

import pytest

from millpond.config import SETTINGS, Settings, find
from millpond.errors import MillpondError


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("statement_timeout", "250", 250),
        ("statement_timeout", "2s", 2000),
        ("statement_timeout", "1 min", 60_000),
        ("statement_timeout", 7, 7),
        ("stream_capacity_bytes", "3MB", 3 << 20),
        ("stream_capacity", "12", 12),
        ("standard_conforming_strings", "ON", True),
        ("timezone", "utc", "UTC"),
        ("application_name", "psql", "psql"),
    ],
)
def test_values_are_parsed_with_their_units(name: str, given: object, value: object) -> None:
    assert SETTINGS[name].parse(given) == value


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("statement_timeout", "5 parsecs", 'invalid value for parameter "statement_timeout": "5 parsecs"'),
        ("statement_timeout", "-1", "-1 is outside the valid range"),
        ("stream_capacity", "0", "0 is outside the valid range"),
        ("stream_capacity", "1kB", 'invalid value for parameter "stream_capacity"'),
        ("standard_conforming_strings", "maybe", "requires a Boolean value"),
        ("timezone", "Mars", 'invalid value for parameter "timezone": "Mars"'),
    ],
)
def test_bad_values_are_refused(name: str, given: object, message: str) -> None:
    with pytest.raises(MillpondError, match="parameter") as caught:
        SETTINGS[name].parse(given)
    assert message in caught.value.message
    assert caught.value.sqlstate == "22023"


def test_layers() -> None:
    pond = Settings.of_pond(
        {"stream_capacity": 5}, {"MILLPOND_STREAM_CAPACITY": "4", "MILLPOND_STATEMENT_TIMEOUT": "1s"}
    )
    session = Settings(pond)
    assert session.integer("stream_capacity") == 5
    assert session.integer("statement_timeout") == 1000
    session.set("STATEMENT_TIMEOUT", "3s")
    assert (session.show("statement_timeout"), pond.show("statement_timeout")) == ("3s", "1s")
    session.reset("statement_timeout")
    assert session.show("statement_timeout") == "1s"


def test_a_setting_of_the_pond_is_not_for_set() -> None:
    with pytest.raises(MillpondError, match="cannot be changed now") as caught:
        Settings().set("stream_capacity", 1)
    assert "MILLPOND_STREAM_CAPACITY" in (caught.value.hint or "")


def test_a_fixed_setting_is_for_nobody() -> None:
    for change in (lambda: Settings().set("server_version", 1), lambda: Settings.of_pond({"server_version": 1})):
        with pytest.raises(MillpondError, match="cannot be changed"):
            change()
    assert Settings.of_pond({}, {"MILLPOND_SERVER_VERSION": "1"}).text("server_version") == "16.0"


def test_unknown_names_suggest_the_closest() -> None:
    with pytest.raises(MillpondError, match='unrecognized configuration parameter "statment_timeout"') as caught:
        find("statment_timeout")
    assert caught.value.hint == 'Perhaps you meant "statement_timeout".'


def test_a_name_of_any_length_costs_nothing() -> None:
    tracemalloc.start()
    with pytest.raises(MillpondError, match="unrecognized configuration parameter") as caught:
        find("x" * 1_000_000)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.hint is None
    assert taken < 10_000_000


def test_every_setting_says_why() -> None:
    for name, setting in SETTINGS.items():
        assert name == setting.name == name.lower()
        assert setting.unit
        assert setting.reason.endswith(".")
        assert setting.parse(setting.default) == setting.default or setting.default == ""
