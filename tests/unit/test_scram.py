"""SCRAM-SHA-256: the example of its RFC, what is refused, and users that do not exist."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millpond.errors import MillpondError
from millpond.scram import ITERATIONS, ScramExchange, Verifier, prepared

SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
PROOF = b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
FINAL = b"c=biws,r=rOprNGfwEbeRWgbNEkqO" + NONCE.encode() + b"," + PROOF


def exchange(password: str = "pencil") -> ScramExchange:
    return ScramExchange(Verifier.of(password, salt=SALT), nonce=NONCE)


def test_the_example_of_rfc_7677() -> None:
    attempt = exchange()
    assert attempt.first(FIRST) == b"r=rOprNGfwEbeRWgbNEkqO" + NONCE.encode() + b",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    assert attempt.final(FINAL) == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def test_a_wrong_password_is_found_at_the_end() -> None:
    attempt = exchange("pen")
    attempt.first(FIRST)
    assert attempt.final(FINAL) is None


@pytest.mark.parametrize("first", [b"", b"n,,", b"p=tls-server-end-point,,n=,r=abc", b"n,,n=user,r=", b"\xff"])
def test_malformed_beginnings(first: bytes) -> None:
    with pytest.raises(MillpondError, match="malformed SCRAM message"):
        exchange().first(first)


@pytest.mark.parametrize(
    "final",
    [b"", FINAL.replace(b"c=biws", b"c=eSws"), FINAL.replace(NONCE.encode(), b"x"), FINAL.replace(PROOF, b"p=")],
    ids=["nothing", "another header", "another nonce", "no proof"],
)
def test_malformed_ends(final: bytes) -> None:
    attempt = exchange()
    attempt.first(FIRST)
    with pytest.raises(MillpondError, match="malformed SCRAM message"):
        attempt.final(final)


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_no_bytes_pass_or_break_it(first: bytes, final: bytes) -> None:
    attempt = exchange()
    try:
        attempt.first(first)
        assert attempt.final(final) is None
    except MillpondError as error:
        assert error.message == "malformed SCRAM message"  # noqa: PT017


@given(st.text(min_size=1, max_size=20))
def test_verifiers_are_stored_and_salted(password: str) -> None:
    verifier = Verifier.of(password, iterations=2)
    assert Verifier.loads(verifier.dumps()) == verifier
    assert Verifier.of(password, iterations=2) != verifier


def test_users_that_do_not_exist_always_have_the_same_salt() -> None:
    one, other = Verifier.mock("nobody", b"secret"), Verifier.mock("nobody", b"secret")
    assert (one.salt, one.iterations) == (other.salt, ITERATIONS)
    assert one.stored_key != other.stored_key
    assert Verifier.mock("somebody", b"secret").salt != one.salt
    assert Verifier.mock("nobody", b"other secret").salt != one.salt


def test_passwords_are_prepared() -> None:
    assert prepared("a\u00a0b") == "a b"
    assert prepared("\u00aa") == "a"
    assert prepared("\u0007") == "\u0007"
