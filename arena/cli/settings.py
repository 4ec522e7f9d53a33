"""The options that say what is played, as `run`, `compare` and `play` share them; each names the
default that is written down in `tournament.config`.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, get_args

import click

from arena.cli.options import (
    Command,
    Positive,
    check_utf8,
    match_option,
    split_bot_names,
    split_commas,
)
from arena.players.messages import ClockKind
from arena.tournament.config import DEFAULT_BOARDS, DEFAULTS, Seatings
from arena.tournament.request import UNTIL_DEALS, RunOptions

FILE = click.Path(exists=True, dir_okay=False)


def unsaid(name: str) -> str:
    """What a setting is where nothing is said, as the end of its help."""
    default = DEFAULTS[name]
    return f"  [default: {'none' if default is None else default}]"


SETTINGS: dict[str, Callable[[Command], Command]] = {
    "bots": click.argument("bots", nargs=-1, metavar="[BOT]..."),
    "players": click.option(
        "--players", type=click.IntRange(2, 4), help=f"Players per game.{unsaid('players')}"
    ),
    "deals": click.option(
        "--deals",
        type=click.IntRange(1),
        help=(
            "Deals per board, or per match; every line-up plays the same ones.  [default:"
            f" {DEFAULTS['deals']}, with --until {UNTIL_DEALS}]"
        ),
    ),
    "boards": click.option(
        "--boards",
        callback=split_commas,
        metavar="NAME,...",
        help=f"bird, lion or both.  [default: {','.join(DEFAULT_BOARDS)}]",
    ),
    "board_files": click.option(
        "--board", "board_files", multiple=True, type=FILE, help="A board file; may be repeated."
    ),
    "match": match_option(
        "Score matches of one game on each of these boards by total pagodas left; see above."
        "  [default: none, single games count]"
    ),
    "seatings": click.option(
        "--seatings",
        type=click.Choice(get_args(Seatings)),
        help=(
            "Seatings of each deal: N rotations, all N! orders, or a single one, with a deck for"
            f" each game.{unsaid('seatings')}"
        ),
    ),
    "tables": click.option(
        "--tables",
        type=click.IntRange(1),
        help="Use a balanced subset of this many line-ups.  [default: all]",
    ),
    "challenger": click.option(
        "--challenger", metavar="BOT", help="Play a gauntlet: only line-ups with this bot."
    ),
    "seed": click.option(
        "--seed",
        callback=check_utf8,
        help=(
            "Text that determines every deck; a bot could guess a short one."
            "  [default: a secret one]"
        ),
    ),
    "move_ms": click.option(
        "--move-ms", type=click.IntRange(1), help=f"Time for a move, in ms.{unsaid('move_ms')}"
    ),
    "game_ms": click.option(
        "--game-ms",
        type=click.IntRange(1),
        help=f"Bank: time for all of a bot's moves in a game, in ms.{unsaid('game_ms')}",
    ),
    "increment_ms": click.option(
        "--increment-ms",
        type=click.IntRange(0),
        help=f"Added to the bank after each move, in ms.{unsaid('increment_ms')}",
    ),
    "clock": click.option(
        "--clock",
        type=click.Choice(get_args(ClockKind)),
        help="Measure a bot's time as processor time, or by the wall clock.  [default: cpu]",
    ),
    "startup_ms": click.option(
        "--startup-ms",
        type=click.IntRange(1),
        help=f"Time for a bot's process to answer hello, in ms.{unsaid('startup_ms')}",
    ),
    "until": click.option(
        "--until",
        type=Positive(),
        metavar="ELO",
        help="Play until every +/- is at most this; see above.",
    ),
    "adaptive": click.option(
        "--adaptive",
        is_flag=True,
        default=None,
        help="Give more deals to line-ups where the ranking is uncertain; see above.",
    ),
    "in_process": click.option(
        "--in-process", is_flag=True, default=None, help="Use built-in bots only."
    ),
    "keep_stderr": click.option(
        "--keep-stderr",
        is_flag=False,
        flag_value="",
        callback=lambda context, option, value: (
            True if value == "" else split_bot_names(context, option, value)
        ),
        metavar="[BOT,...]",
        help="Keep what these bots, or all, write to stderr, for 'arena replay --stderr'.",
    ),
    "out": click.option(
        "--out",
        metavar="RUN",
        help=(
            "The run's name in results/, or a path.  [default: the run that this command continues,"
            " or a new one]"
        ),
    ),
}
"""Every one by the name that it has in `RunOptions`."""
TIMES = ("startup_ms", "move_ms", "game_ms", "increment_ms", "clock")


def setting_options(*names: str) -> Callable[[Command], Command]:
    """These options, as one argument ``options``, a `RunOptions`."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def wrapped(*args: Any, **given: Any) -> Any:
            said = {name: _plain(given.pop(name)) for name in names}
            return command(*args, options=RunOptions(**said), **given)

        shown: Any = wrapped
        for name in reversed(names):
            shown = SETTINGS[name](shown)
        return shown  # type: ignore[no-any-return]

    return decorate


def _plain(value: Any) -> Any:
    """An option that may be repeated is a list, or None if it was not given at all."""
    return (list(value) or None) if isinstance(value, tuple) else value
