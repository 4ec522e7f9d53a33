"""qin-arena: bots in any language play Qin under a referee, and the standings come
with error bars.
"""

__version__ = "1.1.0.dev0"
