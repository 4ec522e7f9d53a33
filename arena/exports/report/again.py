"""The command that plays a run again."""

import shlex
from collections.abc import Sequence

from arena.players.labels import is_copy
from arena.players.player import YOU
from arena.records.config import DEFAULTS, Comparison, RunConfig, Tuning
from arena.records.runfile import RunInfo
from arena.rules.boards import BUILT_IN
from arena.tournament.settings import DECLARED, OUTSIDE_CONFIG, QUESTION, option_name, taken_by

NAMED_OTHERWISE = {
    "seed": "may be secret, so `repeat_command` adds it only if it is given",
    "boards": "boards of the user's own need --board and a file",
    "match": "is a list, and takes the place of --boards",
    "deals": "always named in a tournament; a search has --games in its place",
    "clock": "its default in run.json is not that of the option; --in-process takes no clock",
}
"""The declared settings that the command to repeat a run names in a way of their own, with the
reason.
"""
REPEATED_SETTINGS = [
    name for name in DECLARED if name not in OUTSIDE_CONFIG and name not in NAMED_OTHERWISE
]
"""The settings that the command to repeat a run names if they differ from the defaults."""
REPEATED_IN_GAME = [name for name in taken_by("play") if name in REPEATED_SETTINGS]
"""The settings in `REPEATED_SETTINGS` that the game of a person has, too."""


def repeat_command(info: RunInfo, *, seed: str | None) -> str:
    """The command that plays the games of the run with this run.json again, with their decks if
    ``seed``, the run's seed, is given; empty if this version cannot read the run's settings.
    """
    config = info.config
    if config is None:
        return ""
    words = _game_again(config) if config.game else _run_again(config)
    if config.deck_of_game:
        seed = None  # its tiles do not follow from the seed
    return shlex.join([*words, *(["--seed", seed] if seed else [])])


def _run_again(config: RunConfig) -> list[str]:
    """The words of the command that plays a tournament, a comparison or a search with these
    settings again.
    """
    boards = [name for name in config.boards if name in BUILT_IN]
    which = ["--boards", ",".join(boards)] if boards else []
    if config.match:
        which = ["--match", ",".join(config.match)]
    for name in config.boards:
        which += [] if name in BUILT_IN else ["--board", f"{name}.txt"]
    if config.compare:
        pair = [config.compare.new, config.compare.old]
        asked = _options(config.compare, QUESTION)
        words = ["arena", "compare", *pair, *_against(config), *asked, *which]
    elif config.tune:
        words = [*_search_again(config, config.tune), *which]
    else:
        words = ["arena", "run", *config.bots, *which, "--deals", str(config.deals)]
    words += _options(config, REPEATED_SETTINGS)
    return [*words, *_clock(config)]


def _game_again(config: RunConfig) -> list[str]:
    """The words of the command that plays the game of a person again, on the same tiles if the
    run's seed is added.
    """
    game = config.game
    assert game is not None, "a game"
    bots = [bot for bot in game.seats if bot != YOU]
    # A match, which versions before 1.1 could play, is repeated by its first round only.
    boards = config.rounds
    board = boards[0]
    deal = game.deal * boards.count(board)
    which = ["--board", board if board in BUILT_IN else f"{board}.txt"]
    words = ["arena", "play", *bots, "--human", str(game.seats.index(YOU)), *which]
    tiles = [] if config.deck_of_game else ["--deal", str(deal)]
    return [*words, *_options(config, REPEATED_IN_GAME), *_clock(config), *tiles]


def _search_again(config: RunConfig, tune: Tuning) -> list[str]:
    """The words of the command that repeats a search for better values of a bot's options."""
    ranges = [f"{one.name}={one.text(one.low)}..{one.text(one.high)}" for one in tune.parameters]
    games = config.deals * len(config.boards) * config.games_a_block
    words = ["arena", "tune", tune.bot, "--param", ",".join(ranges), "--games", str(games)]
    return [*words, *_against(config)]


def _against(config: RunConfig) -> list[str]:
    """The option for the opponents in a comparison or a search; none if these are copies that the
    arena makes by itself.
    """
    pool = [bot for bot in config.pool if not is_copy(bot)]
    return ["--pool", ",".join(pool)] if pool else []


def _clock(config: RunConfig) -> list[str]:
    """The option for the wall clock, which is the default in run.json but not of the option. Bots
    of the arena's own process have no clock.
    """
    return ["--clock", "wall"] if config.clock == "wall" and not config.in_process else []


def _options(settings: RunConfig | Comparison, names: Sequence[str]) -> list[str]:
    """The command-line options for the settings ``names`` that differ from their defaults."""
    words = list[str]()
    for name in names:
        value = getattr(settings, name)
        if value == DEFAULTS[name]:
            continue
        words.append(f"--{option_name(name)}")
        if value is not True:  # an option that is on or off has no value
            words.append(f"{value}")
    return words
