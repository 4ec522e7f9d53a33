"""arena replay: a finished game from the journal, move by move."""

import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import click
import msgspec

from arena.cli import DONE, FAILED
from arena.cli.asking import (
    ask_again,
    deciding_seat,
    decision_text,
    named_game,
    recorded_text,
    show_stderr,
)
from arena.cli.drawing import end_line, move_lines
from arena.cli.mosaic import Mosaic
from arena.cli.options import as_json, sandbox_options
from arena.cli.showing import tell_json
from arena.cli.stderr import RecordedLines
from arena.cli.terminal import say, screen_folded, step_through, tell
from arena.commands.allowing import SandboxChoice
from arena.errors import RunError, UserError, printable
from arena.exports.pictures.animation import animated_picture
from arena.exports.text import seat_names
from arena.match.replay import replay as replay_record
from arena.match.replay import start_state
from arena.records.find import board_of
from arena.records.record import GameRecord, encode_record
from arena.records.regular import write_durably
from arena.records.review import newest_review, read_reviews
from arena.records.runfile import read_run
from arena.records.stderr import StderrPart, read_stderr
from arena.rules.boards import Board
from arena.rules.notation import PASS
from arena.rules.positions import position_text
from arena.rules.rulebook import explained
from arena.rules.terms import REVISION

NOTHING_SAID = RecordedLines([], [], None)
REPLAYS = "replays"
"""The folder of a run for pages and pictures of its games."""


@click.command()
@click.argument("words", nargs=-1, metavar="[RUN] GAME")
@click.option(
    "--turn",
    type=click.IntRange(0),
    help="Show only the board after this many placements; 0 is the start.",
)
@click.option(
    "--seat",
    type=click.IntRange(0, 3),
    help="Show only what this seat knew: the other hands stay hidden.",
)
@click.option(
    "--stderr",
    "has_stderr",
    is_flag=True,
    help="Show what bots wrote to stderr, in a run with --keep-stderr.",
)
@click.option(
    "--step", is_flag=True, help="Step through the game with the keys, starting at --turn."
)
@click.option(
    "--line",
    "is_line",
    is_flag=True,
    help="Show positions as one line of text each; see NOTATION.md.",
)
@click.option(
    "--bot",
    "bot_text",
    metavar="BOT",
    help="Ask this bot (a name or path) for the decision at --turn.",
)
@click.option(
    "--html",
    is_flag=False,
    flag_value="",
    metavar="[FILE]",
    help="Write the game as an HTML page to step through.",
)
@click.option(
    "--svg",
    is_flag=False,
    flag_value="",
    metavar="[FILE]",
    help="Write the game as a picture that plays itself, for a README or a chat.",
)
@sandbox_options
@as_json
@click.pass_obj
# One for each option.
def replay(  # noqa: PLR0913
    home: Path,
    /,
    words: tuple[str, ...],
    turn: int | None,
    seat: int | None,
    *,
    step: bool,
    has_stderr: bool,
    is_line: bool,
    bot_text: str | None,
    choice: SandboxChoice,
    as_json: bool,
    **named: str | None,
) -> int | None:
    """Replay a game of a run from its record. Without RUN it is the newest run; GAME is the game's
    id, as in games.jsonl.

    \b
    arena replay bird/greedy-python+random-python/3/1
    arena replay league bird/greedy-python+random-python/3/1
    arena replay league bird/greedy-python+random-python/3/1 --turn 20 --seat 0
    arena replay league bird/greedy-python+random-python/3/1 --turn 20 --line
    arena replay league bird/greedy-python+random-python/3/1 --step
    arena replay league bird/greedy-python+random-python/3/1 --html
    arena replay league bird/greedy-python+random-python/3/1 --svg game.svg
    arena replay bird/greedy-python+random-python/3/1 --stderr
    arena replay bird/greedy-python+random-python/3/1 --turn 20 --bot ./my-bot

    The page and the picture go to replays/ in the run's folder, or to FILE.

    With --bot, the bot gets the same lines and the same seed as the seat did, up to its turn after
    that many placements. Its answers on the way are ignored. Then you see its answer next to the
    recorded one. The exit status is 1 if the bot commits a fault. --sandbox, --allow,
    --trust and --unsafe-no-sandbox apply to this bot.
    """  # noqa: D301 - \b is click's mark for lines to keep
    files = {kind: name for kind, name in sorted(named.items()) if name is not None}
    options = {"turn": turn, "bot": bot_text, "step": step, "stderr": has_stderr, **files}
    _refuse_misuse(_given(**options, line=is_line, json=as_json))
    folder, record = named_game(home, words)
    if bot_text is not None and turn is not None:
        return _ask_again(home, folder, record, turn, seat, bot_text, choice, as_json=as_json)
    if files:
        _write_files(folder, record, files)
        return None
    kept = _kept_stderr(folder, record) if has_stderr else []
    if as_json:
        click.echo(_with_stderr(record, kept) if has_stderr else encode_record(record))
        return None
    _check_misuse(record, turn, seat, step=step)
    if is_line:
        _print_lines(folder, record, turn, seat)
        return None
    said = RecordedLines(kept, seat_names(record.bots), seat)
    pages = _pages(folder, record, seat, said)
    if step:
        _step_through(pages, record, turn, said)
    else:
        _print_game(pages, record, turn, said)
    return None


