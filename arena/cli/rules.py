"""arena rules and arena perft: the rules of the game, and counts to compare another core by."""

import json
import shutil
import sys
import textwrap
import time
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import click
import msgspec

from arena.cli.options import as_json, tell_json
from arena.cli.terminal import columns_of, say
from arena.errors import MoveError, NotationError, UserError
from arena.exports.grid import columns_text
from arena.rules import CORE, State
from arena.rules.boards import Board, find_board
from arena.rules.explain import Rule, every_rule, find_rules, rulebook
from arena.rules.notation import move_text, parse_deck, parse_move
from arena.rules.playouts import divide
from arena.rules.playouts import perft as count
from arena.tournament.schedule import deck_of

SEED = "perft"
WIDTH = 80
RULE_INDENT = "      "
LEGEND = (
    "R, Y and B are colours, V is a village, ~ a lake; the figure is the seat that owns it. Black"
    " is seat 0, white 1, purple 2."
)


@click.command()
@click.argument("asked", required=False, metavar="[NUMBER|WORD]")
@as_json
def rules(asked: str | None, *, as_json: bool) -> None:
    """Read the rules of the game. You get all of them, one rule with its examples, one part, or
    every rule with a certain word.

    \b
    arena rules
    arena rules R4.4
    arena rules R6
    arena rules village
    """  # noqa: D301 - \b is click's mark for lines to keep
    if not as_json:
        show_rules(rules_text(asked))
        return
    tell_json(
        [
            {
                "rule": rule.number,
                "text": "\n".join(rule.paragraphs),
                "pictures": [picture._asdict() for picture in rule.pictures],
            }
            for rule in (every_rule().values() if asked is None else find_rules(asked))
        ]
    )


def rules_text(asked: str | None) -> str:
    """The rules asked for, 80 columns wide: all, or those that `find_rules` finds. Raises
    UserError.
    """
    if not asked:
        return _whole_text()
    found = find_rules(asked)
    if len(found) > 1:
        return "\n\n".join(map(_rule_text, found))
    return "\n".join([_rule_text(found[0]), *_examples(found[0])])


def width() -> int:
    """How wide the rules are: 80 columns, or less on a narrow terminal."""
    return min(WIDTH, columns_of(sys.stdout) or WIDTH)


def show_rules(text: str) -> None:
    """Prints the text, page by page if the terminal is too small for it."""
    if text.count("\n") + 2 > shutil.get_terminal_size().lines:
        click.echo_via_pager(text)
    else:
        click.echo(text)


def _whole_text() -> str:
    book = rulebook()
    blocks = ["The game in five sentences", _filled(book.summary)]
    for part in book.parts:
        blocks += [
            f"{part.number} {part.title}",
            *filter(None, [_filled(part.preface)]),
            *map(_rule_text, part.rules),
        ]
    return "\n\n".join([*blocks, "Check figures", _filled(book.figures)])


def _rule_text(rule: Rule) -> str:
    first, *rest = rule.paragraphs
    head = _filled(first, f"{rule.number:<{len(RULE_INDENT)}}")
    return "\n".join([head, *(_filled(text, RULE_INDENT) for text in rest)])


def _filled(text: str, head: str = "") -> str:
    later = " " * len(head)
    return textwrap.fill(
        text, width(), initial_indent=head, subsequent_indent=later, break_on_hyphens=False
    )


def _examples(rule: Rule) -> Iterator[str]:
    """The pictures of a rule as boards in text."""
    # As protocol/vectors/README.md describes them.
    text = files("arena.rules").joinpath("positions.jsonl").read_text(encoding="utf-8")
    positions = {line["name"]: line for line in map(json.loads, text.splitlines())}
    for picture in rule.pictures:
        line = positions[picture.name]
        is_allowed = "after" in line
        yield "\n" + _filled(f"{picture.says}.", RULE_INDENT) + "\n"
        left = _drawn("before" if is_allowed else f"not allowed: {line['move']}", line["position"])
        right = _drawn(f"after {line['move']}", line["after"]) if is_allowed else [""] * len(left)
        beside = max(map(len, left)) + 4
        if len(RULE_INDENT) + beside + max(map(len, right)) > width():
            yield from (f"{RULE_INDENT}{line}".rstrip() for line in [*left, "", *right])
            continue
        yield from (
            f"{RULE_INDENT}{one:<{beside}}{other}".rstrip()
            for one, other in zip(left, right, strict=True)
        )
    if rule.pictures:
        yield "\n" + _filled(LEGEND, RULE_INDENT)


