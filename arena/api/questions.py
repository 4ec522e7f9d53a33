"""The questions that programs ask; see `arena.api`."""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Unpack

import pandas as pd
from tqdm import tqdm

from arena.api.answers import CheckResult, ComparisonResult, ReviewResult, Run, Standings
from arena.api.settings import (
    CheckSettings,
    ComparisonSettings,
    GameSettings,
    Named,
    Opponents,
    RatingSettings,
    RunSettings,
    checked,
    home_of,
    options_of,
    refuse_unknown,
    text_of,
)
from arena.commands.allowing import SandboxChoice
from arena.commands.asking import adviser
from arena.commands.bots import Tell, bot_to_check
from arena.commands.contest import Contest
from arena.commands.folders import results_folder, run_folder
from arena.commands.looks import source_of
from arena.commands.playing import Play, open_run
from arena.commands.rating import rated_run
from arena.commands.request import MOST_BLOCKS, request_comparison, request_run, results_path
from arena.commands.review import DEFAULT_DEALS, DEFAULT_JUDGE, Review, make_judge
from arena.errors import ConfigError
from arena.exports.files import csv_text
from arena.exports.games import games_frame
from arena.match.checks.run import check_bot, check_object
from arena.match.clock import Timing
from arena.players.sandbox.tiers import Mode
from arena.ratings.estimates import Look, plain_estimate, unbiased_estimate
from arena.ratings.foreign import KNOWN, read_sheet
from arena.ratings.tables import Opinion, Tables, rate_sheet
from arena.records.runfile import read_run
from arena.tournament.config import Comparison as Question
from arena.tournament.events import Event, GamePlayed
from arena.tournament.own import OwnConfig
from arena.tournament.place import Place
from arena.tournament.request import Request


class ArenaWarning(UserWarning):
    """What a command would say beside its answer, such as that a bot was left out."""


def run(bots: Sequence[Named] | None = None, **settings: Unpack[RunSettings]) -> Run:
    """Plays a run, or the rest of it, and rates it; by default all bots play each other.

    The settings are ``deals, players, boards, board_files, match, seatings, tables, challenger,
    seed, move_ms, game_ms, increment_ms, startup_ms, clock, until, adaptive, keep_stderr`` of
    `RunSettings`, and ``out, home, jobs, sandbox, trust, allow, adopt, progress`` of `Conditions`.

    Games that could not be played are missing, and a note says why. Raises UserError, Void, and
    KeyboardInterrupt after what was played is safe.
    """
    refuse_unknown(settings, RunSettings)
    home = home_of(settings.get("home"))
    options = options_of(settings, bots)
    with _warnings() as tell:
        request = request_run(home, options, tell)
        folder = results_path(results_folder(home), options.out, request, tell)
        with _playing(folder, request, settings, tell) as play:
            play.runner.play(source_of(play.session, play.missing))
    return Run(folder, _standings_of(folder))


def compare(new: Named, old: Named, **settings: Unpack[ComparisonSettings]) -> ComparisonResult:
    """Plays until it is clear whether ``new`` is better than ``old``, or the rest of that.

    The settings are ``elo0, elo1, alpha, beta, by, pool, max_blocks, null`` of
    `ComparisonSettings`, ``players, boards, board_files, seed, move_ms, game_ms, increment_ms,
    startup_ms, clock`` of `GameSettings` and those of `Conditions`.

    Raises UserError, Void, and KeyboardInterrupt after what was played is safe.
    """
    refuse_unknown(settings, ComparisonSettings)
    home = home_of(settings.get("home"))
    question = checked({**settings, "new": text_of(new), "old": text_of(old)}, Question)
    most, null = settings.get("max_blocks", MOST_BLOCKS), settings.get("null", False)
    if type(most) is not int or most < 1:
        raise ConfigError(f"expected a whole number of blocks above 0, got {most!r}")
    options = options_of(settings, checked(settings, Opponents).pool)
    with _warnings() as tell:
        request = request_comparison(home, question, options, tell, max_blocks=most, null=null)
        folder = results_path(results_folder(home), options.out, request, tell, finished=True)
        with _playing(folder, request, settings, tell) as play:
            contest = Contest(play.session, play.missing(), keeps_looks=True)
            contest.play(play.runner)
    return _result(folder, request, contest)


