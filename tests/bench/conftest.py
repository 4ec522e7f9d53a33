"""Fixtures of the rules tests that the measurements need too."""

from tests.rules.conftest import both

__all__ = ["both"]
