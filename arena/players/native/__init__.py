"""The usual case of an exchange with a bot, written in C and optional: see
`arena.players.channel`.
"""

from arena.players.native._exchange import exchange

__all__ = ["exchange"]
