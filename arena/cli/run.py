"""arena run: plays a tournament and prints its standings."""

import sys
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import click

from arena.cli import DONE, FAILED, INTERRUPTED
from arena.cli.conduct import AT_ONCE, Conduct, conduct_options, playing, run_path, show_troubles
from arena.cli.main import show_error
from arena.cli.options import Showing, as_json, prior_option, setting_options
from arena.cli.progress import Progress
from arena.cli.tables import conclude
from arena.cli.terminal import say
from arena.commands.bots import request_run
from arena.commands.playing import Play, Standing
from arena.commands.runs import run_folder
from arena.errors import UserError
from arena.records.journal import forfeits_text, unplayed_text
from arena.records.runfile import FAULTS
from arena.tournament.config import RunConfig
from arena.tournament.runs import begun
from arena.tournament.settings import Asked, OwnConfig, read_options

QUICK_GAMES = 50_000
"""Somebody who stops a run does not wait for the ratings of more games, which take some seconds."""
A_MINUTE_S = 60


class RunWanted(NamedTuple):
    """What the user wants: what is played, how, and what is shown of it at the end."""

    bots: tuple[str, ...]
    options: Asked
    config_file: Path | None
    finish: str | None
    conduct: Conduct
    yes: bool
    strict: bool
    prior: float | None
    as_json: bool


@click.command()
@click.argument("bots", nargs=-1, metavar="[BOT]...")
@setting_options("run")
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
@click.option("--yes", is_flag=True, help="Do not ask before playing for over ten minutes.")
@click.option(
    "--strict", is_flag=True, help="End with exit status 1 if a bot forfeited a game of the run."
)
@prior_option
@as_json
@click.pass_obj
def run(home: Path, /, **said: Any) -> int:
    """Let bots play each other and print the standings.

    BOT is the name of a bot in bots/ or on the ladder, the path of a bot's folder or script, or a
    built-in bot. Without any, all bots in bots/ and on the ladder play. Every line-up plays the
    same deals, each with every seating.

    If you do not say how much to play, with --deals or --until, and the first ten seconds show that
    it takes over ten minutes, you are asked whether to go on. Without a terminal, the run then
    stops; what was played is kept.

    To finish an interrupted run, repeat the command, or use --finish RUN, which plays the bots as
    they were when the run began. To extend a run, name it with --out and add deals or bots.

    With --match bird,lion, the same bots in the same seats play one round on each board, and the
    bot with the fewest pagodas left in total wins. The table counts matches. If you name a board
    twice, it is played with two decks. A bot that forfeits in any round ranks below all bots that
    do not.

    With --seatings single, every game has its own deck, and seats rotate from deal to deal. A bot
    gains nothing from a deal that it met before. Luck averages out more slowly: use more deals.

    With --until, line-ups start with ten deals and all get more after each look at the ratings, up
    to --deals. The run ends when every +/- is at most this many Elo.

    Built-in bots can play against any others: random, greedy, careful, and greedy-N and careful-N,
    which take the best of N legal moves drawn at random (1 to 1000). These names always mean them:
    a bot in bots/ that has one plays as NAME@VERSION. They need no process, no sandbox and no
    clock: alone they play hundreds of games a second, random thousands. With --in-process only
    built-in bots play: random, greedy and careful if you name none.

    \b
    arena run ./my-bot greedy careful
    arena run greedy-python careful-python lookahead-python --deals 5
    arena run greedy-python ./my-bot --boards bird,lion --players 2 --out try-1
    arena run --players 4 --tables 20 --move-ms 100
    arena run --match bird,lion --deals 50
    arena run --until 20
    arena run --cluster tcp://10.0.0.1:8786
    arena run greedy-4 careful-2 careful-16 --deals 100000
    """  # noqa: D301 - \b is click's mark for lines to keep
    return _run(home, RunWanted(**said))


