"""arena play: one game, drawn after each move."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from arena.cli import DONE, FAILED
from arena.cli.board import end_line
from arena.cli.conduct import sandbox_options
from arena.cli.game import ResumeChoice, compared, play_shown, resume_options
from arena.cli.home import serve_game
from arena.cli.options import DEAL, as_json, check_utf8, refuse, setting_options
from arena.cli.terminal import say, tell
from arena.commands.bots import bot_finder, with_clock
from arena.commands.game import Round, SingleGame, Wish
from arena.commands.home import results_folder
from arena.commands.playing import SandboxChoice
from arena.errors import ConfigError, UserError, printable
from arena.exports.text import seat_names
from arena.match.replay import Resumed
from arena.players.channel import WireLog
from arena.records.record import GameRecord, encode_record
from arena.rules.boards import find_board
from arena.rules.explain import explained
from arena.tournament.runs import timing_of
from arena.tournament.schedule import single_game
from arena.tournament.session import new_seed
from arena.tournament.settings import Asked, default_of

OF_THE_TERMINAL = ("words", "has_stderr", "log_path", "as_json")
"""Parameters that make no sense on a page."""


class GameWanted(NamedTuple):
    """What the user wants: who plays which game, and how it is shown."""

    bots: tuple[str, ...]
    board: str | None
    seed: str | None
    deal: int
    resume: ResumeChoice
    options: Asked
    human: int | None
    web: bool
    has_stderr: bool
    log_path: Path | None
    choice: SandboxChoice
    as_json: bool


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT...")
@click.option("--board", metavar="NAME|FILE", help="bird, lion or a board file.  [default: bird]")
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
@setting_options("play")
@click.option(
    "--human",
    type=click.IntRange(0, 3),
    metavar="SEAT",
    help="Play yourself, at this seat. The other hands stay hidden.",
)
@click.option(
    "--web", is_flag=True, help="Play yourself on a page in the browser, at seat 0 or --human SEAT."
)
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

    With --json only the game's record is printed. The exit status is 1 if a bot forfeits.

    With --from RUN GAME --turn N, the game goes on from a recorded one: the same moves up to the
    N-th placement, the same tiles after it, and a full clock for everybody. Name a bot for each
    seat. At the end you see how the recorded game ended. With --seed the bots draw other random
    numbers than they did there.

    --log writes one JSON object for each line between the arena and a bot, in order: "ms" since the
    start, "seat", "bot", "way" ("to" or "from" the bot, or its "stderr") and "line", the text
    without its newline. Output that was never read, such as half a line, has "unread": true.

    \b
    arena play greedy --human 0
    arena play careful-16 --web --board lion
    arena play greedy-python random-python
    arena play ./my-bot greedy-python random-python --board lion --seed 7
    arena play ./my-bot greedy-python --stderr
    arena play ./my-bot greedy-python --log wire.jsonl
    arena play ./my-bot careful --from league bird/greedy+random/3/1 --turn 20
    """  # noqa: D301 - \b is click's mark for lines to keep
    return _play(home, GameWanted(**said))


def _play(home: Path, wanted: GameWanted) -> int:
    """Plays what is wanted; returns the exit status."""
    if wanted.web:
        _refuse_terminal_options()
        wanted = wanted._replace(human=wanted.human or 0)
    _refuse_misuse(wanted)
    past, kept = wanted.resume.find(home), None
    _refuse_tables(wanted.bots, wanted.human, past)
    bots = list(map(bot_finder(home, say), wanted.bots))
    timing, seed = timing_of(with_clock(wanted.options, say)), wanted.seed
    if past:
        game, again = wanted.resume.round_of(past, seed), wanted.resume.again(seed)
    else:
        seed = seed or new_seed()
        board = find_board(wanted.board or default_of("boards")[0])
        wish = Wish(bots, wanted.human or 0, board, seed, wanted.deal, timing)
        if wanted.web:
            return serve_game(home, wish, wanted.choice)
        game = Round(board, partial(single_game, seed, board.name, wanted.deal))
        if wanted.human is not None:
            try:
                kept = wish.game
                game = kept.round
            except ConfigError as error:
                say(f"note: this game will not be kept in results/: {error}")
        again = f"the same deck again: --seed {seed} --deal {wanted.deal}"
    sandbox = wanted.choice.sandbox_for(bots)
    single = SingleGame(bots, wanted.human, timing, sandbox, wanted.has_stderr)
    with _opened(wanted.log_path) as log:
        outcome = play_shown(single, game, log, is_drawn=not wanted.as_json)
        has_fault = _show_end(game, outcome.record, as_json=wanted.as_json)
    if not wanted.as_json:
        say(again)
    if kept:
        folder = kept.keep(results_folder(home), outcome, sandbox)
        say(f"kept: {folder}; 'arena review {printable(folder.name)}' grades your moves")
    if wanted.log_path:
        say(f"log: {wanted.log_path}")
    return FAILED if has_fault else DONE


