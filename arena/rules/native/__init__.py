"""The native core: the rules of `arena.rules.pure` in plain C. Importing it fails if it was not
built.
"""

from arena.rules.native._core import State

__all__ = ["State"]
