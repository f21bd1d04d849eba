"""The start of a connection, keys to cancel with, and reports: all that needs neither socket nor Spark."""

from __future__ import annotations

import pytest

from millpond.errors import InternalError, MillpondError, SqlState
from millpond.result import Notice
from millpond.server.cancellation import Cancellations
from millpond.server.reports import as_sql_error, error_response, is_wanted
from millpond.server.startup import read_startup
from millpond.wire.backend import NegotiateProtocolVersion
from millpond.wire.startup import PROTOCOL_3_0, PROTOCOL_3_2, CancelRequest, Startup


def test_parameters_are_settings_but_for_a_few() -> None:
    parameters = {"user": "u", "database": "pond", "application_name": "a", "options": r"-c datestyle=ISO,\ MDY"}
    opening = read_startup(Startup(PROTOCOL_3_0, parameters))
    assert (opening.user, opening.version, opening.negotiation) == ("u", PROTOCOL_3_0, None)
    assert opening.settings == {"datestyle": "ISO, MDY", "application_name": "a"}


@pytest.mark.parametrize("version", [PROTOCOL_3_0, PROTOCOL_3_0 + 1, PROTOCOL_3_2, PROTOCOL_3_2 + 1])
def test_the_newest_version_that_both_know(version: int) -> None:
    opening = read_startup(Startup(version, {"user": "u", "database": "pond"}))
    expected = NegotiateProtocolVersion(PROTOCOL_3_2) if version > PROTOCOL_3_2 else None
    assert (opening.version, opening.negotiation) == (min(version, PROTOCOL_3_2), expected)


@pytest.mark.parametrize("options", ["-x", "-c", "statement_timeout=1"])
def test_other_options_are_refused(options: str) -> None:
    with pytest.raises(MillpondError, match="invalid command-line argument"):
        read_startup(Startup(PROTOCOL_3_0, {"user": "u", "database": "pond", "options": options}))


def test_a_key_cancels_its_own_connection_only() -> None:
    canceled: list[str] = []
    cancellations = Cancellations()
    one = cancellations.register(1, lambda: canceled.append("one"), PROTOCOL_3_0)
    other = cancellations.register(2, lambda: canceled.append("other"), PROTOCOL_3_2)
    assert (len(one.secret), len(other.secret)) == (4, 32)
    cancellations.cancel(CancelRequest(one.process, other.secret))
    cancellations.cancel(CancelRequest(99, one.secret))
    cancellations.cancel(CancelRequest(other.process, other.secret))
    cancellations.forget(one)
    cancellations.cancel(CancelRequest(one.process, one.secret))
    assert canceled == ["other"]


def test_errors_carry_all_that_is_known() -> None:
    error = MillpondError(SqlState.SYNTAX_ERROR, "wrong", detail="d", hint="h", position=3)
    fields = {"S": "ERROR", "V": "ERROR", "C": "42601", "M": "wrong", "D": "d", "H": "h", "P": "3"}
    assert error_response(error).report == fields
    assert error_response(error, fatal=True).report["S"] == "FATAL"


def test_what_nobody_expected_is_an_internal_error(caplog: pytest.LogCaptureFixture) -> None:
    error = as_sql_error(ZeroDivisionError("oops"))
    assert isinstance(error, InternalError)
    assert error.sqlstate == "XX000"
    assert "oops" in caplog.text


def test_notices_below_a_level_are_not_wanted() -> None:
    assert is_wanted(Notice("n"), "notice")
    assert not is_wanted(Notice("n"), "warning")
    assert is_wanted(Notice("w", "WARNING"), "warning")
