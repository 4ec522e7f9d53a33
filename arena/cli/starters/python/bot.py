"""NAME: a bot for Qin. Change `choose`, then run `arena check` on this folder."""

from arena.sdk import Position, run


def choose(position: Position) -> int:
    """The move to play: here the one after which this bot has fewest pagodas left, the first of equal ones."""
    return min(position.legal_moves(), key=lambda move: position.play(move).left[position.seat])


run(choose)