def _show_end(game: Round, record: GameRecord, *, as_json: bool) -> bool:
    """Shows the record of a game, or how it ended; whether a bot forfeited, which goes to stderr,
    after the past of the game.
    """
    names = seat_names(record.bots)
    faults = record.faults[len(game.past.gone) if game.past else 0 :]
    for fault in faults:
        say(f"forfeit: {names[fault.seat]} ({fault.kind}): {explained(printable(fault.detail))}")
    if as_json:
        click.echo(encode_record(record))
    else:
        tell(end_line(record))
        if game.past:
            tell(compared(game.past, record))
    return bool(faults)


def _refuse_terminal_options() -> None:
    context = click.get_current_context()
    for option in context.command.params:
        if option.name in OF_THE_TERMINAL and (
            context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
        ):
            said = f"expected --web without {option.opts[0]}: on a page you play one new game"
            raise click.UsageError(said)


def _refuse_tables(bots: tuple[str, ...], human: int | None, past: Resumed | None) -> None:
    """Raises UsageError unless there is a player for each seat, of a recorded game for each that is
    still in it.
    """
    if past is None:
        seats = len(bots) + (human is not None)
        if not 2 <= seats <= 4:  # noqa: PLR2004 - the game's own limits
            wanted = "2 to 4 bots" if human is None else "1 to 3 bots beside you"
            cure = f"; name another, or play yourself: 'arena play {bots[0]} --human 0'"
            said = f"{wanted}, got {len(bots)}{cure if seats == 1 else ''}"
            raise click.UsageError(f"expected {said}")
        if human is not None and human >= seats:
            raise click.UsageError(f"expected --human 0 to {seats - 1}, got {human}")
        return
    names = seat_names(past.script.record.bots)
    free = [seat for seat in range(len(names)) if seat not in past.absent]
    others = [seat for seat in free if seat != human]
    if human is not None and human not in free:
        said = f"--human to be one of {', '.join(map(str, free))}, got {human}"
    elif len(bots) != len(others):
        played = printable(", ".join(names[seat] for seat in others))
        said = f"a bot for each of the seats {', '.join(map(str, others))}, got {len(bots)};"
        said += f" {played} played the game"
    else:
        return
    left = (
        f"; {printable(names[fault.seat])} had left it at turn {fault.turn} (seat {fault.seat},"
        f" {fault.kind})"
        for fault in past.gone
    )
    raise click.UsageError(f"expected {said}{''.join(left)}")


def _refuse_misuse(wanted: GameWanted) -> None:
    refuse(
        {
            "expected --human or --json, got both: a person has to see the board": (
                wanted.human is not None and wanted.as_json
            ),
            "expected --stderr or --json, got both: --log FILE writes stderr as JSON": (
                wanted.has_stderr and wanted.as_json
            ),
            "expected --game-ms with --increment-ms: an increment is added to a bank": (
                wanted.options.get("increment_ms") and "game_ms" not in wanted.options
            ),
        }
    )


@contextmanager
def _opened(path: Path | None) -> Iterator[WireLog | None]:
    """A log in a file, or None without a path. Raises UserError."""
    try:
        file = path.open("wb") if path else None
    except OSError as error:
        cure = "name a file in a folder that you can write to"
        raise UserError(f"expected to write the log {path}, got {error}", cure) from None
    with file or nullcontext():
        yield WireLog(file) if file else None