def _run(home: Path, wanted: RunWanted) -> int:
    """Plays what is wanted; returns the exit status."""
    options, own = wanted.options, OwnConfig()
    if wanted.bots:
        options = {**options, "bots": wanted.bots}
    if wanted.finish is None:
        options, own = _with_file(options, wanted.config_file)
        options = wanted.conduct.with_defaults(own).fair(options)
        request = request_run(home, options, say)
        folder = run_path(home, options, request)
    elif options or wanted.config_file:
        expected = "expected --finish without bots and settings of the run: it has its own"
        raise click.UsageError(expected)
    else:
        folder = run_folder(home, wanted.finish)
        request = begun(folder)
        wanted.conduct.fair({"seatings": request.config.seatings})
    with playing(folder, request, wanted.conduct.with_defaults(own)) as (play, progress):
        session = play.session
        # Of a run of which nobody said how much to play, somebody is asked if that is much.
        is_said = wanted.yes or wanted.finish or not {"deals", "until"}.isdisjoint(options)
        if not is_said:
            progress.if_long = partial(_ask, play, progress)
        play.runner.play(play.games(partial(_show_look, progress, session.config)))
        played = session.schedule.played(session.journal.ids)
        is_complete = not session.config.is_open and played == session.schedule.games
    is_sound = _show_end(play, progress, wanted)
    if play.runner.stop_level and not progress.doubt:
        return INTERRUPTED
    return DONE if is_complete and is_sound else FAILED


def _with_file(options: Asked, config_file: Path | None) -> tuple[Asked, OwnConfig]:
    """The options with those of a file below them, and what the file says of how to play."""
    if config_file is None:
        return options, OwnConfig()
    asked, own = read_options(config_file)
    return {**asked, **options}, own


def _ask(play: Play, progress: Progress, games: int, seconds: float, text: str) -> None:
    """Asks on a terminal whether a run may go on that is long, when nobody said how much to play;
    stops it without one, or without a yes. So many games are left, which take so long, ``text`` in
    words.
    """
    if play.runner.stop_level:
        return
    session, rest = play.session, f"the other {games:,} games take {text}"
    is_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if is_terminal and progress.confirm(f"{rest}: play them?"):
        return
    play.runner.request_stop()
    deals = max(1, int(session.config.deals * A_MINUTE_S / seconds))
    progress.doubt = (
        f"stopped: {rest}; 'arena run --finish {session.folder.name}' plays them; for a shorter"
        f" run, say how much to play, such as --deals {deals}"
    )


def _show_look(progress: Progress, config: RunConfig, found: Standing) -> None:
    """Shows how precise the ratings are after a look, where they decide how much is played."""
    assert config.until is not None, "a run that plays until its error bars are narrow"
    widest = f"{found.widest:.1f}" if isfinite(found.widest) else "open"
    rest = "no deals are left: use more --deals to continue"
    if found.needed:
        rest = f"about {found.needed} games to go"
    elif found.widest <= config.until:
        rest = "done"
    progress.figure("+/-", widest)
    progress.expect(found.games + found.needed)
    progress.say(f"{found.games} games: widest +/- {widest} Elo; {rest}")


def _show_end(play: Play, progress: Progress, wanted: RunWanted) -> bool:
    """Shows the standings and what went wrong in the session; whether its bots played as they
    should.
    """
    runner, folder = play.runner, play.session.folder
    unplayed, hopeless = unplayed_text(folder), list[str]()
    # Of a run that has hardly begun a table says nothing; only JSON keeps its form.
    if runner.stop_level < AT_ONCE and (wanted.as_json or not (unplayed or progress.doubt)):
        if runner.stop_level and len(play.session.journal.ids) > QUICK_GAMES:
            say(f"the standings would take longer: 'arena standings {folder.name}' shows them")
        else:
            hopeless = conclude(folder, Showing(wanted.as_json), wanted.prior)
    show_troubles(runner, folder, unplayed)
    told = {broken.bot for broken in runner.broken}
    for bot in () if unplayed else [bot for bot in hopeless if bot not in told]:
        expected = f"expected {bot} to play, got a forfeit in each of its games"
        show_error(UserError(expected, f"'arena check {bot}' tells what is wrong"))
    forfeits = forfeits_text(folder) if wanted.strict and not unplayed else ""
    if forfeits:
        looks = "'arena check' looks at a bot, and 'arena doctor' at this machine"
        hint = f"{folder / FAULTS} has the evidence; {looks}"
        show_error(UserError(f"expected no forfeits, got some: {forfeits}", hint))
    name = folder.name if folder.parent.name == "results" else folder
    if progress.doubt:
        say(progress.doubt)
    elif runner.stop_level:
        say(
            f"interrupted: repeat the same command to finish the run in {folder}, or 'arena run"
            f" --finish {folder.name}'"
        )
    elif not unplayed:
        say(f"run {name}: 'arena report {name}' shows it as a page")
    return not (unplayed or forfeits or runner.broken or hopeless)
