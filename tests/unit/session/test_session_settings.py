"""The settings of a session: which of SET, SET LOCAL, RESET and the end of a transaction wins."""

from __future__ import annotations

import pytest

from millpond.config import Settings
from millpond.errors import MillpondError
from millpond.session_settings import SessionSettings


@pytest.fixture
def settings() -> SessionSettings:
    made = SessionSettings(Settings.of_pond({"statement_timeout": "1min"}, {}))
    made.start_with({"application_name": "started"})
    return made


def test_what_lasts(settings: SessionSettings) -> None:
    settings.set_local("statement_timeout", "2s")
    settings.set("statement_timeout", "3s")
    assert settings.show("statement_timeout") == "3s"
    settings.set_local("statement_timeout", "4s")
    assert settings.show("statement_timeout") == "4s"
    settings.end_transaction()
    assert settings.show("statement_timeout") == "3s"
    settings.reset("STATEMENT_TIMEOUT")
    assert settings.show("statement_timeout") == "1min"


def test_marks(settings: SessionSettings) -> None:
    mark = settings.mark()
    settings.set("application_name", "changed")
    settings.set_local("lock_timeout", 5)
    settings.return_to(mark)
    assert (settings.text("application_name"), settings.integer("lock_timeout")) == ("started", 0)


def test_settings_of_a_transaction_follow_those_of_the_session(settings: SessionSettings) -> None:
    settings.set("default_transaction_read_only", "on")
    assert settings.flag("transaction_read_only")
    settings.set("transaction_read_only", "off")
    assert not settings.flag("transaction_read_only")
    settings.end_transaction()
    assert settings.flag("transaction_read_only")


def test_modes_are_decided_by_the_first_query(settings: SessionSettings) -> None:
    settings.set("transaction_read_only", "on")
    settings.modes_decided = True
    settings.set("transaction_read_only", "on")
    with pytest.raises(MillpondError, match="must be set before any query") as caught:
        settings.set("transaction_read_only", "off")
    assert caught.value.sqlstate == "25001"


def test_names_with_a_dot_are_the_clients_own(settings: SessionSettings) -> None:
    settings.set("My.Name", "x")
    assert settings.show("my.name") == "x"
    assert "my.name" in {setting.name for setting in settings}
    settings.reset_all()
    assert settings.show("my.name") == ""
    with pytest.raises(MillpondError, match="invalid configuration parameter name"):
        settings.set("my.2", "x")


def test_times_are_shown_in_the_largest_unit(settings: SessionSettings) -> None:
    shown = {}
    for given in ("0", "1", "1500", "90s", "2min", "48h"):
        settings.set("statement_timeout", given)
        shown[given] = settings.show("statement_timeout")
    assert shown == {"0": "0", "1": "1ms", "1500": "1500ms", "90s": "90s", "2min": "2min", "48h": "2d"}
