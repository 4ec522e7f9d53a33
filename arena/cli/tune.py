"""arena tune: looks for better values of a bot's options, and compares what it finds."""

import sys
from pathlib import Path
from typing import Any, NamedTuple

import click
from msgspec.structs import replace

from arena.cli import DONE, FAILED, INTERRUPTED, NO
from arena.cli.compare import QUESTION, Settled, is_shown, settle
from arena.cli.options import as_json, split_commas
from arena.cli.place import Conduct, conduct_options
from arena.cli.playing import playing, run_path, show_troubles
from arena.cli.progress import Progress
from arena.cli.settings import setting_options
from arena.cli.showing import check_output, tell_json
from arena.cli.terminal import columns_of, is_unicode, say, tell
from arena.commands.allowing import is_trusted
from arena.commands.bots import bot_finder
from arena.commands.playing import Play
from arena.commands.request import request_comparison, request_tuning
from arena.errors import ConfigError, RunError, counted
from arena.exports.path import (
    CSV,
    SVG,
    games_after,
    parameter_lines,
    parameter_rows,
    path_csv,
    path_rows,
    path_svg,
    plots_text,
    values_text,
)
from arena.exports.verdicts import finding_text
from arena.players.folder import Bot, with_options
from arena.players.options import settings_text, split_options
from arena.records.find import read_records
from arena.records.regular import write_durably
from arena.tournament.config import Comparison
from arena.tournament.own import read_own_config
from arena.tournament.parameters import Wanted, wanted
from arena.tournament.request import Request, RunOptions
from arena.tournament.session import Session
from arena.tournament.tuned import TunedGames
from arena.tournament.tuning import BLOCKS_A_STEP, FEW_BLOCKS, SEATS, SearchPath

USUAL_GAMES = 2000
WORTH_ELO = 20.0
"""To tell a gain of 10 Elo from none takes more games than most searches have."""
WIDTH = 80
PLAY_ON = "repeat the command with a larger --compare-games to continue"


@click.command()
@click.argument("bot")
@click.option(
    "--param",
    "params",
    multiple=True,
    required=True,
    metavar="NAME[=LOW..HIGH],...",
    callback=lambda context, parameter, values: [
        wanted(part) for value in values for part in split_commas(context, parameter, value) or ()
    ],
    help="The options to tune, each in its range in bot.toml or in this one.",
)
@click.option(
    "--games",
    type=click.IntRange(1),
    default=USUAL_GAMES,
    show_default=True,
    help="Games of the search; more for each option.",
)
@click.option(
    "--step",
    type=click.IntRange(1),
    help="Deals on each board before the setting moves; more keep more workers busy.  [default:"
    f" {BLOCKS_A_STEP}, shared by the boards]",
)
@click.option(
    "--compare/--no-compare",
    "is_compared",
    default=True,
    help="Compare what was found with BOT on fresh deals.  [default: compare]",
)
@click.option(
    "--compare-games",
    type=click.IntRange(2),
    help="Games of that comparison, at most.  [default: as many as --games]",
)
@click.option(
    "--elo1",
    type=QUESTION["elo1"][0],
    default=WORTH_ELO,
    show_default=True,
    help="The gain that the comparison looks for.",
)
@click.option(
    "--csv", "csv_path", metavar="FILE|-", help="Write the path to a file, or '-' for stdout."
)
@setting_options(
    "boards", "board_files", "seed", "move_ms", "game_ms", "increment_ms", "clock", "startup_ms",
    "out",
)  # fmt: skip
@conduct_options
@as_json
@click.pass_obj
def tune(
    home: Path,
    /,
    bot: str,
    options: RunOptions,
    csv_path: str | None,
    *,
    conduct: Conduct,
    as_json: bool,
    **wishes: Any,
) -> int:
    """Look for better values of a bot's options. The exit status is 0 if what was found is better
    than BOT on fresh deals, 4 if not, 5 if that is not clear.

    BOT is the name of a bot or the path of its folder. The search starts at its settings: at 2 with
    my-bot:c=2. The options are numbers that its bot.toml declares in [options].

    The search is SPSA. On each deal, BOT plays against itself in both seatings with two settings
    near the current one, drawn at random, and the current one moves toward the side that won. What
    it suggests is the mean over the last half of its path. With few games that is mostly luck, so
    it counts for nothing until the comparison, which works as in 'arena compare', has confirmed it.

    Count on 1,000 games to find 100 Elo, and on some thousands for 25. Search few options in narrow
    ranges. If BOT has an option for fixed work, such as nodes, set it: the games are quicker, and a
    busy machine changes nothing.

    Repeat the command to continue after an interruption. More --games with --out NAME continue a
    search that has ended. The run's folder gets the path as path.csv and path.svg.

    \b
    arena tune my-bot --param c --games 2000
    arena tune my-bot:nodes=500 --param depth,c=0.5..3 --games 8000
    arena tune ./my-bot --param c --games 1000 --no-compare --csv path.csv
    """  # noqa: D301 - \b is click's mark for lines to keep
    check_output(csv_path, as_json=as_json)
    asked = Wishes(bot, **wishes)
    found = bot_finder(home, say, in_process=False)(bot)
    request = request_tuning(found, asked.params, options, say, games=asked.games, step=asked.step)
    _note_few(request, asked.games)
    folder = run_path(home, options, request, finished=True, prefix="tune-")
    for_both = _for_sides(conduct, found, request)
    with playing(folder, request, for_both, _headline) as (play, progress):
        search = Search(play, progress)
        search.play()
    status = search.ending()
    if status != DONE:
        return status
    search.write_files()
    _show_path(search, csv_path, as_json=as_json)
    check = _check(home, asked, options, conduct, search, found)
    _show_check(search, check, as_json=as_json, is_csv=csv_path == "-")
    return check.compared.ending(PLAY_ON) if check.compared else check.status


