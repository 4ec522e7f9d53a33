"""arena run: plays a tournament and prints its standings."""

from collections.abc import Callable
from math import isfinite
from pathlib import Path

import click

from arena.cli import DONE, FAILED, INTERRUPTED
from arena.cli.options import as_json, prior_option
from arena.cli.place import Conduct, conduct_options
from arena.cli.playing import TooLongError, at_most, playing, run_path, show_troubles
from arena.cli.progress import Progress
from arena.cli.settings import setting_options
from arena.cli.terminal import say
from arena.commands.folders import run_folder
from arena.commands.looks import Standing, source_of
from arena.commands.request import request_run
from arena.errors import counted, printable
from arena.tournament.config import RunConfig
from arena.tournament.finishing import begun
from arena.tournament.request import Request, RunOptions, read_options
from arena.tournament.runner import Runner
from arena.tournament.session import Session

TABLES_S = 2.0
"""Somebody who stops a run waits no longer than this for its standings."""


@click.command()
@setting_options(
    "bots", "players", "deals", "boards", "board_files", "match", "seatings", "tables",
    "challenger", "seed", "move_ms", "game_ms", "increment_ms", "clock", "startup_ms", "until",
    "adaptive", "in_process", "keep_stderr", "out",
)  # fmt: skip
@click.option(
    "--config",
    "config_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="An arena.toml with any of these options.",
)
@conduct_options
@click.option(
    "--finish",
    metavar="RUN",
    help="Play the rest of this run, with the bots and settings it began with.",
)
@prior_option
@as_json
@click.pass_obj
def run(
    home: Path,
    /,
    options: RunOptions,
    config_file: Path | None,
    finish: str | None,
    prior: float | None,
    *,
    conduct: Conduct,
    as_json: bool,
) -> int:
    """Let bots play each other and print the standings.

    BOT is the name of a bot in bots/ or on the ladder, the path of a bot's folder or script, or a
    built-in bot. Without any, all bots in bots/ and on the ladder play. Every line-up plays the
    same deals, each with every seating.

    To finish an interrupted run, repeat the command, or use --finish RUN, which plays the bots as
    they were when the run began. To extend a run, name it with --out and add deals or bots.

    With --match bird,lion, the same bots in the same seats play one round on each board, and the
    bot with the fewest pagodas left in total wins. The table counts matches. If you name a board
    twice, it is played with two decks. A bot that forfeits in any round ranks below all bots that
    do not.

    With --seatings single, every game has its own deck, and seats rotate from deal to deal. A bot
    gains nothing from a deal that it met before. Luck averages out more slowly: use more deals.

    With --until or --adaptive, line-ups start with some of the deals and get more after each look
    at the ratings, up to an average of --deals per line-up. --until ends the run when every +/- is
    at most this many Elo. --adaptive gives more deals to the line-ups that help most: those of bots
    with a +/- above --until, or of neighbours whose order is not settled.

    Built-in bots can play against any others: random, greedy, careful, and greedy-N and careful-N,
    which take the best of N legal moves drawn at random (1 to 1000). A bot of yours with such a
    name comes first. They need no process, no sandbox and no clock: built-in bots alone play
    thousands of games a second. With --in-process only built-in bots play: random, greedy and
    careful if you name none.

    \b
    arena run --deals 50
    arena run greedy-python ./my-bot --boards bird,lion --players 2 --out try-1
    arena run --players 4 --tables 20 --move-ms 100
    arena run --match bird,lion --deals 50
    arena run --until 20 --adaptive
    arena run --cluster tcp://10.0.0.1:8786
    arena run ./my-bot greedy careful-4
    arena run greedy-4 careful-2 careful-16 --deals 100000
    """  # noqa: D301 - \b is click's mark for lines to keep
    options, request, folder = _wanted(home, options, config_file, finish)
    with playing(folder, request, conduct.with_defaults(options)) as (play, progress):
        runner, session = play.runner, play.session
        runner.play(source_of(session, play.missing, shown_on(progress, session.config)))
        played = session.schedule.played(session.journal.ids)
        is_complete = not session.config.is_open and played == session.schedule.games
    _show_end(session, runner, prior, as_json=as_json)
    if runner.stop_level:
        return INTERRUPTED
    return DONE if is_complete else FAILED


def _wanted(
    home: Path, options: RunOptions, config_file: Path | None, finish: str | None
) -> tuple[RunOptions, Request, Path]:
    """The options with those of a file below them, what they ask for, and the run's folder."""
    if finish is not None:
        return _begun(home, options, finish, config_file)
    if isinstance(options.keep_stderr, list) and len(options.bots or ()) == 1:
        raise click.UsageError(
            "expected --keep-stderr after the bots, or --keep-stderr=BOT,..., got"
            f" {','.join(options.keep_stderr)!r} taken for its value"
        )
    options = options.over(read_options(config_file)) if config_file else options
    request = request_run(home, options, say)
    return options, request, run_path(home, options, request)


def _begun(
    home: Path, options: RunOptions, run: str, config_file: Path | None
) -> tuple[RunOptions, Request, Path]:
    """The same for a run that is to be played to its end. Raises UsageError for options of another
    run.
    """
    if options != RunOptions() or config_file:
        raise click.UsageError(
            "expected --finish without bots and settings of the run: it has its own"
        )
    folder = run_folder(home, run)
    return options, begun(folder), folder


def _show_end(session: Session, runner: Runner, prior: float | None, *, as_json: bool) -> None:
    """Shows the standings, and what went wrong in the session."""
    try:
        with at_most(TABLES_S if runner.stop_level else None):
            # Pandas: --help and the playing do without.
            from arena.cli.tables import conclude  # noqa: PLC0415

            conclude(session, prior, as_json=as_json)
    except TooLongError:
        say(f"the standings would take longer: 'arena standings {session.folder.name}' shows them")
    show_troubles(runner, session.folder)
    if runner.stderr.ended:
        say(f"note: stderr is no longer kept: {printable(runner.stderr.ended)}")
    if runner.stop_level:
        say(
            "interrupted: repeat the same command to finish the run in"
            f" {session.folder}, or 'arena run --finish {session.folder.name}'"
        )


def shown_on(progress: Progress, config: RunConfig) -> Callable[[Standing], None]:
    """Shows how precise the ratings are after each look, if they decide how much is played."""

    def show(found: Standing) -> None:
        progress.figures["+/-"] = _half_width(found.widest)
        progress.expect(found.games + found.needed)
        progress.say(f"{found.games} games: {_precision_text(found)}; {_rest_text(config, found)}")

    return show


def _precision_text(found: Standing) -> str:
    neighbours = f"{counted(found.open_pairs, 'pair')} of neighbours"
    return f"widest +/- {_half_width(found.widest)} Elo, {neighbours} not settled"


def _rest_text(config: RunConfig, found: Standing) -> str:
    if found.needed:
        return f"{'' if config.until is None else 'about '}{found.needed} games to go"
    return (
        "done"
        if config.until is None or found.widest <= config.until
        else "no deals are left: use more --deals to continue"
    )


def _half_width(value: float) -> str:
    return f"{value:.1f}" if isfinite(value) else "open"
