"""Fixtures of the rules tests that the measurements need too."""

from tests.support.cores import both

__all__ = ["both"]