class Wishes(NamedTuple):
    """What is to be tuned, as the user names it, and whether and how long it is checked."""

    bot: str
    params: list[Wanted]
    games: int
    step: int | None
    is_compared: bool
    compare_games: int | None
    elo1: float


class Check(NamedTuple):
    """What came of a suggestion. ``new`` is its name, ``found`` what the comparison found in plain
    words; ``status`` counts where there was none.
    """

    new: str
    found: str
    compared: Settled | None = None
    status: int = DONE


class Search:
    """The search of a session: its path, fed with its games."""

    def __init__(self, play: Play, progress: Progress) -> None:
        self._runner, self._progress = play.runner, progress
        self._session = session = play.session
        self._source = TunedGames(
            session.schedule,
            session.journal.ids,
            lambda: play.pool.places,
            read_records(session.folder),
            self._tell,
        )
        self.folder, self.path = session.folder, self._source.path
        self.boards = len(session.config.boards)
        self.games = session.config.deals * self.boards * SEATS

    def play(self) -> None:
        """Plays to the end of the path, or until it is interrupted."""
        self._runner.play(self._source)

    def ending(self) -> int:
        """Says what went wrong in the session; returns the exit status."""
        show_troubles(self._runner, self.folder)
        if self._source.is_complete:
            return DONE
        if self._runner.voided:
            return FAILED
        if self._runner.stop_level:
            say(f"interrupted: repeat the same command to continue in {self.folder}")
            return INTERRUPTED
        raise RunError(
            f"expected both sides in the games of step {self.path.steps + 1} in {self.folder}, got"
            " others",
            f"'arena verify {self.folder.name}' lists what is wrong",
        )

    def write_files(self) -> None:
        """Writes the path beside the journal."""
        write_durably(self.folder / CSV, self.csv().encode())
        write_durably(self.folder / SVG, path_svg(self.path).encode())

    def csv(self) -> str:
        """The path as CSV."""
        return path_csv(self.path, self.games)

    def _tell(self, path: SearchPath) -> None:
        now = values_text(path, path.steps)
        self._progress.figures["at"] = now
        if is_shown(path.steps - 1, path.steps):
            games = games_after(path, path.steps, self.games)
            self._progress.say(f"{counted(games, 'game')}: {now}")


