"""The arena for programs: one function for each question, with data frames as answers.

    from arena import api

    league = api.run(["./my-bot", "greedy", "careful"], deals=50, seed="first")
    league.standings
    api.compare("my-bot", "my-bot@1", elo1=30).verdict
    api.rate("results/league-1", without=["random-python"]).pairs
    api.check("./my-bot").passed

They do what the commands of the same names do, in the same folders, and give the same figures. They
work in a notebook, in a thread, and in a script without ``if __name__ == "__main__"``: workers are
processes of their own, which do not import your program. They print nothing; what a command says
beside its answer is an `ArenaWarning`. Ctrl-C, or an interrupted cell, ends the workers and their
bots; the same call plays the rest.

Bots are named as on the command line: ``"my-bot"``, ``"my-bot:depth=3"``, ``"./folder"``,
``"careful-8"``; a `Path` is always a path. The home is the folder that holds bots/ and results/:
``home``, else $ARENA_HOME, else the nearest one from the current folder upward.

What a user can put right raises `arena.errors.UserError`, whose ``hint`` is the cure.
"""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, TypeVar, Unpack, get_type_hints

import msgspec
import pandas as pd
from tqdm import tqdm

from arena.commands.allowing import SandboxChoice
from arena.commands.bots import Tell, bot_to_check
from arena.commands.contest import Contest
from arena.commands.folders import results_folder, run_folder
from arena.commands.home import find_home
from arena.commands.looks import source_of
from arena.commands.playing import OpenRun, open_run
from arena.commands.rating import rated_run
from arena.commands.request import MOST_BLOCKS, request_comparison, request_run, results_path
from arena.commands.review import DEFAULT_DEALS, DEFAULT_JUDGE, Review, make_judge
from arena.errors import ConfigError, did_you_mean
from arena.exports.files import csv_text
from arena.exports.games import games_frame
from arena.match.checks.run import check_bot, check_object
from arena.match.clock import Timing
from arena.players.messages import ClockKind
from arena.players.sandbox.tiers import Mode
from arena.ratings.estimates import Estimate, Look, plain_estimate, unbiased_estimate
from arena.ratings.foreign import KNOWN, read_sheet
from arena.ratings.tables import Opinion, Tables, rate_sheet
from arena.records.runfile import read_run
from arena.tournament.config import Basis, Seatings
from arena.tournament.config import Comparison as Question
from arena.tournament.events import Event, GamePlayed
from arena.tournament.place import Place
from arena.tournament.request import Request, RunOptions

Form = TypeVar("Form", bound=msgspec.Struct)
Named = str | Path
"""A bot, a run or a file, by name or path."""


class ArenaWarning(UserWarning):
    """What a command would say beside its answer, such as that a bot was left out."""


class Conditions(TypedDict, total=False):
    """How and where games are played; see ``arena run --help``.

    ``out``        the run's name in results/, or its path; by default the run that this call
                   continues, or a new one
    ``home``       the folder that holds bots/ and results/
    ``jobs``       worker processes on this machine; one for each core
    ``sandbox``    ``"auto"``, ``"require"`` or ``"off"``
    ``trust``      bots that may play without a sandbox where none works
    ``adopt``      continue a run that was made elsewhere
    ``progress``   True shows a bar on stderr
    """

    out: Named
    home: Named
    jobs: int
    sandbox: Mode
    trust: Sequence[str]
    adopt: bool
    progress: bool


class GameSettings(Conditions, total=False):
    """The settings of games, as in ``arena run``; times in ms."""

    players: int
    boards: Sequence[str]
    board_files: Sequence[Named]
    seed: str | int
    move_ms: int
    game_ms: int
    increment_ms: int
    startup_ms: int
    clock: ClockKind


class RunSettings(GameSettings, total=False):
    """The settings of a run, as in ``arena run``."""

    deals: int
    match: Sequence[str]
    seatings: Seatings
    tables: int
    challenger: Named
    until: float
    adaptive: bool


