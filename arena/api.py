"""The arena for programs: one function for each question, with data frames as answers.

    from arena import api

    league = api.run(["./my-bot", "greedy", "careful"], deals=50, seed="first")
    league.standings
    api.compare("my-bot", "my-bot@1", elo1=30).verdict
    api.rate("results/league-2/2-players", without=["random-python"]).pairs
    api.check("./my-bot").passed

The functions do what the commands of the same names do, in the same folders, and give the same
figures. You can call them in a notebook, in a thread, and in a script without ``if __name__ ==
"__main__"``, because workers do not import your program. They print nothing; what a command says
beside its answer is an `ArenaWarning`. Ctrl-C, or an interrupted cell, ends the workers and their
bots; if you repeat the call, it plays the rest.

Bots are named as on the command line: ``"my-bot"``, ``"my-bot:depth=3"``, ``"./folder"``,
``"careful-8"``; a `Path` is always a path. The home is the folder that holds bots/ and results/:
the argument ``home``, else $ARENA_HOME, else the nearest home from the current folder upward.

An error that a user can fix is an `arena.errors.UserError`, whose ``hint`` says how.
"""

import arena.slim_msgspec  # noqa: F401 - before anything imports msgspec

# isort: split
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Unpack, cast

import pandas as pd

from arena.arguments import (
    ArenaWarning,
    GameSettings,
    checked_arguments,
    checked_call,
    games_together,
    opened,
    opened_run,
    sandbox_choice,
    warnings_of_call,
)
from arena.commands.bots import bot_to_check
from arena.commands.home import results_folder
from arena.commands.playing import Contest, broken_error, unplayed_error
from arena.commands.requests import blocks_of, request_comparison, request_run, results_path
from arena.commands.review import Review, ReviewResult, adviser, make_judge
from arena.commands.runs import ComparisonResult, Standings, comparison_of, rated_run, standings_of
from arena.errors import ConfigError
from arena.exports.files import csv_text, games_frame
from arena.match.check import check_bot, check_object
from arena.match.grading import DEFAULT_DEALS, DEFAULT_JUDGE
from arena.players.sandbox.tiers import Mode
from arena.ratings.sheet import KNOWN_COLUMNS, read_sheet
from arena.ratings.tables import rate_sheet
from arena.records.config import Comparison as Question
from arena.records.journal import unplayed_text
from arena.tournament.run import Run as OpenedRun
from arena.tournament.settings import (
    DECLARED,
    MAX_BLOCKS,
    QUESTION,
    GivenOptions,
    Named,
    default_of,
    taken_by,
)

__all__ = [
    "ArenaWarning", "CheckResult", "ComparisonResult", "ReviewResult", "Run", "RunResult",
    "Standings", "check", "compare", "games", "rate", "review", "run",
]  # fmt: skip


class RunResult(NamedTuple):
    """A run that has been played.

    Attributes:
        path: The folder of the run.
        tables: The standings and the other tables of its games.
    """

    path: Path
    tables: Standings

    @property
    def standings(self) -> pd.DataFrame:
        """The standings, one row per bot; see `Standings` for the columns."""
        return self.tables.standings

    @property
    def is_complete(self) -> bool:
        """Whether all planned games have been played; False if this version cannot read the run's
        plan.
        """
        return self.tables.missing == 0

    def games(self, *, moves: bool = False) -> pd.DataFrame:
        """The games of the run, read from its folder now, one row each.

        Args:
            moves: Whether to add the columns with decks, moves, times and notes.

        Returns:
            A data frame with the columns of `games`.
        """
        return games_frame(OpenedRun(self.path), moves=moves)

    def _repr_html_(self) -> str:
        return self.tables._repr_html_()


class CheckResult(NamedTuple):
    """The result of checking a bot.

    Attributes:
        bot: The label of the bot.
        passed: Whether the bot passed every step.
        steps: One row per step, with the columns of ``arena check --json``; ``passed`` is missing
            for steps that were not tried.
    """

    bot: str
    passed: bool
    steps: pd.DataFrame


