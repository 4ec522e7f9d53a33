"""The arena for programs: one function for each question, with data frames as answers.

    from arena import api

    league = api.run(["./my-bot", "greedy", "careful"], deals=50, seed="first")
    league.standings
    api.compare("my-bot", "my-bot@1", elo1=30).verdict
    api.rate("results/league-2/2-players", without=["random-python"]).pairs
    api.check("./my-bot").passed

They do what the commands of the same names do, in the same folders, and give the same figures, in a
notebook, in a thread, and in a script without ``if __name__ == "__main__"``: workers do not import
your program. They print nothing; what a command says beside its answer is an `ArenaWarning`.
Ctrl-C, or an interrupted cell, ends the workers and their bots; the same call plays the rest.

Bots are named as on the command line: ``"my-bot"``, ``"my-bot:depth=3"``, ``"./folder"``,
``"careful-8"``; a `Path` is always a path. The home is the folder that holds bots/ and results/:
``home``, else $ARENA_HOME, else the nearest one from the current folder upward.

Errors that a user can fix are an `arena.errors.UserError`, whose ``hint`` is the cure.
"""

import os
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Unpack, cast

import pandas as pd
from msgspec import Meta
from tqdm import tqdm

from arena.commands.bots import (
    Tell,
    blocks_of,
    bot_to_check,
    request_comparison,
    request_run,
    results_path,
)
from arena.commands.home import find_home, results_folder
from arena.commands.playing import (
    Contest,
    Play,
    SandboxChoice,
    broken_error,
    open_run,
    unplayed_error,
)
from arena.commands.review import (
    DEFAULT_DEALS,
    DEFAULT_JUDGE,
    Review,
    ReviewResult,
    adviser,
    make_judge,
)
from arena.commands.runs import (
    ComparisonResult,
    Standings,
    comparison_of,
    named_run,
    rated_run,
    standings_of,
)
from arena.errors import ConfigError
from arena.exports.files import csv_text, games_frame
from arena.match.check import check_bot, check_object
from arena.players.sandbox.tiers import Mode
from arena.ratings.sheet import KNOWN_COLUMNS, read_sheet
from arena.ratings.tables import rate_sheet
from arena.records.config import Comparison as Question
from arena.records.journal import unplayed_text
from arena.tournament.events import GamePlayed, RunnerEvent
from arena.tournament.pools import Place
from arena.tournament.run import Run as OpenedRun
from arena.tournament.runs import Request
from arena.tournament.settings import (
    DECLARED,
    MOST_BLOCKS,
    OWN_TYPES,
    QUESTION,
    TYPES,
    Asked,
    Named,
    Settings,
    checked,
    default_of,
    taken_by,
)

__all__ = [
    "ArenaWarning", "CheckResult", "ComparisonResult", "ReviewResult", "Run", "Standings",
    "check", "compare", "games", "rate", "review", "run",
]  # fmt: skip


HINT = "'help(arena.api)' lists the settings"


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
        return games_frame(OpenedRun(self.path), moves=moves)

    def _repr_html_(self) -> str:
        return self.tables._repr_html_()


class CheckResult(NamedTuple):
    """A check of a bot. ``steps`` has a row for each step, with the columns of ``arena check
    --json``; ``passed`` is missing in those that were not tried.
    """

    bot: str
    passed: bool
    steps: pd.DataFrame


class GameSettings(Settings, total=False):
    """What may be said of the games of a run or a comparison, and how and where they are played.

    ``home``       the folder that holds bots/ and results/
    ``jobs``       worker processes on this machine; one for each core
    ``sandbox``    ``"auto"``, ``"require"``, ``"off"`` or ``"strangers"``
    ``trust``      bots that may play without a sandbox where none works
    ``allow``      what a bot may do beyond its sandbox, as in ``"my-bot=network"``
    ``adopt``      continue a run that was made elsewhere
    ``progress``   True shows a bar on stderr
    """

    home: Named
    jobs: int
    sandbox: Mode
    trust: Sequence[str]
    allow: Sequence[str]
    adopt: bool
    progress: bool


ARGUMENTS: Mapping[str, Any] = {
    **TYPES,
    **OWN_TYPES,
    "adopt": bool,
    "progress": bool,
    **dict.fromkeys(("home", "new", "old", "judge", "bot"), str),
    "pool": TYPES["bots"],
    **dict.fromkeys(("games", "max_blocks"), Annotated[int, Meta(ge=1)]),
    "prior": Annotated[float, Meta(gt=0, lt=1e6)],
    "anchors": dict[str, Annotated[float, Meta(gt=-1e6, lt=1e6)]],
    "without": list[str],
    "seats": bool,
}
"""What every argument may be, except for those of a review and of one that is no plain value."""


class ArenaWarning(UserWarning):
    """What a command would say beside its answer, such as that a bot was left out."""


