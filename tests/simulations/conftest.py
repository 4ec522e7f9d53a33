"""The fixtures of simulated games."""

from tests.rules.conftest import both, state_class

__all__ = ["both", "state_class"]
