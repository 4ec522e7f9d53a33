"""arena play: one game, drawn after each move."""

from pathlib import Path
from platform import node
from typing import TYPE_CHECKING, Any

import click

from arena.cli.main import DONE, FAILED
from arena.cli.options import Walls, as_json, bots_folder, find_bot, move_ms_option, sandbox_options
from arena.errors import printable

if TYPE_CHECKING:
    from arena.rules.boards import Board


@click.command(short_help="Play one game and draw it.")
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT...")
@click.option("--board", default="bird", show_default=True, metavar="NAME|FILE", help="bird, lion or a board file.")
@click.option("--seed", help="Text that decides the deck.  [default: a new one]")
@click.option("--deal", type=click.IntRange(0), default=0, show_default=True, help="Which deal of the seed.")
@click.option("--startup-ms", type=click.IntRange(1), default=10_000, show_default=True, help="Time until a process answers hello.")
@move_ms_option
@click.option("--game-ms", type=click.IntRange(1), help="A bank of time for all moves of a seat.  [default: none]")
@click.option("--increment-ms", type=click.IntRange(0), default=0, help="Added to the bank after each move.  [default: 0]")
@sandbox_options
@as_json
@click.pass_obj
def play(
    home: Path, /, bots: tuple[str, ...], board: str, seed: str | None, deal: int, *, walls: Walls, as_json: bool, **times: Any
) -> int:
    """Play one game between two to four bots, in the order of their seats, and draw the board after each move.

    A bot may sit at several seats. With --json only the game's record is printed. Exit status 1 when a bot forfeited.

    \b
    arena play greedy-python random-python
    arena play ./my-bot greedy-python random-python --board lion --seed 7
    """  # noqa: D301 - \b is click's mark for lines to keep
    from arena.cli.drawing import end_line, move_lines  # noqa: PLC0415 - help must not wait for these
    from arena.exports.text import seat_names  # noqa: PLC0415
    from arena.match.clock import Timing  # noqa: PLC0415
    from arena.match.referee import Referee, Watch  # noqa: PLC0415
    from arena.players.bot import BotPlayer  # noqa: PLC0415
    from arena.players.folder import staged_for_a_while  # noqa: PLC0415
    from arena.players.process import adopt_orphans  # noqa: PLC0415
    from arena.players.registry import Registry  # noqa: PLC0415
    from arena.records.record import encode_record  # noqa: PLC0415
    from arena.tournament.schedule import single_game  # noqa: PLC0415
    from arena.tournament.session import new_seed  # noqa: PLC0415

    if not 2 <= len(bots) <= 4:  # noqa: PLR2004 - the game's own limits
        raise click.UsageError(f"expected 2 to 4 bots, got {len(bots)}")
    if times["increment_ms"] and times["game_ms"] is None:
        raise click.UsageError("expected --game-ms with --increment-ms: an increment is added to a bank")
    registry = Registry(bots_folder(home))
    seed = seed or new_seed()
    playing_board = find_board(board)
    found = [find_bot(registry, name) for name in bots]
    sandbox = walls.choose(found)
    with staged_for_a_while(*found, sandbox=sandbox) as staged:
        plan = single_game(seed, playing_board.name, deal, [bot.label for bot in staged])
        names = seat_names(plan.bots)
        watch: Watch = lambda state, seat, move, events: click.echo(move_lines(state, names, seat, move, events))  # noqa: E731
        adopt_orphans()
        timing = Timing(**times)
        players = [BotPlayer(bot, timing.startup_ms, sandbox) for bot in staged]
        try:
            referee = Referee(plan, playing_board, players, timing, *(() if as_json else (watch,)))
            record = referee.play(sandbox=sandbox.tier, host=node()).record
        finally:
            for player in players:
                player.stop()
    for fault in record.faults:
        click.echo(f"forfeit: {names[fault.seat]} ({fault.kind}): {printable(fault.detail)}", err=True)
    if as_json:
        click.echo(encode_record(record))
    else:
        click.echo(end_line(record.end, names, record.left, record.ranks))
        click.echo(f"the same deck again: --seed {seed} --deal {deal}", err=True)
    return FAILED if record.faults else DONE


def find_board(text: str) -> "Board":
    """A built-in board by name, or one from a file."""
    from arena.rules.boards import BUILT_IN, built_in, read_board  # noqa: PLC0415

    return read_board(Path(text)) if text not in BUILT_IN and ("/" in text or Path(text).is_file()) else built_in(text)
