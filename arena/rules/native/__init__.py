"""The native core: the rules of `arena.rules.pure` in C. Importing this module raises ImportError
if the C code was not compiled.
"""

from arena.rules.native._core import State, legal_json, position_json

__all__ = ["State", "legal_json", "position_json"]
