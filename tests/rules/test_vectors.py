"""protocol/vectors/: both cores get the figures in the files, and so does the slow referee, which
knows nothing of the cores.
"""

import os
from itertools import accumulate

import pytest

from tests.protocol.vectors import after_moves, judged, lines, replayed
from tests.rules.perft import perft
from tests.rules.slow import SlowGame

PERFT, GAMES, POSITIONS = lines("perft"), lines("games"), lines("positions")
SLOW_TURNS = int(os.environ.get("ARENA_SLOW_PERFT", "200"))
"""Turns that the slow referee plays at most to check one count; `make fuzz` raises it."""


def by_name(of):
    return pytest.mark.parametrize("line", of, ids=[line["name"] for line in of])


@by_name(PERFT)
def test_a_core_counts_what_the_line_says(State, line):
    state = after_moves(line, State)
    assert [perft(state, depth) for depth in range(len(line["counts"]))] == line["counts"]


@by_name(GAMES)
def test_a_core_plays_the_game_of_the_line(State, line):
    assert replayed(line, State) == line


@by_name(POSITIONS)
def test_a_core_does_what_the_line_says(State, line):
    assert judged(line, State) == line


# the slow referee


def name_of(square):
    return f"{chr(97 + square[1])}{square[0] + 1}"


def text_of(placement):
    return "".join(f"{letter}{name_of(square)}" for square, letter in placement)


def placed(text):
    """A placement as the slow referee takes it."""
    split = next(at for at in range(2, len(text)) if text[at] in "RYB")
    halves = text[:split], text[split:]
    return tuple(((int(half[2:]) - 1, ord(half[1]) - 97), half[0]) for half in halves)


def tiles(text):
    return [text[at : at + 2] for at in range(0, len(text), 2)]


def play(game, move):
    if move == "pass":
        assert not game.legal(game.mover)
        game.pass_turn()
    else:
        assert placed(move) in game.legal(game.mover)
        game.place(placed(move))


def twin_of(game):
    twin = SlowGame.__new__(SlowGame)
    vars(twin).update(vars(game))
    twin.cells, twin.villages, twin.left, twin.deck = (
        dict(game.cells),
        dict(game.villages),
        list(game.left),
        list(game.deck),
    )
    twin.provinces = {area: list(held) for area, held in game.provinces.items()}
    twin.hands = [list(hand) for hand in game.hands]
    return twin


def slow_perft(game, depth):
    if depth == 0 or game.end is not None:
        return int(depth == 0)
    legal = game.legal(game.mover)
    if depth == 1:
        return len(legal) or 1
    total = 0
    for placement in legal or [None]:
        twin = twin_of(game)
        twin.place(placement) if placement else twin.pass_turn()
        total += slow_perft(twin, depth - 1)
    return total


@by_name(PERFT)
def test_the_slow_referee_counts_what_the_line_says(line):
    game = SlowGame(line["board"], line["players"], tiles(line["deck"]))
    for move in line["moves"]:
        play(game, move)
    for depth, played in enumerate(accumulate(line["counts"][:-1]), 1):
        if depth == 1 or played <= SLOW_TURNS:
            assert slow_perft(game, depth) == line["counts"][depth]


def shown(game):
    """Provinces and villages of a slow game, and of a position as messages show it, in a form to
    compare.
    """
    provinces = {
        (frozenset(map(name_of, area)), owner, pagodas)
        for area, (owner, pagodas) in game.provinces.items()
    }
    return provinces, {
        (frozenset(map(name_of, village)), owner) for village, owner in game.villages.items()
    }


def told(position):
    provinces = {
        (frozenset(area["squares"]), area["seat"], area["pagodas"])
        for area in position["provinces"]
    }
    return provinces, {
        (frozenset(village["squares"]), village["seat"]) for village in position["villages"]
    }


@by_name(GAMES)
def test_the_slow_referee_plays_the_game_of_the_line(line):
    game = SlowGame(line["board"], line["players"], tiles(line["deck"]))
    for move, legal, left in zip(line["moves"], line["legal"], line["left"], strict=True):
        assert len(game.legal(game.mover)) == legal
        play(game, move)
        assert game.left == left
    assert game.end == line["end"]
    assert shown(game) == told(line["final"])


def slow_position(line):
    position = line["position"]
    game = SlowGame(position["rows"], len(position["left"]), ["RR"] * 12)
    squares = {name_of(square): square for square in game.ground}
    game.provinces = {
        frozenset(squares[name] for name in area["squares"]): [area["seat"], area["pagodas"]]
        for area in position["provinces"]
    }
    game.villages = {
        frozenset(squares[name] for name in village["squares"]): village["seat"]
        for village in position["villages"]
    }
    game.left, game.hands, game.deck = (
        list(position["left"]),
        [list(hand) for hand in line["hands"]],
        tiles(line["pile"]),
    )
    game.mover, game.end = line["mover"], None
    game.look_for_end()
    return game


@by_name(POSITIONS)
def test_the_slow_referee_does_what_the_line_says(line):
    game = slow_position(line)
    assert {text_of(placement) for placement in game.legal(game.mover)} == set(line["legal"])
    if "illegal" in line:
        assert line["move"] not in line["legal"]
        assert line["move"] != "pass" or line["legal"]
        return
    play(game, line["move"])
    assert shown(game) == told(line["after"])
    assert (game.left, game.end) == (line["after"]["left"], line["end"])
