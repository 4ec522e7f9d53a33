"""What the viewer steps through is what the rules say, whatever it takes to put it together from
changes.
"""

import msgspec
import pytest

from arena.exports.report.steps import board_object, game_object
from arena.match.replay import replay, start_state
from arena.rules.boards import built_in, squares_of
from arena.rules.diagrams import draw
from arena.rules.notation import deck_text
from tests.exports.runs import game_of


def unfold(game, board):
    """The positions of a game: cells, pagodas on provinces by square, left, hands, pile."""
    cells, pagodas, left = (
        [cell for row in board.rows for cell in row],
        {},
        [game["stock"]] * len(game["bots"]),
    )
    hands = list(game["hands"])
    yield cells, pagodas, left, hands, game["pile"]
    for step in game["steps"]:
        for square, cell in step.get("cells", {}).items():
            cells[square] = cell
        for square, seat in step.get("pagodas", {}).items():
            pagodas.pop(square) if seat < 0 else pagodas.update({square: seat})
        left = step.get("left", left)
        hands[step["seat"]] = step["hand"]
        yield cells, pagodas, left, hands, step["pile"]


CASES = [
    (("a", "b"), "bird", ()),
    (("a", "b", "c"), "lion", ()),
    (("a", "b", "c", "d"), "lion", ((1, 5, "late", "too late"),)),
    (("a", "b", "c"), "bird", ((0, 3, "exit", "gone"), (2, 8, "exit", "gone"))),
    (("a", "b"), "bird", ((1, 0, "start-up", "never came"),)),
]


@pytest.mark.parametrize(
    ("bots", "name", "faults"), [*CASES, *((("a", "b"), "bird", ()) for _ in range(4))]
)
def test_changes_add_up_to_the_states_of_the_replay(bots, name, faults, request):
    board = built_in(name)
    record = game_of(bots, board=name, faults=faults, luck=request.node.name)
    game = game_object(record, board)
    positions = unfold(game, board)
    check(next(positions), start_state(record, board), board)
    for step, position in zip(replay(record, board), positions, strict=True):
        check(position, step.state, board)
    assert len(game["steps"]) == len(record.moves)


def check(position, state, board):
    cells, pagodas, left, hands, pile = position
    assert cells == [cell for row in draw(state) for cell in row]
    assert (left, hands, pile) == (
        state.left,
        [deck_text(hand) for hand in state.hands],
        state.pile,
    )
    on_provinces = [
        sum(province.pagodas for _, province in state.provinces() if province.owner == seat)
        for seat in range(state.players)
    ]
    assert [list(pagodas.values()).count(seat) for seat in range(state.players)] == on_provinces
    for _, province in state.provinces():
        squares = {
            square // board.stride * board.width + square % board.stride
            for square in squares_of(province.mask)
        }
        assert (
            sum(square in squares and seat == province.owner for square, seat in pagodas.items())
            == province.pagodas
        )


def test_a_pagoda_stays_where_it_stands():
    game = game_object(game_of(("a", "b")), built_in("bird"))
    seen = {}
    for step in game["steps"]:
        for square, seat in step.get("pagodas", {}).items():
            assert (
                seat == -1
                or seen.get(square, -1) == -1
                or any(event[3] for event in step["events"])
            ), "moved without a reason"
            seen[square] = seat


def test_events_are_told_in_words_with_the_rule():
    game = game_object(game_of(("a", "b")), built_in("bird"))
    events = [event for step in game["steps"] for event in step.get("events", [])]
    assert {event[0] for event in events} >= {"found", "expand"}
    assert all(event[1].split("(R")[1][0] in "56" for event in events)
    assert all(0 <= event[2] < 13 * 13 for event in events)


def test_a_village_is_told_with_its_squares_and_its_middle():
    villages = board_object(built_in("bird"))["villages"]
    assert villages[0] == {"cells": [5, 6], "x": 6.0, "y": 0.5}
    assert {"cells": [12], "x": 12.5, "y": 0.5} in villages


def test_a_game_takes_little_room():
    assert len(msgspec.json.encode(game_object(game_of(("a", "b")), built_in("bird")))) < 25_000
