"""Places the tile that gains most pagodas at once, net of what the others gain; of equal ones, the
one with most major provinces.
"""

from arena.sdk import Position, run


def majors(position: Position, seat: int) -> int:
    return sum(
        province.pagodas == 2
        for _, province in position.state.provinces()
        if province.owner == seat
    )


def value(position: Position, move: int) -> tuple[int, int]:
    after = position.play(move)
    gained = [before - now for before, now in zip(position.left, after.left, strict=True)]
    mine = gained[position.seat]
    return mine - (sum(gained) - mine), majors(after, position.seat)


def choose(position: Position) -> int:
    moves = position.legal_moves()
    position.rng.shuffle(moves)
    return max(moves, key=lambda move: value(position, move))


run(choose)
