r"""Decks and bots' seeds, made from a run's seed with SHA-256, so that any language can reproduce
them.

The deck of a deal is the 72 tiles sorted by ``sha256("deck\n" SEED "\n" BOARD "\n" DEAL "\n"
NUMBER)``, where the tiles are numbered from 0: twelve RR, twelve YY, and so on. Where each game has
its own deck (``--seatings single``), BOARD is followed by ``/`` and the line-up, as in the game's
id. A bot cannot work out any of it from what it is told.
"""

from functools import lru_cache
from hashlib import sha256

from arena.rules.game import deck_sorted

SEED_BITS = 31


@lru_cache(maxsize=4096)
def deck_of(seed: str, board: str, deal: int) -> str:
    """The deck of a deal, as text in draw order."""
    prefix = sha256(f"deck\n{seed}\n{board}\n{deal}\n".encode())

    def key(number: int) -> bytes:
        digest = prefix.copy()
        digest.update(str(number).encode())
        return digest.digest()

    return deck_sorted(key)


def bot_seed(seed: str, game: str, seat: int) -> int:
    """The seed for the bot at a seat in a game; it has 31 bits, so that every language can store
    it.
    """
    digest = sha256(f"bot\n{seed}\n{game}\n{seat}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> (32 - SEED_BITS)
