"""Plays the move after which it stands best: not only pagodas placed count, but what is likely to
come of the position.

A province of three or four spaces may soon be major, a village held by a narrow lead may be taken,
a win is worth most. `outlook` weighs all this for every seat; the bot wants its own to be high and
those of the others to be low.
"""

from arena.sdk import Position, run


def choose(position: Position) -> int:
    outlooks = position.outlooks()
    best = max(outlooks)
    return position.rng.choice(
        [
            move
            for move, outlook in zip(position.legal_moves(), outlooks, strict=True)
            if outlook == best
        ]
    )


run(choose)
