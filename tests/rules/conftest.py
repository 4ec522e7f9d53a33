"""Fixtures of the rules tests: a test that takes ``State`` runs on each core that is installed."""

from tests.support.cores import both, state_class

__all__ = ["both", "state_class"]
