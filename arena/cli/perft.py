"""arena perft: counts the ways a deal can go, to compare implementations of the rules."""

import time
from typing import Any

import click
import msgspec

from arena.cli.options import DEAL, as_json, check_utf8
from arena.cli.terminal import say
from arena.errors import MoveError, NotationError, UserError
from arena.exports.grid import columns_text
from arena.rules import CORE, State
from arena.rules.boards import Board, find_board
from arena.rules.notation import move_text, parse_deck, parse_move
from arena.rules.perft import divide
from arena.rules.perft import perft as count
from arena.tournament.deals import deck_of

SEED = "perft"


@click.command()
@click.option(
    "--board",
    "boards",
    multiple=True,
    default=("bird",),
    metavar="NAME|FILE",
    help="bird, lion or a board file; may be repeated.",
)
@click.option(
    "--players",
    multiple=True,
    type=click.IntRange(2, 4),
    default=(2,),
    help="Number of players; may be repeated.  [default: 2]",
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="How many turns to look ahead.",
)
@click.option(
    "--deck", metavar="RRYB...", help="The 72 tiles in draw order, instead of --seed and --deal."
)
@click.option(
    "--seed", callback=check_utf8, help=f"Text that determines the deck.  [default: {SEED}]"
)
@click.option("--deal", type=DEAL, help="Which deal of the seed.  [default: 0]")
@click.option(
    "--moves", default="", metavar="'MOVE MOVE...'", help="Moves to play before counting."
)
@click.option("--divide", "by_move", is_flag=True, help="Count separately for each first move.")
@as_json
def perft(
    boards: tuple[str, ...],
    players: tuple[int, ...],
    depth: int,
    moves: str,
    *,
    by_move: bool,
    as_json: bool,
    **dealing: Any,
) -> None:
    """Count the sequences of turns, up to a depth, that the rules allow with a known deck.

    A turn is a placement, or a pass by a mover who can place nothing; a game that has ended goes no
    further. If your implementation of the rules gets the same counts, it agrees with this one. If
    the counts differ, --divide shows after which move, and --moves goes there. --json prints lines
    as in protocol/vectors/perft.jsonl. The time taken goes to stderr.

    \b
    arena perft
    arena perft --board bird --board lion --players 2 --players 4 --depth 2
    arena perft --board tiny.txt --depth 6 --seed mine --deal 7
    arena perft --depth 2 --divide --moves 'Rg10Rg11 Bc4Yc5'
    """  # noqa: D301 - \b is click's mark for lines to keep
    found = []
    for board in map(find_board, boards):
        deck = _deck(board, **dealing)
        for seats in players:
            about = {
                "name": board.name,
                "board": board.rows,
                "players": seats,
                "deck": deck,
                "moves": moves.split(),
            }
            found.append(
                {
                    **about,
                    **_counts(_position(board, seats, deck, moves.split()), depth, by_move=by_move),
                }
            )
    if as_json:
        click.echo("\n".join(msgspec.json.encode(entry).decode() for entry in found))
    else:
        _print_table(found, by_move=by_move)


def _deck(board: Board, deck: str | None, seed: str | None, deal: int | None) -> str:
    """The given deck, or the deck of a deal on the board. Raises UsageError if both are given."""
    if deck is None:
        return deck_of(SEED if seed is None else seed, board.name, deal or 0)
    if seed is not None or deal is not None:
        raise click.UsageError("expected either --deck, or --seed and --deal, got both")
    return deck


def _position(board: Board, players: int, deck: str, moves: list[str]) -> State:
    """The deal after the moves. Raises UserError that names the move that cannot be played."""
    try:
        state = State(board, players, parse_deck(deck))
    except NotationError as error:
        raise UserError(
            f"--deck: {error}",
            "write the 72 tiles one after another, twelve of each, or use --seed",
        ) from error
    for number, move in enumerate(moves, 1):
        try:
            state.play(parse_move(board, move))
        except MoveError as error:
            where = f"--moves, move {number} on {board.name} with {players} players"
            cure = "leave out --moves to begin at the start"
            raise UserError(f"{where}: {error}", cure) from error
    return state


def _counts(state: State, depth: int, *, by_move: bool) -> dict[str, Any]:
    """``counts`` by depth, from 0, and if asked for ``divide``: the count for each first move at
    the full depth.
    """
    counts, by_first = [1], {}
    for ahead in range(1, depth + 1):
        began = time.perf_counter()
        if by_move and ahead == depth:
            by_first = {move_text(state.board, move): nodes for move, nodes in divide(state, depth)}
            counts.append(sum(by_first.values()))
        else:
            counts.append(count(state, ahead))
        _report(state, ahead, counts[-1], time.perf_counter() - began)
    return {"counts": counts, "divide": by_first} if by_move else {"counts": counts}


def _report(state: State, depth: int, nodes: int, seconds: float) -> None:
    speed = f"{nodes / seconds:,.0f} nodes/s, " if seconds else ""
    say(
        f"{state.board.name}, {state.players} players, depth {depth}: {seconds:.3f} s,"
        f" {speed}{CORE} core"
    )


def _print_table(found: list[dict[str, Any]], *, by_move: bool) -> None:
    rows = []
    for entry in found:
        counted = (
            [*entry["divide"].items(), ("total", entry["counts"][-1])]
            if by_move
            else list(enumerate(entry["counts"]))[1:]
        )
        rows += [
            (entry["name"], str(entry["players"]), str(what), str(nodes)) for what, nodes in counted
        ]
    what = "Move" if by_move else "Depth"
    click.echo(columns_text(("Board", "Players", what, "Nodes"), rows, ("Board", "Move")))