def rate(
    results: Named | pd.DataFrame | Sequence[Named],
    *,
    prior: float | None = None,
    anchors: Mapping[str, float] | None = None,
    without: Sequence[str] = (),
    match: Sequence[str] | None = None,
    by: Opinion = "wins",
    seats: bool = True,
    home: Named | None = None,
) -> Standings:
    """Rates a run, several runs together, a CSV file, or a frame of games, such as a part of what
    `games` gives.

    ``match`` and ``by`` are for a run, ``seats`` (False: all seats are equally good) for the
    others; the rest is as in ``arena standings``. Raises UserError.
    """
    names = (str, os.PathLike)
    if not isinstance(results, (*names, pd.DataFrame, Sequence)):
        raise ConfigError(
            f"expected a run, several runs, a CSV file or a frame of games, got {results!r:.80}",
            "name a run as text, as in rate('league')",
        )
    said = {"prior": prior, "anchors": anchors, "without": without, "match": match}
    asked = checked({**said, "by": by, "seats": seats}, RatingSettings)
    without, match = asked.without, asked.match
    if isinstance(results, names) and not Path(results).is_file():
        if not seats:
            hint = "rate(games(run), seats=False) does"
            raise ConfigError("expected seats=False for a file or a frame, got a run", hint)
        folder = _run_folder(results, home)
        return _standings_of(folder, prior, anchors, match, without, by)
    if match is not None or by != "wins":
        raise ConfigError(
            "expected match and by for a run, got a file or a frame", "leave them out"
        )
    if isinstance(results, names):
        data, name = Path(results).read_bytes(), str(results)
    else:
        frame = results if isinstance(results, pd.DataFrame) else _together(results, home)
        known = [column for column in frame.columns if column in KNOWN]
        data, name = csv_text(frame[known]).encode(), "the games"
    return _standings(
        rate_sheet(read_sheet(data, name), prior, anchors, seats=seats, without=without)
    )


def games(run: Named, *, moves: bool = False, home: Named | None = None) -> pd.DataFrame:
    """One row for each game of a run, in the order in which they ended.

    ``id, block, board, deal, seating, end, turns``, then for each seat ``bot_0, share_0`` (of the
    win), ``rank_0, left_0`` (pagodas), ``think_ms_0`` and so on, then ``faults`` (``seat:kind``).
    ``moves`` adds ``deck`` (72 tiles in the order drawn), ``moves``, ``ms`` (of each move) and
    ``notes``. Raises UserError.
    """
    return games_frame(_run_folder(run, home), moves=moves)


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
    """Grades decisions of a run, or those of one game, as ``arena review`` does; what the run's
    review.jsonl has already is not graded again.

    ``judge`` is a built-in bot, or a bot of yours that says which move is better; ``sandbox``,
    ``trust`` and ``allow`` are for that one. Raises UserError, Void.
    """
    place, folder, name = home_of(home), _run_folder(run, home), text_of(judge)
    with _warnings() as tell:
        choice = _choice(_around(sandbox, trust, allow), place, tell)
        with adviser(place, folder, name, choice) as advised:
            asked = make_judge(DEFAULT_JUDGE if advised else name, deals, seed)
            reviewed = Review(folder, asked, game=game, bots=bots, games=games, adviser=advised)
            for _ in reviewed.grade(jobs):
                pass
    found = reviewed.result()
    return ReviewResult(found.bots, found.decisions, found.held_back)


