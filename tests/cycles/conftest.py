"""Fixtures of the tests of cycle queries: those of the view tests."""

from __future__ import annotations

from tests.views.conftest import open_pond

__all__ = ["open_pond"]
