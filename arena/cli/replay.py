"""arena replay: a finished game from the journal, move by move."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.options import as_json, run_folder
from arena.errors import printable

if TYPE_CHECKING:
    from arena.records.record import GameRecord


@click.command(short_help="Show a finished game again.")
@click.argument("words", nargs=-1, metavar="[RUN] GAME")
@click.option("--turn", type=click.IntRange(0), help="Only the board after so many placements; 0 is the start.")
@click.option("--html", "page", is_flag=False, flag_value="", metavar="[FILE]", help="Write the game as one HTML page to step through.")
@as_json
@click.pass_obj
def replay(home: Path, /, words: tuple[str, ...], turn: int | None, page: str | None, *, as_json: bool) -> None:
    """Show a game of a run, the newest by default, again, by the rules, from its record. GAME is its id, as in games.jsonl.

    \b
    arena replay bird/greedy-python+random-python/3/1
    arena replay league bird/greedy-python+random-python/3/1
    arena replay league bird/greedy-python+random-python/3/1 --turn 20
    arena replay league bird/greedy-python+random-python/3/1 --html

    The page goes to replays/ in the run's folder, or to FILE.
    """  # noqa: D301 - \b is click's mark for lines to keep
    from arena.records.find import find_record  # noqa: PLC0415 - help must not wait for these
    from arena.records.record import encode_record  # noqa: PLC0415

    if len(words) not in (1, 2):
        raise click.UsageError(f"expected the id of a game, or a run and the id of a game, got {' '.join(words) or 'nothing'}")
    if page is not None and (as_json or turn is not None):
        raise click.UsageError("expected --html without --json and --turn: the page holds the whole game")
    folder = run_folder(home, words[0] if len(words) == 2 else None)  # noqa: PLR2004
    record = find_record(folder, words[-1])
    if page is not None:
        _write_page(folder, record, Path(page) if page else None)
    elif as_json:
        click.echo(encode_record(record))
    else:
        _print_game(folder, record, turn)


def _print_game(folder: Path, record: "GameRecord", turn: int | None) -> None:
    """Prints the game move by move, or the board after one turn."""
    from arena.cli.drawing import end_line, move_lines, paint  # noqa: PLC0415 - help must not wait for these
    from arena.exports.text import board_text, hands_text, seat_names  # noqa: PLC0415
    from arena.match.replay import replay as replay_record  # noqa: PLC0415
    from arena.match.replay import start_state  # noqa: PLC0415
    from arena.records.runfile import read_run  # noqa: PLC0415
    from arena.rules.boards import Board  # noqa: PLC0415

    if turn is not None and turn > record.turns:
        raise click.BadParameter(f"expected 0 to {record.turns}, got {turn}", param_hint="--turn")
    board, names = Board(record.board, tuple(read_run(folder).boards[record.board])), seat_names(record.bots)
    start = start_state(record, board)
    if turn in (None, 0):
        click.echo(f"{board_text(start, paint)}\n{hands_text(start, names)}\n")
    for state, seat, move, events in replay_record(record, board):
        if turn is None or (turn and state.turns == turn):
            click.echo(move_lines(state, names, seat, move, events))
            if turn:
                break
    for fault in record.faults:
        click.echo(f"forfeit of {names[fault.seat]} after turn {fault.turn} ({fault.kind}): {printable(fault.detail)}")
    if turn is None:
        click.echo(end_line(record.end, names, record.left, record.ranks))


def _write_page(folder: Path, record: "GameRecord", path: Path | None) -> None:
    """Writes the page of a game and prints its path."""
    from arena.exports.report.make import game_page, page_path  # noqa: PLC0415 - help must not wait for these
    from arena.records.journal import write_durably  # noqa: PLC0415

    text = game_page(folder, record)
    target = path or page_path(folder, record.id)
    write_durably(target, text.encode())
    click.echo(target)
