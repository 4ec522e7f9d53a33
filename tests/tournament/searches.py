"""How near `arena tune` comes to the best setting: searches with simulated games, whose best
setting is known.

``python -m tests.tournament.searches`` prints the table of docs/tuning.md. With ``1 3`` it prints
the one of games of three, in which both sides play against copies of the bot.

Each option starts half a range from its best value. The Elo lost grow with the square of the
distance from there, and luck of the deal is worth 200 Elo to one seat over another (standard
deviation).
"""

import random
import sys
from functools import partial

from arena.records.config import Parameter, Tuning, games_of_block
from arena.records.record import DUEL
from arena.tournament.tuning import BLOCKS_A_STEP, SearchPath, leverage

START, BEST, LUCK = 0.2, 0.7, 200
STAKES = (25, 50, 100, 200)
GAMES = (500, 1000, 2000, 4000, 8000)
TRIES = 100


def searched(games, options, stake, seed, players=DUEL):
    """The Elo that a search has won of those at stake for each of its options."""
    score = _score if players == DUEL else partial(_score_against_copies, players, options)
    parameters = [Parameter(f"o{n}", "float", 0, 1, START) for n in range(options)]
    path, chance = (
        SearchPath(Tuning("bot", parameters, BLOCKS_A_STEP), ["bird"], str(seed)),
        random.Random(seed),
    )
    while deals := path.deals(games // games_of_block(players, has_pool=players > DUEL)):
        path.move({block: score(path.sides(*block), stake, chance) for block in path.blocks(deals)})
    return stake - _lost(path.suggestion(), stake) / options


def _score(sides, stake, chance):
    lead, luck = _lost(sides[1], stake) - _lost(sides[0], stake), chance.gauss(0, LUCK)
    won = [chance.random() < 1 / (1 + 10 ** (-(lead + of_seat) / 400)) for of_seat in (luck, -luck)]
    return sum(won) - 1


def _score_against_copies(players, options, sides, stake, chance):
    """The score of a block in which each side plays once from every seat against copies of the bot
    as it was at the start.
    """
    luck = [chance.gauss(0, LUCK / 2**0.5) for _ in range(players)]
    copy = -_lost([START] * options, stake)
    won = []
    for side in sides:
        elo = [-_lost(side, stake), *[copy] * (players - 1)]
        shares = 0
        for turn in range(players):
            weights = [
                10 ** ((own + of_seat) / 400)
                for own, of_seat in zip(elo, luck[turn:] + luck[:turn], strict=True)
            ]
            shares += chance.choices(range(players), weights) == [0]
        won.append(shares / players)
    return leverage(players) * (won[0] - won[1])


def _lost(values, stake):
    return sum(stake * ((value - BEST) / (BEST - START)) ** 2 for value in values)


def main():
    """Prints a row for each number of games for each option."""
    given = [int(word) for word in sys.argv[1:]]
    options, players = [*given, *(1, DUEL)[len(given) :]]
    for games in GAMES:
        found = {
            stake: [
                searched(games * options, options, stake, seed, players) for seed in range(TRIES)
            ]
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
