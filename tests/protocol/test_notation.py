"""protocol/NOTATION.md: its examples are read by the arena's own readers, and once more by code
that follows only the page.
"""

import hashlib
from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.rules import State
from arena.rules.boards import built_in, parse_board
from arena.rules.notation import (
    TILES,
    UNKNOWN,
    move_text,
    parse_deck,
    parse_move,
    parse_square,
    parse_tile,
)
from arena.rules.positions import draw, parse_position, position_text, read_cells
from arena.tournament.schedule import deck_of
from tests.protocol.dialogue import blocks
from tests.rules.positions import read_hand

TEXT = (Path(__file__).parents[2] / "protocol" / "NOTATION.md").read_text(encoding="utf-8")
BIRD = built_in("bird")
READERS = {
    "squares": lambda text: BIRD.name_of(parse_square(BIRD, text)),
    "tiles": lambda text: TILES[parse_tile(text)],
    "moves": lambda text: move_text(BIRD, parse_move(BIRD, text)),
    "positions": lambda text: position_text(parse_position(text, State)),
}
EXAMPLES = [
    (kind, *line.split(" => "))
    for kind in READERS
    for _, block in blocks(TEXT, kind)
    for line in block.splitlines()
]


@pytest.mark.parametrize(("kind", "text", "meant"), EXAMPLES)
def test_the_example_is_read_as_the_page_says(kind, text, meant):
    if meant == "error":
        with pytest.raises(ArenaError):
            READERS[kind](text)
    else:
        assert READERS[kind](text) == meant


def settings(kind):
    [(_, block)] = blocks(TEXT, kind)
    return dict(line.split(" ", 1) for line in block.splitlines())


def number_of(move, width):
    first, square, second, other = move[0], move[1:3], move[3], move[4:]
    colours = "RYB"
    vertical = int(square[0] == other[0])
    row, column = int(square[1]) - 1, ord(square[0]) - 97
    return (
        ((colours.index(first) * 3 + colours.index(second)) * 2 + vertical) * 1024
        + row * (width + 1)
        + column
    )


def test_the_order_of_moves_is_that_of_the_page():
    example = settings("order")
    board = parse_board("order", example["board"].replace("/", "\n"))
    state = State(board, 2, [UNKNOWN] * 72)
    state.set_hand(0, read_hand(example["hand"]))
    listed = example["moves"].split()
    assert [move_text(board, move) for move in state.legal_moves()] == listed
    assert state.legal_moves() == [number_of(move, board.width) for move in listed]


def test_the_deck_is_that_of_the_page():
    example = settings("deck")
    names = [name for name in TILES for _ in range(12)]

    seed, board, deal = (example[name] for name in ("seed", "board", "deal"))

    def digest(number):
        return hashlib.sha256(f"deck\n{seed}\n{board}\n{deal}\n{number}".encode()).digest()

    by_hand = "".join(names[number] for number in sorted(range(72), key=digest))
    assert by_hand == example["deck"] == deck_of(seed, board, int(deal))
    assert len(parse_deck(by_hand)) == 72


def test_the_diagram_is_read_and_drawn_again():
    [(_, block)] = blocks(TEXT, "diagram")
    board, spaces, provinces, villages = read_cells("drawn", block)
    state = State.set_up(board, spaces, provinces, villages, [20, 20], [(0,), (0,)], ())
    assert draw(state) == [line.split() for line in block.splitlines()]
    rows = ["".join(line.split()).replace("....", ".4") for line in block.splitlines()]
    assert position_text(state).split()[0] == "/".join(rows)


def test_what_the_page_says_of_the_shipped_boards_is_said_in_full():
    words = " ".join(TEXT.split())
    assert (
        "reconstruction of the printed Bird side from published descriptions, and each village may"
        " be one square off" in words
    )
    assert "our own design, based on the published description of the Lion side" in words