def _step_through(
    pages: Iterator[tuple[int, str]], record: GameRecord, turn: int | None, said: RecordedLines
) -> None:
    """Shows the game from a turn on, one move after each key."""
    shown = [text for placed, text in pages if placed >= (turn or 0)]
    step_through([*shown, _end(record, said)])


def _kept_stderr(folder: Path, record: GameRecord) -> list[StderrPart]:
    """What bots wrote in a game. Raises UserError while other games of its deal are to be
    played.
    """
    # Pandas: only this needs to know how far the run is.
    from arena.exports.report.secrecy import is_deal_open  # noqa: PLC0415

    kept = read_stderr(folder, [record.id]).get(record.id)
    if kept is None:
        say("note: no stderr of this game was kept: 'arena run --keep-stderr' keeps it")
        return []
    if is_deal_open(folder, read_run(folder), record):
        raise UserError(
            f"expected a game whose deal is over to show its stderr, got {record.id}: other games"
            " of its deal are still to be played, and what bots write may tell its tiles",
            f"'arena run --finish {folder.name}' plays the rest",
        )
    return kept.parts


def _with_stderr(record: GameRecord, kept: Sequence[StderrPart]) -> bytes:
    """The record as JSON, with one more key."""
    content = msgspec.json.decode(encode_record(record))
    return msgspec.json.encode({**content, "stderr": kept})


def _given(**options: object) -> set[str]:
    """The names of the options that were given."""
    return {name for name, value in options.items() if value is not None and value is not False}


def _refuse_misuse(given: set[str]) -> None:
    files = {"html", "svg"}
    if given & files and given & {"json", "turn"}:
        raise click.UsageError(
            f"expected --{min(given & files)} without --json and --turn, because it shows the whole"
            " game"
        )
    if "bot" in given and ("turn" not in given or given & {"step", *files}):
        raise click.UsageError(
            "expected --bot with --turn, and without --step, --html and --svg, because it asks for"
            " one decision"
        )
    if "stderr" in given and given & {"line", "bot", *files}:
        raise click.UsageError(
            "expected --stderr without --line, --html, --svg and --bot; a page always has it"
        )
    if "line" in given and given & {"json", "step", "bot", *files}:
        raise click.UsageError("expected --line without --json, --step, --html, --svg and --bot")


def _ask_again(
    home: Path,
    folder: Path,
    record: GameRecord,
    turn: int,
    seat: int | None,
    bot_text: str,
    choice: SandboxChoice,
    *,
    as_json: bool,
) -> int:
    """Asks a bot for a decision of the game; returns the exit status."""
    _check_misuse(record, turn, seat, step=False)
    seat = deciding_seat(record, turn, seat)
    asked = ask_again(home, folder, record, turn, seat, bot_text, choice)
    if as_json:
        content = {"game": record.id, "seat": seat, "bot": asked.bot, **asked.decision._asdict()}
        tell_json(content)
    else:
        click.echo([text for placed, text in _pages(folder, record, seat) if placed == turn][-1])
        tell(
            f"then  {recorded_text(record, seat, asked.decision)}\nnow  "
            f" {decision_text(asked.decision, asked.bot)}"
        )
        show_stderr(asked)
    if asked.decision.turn < turn:
        say(f"note: this was at turn {asked.decision.turn}, before turn {turn}")
    return FAILED if asked.decision.fault else DONE


def _check_misuse(record: GameRecord, turn: int | None, seat: int | None, *, step: bool) -> None:
    if turn is not None and turn > record.turns:
        raise click.BadParameter(f"expected 0 to {record.turns}, got {turn}", param_hint="--turn")
    if seat is not None and seat >= len(record.bots):
        raise click.BadParameter(
            f"expected 0 to {len(record.bots) - 1}, got {seat}", param_hint="--seat"
        )
    if step and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("expected a terminal for --step; without one, leave out --step")


