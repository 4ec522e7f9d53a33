"""What the viewer steps through is what the rules say, whatever it takes to put it together from
changes.
"""

import re

import msgspec
import pytest

from arena.exports.report.viewer_data import game_object
from arena.match.replay import replay, start_state
from arena.rules.boards import built_in
from arena.rules.notation import deck_text
from arena.rules.positions import draw
from tests.exports.runs import game_of


def unfold(game, board):
    """The positions of a game: cells, left, hands, pile."""
    cells = [cell for row in board.rows for cell in row]
    left = [game["stock"]] * len(game["bots"])
    hands = list(game["hands"])
    yield cells, left, hands, game["pile"]
    for step in game["steps"]:
        for square, cell in step.get("cells", {}).items():
            cells[square] = cell
        left = step.get("left", left)
        hands[step["seat"]] = step["hand"]
        yield cells, left, hands, step["pile"]


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
    cells, left, hands, pile = position
    assert cells == [cell for row in draw(state) for cell in row]
    assert (left, hands, pile) == (
        state.left,
        [deck_text(hand) for hand in state.hands],
        state.pile,
    )


def test_events_are_told_in_plain_words_with_the_rule_beside_them():
    game = game_object(game_of(("a", "b")), built_in("bird"))
    events = [event for step in game["steps"] for event in step.get("events", [])]
    assert {event[0] for event in events} >= {"found", "expand"}
    assert all(event[3][:2] in {"R5", "R6"} for event in events)
    words = " ".join(event[1] for event in events)
    assert "makes a" in words
    assert not re.search(r"\bR\d|seat|\b[a-m]\d", words), "no rules, seats or squares"


def test_a_person_who_played_is_called_you():
    game = game_object(game_of(("human", "b")), built_in("bird"))
    assert game["names"] == game["bots"] == ["You", "b"]
    words = [event[1] for step in game["steps"] for event in step.get("events", [])]
    assert any(text.startswith("You make a ") for text in words)
    assert not any("human" in text or "You makes" in text for text in words)


def test_a_game_takes_little_room_and_a_bot_that_sits_twice_is_told_apart_by_seat():
    game = game_object(game_of(("a", "a")), built_in("bird"))
    assert len(msgspec.json.encode(game)) < 25_000
    assert game["names"] == ["a (seat 0)", "a (seat 1)"]