class ComparisonSettings(GameSettings, total=False):
    """The settings of a comparison, as in ``arena compare``."""

    elo0: float
    elo1: float
    alpha: float
    beta: float
    by: Basis
    pool: Sequence[Named]
    max_blocks: int
    null: bool


class Standings(NamedTuple):
    """The tables of games, as ``arena standings --json`` has them, with all their digits.

    ``standings``   one row a bot, best first: rank, bot, elo, elo_low, elo_high (95 %), games ...
    ``pairs``       one row for each bot and opponent
    ``seats``       one row for each table size and seat
    ``covariance``  of the ratings in Elo squared, by the bots' names
    ``notes``, ``sentences``  what the text under the table says
    ``missing``     how many planned games are not played; None if there is no plan
    """

    standings: pd.DataFrame
    pairs: pd.DataFrame
    seats: pd.DataFrame
    covariance: pd.DataFrame
    games: int
    deals: int
    notes: list[str]
    sentences: list[str]
    missing: int | None = None

    def _repr_html_(self) -> str:
        return self.standings.to_html(index=False)


class Run(NamedTuple):
    """A run: its folder, and the tables of its games."""

    path: Path
    tables: Standings

    @property
    def standings(self) -> pd.DataFrame:
        """The standings, see `Standings`."""
        return self.tables.standings

    @property
    def is_complete(self) -> bool:
        """Whether all planned games are played."""
        return self.tables.missing == 0

    def games(self, *, moves: bool = False) -> pd.DataFrame:
        """The games, see `games`."""
        return games_frame(self.path, moves=moves)

    def _repr_html_(self) -> str:
        return self.tables._repr_html_()


class ComparisonResult(NamedTuple):
    """The answer of a comparison, as in ``arena compare --json``.

    ``verdict``  ``better``, ``not better`` or ``undecided``
    ``elo``      the difference, median-unbiased, with its 95 % interval; infinite ends are open
    ``plain``    the difference as if the number of blocks had been fixed in advance
    ``looks``    one row for each look at the test: blocks, llr, lower, upper, elo, error (half of
                 the 95 % interval), verdict
    """

    path: Path
    verdict: str
    new: str
    old: str
    blocks: int
    games: int
    llr: float
    elo: Estimate
    plain: Estimate
    looks: pd.DataFrame


class CheckResult(NamedTuple):
    """A check of a bot. ``steps`` has a row for each step, with the columns of ``arena check
    --json``; ``passed`` is missing in those that were not tried.
    """

    bot: str
    passed: bool
    steps: pd.DataFrame


class ReviewResult(NamedTuple):
    """What decisions cost in the eyes of a judge of a certain strength, see ``arena review``.

    ``bots``       one row a bot: decisions, cost of a decision in shares of the win, error ...
    ``decisions``  one row a decision: game, turn, seat, bot, played, better, cost, error ...
    ``held_back``  games that wait until their deals are over
    """

    bots: pd.DataFrame
    decisions: pd.DataFrame
    held_back: int


def run(bots: Sequence[Named] | None = None, **settings: Unpack[RunSettings]) -> Run:
    """Plays a run, or the rest of it, and rates it; by default all bots play each other.

    The settings are ``deals, players, boards, board_files, match, seatings, tables, challenger,
    seed, move_ms, game_ms, increment_ms, startup_ms, clock, until, adaptive`` of `RunSettings`, and
    ``out, home, jobs, sandbox, trust, adopt, progress`` of `Conditions`.

    Games that could not be played are missing, and a note says why. Raises UserError, Void, and
    KeyboardInterrupt after what was played is safe.
    """
    _refuse_unknown(settings, RunSettings)
    home = _home(settings.get("home"))
    options = _options(settings, bots)
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
    _refuse_unknown(settings, ComparisonSettings)
    home = _home(settings.get("home"))
    question = _checked({**settings, "new": _text(new), "old": _text(old)}, Question)
    most, null = settings.get("max_blocks", MOST_BLOCKS), settings.get("null", False)
    if type(most) is not int or most < 1:
        raise ConfigError(f"expected a whole number of blocks above 0, got {most!r}")
    options = _options(settings, settings.get("pool"))
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


