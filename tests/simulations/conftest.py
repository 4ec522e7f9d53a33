"""The fixtures of simulated games."""

from tests.support.cores import both, state_class

__all__ = ["both", "state_class"]
