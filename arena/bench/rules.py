"""How many random games of two the rules core plays in a second, on one core."""

import random
from collections.abc import Iterator
from functools import partial

from arena.bench.figures import Figure, best_seconds
from arena.rules import pure
from arena.rules.boards import built_in
from arena.rules.notation import COPIES, PASS, TILES

GAMES = 400
TIMES = 5
CORES = {"pure": pure.State}


def play_games(state_class: type[pure.State], games: int, seed: int) -> int:
    """Plays games of two at random to the end; returns how many tiles were placed."""
    rng, board = random.Random(seed), built_in("bird")  # noqa: S311 - for play
    deck, placed = [tile for tile in range(len(TILES)) for _ in range(COPIES)], 0
    for _ in range(games):
        rng.shuffle(deck)
        state = state_class(board, 2, deck)
        while state.end is None:
            count = state.legal_count()
            state.play(state.nth(int(rng.random() * count)) if count else PASS)
        placed += state.turns
    return placed


def measure() -> Iterator[Figure]:
    """Games and placements a second, for each core."""
    for name, state_class in CORES.items():
        placed = play_games(state_class, GAMES, 1)
        seconds = best_seconds(partial(play_games, state_class, GAMES, 1), TIMES)
        aim = {"pure": ">= 1,000"}.get(name, "")
        yield Figure(f"rules.{name}.games_per_s", f"random games of two, {name} core", GAMES / seconds, "games/s", aim)
        yield Figure(f"rules.{name}.us_per_placement", f"a placement, {name} core", seconds / placed * 1e6, "us")