def check(
    bot: Named,
    *,
    move_ms: int = Timing().move_ms,
    sandbox: Mode | None = None,
    trust: Sequence[str] = (),
    allow: Sequence[str] = (),
    home: Named | None = None,
) -> CheckResult:
    """Checks step by step whether a bot follows the protocol. Raises UserError."""
    place, move_ms = home_of(home), checked({"move_ms": move_ms}, CheckSettings).move_ms
    with _warnings() as tell:
        found = bot_to_check(place, text_of(bot), tell)
        around = _choice(_around(sandbox, trust, allow), place, tell)
        closed_in = around.sandbox_for([found])
    told = check_object(found, move_ms, closed_in, list(check_bot(found, move_ms, closed_in)))
    return CheckResult(told["bot"], told["passed"], pd.DataFrame(told["steps"]))


def _run_folder(run: Named, home: Named | None) -> Path:
    return run_folder(home_of(home), text_of(run))


@contextmanager
def _warnings() -> Iterator[Tell]:
    """Collects what a command would say; warns of it at the call of a function of this module."""
    told = list[str]()
    try:
        yield told.append
    finally:
        for text in told:
            warnings.warn(text, ArenaWarning, stacklevel=4)


def _around(sandbox: Mode | None, trust: Sequence[str], allow: Sequence[str]) -> GameSettings:
    """The settings of the sandbox for one bot."""
    said: GameSettings = {"trust": trust, "allow": allow}
    return said if sandbox is None else {**said, "sandbox": sandbox}


def _choice(settings: GameSettings, home: Path, tell: Tell) -> SandboxChoice:
    """What the caller says about the sandbox. Raises ConfigError."""
    own = checked(settings, OwnConfig)
    trusted, allowed = tuple(own.trust or ()), tuple(own.allow or ())
    return SandboxChoice(own.sandbox, trusted, unsafe=False, allowed=allowed, home=home, tell=tell)


@contextmanager
def _playing(folder: Path, request: Request, settings: GameSettings, tell: Tell) -> Iterator[Play]:
    """Opens a run for playing. A KeyboardInterrupt ends it."""
    choice = _choice(settings, home_of(settings.get("home")), tell)
    sandbox, place = choice.sandbox_for(request.bots, folder), Place(settings.get("jobs"))
    with tqdm(unit="game", disable=not settings.get("progress"), dynamic_ncols=True) as bar:

        def listen(event: Event) -> None:
            if isinstance(event, GamePlayed):
                bar.update()

        adopt = settings.get("adopt", False)
        with open_run(folder, request, place, sandbox, tell, adopt=adopt) as run:
            bar.reset(run.session.schedule.planned)
            bar.update(run.session.known)
            yield run.play(listen)


def _standings_of(folder: Path, *how: Any) -> Standings:
    tables, plan = rated_run(folder, *how)
    return _standings(tables, None if plan is None else plan.missing)


def _standings(tables: Tables, missing: int | None = None) -> Standings:
    frames = tables.standings, tables.pairs, tables.seats, tables.covariance
    said = list(tables.notes), list(tables.sentences)
    return Standings(*frames, tables.games, tables.clusters, *said, missing)


def _together(runs: Sequence[Named], home: Named | None) -> pd.DataFrame:
    """The games of several runs. Those of one seed share their luck: they have the same decks."""
    frames = []
    for run in runs:
        folder = _run_folder(run, home)
        frame = games_frame(folder)
        frames.append(frame.assign(block=f"{read_run(folder).seed}/" + frame["block"]))
    if not frames:
        raise ConfigError("expected runs, got none", "name some")
    return pd.concat(frames, ignore_index=True)


def _result(folder: Path, request: Request, contest: Contest) -> ComparisonResult:
    test, (new, old) = contest.test, (bot.label for bot in request.bots[:2])
    looks = pd.DataFrame(contest.looks, columns=pd.Index(Look._fields))
    looks["verdict"] = looks["verdict"].astype(str)
    looks.insert(2, "lower", test.question.lower)
    looks.insert(3, "upper", test.question.upper)
    return ComparisonResult(
        folder, str(test.verdict), new, old, test.blocks, contest.games, test.llr,
        unbiased_estimate(test), plain_estimate(test), looks,
    )  # fmt: skip
