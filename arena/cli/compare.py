"""arena compare and arena tune: whether a bot's new version is better than the old one, and which
values of its options are.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from arena.cli import DONE, NO, UNDECIDED
from arena.cli.numbers import WholeNumber
from arena.cli.options import (
    as_json,
    default_option,
    one_argument,
    setting_options,
    split_bot_names,
    split_commas,
    tell_json,
)
from arena.cli.progress import Progress
from arena.cli.run import AT_ONCE, Conduct, conduct_options, playing, run_path, status_of
from arena.cli.sections import SectionedCommand
from arena.cli.terminal import say, tell
from arena.commands.bots import blocks_of, bot_finder, request_comparison, request_tuning
from arena.commands.playing import Contest, is_trusted
from arena.errors import ConfigError, RunError, counted
from arena.exports import verdicts
from arena.exports.verdicts import llr_text
from arena.players.folder import Bot, with_options
from arena.players.labels import settings_text, split_options
from arena.ratings.sequential import SequentialTest, Verdict
from arena.records.journal import read_records, unplayed_text
from arena.records.regular import write_durably
from arena.tournament import tuning
from arena.tournament.config import Comparison
from arena.tournament.runner import Runner
from arena.tournament.runs import Request
from arena.tournament.settings import MOST_BLOCKS, QUESTION, Asked, read_own_config

SHOWN = (1, 2, 5)
"""A line of progress is shown after this many blocks, and ten times, a hundred times as many."""
MANY = 100
"""After so many somebody may wonder whether it still plays."""
USUAL_GAMES = 2000
WORTH_ELO = 20.0
"""To tell a gain of 10 Elo from none takes more games than most searches have."""
PLAY_ON = "repeat the command with a larger --compare-games to continue"


@click.command(cls=SectionedCommand)
@one_argument(
    "question",
    Comparison,
    click.argument("new"),
    click.argument("old"),
    *map(default_option, QUESTION),
    names=Comparison.__struct_fields__,
)
@click.option(
    "--pool",
    callback=split_bot_names,
    metavar="BOT,...",
    help="Opponents for both; three and four players need some.  [default: NEW and OLD play each"
    " other]",
)
@click.option(
    "--games",
    type=WholeNumber(1),
    help=f"Stop undecided after this many games.  [default: those of {MOST_BLOCKS} blocks]",
)
@click.option("--max-blocks", type=WholeNumber(1), default=MOST_BLOCKS, hidden=True)
@setting_options("compare")
@conduct_options
@as_json
@click.pass_obj
def compare(
    home: Path,
    /,
    question: Comparison,
    pool: list[str] | None,
    options: Asked,
    *,
    games: int | None,
    max_blocks: int,
    conduct: Conduct,
    as_json: bool,
) -> int:
    """Play until it is clear whether NEW is better than OLD. The exit status is 0 for better, 4 for
    not better, 5 for undecided.

    NEW and OLD are names of bots, or paths of a bot's folder or script. They and the pool may be
    built-in bots: see 'arena run --help'.

    They play blocks of games. A block is one deal in every rotation of seats: without a pool, NEW
    and OLD play each other with seats swapped; with a pool, both play the same deals in the same
    seats against the same opponents. After each round of blocks, a sequential test (GSPRT) decides
    whether the difference is more like elo1 or elo0, or needs more blocks. If it lies in between,
    either answer may come, and it takes longest.

    Repeat the command to continue after an interruption, or to see the answer again. The answer
    depends only on the blocks in the order of their deals, not on workers or interruptions. Use
    --out NAME to start afresh.

    The answer comes first, with the difference in Elo and its 95 % interval. With -v you also see
    the log likelihood ratio (LLR) of the test, and the plain estimate of the Elo, which is biased.

    With --json, "looks" has what the test said after each round of blocks: its log likelihood
    ratio, and the plain Elo so far with the half-width of its 95 % interval.

    \b
    arena compare my-bot my-bot@1
    arena compare ./my-bot my-bot --elo1 30 --games 4000
    arena compare my-bot my-bot@1 --pool greedy-python,careful-python --players 3
    arena compare my-bot my-bot@1 --pool greedy,careful
    arena compare careful-16 careful-8
    """  # noqa: D301 - \b is click's mark for lines to keep
    options = {**options, "bots": pool or []}
    if games is not None:
        max_blocks = blocks_of(games, options)
    request = request_comparison(home, question, options, say, max_blocks=max_blocks)
    folder = run_path(home, options, request, finished=True)
    settled = settle(folder, request, conduct, keeps_looks=as_json)
    if settled.runner.stop_level < AT_ONCE and (as_json or not settled.is_empty):
        if as_json:
            tell_json(settled.object())
        else:
            contest = settled.contest
            told = (contest.test, settled.new, settled.old, contest.games)
            tell(verdicts.verdict_text(*told, is_wide=conduct.verbose))
    return settled.ending(f"use a larger --games with --out {folder.name} to continue")


class Settled(NamedTuple):
    """A comparison of two bots that has been played, as far as it could be."""

    contest: Contest
    runner: Runner
    folder: Path
    new: str
    old: str

    @property
    def is_empty(self) -> bool:
        """Whether its games say nothing of how well the bots play."""
        return bool(self.runner.broken or unplayed_text(self.folder))

    def object(self) -> dict[str, Any]:
        """The verdict and the evidence for it, for JSON."""
        contest = self.contest
        told = (contest.test, self.new, self.old, contest.games, contest.looks)
        return verdicts.verdict_object(*told)

    def ending(self, more: str) -> int:
        """Says what went wrong in the session, and how to play ``more`` where that is needed;
        returns the exit status.
        """
        verdict = self.contest.test.verdict
        is_settled = verdict != Verdict.UNDECIDED
        status = status_of(self.runner, self.folder, is_settled=is_settled)
        if status == DONE:
            return DONE if verdict == Verdict.BETTER else NO
        if status is None:
            say(f"undecided: {more}")
        return UNDECIDED if status is None else status


def settle(folder: Path, request: Request, conduct: Conduct, *, keeps_looks: bool) -> Settled:
    """Plays the comparison in a folder until it is decided or cannot go on."""
    with playing(folder, request, conduct) as (play, progress):
        teller = _teller(progress, verbose=conduct.verbose)
        contest = Contest(play, teller, keeps_looks=keeps_looks)
        contest.play()
    new, old = request.bots[:2]
    return Settled(contest, play.runner, folder, new=new.label, old=old.label)


def _teller(progress: Progress, *, verbose: bool) -> Callable[[SequentialTest], None]:
    """Shows how far the test of a comparison is: after the bar, and now and then in a line."""
    shown = 0

    def show(test: SequentialTest) -> None:
        nonlocal shown
        is_decided = test.verdict != Verdict.UNDECIDED
        progress.figure("LLR", llr_text(test))
        if is_decided or is_shown(shown, test.blocks):
            blocks = counted(test.blocks, "block")
            # The bar of a terminal shows the ratio all the time.
            if verbose or not progress.has_bar:
                progress.say(f"{blocks}: LLR {llr_text(test)}")
            elif test.blocks >= MANY and not is_decided:
                progress.say(f"{blocks}: not clear yet")
        shown = test.blocks

    return show


def is_shown(before: int, now: int) -> bool:
    """Whether one of 1, 2, 5, 10, 20, 50 ... blocks has been reached."""
    power = 10 ** (len(str(now)) - 1)
    return any(before < step * power <= now for step in SHOWN)


@click.command(cls=SectionedCommand)
@click.argument("bot")
@click.option(
    "--param",
    "params",
    multiple=True,
    required=True,
    metavar="NAME[=LOW..HIGH],...",
    callback=lambda context, parameter, values: [
        tuning.wanted(part)
        for value in values
        for part in split_commas(context, parameter, value) or ()
    ],
    help="The options to tune, each in its range in bot.toml or in this one.",
)
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
    params: list[tuning.Wanted],
    options: Asked,
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

    Count on 1,000 games to find 100 Elo, and on some thousands for 25. Search few options in narrow
    ranges. If BOT has an option for fixed work, such as nodes, set it: the games are quicker, and a
    busy machine changes nothing.

    Repeat the command to continue after an interruption. More --games with --out NAME continue a
    search that has ended. The run's folder gets the path as path.csv.

    \b
    arena tune my-bot --param c --games 2000
    arena tune my-bot:nodes=500 --param depth,c=0.5..3 --games 8000
    arena tune ./my-bot --param c --games 1000 --no-compare
    """  # noqa: D301 - \b is click's mark for lines to keep
    tuned = bot_finder(home, say)(bot)
    request = request_tuning(tuned, params, options, say, games=games, step=step)
    _note_few(len(params), games)
    folder = run_path(home, options, request, finished=True, prefix="tune-")
    path, played, status = _search(folder, request, _for_sides(conduct, tuned, request))
    if status:
        return status
    write_durably(folder / verdicts.CSV, verdicts.path_csv(path, played).encode())
    if not as_json:
        tell("\n".join(verdicts.parameter_lines(path)))
    settings = {**tuned.settings, **path.settings(path.suggestion())}
    found = with_options(tuned, settings_text(settings))
    compared = None
    new = ":".join(filter(None, (split_options(bot)[0], settings_text(found.settings))))
    if found.settings == tuned.settings:
        text = f"the search ends where it began: keep {bot}"
        status = NO
    elif is_compared:
        check = Comparison(new, bot, elo1=elo1)
        blocks = (compare_games or played) // tuning.SEATS
        again = _asked_again(home, check, options, tuned, blocks)
        beside = folder.with_name(f"{folder.name}-check-{played}")
        compared = settle(beside, again, conduct, keeps_looks=False)
        text = "the comparison has no answer"
        if not compared.is_empty:
            text = verdicts.finding_text(compared.contest.test, new, bot)
    else:
        text = f"not compared: 'arena compare {new} {bot}' tells if it is better"
    if as_json:
        tell_json(
            {
                "run": str(folder),
                "games": played,
                "parameters": verdicts.parameter_rows(path),
                "suggested": new,
                "found": text,
                "compared": compared and compared.object(),
                "path": verdicts.path_rows(path, played),
            }
        )
    else:
        tell(f"suggested: {new}\n{text}")
    return compared.ending(PLAY_ON) if compared else status


