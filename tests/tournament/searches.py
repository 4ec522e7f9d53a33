"""How near `arena tune` comes to the best setting: searches with simulated games, whose best
setting is known. ``python -m tests.tournament.searches`` prints the table of docs/tuning.md.

Each option starts half a range from its best value. The Elo lost grow with the square of the
distance from there, and luck of the deal is worth 200 Elo to one seat (standard deviation).
"""

import random
import sys

from arena.records.config import Parameter, Tuning
from arena.tournament.tuning import BLOCKS_A_STEP, SearchPath

START, BEST, LUCK = 0.2, 0.7, 200
STAKES = (25, 50, 100, 200)
GAMES = (500, 1000, 2000, 4000, 8000)
TRIES = 100


def searched(games, options, stake, seed):
    """The Elo that a search has won of those at stake for each of its options."""
    parameters = [Parameter(f"o{n}", "float", 0, 1, START) for n in range(options)]
    path, chance = (
        SearchPath(Tuning("bot", parameters, BLOCKS_A_STEP), ["bird"], str(seed)),
        random.Random(seed),
    )
    while deals := path.deals(games // 2):
        path.move(
            {block: _score(path.sides(*block), stake, chance) for block in path.blocks(deals)}
        )
    return stake - _lost(path.suggestion(), stake) / options


def _score(sides, stake, chance):
    lead, luck = _lost(sides[1], stake) - _lost(sides[0], stake), chance.gauss(0, LUCK)
    won = [chance.random() < 1 / (1 + 10 ** (-(lead + of_seat) / 400)) for of_seat in (luck, -luck)]
    return sum(won) - 1


def _lost(values, stake):
    return sum(stake * ((value - BEST) / (BEST - START)) ** 2 for value in values)


def main():
    """Prints a row for each number of games for each option."""
    options = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    for games in GAMES:
        found = {
            stake: [searched(games * options, options, stake, seed) for seed in range(TRIES)]
            for stake in STAKES
        }
        cells = (
            f"{sum(won) / TRIES:.0f} ({100 * sum(elo < 0 for elo in won) / TRIES:.0f} %)"
            for won in found.values()
        )
        sys.stdout.write(f"| {games:,} | {' | '.join(cells)} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