def _pages(
    folder: Path, record: GameRecord, seat: int | None, said: RecordedLines = NOTHING_SAID
) -> Iterator[tuple[int, str]]:
    """The start and each move: the placements so far, and the text to show. Raises RunError if the
    record breaks the rules.
    """
    names, board = seat_names(record.bots), _board(folder, record)
    start, grades, mosaic = start_state(record, board), _grades(folder, record), Mosaic(board)
    head = "".join(f"{line}\n" for line in said.before())
    yield 0, f"{head}{mosaic.board(start)}\n{mosaic.seats(start, names, seat)}\n"
    for state, mover, move, events, ms, note in replay_record(record, board):
        told = [] if ms is None else [f"in {ms:g} ms"]
        if note and seat in (None, mover):
            told.append(f"note: {note}")
        if move != PASS and state.turns - 1 in grades and seat in (None, mover):
            told.append(f"grade: {grades[state.turns - 1]}")
        told += said.of(mover, state.turns - (move != PASS))
        yield state.turns, move_lines(mosaic, state, names, mover, move, events, told, seat)


def _grades(folder: Path, record: GameRecord) -> dict[int, str]:
    """What the last judge made of the game's decisions, by turn, if it was reviewed."""
    try:
        found = newest_review(read_reviews(folder), record, REVISION)
    except RunError as error:
        say(f"warning: grades are left out: {error}")
        return {}
    return {turn: grade.told(found[0]) for turn, grade in found[1].items()} if found else {}


def _board(folder: Path, record: GameRecord) -> Board:
    return Board(record.board, tuple(board_of(record, read_run(folder).boards)))


def _print_lines(folder: Path, record: GameRecord, turn: int | None, seat: int | None) -> None:
    """Prints the position at the start and after each move, or after one turn, as a line."""
    board = _board(folder, record)
    states = chain(
        [start_state(record, board)], (step.state for step in replay_record(record, board))
    )
    for state in states:
        if turn in (None, state.turns):
            seen = state.copy()
            for fault in record.faults:
                if fault.turn < seen.turns:
                    seen.retire(fault.seat)
            click.echo(position_text(seen, seat))
        if state.turns == turn:
            return


def _end(record: GameRecord, stderr: RecordedLines) -> str:
    """How the game ended, its forfeits, and what bots wrote after all moves."""
    names = seat_names(record.bots)
    said = [
        f"forfeit of {names[fault.seat]} after turn {fault.turn} ({fault.kind}):"
        f" {explained(printable(fault.detail))}"
        for fault in record.faults
    ]
    end = end_line(record.end, names, record.left, record.ranks)
    return screen_folded("\n".join([*stderr.rest(), *said, end]))


def _print_game(
    pages: Iterator[tuple[int, str]], record: GameRecord, turn: int | None, said: RecordedLines
) -> None:
    """Prints the game move by move, or the board after one turn."""
    for placed, text in pages:
        if turn in (None, placed):
            click.echo(text)
        if placed == turn:
            return
    click.echo(_end(record, said))


def _write_files(folder: Path, record: GameRecord, files: dict[str, str]) -> None:
    """Writes the page and the picture of a game, each to the file named or where it belongs, and
    prints their paths.
    """
    for kind, name in files.items():
        text = _page(folder, record) if kind == "html" else _picture(folder, record)
        if name:
            path = Path(name)
            write_durably(path, text.encode())
        else:
            path = write_replay(folder, record.id, kind, text)
        click.echo(printable(str(path)))


def write_replay(folder: Path, game: str, kind: str, text: str) -> Path:
    """Writes a page or picture of a game where it belongs in the run's folder. Raises RunError,
    also when the id leads out of that.
    """
    path = Path(folder, REPLAYS, *f"{game}.{kind}".split("/"))
    try:
        write_durably(path, text.encode(), folder)
    except RunError as error:
        raise RunError(str(error), f"name a file: --{kind} FILE") from error
    return path


def _page(folder: Path, record: GameRecord) -> str:
    # Pandas and Jinja: only --html loads them.
    from arena.exports.report.make import game_page  # noqa: PLC0415

    return game_page(folder, record)


def _picture(folder: Path, record: GameRecord) -> str:
    return animated_picture(record, _board(folder, record))
