"""The usual case of one exchange with a bot in C: see `arena.players.exchange`. Importing it fails
if it was not built.
"""

from arena.players.native._exchange import exchange

__all__ = ["exchange"]