Run = RunResult
"""The name that `RunResult` had in earlier versions."""


def run(bots: Sequence[Named] | None = None, **settings: Unpack[GameSettings]) -> RunResult:
    """Play a run, or the rest of it, and rate it. A run with exactly these settings that is not
    finished is continued.

    Args:
        bots: Names or paths of bots; by default the newest version of every bot of the home, and
            the bundled bots (with ``in_process=True``, all built-in bots).
        **settings: The settings of ``arena run``, listed below, and those of `GameSettings`.

    Returns:
        The run with its tables. If games could not be played, a note of the tables says how many
        are missing. A bot that crashed in each of its first games plays no more, which an
        `ArenaWarning` reports.

    Raises:
        UserError: The settings contradict each other, or a bot cannot be used.
        Void: The machine failed repeatedly.
        KeyboardInterrupt: The user interrupted; the games played so far are safe.

    Example:
        Let two built-in bots play 100 games:

            played = arena.api.run(["greedy", "random"], deals=50)
            print(played.standings)
    """
    arguments = checked_call("run", settings, bots=bots)
    with warnings_of_call() as tell:
        request = request_run(arguments["home"], cast("GivenOptions", arguments), tell)
        folder = results_path(
            results_folder(arguments["home"]), arguments.get("out"), request, tell
        )
        with opened(folder, request, arguments, tell) as play:
            play.runner.play(play.games())
        for broken in play.runner.broken:
            tell(str(broken_error(broken, folder)))
    return RunResult(folder, standings_of(*rated_run(OpenedRun(folder))))


def compare(
    new: Named,
    old: Named,
    *,
    pool: Sequence[Named] | None = None,
    games: int | None = None,
    max_blocks: int = MAX_BLOCKS,
    **settings: Unpack[GameSettings],
) -> ComparisonResult:
    """Play two bots until it is clear whether the new one is better than the old one. If there is a
    comparison with exactly these settings, it is continued, or gives its answer again.

    Args:
        new: Name or path of the new bot.
        old: Name or path of the old bot.
        pool: Opponents. Both bots play against them; without a pool they play each other.
        games: The number of games after which the comparison ends undecided, rounded up to whole
            blocks; None for ``max_blocks``.
        max_blocks: The number of blocks after which the comparison ends undecided, if ``games`` is
            not given. A block has the games on one deal, with both bots in every seat.
        **settings: The settings of ``arena compare``, listed below, and those of `GameSettings`.

    Returns:
        The verdict, the difference in Elo, and one row for each evaluation of the test.

    Raises:
        UserError: The settings contradict each other, or a bot cannot be used or forfeits all its
            games.
        Void: The machine failed repeatedly.
        KeyboardInterrupt: The user interrupted; the games played so far are safe.

    Example:
        Ask whether a changed bot is better than the submitted one:

            answer = arena.api.compare("./my-bot", "my-bot", elo1=30, move_ms=100)
            print(answer.verdict, answer.elo)
    """
    limits = {"games": games, "max_blocks": max_blocks}
    arguments = checked_call("compare", settings, new=new, old=old, pool=pool or [], **limits)
    arguments["bots"] = arguments["pool"]
    if games is not None:
        max_blocks = blocks_of(arguments["games"], cast("GivenOptions", arguments))
    question = Question(
        **{name: arguments[name] for name in ("new", "old", *QUESTION) if name in arguments}
    )
    with warnings_of_call() as tell:
        request = request_comparison(
            arguments["home"],
            question,
            cast("GivenOptions", arguments),
            tell,
            max_blocks=max_blocks,
        )
        results = results_folder(arguments["home"])
        folder = results_path(results, arguments.get("out"), request, tell, finished=True)
        with opened(folder, request, arguments, tell) as play:
            contest = Contest(play, keeps_looks=True)
            contest.play()
    for broken in play.runner.broken:
        raise broken_error(broken, folder)
    unplayed = unplayed_text(folder)
    if unplayed:
        raise unplayed_error(unplayed)
    return comparison_of(folder, request, contest)


