"""arena tune: searches for better values of a bot's options, and compares the bot that has them
with the original one.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from arena.cli import NO
from arena.cli.compare import (
    WEAK_POOL,
    FinishedComparison,
    for_copies_of_old,
    is_shown,
    play_comparison,
)
from arena.cli.completion import complete_bots
from arena.cli.numbers import WholeNumber
from arena.cli.options import (
    as_json,
    default_option,
    pool_option,
    setting_options,
    split_commas,
    tell_json,
)
from arena.cli.run import Conduct, conduct_options, playing, run_path, status_of
from arena.cli.sections import SectionedCommand
from arena.cli.terminal import say, tell
from arena.commands.bots import bot_finder
from arena.commands.requests import games_a_block, request_comparison, request_tuning
from arena.errors import ConfigError, RunError, counted
from arena.exports import verdicts
from arena.players.folder import Bot, with_options
from arena.players.labels import settings_text, split_options
from arena.records.config import Comparison
from arena.records.journal import read_records
from arena.records.regular import write_durably
from arena.tournament import tuning
from arena.tournament.runs import Request
from arena.tournament.settings import GivenOptions

USUAL_GAMES = 2000
"""The number of games of a search if the user gives none."""
WORTH_ELO = 20.0
"""The difference in Elo that the comparison after a search looks for if the user gives none. To
tell a gain of 10 Elo from none takes more games than most searches have.
"""
PLAY_ON = "repeat the command with a larger --compare-games to continue"
"""What to do if the comparison is undecided."""


def _parse_params(
    context: click.Context, parameter: click.Parameter, values: Iterable[str]
) -> list[tuning.TunedOption]:
    """A click callback that reads the values of ``--param``, each with one or more options
    separated by commas. Raises BadParameter.
    """
    options: list[tuning.TunedOption] = []
    for value in values:
        parts = split_commas(context, parameter, value) or ()
        options += map(tuning.read_tuned_option, parts)
    return options


@click.command(cls=SectionedCommand)
@click.argument("bot", shell_complete=complete_bots)
@click.option(
    "--param",
    "params",
    multiple=True,
    required=True,
    metavar="NAME[=LOW..HIGH],...",
    callback=_parse_params,
    help="The options to tune, each in its range in bot.toml or in this one.",
)
@pool_option("the two sides of the search", "BOT")
@click.option(
    "--games",
    type=WholeNumber(1),
    default=USUAL_GAMES,
    show_default=True,
    help="Games of the search; more for each option.",
)
@click.option(
    "--step",
    type=WholeNumber(1),
    help="Deals on each board before the setting moves; more keep more workers busy.  [default:"
    f" {tuning.BLOCKS_A_STEP}, shared by the boards]",
)
@click.option(
    "--compare/--no-compare",
    "is_compared",
    default=True,
    help="Compare what was found with BOT on fresh deals.  [default: compare]",
)
@click.option(
    "--compare-games",
    type=WholeNumber(2),
    help="Games of that comparison, at most.  [default: as many as --games]",
)
@default_option("elo1", default=WORTH_ELO, help="The gain that the comparison looks for.")
@setting_options("tune")
@conduct_options
@as_json
@click.pass_obj
def tune(  # noqa: PLR0913 - its options
    home: Path,
    /,
    bot: str,
    params: list[tuning.TunedOption],
    pool: list[str] | None,
    options: GivenOptions,
    *,
    games: int,
    step: int | None,
    is_compared: bool,
    compare_games: int | None,
    elo1: float,
    conduct: Conduct,
    as_json: bool,
) -> int:
    """Look for better values of a bot's options. The exit status is 0 if what was found is better
    than BOT on fresh deals, 4 if not, 5 if that is not clear.

    BOT is the name of a bot or the path of its folder. The search starts at its settings: at 2 with
    my-bot:c=2. The options are numbers that its bot.toml declares in [options].

    The search is SPSA. On each deal, BOT plays against itself in both seatings with two settings
    near the current one, drawn at random, and the current one moves toward the side that won. What
    it suggests is the mean over the last half of its path. With few games that is mostly luck, so
    it counts for nothing until the comparison, which works as in 'arena compare', has confirmed it.

    With --pool, or in games of three and four, the two settings do not meet: both play the same
    deals in the same seats against the same opponents, and so does the comparison. That takes
    several times as many games, and many more against opponents much weaker or stronger than BOT.

    Count on 1,000 games to find 100 Elo, and on some thousands for 25. Search few options in narrow
    ranges. If BOT has an option for fixed work, such as nodes, set it: the games are quicker, and a
    busy machine changes nothing.

    Repeat the command to continue after an interruption. More --games with --out NAME continue a
    search that has ended. The run's folder gets the path as path.csv.

    \b
    arena tune my-bot --param c --games 2000
    arena tune my-bot:nodes=500 --param depth,c=0.5..3 --games 8000
    arena tune ./my-bot --param c --games 1000 --no-compare
    arena tune my-bot --param c --players 3 --games 12000
    """  # noqa: D301 - \b is click's mark for lines to keep
    tuned = bot_finder(home, say)(bot)
    options = {**options, "bots": pool or []}
    request = request_tuning(home, tuned, params, options, say, games=games, step=step)
    block = games_a_block(options)
    _note_few(len(params), games, block)
    if is_compared:
        _announce(games, compare_games or games)
    folder = run_path(home, options, request, finished=True, prefix="tune-")
    copies = [bot for bot in request.bots if bot.sha256 == tuned.sha256]
    of_sides = conduct._replace(choice=conduct.choice.for_copies(tuned, copies))
    path, played, status = _search(folder, request, of_sides)
    if status:
        return status
    write_durably(folder / verdicts.CSV, verdicts.path_csv(path, played).encode())
    if not as_json:
        tell("\n".join(verdicts.parameter_lines(path)))
    suggested = with_options(
        tuned, settings_text({**tuned.settings, **path.settings(path.suggestion())})
    )
    new = ":".join(filter(None, (split_options(bot)[0], settings_text(suggested.settings))))
    compared = None
    if suggested.settings == tuned.settings:
        text = f"the search ends where it began: keep {bot}"
        status = NO
    elif is_compared:
        again = _confirmation_request(
            home,
            Comparison(new, bot, elo1=elo1),
            options,
            tuned,
            blocks=(compare_games or played) // block,
        )
        compared = play_comparison(
            folder.with_name(f"{folder.name}-check-{played}"),
            again,
            conduct if pool else for_copies_of_old(conduct, again),
            keeps_looks=False,
        )
        text = _answer(compared, new, bot)
    else:
        text = f"not compared: 'arena compare {new} {bot}' tells if it is better"
    if as_json:
        tell_json(_result_object(folder, path, played, new, text, compared))
    else:
        tell(f"suggested: {new}\n{text}")
    return compared.ending(PLAY_ON) if compared else status


def _announce(games: int, most: int) -> None:
    """Prints how many games are played: ``games`` to search, and at most ``most`` to compare."""
    say(
        f"this plays {counted(games, 'game')} to search, then at most"
        f" {counted(most, 'game')} to compare: at most {counted(games + most, 'game')}"
    )


def _answer(compared: FinishedComparison, new: str, old: str) -> str:
    """What the comparison of the suggested settings with the original ones has found, in words.
    ``new`` and ``old`` are the bot with each of them, named as the user does.
    """
    if compared.is_empty:
        return "the comparison has no answer"
    contest = compared.contest
    return verdicts.finding_text(contest.test, new, old, is_same=contest.is_same)


def _result_object(
    folder: Path,
    path: tuning.SearchPath,
    played: int,
    suggested: str,
    finding: str,
    compared: FinishedComparison | None,
) -> dict[str, Any]:
    """A finished search as an object for JSON. ``folder`` is that of its run, ``played`` its number
    of games; ``suggested`` names the bot with its new settings; ``finding`` is what the comparison
    has found, in words, and ``compared`` that comparison (None if there was none).
    """
    return {
        "run": str(folder),
        "games": played,
        "parameters": verdicts.parameter_rows(path),
        "suggested": suggested,
        "found": finding,
        "compared": compared and compared.object(),
        "path": verdicts.path_rows(path, played),
    }


def _search(folder: Path, request: Request, conduct: Conduct) -> tuple[tuning.SearchPath, int, int]:
    """Plays the search in ``folder``. Returns its path, the number of games that it has when it is
    complete, and the exit status, which is DONE if it is complete. Raises RunError if the run has
    games that do not belong to the search.
    """
    with playing(folder, request, conduct) as (play, progress):
        session = play.session
        config = session.run.config
        games = config.deals * len(config.boards) * config.games_a_block

        def watch(path: tuning.SearchPath) -> None:
            """Shows the values that the search has reached."""
            now = verdicts.values_text(path, path.steps)
            progress.figure("at", now)
            if is_shown(path.steps - 1, path.steps):
                so_far = verdicts.games_after(path, path.steps, games)
                progress.say(f"{counted(so_far, 'game')}: {now}")

        source = tuning.TunedGames(
            session.run.schedule,
            session.journal.ids,
            lambda: play.pool.slots,
            read_records(folder),
            watch,
        )
        play.runner.play(source.games)
    if session.run.config.pool and verdicts.is_one_sided([source.share]):
        say(WEAK_POOL)
    status = status_of(play.runner, folder, progress, is_settled=source.is_complete)
    if status is None:
        raise RunError(
            f"the games of step {source.path.steps + 1} in {folder} are not between the two sides"
            " of the search",
            f"'arena verify {folder.name}' lists what is wrong",
        )
    return source.path, games, status


def _note_few(parameters: int, games: int, block: int) -> None:
    """Prints a note if a search has too few games for its number of options. ``block`` is the
    number of games in a block.
    """
    enough = tuning.FEW_BLOCKS * block * parameters
    if games < enough:
        say(
            f"note: {counted(games, 'game')} for {counted(parameters, 'option')}: the suggestion"
            f" may be mere luck; --games {4 * enough} is a start"
        )


def _confirmation_request(
    home: Path, check: Comparison, options: GivenOptions, tuned: Bot, blocks: int
) -> Request:
    """The request for the comparison ``check`` of the suggested settings with the original ones, on
    deals that the search has not used, with at most ``blocks`` blocks. Raises ConfigError if the
    bot's files are not those that were tuned.
    """
    again: GivenOptions = {**options}
    again.pop("out", None)
    if "seed" in options:
        again["seed"] = f"{options['seed']}/check"
    request = request_comparison(home, check, again, say, max_blocks=blocks)
    if request.bots[0].sha256 != tuned.sha256:
        raise ConfigError(
            f"the files of {check.old} have changed since the search",
            "restore them and repeat the command, or start another search with --out NAME",
        )
    return request