def _drawn(head: str, position: dict[str, Any]) -> list[str]:
    """A heading and the position below it: the colour of each space, and the seat that owns it."""
    cells = [list(row) for row in position["rows"]]
    for area in position["provinces"] + position["villages"]:
        for square in area["squares"] if area["seat"] is not None else ():
            cells[int(square[1:]) - 1][ord(square[0]) - ord("a")] += str(area["seat"])
    lines = {"": [chr(ord("a") + column) for column in range(len(cells[0]))]}
    lines |= {str(row): line for row, line in enumerate(cells, 1)}
    drawn = (f"{row:>2} " + " ".join(f"{cell:<2}" for cell in line) for row, line in lines.items())
    return [head, *drawn]


@click.command()
@click.option("--board", default="bird", metavar="NAME|FILE", help="bird, lion or a board file.")
@click.option("--players", type=click.IntRange(2, 4), default=2, help="Number of players.")
@click.option("--depth", type=click.IntRange(1), default=3, help="How many turns to look ahead.")
@click.option("--deck", metavar="RRYB...", help="The 72 tiles in draw order.  [default: some]")
@click.option(
    "--moves", default="", metavar="'MOVE MOVE...'", help="Moves to play before counting."
)
@click.option("--divide", "by_move", is_flag=True, help="Count separately for each first move.")
@as_json
def perft(
    board: str,
    players: int,
    depth: int,
    deck: str | None,
    moves: str,
    *,
    by_move: bool,
    as_json: bool,
) -> None:
    """Count the sequences of turns, up to a depth, that the rules allow with a known deck.

    A turn is a placement, or a pass by a mover who can place nothing; a game that has ended goes no
    further. If your implementation of the rules gets the same counts, it agrees with this one. If
    the counts differ, --divide shows after which move, and --moves goes there. --json prints a line
    as in protocol/vectors/perft.jsonl. The time taken goes to stderr.

    \b
    arena perft
    arena perft --board lion --players 4 --depth 2
    arena perft --depth 2 --divide --moves 'Rg10Rg11 Bc4Yc5'
    """  # noqa: D301 - \b is click's mark for lines to keep
    there, played = find_board(board), moves.split()
    deck = deck_of(SEED, there.name, 0) if deck is None else deck
    state = _position(there, players, deck, played)
    counts, divided = _counts(state, depth, by_move=by_move)
    if as_json:
        about = {"name": there.name, "board": there.rows, "players": players, "deck": deck}
        found = {**about, "moves": played, "counts": counts}
        found |= {"divide": divided} if by_move else {}
        click.echo(msgspec.json.encode(found))
        return
    shown: dict[Any, int] = dict(enumerate(counts[1:], 1))
    if by_move:
        shown = {**divided, "total": counts[-1]}
    rows = [(there.name, str(players), str(what), str(nodes)) for what, nodes in shown.items()]
    heads = ("Board", "Players", "Move" if by_move else "Depth", "Nodes")
    click.echo(columns_text(heads, rows, ("Board", "Move")))


def _position(board: Board, players: int, deck: str, moves: list[str]) -> State:
    """The deal after the moves. Raises UserError that names the move that cannot be played."""
    try:
        state = State(board, players, parse_deck(deck))
    except NotationError as error:
        cure = "write the 72 tiles one after another, twelve of each"
        raise UserError(f"--deck: {error}", cure) from error
    for number, move in enumerate(moves, 1):
        try:
            state.play(parse_move(board, move))
        except MoveError as error:
            where = f"--moves, move {number} on {board.name} with {players} players"
            cure = "leave out --moves to begin at the start"
            raise UserError(f"{where}: {error}", cure) from error
    return state


def _counts(state: State, depth: int, *, by_move: bool) -> tuple[list[int], dict[str, int]]:
    """The counts by depth, from 0, and if asked for, that for each first move at the full depth."""
    counts, by_first = [1], dict[str, int]()
    for ahead in range(1, depth + 1):
        began = time.perf_counter()
        if by_move and ahead == depth:
            by_first = {move_text(state.board, move): nodes for move, nodes in divide(state, depth)}
            counts.append(sum(by_first.values()))
        else:
            counts.append(count(state, ahead))
        seconds = time.perf_counter() - began
        speed = f"{counts[-1] / seconds:,.0f} nodes/s, " if seconds else ""
        took = f"depth {ahead}: {seconds:.3f} s, {speed}{CORE} core"
        say(f"{state.board.name}, {state.players} players, {took}")
    return counts, by_first