def rate(
    results: Named | pd.DataFrame | Sequence[Named],
    *,
    prior: float | None = None,
    anchors: Mapping[str, float] | None = None,
    without: Sequence[str] = (),
    match: Sequence[str] | None = None,
    seats: bool = True,
    home: Named | None = None,
) -> Standings:
    """Rate the games of a run, of several runs together, of a CSV file, or of a data frame, such as
    a part of what `games` returns.

    Args:
        results: A run's name or path, a sequence of these, the path of a CSV file, or a data frame.
        prior: The number of virtual draws that every bot gets, so that bots which won or lost
            everything have a rating, too. With None, such bots get a bound.
        anchors: Fixed ratings in Elo, by the names of bots.
        without: Bots whose games are left out.
        match: For a run, the boards of a match: the games on these boards then count together as
            one match, won by the bot with the fewest pagodas left in all of them. An empty list
            scores single games; None scores as the run was planned.
        seats: For files and data frames, whether the model allows for seats that differ in
            strength. For a run it must be True.
        home: The folder that holds results/.

    Returns:
        The standings and the other tables.

    Raises:
        UserError: There is no such run or file, its content cannot be rated, or an argument does
            not fit.

    Example:
        Rate the games on one board:

            all_games = arena.api.games("2026-11-01-1")
            arena.api.rate(all_games[all_games.board == "bird"]).standings
    """
    arguments = checked_arguments(
        prior=prior, anchors=anchors, without=without, match=match, seats=seats
    )
    without = arguments["without"]
    named = results if isinstance(results, str | os.PathLike) else None
    if named is not None and not Path(named).is_file():
        if not seats:
            hint = "rate(games(run), seats=False) does"
            raise ConfigError("seats=False is for files and frames only, not for a run", hint)
        opened = opened_run(named, home)
        return standings_of(*rated_run(opened, prior, anchors, arguments.get("match"), without))
    if match is not None:
        raise ConfigError(
            "match is for runs only: a file or a frame of games has no rounds", "leave it out"
        )
    if named is not None:
        data = Path(named).read_bytes()
        name = str(named)
    else:
        frame = results if isinstance(results, pd.DataFrame) else games_together(results, home)
        known = [column for column in frame.columns if column in KNOWN_COLUMNS]
        data = csv_text(frame[known]).encode()
        name = "the games"
    tables = rate_sheet(read_sheet(data, name), prior, anchors, seats=seats, without=without)
    return standings_of(tables)


def games(run: Named, *, moves: bool = False, home: Named | None = None) -> pd.DataFrame:
    """The games of a run as a data frame.

    Args:
        run: The name or path of the run.
        moves: Whether to add ``deck`` (72 tiles in the order drawn), ``moves``, ``ms`` (of each
            move) and ``notes``.
        home: The folder that holds results/.

    Returns:
        One row per game, in the order of the run's journal: ``id``, ``block`` (board/deal),
        ``board``, ``deal``, ``seating``, ``end``, ``turns`` (tiles placed), then for each seat
        ``bot_0``, ``share_0`` (of the win, from 0 to 1), ``rank_0`` (1 is best), ``left_0``
        (pagodas), ``think_ms_0`` (of all moves) and so on, then ``faults`` (``seat:kind``, joined
        by ``;``).

    Raises:
        UserError: There is no such run, or it cannot be read.

    Example:
        Count the games that each bot won from the first seat:

            frame = arena.api.games("2026-11-01-1")
            frame[frame.rank_0 == 1].bot_0.value_counts()
    """
    return games_frame(opened_run(run, home), moves=moves)


