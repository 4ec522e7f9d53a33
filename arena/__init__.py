"""qin-arena: bots in any language play Qin under a referee; the standings have error bars you can
trust.
"""

__version__ = "1.1.0.dev0"
