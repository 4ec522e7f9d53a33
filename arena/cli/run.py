"""arena run: plays a tournament and prints its standings."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import click

from arena.cli import DONE, FAILED, INTERRUPTED
from arena.cli.looks import plans_of
from arena.cli.options import (
    SandboxChoice,
    as_json,
    bot_finder,
    clock_option,
    in_process_option,
    match_option,
    prior_option,
    registry_of,
    results_folder,
    run_folder,
    sandbox_options,
    split_commas,
    with_clock,
)
from arena.cli.place import Place, place_options, workers_at
from arena.cli.playing import (
    GETTING_READY,
    TooLongError,
    at_most,
    check_all_programs,
    log_level,
    note_short_evidence,
    results_path,
    said_when_slow,
    show_voided,
    stop_on_signals,
    warn_about_times,
    warn_unmarked,
)
from arena.cli.progress import Progress
from arena.errors import ConfigError, printable
from arena.players.builtin import NAMES, is_built_in
from arena.players.folder import Bot
from arena.players.staging import lack
from arena.rules.boards import Board
from arena.tournament.config import find_boards, read_config_file
from arena.tournament.finishing import begun
from arena.tournament.logs import run_log
from arena.tournament.runner import Runner
from arena.tournament.session import open_session

MOST_DEALS = 1000
"""The deals that ``--until`` may use, on average over all line-ups, unless ``--deals`` says
otherwise.
"""
TABLES_S = 2.0
"""Somebody who stops a run waits no longer than this for its standings."""
OPPONENTS = ("greedy", "careful", "random", "greedy-4")
"""Built-in bots suggested to a user who named too few bots."""


@click.command()
@click.argument("bots", nargs=-1, metavar="[BOT]...")
@click.option("--players", type=click.IntRange(2, 4), help="Players per game.  [default: 2]")
@click.option(
    "--deals",
    type=click.IntRange(1),
    help="Deals per board, or per match; every line-up plays the same ones.  [default: 10]",
)
@click.option(
    "--boards",
    callback=split_commas,
    metavar="NAME,...",
    help="bird, lion or both.  [default: bird]",
)
@click.option(
    "--board",
    "board_files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A board file; may be repeated.",
)
@match_option(
    "Score matches of one game on each of these boards by total pagodas left; see above.  [default:"
    " none, single games count]"
)
@click.option(
    "--seatings",
    type=click.Choice(["rotations", "all"]),
    help="Seatings of each deal: N rotations, or all N! orders.  [default: rotations]",
)
@click.option(
    "--tables",
    type=click.IntRange(1),
    help="Use a balanced subset of this many line-ups.  [default: all]",
)
@click.option("--challenger", metavar="BOT", help="Play a gauntlet: only line-ups with this bot.")
@click.option(
    "--seed",
    help="Text that determines every deck; a bot could guess a short one.  [default: a secret one]",
)
@click.option("--move-ms", type=click.IntRange(1), help="Time for a move, in ms.  [default: 1000]")
@click.option(
    "--game-ms",
    type=click.IntRange(1),
    help="Bank: time for all of a bot's moves in a game, in ms.  [default: none]",
)
@click.option(
    "--increment-ms",
    type=click.IntRange(0),
    help="Added to the bank after each move, in ms.  [default: 0]",
)
@clock_option
@click.option(
    "--startup-ms",
    type=click.IntRange(1),
    help="Time for a bot's process to answer hello, in ms.  [default: 10000]",
)
@click.option(
    "--until",
    type=click.FloatRange(0, min_open=True),
    metavar="ELO",
    help="Play until every +/- is at most this; see above.",
)
@click.option(
    "--adaptive",
    is_flag=True,
    default=None,
    help="Give more deals to line-ups where the ranking is uncertain; see above.",
)
@in_process_option
@click.option(
    "--out",
    metavar="RUN",
    help=(
        "The run's name in results/, or a path.  [default: an unfinished run like this one, or a"
        " new one]"
    ),
)
@click.option(
    "--config",
    "config_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="An arena.toml with any of these options.",
)
@click.option(
    "--adopt",
    is_flag=True,
    help="Continue a run that was made elsewhere; its bots are copied again.",
)
@click.option(
    "--finish",
    metavar="RUN",
    help="Play the rest of this run, with the bots and settings it began with.",
)
@click.option(
    "-v",
    "--verbose",
    count=True,
    help="Log every game, not only faults, in the run's logs/arena.log.",
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress, and log only warnings.")
@place_options
@sandbox_options
@prior_option
@as_json
@click.pass_obj
def run(
    home: Path,
    /,
    prior: float | None,
    *,
    place: Place,
    choice: SandboxChoice,
    as_json: bool,
    verbose: int,
    **options: Any,
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

    With --until or --adaptive, line-ups start with some of the deals and get more after each look
    at the ratings, up to an average of --deals per line-up (1000 with --until). --until ends the
    run when every +/- is at most this many Elo. --adaptive gives more deals to the line-ups that
    help most: those of bots with a +/- above --until, or of neighbours whose order is not settled.

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
    quiet, adopt = options.pop("quiet"), options.pop("adopt")
    settings, boards, bots, folder, rest = (
        _begun(home, options) if options["finish"] else _resolve(home, options)
    )
    sandbox = choice.with_default(rest.get("sandbox")).sandbox_for(bots)
    level = log_level(verbose, quiet=quiet)
    with ExitStack() as stack:
        workers = stack.enter_context(workers_at(place.with_defaults(rest)))
        means = workers.means(sandbox, level)
        with said_when_slow(GETTING_READY, quiet=bool(quiet)):
            session = stack.enter_context(
                open_session(folder, settings, boards, bots, means, adopt=adopt)
            )
        warn_unmarked(session)
        queue = stack.enter_context(run_log(folder, level))
        progress = Progress(session, workers, quiet=quiet)
        runner = Runner(
            folder,
            session.journal,
            workers.pool(session.setup, bots, queue, progress.show),
            progress.show,
        )
        stack.enter_context(stop_on_signals(runner))
        with progress:
            runner.play(plans_of(session, progress))
        is_complete = (
            not session.config.is_open
            and session.schedule.played(session.journal.ids) == session.schedule.games
        )
    # Pandas: --help and the playing do without.
    from arena.cli.tables import conclude  # noqa: PLC0415

    try:
        with at_most(TABLES_S if runner.stop_level else None):
            conclude(folder, prior, as_json=as_json)
    except TooLongError:
        click.echo(
            f"the standings would take longer: 'arena standings {folder.name}' shows them", err=True
        )
    show_voided(runner, folder)
    note_short_evidence(runner)
    if runner.stop_level:
        click.echo(
            f"interrupted: repeat the same command to finish the run in {folder}, or 'arena run"
            f" --finish {folder.name}'",
            err=True,
        )
        return INTERRUPTED
    return DONE if is_complete else FAILED


class _Tournament(NamedTuple):
    """What is to be played, and where; ``rest`` is what does not decide games."""

    settings: Mapping[str, Any]
    boards: Mapping[str, Board]
    bots: list[Bot]
    folder: Path
    rest: Mapping[str, Any]


def _begun(home: Path, options: dict[str, Any]) -> _Tournament:
    """What it takes to play the rest of a run, with the bots from its own folder."""
    folder = run_folder(home, options.pop("finish"))
    named = [name for name, value in options.items() if value not in (None, ())]
    if named:
        raise click.UsageError(
            "expected --finish without bots and settings of the run: it has its own"
        )
    return _Tournament(*begun(folder), folder, {})


def _resolve(home: Path, options: dict[str, Any]) -> _Tournament:
    """What the options, the configuration file and the defaults ask for."""
    config_file = options.pop("config_file")
    given = {name: value for name, value in options.items() if value not in (None, ())}
    settings = {**(read_config_file(config_file) if config_file else {}), **given}
    out = settings.pop("out", None)
    rest: dict[str, Any] = {
        name: settings.pop(name) for name in ("sandbox", *Place._fields) if name in settings
    }
    files = [Path(file) for file in settings.pop("board_files", ())]
    names = settings.pop("boards", None)
    boards = find_boards(
        _default_boards(settings.get("match"), files) if names is None else names, files
    )
    find = bot_finder(home, in_process=settings.get("in_process", False))
    texts = list(settings.pop("bots", ()))
    bots = _find_bots(home, find, texts, in_process=settings.get("in_process", False))
    if "challenger" in settings:
        settings["challenger"] = _seat_challenger(find, settings["challenger"], bots)
    _refuse_too_few(bots, texts, settings.get("players", 2))
    if all(map(is_built_in, bots)):
        settings["in_process"] = True
    settings = {**settings, "bots": [bot.label for bot in bots], "boards": list(boards)}
    if "until" in settings:
        settings.setdefault("deals", MOST_DEALS)
    if "seed" in settings:
        settings["seed"] = str(settings["seed"])
    settings = with_clock(settings)
    warn_about_times(bots, settings)
    return _Tournament(
        settings,
        boards,
        bots,
        results_path(results_folder(home), out, settings, boards, bots),
        rest,
    )


def _default_boards(match: Sequence[str] | None, files: Sequence[Path]) -> list[str]:
    """The built-in boards to play on if none are named: those of the match that are not files."""
    if match:
        return [name for name in match if name not in {file.stem for file in files}]
    return [] if files else ["bird"]


def _find_bots(
    home: Path, find: Callable[[str], Bot], names: list[str], *, in_process: bool
) -> list[Bot]:
    """The named bots, or else the newest versions of all that this machine can start, or with
    ``in_process`` one of each built-in kind.
    """
    if in_process:
        return [find(name) for name in names or NAMES]
    if names:
        return check_all_programs([find(name) for name in names])
    found, registry = [], registry_of(home)
    for bot in registry.newest(_leave_out):
        reason, cure = lack(bot)
        if reason:
            _leave_out(bot.label, f"{reason}; {cure}")
        else:
            found.append(bot)
    if not found:
        raise ConfigError(
            f"expected bots to play, found none in {registry.root}",
            "'arena new my-bot' makes your first bot; then 'arena run ./my-bot greedy careful'"
            " plays it against built-in ones",
        )
    return found


def _leave_out(label: str, reason: object) -> None:
    click.echo(f"warning: {printable(label)} is left out: {printable(str(reason))}", err=True)


def _refuse_too_few(bots: list[Bot], texts: list[str], players: int) -> None:
    """Raises ConfigError with a command that names enough bots."""
    if len(bots) >= players:
        return
    labels = [bot.label for bot in bots]
    further = [name for name in OPPONENTS if name not in labels][: max(2, players - len(bots))]
    # The default.
    table = ["--players", str(players)] if players > 2 else []  # noqa: PLR2004
    raise ConfigError(
        f"expected at least {players} bots, got {', '.join(labels)}",
        "name opponents too; built-in ones are always there:"
        f" '{shlex.join(['arena', 'run', *(texts or labels), *further, *table])}'",
    )


def _seat_challenger(find: Callable[[str], Bot], text: str, bots: list[Bot]) -> str:
    """The label of the challenger, which is added to the bots if it is not one of them yet."""
    labels = [bot.label for bot in bots]
    if text in labels:
        return text
    challenger = find(text)
    if challenger.label not in labels:
        bots.append(challenger)
    elif challenger.sha256 != bots[labels.index(challenger.label)].sha256:
        raise ConfigError(
            f"expected one bot named {challenger.label}, got {text} and another one",
            "give one of them another name",
        )
    return challenger.label