def review(
    run: Named,
    game: str | None = None,
    *,
    bots: Sequence[str] = (),
    games: int | None = None,
    judge: str = DEFAULT_JUDGE,
    deals: int = DEFAULT_DEALS,
    seed: int = 0,
    jobs: int | None = None,
    home: Named | None = None,
) -> ReviewResult:
    """Grades decisions of a run, or those of one game, as ``arena review`` does; what the run's
    review.jsonl has already is not graded again. Raises UserError, Void.
    """
    asked = make_judge(judge, deals, seed)
    reviewed = Review(_run_folder(run, home), asked, game=game, bots=bots, games=games)
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
    home: Named | None = None,
) -> CheckResult:
    """Checks step by step whether a bot follows the protocol. Raises UserError."""
    place = _home(home)
    with _warnings() as tell:
        found = bot_to_check(place, _text(bot), tell)
        choice = SandboxChoice(sandbox, tuple(trust), unsafe=False, home=place, tell=tell)
        around = choice.sandbox_for([found])
    told = check_object(found, move_ms, around, list(check_bot(found, move_ms, around)))
    return CheckResult(told["bot"], told["passed"], pd.DataFrame(told["steps"]))


def _options(settings: GameSettings, bots: Sequence[Named] | None) -> RunOptions:
    """The options that name what is played."""
    return _checked({**settings, "bots": bots}, RunOptions)


def _checked(settings: Mapping[str, Any], form: type[Form]) -> Form:
    """Those of the settings that the form has. Raises ConfigError."""
    fields = msgspec.structs.fields(form)
    said = {
        field.encode_name: _plain(settings[field.name])
        for field in fields
        if field.name in settings
    }
    try:
        return msgspec.convert(said, form)
    except msgspec.ValidationError as error:
        raise ConfigError(f"settings: {error}", "'help(arena.api)' lists the settings") from None


def _plain(value: Any) -> Any:
    """A setting with texts for paths."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return _text(value) if isinstance(value, Path) else value


def _refuse_unknown(settings: GameSettings, form: type) -> None:
    known = list(get_type_hints(form))
    for name in settings:
        if name not in known:
            hint = f"{did_you_mean(name, known)}there are {', '.join(known)}"
            raise ConfigError(f"expected a setting, got {name!r}", hint)


def _text(named: Named) -> str:
    """A name as it is, and a path so that it is one."""
    return named if isinstance(named, str) else str(Path(named).absolute())


def _home(home: Named | None) -> Path:
    if home is None:
        home = os.environ.get("ARENA_HOME") or find_home()
    return Path(home)


def _run_folder(run: Named, home: Named | None) -> Path:
    return run_folder(_home(home), _text(run))


@contextmanager
def _warnings() -> Iterator[Tell]:
    """Collects what a command would say; warns of it at the call of a function of this module."""
    told = list[str]()
    try:
        yield told.append
    finally:
        for text in told:
            warnings.warn(text, ArenaWarning, stacklevel=4)


@contextmanager
def _playing(
    folder: Path, request: Request, settings: GameSettings, tell: Tell
) -> Iterator[OpenRun]:
    """Opens a run for playing. A KeyboardInterrupt ends it."""
    home, trusted = _home(settings.get("home")), tuple(settings.get("trust", ()))
    choice = SandboxChoice(settings.get("sandbox"), trusted, unsafe=False, home=home, tell=tell)
    sandbox, place = choice.sandbox_for(request.bots, folder), Place(settings.get("jobs"))
    with tqdm(unit="game", disable=not settings.get("progress"), dynamic_ncols=True) as bar:

        def listen(event: Event) -> None:
            if isinstance(event, GamePlayed):
                bar.update()

        adopt = settings.get("adopt", False)
        with open_run(folder, request, place, sandbox, listen, adopt=adopt) as play:
            bar.reset(play.session.schedule.planned)
            bar.update(play.session.known)
            yield play


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