def _note_few(request: Request, games: int) -> None:
    tune = request.config.tune
    assert tune is not None, "a search"
    enough = FEW_BLOCKS * SEATS * len(tune.parameters)
    if games < enough:
        options = counted(len(tune.parameters), "option")
        say(
            f"note: {counted(games, 'game')} for {options}: the suggestion may be mere luck;"
            f" --games {4 * enough} is a start"
        )


def _for_sides(conduct: Conduct, bot: Bot, request: Request) -> Conduct:
    """The same where the bot is trusted, or allowed something, under the names of both sides."""
    choice, sides = conduct.choice, [side.base for side in request.bots]
    own = read_own_config()
    trusted = choice.trusted or tuple(own.trust or ())
    if is_trusted(bot, choice.trusted, own):
        trusted = (*trusted, *sides)
    allowed = [text.partition("=") for text in choice.allowed]
    words = [
        f"{side}{equals}{grants}"
        for name, equals, grants in allowed
        for side in (sides if name == bot.base else [name])
    ]
    return conduct._replace(choice=choice._replace(trusted=trusted, allowed=tuple(words)))


def _headline(session: Session) -> str:
    tune = session.config.tune
    assert tune is not None, "a search"
    names = ", ".join(parameter.name for parameter in tune.parameters)
    return (
        f"tuning {names} of {tune.bot}, on {', '.join(session.config.boards)},"
        f" {counted(session.schedule.games, 'game')}"
    )


def _show_path(search: Search, csv_path: str | None, *, as_json: bool) -> None:
    if csv_path == "-":
        click.echo(search.csv(), nl=False)
    elif csv_path:
        write_durably(Path(csv_path), search.csv().encode())
        say(f"path: {csv_path}")
    if as_json or csv_path == "-":
        return
    width = columns_of(sys.stdout) or WIDTH
    click.echo(plots_text(search.path, search.games, width, is_plain=not is_unicode(sys.stdout)))
    tell("\n".join(parameter_lines(search.path)))


def _check(
    home: Path, asked: Wishes, options: RunOptions, conduct: Conduct, search: Search, tuned: Bot
) -> Check:
    """Compares what the search suggests with what it began with, on deals that it has not seen."""
    settings = {**tuned.settings, **search.path.settings(search.path.suggestion())}
    bot = with_options(tuned, settings_text(settings))
    said = settings_text(bot.settings)
    new = split_options(asked.bot)[0] + (f":{said}" if said else "")
    if bot.settings == tuned.settings:
        return Check(new, f"the search ends where it began: keep {asked.bot}", status=NO)
    if not asked.is_compared:
        return Check(new, f"not compared: 'arena compare {new} {asked.bot}' tells if it is better")
    folder = search.folder.with_name(f"{search.folder.name}-check-{search.games}")
    seed = None if options.seed is None else f"{options.seed}/check"
    request = request_comparison(
        home,
        Comparison(new, asked.bot, elo1=asked.elo1),
        replace(options, seed=seed, out=None),
        say,
        max_blocks=(asked.compare_games or search.games) // SEATS,
        null=False,
    )
    if request.bots[0].sha256 != tuned.sha256:
        raise ConfigError(
            f"expected the files of {asked.bot} that were tuned, got others",
            "restore them and repeat the command, or start another search with --out NAME",
        )
    compared = settle(folder, request, conduct, keeps_looks=False)
    return Check(new, finding_text(compared.contest.test, new, asked.bot), compared)


def _show_check(search: Search, check: Check, *, as_json: bool, is_csv: bool) -> None:
    if as_json:
        content = {
            "run": str(search.folder),
            "games": search.games,
            "parameters": parameter_rows(search.path),
            "suggested": check.new,
            "found": check.found,
            "compared": check.compared and check.compared.object(),
            "path": path_rows(search.path, search.games),
        }
        tell_json(content)
        return
    text = f"suggested: {check.new}\n{check.found}"
    (say if is_csv else tell)(text)
