"""How many random 2-player games the rules cores play per second on one core, next to OpenSpiel's
hex if it is installed; and how many games the built-in bots play there, and steps a learner makes.

The native core plays complete games inside C (`State.playout`), and again move by move from Python.
So does OpenSpiel: in the rollouts of its own search, which are complete games inside C++, and move
by move. Seconds are CPU time, so that other programs on the machine matter little.
"""

import importlib
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import fmean, median
from typing import Any, NamedTuple

from arena.match.referee import play_alone
from arena.players.player import built_in as built_in_bot
from arena.rules import CORE, pure
from arena.rules.boards import built_in
from arena.rules.notation import COPIES, PASS, TILES
from arena.tournament.schedule import single_game
from tests.bench.figures import Figure, alternate, median_ratio

ROUNDS = 7
GAMES = {
    "pure": 300,
    "native": 8000,
    "native_calls": 2000,
    "openspiel": 4000,
    "openspiel_calls": 1000,
    "training": 30,
}
BUILT_IN = {
    "random": 2000,
    "greedy-4": 1500,
    "careful-4": 1000,
    "careful-16": 600,
    "greedy": 100,
    "careful": 100,
}
QUICK = 40
"""The factor by which to reduce the games if you only want to see that it works."""
HEX = "hex(board_size=11)"
Deck = tuple[int, ...]