def run(bots: Sequence[Named] | None = None, **settings: Unpack[GameSettings]) -> Run:
    """Plays a run, or the rest of it, and rates it; by default all bots play each other. The
    settings are those of ``arena run``, see below, and `GameSettings`.

    Games that could not be played are missing, and a note says why. Raises UserError, Void, and
    KeyboardInterrupt after what was played is safe.
    """
    said = _said("run", settings, bots=bots)
    with _warnings() as tell:
        request = request_run(said["home"], cast("Asked", said), tell)
        folder = results_path(results_folder(said["home"]), said.get("out"), request, tell)
        with _playing(folder, request, said, tell) as play:
            play.runner.play(play.games())
        for broken in play.runner.broken:
            tell(str(broken_error(broken, folder)))
    return Run(folder, standings_of(*rated_run(OpenedRun(folder))))


def compare(
    new: Named,
    old: Named,
    *,
    pool: Sequence[Named] | None = None,
    games: int | None = None,
    max_blocks: int = MOST_BLOCKS,
    **settings: Unpack[GameSettings],
) -> ComparisonResult:
    """Plays until it is clear whether ``new`` is better than ``old``, or the rest of that. The
    settings are those of ``arena compare``, see below, and `GameSettings`. It ends undecided after
    this many ``games``, or ``max_blocks`` blocks of games.

    Raises UserError, Void, and KeyboardInterrupt after what was played is safe.
    """
    limits = {"games": games, "max_blocks": max_blocks}
    said = _said("compare", settings, new=new, old=old, pool=pool or [], **limits)
    said["bots"] = said["pool"]
    if games is not None:
        max_blocks = blocks_of(said["games"], cast("Asked", said))
    asked = Question(**{name: said[name] for name in ("new", "old", *QUESTION) if name in said})
    with _warnings() as tell:
        request = request_comparison(
            said["home"], asked, cast("Asked", said), tell, max_blocks=max_blocks
        )
        results = results_folder(said["home"])
        folder = results_path(results, said.get("out"), request, tell, finished=True)
        with _playing(folder, request, said, tell) as play:
            contest = Contest(play, keeps_looks=True)
            contest.play()
    for broken in play.runner.broken:
        raise broken_error(broken, folder)
    if unplayed := unplayed_text(folder):
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
    """Rates a run, several runs together, a CSV file, or a frame of games, such as a part of what
    `games` gives. ``match`` is for a run, ``seats`` (False: all seats are equally good) for the
    others; the rest is as in ``arena standings``. Raises UserError.
    """
    said = _checked(prior=prior, anchors=anchors, without=without, match=match, seats=seats)
    without = said["without"]
    named = results if isinstance(results, str | os.PathLike) else None
    if named is not None and not Path(named).is_file():
        if not seats:
            hint = "rate(games(run), seats=False) does"
            raise ConfigError("expected seats=False for a file or a frame, got a run", hint)
        opened = _opened(named, home)
        return standings_of(*rated_run(opened, prior, anchors, said.get("match"), without))
    if match is not None:
        raise ConfigError("expected match for a run, got a file or a frame", "leave it out")
    if named is not None:
        data = Path(named).read_bytes()
        name = str(named)
    else:
        frame = results if isinstance(results, pd.DataFrame) else _together(results, home)
        known = [column for column in frame.columns if column in KNOWN_COLUMNS]
        data = csv_text(frame[known]).encode()
        name = "the games"
    tables = rate_sheet(read_sheet(data, name), prior, anchors, seats=seats, without=without)
    return standings_of(tables)


