"""The usual case of an exchange with a bot in C, if it was built: see `arena.players.channel`."""

from arena.players.native._exchange import exchange

__all__ = ["exchange"]