class Contestant(NamedTuple):
    """Something that plays ``games`` random games when called, and returns how many tiles or stones
    it placed; 0 if it cannot say.
    """

    name: str
    games: int
    play: Callable[[], int]
    aim: str = ""


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Games and placements per second of each contestant, then the ratios that matter."""
    contestants = {
        key: entry
        for make in (_cores, _openspiel, _built_in_bots, _training)
        for key, entry in make(QUICK if quick else 1).items()
    }
    placed: dict[str, list[int]] = {key: [] for key in contestants}

    def play(key: str) -> None:
        placed[key].append(contestants[key].play())

    seconds = alternate(
        {key: partial(play, key) for key in contestants}, 2 if quick else ROUNDS, time.process_time
    )
    # C++ does not report how long its games were: assume the length of the other random hex games
    if "openspiel" in placed:
        length = fmean(placed["openspiel_calls"]) / contestants["openspiel_calls"].games
        placed["openspiel"] = [round(length * contestants["openspiel"].games)] * len(
            placed["openspiel"]
        )
    rates = {
        key: [entry.games / spent for spent in seconds[key]] for key, entry in contestants.items()
    }
    pace = {
        key: [count / spent for count, spent in zip(placed[key], seconds[key], strict=True)]
        for key in contestants
    }
    for key, entry in contestants.items():
        yield Figure(
            f"rules.{key}.games_per_s",
            f"games, {entry.name}",
            median(rates[key]),
            "games/s",
            entry.aim,
        )
        yield Figure(
            f"rules.{key}.placements_per_s", f"placements, {entry.name}", median(pace[key]), "/s"
        )
        yield Figure(
            f"rules.{key}.ns_per_placement",
            f"per placement, {entry.name}",
            1e9 / median(pace[key]),
            "ns",
        )
    yield from _ratios(rates, pace)


def _ratios(rates: dict[str, list[float]], pace: dict[str, list[float]]) -> Iterator[Figure]:
    for one, other, name in (
        ("native", "pure", "native core to pure core"),
        ("native", "openspiel", "native core to OpenSpiel, both inside"),
        ("native_calls", "openspiel_calls", "native core to OpenSpiel, both from Python"),
    ):
        if one in rates and other in rates:
            aim = ">= 1" if other == "openspiel" else ""
            yield Figure(
                f"rules.{one}_to_{other}.games",
                f"games, {name}",
                median_ratio(rates[one], rates[other]),
                "x",
                aim,
            )
            yield Figure(
                f"rules.{one}_to_{other}.placements",
                f"placements, {name}",
                median_ratio(pace[one], pace[other]),
                "x",
                aim,
            )


def _cores(fewer: int) -> dict[str, Contestant]:
    """The pure core, and the native one if it was built."""
    games = {key: max(2, count // fewer) for key, count in GAMES.items()}
    decks = _decks(max(games.values()))

    def by_calls(key: str, state_class: type[pure.State]) -> Callable[[], int]:
        return partial(play_by_calls, state_class, decks[: games[key]], 1)

    found = {
        "pure": Contestant(
            "pure core, by calls", games["pure"], by_calls("pure", pure.State), ">= 1,000"
        )
    }
    try:
        # A machine without a compiler has none.
        from arena.rules.native import State as NativeState
    except ImportError:
        return found
    inside = partial(play_inside, NativeState, decks[: games["native"]])
    found["native"] = Contestant("native core, inside", games["native"], inside, ">= 25,000")
    found["native_calls"] = Contestant(
        "native core, by calls", games["native_calls"], by_calls("native_calls", NativeState)
    )
    return found


def _decks(count: int) -> list[Deck]:
    # For play.
    rng, deck = random.Random(1), [tile for tile in range(len(TILES)) for _ in range(COPIES)]
    return [tuple(rng.sample(deck, len(deck))) for _ in range(count)]


def play_by_calls(state_class: type[pure.State], decks: list[Deck], seed: int) -> int:
    """Plays a random 2-player game with each deck, move by move; returns how many tiles were
    placed.
    """
    # For play.
    rng, board, placed = random.Random(seed), built_in("bird"), 0
    for deck in decks:
        state = state_class(board, 2, deck)
        while state.end is None:
            count = state.legal_count()
            state.play(state.nth(int(rng.random() * count)) if count else PASS)
        placed += state.turns
    return placed


def play_inside(state_class: type[pure.State], decks: list[Deck]) -> int:
    """Plays a random 2-player game with each deck, one call per game; returns how many tiles were
    placed.
    """
    board = built_in("bird")
    return sum(state_class(board, 2, deck).playout(seed) for seed, deck in enumerate(decks))


def _built_in_bots(fewer: int) -> dict[str, Contestant]:
    """Games between two built-in bots of the same name, on the core that the arena uses."""
    fewer *= 1 if CORE == "native" else QUICK
    games = {name: max(2, count // fewer) for name, count in BUILT_IN.items()}
    return {
        name: Contestant(f"built-in bots, {name}", count, partial(_play_alone, name, count))
        for name, count in games.items()
    }


def _play_alone(name: str, games: int) -> int:
    board, choose = built_in("bird"), built_in_bot(name).choose
    plans = (single_game("bench", "bird", deal, (name, name)) for deal in range(games))
    return sum(play_alone(plan, board, [choose, choose]).turns for plan in plans)


def _training(fewer: int) -> dict[str, Contestant]:
    """Random games in the environment for training, each step with what the seat sees, if
    PettingZoo is installed.
    """
    try:
        from arena.training import qin_v0
    except ImportError:
        return {}
    games = max(2, GAMES["training"] // fewer)
    step = partial(_train, qin_v0.env(players=2, board="bird"), games)
    return {"training": Contestant("training, by steps", games, step)}


def _train(env: Any, games: int) -> int:
    steps = 0
    for game in range(games):
        env.reset(seed=game)
        for agent in env.agent_iter():
            seen, _, terminated, truncated, _ = env.last()
            over = terminated or truncated
            env.step(None if over else env.action_space(agent).sample(seen["action_mask"]))
            steps += not over
    return steps


def _openspiel(fewer: int) -> dict[str, Contestant]:
    """OpenSpiel's hex 11x11, if the package ``open_spiel`` is installed."""
    try:
        pyspiel: Any = importlib.import_module("pyspiel")
    except ImportError:
        return {}
    game, games = (
        pyspiel.load_game(HEX),
        {key: max(2, count // fewer) for key, count in GAMES.items()},
    )
    evaluator = pyspiel.RandomRolloutEvaluator(games["openspiel"], 1)
    # one simulation makes as many rollouts from the first position as the evaluator is set to
    search = pyspiel.MCTSBot(
        game,
        evaluator,
        uct_c=2.0,
        max_simulations=1,
        max_memory_mb=100,
        solve=False,
        seed=1,
        verbose=False,
    )
    return {
        "openspiel": Contestant(
            "OpenSpiel hex 11x11, inside", games["openspiel"], partial(_hex_inside, game, search)
        ),
        "openspiel_calls": Contestant(
            "OpenSpiel hex 11x11, by calls",
            games["openspiel_calls"],
            partial(_hex_by_calls, game, games["openspiel_calls"]),
        ),
    }


def _hex_inside(game: Any, search: Any) -> int:
    search.step(game.new_initial_state())
    return 0


def _hex_by_calls(game: Any, games: int) -> int:
    rng, placed = random.Random(1), 0
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            moves = state.legal_actions()
            state.apply_action(moves[int(rng.random() * len(moves))])
            placed += 1
    return placed