def games(run: Named, *, moves: bool = False, home: Named | None = None) -> pd.DataFrame:
    """One row for each game of a run, in the order in which they ended.

    ``id, block, board, deal, seating, end, turns``, then for each seat ``bot_0, share_0`` (of the
    win), ``rank_0, left_0`` (pagodas), ``think_ms_0`` and so on, then ``faults`` (``seat:kind``).
    ``moves`` adds ``deck`` (72 tiles in the order drawn), ``moves``, ``ms`` (of each move) and
    ``notes``. Raises UserError.
    """
    return games_frame(_opened(run, home), moves=moves)


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
    review.jsonl has already is not graded again. ``judge`` is a built-in bot, or a bot of yours
    that says which move is better; ``sandbox``, ``trust`` and ``allow`` are for that one. Raises
    UserError, Void.
    """
    opened = _opened(run, home)
    said = _checked(home=home, judge=judge, sandbox=sandbox, trust=trust, allow=allow)
    with _warnings() as tell:
        choice = _choice(said, tell)
        name = said["judge"]
        with adviser(said["home"], opened, name, choice) as advised:
            asked = make_judge(DEFAULT_JUDGE if advised else name, deals, seed)
            reviewed = Review(opened, asked, game=game, bots=bots, games=games, adviser=advised)
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
    """Checks step by step whether a bot follows the protocol. Raises UserError."""
    said = _checked(home=home, bot=bot, move_ms=move_ms, sandbox=sandbox, trust=trust, allow=allow)
    with _warnings() as tell:
        found = bot_to_check(said["home"], said["bot"], tell)
        closed_in = _choice(said, tell).sandbox_for([found])
    told = check_object(found, move_ms, closed_in, list(check_bot(found, move_ms, closed_in)))
    return CheckResult(told["bot"], told["passed"], pd.DataFrame(told["steps"]))


def _opened(run: Any, home: Named | None) -> OpenedRun:
    """The run that a name or path means. Raises ConfigError, RunError."""
    if not isinstance(run, str | os.PathLike):
        raise ConfigError(f"expected the name or path of a run, got {run!r:.80}", HINT)
    return named_run(_checked(home=home)["home"], str(_plain(run)))


@contextmanager
def _warnings() -> Iterator[Tell]:
    """Collects what a command would say, and warns of it at the call of a function of this module.

    Where warnings are errors (``-W error``), an error of the function itself comes first: what
    would have been a warning is then a note of that error.
    """
    texts = list[str]()
    try:
        yield texts.append
    except BaseException as error:
        for text in texts:
            try:
                warnings.warn(text, ArenaWarning, stacklevel=4)
            except ArenaWarning:
                error.add_note(text)
        raise
    for text in texts:
        warnings.warn(text, ArenaWarning, stacklevel=4)


def _choice(said: Mapping[str, Any], tell: Tell) -> SandboxChoice:
    """What the caller says about the sandbox."""
    trusted = tuple(said.get("trust", ()))
    allowed = tuple(said.get("allow", ()))
    return SandboxChoice(
        said.get("sandbox"), trusted, unsafe=False, allowed=allowed, home=said["home"], tell=tell
    )


class _Bar(tqdm):  # type: ignore[type-arg] # a class at run time, too
    """A bar with a lock of its own. The one that tqdm makes for a program would settle the start
    method of the program's `multiprocessing`.
    """

    _lock = threading.RLock()


@contextmanager
def _playing(folder: Path, request: Request, said: Mapping[str, Any], tell: Tell) -> Iterator[Play]:
    """Opens a run for playing. A KeyboardInterrupt ends it."""
    sandbox = _choice(said, tell).sandbox_for(request.bots, folder)
    place = Place(said.get("jobs"))
    adopt = said.get("adopt", False)
    with (
        _Bar(unit="game", disable=not said.get("progress"), dynamic_ncols=True) as bar,
        open_run(folder, request, place, sandbox, tell, adopt=adopt) as run,
    ):

        def listen(event: RunnerEvent) -> None:
            bar.update(isinstance(event, GamePlayed))

        bar.reset(run.session.schedule.planned)
        bar.update(run.session.known)
        yield run.play(listen)


def _together(runs: Any, home: Named | None) -> pd.DataFrame:
    """The games of several runs. Those of one seed share their luck: they have the same decks."""
    if not isinstance(runs, Sequence):
        expected = "a run, several runs, a CSV file or a frame of games"
        raise ConfigError(f"expected {expected}, got {runs!r:.80}", "name a run as text")
    frames = []
    for opened in [_opened(run, home) for run in runs]:
        frame = games_frame(opened)
        frames.append(frame.assign(block=f"{opened.info.seed}/" + frame["block"]))
    if not frames:
        raise ConfigError("expected runs, got none", "name some")
    return pd.concat(frames, ignore_index=True)


def _said(command: str, settings: GameSettings, **further: Any) -> dict[str, Any]:
    """Check the arguments for the games of a command and return them by name. Raises ConfigError,
    also for a setting of another command.
    """
    own = [name for name in GameSettings.__annotations__ if name not in DECLARED]
    types = {name: ARGUMENTS[name] for name in (*taken_by(command), *own, *further)}
    return _checked(types, **{"home": None, **further, **settings})


def _checked(types: Mapping[str, Any] = ARGUMENTS, /, **said: Any) -> dict[str, Any]:
    """Check arguments by their declared types and return them by name: without those that are None,
    with a text for every path, and with the home as a Path. Without a home, the one that a command
    would find. Raises ConfigError.
    """
    plain = {name: _plain(value) for name, value in said.items() if value is not None}
    known = ", ".join(sorted(types.keys() - {"new", "old", "judge", "bot"}))
    found = checked(types, plain, HINT, names=f"the settings are {known}")
    if "home" in said:
        found["home"] = Path(found.get("home") or os.environ.get("ARENA_HOME") or find_home())
    return found


def _plain(value: Any) -> Any:
    """A value in which every path is a `str`."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(Path(value).absolute()) if isinstance(value, os.PathLike) else value


for _function in (run, compare):
    _told = [f"    ``{name}``  {DECLARED[name].text}" for name in taken_by(_function.__name__)]
    _function.__doc__ = "\n".join([str(_function.__doc__), *_told, ""])
