"""Checks which settings of a run fit together."""

from collections.abc import Mapping
from typing import Any

import msgspec

from arena.errors import ConfigError
from arena.players.labels import has_odds, timing_for
from arena.records.config import DEFAULTS, RunConfig
from arena.records.record import DEALS, DUEL
from arena.records.runfile import RunInfo
from arena.records.timing import Timing


def make_config(settings: Mapping[str, Any]) -> RunConfig:
    """The settings of a run, checked, with defaults for those that ``settings`` does not name.
    Raises ConfigError.
    """
    try:
        config = msgspec.convert(dict(settings), type=RunConfig)
    except msgspec.ValidationError as error:
        raise ConfigError(f"settings: {error}") from None
    return _checked(config)


def config_of(info: RunInfo) -> RunConfig:
    """The settings in this run.json, checked. Raises ConfigError, also for settings that another
    version wrote and this one cannot read.
    """
    if info.config is None:
        raise ConfigError(f"settings: {info.problem}")
    return _checked(info.config)


def _checked(config: RunConfig) -> RunConfig:
    """Returns ``config``. Raises ConfigError if its settings do not fit together."""
    for check in (_bots, _question, _tuning, _boards, _seats, _times):
        check(config)
    return config


def _refuse(is_wrong: object, text: str, hint: str = "") -> None:
    """Raises ConfigError, with this text and hint, if ``is_wrong`` is true."""
    if is_wrong:
        raise ConfigError(text, hint)


DAMAGED = "something else changed run.json: restore it"


def _bots(config: RunConfig) -> None:
    """Raises ConfigError if a bot is named twice."""
    for name in config.bots:
        _refuse(
            config.bots.count(name) > 1,
            f"the bot {name!r} is named twice",
            "built-in bots such as careful-8 and careful-16 are different bots"
            if config.in_process
            else "to give a bot another name, use 'arena submit --name'",
        )


def _question(config: RunConfig) -> None:
    """Raises ConfigError if the settings of a comparison do not fit together."""
    compare = config.compare
    if compare is None:
        return
    _refuse(
        config.has_own_decks,
        "a comparison plays each deal in several seatings and cannot use single ones",
        "leave out the seatings; 'arena run --seatings single' plays a tournament",
    )
    _refuse(
        not compare.elo0 < compare.elo1,
        f"expected --elo0 below --elo1, got {compare.elo0:g} and {compare.elo1:g}",
        "for example --elo0 0 --elo1 10",
    )
    _refuse_few_opponents(config)
    _refuse(config.match, "a comparison counts single games, not matches", "leave out --match")


def _refuse_few_opponents(config: RunConfig) -> None:
    """Raises ConfigError if a comparison or a search has fewer opponents than a game has further
    seats.
    """
    opponents = len(config.pool)
    least = config.players - 1
    _refuse(
        opponents < least and (opponents or least > 1),
        f"a game of {config.players} needs at least {least} opponents, got"
        f" {', '.join(config.pool) or 'none'}",
        "name them with --pool A,B",
    )


def _tuning(config: RunConfig) -> None:
    """Raises ConfigError if the ranges of tuned options, or the other settings of a search, are
    wrong.
    """
    if config.tune is None:
        return
    for one in config.tune.parameters:
        low, high, start = map(one.text, (one.low, one.high, one.start))
        _refuse(
            not one.low < one.high,
            f"{one.name}: expected a range of more than one value, got {low} to {high}",
            f"for example --param {one.name}={low}..{one.text(one.low + 1)}",
        )
        _refuse(
            not one.low <= one.start <= one.high,
            f"{one.name}: expected a start from {low} to {high}, got {start}",
            "the search starts at the value the bot has: name the bot with another one, or search"
            " a wider range",
        )
    _refuse(
        len(config.bots) < DUEL or config.seatings != "rotations",
        "a run that tunes a bot has two sides, in all rotations of each deal, but this one has"
        f" {shown(config.bots)} and {config.seatings}",
        DAMAGED,
    )
    _refuse_few_opponents(config)


def _boards(config: RunConfig) -> None:
    """Raises ConfigError if the boards do not fit the match, or if there are none."""
    match = config.match
    boards = config.boards
    _refuse(
        match and set(match) != set(boards),
        f"the boards of the match are {shown(match)}, but --boards has {shown(boards)}",
        "leave out --boards, because --match lists the boards; name each --board file there",
    )
    rounds = max(map(match.count, match), default=1)
    _refuse(
        match and config.deals * rounds > DEALS,
        f"expected at most {DEALS:,} deals on a board, got {config.deals:,} for each of"
        f" {rounds} rounds",
        "use fewer --deals",
    )
    _refuse(
        not boards,
        "expected at least one board, got none",
        f"name boards, such as bird or lion, or leave them out for {DEFAULTS['boards'][0]}",
    )


def _seats(config: RunConfig) -> None:
    """Raises ConfigError if there are too few bots, or if the challenger or the seats of a single
    game are not bots of the run.
    """
    bots = config.bots
    game = config.game
    challenger = config.challenger
    _refuse(
        len(bots) < config.players,
        f"a game of {config.players} needs at least {config.players} bots, got"
        f" {', '.join(bots) or 'none'}",
        "name more bots, such as the built-in greedy and careful, or fewer players",
    )
    _refuse(
        challenger is not None and challenger not in bots,
        f"the challenger {challenger!r} is not one of the bots {', '.join(bots)}",
    )
    _refuse(
        game and (sorted(game.seats) != sorted(bots) or len(game.seats) != config.players),
        f"the seats of the game are {shown(game and game.seats)}, but its bots are {shown(bots)}",
        DAMAGED,
    )


def _times(config: RunConfig) -> None:
    """Raises ConfigError if the time limits do not fit together, or if built-in bots have any."""
    _refuse(
        config.increment_ms and config.game_ms is None,
        "--increment-ms needs --game-ms: the increment is added to the bank",
        "add --game-ms, or leave out the increment",
    )
    _refuse(
        config.in_process and config.timing != Timing(clock=config.clock),
        "time limits do not apply: all bots are built in, and their time is only measured",
        "leave out --move-ms, --game-ms, --increment-ms and --startup-ms, or add a bot that is not"
        " built in",
    )
    for label in config.bots:
        timing_for(label, config.timing)
        _refuse(
            config.in_process and has_odds(label),
            f"limits do not apply to {label}: it is built in, and its time is only measured",
            "leave them out, or add a bot that is not built in",
        )


def shown(value: Any) -> str:
    """The value of a setting as people see it: a list joined by commas, and ``none`` for None or an
    empty value.
    """
    return ",".join(map(str, value)) if isinstance(value, list) and value else str(value or "none")
