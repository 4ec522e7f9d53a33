"""The native core, where it was built: the rules of `arena.rules.pure` in plain C."""

from arena.rules.native._core import State

__all__ = ["State"]