def review(  # noqa: PLR0913 - a notebook shows them
    run: Named,
    game: str | None = None,
    *,
    bots: Sequence[str] = (),
    games: int | None = None,
    judge: Named = DEFAULT_JUDGE,
    deals: int = DEFAULT_DEALS,
    seed: int = 0,
    jobs: int | None = None,
    sandbox: Mode | None = None,
    trust: Sequence[str] = (),
    allow: Sequence[str] = (),
    home: Named | None = None,
) -> ReviewResult:
    """Grade decisions of a run, or of one game, as ``arena review`` does. Decisions that the run's
    review.jsonl has grades for are not graded again.

    Args:
        run: The name or path of the run.
        game: The id of the only game to review; None reviews all games on whose deals no other
            game is still to be played.
        bots: The bots whose decisions are graded; by default all.
        games: The largest number of games to review, drawn at random; None takes all.
        judge: A built-in bot that says which move is better and finishes the games; or a bot of
            yours that says which move is better, while the default judge finishes the games.
        deals: The number of deals on which each decision is graded.
        seed: The seed of these deals.
        jobs: The number of worker processes; by default one for each core.
        sandbox: The sandbox for a judge of yours, as in `GameSettings`.
        trust: Bots that may play without a sandbox if none works.
        allow: What the judge may do beyond its sandbox, as in `GameSettings`.
        home: The folder that holds bots/ and results/.

    Returns:
        One table by bot and one by decision.

    Raises:
        UserError: There is no such run, game or bot, or an argument does not fit.
        Void: The machine failed repeatedly.

    Example:
        What did each bot's decisions cost?

            arena.api.review("2026-11-01-1", games=20).bots
    """
    opened = opened_run(run, home)
    arguments = checked_arguments(home=home, judge=judge, sandbox=sandbox, trust=trust, allow=allow)
    with warnings_of_call() as tell:
        choice = sandbox_choice(arguments, tell)
        name = arguments["judge"]
        with adviser(arguments["home"], opened, name, choice) as advised:
            chosen_judge = make_judge(DEFAULT_JUDGE if advised else name, deals, seed)
            reviewed = Review(
                opened, chosen_judge, game=game, bots=bots, games=games, adviser=advised
            )
            for _ in reviewed.grade(jobs):
                pass
    return reviewed.result()


def check(
    bot: Named,
    *,
    move_ms: int = default_of("move_ms"),
    sandbox: Mode | None = None,
    trust: Sequence[str] = (),
    allow: Sequence[str] = (),
    home: Named | None = None,
) -> CheckResult:
    """Check step by step whether a bot follows the protocol, as ``arena check`` does.

    Args:
        bot: The path of the bot, or its name.
        move_ms: The time for a move, in milliseconds.
        sandbox: The sandbox for the bot, as in `GameSettings`.
        trust: Bots that may run without a sandbox if none works.
        allow: What the bot may do beyond its sandbox, as in `GameSettings`.
        home: The folder that holds bots/.

    Returns:
        Whether the bot passed, and its steps.

    Raises:
        UserError: There is no such bot, its bot.toml is wrong, or no sandbox for it works here. A
            bot that cannot be built or started raises nothing: it fails a step.

    Example:
        Fail a test unless the bot passes:

            assert arena.api.check("./my-bot").passed
    """
    arguments = checked_arguments(
        home=home, bot=bot, move_ms=move_ms, sandbox=sandbox, trust=trust, allow=allow
    )
    with warnings_of_call() as tell:
        checked_bot = bot_to_check(arguments["home"], arguments["bot"], tell)
        confined = sandbox_choice(arguments, tell).sandbox_for([checked_bot])
    steps = list(check_bot(checked_bot, move_ms, confined))
    result = check_object(checked_bot, move_ms, confined, steps)
    return CheckResult(result["bot"], result["passed"], pd.DataFrame(result["steps"]))


for _function in (run, compare):
    _settings = [f"    ``{name}``  {DECLARED[name].text}" for name in taken_by(_function.__name__)]
    _function.__doc__ = "\n".join([str(_function.__doc__), "The settings:\n", *_settings, ""])