def _search(folder: Path, request: Request, conduct: Conduct) -> tuple[tuning.SearchPath, int, int]:
    """Plays the search in a folder; its path, its games when it is complete, and the exit status,
    DONE if it is.
    """
    with playing(folder, request, conduct) as (play, progress):
        session = play.session
        games = session.config.deals * len(session.config.boards) * tuning.SEATS

        def watch(path: tuning.SearchPath) -> None:
            now = verdicts.values_text(path, path.steps)
            progress.figure("at", now)
            if is_shown(path.steps - 1, path.steps):
                so_far = verdicts.games_after(path, path.steps, games)
                progress.say(f"{counted(so_far, 'game')}: {now}")

        source = tuning.TunedGames(
            session.schedule,
            session.journal.ids,
            lambda: play.pool.slots,
            read_records(folder),
            watch,
        )
        play.runner.play(source.games)
    status = status_of(play.runner, folder, is_settled=source.is_complete)
    if status is None:
        raise RunError(
            f"expected both sides in the games of step {source.path.steps + 1} in {folder}, got"
            " others",
            f"'arena verify {folder.name}' lists what is wrong",
        )
    return source.path, games, status


def _note_few(parameters: int, games: int) -> None:
    enough = tuning.FEW_BLOCKS * tuning.SEATS * parameters
    if games < enough:
        say(
            f"note: {counted(games, 'game')} for {counted(parameters, 'option')}: the suggestion"
            f" may be mere luck; --games {4 * enough} is a start"
        )


def _for_sides(conduct: Conduct, bot: Bot, request: Request) -> Conduct:
    """The conduct of a comparison in which both sides are trusted and allowed what the user granted
    the bot under its own name.
    """
    choice = conduct.choice
    sides = [side.base for side in request.bots]
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


def _asked_again(home: Path, check: Comparison, options: Asked, tuned: Bot, blocks: int) -> Request:
    """The comparison of what a search suggests with what it began with, on deals that it has not
    seen. Raises ConfigError.
    """
    again: Asked = {**options}
    again.pop("out", None)
    if "seed" in options:
        again["seed"] = f"{options['seed']}/check"
    request = request_comparison(home, check, again, say, max_blocks=blocks)
    if request.bots[0].sha256 != tuned.sha256:
        raise ConfigError(
            f"expected the files of {check.old} that were tuned, got others",
            "restore them and repeat the command, or start another search with --out NAME",
        )
    return request
