"""arena audit-leaks: checks whether a bot is told anything that its seat cannot know."""

import click
import msgspec
from tqdm import tqdm

from arena.cli import DONE, FAILED
from arena.cli.numbers import WholeNumber
from arena.cli.options import as_json
from arena.errors import counted
from arena.rules.notation import deck_text, move_text
from tests.match.leaks import Leak, Situation
from tests.match.leaks import audit_leaks as audit
from tests.rules.positions import state_text

SEED = "audit"


@click.command("audit-leaks")
@click.option(
    "--states",
    type=WholeNumber(1),
    default=10_000,
    show_default=True,
    help="How many states to check.",
)
@click.option("--seed", default=SEED, show_default=True, help="Text that determines the states.")
@click.option(
    "--first",
    type=WholeNumber(0),
    default=0,
    show_default=True,
    help="The number of the first state.",
)
@as_json
def audit_leaks(states: int, seed: str, first: int, *, as_json: bool) -> int:
    """Compare what a seat is told in two games that look the same to it: every line must be the
    same, byte for byte.

    A state is a seat's turn in a game of random moves, with 2 to 4 players on bird or lion. The
    other hands and the draw order are dealt again in a way that the seat cannot distinguish. Then
    the arena's own referee plays both games on to the seat's next turn, in the default view and in
    the full view. The seat's position in the SDK is compared too, with the positions after some
    moves (the view "position"). If two lines differ, you see them with the state, and the exit
    status is 1.

    \b
    arena audit-leaks
    arena audit-leaks --states 1 --first 4711
    """
    lines, seen, leak = 0, 0, None
    tqdm.monitor_interval = 0
    with tqdm(
        audit(seed, states, first), total=states, unit="state", disable=None, leave=False
    ) as bar:
        for audited in bar:
            lines, seen, leak = lines + audited.lines, seen + 1, audited.leak
            if leak:
                break
    command = f"arena audit-leaks --states 1 --seed {seed} --first {first + seen - 1}"
    if as_json:
        content = {
            "states": seen,
            "lines": lines,
            "leak": _as_object(leak, command) if leak else None,
        }
        click.echo(msgspec.json.format(msgspec.json.encode(content), indent=2))
    else:
        _show(leak, command)
        click.echo(
            f"{counted(seen, 'state')}, {lines} lines compared:"
            f" {'a leak' if leak else 'no difference'}"
        )
    return FAILED if leak else DONE


def _show(leak: Leak | None, command: str) -> None:

    if leak is None:
        return
    situation = leak.situation
    click.echo(
        f"seat {situation.seat} of {situation.players} on {situation.board.name}, {leak.view} view,"
        f" line {leak.number + 1}"
    )
    for line, deck in ((leak.line, situation.deck), (leak.twin_line, situation.twin)):
        click.echo(f"\n{state_text(situation.state(deck))}\n> {line.decode()}")
    click.echo(f"\nthe same state again: {command}")


def _as_object(leak: Leak, command: str) -> dict[str, object]:
    return {
        **_situation_object(leak.situation),
        "view": leak.view,
        "number": leak.number + 1,
        "line": leak.line.decode(),
        "twin_line": leak.twin_line.decode(),
        "command": command,
    }


def _situation_object(situation: Situation) -> dict[str, object]:

    return {
        "board": situation.board.name,
        "players": situation.players,
        "seat": situation.seat,
        "moves": [move_text(situation.board, move) for move in situation.moves[: situation.at]],
        "moves_after": [
            move_text(situation.board, move) for move in situation.moves[situation.at :]
        ],
        "deck": deck_text(situation.deck),
        "twin_deck": deck_text(situation.twin),
    }
