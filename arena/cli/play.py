"""arena play: one game, drawn after each move."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from arena.cli import DONE, FAILED
from arena.cli.drawing import end_line, places_text
from arena.cli.options import DEAL, as_json, check_utf8, sandbox_options, split_commas
from arena.cli.resuming import ResumeChoice, compared, refuse_other_tables, resume_options
from arena.cli.settings import TIMES, setting_options
from arena.cli.single import ShownGame, new_faults
from arena.cli.terminal import say, tell
from arena.commands.allowing import SandboxChoice
from arena.commands.bots import bot_finder
from arena.commands.folders import results_folder
from arena.commands.played import PlayedGame, Wish, played_game
from arena.commands.request import with_clock
from arena.commands.single import Round, SingleGame
from arena.errors import ConfigError, UserError, printable
from arena.exports.text import seat_names
from arena.match.clock import Timing
from arena.match.referee import Outcome
from arena.match.resume import Resumed
from arena.players.folder import Bot
from arena.players.person import PERSON
from arena.players.wire import WireLog
from arena.records.record import DEALS, GameRecord, encode_record
from arena.rules.boards import Board, find_board
from arena.rules.rounds import rounds_of, title_of
from arena.rules.rulebook import explained
from arena.tournament.config import DEFAULT_BOARDS
from arena.tournament.request import RunOptions
from arena.tournament.schedule import single_game
from arena.tournament.session import new_seed

if TYPE_CHECKING:
    from arena.ratings.tally import Match

OF_THE_TERMINAL = {
    "match": "--match",
    "source": "--from",
    "step": "--step",
    "has_stderr": "--stderr",
    "log_path": "--log",
    "as_json": "--json",
}
"""Parameters that make no sense on a page, and their options."""


class GameWanted(NamedTuple):
    """What the user wants: who plays which game, and how it is shown."""

    bots: tuple[str, ...]
    board: str | None
    match: list[str] | None
    seed: str | None
    deal: int
    resume: ResumeChoice
    options: RunOptions
    human: int | None
    web: bool
    step: bool
    has_stderr: bool
    log_path: Path | None
    choice: SandboxChoice
    as_json: bool


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT...")
@click.option("--board", metavar="NAME|FILE", help="bird, lion or a board file.  [default: bird]")
@click.option(
    "--match",
    callback=split_commas,
    metavar="NAME|FILE,...",
    help="Play a round on each of these boards, and add up the results.",
)
@click.option(
    "--seed", callback=check_utf8, help="Text that determines the deck.  [default: a new one]"
)
@click.option(
    "--deal",
    type=DEAL,
    default=0,
    show_default=True,
    help="The number of the deal; a seed gives many.",
)
@resume_options
@setting_options(*TIMES)
@click.option(
    "--human",
    type=click.IntRange(0, 3),
    metavar="SEAT",
    help="Play yourself, at this seat. The other hands stay hidden.",
)
@click.option(
    "--web", is_flag=True, help="Play yourself on a page in the browser, at seat 0 or --human SEAT."
)
@click.option("--step", is_flag=True, help="Stop after each move until you press a key.")
@click.option(
    "--stderr",
    "has_stderr",
    is_flag=True,
    help="Show what bots write to stderr beside each move; with --human, after the end.",
)
@click.option(
    "--log",
    "log_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write all lines to and from the bots to a file; see above.",
)
@sandbox_options
@as_json
@click.pass_obj
def play(home: Path, /, **said: Any) -> int:
    """Play one game and draw it. Name two to four bots in the order of their seats; you see the
    board after each move.

    BOT is the name of a bot in bots/ or on the ladder, the path of a bot's folder or script, or a
    built-in bot: random, greedy, careful, greedy-N or careful-N (the best of N legal moves drawn at
    random, N up to 1000). The same bot may have several seats.

    With --human SEAT you take that seat, and the bots take the others. With --web you play on a
    page: the first line printed is its address, and a browser opens there if there is a screen. The
    command ends when the game is over and you have left the page, or by Ctrl-C.

    With --step the game stops after each move until you press a key. With --json only the game's
    record is printed. The exit status is 1 if a bot forfeits.

    With --match, the lowest total of pagodas left after all rounds wins. You may name a board
    twice, or name a board file.

    With --from RUN GAME --turn N, the game goes on from a recorded one: the same moves up to the
    N-th placement, the same tiles after it, and a full clock for everybody. Name a bot for each
    seat. At the end you see how the recorded game ended. With --seed the bots draw other random
    numbers than they did there. With --reshuffle, what the seat to move cannot see is dealt anew.

    --log writes one JSON object for each line between the arena and a bot, in order: "ms" since the
    start, "seat", "bot", "way" ("to" or "from" the bot, or its "stderr") and "line", the text
    without its newline. Output that was never read, such as half a line, has "unread": true.

    \b
    arena play greedy --human 0
    arena play careful-16 --web --board lion
    arena play greedy-python random-python --step
    arena play ./my-bot greedy-python random-python --board lion --seed 7
    arena play greedy-python --human 0 --match bird,lion
    arena play ./my-bot greedy-python --stderr
    arena play ./my-bot greedy-python --log wire.jsonl
    arena play ./my-bot careful --from league bird/greedy+random/3/1 --turn 20
    """  # noqa: D301 - \b is click's mark for lines to keep
    wanted = GameWanted(**said)
    if wanted.web:
        _refuse_terminal_options()
        wanted = wanted._replace(human=wanted.human or 0)
    names, game = _board_names(wanted.board, wanted.match), wanted.resume.find(home)
    _refuse_tables(game, wanted.bots, wanted.human)
    _refuse_misuse(wanted)
    return _begun(home, wanted, game, names)


def _begun(home: Path, wanted: GameWanted, game: Resumed | None, names: list[str]) -> int:
    """Plays the game; returns the exit status."""
    bots = list(map(bot_finder(home, say, in_process=False), wanted.bots))
    timing, seed = with_clock(wanted.options, say).timing, wanted.seed
    if game:
        seed = seed or new_seed() if wanted.resume.is_reshuffled else seed
        rounds = [wanted.resume.round_of(game, seed)]
        return _shown(home, wanted, bots, timing, rounds, wanted.resume.again(seed))
    seed = seed or new_seed()
    boards = [find_board(name) for name in names]
    if wanted.web:
        # Late: the web parts are slow to load.
        from arena.cli.pages import serve_game  # noqa: PLC0415

        wish = Wish(bots, wanted.human or 0, boards[0], seed, wanted.deal, timing)
        return serve_game(home, wish, wanted.choice)
    kept = _kept(bots, wanted.human, boards, timing, seed, wanted.deal)
    rounds = kept.rounds if kept else _planned(boards, seed, wanted.deal)
    decks = "decks" if len(rounds) > 1 else "deck"
    again = f"the same {decks} again: --seed {seed} --deal {wanted.deal}"
    return _shown(home, wanted, bots, timing, rounds, again, kept)


def _shown(
    home: Path,
    wanted: GameWanted,
    bots: list[Bot],
    timing: Timing,
    rounds: Sequence[Round],
    again: str,
    kept: PlayedGame | None = None,
) -> int:
    """Plays and shows the rounds, and says how they are played ``again``; returns the exit
    status.
    """
    sandbox = wanted.choice.sandbox_for(bots)
    single = SingleGame(bots, wanted.human, timing, sandbox, wanted.has_stderr)
    with _opened(wanted.log_path) as log:
        table = ShownGame(single, wanted.step)
        outcomes = list(_played(table, rounds, log, as_json=wanted.as_json))
    records = [outcome.record for outcome in outcomes]
    if not wanted.as_json:
        if len(records) > 1:
            tell(_total(records))
        say(again)
    if kept:
        _keep(home, kept, outcomes, single)
    if wanted.log_path:
        say(f"log: {wanted.log_path}")
    return FAILED if any(map(new_faults, rounds, records)) else DONE


def _refuse_terminal_options() -> None:
    context = click.get_current_context()
    for name, option in OF_THE_TERMINAL.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"expected --web without {option}: on a page you play one new game"
            )


def _board_names(board: str | None, match: list[str] | None) -> list[str]:
    if board is not None and match is not None:
        raise click.UsageError(
            "expected --board or --match, got both: --match names the board of each round"
        )
    return match or ([board] if board else list(DEFAULT_BOARDS))


def _planned(boards: Sequence[Board], seed: str, deal: int) -> list[Round]:
    """The rounds on these boards. Raises UsageError if a record cannot hold the number of a round's
    deal.
    """
    deals = [own for _, own in rounds_of([board.name for board in boards], deal)]
    if max(deals) >= DEALS:
        raise click.UsageError(
            f"expected deals below {DEALS} in all rounds, got {max(deals)}: a match that plays a"
            " board several times uses that many deals of it; use a smaller --deal"
        )
    return [
        Round(board, partial(single_game, seed, board.name, own))
        for board, own in zip(boards, deals, strict=True)
    ]


def _kept(
    bots: list[Bot],
    human: int | None,
    boards: Sequence[Board],
    timing: Timing,
    seed: str,
    deal: int,
) -> PlayedGame | None:
    """The game of a person, which is kept in results/; None where nobody plays."""
    if human is None:
        return None
    seats = [*bots[:human], PERSON, *bots[human:]]
    try:
        return played_game(seats, boards, timing, seed, deal)
    except ConfigError as error:
        say(f"note: this game will not be kept in results/: {error}")
        return None


def _keep(home: Path, kept: PlayedGame, outcomes: Sequence[Outcome], single: SingleGame) -> None:
    folder = kept.keep(results_folder(home), outcomes, single.sandbox)
    name = printable(folder.name)
    say(f"kept: {folder}; 'arena review {name}' grades your moves")


def _played(
    table: ShownGame, rounds: Sequence[Round], log: WireLog | None, *, as_json: bool
) -> Iterator[Outcome]:
    """Plays and shows one round after another."""
    for number, game in enumerate(rounds, 1):
        if len(rounds) > 1 and not as_json:
            tell(f"round {number} of {len(rounds)}, on {game.board.name}")
        outcome = table.play(game, log, is_drawn=not as_json)
        _show_end(game, outcome.record, as_json=as_json)
        yield outcome


def _show_end(game: Round, record: GameRecord, *, as_json: bool) -> None:
    """The record of a game, or how it ended; forfeits go to stderr."""
    names = seat_names(record.bots)
    for fault in new_faults(game, record):
        say(f"forfeit: {names[fault.seat]} ({fault.kind}): {explained(printable(fault.detail))}")
    if as_json:
        click.echo(encode_record(record))
        return
    tell(end_line(record.end, names, record.left, record.ranks))
    if game.past:
        tell(compared(game.past, record))


def _total(records: Sequence[GameRecord]) -> str:
    """What was played, and who stands where after all rounds."""
    # Pandas: a single game does without.
    from arena.ratings.matches import Matches  # noqa: PLC0415

    boards = [record.board for record in records]
    whole: list[Match] = []
    matches = Matches(boards, whole.append)
    for record in records:
        matches.add(record)
    places = places_text(seat_names(records[0].bots), whole[0].left, whole[0].ranks)
    return f"match of {title_of(boards)}: {places}"


def _refuse_tables(game: Resumed | None, bots: tuple[str, ...], human: int | None) -> None:
    if game:
        refuse_other_tables(game, bots, human)
        return
    seats = len(bots) + (human is not None)
    if not 2 <= seats <= 4:  # noqa: PLR2004 - the game's own limits
        wanted = "2 to 4 bots" if human is None else "1 to 3 bots beside you"
        cure = (
            f"; name another, or play yourself: 'arena play {bots[0]} --human 0'"
            if seats == 1
            else ""
        )
        raise click.UsageError(f"expected {wanted}, got {len(bots)}{cure}")
    if human is not None and human >= seats:
        raise click.UsageError(f"expected --human 0 to {seats - 1}, got {human}")


def _refuse_misuse(wanted: GameWanted) -> None:
    human, as_json = wanted.human, wanted.as_json
    if human is not None and as_json:
        raise click.UsageError(
            "expected --human or --json, got both: a person has to see the board"
        )
    if wanted.has_stderr and as_json:
        raise click.UsageError(
            "expected --stderr or --json, got both: --log FILE writes stderr as JSON"
        )
    if wanted.options.increment_ms and wanted.options.game_ms is None:
        raise click.UsageError(
            "expected --game-ms with --increment-ms: an increment is added to a bank"
        )
    if wanted.step and (human is not None or as_json):
        raise click.UsageError(
            "expected --step without --human or --json: it pauses a game between bots that is drawn"
        )
    if wanted.step and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("expected a terminal for --step: without one, leave it out")


@contextmanager
def _opened(path: Path | None) -> Iterator[WireLog | None]:
    """A log in a file, or None without a path. Raises UserError."""
    if path is None:
        yield None
        return
    try:
        file = path.open("wb")
    except OSError as error:
        raise UserError(
            f"expected to write the log {path}, got {error}",
            "name a file in a folder that you can write to",
        ) from None
    with file:
        yield WireLog(file)
