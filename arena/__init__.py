"""qin-arena: bots in any language play Qin under a referee; the standings have honest error bars."""

__version__ = "0.1.0"
